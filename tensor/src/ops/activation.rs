//! Activation functions.

use super::{
    args,
    arithmetic::x,
    call::{one, t},
    define::{ALL, composite, gradient, no_complex, pointwise, refusing, samples, ulps},
    gradient::activation::*,
    refusal::{dtypes, numbers, shapes},
    rules,
};
use smallvec::smallvec;
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};
use taipan_ir::{
    Arg, DType, Emitter, Facts, Op, OpError, Val,
    body::{Body, Compare, Scalar},
    op::{BodyRule, FactsList, Forms, Promotion::*, RuleContext, Vals},
};

/// Reached through `torch.nn.functional`, whose forms also take `inplace`.
const INNER: Forms = Forms::INPLACE;
const SELU_ALPHA: f64 = 1.673_263_242_354_377_2;
const SELU_SCALE: f64 = 1.050_700_987_355_480_5;
const FLOATS: &[&str] = &["f32[2,3]", "f64[4]", "f16[5]", "bf16[5]"];
const WITHIN: &[(DType, u32)] = &[(DType::F32, 4), (DType::F64, 4), (DType::F16, 1), (DType::BF16, 1)];

/// A function of floats, kept in their type.
const fn floats(schema: &'static str, forms: Forms, body: BodyRule) -> Op {
    ulps(samples(pointwise(schema, forms, Common, rules::common_one, body), FLOATS), WITHIN)
}

/// As [`floats`], row by row whatever the layout of the argument.
const fn in_rows(schema: &'static str, forms: Forms, body: BodyRule) -> Op {
    ulps(samples(pointwise(schema, forms, Common, rules::like_first, body), FLOATS), WITHIN)
}

/// The op tables of this file.
pub static OPS: &[Op] = &[
    samples(
        gradient(
            refusing(
                pointwise("relu(Tensor self) -> Tensor", ALL, Common, rules::common, |b, a| {
                    let zero = b.number(x(a, 0), 0.0);
                    // Of equals `max` gives the second: a negative zero stays.
                    b.max(zero, x(a, 0))
                }),
                |_, a| dtypes::no_bools(a, || OpError::not_implemented("Boolean inputs not supported for relu")),
            ),
            "result",
            of_relu,
        ),
        &["f32[2,3]", "i64[4]"],
    ),
    gradient(
        refusing(floats("relu6(Tensor self) -> Tensor", INNER, |b, a| between(b, x(a, 0), 0.0, 6.0)), dtypes::hardtanh_fixed),
        "self",
        |b| inside(b, 0.0, 6.0, 1.0),
    ),
    gradient(
        refusing(
            floats("gelu(Tensor self, *, str approximate='none') -> Tensor", Forms::NN, |b, a| {
                let value = x(a, 0);
                let half = b.mul_number(value, 0.5);
                if args::text(a, 1) == "tanh" {
                    let square = b.mul(value, value);
                    let cube = b.mul(square, value);
                    let bent = b.mul_number(cube, 0.044715);
                    let sum = b.add(value, bent);
                    let inner = b.mul_number(sum, std::f64::consts::SQRT_2 * FRAC_2_SQRT_PI * 0.5);
                    let tanh = b.tanh(inner);
                    let sum = b.add_number(tanh, 1.0);
                    return b.mul(half, sum);
                }
                let scaled = b.mul_number(value, FRAC_1_SQRT_2);
                let erf = b.erf(scaled);
                let sum = b.add_number(erf, 1.0);
                b.mul(half, sum)
            }),
            dtypes::gelu,
        ),
        "self",
        of_gelu,
    ),
    gradient(
        refusing(
            floats("silu(Tensor self) -> Tensor", INNER, |b, a| {
                let minus = b.neg(x(a, 0));
                let e = b.exp(minus);
                let sum = b.add_number(e, 1.0);
                b.div(x(a, 0), sum)
            }),
            |_, a| dtypes::floats(a, "silu_cpu"),
        ),
        "self",
        of_silu,
    ),
    gradient(
        refusing(
            floats("mish(Tensor self) -> Tensor", INNER, |b, a| {
                let soft = softplus(b, x(a, 0), 1.0, 20.0);
                let tanh = b.tanh(soft);
                b.mul(x(a, 0), tanh)
            }),
            |_, a| dtypes::floats(a, "mish_cpu"),
        ),
        "self",
        of_mish,
    ),
    gradient(
        refusing(
            floats("softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor", Forms::NN, |b, a| {
                softplus(b, x(a, 0), args::float(a, 1, 1.0), args::float(a, 2, 20.0))
            }),
            |cx, a| dtypes::floats(a, "softplus_cpu").and_then(|()| numbers::operand::<1>(cx, a)),
        ),
        "self",
        of_softplus,
    ),
    gradient(
        refusing(
            floats("elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor", INNER, |b, a| {
                elu(b, x(a, 0), args::float(a, 1, 1.0), args::float(a, 2, 1.0), args::float(a, 3, 1.0))
            }),
            |cx, a| dtypes::floats(a, "elu_cpu").and_then(|()| numbers::operand::<1>(cx, a)),
        ),
        "self",
        |b| elu_like(b, args::float(b.args(), 1, 1.0), args::float(b.args(), 2, 1.0), args::float(b.args(), 3, 1.0)),
    ),
    gradient(
        refusing(floats("selu(Tensor self) -> Tensor", ALL, |b, a| elu(b, x(a, 0), SELU_ALPHA, SELU_SCALE, 1.0)), |_, a| {
            dtypes::floats(a, "elu_cpu")
        }),
        "self",
        |b| elu_like(b, SELU_ALPHA, SELU_SCALE, 1.0),
    ),
    gradient(
        refusing(
            floats("celu(Tensor self, Scalar alpha=1.0) -> Tensor", ALL, |b, a| {
                let alpha = args::float(a, 1, 1.0);
                elu(b, x(a, 0), alpha, 1.0, 1.0 / alpha)
            }),
            dtypes::celu,
        ),
        "self",
        |b| {
            let alpha = args::float(b.args(), 1, 1.0);
            elu_like(b, alpha, 1.0, 1.0 / alpha)
        },
    ),
    gradient(
        refusing(
            floats("leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor", INNER, |b, a| {
                let slope = b.mul_number(x(a, 0), args::float(a, 1, 0.01));
                let positive = b.compare_number(Compare::Gt, x(a, 0), 0.0);
                b.select(positive, x(a, 0), slope)
            }),
            |cx, a| dtypes::floats(a, "leaky_relu_cpu").and_then(|()| numbers::operand::<1>(cx, a)),
        ),
        "self",
        of_leaky_relu,
    ),
    samples(
        gradient(
            pointwise("_prelu_kernel(Tensor self, Tensor weight) -> Tensor", Forms::INTERNAL, Common, rules::common, |b, a| {
                let slope = b.mul(x(a, 0), x(a, 1));
                let positive = b.compare_number(Compare::Gt, x(a, 0), 0.0);
                b.select(positive, x(a, 0), slope)
            }),
            "self, weight",
            of_prelu,
        ),
        &["f32[2,3], f32[3]"],
    ),
    samples(
        refusing(composite("prelu(Tensor self, Tensor weight) -> Tensor", Forms::BOTH.or(Forms::NN), prelu), shapes::prelu),
        &["f32[2,3], f32[3]", "f32[2,3,4], f32[1]"],
    ),
    samples(
        gradient(
            refusing(
                pointwise(
                    "hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor",
                    INNER,
                    Common,
                    rules::common_one,
                    |b, a| between(b, x(a, 0), args::float(a, 1, -1.0), args::float(a, 2, 1.0)),
                ),
                dtypes::hardtanh,
            ),
            "self",
            |b| inside(b, args::float(b.args(), 1, -1.0), args::float(b.args(), 2, 1.0), 1.0),
        ),
        &["f32[5]", "f32[5], -0.5, 0.25"],
    ),
    gradient(
        refusing(
            floats("hardsigmoid(Tensor self) -> Tensor", INNER, |b, a| {
                let shifted = b.add_number(x(a, 0), 3.0);
                let bounded = between(b, shifted, 0.0, 6.0);
                let six = b.number(bounded, 6.0);
                b.div(bounded, six)
            }),
            |_, a| dtypes::floats(a, "hardsigmoid_cpu"),
        ),
        "self",
        |b| inside(b, -3.0, 3.0, f64::from(1.0_f32 / 6.0)),
    ),
    gradient(
        refusing(
            floats("hardswish(Tensor self) -> Tensor", INNER, |b, a| {
                let shifted = b.add_number(x(a, 0), 3.0);
                let bounded = between(b, shifted, 0.0, 6.0);
                let product = b.mul(x(a, 0), bounded);
                let six = b.number(product, 6.0);
                b.div(product, six)
            }),
            |_, a| dtypes::floats(a, "hardswish_cpu"),
        ),
        "self",
        of_hardswish,
    ),
    gradient(
        refusing(
            in_rows("logsigmoid(Tensor self) -> Tensor", Forms::NN, |b, a| {
                let zero = b.number(x(a, 0), 0.0);
                let low = b.min(x(a, 0), zero);
                let size = b.abs(x(a, 0));
                let minus = b.neg(size);
                let e = b.exp(minus);
                let log = b.log1p(e);
                b.sub(low, log)
            }),
            |_, a| dtypes::floats(a, "log_sigmoid_cpu"),
        ),
        "self",
        of_logsigmoid,
    ),
    gradient(
        floats("softsign(Tensor self) -> Tensor", Forms::NN, |b, a| {
            let size = b.abs(x(a, 0));
            let sum = b.add_number(size, 1.0);
            b.div(x(a, 0), sum)
        }),
        "self",
        of_softsign,
    ),
    gradient(
        floats("tanhshrink(Tensor self) -> Tensor", Forms::NN, |b, a| {
            let tanh = b.tanh(x(a, 0));
            b.sub(x(a, 0), tanh)
        }),
        "self",
        of_tanhshrink,
    ),
    gradient(
        refusing(
            floats("hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor", Forms::BOTH.or(Forms::NN), |b, a| {
                let size = b.abs(x(a, 0));
                let bound = b.number(size, args::float(a, 1, 0.5));
                let bound = b.rounded(bound);
                let near = b.compare(Compare::Le, size, bound);
                let zero = b.number(x(a, 0), 0.0);
                b.select(near, zero, x(a, 0))
            }),
            |cx, a| dtypes::floats(a, "hardshrink_cpu").and_then(|()| numbers::operand::<1>(cx, a)),
        ),
        "self",
        of_shrink,
    ),
    gradient(
        refusing(
            floats("softshrink(Tensor self, Scalar lambd=0.5) -> Tensor", Forms::NN, |b, a| {
                let bound = b.number(x(a, 0), args::float(a, 1, 0.5));
                let bound = b.rounded(bound);
                let minus = b.neg(bound);
                let (less, more) = (b.sub(x(a, 0), bound), b.add(x(a, 0), bound));
                let (above, below) = (b.compare(Compare::Gt, x(a, 0), bound), b.compare(Compare::Lt, x(a, 0), minus));
                // Nothing but for NaN, which stays.
                let missing = b.compare(Compare::Ne, x(a, 0), x(a, 0));
                let zero = b.number(x(a, 0), 0.0);
                let near = b.select(missing, x(a, 0), zero);
                let result = b.select(below, more, near);
                b.select(above, less, result)
            }),
            |_, a| dtypes::floats(a, "softshrink_check").and_then(|()| numbers::shrinkage(a)),
        ),
        "self",
        of_shrink,
    ),
    samples(
        gradient(
            refusing(
                pointwise("threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor", ALL, Common, threshold_rule, |b, a| {
                    let value = b.operand(x(a, 0), &a[2]);
                    let below = b.compare_number(Compare::Le, x(a, 0), args::float(a, 1, 0.0));
                    b.select(below, value, x(a, 0))
                }),
                |cx, a| numbers::operand::<1>(cx, a).and_then(|()| numbers::operand::<2>(cx, a)),
            ),
            "self",
            of_threshold,
        ),
        &["f32[5], 0.1, 20"],
    ),
    no_complex(
        samples(refusing(composite("glu(Tensor self, int dim=-1) -> Tensor", Forms::NN, glu), shapes::glu), &["f32[2,4]", "f32[4,3], 0"]),
        "\"glu_cpu\" not implemented for '{}'",
    ),
];

fn threshold_rule(cx: &mut RuleContext<'_>, args: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    rules::common_one(cx, args)
}

fn between(b: &mut Body, value: Scalar, low: f64, high: f64) -> Scalar {
    let within = |x: f64| numbers::integer_range(b.dtype(value)).map_or(x, |(least, greatest)| x.clamp(least as f64, greatest as f64));
    let (low, high) = (within(low), within(high));
    let (low, high) = (b.number(value, low), b.number(value, high));
    // Of equals the second comes out: the value, whose zero may be negative.
    let bounded = b.max(low, value);
    b.min(high, bounded)
}

fn softplus(b: &mut Body, value: Scalar, beta: f64, threshold: f64) -> Scalar {
    let scaled = b.mul_number(value, beta);
    let e = b.exp(scaled);
    let log = b.log1p(e);
    let factor = b.number(value, beta);
    let soft = b.div(log, factor);
    let linear = b.compare_number(Compare::Gt, scaled, threshold);
    b.select(linear, value, soft)
}

fn elu(b: &mut Body, value: Scalar, alpha: f64, scale: f64, input_scale: f64) -> Scalar {
    let scaled = b.mul_number(value, input_scale);
    let e = b.expm1(scaled);
    let negative = b.mul_number(e, alpha * scale);
    let positive = b.mul_number(value, scale);
    let below = b.compare_number(Compare::Lt, value, 0.0);
    b.select(below, negative, positive)
}

fn prelu(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let (value, mut weight) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
    let rank = e.facts(value).rank();
    let channels = e.facts(weight).dims.first().copied();
    if let (Some(channels), true) = (channels, rank > 2) {
        let mut shape = vec![taipan_ir::Dim::Is(1); rank];
        shape[1] = channels;
        weight = one(e, "view", &[t(weight), super::call::dims(shape)])?;
    }
    Ok(smallvec![one(e, "_prelu_kernel", &[t(value), t(weight)])?])
}

fn glu(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let halves = super::call::call(e, "chunk", &[a[0].clone(), super::call::i(2), a[1].clone()])?;
    let gate = one(e, "sigmoid", &[t(halves[1])])?;
    Ok(smallvec![one(e, "mul.Tensor", &[t(halves[0]), t(gate)])?])
}
