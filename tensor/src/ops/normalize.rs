//! Softmax and normalization over features, groups and batches.

use super::{
    args,
    call::{self, call, cast, f, one, t, widened},
    copy::images_like,
    define::{composite, gradient, kernel, mutate, no_complex, refusing, samples, ulps},
    gradient::normalize::*,
    refusal::norms,
    rules::{self, wrap_dim},
};
use crate::{Context, KernelFn, Tensor, context::Workers, element::Real, program::Program, reduce::reduce_row, with_real, write};
use smallvec::smallvec;
use std::sync::Arc;
use taipan_ir::{
    Arg, DType, Dim, DimOp, Emitter, Facts, Op, OpError, Rel, Val,
    body::Body,
    op::{FactsList, Family, Forms, Kernel, RuleContext, Vals},
};

/// What normalizations may differ by.
pub const WITHIN: &[(DType, u32)] = &[(DType::F32, 16), (DType::F64, 16), (DType::F16, 1), (DType::BF16, 1)];

/// The op tables of this file.
pub static OPS: &[Op] = &[
    ulps(
        samples(
            gradient(
                kernel(
                    "softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
                    Forms::BOTH,
                    Family::Normalize,
                    softmax_rule,
                    Kernel(&(softmax as KernelFn)),
                ),
                "result",
                of_softmax,
            ),
            SOFT,
        ),
        WITHIN,
    ),
    ulps(
        samples(
            gradient(
                kernel(
                    "log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
                    Forms::BOTH,
                    Family::Normalize,
                    softmax_rule,
                    Kernel(&(log_softmax as KernelFn)),
                ),
                "result",
                of_log_softmax,
            ),
            SOFT,
        ),
        WITHIN,
    ),
    ulps(
        samples(
            gradient(
                refusing(
                    kernel(
                        "layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool cudnn_enable=True) -> Tensor",
                        Forms::FUNCTION.or(Forms::NN),
                        Family::Normalize,
                        layer_norm_rule,
                        Kernel(&(layer_norm as KernelFn)),
                    ),
                    norms::layer,
                ),
                "input: input, weight; weight: input",
                of_layer_norm,
            ),
            &["f32[2,3,4], [4]", "f32[2,3,4], [3,4], f32[3,4], f32[3,4]", "f64[2,5], [5], f64[5]", "f16[2,8], [8], f16[8], f16[8]"],
        ),
        WITHIN,
    ),
    ulps(
        samples(
            gradient(
                kernel(
                    "rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",
                    Forms::FUNCTION.or(Forms::NN),
                    Family::Normalize,
                    layer_norm_rule,
                    Kernel(&(rms_norm as KernelFn)),
                ),
                "input: input, weight; weight: input",
                of_rms_norm,
            ),
            &["f32[2,3,4], [4]", "f32[2,4], [4], f32[4], 1e-5"],
        ),
        WITHIN,
    ),
    ulps(
        samples(
            refusing(
                composite(
                    "group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool cudnn_enabled=True) -> Tensor",
                    Forms::FUNCTION.or(Forms::NN),
                    group_norm,
                ),
                norms::group,
            ),
            &["f32[2,6,3], 2", "f32[2,4,3,3], 4, f32[4], f32[4]"],
        ),
        WITHIN,
    ),
    no_complex(
        ulps(
            samples(
                refusing(
                    composite(
                        "batch_norm(Tensor input, Tensor? running_mean, Tensor? running_var, Tensor? weight=None, Tensor? bias=None, bool training=False, float momentum=0.1, float eps=1e-05) -> Tensor",
                        Forms::NN,
                        batch_norm,
                    ),
                    norms::batch,
                ),
                &[
                    "f32[2,3,4], f32[3], f32[3]+",
                    "f32[4,3], f32[3], f32[3]+, f32[3], f32[3]",
                    "f32[4,3,2,2], None, None, None, None, True",
                    "f32[2,3,4].t, f32[4], f32[4]+",
                ],
            ),
            WITHIN,
        ),
        "\"batch_norm\" not implemented for '{}'",
    ),
    ulps(
        samples(
            composite(
                "instance_norm(Tensor input, Tensor? running_mean=None, Tensor? running_var=None, Tensor? weight=None, Tensor? bias=None, bool use_input_stats=True, float momentum=0.1, float eps=1e-05) -> Tensor",
                Forms::NN,
                instance_norm,
            ),
            &["f32[2,3,4,4]", "f32[2,3,1]", "f32[2,3]"],
        ),
        WITHIN,
    ),
    mutate("lerp_stat_(Tensor(a!) self, Tensor end, Tensor|Scalar weight) -> Tensor(a!)", Forms::INTERNAL, "lerp_stat"),
    // Running statistics are no part of what is differentiated.
    super::define::constant(super::define::pointwise(
        "lerp_stat(Tensor self, Tensor end, Tensor|Scalar weight) -> Tensor",
        Forms::INTERNAL,
        taipan_ir::op::Promotion::First,
        rules::first,
        |b, a| {
            let (old, new) = (super::arithmetic::x(a, 0), super::arithmetic::x(a, 1));
            let new = b.cast(new, b.dtype(old));
            let weight = b.operand(old, &a[2]);
            let rest = b.number_sub(1.0, weight);
            let kept = b.mul(rest, old);
            let added = b.mul(weight, new);
            b.add(added, kept)
        },
    )),
    no_complex(
        samples(
            composite(
                "cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor",
                Forms::FUNCTION.or(Forms::NN),
                cosine_similarity,
            ),
            &["f32[2,3], f32[2,3]", "f32[2,3], f32[2,3], 0"],
        ),
        "expected common dtype to be floating point, yet common dtype is {}",
    ),
    samples(
        composite(
            "pairwise_distance(Tensor x1, Tensor x2, float p=2, float eps=1e-06, bool keepdim=False) -> Tensor",
            Forms::FUNCTION.or(Forms::NN),
            |e, a| {
                let difference = call::sub(e, *args::tensor(a, 0)?, a[1].clone())?;
                let shifted = call::add(e, difference, f(args::float(a, 3, 1e-6)))?;
                call(e, "linalg_vector_norm", &[t(shifted), f(args::float(a, 2, 2.0)), call::ints([-1]), a[4].clone()])
            },
        ),
        &["f32[2,3], f32[2,3]"],
    ),
];

const SOFT: &[&str] = &["f32[2,3], -1", "f32[2,3,4], 1", "f16[2,5], 1", "f64[3], 0", "f32[4], 0, f64"];

fn softmax_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let x = *args::tensor(a, 0)?;
    wrap_dim(args::int(a, 1)?, x.rank())?;
    let dtype = args::dtype(a, 2).unwrap_or(x.dtype);
    if !dtype.is_float() {
        return Err(OpError::not_implemented(format!("\"softmax_lastdim_kernel_impl\" not implemented for '{}'", dtype.scalar_name())));
    }
    rules::fresh(cx, x, dtype, x.dims.clone())
}

/// The compiled exponential, one input and one result of `dtype`.
fn exponential(cx: &mut Context, dtype: DType) -> Result<Arc<Program>, OpError> {
    cx.program(smallvec![2, dtype as u64], || {
        let mut body = Body::default();
        let x = body.input(0, dtype);
        let y = body.exp(x);
        Ok(Program::new(&body, &[dtype], y))
    })
}

/// Softmax of each row, in place; the logarithm of it where `log`.
fn softmax_rows<T: Real>(workers: &Workers, exp: &Program, data: &mut [T], n: usize, log: bool) {
    workers.rows(data, n, n, |_, rows| {
        let mut powers = Vec::new();
        for row in rows.chunks_mut(n) {
            let high = reduce_row(row, T::least(), |x| x, |p, q| if p > q || p.is_nan() { p } else { q });
            row.iter_mut().for_each(|x| *x = *x - high);
        }
        if log {
            powers.extend_from_slice(rows);
            exp.map(&mut powers);
            for (row, powers) in rows.chunks_mut(n).zip(powers.chunks(n)) {
                let sum = reduce_row(powers, T::zero(), |x| x, |p, q| p + q);
                let shift = T::from_f64(libm::log(sum.as_f64()));
                row.iter_mut().for_each(|x| *x = *x - shift);
            }
        } else {
            exp.map(rows);
            for row in rows.chunks_mut(n) {
                let sum = reduce_row(row, T::zero(), |x| x, |p, q| p + q);
                row.iter_mut().for_each(|x| *x = *x / sum);
            }
        }
    });
}

fn soft(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts], log: bool) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let dtype = facts[0].dtype;
    let compute = taipan_ir::promote::compute_type(dtype);
    let x = write::cast(cx, x, compute)?;
    let d = wrap_dim(args::int(a, 1)?, x.rank())?;
    let mut order: Vec<usize> = (0..x.rank()).filter(|k| *k != d).collect();
    if x.rank() > 0 {
        order.push(d);
    }
    let laid = x.permuted(&order).copied()?;
    let n = laid.sizes().last().copied().unwrap_or(1) as usize;
    let (workers, exp) = (cx.workers(), exponential(cx, compute)?);
    if n > 0 && laid.numel() > 0 {
        with_real!(compute, T => softmax_rows(&workers, &exp, laid.storage().write().elements_mut::<T>(), n, log));
    }
    let mut back = vec![0; order.len()];
    order.iter().enumerate().for_each(|(k, d)| back[*d] = k);
    let out = laid.permuted(&back).contiguous()?;
    Ok(vec![write::cast(cx, &out, dtype)?])
}

fn softmax(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    soft(cx, a, facts, false)
}

fn log_softmax(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    soft(cx, a, facts, true)
}

fn layer_norm_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let x = *args::tensor(a, 0)?;
    if !x.dtype.is_float() {
        return Err(OpError::not_implemented(format!("\"LayerNormKernelImpl\" not implemented for '{}'", x.dtype.scalar_name())));
    }
    let shape = args::dims(a, 1)?;
    if shape.is_empty() {
        return Err(OpError::runtime(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got normalized_shape = []",
        ));
    }
    let lead = x.rank().checked_sub(shape.len());
    let mut fits = lead.is_some();
    for (s, d) in shape.iter().zip(&x.dims[lead.unwrap_or(0)..]) {
        fits = fits && (s == d || cx.dims.decide(Rel::Eq, *s, *d)?);
    }
    if !fits {
        let tail: String = shape.iter().map(|d| format!(", {d}")).collect();
        return Err(OpError::runtime(format!(
            "Given normalized_shape={}, expected input with shape [*{tail}], but got input of size{}",
            rules::shown(shape),
            rules::shown(&x.dims)
        )));
    }
    for (k, name) in [(2, "weight"), (3, "bias")] {
        if let Some(p) = args::optional_tensor(a, k)
            && p.dims[..] != *shape
        {
            return Err(OpError::runtime(format!(
                "Expected {name} to be of same shape as normalized_shape, but got {name} of shape {} and normalized_shape = {}",
                rules::shown(&p.dims),
                rules::shown(shape)
            )));
        }
    }
    rules::fresh(cx, x, x.dtype, x.dims.clone())
}

/// Each row less its mean (where `center`) over its spread, then scaled and shifted.
struct Normalize<'a, T> {
    rows: &'a mut [T],
    n: usize,
    eps: f64,
    center: bool,
    weight: Option<&'a [T]>,
    bias: Option<&'a [T]>,
}

impl<T: Real> pulp::WithSimd for Normalize<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let (count, eps) = (T::from_f64(self.n as f64), T::from_f64(self.eps));
        for row in self.rows.chunks_mut(self.n) {
            let mean = if self.center { reduce_row(row, T::zero(), |x| x, |p, q| p + q) / count } else { T::zero() };
            let squares = reduce_row(row, T::zero(), |x| (x - mean) * (x - mean), |p, q| p + q);
            let scale = T::one() / (squares / count + eps).root();
            for x in row.iter_mut() {
                *x = (*x - mean) * scale;
            }
            if let Some(weight) = self.weight {
                for (x, w) in row.iter_mut().zip(weight) {
                    *x = *x * *w;
                }
            }
            if let Some(bias) = self.bias {
                for (x, b) in row.iter_mut().zip(bias) {
                    *x = *x + *b;
                }
            }
        }
    }
}

fn normalized(
    cx: &mut Context,
    a: &[Arg<Tensor>],
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    eps: f64,
    center: bool,
) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let n: i64 = args::ints(a, 1)?.iter().product();
    let laid = if x.dtype().is_half() { write::widened(cx, x)? } else { x.copied()? };
    let weight = weight.map(|w| write::cast(cx, w, laid.dtype())).transpose()?;
    let bias = bias.map(|b| write::cast(cx, b, laid.dtype())).transpose()?;
    let workers = cx.workers();
    if n > 0 && laid.numel() > 0 {
        with_real!(laid.dtype(), T => {
            let weight = weight.as_ref().map(|w| w.elements::<T>()).transpose()?;
            let bias = bias.as_ref().map(|b| b.elements::<T>()).transpose()?;
            let mut bytes = laid.storage().write();
            let (n, weight, bias) = (n as usize, weight.as_deref(), bias.as_deref());
            workers.rows(bytes.elements_mut::<T>(), n, n, |_, rows| {
                pulp::Arch::new().dispatch(Normalize { rows, n, eps, center, weight, bias });
            });
        });
    }
    Ok(vec![write::cast(cx, &laid, x.dtype())?])
}

fn layer_norm(cx: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    normalized(cx, a, args::optional_tensor(a, 2), args::optional_tensor(a, 3), args::float(a, 4, 1e-5), true)
}

fn rms_norm(cx: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let eps = args::float(a, 3, least_eps(args::tensor(a, 0)?.dtype()));
    normalized(cx, a, args::optional_tensor(a, 2), None, eps, false)
}

/// What `rms_norm` adds where no `eps` is given: the distance from one to the next number of the type it computes in.
pub fn least_eps(dtype: DType) -> f64 {
    if dtype == DType::F64 { f64::EPSILON } else { f64::from(f32::EPSILON) }
}

/// A tensor of one element per channel as one that broadcasts along dim 1.
fn per_channel(e: &mut dyn Emitter, value: Val, rank: usize) -> Result<Val, OpError> {
    let mut shape = vec![Dim::Is(1); rank];
    shape[1] = e.facts(value).dims.first().copied().unwrap_or(Dim::Is(1));
    one(e, "view", &[t(value), call::dims(shape)])
}

fn scaled_per_channel(e: &mut dyn Emitter, value: Val, weight: &Arg<Val>, bias: &Arg<Val>) -> Result<Val, OpError> {
    let (rank, dtype) = (e.facts(value).rank(), e.facts(value).dtype);
    let mut value = value;
    if let Arg::Tensor(weight) = weight {
        let weight = cast(e, *weight, dtype)?;
        let weight = per_channel(e, weight, rank)?;
        value = call::mul(e, value, t(weight))?;
    }
    if let Arg::Tensor(bias) = bias {
        let bias = cast(e, *bias, dtype)?;
        let bias = per_channel(e, bias, rank)?;
        value = call::add(e, value, t(bias))?;
    }
    Ok(value)
}

fn group_norm(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let (x, dtype) = widened(e, *args::tensor(a, 0)?)?;
    let facts = e.facts(x).clone();
    if facts.rank() < 2 {
        return Err(OpError::runtime(format!("Expected at least 2 dimensions for input tensor but received {}", facts.rank())));
    }
    let (groups, channels) = (args::dim(a, 1)?, facts.dims[1]);
    if !e.dims().decide(Rel::Divides, groups, channels)? {
        return Err(OpError::runtime(format!(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape {} and num_groups={groups}",
            rules::shown(&facts.dims)
        )));
    }
    let rest = facts.dims[2..].iter().fold(e.dims().calc(DimOp::FloorDiv, channels, groups), |n, d| e.dims().calc(DimOp::Mul, n, *d));
    let rows = one(e, "reshape", &[t(x), call::dims([facts.dims[0], groups, rest])])?;
    let normal = one(e, "layer_norm", &[t(rows), call::dims([rest]), Arg::Absent, Arg::Absent, a[4].clone()])?;
    let back = one(e, "view", &[t(normal), Arg::Ints(facts.dims.clone())])?;
    let out = scaled_per_channel(e, back, &a[2], &a[3])?;
    let out = images_like(e, out, &facts)?;
    Ok(smallvec![cast(e, out, dtype)?])
}

fn batch_norm(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let (x, dtype) = widened(e, *args::tensor(a, 0)?)?;
    let facts = e.facts(x).clone();
    let rank = facts.rank();
    if rank < 2 {
        return Err(OpError::runtime(format!("expected at least 2D input (got {rank}D input)")));
    }
    let training = args::flag(a, 5);
    for (k, name) in [(1, "running_mean"), (2, "running_var"), (3, "weight"), (4, "bias")] {
        let Some(p) = args::optional_tensor(a, k) else { continue };
        let count = e.facts(*p).numel(&mut taipan_ir::dims::NumberDims);
        if count != facts.dims[1] && !e.dims().decide(Rel::Eq, count, facts.dims[1])? {
            return Err(OpError::runtime(format!("{name} should contain {} elements not {count}", facts.dims[1])));
        }
    }
    let (momentum, eps) = (args::float(a, 6, 0.1), args::float(a, 7, 1e-5));
    let along = || call::ints((0..rank as i64).filter(|d| *d != 1));
    let (mean, var) = if training {
        let count = (0..rank).filter(|d| *d != 1).fold(Dim::Is(1), |n, d| e.dims().calc(DimOp::Mul, n, facts.dims[d]));
        if e.dims().decide(Rel::Eq, count, Dim::Is(1))? {
            return Err(OpError::value(format!(
                "Expected more than 1 value per channel when training, got input size torch.Size({})",
                rules::shown(&facts.dims)
            )));
        }
        let mean = one(e, "mean.dim", &[t(x), along()])?;
        let var = one(e, "var.correction", &[t(x), along(), call::n(0)])?;
        if let (Some(old_mean), Some(old_var)) = (args::optional_tensor(a, 1), args::optional_tensor(a, 2)) {
            let unbiased = one(e, "var.correction", &[t(x), along(), call::n(1)])?;
            one(e, "lerp_stat_", &[t(*old_mean), t(mean), f(momentum)])?;
            one(e, "lerp_stat_", &[t(*old_var), t(unbiased), f(momentum)])?;
        }
        (mean, var)
    } else {
        let (Some(mean), Some(var)) = (args::optional_tensor(a, 1), args::optional_tensor(a, 2)) else {
            let name = if a[1].is_absent() { "running_mean" } else { "running_var" };
            return Err(OpError::runtime(format!("{name} must be defined in evaluation mode")));
        };
        let compute = e.facts(x).dtype;
        (cast(e, *mean, compute)?, cast(e, *var, compute)?)
    };
    let shifted = call::add(e, var, f(eps))?;
    let inverse = one(e, "rsqrt", &[t(shifted)])?;
    let mean = per_channel(e, mean, rank)?;
    let inverse = per_channel(e, inverse, rank)?;
    let centered = call::sub(e, x, t(mean))?;
    let normal = call::mul(e, centered, t(inverse))?;
    let out = scaled_per_channel(e, normal, &a[3], &a[4])?;
    let out = cast(e, out, dtype)?;
    // Row by row, unless the channels of the input are innermost.
    Ok(smallvec![match rules::is_channels_last(e.dims(), &facts)? {
        true => images_like(e, out, &facts)?,
        false => one(e, "contiguous", &[t(out)])?,
    }])
}

fn instance_norm(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    if !args::flag(a, 5) {
        if a[1].is_absent() || a[2].is_absent() {
            return Err(OpError::runtime("Expected running_mean and running_var to be defined when use_input_stats is false"));
        }
        return call(
            e,
            "batch_norm",
            &[a[0].clone(), a[1].clone(), a[2].clone(), a[3].clone(), a[4].clone(), Arg::Bool(false), a[6].clone(), a[7].clone()],
        );
    }
    if !a[1].is_absent() {
        return Err(OpError::not_implemented("instance_norm that updates running statistics"));
    }
    let facts = e.facts(*args::tensor(a, 0)?).clone();
    let spatial = facts.dims.iter().skip(2).fold(Dim::Is(1), |n, d| e.dims().calc(DimOp::Mul, n, *d));
    if e.dims().decide(Rel::Eq, spatial, Dim::Is(1))? {
        return Err(OpError::value(format!(
            "Expected more than 1 spatial element when training, got input size torch.Size({})",
            rules::shown(&facts.dims)
        )));
    }
    call(e, "group_norm", &[a[0].clone(), Arg::Int(facts.dims[1]), a[3].clone(), a[4].clone(), a[7].clone()])
}

fn cosine_similarity(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let (dim, eps) = (args::int(a, 2)?, args::float(a, 3, 1e-8));
    let length = |e: &mut dyn Emitter, v: Val| {
        let norm = one(e, "linalg_vector_norm", &[t(v), f(2.0), call::ints([dim]), Arg::Bool(true)])?;
        one(e, "clamp_min", &[t(norm), f(eps)])
    };
    let (x, y) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
    let (p, q) = (length(e, x)?, length(e, y)?);
    let (x, y) = (call::div(e, x, t(p))?, call::div(e, y, t(q))?);
    let product = call::mul(e, x, t(y))?;
    call(e, "sum.dim_IntList", &[t(product), call::ints([dim])])
}
