//! Batch normalization as it stands in graphs: ops that say whether running statistics are written, and their gradients.

use super::{
    args,
    call::{self, cast, f, ints, one, t, widened},
    define::{composite, no_complex, samples, ulps},
};
use smallvec::smallvec;
use taipan_ir::{
    Arg, DType, Dim, DimOp, Emitter, Op, OpError, Val,
    op::{CompositeRule, Forms, Vals},
};

const FUNCTION: Forms = Forms::FUNCTION;

const fn norm(schema: &'static str, forms: Forms, rule: CompositeRule, examples: &'static [&'static str]) -> Op {
    ulps(samples(composite(schema, forms, rule), examples), super::normalize::WITHIN)
}

/// The op tables of this file.
pub static OPS: &[Op] = &[
    no_complex(
        norm(
            "native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
            FUNCTION,
            |e, a| {
                let out = normalized(e, a, args::flag(a, 5), args::float(a, 6, 0.1), args::float(a, 7, 1e-5), true)?;
                Ok(out[..3].into())
            },
            &["f32[4,3], f32[3], f32[3], f32[3], f32[3]+, True, 0.1, 1e-5", "f32[4,3], None, None, f32[3], f32[3]+, False, 0.1, 1e-5"],
        ),
        "\"batch_norm\" not implemented for '{}'",
    ),
    norm(
        "_native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, Tensor(b!) running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
        FUNCTION,
        |e, a| {
            let out = normalized(e, a, args::flag(a, 5), args::float(a, 6, 0.1), args::float(a, 7, 1e-5), true)?;
            Ok(out[..3].into())
        },
        &["f32[4,3], f32[3], f32[3], f32[3], f32[3]+, True, 0.1, 1e-5"],
    ),
    norm(
        "_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
        FUNCTION,
        |e, a| {
            let all = [a[0].clone(), a[1].clone(), a[2].clone(), Arg::Absent, Arg::Absent];
            let out = normalized(e, &all, args::flag(a, 3), args::float(a, 4, 0.1), args::float(a, 5, 1e-5), false)?;
            Ok(out[..3].into())
        },
        &["f32[4,3], f32[3], f32[3], True, 0.1, 1e-5"],
    ),
    no_complex(
        norm(
            "_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
            FUNCTION,
            |e, a| {
                let out = normalized(e, a, false, args::float(a, 5, 0.1), args::float(a, 6, 1e-5), false)?;
                Ok(out[..3].into())
            },
            &["f32[4,3,2], f32[3], f32[3], f32[3], f32[3]+, 0.1, 1e-5"],
        ),
        "\"batch_norm\" not implemented for '{}'",
    ),
    norm(
        "_native_batch_norm_legit_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor running_mean_out, Tensor running_var_out)",
        FUNCTION,
        |e, a| {
            let training = args::flag(a, 5);
            let out = normalized(e, a, training, args::float(a, 6, 0.1), args::float(a, 7, 1e-5), false)?;
            let stats = updated(e, a, training, &out, args::float(a, 6, 0.1))?;
            Ok(out[..3].iter().copied().chain(stats).collect())
        },
        &["f32[4,3], f32[3], f32[3], f32[3], f32[3]+, True, 0.1, 1e-5"],
    ),
    norm(
        "_batch_norm_with_update(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, Tensor(b!) running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor)",
        FUNCTION,
        |e, a| normalized(e, a, true, args::float(a, 5, 0.1), args::float(a, 6, 1e-5), true),
        &["f32[4,3], f32[3], f32[3], f32[3], f32[3]+, 0.1, 1e-5", "f32[2,3,4].t, None, None, f32[4], f32[4]+, 0.3, 1e-3"],
    ),
    norm(
        "_batch_norm_with_update_functional(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor, Tensor running_mean_out, Tensor running_var_out)",
        FUNCTION,
        |e, a| {
            let out = normalized(e, a, true, args::float(a, 5, 0.1), args::float(a, 6, 1e-5), false)?;
            let stats = updated(e, a, true, &out, args::float(a, 5, 0.1))?;
            Ok(out.iter().copied().chain(stats).collect())
        },
        &["f32[4,3], f32[3], f32[3], f32[3], f32[3]+, 0.1, 1e-5"],
    ),
    no_complex(
        norm(
            "_batch_norm_no_update(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor)",
            FUNCTION,
            |e, a| normalized(e, a, false, args::float(a, 5, 0.1), args::float(a, 6, 1e-5), false),
            &["f32[4,3], f32[3], f32[3], f32[3], f32[3]+, 0.1, 1e-5"],
        ),
        "\"batch_norm\" not implemented for '{}'",
    ),
    no_complex(
        norm(
            "batch_norm_backward(Tensor grad_out, Tensor input, Tensor weight, Tensor? running_mean, Tensor? running_var, Tensor? save_mean, Tensor? save_var, bool update, float eps, bool[3] output_mask, Tensor reserve) -> (Tensor, Tensor, Tensor)",
            FUNCTION,
            |e, a| backward(e, a, args::flag(a, 7), args::float(a, 8, 1e-5)),
            &[
                "f32[4,3], f32[4,3], f32[3], f32[3], f32[3]+, f32[3], f32[3]+, True, 1e-5, [True,True,True], u8[0]",
                "f32[4,3], f32[4,3], f32[3], f32[3], f32[3]+, None, None, False, 1e-5, [True,True,True], u8[0]",
            ],
        ),
        "\"batch_norm_backward_cpu\" not implemented for '{}'",
    ),
    no_complex(
        norm(
            "native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? running_mean, Tensor? running_var, Tensor? save_mean, Tensor? save_invstd, bool train, float eps, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
            FUNCTION,
            |e, a| backward(e, a, args::flag(a, 7), args::float(a, 8, 1e-5)),
            &["f32[4,3,2], f32[4,3,2], f32[3], f32[3], f32[3]+, f32[3], f32[3]+, True, 1e-5, [True,True,True]"],
        ),
        "\"batch_norm_backward_cpu\" not implemented for '{}'",
    ),
    norm(
        "native_layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)",
        FUNCTION,
        |e, a| {
            let out = one(e, "layer_norm", &a[..5])?;
            let (x, _) = widened(e, *args::tensor(a, 0)?)?;
            let count = args::dims(a, 1)?.len() as i64;
            let dims = || ints((1..=count).map(|k| -k));
            let mean = one(e, "mean.dim", &[t(x), dims(), Arg::Bool(true)])?;
            let var = one(e, "var.correction", &[t(x), dims(), call::n(0), Arg::Bool(true)])?;
            let shifted = call::add(e, var, f(args::float(a, 4, 1e-5)))?;
            Ok(smallvec![out, mean, call::unary(e, "rsqrt", shifted)?])
        },
        &["f32[2,3,4], [4], f32[4], f32[4], 1e-5", "f32[2,3,4], [3,4], None, None, 1e-5"],
    ),
];

/// Every dim but the channels'.
fn others(rank: usize) -> Arg<Val> {
    ints((0..rank as i64).filter(|d| *d != 1))
}

fn check(e: &mut dyn Emitter, x: Val) -> Result<usize, OpError> {
    let rank = e.facts(x).rank();
    if rank < 2 {
        return Err(OpError::runtime(format!("expected at least 2D input (got {rank}D input)")));
    }
    Ok(rank)
}

/// The result, the mean and the inverse deviation used (none in evaluation), and the reserve of backends that need one: empty.
fn normalized(e: &mut dyn Emitter, a: &[Arg<Val>], training: bool, momentum: f64, eps: f64, update: bool) -> Result<Vals, OpError> {
    let (x, _) = widened(e, *args::tensor(a, 0)?)?;
    let rank = check(e, x)?;
    let none = |e: &mut dyn Emitter, like: Val, dtype: DType| one(e, "new_empty", &[t(like), ints([0]), Arg::DType(dtype)]);
    let dtype = e.facts(x).dtype;
    let (mean, inverse) = if training {
        let mean = one(e, "mean.dim", &[t(x), others(rank)])?;
        let var = one(e, "var.correction", &[t(x), others(rank), call::n(0)])?;
        let shifted = call::add(e, var, f(eps))?;
        (mean, call::unary(e, "rsqrt", shifted)?)
    } else {
        (none(e, x, dtype)?, none(e, x, dtype)?)
    };
    let stats = if update { [a[3].clone(), a[4].clone()] } else { [Arg::Absent, Arg::Absent] };
    let stats = if training { stats } else { [a[3].clone(), a[4].clone()] };
    let all = [a[0].clone(), stats[0].clone(), stats[1].clone(), a[1].clone(), a[2].clone(), Arg::Bool(training), f(momentum), f(eps)];
    let out = one(e, "batch_norm", &all)?;
    let reserve = none(e, x, DType::U8)?;
    Ok(smallvec![out, mean, inverse, reserve])
}

/// The running mean and variance after a step, as new tensors.
fn updated(e: &mut dyn Emitter, a: &[Arg<Val>], training: bool, out: &[Val], momentum: f64) -> Result<[Val; 2], OpError> {
    let (old_mean, old_var) = (*args::tensor(a, 3)?, *args::tensor(a, 4)?);
    if !training {
        return Ok([one(e, "clone", &[t(old_mean)])?, one(e, "clone", &[t(old_var)])?]);
    }
    let (x, _) = widened(e, *args::tensor(a, 0)?)?;
    let rank = e.facts(x).rank();
    let unbiased = one(e, "var.correction", &[t(x), others(rank), call::n(1)])?;
    Ok([one(e, "lerp_stat", &[t(old_mean), t(out[1]), f(momentum)])?, one(e, "lerp_stat", &[t(old_var), t(unbiased), f(momentum)])?])
}

/// Gradients by input, weight and bias.
fn backward(e: &mut dyn Emitter, a: &[Arg<Val>], training: bool, eps: f64) -> Result<Vals, OpError> {
    let (grad, own) = widened(e, *args::tensor(a, 0)?)?;
    let (x, _) = widened(e, *args::tensor(a, 1)?)?;
    let rank = check(e, x)?;
    let facts = e.facts(x).clone();
    let (mean, inverse) = if training {
        (*args::tensor(a, 5)?, *args::tensor(a, 6)?)
    } else {
        let shifted = call::add(e, *args::tensor(a, 4)?, f(eps))?;
        (*args::tensor(a, 3)?, call::unary(e, "rsqrt", shifted)?)
    };
    let column = |e: &mut dyn Emitter, v: Val| {
        let mut shape = vec![Dim::Is(1); rank];
        shape[1] = e.facts(v).dims.first().copied().unwrap_or(Dim::Is(1));
        one(e, "view", &[t(v), call::dims(shape)])
    };
    let (mean, wide_inverse) = (column(e, mean)?, column(e, inverse)?);
    let centered = call::sub(e, x, t(mean))?;
    let normal = call::mul(e, centered, t(wide_inverse))?;
    let by_bias = one(e, "sum.dim_IntList", &[t(grad), others(rank)])?;
    let product = call::mul(e, grad, t(normal))?;
    let by_weight = one(e, "sum.dim_IntList", &[t(product), others(rank)])?;
    let mut by_input = grad;
    if training {
        let count = (0..rank).filter(|d| *d != 1).fold(Dim::Is(1), |n, d| e.dims().calc(DimOp::Mul, n, facts.dims[d]));
        let count = e.dims().number(count)? as f64;
        let bias_part = call::div(e, by_bias, f(count))?;
        let bias_part = column(e, bias_part)?;
        let weight_part = call::div(e, by_weight, f(count))?;
        let weight_part = column(e, weight_part)?;
        let weight_part = call::mul(e, normal, t(weight_part))?;
        by_input = call::sub(e, by_input, t(bias_part))?;
        by_input = call::sub(e, by_input, t(weight_part))?;
    }
    let mut factor = wide_inverse;
    if let Some(weight) = args::optional_tensor(a, 2) {
        let weight = cast(e, *weight, facts.dtype)?;
        let weight = column(e, weight)?;
        factor = call::mul(e, factor, t(weight))?;
    }
    let by_input = call::mul(e, by_input, t(factor))?;
    Ok(smallvec![cast(e, by_input, own)?, by_weight, by_bias])
}
