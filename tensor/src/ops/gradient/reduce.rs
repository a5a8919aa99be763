//! Gradients of reductions.

use super::Maths;
use crate::ops::{
    args,
    call::{cast, i, t},
    rules::reduced_dims,
};
use taipan_ir::{Arg, Dim, DimOp, OpError, Val, gradient::Backward};

/// A value of the result's sizes with the sizes of argument 0. `dims` is the parameter that names what is reduced, `keep` the one that keeps dims.
fn spread(b: &mut Backward<'_>, value: Val, dims: usize, keep: usize) -> Result<Val, OpError> {
    let facts = b.facts(0)?;
    let reduced = reduced_dims(b.args(), dims, facts.rank())?;
    let value = kept(b, value, &reduced, keep)?;
    b.op("expand", &[t(value), Arg::Ints(facts.dims)])
}

/// A value of the result's sizes with dims of size one where dims were dropped.
fn kept(b: &mut Backward<'_>, value: Val, reduced: &[bool], keep: usize) -> Result<Val, OpError> {
    if args::flag(b.args(), keep) {
        return Ok(value);
    }
    let own = b.emitter.facts(value).dims.clone();
    let mut rest = own.iter().copied();
    let sizes = reduced.iter().map(|reduced| if *reduced { Dim::Is(1) } else { rest.next().unwrap_or(Dim::Is(1)) });
    let sizes = Arg::Ints(sizes.collect());
    b.op("view", &[t(value), sizes])
}

/// The number of elements behind each element of the result.
fn count(b: &mut Backward<'_>, dims: usize) -> Result<f64, OpError> {
    let facts = b.facts(0)?;
    let reduced = reduced_dims(b.args(), dims, facts.rank())?;
    let table = b.emitter.dims();
    let sizes = facts.dims.iter().zip(&reduced).filter(|(_, reduced)| **reduced).map(|(size, _)| *size);
    let product = sizes.fold(Dim::Is(1), |product, size| table.calc(DimOp::Mul, product, size));
    Ok(table.number(product)? as f64)
}

/// `sum`: to every element.
///
/// # Errors
/// Those of the ops.
pub fn of_sum(b: &mut Backward<'_>) -> Result<(), OpError> {
    let grad = b.grad()?;
    let given = spread(b, grad, 1, 2)?;
    b.give(0, given);
    Ok(())
}

/// `mean`: a share of it to every element.
///
/// # Errors
/// Those of the ops.
pub fn of_mean(b: &mut Backward<'_>) -> Result<(), OpError> {
    let grad = b.grad()?;
    let given = spread(b, grad, 1, 2)?;
    let count = count(b, 1)?;
    let given = b.div(given, count)?;
    b.give(0, given);
    Ok(())
}

/// `amax` and `amin`: in equal shares to the elements that are the result.
///
/// # Errors
/// Those of the ops.
pub fn of_extreme(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (grad, result) = (b.grad()?, b.result(0)?);
    let facts = b.facts(0)?;
    let reduced = reduced_dims(b.args(), 1, facts.rank())?;
    let (grad, result) = (kept(b, grad, &reduced, 2)?, kept(b, result, &reduced, 2)?);
    let chosen = b.compare("eq.Tensor", b.tensor(0)?, result)?;
    let chosen = cast(b.emitter, chosen, facts.dtype)?;
    let list: Vec<i64> = reduced.iter().enumerate().filter(|(_, reduced)| **reduced).map(|(dim, _)| dim as i64).collect();
    let number = match list.is_empty() {
        true => chosen,
        false => b.op("sum.dim_IntList", &[t(chosen), crate::ops::call::ints(list), Arg::Bool(true)])?,
    };
    let share = b.div(chosen, number)?;
    let given = b.mul(share, grad)?;
    b.give(0, given);
    Ok(())
}

/// Ops that choose elements along a dim, by the index that is result 1: the gradient goes to the chosen ones. `keep` is the parameter that
/// keeps the dim; `None` where the result has it anyway.
///
/// # Errors
/// Those of the ops.
pub fn of_chosen(b: &mut Backward<'_>, dim: usize, keep: Option<usize>) -> Result<(), OpError> {
    let facts = b.facts(0)?;
    let (mut grad, mut index) = (b.grad()?, b.result(1)?);
    let axis = args::int(b.args(), dim)?;
    if facts.rank() > 0 && keep.is_some_and(|keep| !args::flag(b.args(), keep)) {
        grad = b.op("unsqueeze", &[t(grad), i(axis)])?;
        index = b.op("unsqueeze", &[t(index), i(axis)])?;
    }
    let zeros = b.zeros(&facts)?;
    let given = b.op("scatter_add", &[t(zeros), i(axis), t(index), t(grad)])?;
    b.give(0, given);
    Ok(())
}

/// `var`: twice the distance from the mean, over the number of degrees of freedom.
///
/// # Errors
/// Those of the ops.
pub fn of_var(b: &mut Backward<'_>) -> Result<(), OpError> {
    let x = b.tensor(0)?;
    let correction = args::float(b.args(), 2, 1.0);
    let freedom = count(b, 1)? - correction;
    let grad = b.grad()?;
    let grad = spread(b, grad, 1, 3)?;
    let mean = b.op("mean.dim", &[t(x), b.args()[1].clone(), Arg::Bool(true)])?;
    let mean = match &b.args()[1] {
        Arg::Ints(_) => mean,
        _ => b.op("mean.dim", &[t(x)])?,
    };
    let distance = b.sub(x, mean)?;
    let factor = if freedom > 0.0 { 2.0 / freedom } else { f64::INFINITY };
    let scaled = b.mul(grad, factor)?;
    let given = b.mul(scaled, distance)?;
    b.give(0, given);
    Ok(())
}
