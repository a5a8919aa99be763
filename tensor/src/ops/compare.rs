//! Comparisons and logic; results are `bool`.

use super::{
    args,
    arithmetic::x,
    call::{cast, f, one, t},
    complex::{equal, finite, infinite as infinite_part, nan, unequal, zero},
    define::{ALL, complex, composite, constant, no_complex, pointwise, samples},
    rules,
};
use crate::{complex_map, complex_zip};
use smallvec::smallvec;
use taipan_ir::{
    Arg, DType, Emitter, Op, OpError, Val,
    body::{Binary, Body, Compare, Scalar, Unary},
    op::{BodyRule, Forms, Promotion, Vals},
};

const PAIRS: &[&str] = &["f32[2,3], f32[3]", "i64[4], i64[4]", "f32[4], 0", "i64[4], 1.5", "bool[4], bool[4]"];

const fn comparison(schema: &'static str, body: BodyRule) -> Op {
    samples(pointwise(schema, ALL, Promotion::Compare, rules::compare, body), PAIRS)
}

/// As [`comparison`] for one that needs no order.
const fn comparison_of_any(schema: &'static str, body: BodyRule) -> Op {
    let pairs =
        &["f32[2,3], f32[3]", "i64[4], i64[4]", "f32[4], 0", "i64[4], 1.5", "bool[4], bool[4]", "c64[2,3], c64[3]", "c128[4], f32[4]"];
    samples(pointwise(schema, ALL, Promotion::Compare, rules::compare, body), pairs)
}

const fn logical(schema: &'static str, body: BodyRule) -> Op {
    let pairs = &["f32[2,3], f32[3]", "bool[4], bool[4]", "i64[4], f32[4]"];
    samples(pointwise(schema, ALL, Promotion::Compare, rules::compare, body), pairs)
}

const fn question(schema: &'static str, body: BodyRule) -> Op {
    samples(pointwise(schema, Forms::BOTH, Promotion::Compare, rules::compare, body), &["f32[4]", "i64[4]"])
}

fn compared(b: &mut Body, op: Compare, a: &[Arg<Scalar>]) -> Scalar {
    let (p, q) = (b.rounded(x(a, 0)), b.rounded(x(a, 1)));
    b.compare(op, p, q)
}

fn logic(b: &mut Body, op: Binary, a: &[Arg<Scalar>]) -> Scalar {
    let (p, q) = (b.truth(x(a, 0)), b.truth(x(a, 1)));
    b.binary(op, p, q)
}

fn infinite(b: &mut Body, value: Scalar, sign: f64) -> Scalar {
    if b.dtype(value).is_float() {
        b.compare_number(Compare::Eq, value, f64::INFINITY * sign)
    } else {
        b.constant(taipan_ir::Number::Bool(false), taipan_ir::DType::Bool)
    }
}

/// The op tables of this file.
pub static OPS: &[Op] = &[
    complex(
        comparison_of_any("eq.Tensor(Tensor self, Tensor|Scalar other) -> Tensor", |b, a| compared(b, Compare::Eq, a)),
        complex_zip!(equal),
    ),
    complex(
        comparison_of_any("ne.Tensor(Tensor self, Tensor|Scalar other) -> Tensor", |b, a| compared(b, Compare::Ne, a)),
        complex_zip!(unequal),
    ),
    comparison("lt.Tensor(Tensor self, Tensor|Scalar other) -> Tensor", |b, a| compared(b, Compare::Lt, a)),
    comparison("le.Tensor(Tensor self, Tensor|Scalar other) -> Tensor", |b, a| compared(b, Compare::Le, a)),
    comparison("gt.Tensor(Tensor self, Tensor|Scalar other) -> Tensor", |b, a| compared(b, Compare::Gt, a)),
    comparison("ge.Tensor(Tensor self, Tensor|Scalar other) -> Tensor", |b, a| compared(b, Compare::Ge, a)),
    logical("logical_and(Tensor self, Tensor other) -> Tensor", |b, a| logic(b, Binary::And, a)),
    logical("logical_or(Tensor self, Tensor other) -> Tensor", |b, a| logic(b, Binary::Or, a)),
    logical("logical_xor(Tensor self, Tensor other) -> Tensor", |b, a| logic(b, Binary::Xor, a)),
    complex(
        samples(
            pointwise("logical_not(Tensor self) -> Tensor", ALL, Promotion::Compare, rules::compare, |b, a| {
                let truth = b.truth(x(a, 0));
                b.unary(Unary::Not, truth)
            }),
            &["f32[4]", "bool[4]"],
        ),
        complex_map!(zero),
    ),
    complex(question("isnan(Tensor self) -> Tensor", |b, a| b.compare(Compare::Ne, x(a, 0), x(a, 0))), complex_map!(nan)),
    complex(
        question("isinf(Tensor self) -> Tensor", |b, a| {
            let (above, below) = (infinite(b, x(a, 0), 1.0), infinite(b, x(a, 0), -1.0));
            b.binary(Binary::Or, above, below)
        }),
        complex_map!(infinite_part),
    ),
    question("isposinf(Tensor self) -> Tensor", |b, a| infinite(b, x(a, 0), 1.0)),
    question("isneginf(Tensor self) -> Tensor", |b, a| infinite(b, x(a, 0), -1.0)),
    complex(
        question("isfinite(Tensor self) -> Tensor", |b, a| {
            let difference = b.sub(x(a, 0), x(a, 0));
            b.compare_number(Compare::Eq, difference, 0.0)
        }),
        complex_map!(finite),
    ),
    no_complex(
        question("signbit(Tensor self) -> Tensor", |b, a| {
            let value = x(a, 0);
            let bits = match b.dtype(value) {
                DType::F64 => b.bitcast(value, DType::I64),
                DType::F32 => b.bitcast(value, DType::I32),
                _ => value,
            };
            b.compare_number(Compare::Lt, bits, 0.0)
        }),
        "signbit is not implemented for complex tensors.",
    ),
    constant(samples(
        composite(
            "isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor",
            Forms::BOTH,
            is_close,
        ),
        &[
            "f32[4], f32[4]",
            "f32[4], f32[4], rtol=0.5",
            "i64[4], i64[4]",
            "bool[4], bool[4]",
            "f16[4], f16[4], rtol=0.5",
            "f32[4], f64[4]",
            "f32[4], f32[4], rtol=-1",
        ],
    )),
    constant(samples(
        composite(
            "allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor",
            Forms::BOTH,
            |e, a| {
                let close = one(e, "isclose", a)?;
                Ok(smallvec![one(e, "all", &[t(close)])?])
            },
        ),
        &["f32[4], f32[4]", "f32[4], f32[4], rtol=100"],
    )),
    constant(samples(
        composite("equal(Tensor self, Tensor other) -> Tensor", Forms::BOTH, |e, a| {
            let (p, q) = (e.facts(*args::tensor(a, 0)?).dims.clone(), e.facts(*args::tensor(a, 1)?).dims.clone());
            let mut same = p.len() == q.len();
            for (x, y) in p.iter().zip(&q) {
                same = same && (x == y || e.dims().decide(taipan_ir::Rel::Eq, *x, *y)?);
            }
            if !same {
                let no = [super::call::dims([]), super::call::n(0), Arg::DType(taipan_ir::DType::Bool)];
                return Ok(smallvec![one(e, "full", &no)?]);
            }
            let alike = one(e, "eq.Tensor", a)?;
            Ok(smallvec![one(e, "all", &[t(alike)])?])
        }),
        &["f32[4], f32[4]", "i64[4], i64[3]"],
    )),
];

fn is_close(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let (p, q) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
    let (dtype, other) = (e.facts(p).dtype, e.facts(q).dtype);
    if dtype != other {
        return Err(OpError::runtime(format!("{} did not match {}", dtype.scalar_name(), other.scalar_name())));
    }
    let (rtol, atol) = (args::float(a, 2, 1e-5), args::float(a, 3, 1e-8));
    for (name, bound) in [("rtol", rtol), ("atol", atol)] {
        if bound < 0.0 {
            return Err(OpError::runtime(format!("{name} must be greater than or equal to zero, but got {bound}")));
        }
    }
    let mut close = one(e, "eq.Tensor", &[t(p), t(q)])?;
    if args::flag(a, 4) && dtype.is_float() {
        let (p_nan, q_nan) = (one(e, "isnan", &[t(p)])?, one(e, "isnan", &[t(q)])?);
        let both = one(e, "logical_and", &[t(p_nan), t(q_nan)])?;
        close = one(e, "logical_or", &[t(close), t(both)])?;
    }
    if rtol == 0.0 && atol == 0.0 {
        return Ok(smallvec![close]);
    }
    let float = e.default_float();
    let p = if dtype == DType::Bool { cast(e, p, float)? } else { p };
    let q = if dtype.is_float() { q } else { cast(e, q, float)? };
    let relative = one(e, "mul.Tensor", &[t(q), f(rtol)])?;
    let relative = one(e, "abs", &[t(relative)])?;
    let allowed = one(e, "add.Tensor", &[t(relative), f(atol)])?;
    let difference = one(e, "sub.Tensor", &[t(p), t(q)])?;
    let distance = one(e, "abs", &[t(difference)])?;
    let within = one(e, "le.Tensor", &[t(distance), t(allowed)])?;
    let finite = one(e, "isfinite", &[t(distance)])?;
    let within = one(e, "logical_and", &[t(within), t(finite)])?;
    Ok(smallvec![one(e, "logical_or", &[t(close), t(within)])?])
}
