//! Functions of one element.

use super::{
    args,
    arithmetic::x,
    complex::{
        abs, cos, cosh, exp, ln, log2, log10, neg, reciprocal, rsqrt as complex_rsqrt, same, sgn, sigmoid, sin, sinh, size_rule, sqrt,
        square, tan, tanh,
    },
    define::{ALL, complex, complex_close, gradient, mutate, no_complex, pointwise, refusing, samples, ulps},
    gradient::{
        Maths,
        complex::{of_abs, of_sgn},
        through,
        unary::*,
        zero,
    },
    refusal::{dtypes, numbers},
    rules,
};
use crate::complex_map;
use taipan_ir::{
    Arg, DType, ErrorKind, Facts, Op, OpError,
    body::{Body, Compare, Function, Scalar, Unary},
    complex::Complex,
    op::{BodyRule, FactsList, Forms, Kernel, Promotion::*, RuleContext},
};

const FLOATS: &[&str] = &["f32[2,3]", "f64[4]", "f16[5]", "bf16[5]", "i64[4]"];
const POSITIVE: &[&str] = &["f32[2,3]+", "f64[4]+", "f16[5]+", "i64[4]+"];
const ANY: &[&str] = &["f32[2,3]", "i64[4]", "f16[5]"];
const COMPLEX_ANY: &[&str] = &["f32[2,3]", "i64[4]", "f16[5]", "c64[2,3]", "c128[4]"];
/// What functions of one element may differ by.
pub const WITHIN: &[(DType, u32)] =
    &[(DType::F32, 2), (DType::F64, 2), (DType::F16, 1), (DType::BF16, 1), (DType::C64, 16), (DType::C128, 16)];

/// A function of floats; integers go to the default float type.
const fn function(schema: &'static str, body: BodyRule) -> Op {
    ulps(samples(pointwise(schema, ALL, Float, rules::float, body), FLOATS), WITHIN)
}

/// As [`function`], sampled on positive numbers.
const fn positive(schema: &'static str, body: BodyRule) -> Op {
    ulps(samples(pointwise(schema, ALL, Float, rules::float, body), POSITIVE), WITHIN)
}

/// The op with code for complex elements, and samples of them beside the floats.
const fn with_complex(op: Op, run: Kernel) -> Op {
    complex(samples(op, &["f32[2,3]", "f64[4]", "f16[5]", "bf16[5]", "i64[4]", "c64[2,3]", "c128[4]"]), run)
}

/// As [`with_complex`], sampled on positive floats.
const fn positive_with_complex(op: Op, run: Kernel) -> Op {
    complex(samples(op, &["f32[2,3]+", "f64[4]+", "f16[5]+", "i64[4]+", "c64[2,3]", "c128[4]"]), run)
}

/// As [`with_complex`] for an op that keeps integers.
const fn any_with_complex(op: Op, run: Kernel) -> Op {
    complex(samples(op, COMPLEX_ANY), run)
}

/// The in-place form of an op whose result is real, which complex memory isn't written with.
const fn in_place_size(schema: &'static str, pure: &'static str) -> Op {
    let op = samples(mutate(schema, Forms::BOTH, pure), COMPLEX_ANY);
    let text = "In-place abs is not supported for complex tensors.";
    Op { complex: Complex::RefusedWith(ErrorKind::Runtime, text), ..op }
}

/// Rounds floats; integers stay.
const fn rounding(schema: &'static str, body: BodyRule) -> Op {
    samples(pointwise(schema, ALL, Common, rules::common, body), ANY)
}

fn call(b: &mut Body, function: Function, a: &[Arg<Scalar>]) -> Scalar {
    b.call(function, x(a, 0))
}

fn round(b: &mut Body, op: Unary, a: &[Arg<Scalar>]) -> Scalar {
    if b.dtype(x(a, 0)).is_float() { b.unary(op, x(a, 0)) } else { x(a, 0) }
}

/// The op tables of this file.
pub static OPS: &[Op] = &[
    with_complex(
        gradient(function("exp(Tensor self) -> Tensor", |b, a| b.exp(x(a, 0))), "result", |b| by_result(b, |_, y| Ok(y))),
        complex_map!(exp),
    ),
    gradient(function("exp2(Tensor self) -> Tensor", |b, a| b.exp2(x(a, 0))), "result", |b| {
        by_result(b, |b, y| b.mul(y, std::f64::consts::LN_2))
    }),
    gradient(function("expm1(Tensor self) -> Tensor", |b, a| b.expm1(x(a, 0))), "result", |b| by_result(b, |b, y| b.add(y, 1i64))),
    positive_with_complex(
        gradient(positive("log(Tensor self) -> Tensor", |b, a| b.log(x(a, 0))), "self", |b| over(b, |_, x| Ok(x))),
        complex_map!(ln),
    ),
    positive_with_complex(
        gradient(positive("log2(Tensor self) -> Tensor", |b, a| b.log2(x(a, 0))), "self", |b| {
            over(b, |b, x| b.mul(x, std::f64::consts::LN_2))
        }),
        complex_map!(log2),
    ),
    positive_with_complex(
        gradient(positive("log10(Tensor self) -> Tensor", |b, a| b.log10(x(a, 0))), "self", |b| {
            over(b, |b, x| b.mul(x, std::f64::consts::LN_10))
        }),
        complex_map!(log10),
    ),
    gradient(positive("log1p(Tensor self) -> Tensor", |b, a| b.log1p(x(a, 0))), "self", |b| over(b, |b, x| b.add(x, 1i64))),
    positive_with_complex(gradient(positive("sqrt(Tensor self) -> Tensor", |b, a| b.sqrt(x(a, 0))), "result", of_sqrt), complex_map!(sqrt)),
    positive_with_complex(
        gradient(
            positive("rsqrt(Tensor self) -> Tensor", |b, a| {
                let root = b.sqrt(x(a, 0));
                b.number_div(1.0, root)
            }),
            "result",
            |b| {
                by_result(b, |b, y| {
                    let cube = b.pow(y, 3i64)?;
                    b.mul(cube, -0.5)
                })
            },
        ),
        complex_map!(complex_rsqrt),
    ),
    positive_with_complex(
        gradient(positive("reciprocal(Tensor self) -> Tensor", |b, a| b.number_div(1.0, x(a, 0))), "result", |b| {
            by_result(b, |b, y| {
                let square = b.mul(y, y)?;
                b.neg(square)
            })
        }),
        complex_map!(reciprocal),
    ),
    with_complex(
        gradient(function("sin(Tensor self) -> Tensor", |b, a| b.sin(x(a, 0))), "self", |b| by_input(b, |b, x| b.of("cos", x))),
        complex_map!(sin),
    ),
    with_complex(
        gradient(function("cos(Tensor self) -> Tensor", |b, a| b.cos(x(a, 0))), "self", |b| {
            by_input(b, |b, x| {
                let sine = b.of("sin", x)?;
                b.neg(sine)
            })
        }),
        complex_map!(cos),
    ),
    with_complex(
        gradient(function("tan(Tensor self) -> Tensor", |b, a| b.tan(x(a, 0))), "result", |b| by_result(b, |b, y| square_plus(b, y, 1))),
        complex_map!(tan),
    ),
    gradient(function("asin(Tensor self) -> Tensor", |b, a| call(b, Function::Asin, a)), "self", |b| {
        by_input(b, |b, x| {
            let rest = one_minus_square(b, x)?;
            rsqrt(b, rest)
        })
    }),
    gradient(function("acos(Tensor self) -> Tensor", |b, a| call(b, Function::Acos, a)), "self", |b| {
        by_input(b, |b, x| {
            let rest = one_minus_square(b, x)?;
            let slope = rsqrt(b, rest)?;
            b.neg(slope)
        })
    }),
    gradient(function("atan(Tensor self) -> Tensor", |b, a| call(b, Function::Atan, a)), "self", |b| over(b, |b, x| square_plus(b, x, 1))),
    with_complex(
        gradient(function("sinh(Tensor self) -> Tensor", |b, a| b.sinh(x(a, 0))), "self", |b| by_input(b, |b, x| b.of("cosh", x))),
        complex_map!(sinh),
    ),
    with_complex(
        gradient(function("cosh(Tensor self) -> Tensor", |b, a| b.cosh(x(a, 0))), "self", |b| by_input(b, |b, x| b.of("sinh", x))),
        complex_map!(cosh),
    ),
    with_complex(
        gradient(function("tanh(Tensor self) -> Tensor", |b, a| b.tanh(x(a, 0))), "result", |b| by_result(b, one_minus_square)),
        complex_map!(tanh),
    ),
    gradient(function("asinh(Tensor self) -> Tensor", |b, a| call(b, Function::Asinh, a)), "self", |b| {
        by_input(b, |b, x| {
            let square = square_plus(b, x, 1)?;
            rsqrt(b, square)
        })
    }),
    gradient(positive("acosh(Tensor self) -> Tensor", |b, a| call(b, Function::Acosh, a)), "self", |b| {
        by_input(b, |b, x| {
            let square = square_plus(b, x, -1)?;
            rsqrt(b, square)
        })
    }),
    gradient(function("atanh(Tensor self) -> Tensor", |b, a| call(b, Function::Atanh, a)), "self", |b| over(b, one_minus_square)),
    with_complex(
        gradient(function("sigmoid(Tensor self) -> Tensor", |b, a| b.sigmoid(x(a, 0))), "result", of_sigmoid),
        complex_map!(sigmoid),
    ),
    no_complex(
        gradient(function("erf(Tensor self) -> Tensor", |b, a| b.erf(x(a, 0))), "self", |b| by_input(b, bell)),
        "\"erf_vml_cpu\" not implemented for '{}'",
    ),
    no_complex(
        gradient(function("erfc(Tensor self) -> Tensor", |b, a| call(b, Function::Erfc, a)), "self", |b| {
            by_input(b, |b, x| {
                let slope = bell(b, x)?;
                b.neg(slope)
            })
        }),
        "\"erfc_vml_cpu\" not implemented for '{}'",
    ),
    no_complex(
        gradient(function("erfinv(Tensor self) -> Tensor", |b, a| call(b, Function::ErfInv, a)), "result", |b| by_result(b, inverse_bell)),
        "\"erfinv_vml_cpu\" not implemented for '{}'",
    ),
    no_complex(
        gradient(positive("lgamma(Tensor self) -> Tensor", |b, a| call(b, Function::Lgamma, a)), "self", |b| {
            by_input(b, |b, x| b.of("digamma", x))
        }),
        "\"lgamma_vml_cpu\" not implemented for '{}'",
    ),
    no_complex(
        gradient(positive("digamma(Tensor self) -> Tensor", |b, a| call(b, Function::Digamma, a)), "self", |b| {
            by_input(b, |b, x| b.of("_trigamma", x))
        }),
        "\"digamma\" not implemented for '{}'",
    ),
    samples(
        gradient(
            pointwise("logit(Tensor self, float? eps=None) -> Tensor", ALL, Float, rules::float_one, |b, a| {
                let mut p = x(a, 0);
                if let Arg::Number(eps) = a[1] {
                    let low = b.number(p, eps.as_f64());
                    let low = b.rounded(low);
                    let high = b.number_sub(1.0, low);
                    let high = b.rounded(high);
                    p = b.max(p, low);
                    p = b.min(p, high);
                }
                let rest = b.number_sub(1.0, p);
                let rest = b.rounded(rest);
                let odds = b.div(p, rest);
                let odds = b.rounded(odds);
                b.log(odds)
            }),
            "self",
            of_logit,
        ),
        &["f32[4]+, 0.1", "f16[4]+, 0.1", "bf16[4]+"],
    ),
    any_with_complex(
        samples(
            gradient(pointwise("neg(Tensor self) -> Tensor", ALL, Common, neg_rule, |b, a| b.neg(x(a, 0))), "", |b| times(b, -1.0)),
            ANY,
        ),
        complex_map!(neg),
    ),
    any_with_complex(
        samples(
            gradient(pointwise("negative(Tensor self) -> Tensor", ALL, Common, neg_rule, |b, a| b.neg(x(a, 0))), "", |b| times(b, -1.0)),
            ANY,
        ),
        complex_map!(neg),
    ),
    any_with_complex(
        samples(
            gradient(pointwise("positive(Tensor self) -> Tensor", Forms::BOTH, Common, rules::common, |_, a| x(a, 0)), "", through),
            ANY,
        ),
        complex_map!(same),
    ),
    any_with_complex(
        samples(
            gradient(
                refusing(pointwise("abs(Tensor self) -> Tensor", Forms::BOTH, Common, size_rule, |b, a| b.abs(x(a, 0))), |_, a| {
                    dtypes::numbers_only(a, "abs_cpu")
                }),
                "self",
                of_abs,
            ),
            ANY,
        ),
        complex_map!(abs),
    ),
    in_place_size("abs_(Tensor(a!) self) -> Tensor(a!)", "abs"),
    any_with_complex(
        samples(
            gradient(
                refusing(pointwise("absolute(Tensor self) -> Tensor", Forms::BOTH, Common, size_rule, |b, a| b.abs(x(a, 0))), |_, a| {
                    dtypes::numbers_only(a, "abs_cpu")
                }),
                "self",
                of_abs,
            ),
            ANY,
        ),
        complex_map!(abs),
    ),
    in_place_size("absolute_(Tensor(a!) self) -> Tensor(a!)", "absolute"),
    no_complex(
        samples(gradient(pointwise("sign(Tensor self) -> Tensor", ALL, Common, rules::common, |b, a| b.sign(x(a, 0))), "", zero), ANY),
        "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead.",
    ),
    complex_close(
        samples(
            gradient(pointwise("sgn(Tensor self) -> Tensor", ALL, Common, rules::common, |b, a| b.sign(x(a, 0))), "self", of_sgn),
            COMPLEX_ANY,
        ),
        complex_map!(sgn),
    ),
    complex_close(
        samples(
            gradient(pointwise("square(Tensor self) -> Tensor", ALL, Common, square_rule, |b, a| b.mul(x(a, 0), x(a, 0))), "self", |b| {
                by_input(b, |b, x| b.mul(x, 2i64))
            }),
            COMPLEX_ANY,
        ),
        complex_map!(square),
    ),
    no_complex(
        gradient(
            refusing(rounding("floor(Tensor self) -> Tensor", |b, a| round(b, Unary::Floor, a)), |_, a| {
                dtypes::numbers_only(a, "floor_vml_cpu")
            }),
            "",
            zero,
        ),
        "floor is not supported for complex inputs",
    ),
    no_complex(
        gradient(
            refusing(rounding("ceil(Tensor self) -> Tensor", |b, a| round(b, Unary::Ceil, a)), |_, a| {
                dtypes::numbers_only(a, "ceil_vml_cpu")
            }),
            "",
            zero,
        ),
        "ceil is not supported for complex inputs",
    ),
    no_complex(
        gradient(
            refusing(rounding("trunc(Tensor self) -> Tensor", |b, a| round(b, Unary::Trunc, a)), |_, a| {
                dtypes::numbers_only(a, "trunc_vml_cpu")
            }),
            "",
            zero,
        ),
        "trunc is not supported for complex inputs",
    ),
    no_complex(
        gradient(
            refusing(rounding("fix(Tensor self) -> Tensor", |b, a| round(b, Unary::Trunc, a)), |_, a| {
                dtypes::numbers_only(a, "trunc_vml_cpu")
            }),
            "",
            zero,
        ),
        "trunc is not supported for complex inputs",
    ),
    no_complex(
        samples(
            gradient(
                refusing(
                    pointwise("round(Tensor self, *, int decimals=0) -> Tensor", ALL, Common, rules::common_one, |b, a| {
                        let decimals = args::int(a, 1).unwrap_or(0);
                        if decimals == 0 || !b.dtype(x(a, 0)).is_float() {
                            return round(b, Unary::Round, a);
                        }
                        let scale = 10f64.powi(decimals.unsigned_abs().min(300) as i32);
                        if decimals > 0 {
                            let scaled = b.mul_number(x(a, 0), scale);
                            let rounded = b.unary(Unary::Round, scaled);
                            let scale = b.number(rounded, scale);
                            return b.div(rounded, scale);
                        }
                        let divisor = b.number(x(a, 0), scale);
                        let scaled = b.div(x(a, 0), divisor);
                        let rounded = b.unary(Unary::Round, scaled);
                        b.mul_number(rounded, scale)
                    }),
                    dtypes::round,
                ),
                "",
                zero,
            ),
            &["f32[5]", "i64[4]", "f32[5], decimals=1"],
        ),
        "\"round_vml_cpu\" not implemented for '{}'",
    ),
    samples(
        gradient(
            refusing(
                pointwise("frac(Tensor self) -> Tensor", ALL, Common, rules::common, |b, a| {
                    let whole = round(b, Unary::Trunc, a);
                    b.sub(x(a, 0), whole)
                }),
                |_, a| dtypes::floats(a, "frac_cpu"),
            ),
            "",
            through,
        ),
        &["f32[5]"],
    ),
    samples(
        gradient(
            pointwise(
                "nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
                ALL,
                Common,
                rules::common_one,
                |b, a| {
                    let value = x(a, 0);
                    if !b.dtype(value).is_float() {
                        return value;
                    }
                    let greatest = numbers::greatest_float(b.half().unwrap_or(b.dtype(value))).unwrap_or(f64::MAX);
                    let given = |i: usize, otherwise: f64| args::float(a, i, otherwise);
                    let (nan, high, low) =
                        (b.number(value, given(1, 0.0)), b.number(value, given(2, greatest)), b.number(value, given(3, -greatest)));
                    let ordinary = b.compare(Compare::Eq, value, value);
                    let above = b.compare_number(Compare::Eq, value, f64::INFINITY);
                    let below = b.compare_number(Compare::Eq, value, f64::NEG_INFINITY);
                    let result = b.select(above, high, value);
                    let result = b.select(below, low, result);
                    b.select(ordinary, result, nan)
                },
            ),
            "self",
            of_nan_to_num,
        ),
        &["f32[4]"],
    ),
    no_complex(
        samples(
            gradient(
                pointwise("deg2rad(Tensor self) -> Tensor", ALL, Float, rules::float, |b, a| {
                    b.mul_number(x(a, 0), std::f64::consts::PI / 180.0)
                }),
                "",
                |b| times(b, std::f64::consts::PI / 180.0),
            ),
            &["f32[4]"],
        ),
        "deg2rad is not supported for complex tensors.",
    ),
    no_complex(
        samples(
            gradient(
                pointwise("rad2deg(Tensor self) -> Tensor", ALL, Float, rules::float, |b, a| {
                    b.mul_number(x(a, 0), 180.0 / std::f64::consts::PI)
                }),
                "",
                |b| times(b, 180.0 / std::f64::consts::PI),
            ),
            &["f32[4]"],
        ),
        "rad2deg is not supported for complex tensors.",
    ),
    samples(
        gradient(
            pointwise("sinc(Tensor self) -> Tensor", ALL, Float, rules::float, |b, a| {
                let angle = b.mul_number(x(a, 0), std::f64::consts::PI);
                let sine = b.sin(angle);
                let ratio = b.div(sine, angle);
                let zero = b.compare_number(Compare::Eq, x(a, 0), 0.0);
                let one = b.number(angle, 1.0);
                b.select(zero, one, ratio)
            }),
            "self",
            of_sinc,
        ),
        &["f32[4]"],
    ),
];

fn neg_rule(cx: &mut RuleContext<'_>, args: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    if args::tensor(args, 0)?.dtype == DType::Bool {
        return Err(OpError::not_implemented(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.",
        ));
    }
    rules::common(cx, args)
}

/// As [`rules::common`], but truths are squared as integers.
fn square_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let mut out = rules::common(cx, a)?;
    out.iter_mut().filter(|facts| facts.dtype == DType::Bool).for_each(|facts| facts.dtype = DType::I64);
    Ok(out)
}
