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

/// An element of all: in equal shares to all that are equal to it.
///
/// # Errors
/// Those of the ops.
pub fn of_shared(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (x, result, dtype) = (b.tensor(0)?, b.result(0)?, b.facts(0)?.dtype);
    let (equal, missing) = (b.compare("eq.Tensor", x, result)?, b.of("isnan", x)?);
    let none = b.of("isnan", result)?;
    let chosen = b.op("where.self", &[t(none), t(missing), t(equal)])?;
    let number = b.op("sum", &[t(chosen)])?;
    let number = cast(b.emitter, number, dtype)?;
    let share = b.div(b.grad()?, number)?;
    let given = b.masked(share, chosen)?;
    b.give(0, given);
    Ok(())
}

/// `logsumexp`: each its share of the sum.
///
/// # Errors
/// Those of the ops.
pub fn of_logsumexp(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (grad, result) = (b.grad()?, b.result(0)?);
    let (grad, result) = (spread(b, grad, 1, 2)?, spread(b, result, 1, 2)?);
    let distance = b.sub(b.tensor(0)?, result)?;
    let share = b.of("exp", distance)?;
    let given = b.mul(grad, share)?;
    b.give(0, given);
    Ok(())
}

/// `linalg_vector_norm`: nothing where the norm is zero.
///
/// # Errors
/// Those of the ops.
pub fn of_vector_norm(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (x, order) = (b.tensor(0)?, args::float(b.args(), 1, 2.0));
    if order == 0.0 {
        return super::zero(b);
    }
    let dtype = taipan_ir::promote::compute_type(b.emitter.facts(b.result(0)?).dtype);
    let (grad, norm) = (b.grad()?, b.result(0)?);
    let (grad, norm) = (cast(b.emitter, grad, dtype)?, cast(b.emitter, norm, dtype)?);
    let x = cast(b.emitter, x, dtype)?;
    let (grad, norm) = (spread(b, grad, 2, 3)?, spread(b, norm, 2, 3)?);
    let given = if order == 1.0 {
        let sign = b.of("sgn", x)?;
        b.mul(sign, grad)?
    } else if order == 2.0 {
        let direction = unless_zero(b, norm, |b| b.div(x, norm))?;
        b.mul(grad, direction)?
    } else if order.is_infinite() {
        let size = b.of("abs", x)?;
        let chosen = b.compare("eq.Tensor", size, norm)?;
        let chosen = cast(b.emitter, chosen, dtype)?;
        let number = b.op("sum.dim_IntList", &[t(chosen), b.args()[2].clone(), Arg::Bool(true)])?;
        let (sign, share) = (b.of("sgn", x)?, b.div(chosen, number)?);
        let slope = b.mul(sign, share)?;
        b.mul(slope, grad)?
    } else {
        let (sign, size) = (b.of("sgn", x)?, b.of("abs", x)?);
        let power = b.pow(size, order - 1.0)?;
        let slope = b.mul(sign, power)?;
        let slope = if order < 1.0 { unless_zero(b, x, |_| Ok(slope))? } else { slope };
        let scale = unless_zero(b, norm, |b| {
            let power = b.pow(norm, order - 1.0)?;
            b.div(grad, power)
        })?;
        b.mul(slope, scale)?
    };
    b.give(0, given);
    Ok(())
}

/// A value with zeros where `test` is zero.
fn unless_zero(b: &mut Backward<'_>, test: Val, value: impl FnOnce(&mut Backward<'_>) -> Result<Val, OpError>) -> Result<Val, OpError> {
    let (value, zero) = (value(b)?, b.compare("eq.Tensor", test, 0i64)?);
    b.op("masked_fill.Scalar", &[t(value), t(zero), 0i64.into()])
}

/// `std`: that of the variance over twice the result, nothing where the result is zero.
///
/// # Errors
/// Those of the ops.
pub fn of_std(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (grad, result) = (b.grad()?, b.result(0)?);
    let dtype = taipan_ir::promote::compute_type(b.emitter.facts(result).dtype);
    let (grad, result) = (cast(b.emitter, grad, dtype)?, cast(b.emitter, result, dtype)?);
    let double = b.mul(result, 2i64)?;
    let grad = unless_zero(b, result, |b| b.div(grad, double))?;
    varied(b, grad)
}

/// `var`: twice the distance from the mean, over the number of degrees of freedom.
///
/// # Errors
/// Those of the ops.
pub fn of_var(b: &mut Backward<'_>) -> Result<(), OpError> {
    let grad = b.grad()?;
    let dtype = taipan_ir::promote::compute_type(b.emitter.facts(grad).dtype);
    let grad = cast(b.emitter, grad, dtype)?;
    varied(b, grad)
}

/// The gradient of a variance's argument from that of the variance.
fn varied(b: &mut Backward<'_>, grad: Val) -> Result<(), OpError> {
    let x = b.tensor(0)?;
    let correction = args::float(b.args(), 2, 1.0);
    let freedom = count(b, 1)? - correction;
    let dtype = b.emitter.facts(grad).dtype;
    let (grad, x) = (spread(b, grad, 1, 3)?, cast(b.emitter, x, dtype)?);
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
