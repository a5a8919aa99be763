//! Choosing between elements by a mask.

use super::{
    args,
    arithmetic::x,
    call::call,
    complex::{masked_fill as complex_masked_fill, select as complex_where},
    define::{ALL, complex, composite, gradient, moves, pointwise, refusing, samples},
    gradient::arithmetic::*,
    refusal::numbers,
    rules,
};
use crate::KernelFn;
use taipan_ir::{
    Arg, DType, Facts, Op, OpError,
    op::{FactsList, Forms, Kernel, Promotion::*, RuleContext},
};

/// The op tables of this file.
pub static OPS: &[Op] = &[
    moves(composite("where.method(Tensor self, Tensor condition, Tensor|Scalar other) -> Tensor", Forms::METHOD, |e, a| {
        call(e, "where.self", &[a[1].clone(), a[0].clone(), a[2].clone()])
    })),
    complex(
        samples(
            gradient(
                refusing(
                    pointwise(
                        "where.self(Tensor condition, Tensor|Scalar self, Tensor|Scalar other) -> Tensor",
                        Forms::FUNCTION,
                        Select,
                        where_rule,
                        |b, a| b.select(x(a, 0), x(a, 1), x(a, 2)),
                    ),
                    numbers::alternatives,
                ),
                "condition",
                of_where,
            ),
            &["bool[4], f32[4], f32[4]", "bool[2,1], f32[3], 0", "bool[4], i64[4], 0.5", "bool[4], c64[4], f32[4]"],
        ),
        Kernel(&(complex_where as KernelFn)),
    ),
    complex(
        samples(
            gradient(
                refusing(
                    pointwise(
                        "masked_fill.Scalar(Tensor self, Tensor mask, Tensor|Scalar value) -> Tensor",
                        ALL,
                        First,
                        masked_fill_rule,
                        |b, a| {
                            let value = b.operand(x(a, 0), &a[2]);
                            b.select(x(a, 1), value, x(a, 0))
                        },
                    ),
                    numbers::element::<2>,
                ),
                "mask",
                of_masked_fill,
            ),
            &["f32[2,3], bool[3], -inf", "f32[4], bool[4], 0", "i64[4], bool[4], 7"],
        ),
        Kernel(&(complex_masked_fill as KernelFn)),
    ),
];

fn where_rule(cx: &mut RuleContext<'_>, args: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let condition = args::tensor(args, 0)?.dtype;
    if condition != DType::Bool && condition != DType::U8 {
        return Err(OpError::runtime(format!(
            "where expected condition to be a boolean tensor, but got a tensor with dtype {}",
            condition.scalar_name()
        )));
    }
    rules::select(cx, args)
}

fn masked_fill_rule(cx: &mut RuleContext<'_>, args: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let (target, mask) = (args::tensor(args, 0)?, args::tensor(args, 1)?);
    if mask.dtype != DType::Bool {
        return Err(OpError::runtime(format!(
            "masked_fill_ only supports boolean masks, but got mask with dtype {}",
            mask.dtype.scalar_name()
        )));
    }
    if let Arg::Tensor(value) = args[2]
        && value.rank() > 0
    {
        return Err(OpError::runtime(format!(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {} dimension(s).",
            value.rank()
        )));
    }
    let dims = rules::broadcast_pair(cx.dims, &target.dims, &mask.dims)?;
    rules::fresh(cx, target, target.dtype, dims)
}
