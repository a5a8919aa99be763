//! Operations on the bits of integers.

use super::{
    args,
    arithmetic::x,
    define::{ALL, constant, pointwise, samples},
    rules,
};
use taipan_ir::{
    Arg, DType, Facts, Op, OpError,
    body::{Binary, Unary},
    op::{BodyRule, FactsList, FactsRule, Promotion, RuleContext},
    promote,
};

const PAIRS: &[&str] = &["i64[4], i64[4]", "bool[4], bool[4]", "i32[4], 3", "u8[4], u8[4]"];

const fn pair(schema: &'static str, facts: FactsRule, body: BodyRule) -> Op {
    constant(samples(pointwise(schema, ALL, Promotion::Common, facts, body), PAIRS))
}

/// The op tables of this file.
pub static OPS: &[Op] = &[
    pair(
        "bitwise_and.Tensor(Tensor self, Tensor|Scalar other) -> Tensor",
        |cx, a| integers(cx, a, "bitwise_and_cpu", true),
        |b, a| b.binary(Binary::And, x(a, 0), x(a, 1)),
    ),
    pair(
        "bitwise_or.Tensor(Tensor self, Tensor|Scalar other) -> Tensor",
        |cx, a| integers(cx, a, "bitwise_or_cpu", true),
        |b, a| b.binary(Binary::Or, x(a, 0), x(a, 1)),
    ),
    pair(
        "bitwise_xor.Tensor(Tensor self, Tensor|Scalar other) -> Tensor",
        |cx, a| integers(cx, a, "bitwise_xor_cpu", true),
        |b, a| b.binary(Binary::Xor, x(a, 0), x(a, 1)),
    ),
    samples(
        constant(pointwise("bitwise_not(Tensor self) -> Tensor", ALL, Promotion::Common, not_rule, |b, a| b.unary(Unary::Not, x(a, 0)))),
        &["i64[4]", "bool[4]"],
    ),
    shift("bitwise_left_shift.Tensor(Tensor self, Tensor|Scalar other) -> Tensor", left, |b, a| b.binary(Binary::Shl, x(a, 0), x(a, 1))),
    shift("bitwise_right_shift.Tensor(Tensor self, Tensor|Scalar other) -> Tensor", right, |b, a| b.binary(Binary::Shr, x(a, 0), x(a, 1))),
];

const fn shift(schema: &'static str, facts: FactsRule, body: BodyRule) -> Op {
    constant(samples(
        pointwise(schema, ALL, Promotion::Common, facts, body),
        &["i64[4], 2", "i32[4], i64[4]+", "bool[4], bool[4]", "f32[4], 1"],
    ))
}

fn left(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    integers(cx, a, "lshift_cpu", false)
}

fn right(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    integers(cx, a, "rshift_cpu", false)
}

fn not_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    if args::tensor(a, 0)?.dtype.is_float() {
        return Err(OpError::type_error("~ (operator.invert) is only implemented on integer and Boolean-type tensors"));
    }
    rules::common(cx, a)
}

/// Facts of an operation on integers, and on bools where `bools` says so. `name` is that of the loop PyTorch misses.
fn integers(cx: &mut RuleContext<'_>, args: &[Arg<&Facts>], name: &str, bools: bool) -> Result<FactsList, OpError> {
    let common = promote::result_type(args, cx.default_float);
    if common.is_float() || (common == DType::Bool && !bools) {
        return Err(OpError::not_implemented(format!("\"{name}\" not implemented for '{}'", common.scalar_name())));
    }
    rules::common(cx, args)
}
