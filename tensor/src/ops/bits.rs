//! Operations on the bits of integers.

use super::{
    arithmetic::x,
    define::{ALL, pointwise, samples},
    rules,
};
use taipan_ir::{
    Arg, Facts, Op, OpError,
    body::{Binary, Unary},
    op::{BodyRule, FactsList, Promotion, RuleContext},
    promote,
};

const PAIRS: &[&str] = &["i64[4], i64[4]", "bool[4], bool[4]", "i32[4], 3", "u8[4], u8[4]"];

const fn pair(schema: &'static str, body: BodyRule) -> Op {
    samples(pointwise(schema, ALL, Promotion::Common, integers, body), PAIRS)
}

/// The op tables of this file.
pub static OPS: &[Op] = &[
    pair("bitwise_and.Tensor(Tensor self, Tensor|Scalar other) -> Tensor", |b, a| b.binary(Binary::And, x(a, 0), x(a, 1))),
    pair("bitwise_or.Tensor(Tensor self, Tensor|Scalar other) -> Tensor", |b, a| b.binary(Binary::Or, x(a, 0), x(a, 1))),
    pair("bitwise_xor.Tensor(Tensor self, Tensor|Scalar other) -> Tensor", |b, a| b.binary(Binary::Xor, x(a, 0), x(a, 1))),
    samples(
        pointwise("bitwise_not(Tensor self) -> Tensor", ALL, Promotion::Common, integers, |b, a| b.unary(Unary::Not, x(a, 0))),
        &["i64[4]", "bool[4]"],
    ),
    samples(
        pointwise("bitwise_left_shift.Tensor(Tensor self, Tensor|Scalar other) -> Tensor", ALL, Promotion::Common, integers, |b, a| {
            b.binary(Binary::Shl, x(a, 0), x(a, 1))
        }),
        &["i64[4], 2"],
    ),
    samples(
        pointwise("bitwise_right_shift.Tensor(Tensor self, Tensor|Scalar other) -> Tensor", ALL, Promotion::Common, integers, |b, a| {
            b.binary(Binary::Shr, x(a, 0), x(a, 1))
        }),
        &["i64[4], 1"],
    ),
];

fn integers(cx: &mut RuleContext<'_>, args: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let common = promote::result_type(args, cx.default_float);
    if common.is_float() {
        if args.len() == 1 {
            return Err(OpError::type_error("~ (operator.invert) is only implemented on integer and Boolean-type tensors"));
        }
        return Err(OpError::not_implemented(format!("\"bitwise_cpu\" not implemented for '{}'", common.scalar_name())));
    }
    rules::common(cx, args)
}
