//! Arithmetic of two and more arguments.

use super::{
    args,
    call::{call, one, t},
    complex::{add as complex_add, power as complex_power, product, sub as complex_sub},
    define::{
        ALL, close, complex, complex_close, complex_only, composite, gradient, moves, no_complex, no_complex_type, pointwise, refusing,
        samples, ulps,
    },
    gradient::{arithmetic::*, zero},
    refusal::{dtypes, numbers},
    rules,
};
use crate::{KernelFn, complex::quotient, complex_zip};
use taipan_ir::{
    Arg, DType, Emitter, Facts, Number, Op, OpError, Val,
    body::{Binary, Body, Compare, Function, Scalar},
    dtype::Category,
    op::{FactsList, Forms, Kernel, Promotion::*, RuleContext, Vals},
    promote,
};

/// The scalar of tensor argument `i`.
pub fn x(a: &[Arg<Scalar>], i: usize) -> Scalar {
    match a.get(i) {
        Some(Arg::Tensor(s)) => *s,
        _ => Scalar(0),
    }
}

/// Calls of two tensors that every binary op should answer.
pub const PAIRS: &[&str] =
    &["f32[2,3], f32[2,3]", "f32[2,3], f32[3]", "f64[2,1], f32[1,3]", "i64[4], i32[4]", "f32[3], i64[3]", "f16[4], f16[4]", "f32[3], 2"];
const SCALED: &[&str] = &[
    "f32[2,3], f32[3]",
    "f32[2,3], f32[3], alpha=2",
    "i64[4], i64[4], alpha=3",
    "f16[4], 0.5",
    "f16[4], 0.3",
    "bf16[4], f32[]",
    "bf16[4], bf16[4]",
    "i32[3], 2.5",
    "c64[2,3], c64[3]",
    "c128[2,3].t, f64[2], alpha=2",
    "i64[4], c64[4]",
    "c64[4], f64[]",
];
const COMPLEX_PAIRS: &[&str] = &[
    "f32[2,3], f32[2,3]",
    "f32[2,3], f32[3]",
    "f64[2,1], f32[1,3]",
    "i64[4], i32[4]",
    "f32[3], i64[3]",
    "f16[4], f16[4]",
    "f32[3], 2",
    "c64[2,3], c64[3]",
    "c128[3,2].t, f32[2,3]",
    "f64[4], c64[4]",
    "c64[4], 2.5",
];
const FLOAT_PAIRS: &[&str] = &["f32[2,3], f32[3]", "f64[4], f64[4]", "f16[4], f16[4]", "f32[4], 2", "f16[4]+, 0.3"];

/// The op tables of this file.
pub static OPS: &[Op] = &[
    complex(
        samples(
            gradient(
                refusing(
                    pointwise(
                        "add.Tensor(Tensor self, Tensor|Scalar other, *, Scalar alpha=1) -> Tensor",
                        ALL,
                        Common,
                        add_rule,
                        |b, a| scaled_sum(b, a, 1.0),
                    ),
                    numbers::alpha,
                ),
                "",
                of_add,
            ),
            SCALED,
        ),
        Kernel(&(complex_add as KernelFn)),
    ),
    complex(
        samples(
            gradient(
                refusing(
                    pointwise(
                        "sub.Tensor(Tensor self, Tensor|Scalar other, *, Scalar alpha=1) -> Tensor",
                        ALL,
                        Common,
                        sub_rule,
                        |b, a| scaled_sum(b, a, -1.0),
                    ),
                    numbers::alpha,
                ),
                "",
                of_sub,
            ),
            SCALED,
        ),
        Kernel(&(complex_sub as KernelFn)),
    ),
    moves(samples(
        refusing(
            composite("rsub.Tensor(Tensor self, Tensor|Scalar other, *, Scalar alpha=1) -> Tensor", Forms::FUNCTION, reversed_sub),
            numbers::alpha,
        ),
        &["f32[3], f32[3]", "f32[3], 2", "i64[3], 5, alpha=2"],
    )),
    complex_close(
        samples(
            gradient(
                pointwise("mul.Tensor(Tensor self, Tensor|Scalar other) -> Tensor", ALL, Common, rules::common, |b, a| {
                    b.mul(x(a, 0), x(a, 1))
                }),
                "self: other; other: self",
                of_mul,
            ),
            COMPLEX_PAIRS,
        ),
        complex_zip!(product),
    ),
    complex_close(
        samples(
            gradient(
                pointwise("div.Tensor(Tensor self, Tensor|Scalar other) -> Tensor", ALL, Float, rules::float, |b, a| {
                    b.div(x(a, 0), x(a, 1))
                }),
                "self: other; other: self, other",
                of_div,
            ),
            COMPLEX_PAIRS,
        ),
        complex_zip!(quotient),
    ),
    samples(
        composite("div.Tensor_mode(Tensor self, Tensor|Scalar other, *, str? rounding_mode) -> Tensor", ALL, rounded_div),
        &["f32[5], 0.7, rounding_mode='floor'", "i64[5], 2, rounding_mode='trunc'", "i64[5], 2, rounding_mode=None"],
    ),
    no_complex(
        gradient(
            pointwise("_div_trunc(Tensor self, Tensor|Scalar other) -> Tensor", Forms::INTERNAL, Common, rules::common, |b, a| {
                let quotient = b.div(x(a, 0), x(a, 1));
                truncated(b, quotient)
            }),
            "",
            zero,
        ),
        "\"div_trunc_cpu\" not implemented for '{}'",
    ),
    no_complex(
        samples(
            gradient(
                pointwise("floor_divide(Tensor self, Tensor|Scalar other) -> Tensor", ALL, Common, rules::common, |b, a| {
                    b.floor_div(x(a, 0), x(a, 1))
                }),
                "",
                zero,
            ),
            &["f32[5], f32[5]", "f32[5], 0.3", "i64[5], 3", "i32[5], -2", "u8[5], 3"],
        ),
        "\"div_floor_cpu\" not implemented for '{}'",
    ),
    samples(
        gradient(
            pointwise("remainder.Tensor(Tensor self, Tensor|Scalar other) -> Tensor", ALL, Common, rules::common, |b, a| {
                let (p, q) = (b.rounded(x(a, 0)), b.rounded(x(a, 1)));
                b.remainder(p, q)
            }),
            "other: self, other",
            of_remainder,
        ),
        &["f32[5], 0.7", "f32[5], f32[5]", "i64[5], -3", "i64[5], 3", "f16[5], 0.1", "bf16[5], 0.1", "f16[5], f32[]", "bf16[5], f64[]"],
    ),
    samples(
        gradient(
            pointwise(
                "remainder.Scalar_Tensor(Tensor|Scalar self, Tensor other) -> Tensor",
                Forms::INTERNAL,
                Common,
                rules::common,
                |b, a| {
                    let (p, q) = (b.rounded(x(a, 0)), b.rounded(x(a, 1)));
                    b.remainder(p, q)
                },
            ),
            "other: self, other",
            of_remainder,
        ),
        &["0.7, f16[5]+"],
    ),
    samples(
        gradient(
            pointwise("fmod.Tensor(Tensor self, Tensor|Scalar other) -> Tensor", ALL, Common, rules::common, |b, a| {
                let (p, q) = (b.rounded(x(a, 0)), b.rounded(x(a, 1)));
                b.binary(Binary::Rem, p, q)
            }),
            "other: self, other",
            of_fmod,
        ),
        &["f32[5], 0.7", "f32[5], f32[5]", "i64[5], -3", "f16[5], 0.1", "bf16[5], 0.1", "f16[5], f32[]"],
    ),
    complex(
        ulps(
            samples(
                gradient(
                    refusing(
                        pointwise("pow.Tensor_Tensor(Tensor self, Tensor|Scalar exponent) -> Tensor", ALL, Common, pow_rule, |b, a| {
                            power(b, x(a, 0), x(a, 1))
                        }),
                        dtypes::pow,
                    ),
                    "self: self, exponent; exponent: self, exponent, result",
                    of_pow,
                ),
                &[
                    "f16[5]+, 0.3",
                    "bf16[5], 3",
                    "bf16[5]+, -2",
                    "f16[5], 0.5",
                    "bf16[5]+, f32[]",
                    "f32[5], 2",
                    "f32[5], 0.5",
                    "f32[5], 3.7",
                    "f32[5], f32[5]",
                    "i64[5], 3",
                    "i64[5], 2.5",
                    "f32[5], -1",
                    "f64[5], 2.25",
                    "c64[5], 2",
                    "c128[5], 0.5",
                    "c128[5], 2.5",
                ],
            ),
            &[(DType::F32, 2), (DType::F64, 2), (DType::C64, 16), (DType::C128, 16)],
        ),
        complex_zip!(complex_power),
    ),
    complex_only(
        gradient(
            pointwise("pow.Scalar(Tensor|Scalar self, Tensor exponent) -> Tensor", Forms::FUNCTION, Common, pow_of_number_rule, |b, a| {
                power(b, x(a, 0), x(a, 1))
            }),
            "exponent, result",
            of_pow_scalar,
        ),
        complex_zip!(complex_power),
    ),
    no_complex_type(
        samples(
            gradient(
                pointwise("maximum(Tensor self, Tensor other) -> Tensor", Forms::BOTH, Common, rules::common, |b, a| {
                    extreme(b, a, Binary::Max)
                }),
                "self, other",
                |b| of_extreme(b, "lt.Tensor", "gt.Tensor"),
            ),
            &["f32[2,3], f32[3]", "i64[4], i64[4]"],
        ),
        "maximum not implemented for complex tensors.",
    ),
    no_complex_type(
        samples(
            gradient(
                pointwise("minimum(Tensor self, Tensor other) -> Tensor", Forms::BOTH, Common, rules::common, |b, a| {
                    extreme(b, a, Binary::Min)
                }),
                "self, other",
                |b| of_extreme(b, "gt.Tensor", "lt.Tensor"),
            ),
            &["f32[2,3], f32[3]", "i64[4], i64[4]"],
        ),
        "minimum not implemented for complex tensors.",
    ),
    no_complex_type(
        samples(
            gradient(
                pointwise("fmax(Tensor self, Tensor other) -> Tensor", Forms::BOTH, Common, rules::common, |b, a| {
                    ignoring_nan(b, a, Binary::Max)
                }),
                "self, other",
                |b| of_number_extreme(b, "ge.Tensor"),
            ),
            &["f32[4], f32[4]"],
        ),
        "fmax not implemented for complex tensors.",
    ),
    no_complex_type(
        samples(
            gradient(
                pointwise("fmin(Tensor self, Tensor other) -> Tensor", Forms::BOTH, Common, rules::common, |b, a| {
                    ignoring_nan(b, a, Binary::Min)
                }),
                "self, other",
                |b| of_number_extreme(b, "le.Tensor"),
            ),
            &["f32[4], f32[4]"],
        ),
        "fmin not implemented for complex tensors.",
    ),
    no_complex(
        samples(
            gradient(
                refusing(
                    pointwise(
                        "clamp(Tensor self, Tensor|Scalar? min=None, Tensor|Scalar? max=None) -> Tensor",
                        ALL,
                        Common,
                        clamp_rule,
                        |b, a| clamped(b, x(a, 0), &a[1], &a[2]),
                    ),
                    numbers::bounds::<1, 2>,
                ),
                "self, min, max",
                of_clamp,
            ),
            &["f32[5], -0.5, 0.5", "f32[5], min=0", "i64[5], 1, 3", "f32[2,3], f32[3], None", "f32[2,3], f32[3], f32[2,3]"],
        ),
        "clamp is not supported for complex types",
    ),
    no_complex(
        gradient(
            refusing(
                pointwise(
                    "clip(Tensor self, Tensor|Scalar? min=None, Tensor|Scalar? max=None) -> Tensor",
                    ALL,
                    Common,
                    clamp_rule,
                    |b, a| clamped(b, x(a, 0), &a[1], &a[2]),
                ),
                numbers::bounds::<1, 2>,
            ),
            "self, min, max",
            of_clamp,
        ),
        "clamp is not supported for complex types",
    ),
    no_complex(
        samples(
            gradient(
                refusing(
                    pointwise("clamp_min(Tensor self, Tensor|Scalar min) -> Tensor", ALL, Common, rules::common, |b, a| {
                        clamped(b, x(a, 0), &a[1], &Arg::Absent)
                    }),
                    numbers::bounds::<1, 0>,
                ),
                "self, min",
                |b| of_bound(b, "lt.Tensor", "gt.Tensor"),
            ),
            &["f32[5], 0.1"],
        ),
        "clamp is not supported for complex types",
    ),
    no_complex(
        samples(
            gradient(
                refusing(
                    pointwise("clamp_max(Tensor self, Tensor|Scalar max) -> Tensor", ALL, Common, rules::common, |b, a| {
                        clamped(b, x(a, 0), &Arg::Absent, &a[1])
                    }),
                    numbers::bounds::<0, 1>,
                ),
                "self, max",
                |b| of_bound(b, "gt.Tensor", "lt.Tensor"),
            ),
            &["f32[5], 0.1"],
        ),
        "clamp is not supported for complex types",
    ),
    ulps(
        samples(
            gradient(pointwise("atan2(Tensor self, Tensor other) -> Tensor", ALL, Float, rules::float, angle), "self, other", of_atan2),
            FLOAT_PAIRS_ONLY,
        ),
        &[(DType::F32, 2), (DType::F64, 2)],
    ),
    gradient(pointwise("arctan2(Tensor self, Tensor other) -> Tensor", ALL, Float, rules::float, angle), "self, other", of_atan2),
    samples(
        gradient(
            pointwise("hypot(Tensor self, Tensor other) -> Tensor", ALL, Common, floats_only, |b, a| {
                b.call2(Function::Hypot, x(a, 0), x(a, 1))
            }),
            "self, other, result",
            of_hypot,
        ),
        FLOAT_PAIRS_ONLY,
    ),
    samples(
        gradient(
            refusing(
                pointwise("lerp.Tensor(Tensor self, Tensor end, Tensor|Scalar weight) -> Tensor", ALL, Common, lerp_rule, |b, a| {
                    let (start, end, weight) = (x(a, 0), x(a, 1), x(a, 2));
                    let difference = b.sub(end, start);
                    // From the nearer end, so that both ends come out exactly.
                    let size = b.abs(weight);
                    let near = b.compare_number(Compare::Lt, size, 0.5);
                    let rest = b.add_number(weight, -1.0);
                    let step = b.select(near, weight, rest);
                    let from = b.select(near, start, end);
                    b.fma(step, difference, from)
                }),
                dtypes::lerp,
            ),
            "self: weight; end: weight; weight: self, end",
            of_lerp,
        ),
        &["f32[4], f32[4], 0.3", "f32[4], f32[4], 0.8", "f32[2,3], f32[3], f32[2,3]"],
    ),
    samples(
        gradient(
            refusing(
                pointwise(
                    "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
                    ALL,
                    Common,
                    rules::common_triple,
                    |b, a| {
                        let scale = b.operand(x(a, 0), &a[3]);
                        let scaled = b.mul(scale, x(a, 1));
                        if b.dtype(scaled).is_float() {
                            return b.fma(scaled, x(a, 2), x(a, 0));
                        }
                        let product = b.mul(scaled, x(a, 2));
                        b.add(x(a, 0), product)
                    },
                ),
                numbers::value_of_three,
            ),
            "tensor1: tensor2; tensor2: tensor1",
            of_addcmul,
        ),
        &["f32[4], f32[4], f32[4]", "f32[2,3], f32[3], f32[2,1], value=0.5"],
    ),
    samples(
        gradient(
            refusing(
                pointwise(
                    "addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
                    ALL,
                    Common,
                    rules::common_triple,
                    |b, a| {
                        let scale = b.operand(x(a, 0), &a[3]);
                        let scaled = b.mul(scale, x(a, 1));
                        let quotient = b.div(scaled, x(a, 2));
                        b.add(x(a, 0), quotient)
                    },
                ),
                dtypes::addcdiv,
            ),
            "tensor1: tensor2; tensor2: tensor1, tensor2",
            of_addcdiv,
        ),
        &["f32[4], f32[4], f32[4]", "f32[2,3], f32[3], f32[2,1], value=0.5"],
    ),
    samples(
        refusing(
            pointwise("heaviside(Tensor self, Tensor values) -> Tensor", ALL, Common, rules::common, |b, a| {
                let value = x(a, 0);
                let zero = b.compare_number(Compare::Eq, value, 0.0);
                let positive = b.compare_number(Compare::Gt, value, 0.0);
                let (one, none) = (b.number(value, 1.0), b.number(value, 0.0));
                let step = b.select(positive, one, none);
                b.select(zero, x(a, 1), step)
            }),
            dtypes::heaviside,
        ),
        &["f32[5], f32[5]"],
    ),
    close(samples(
        gradient(
            pointwise("xlogy.Tensor(Tensor self, Tensor|Scalar other) -> Tensor", ALL, Float, rules::float, |b, a| {
                let (value, other) = (b.rounded(x(a, 0)), b.rounded(x(a, 1)));
                let log = b.log(other);
                let log = b.rounded(log);
                let product = b.mul(value, log);
                let zero = b.compare_number(Compare::Eq, value, 0.0);
                let nothing = b.number(value, 0.0);
                let ordinary = b.compare(Compare::Eq, x(a, 1), x(a, 1));
                let result = b.select(zero, nothing, product);
                b.select(ordinary, result, x(a, 1))
            }),
            "self: self, other; other: self, other",
            of_xlogy,
        ),
        FLOAT_PAIRS,
    )),
    samples(
        gradient(
            pointwise("copysign.Tensor(Tensor self, Tensor|Scalar other) -> Tensor", ALL, Float, rules::float, |b, a| {
                let size = b.abs(x(a, 0));
                let minus = b.neg(size);
                let int = if b.dtype(x(a, 1)) == DType::F64 { DType::I64 } else { DType::I32 };
                let bits = b.bitcast(x(a, 1), int);
                let negative = b.compare_number(Compare::Lt, bits, 0.0);
                b.select(negative, minus, size)
            }),
            "self: self, result",
            of_copysign,
        ),
        FLOAT_PAIRS,
    ),
    samples(
        gradient(
            refusing(
                pointwise("logaddexp(Tensor self, Tensor other) -> Tensor", Forms::BOTH, Float, rules::float, |b, a| {
                    let (p, q) = (x(a, 0), x(a, 1));
                    let high = b.max(p, q);
                    let difference = b.sub(p, q);
                    let size = b.abs(difference);
                    let minus = b.neg(size);
                    let e = b.exp(minus);
                    let log = b.log1p(e);
                    let sum = b.add(high, log);
                    let equal = b.compare(Compare::Eq, p, q);
                    let doubled = b.add_number(p, std::f64::consts::LN_2);
                    b.select(equal, doubled, sum)
                }),
                dtypes::logaddexp,
            ),
            "self, other",
            of_logaddexp,
        ),
        FLOAT_PAIRS_ONLY,
    ),
];

const FLOAT_PAIRS_ONLY: &[&str] = &["f32[2,3], f32[3]", "f64[4], f64[4]"];

/// [`rules::common`] for a function that has no meaning for integers.
fn floats_only(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let facts = rules::common(cx, a)?;
    let dtype = facts[0].dtype;
    if dtype.is_float() {
        return Ok(facts);
    }
    Err(OpError::not_implemented(format!("\"hypot_cpu\" not implemented for '{}'", dtype.scalar_name())))
}

fn angle(b: &mut Body, a: &[Arg<Scalar>]) -> Scalar {
    let (p, q) = (b.rounded(x(a, 0)), b.rounded(x(a, 1)));
    b.call2(Function::Atan2, p, q)
}

fn scaled_sum(b: &mut Body, a: &[Arg<Scalar>], sign: f64) -> Scalar {
    let (p, q) = (b.rounded(x(a, 0)), b.rounded(x(a, 1)));
    match &a[2] {
        Arg::Number(alpha) if alpha.as_f64() != 1.0 => {
            let factor = match alpha {
                Number::Float(v) => Number::Float(v * sign),
                other => Number::Int(other.as_i64().wrapping_mul(sign as i64)),
            };
            let factor = b.constant(factor, b.dtype(p));
            let factor = b.rounded(factor);
            if b.dtype(p).is_float() {
                return b.fma(q, factor, p);
            }
            let scaled = b.mul(q, factor);
            b.add(p, scaled)
        }
        _ if sign < 0.0 => b.sub(p, q),
        _ => b.add(p, q),
    }
}

fn truncated(b: &mut Body, quotient: Scalar) -> Scalar {
    if b.dtype(quotient).is_float() { b.unary(taipan_ir::body::Unary::Trunc, quotient) } else { quotient }
}

fn ignoring_nan(b: &mut Body, a: &[Arg<Scalar>], op: Binary) -> Scalar {
    let (p, q) = (x(a, 0), x(a, 1));
    // Of equals, which may be zeros of both signs, the first, but for bfloat16.
    let both = if b.half() == Some(DType::BF16) { b.binary(op, p, q) } else { b.binary(op, q, p) };
    let (p_ordinary, q_ordinary) = (b.compare(Compare::Eq, p, p), b.compare(Compare::Eq, q, q));
    let result = b.select(q_ordinary, both, p);
    b.select(p_ordinary, result, q)
}

/// The value between the bounds. Where it equals one its own zero, which has a sign, comes out for numbers and for half types.
fn clamped(b: &mut Body, value: Scalar, low: &Arg<Scalar>, high: &Arg<Scalar>) -> Scalar {
    let mut result = value;
    for (limit, op) in [(low, Binary::Max), (high, Binary::Min)] {
        if limit.is_absent() {
            continue;
        }
        let keeps = b.half().is_some() || fixed(b, limit).is_some();
        let limit = bound(b, value, limit);
        // Of equals the second comes out.
        result = if keeps { b.binary(op, limit, result) } else { b.binary(op, result, limit) };
    }
    result
}

/// The greater or the lesser of two tensors' elements. Of equals, which may be zeros of both signs, PyTorch gives the first among half
/// types and the second among others.
fn extreme(b: &mut Body, a: &[Arg<Scalar>], op: Binary) -> Scalar {
    let (p, q) = (x(a, 0), x(a, 1));
    if b.half().is_some() { b.binary(op, q, p) } else { b.binary(op, p, q) }
}

/// A bound as a number, where it is one.
fn fixed(b: &Body, arg: &Arg<Scalar>) -> Option<Number> {
    match arg {
        Arg::Number(number) => Some(*number),
        Arg::Tensor(scalar) => b.known(*scalar),
        _ => None,
    }
}

/// A bound of the type of `value`; a number beyond what an integer type holds is its least or greatest.
fn bound(b: &mut Body, value: Scalar, arg: &Arg<Scalar>) -> Scalar {
    match (fixed(b, arg), numbers::integer_range(b.dtype(value))) {
        (Some(Number::Int(n)), Some((least, greatest))) => b.operand(value, &Arg::Number(Number::Int(n.clamp(least, greatest)))),
        _ => b.operand(value, arg),
    }
}

fn power(b: &mut Body, base: Scalar, exponent: Scalar) -> Scalar {
    let (base, exponent) = (b.rounded(base), b.rounded(exponent));
    let dtype = b.dtype(base);
    if dtype.is_float() {
        return match b.known(exponent) {
            Some(n) => match (b.half(), n.as_f64()) {
                // PyTorch has no short ways for float16, and rounds between the steps of those it has for bfloat16.
                (Some(DType::F16), p) if p != 2.0 && p != 1.0 => b.pow(base, exponent),
                (Some(DType::BF16), 3.0) => {
                    let square = b.mul(base, base);
                    let square = b.rounded(square);
                    b.mul(square, base)
                }
                (Some(DType::BF16), -2.0) => {
                    let square = b.mul(base, base);
                    let square = b.rounded(square);
                    b.number_div(1.0, square)
                }
                (_, p) => b.pow_number(base, p),
            },
            None => b.pow(base, exponent),
        };
    }
    // By squaring, over the bits of the exponent.
    let mut result = b.number(base, 1.0);
    let mut square = base;
    if let Some(n) = b.known(exponent) {
        let mut n = n.as_i64();
        while n > 0 {
            if n & 1 == 1 {
                result = b.mul(result, square);
            }
            n >>= 1;
            if n > 0 {
                square = b.mul(square, square);
            }
        }
        return result;
    }
    // The last bit of signed types is the sign.
    let bits = 8 * dtype.size() as u32 - u32::from(dtype != DType::U8);
    for bit in 0..bits {
        let mask = b.constant(Number::Int(1i64 << bit), dtype);
        let set = b.binary(Binary::And, exponent, mask);
        let set = b.truth(set);
        let product = b.mul(result, square);
        result = b.select(set, product, result);
        square = b.mul(square, square);
    }
    if dtype == DType::U8 {
        return result;
    }
    // A negative power is the integer part of the inverse: nothing but for 1 and -1, whose powers the bits have given.
    let negative = b.compare_number(Compare::Lt, exponent, 0.0);
    let size = b.abs(base);
    let one = b.compare_number(Compare::Eq, size, 1.0);
    let none = b.number(base, 0.0);
    let inverse = b.select(one, result, none);
    b.select(negative, inverse, result)
}

fn check_alpha(cx: &RuleContext<'_>, args: &[Arg<&Facts>]) -> Result<(), OpError> {
    let common = promote::result_type(&args[..2], cx.default_float);
    match &args[2] {
        Arg::Number(Number::Float(_)) if !common.has_gradients() => {
            Err(OpError::runtime("For integral input tensors, argument alpha must not be a floating point number."))
        }
        Arg::Number(Number::Bool(_)) if common != DType::Bool => Err(OpError::runtime("Boolean alpha only supported for Boolean results.")),
        _ => Ok(()),
    }
}

fn add_rule(cx: &mut RuleContext<'_>, args: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    check_alpha(cx, args)?;
    rules::common_pair(cx, args)
}

fn sub_rule(cx: &mut RuleContext<'_>, args: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let is_bool = |a: &Arg<&Facts>| match a {
        Arg::Tensor(f) => f.dtype == DType::Bool,
        other => matches!(other, Arg::Number(Number::Bool(_))),
    };
    check_no_bool(is_bool(&args[0]), is_bool(&args[1]))?;
    check_alpha(cx, args)?;
    rules::common_pair(cx, args)
}

fn check_no_bool(left: bool, right: bool) -> Result<(), OpError> {
    match (left, right) {
        (true, true) => Err(OpError::not_implemented(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead.",
        )),
        (true, false) | (false, true) => Err(OpError::not_implemented(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.",
        )),
        (false, false) => Ok(()),
    }
}

fn pow_rule(cx: &mut RuleContext<'_>, args: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let common = promote::result_type(args, cx.default_float);
    if let Some(n) = args::number(args, 1)
        && common.category() == Category::Integer
        && n.as_f64() < 0.0
    {
        return Err(OpError::runtime("Integers to negative integer powers are not allowed."));
    }
    rules::common(cx, args)
}

/// The powers of a number lie row by row.
fn pow_of_number_rule(cx: &mut RuleContext<'_>, args: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let powers = pow_rule(cx, args)?;
    match args[0] {
        Arg::Number(_) => rules::fresh(cx, &powers[0], powers[0].dtype, powers[0].dims.clone()),
        _ => Ok(powers),
    }
}

fn clamp_rule(cx: &mut RuleContext<'_>, args: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    if args[1].is_absent() && args[2].is_absent() {
        return Err(OpError::runtime("torch.clamp: At least one of 'min' or 'max' must not be None"));
    }
    rules::common(cx, args)
}

fn lerp_rule(cx: &mut RuleContext<'_>, args: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let (start, end) = (args::tensor(args, 0)?.dtype, args::tensor(args, 1)?.dtype);
    if start != end {
        return Err(OpError::runtime(format!("expected dtype {} for `end` but got dtype {}", start.torch_name(), end.torch_name())));
    }
    if !start.is_float() {
        return Err(OpError::not_implemented(format!("\"lerp_kernel_scalar\" not implemented for '{}'", start.scalar_name())));
    }
    rules::common(cx, args)
}

/// `other - alpha * self`.
fn reversed_sub(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    if let Arg::Tensor(other) = a[1] {
        return call(e, "sub.Tensor", &[t(other), a[0].clone(), a[2].clone()]);
    }
    check_no_bool(e.facts(*args::tensor(a, 0)?).dtype == DType::Bool, matches!(a[1], Arg::Number(Number::Bool(_))))?;
    let scaled =
        if a[2] == Arg::Number(Number::Int(1)) { *args::tensor(a, 0)? } else { one(e, "mul.Tensor", &[a[0].clone(), a[2].clone()])? };
    let minus = one(e, "neg", &[t(scaled)])?;
    call(e, "add.Tensor", &[t(minus), a[1].clone()])
}

fn rounded_div(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let name = match args::text(a, 2) {
        "" => "div.Tensor",
        "floor" => "floor_divide",
        "trunc" => "_div_trunc",
        other => {
            return Err(OpError::runtime(format!("div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{other}'")));
        }
    };
    call(e, name, &a[..2])
}
