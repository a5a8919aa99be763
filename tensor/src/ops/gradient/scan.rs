//! Gradients of running sums, products and extrema, and of products.

use super::Maths;
use crate::ops::{
    args,
    call::{i, ints, t},
    rules::{reduced_dims, wrap_dim},
};
use taipan_ir::{Arg, Dim, DimOp, OpError, Val, gradient::Backward};

fn flipped(b: &mut Backward<'_>, value: Val, axis: i64) -> Result<Val, OpError> {
    b.op("flip", &[t(value), ints([axis])])
}

/// The elements along a dim moved by one place: `first` comes at the front, the last is dropped.
fn delayed(b: &mut Backward<'_>, value: Val, axis: i64, first: f64) -> Result<Val, OpError> {
    let mut facts = b.emitter.facts(value).clone();
    let size = facts.dims[axis as usize];
    let table = b.emitter.dims();
    let kept = table.calc(DimOp::Sub, size, Dim::Is(1));
    let kept = table.calc(DimOp::Max, kept, Dim::Is(0));
    let lead = table.calc(DimOp::Sub, size, kept);
    facts.dims[axis as usize] = lead;
    let front = b.op("full", &[Arg::Ints(facts.dims), first.into(), Arg::DType(facts.dtype)])?;
    let rest = b.op("narrow", &[t(value), i(axis), i(0), Arg::Int(kept)])?;
    b.op("cat", &[Arg::Tensors(vec![front, rest]), i(axis)])
}

/// `r[k] = value[k] + factor[k + 1] * r[k + 1]`, from the end on.
fn scanned_back(b: &mut Backward<'_>, value: Val, factor: Val, axis: i64) -> Result<Val, OpError> {
    let (value, factor) = (flipped(b, value, axis)?, flipped(b, factor, axis)?);
    let factor = delayed(b, factor, axis, 0.0)?;
    let result = b.op("_linear_scan", &[t(value), t(factor), i(axis)])?;
    flipped(b, result, axis)
}

/// The dim of a scan; `None` where the tensor has none.
fn axis(b: &Backward<'_>, param: usize) -> Result<Option<i64>, OpError> {
    let rank = b.facts(0)?.rank();
    let axis = wrap_dim(args::int(b.args(), param)?, rank)?;
    Ok((rank > 0).then_some(axis as i64))
}

/// `cumsum`: the sum of all gradients from there on.
///
/// # Errors
/// Those of the ops.
pub fn of_cumsum(b: &mut Backward<'_>) -> Result<(), OpError> {
    let grad = b.grad()?;
    let Some(axis) = axis(b, 1)? else {
        b.give(0, grad);
        return Ok(());
    };
    let turned = flipped(b, grad, axis)?;
    let sums = b.op("cumsum", &[t(turned), i(axis)])?;
    let given = flipped(b, sums, axis)?;
    b.give(0, given);
    Ok(())
}

/// `cumprod`: the product of all before, times a recurrence over all behind; no division, so that zeros are no matter.
///
/// # Errors
/// Those of the ops.
pub fn of_cumprod(b: &mut Backward<'_>) -> Result<(), OpError> {
    let grad = b.grad()?;
    let Some(axis) = axis(b, 1)? else {
        b.give(0, grad);
        return Ok(());
    };
    let (x, products) = (b.tensor(0)?, b.result(0)?);
    let before = delayed(b, products, axis, 1.0)?;
    let behind = scanned_back(b, grad, x, axis)?;
    let given = b.mul(before, behind)?;
    b.give(0, given);
    Ok(())
}

/// `logcumsumexp`: `Σ g[i] exp(x[k] - y[i])` over `i ≥ k`, in steps that don't overflow as `y` never falls.
///
/// # Errors
/// Those of the ops.
pub fn of_logcumsumexp(b: &mut Backward<'_>) -> Result<(), OpError> {
    let grad = b.grad()?;
    let Some(axis) = axis(b, 1)? else {
        b.give(0, grad);
        return Ok(());
    };
    let (x, y) = (b.tensor(0)?, b.result(0)?);
    let earlier = delayed(b, y, axis, f64::NEG_INFINITY)?;
    let step = b.sub(earlier, y)?;
    let factor = b.of("exp", step)?;
    let behind = scanned_back(b, grad, factor, axis)?;
    let own = b.sub(x, y)?;
    let share = b.of("exp", own)?;
    let given = b.mul(behind, share)?;
    b.give(0, given);
    Ok(())
}

/// `_linear_scan`: the same recurrence backwards.
///
/// # Errors
/// Those of the ops.
pub fn of_linear_scan(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (grad, factor, axis) = (b.grad()?, b.tensor(1)?, args::int(b.args(), 2)?);
    let behind = scanned_back(b, grad, factor, axis)?;
    if b.needs(0) {
        b.give(0, behind);
    }
    if b.needs(1) {
        let before = delayed(b, b.result(0)?, axis, 0.0)?;
        let given = b.mul(behind, before)?;
        b.give(1, given);
    }
    Ok(())
}

/// `prod` over everything: the product of all others, without division.
///
/// # Errors
/// Those of the ops.
pub fn of_prod(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (facts, grad) = (b.facts(0)?, b.grad()?);
    let flat = b.op("reshape", &[t(b.tensor(0)?), ints([-1])])?;
    let others = all_others(b, flat, 0)?;
    let product = b.mul(others, grad)?;
    let given = b.op("view", &[t(product), Arg::Ints(facts.dims)])?;
    b.give(0, given);
    Ok(())
}

/// `prod` along a dim.
///
/// # Errors
/// Those of the ops.
pub fn of_prod_along(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (facts, mut grad) = (b.facts(0)?, b.grad()?);
    let reduced = reduced_dims(b.args(), 1, facts.rank())?;
    let Some(axis) = reduced.iter().position(|reduced| *reduced) else {
        b.give(0, grad);
        return Ok(());
    };
    let axis = axis as i64;
    if !args::flag(b.args(), 2) {
        grad = b.op("unsqueeze", &[t(grad), i(axis)])?;
    }
    let others = all_others(b, b.tensor(0)?, axis)?;
    let given = b.mul(others, grad)?;
    b.give(0, given);
    Ok(())
}

/// For each element the product of all others along a dim.
fn all_others(b: &mut Backward<'_>, value: Val, axis: i64) -> Result<Val, OpError> {
    let products = b.op("cumprod", &[t(value), i(axis)])?;
    let before = delayed(b, products, axis, 1.0)?;
    let turned = flipped(b, value, axis)?;
    let products = b.op("cumprod", &[t(turned), i(axis)])?;
    let behind = delayed(b, products, axis, 1.0)?;
    let behind = flipped(b, behind, axis)?;
    b.mul(before, behind)
}
