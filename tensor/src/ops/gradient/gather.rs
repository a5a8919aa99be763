//! Gradients of taking elements by index, putting them, and laying tensors behind each other.

use super::Maths;
use crate::ops::{
    args,
    call::{cast, i, t},
    rules::wrap_dim,
};
use taipan_ir::{Arg, Dim, OpError, Val, gradient::Backward};

/// `embedding`: each row gets the gradients of where it was used; the padding row none.
///
/// # Errors
/// Those of the ops.
pub fn of_embedding(b: &mut Backward<'_>) -> Result<(), OpError> {
    if args::flag(b.args(), 3) {
        return Err(OpError::not_implemented("the gradient of embedding(scale_grad_by_freq=True) is not implemented"));
    }
    let (facts, indices) = (b.facts(0)?, b.tensor(1)?);
    let mut grad = b.grad()?;
    let padding = args::optional_int(b.args(), 2)?.unwrap_or(-1);
    if padding >= 0 {
        let used = b.compare("ne.Tensor", indices, padding)?;
        let used = b.op("unsqueeze", &[t(used), i(-1)])?;
        grad = b.masked(grad, used)?;
    }
    let zeros = b.zeros(&facts)?;
    let given = b.op("index_put", &[t(zeros), Arg::OptionalTensors(vec![Some(indices)]), t(grad), Arg::Bool(true)])?;
    b.give(0, given);
    Ok(())
}

/// Indexing by tensors: added up where an element was taken more than once.
///
/// # Errors
/// Those of the ops.
pub fn of_index(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (facts, grad) = (b.facts(0)?, b.grad()?);
    let zeros = b.zeros(&facts)?;
    let given = b.op("index_put", &[t(zeros), b.args()[1].clone(), t(grad), Arg::Bool(true)])?;
    b.give(0, given);
    Ok(())
}

/// `index_put`: what was overwritten has no gradient, the values have that of where they were put.
///
/// # Errors
/// Those of the ops.
pub fn of_index_put(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (grad, indices) = (b.grad()?, b.args()[1].clone());
    if b.needs(0) {
        let given = if args::flag(b.args(), 3) {
            grad
        } else {
            let mut like = b.facts(2)?;
            like.dtype = b.facts(0)?.dtype;
            let zeros = b.zeros(&like)?;
            b.op("index_put", &[t(grad), indices.clone(), t(zeros), Arg::Bool(false)])?
        };
        b.give(0, given);
    }
    if b.needs(2) {
        let given = b.op("index.Tensor", &[t(grad), indices])?;
        b.give(2, given);
    }
    Ok(())
}

/// `index_select`: added up along the dim.
///
/// # Errors
/// Those of the ops.
pub fn of_index_select(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (facts, grad) = (b.facts(0)?, b.grad()?);
    let zeros = b.zeros(&facts)?;
    let given = b.op("index_add", &[t(zeros), b.args()[1].clone(), b.args()[2].clone(), t(grad)])?;
    b.give(0, given);
    Ok(())
}

/// `gather`: added up where it was taken.
///
/// # Errors
/// Those of the ops.
pub fn of_gather(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (facts, grad) = (b.facts(0)?, b.grad()?);
    let zeros = b.zeros(&facts)?;
    let given = b.op("scatter_add", &[t(zeros), b.args()[1].clone(), b.args()[2].clone(), t(grad)])?;
    b.give(0, given);
    Ok(())
}

/// `scatter` of a tensor, and of a number: what was overwritten has no gradient.
///
/// # Errors
/// Those of the ops.
pub fn of_scatter(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (grad, dim, index) = (b.grad()?, b.args()[1].clone(), b.args()[2].clone());
    if b.needs(0) {
        let given = b.op("scatter.value", &[t(grad), dim.clone(), index.clone(), 0i64.into()])?;
        b.give(0, given);
    }
    if b.needs(3) {
        let given = b.op("gather", &[t(grad), dim, index])?;
        b.give(3, given);
    }
    Ok(())
}

/// `scatter_add`.
///
/// # Errors
/// Those of the ops.
pub fn of_scatter_add(b: &mut Backward<'_>) -> Result<(), OpError> {
    let grad = b.grad()?;
    if b.needs(0) {
        b.give(0, grad);
    }
    if b.needs(3) {
        let given = b.op("gather", &[t(grad), b.args()[1].clone(), b.args()[2].clone()])?;
        b.give(3, given);
    }
    Ok(())
}

/// `cat`: to each its part.
///
/// # Errors
/// Those of the ops.
pub fn of_cat(b: &mut Backward<'_>) -> Result<(), OpError> {
    let grad = b.grad()?;
    let rank = b.emitter.facts(grad).rank();
    let axis = wrap_dim(args::int(b.args(), 1)?, rank)?;
    let mut start = Dim::Is(0);
    for (item, value) in args::tensors(b.args(), 0)?.iter().enumerate() {
        let facts = b.emitter.facts(*value).clone();
        // An empty vector is skipped, whatever the others' rank.
        if facts.rank() != rank {
            let zeros = b.zeros(&facts)?;
            b.give_item(0, item, zeros);
            continue;
        }
        let length = facts.dims[axis];
        if b.needs_item(0, item) {
            let given = b.op("narrow", &[t(grad), i(axis as i64), Arg::Int(start), Arg::Int(length)])?;
            b.give_item(0, item, given);
        }
        start = b.emitter.dims().calc(taipan_ir::DimOp::Add, start, length);
    }
    Ok(())
}

/// `repeat_interleave` with a number of repeats for each element: added up over its repeats.
///
/// # Errors
/// Those of the ops.
pub fn of_repeat_interleave(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (mut facts, grad, repeats) = (b.facts(0)?, b.grad()?, b.tensor(1)?);
    let sizes = facts.dims.clone();
    let axis = match args::optional_int(b.args(), 2)? {
        Some(axis) => wrap_dim(axis, facts.rank())?,
        None => {
            let numel = facts.numel(b.emitter.dims());
            facts.dims = smallvec::smallvec![numel];
            0
        }
    };
    let places = b.op("arange", &[Arg::Int(facts.dims[axis])])?;
    let places = b.op("repeat_interleave.self_Tensor", &[t(places), t(repeats), i(0)])?;
    let zeros = b.zeros(&facts)?;
    let sums = b.op("index_add", &[t(zeros), i(axis as i64), t(places), t(grad)])?;
    let given = b.op("view", &[t(sums), Arg::Ints(sizes)])?;
    b.give(0, given);
    Ok(())
}

/// `scatter_reduce`, by how elements were combined.
///
/// # Errors
/// Those of the ops.
pub fn of_scatter_reduce(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (own, source) = match args::text(b.args(), 4) {
        "prod" => scattered_product(b)?,
        "mean" => scattered_mean(b)?,
        "amax" | "amin" => scattered_extreme(b)?,
        _ => (b.grad()?, taken(b, b.grad()?)?),
    };
    if b.needs(0) {
        let a = b.args();
        let given = match a[5] {
            Arg::Bool(false) => b.op("scatter.value", &[t(own), a[1].clone(), a[2].clone(), 0i64.into()])?,
            _ => own,
        };
        b.give(0, given);
    }
    if b.needs(3) {
        b.give(3, source);
    }
    Ok(())
}

/// What stands at the places that the index names.
fn taken(b: &mut Backward<'_>, value: Val) -> Result<Val, OpError> {
    b.op("gather", &[t(value), b.args()[1].clone(), b.args()[2].clone()])
}

/// How often each place is named, weighted by `source`, beside `own`.
fn added(b: &mut Backward<'_>, own: Val, source: Val) -> Result<Val, OpError> {
    b.op("scatter_add", &[t(own), b.args()[1].clone(), b.args()[2].clone(), t(source)])
}

fn scattered_mean(b: &mut Backward<'_>) -> Result<(Val, Val), OpError> {
    let (grad, own, source) = (b.grad()?, b.facts(0)?, b.facts(3)?);
    let included = if matches!(b.args()[5], Arg::Bool(false)) { 0.0 } else { 1.0 };
    let start = b.op("full", &[Arg::Ints(own.dims), included.into(), Arg::DType(own.dtype)])?;
    let ones = b.op("ones", &[Arg::Ints(source.dims), Arg::DType(source.dtype)])?;
    let count = added(b, start, ones)?;
    let count = b.op("clamp_min", &[t(count), 1i64.into()])?;
    let share = b.div(grad, count)?;
    let source = taken(b, share)?;
    Ok((share, source))
}

/// In equal shares to all that are the result.
fn scattered_extreme(b: &mut Backward<'_>) -> Result<(Val, Val), OpError> {
    let (grad, result, dtype) = (b.grad()?, b.result(0)?, b.facts(0)?.dtype);
    let own = b.compare("eq.Tensor", b.tensor(0)?, result)?;
    let own = cast(b.emitter, own, dtype)?;
    let chosen = taken(b, result)?;
    let source = b.compare("eq.Tensor", b.tensor(3)?, chosen)?;
    let source = cast(b.emitter, source, dtype)?;
    let count = added(b, own, source)?;
    let share = b.div(grad, count)?;
    let given = b.mul(own, share)?;
    let share = taken(b, share)?;
    Ok((given, b.mul(source, share)?))
}

/// The product of all others; where one factor is zero it alone gets it.
fn scattered_product(b: &mut Backward<'_>) -> Result<(Val, Val), OpError> {
    let (grad, result, a) = (b.grad()?, b.result(0)?, b.args());
    let (x, source) = (b.tensor(0)?, b.tensor(3)?);
    let again = |b: &mut Backward<'_>, own: Val, source: Val| {
        b.op("scatter_reduce.two", &[t(own), a[1].clone(), a[2].clone(), t(source), a[4].clone(), a[5].clone()])
    };
    let own_zero = b.compare("eq.Tensor", x, 0i64)?;
    let filled = b.op("masked_fill.Scalar", &[t(x), t(own_zero), 1i64.into()])?;
    let product = again(b, filled, source)?;
    let product = b.mul(grad, product)?;
    let given = b.div(product, filled)?;

    let dtype = b.facts(0)?.dtype;
    let zero = b.compare("eq.Tensor", source, 0i64)?;
    let (like, zeros) = (b.facts(0)?, cast(b.emitter, zero, dtype)?);
    let none = b.zeros(&like)?;
    let count = added(b, none, zeros)?;
    let count = taken(b, count)?;
    let once = b.compare("eq.Tensor", count, 1i64)?;
    let single = b.op("logical_and", &[t(zero), t(once)])?;
    let filled = b.op("masked_fill.Scalar", &[t(source), t(single), 1i64.into()])?;
    let product = again(b, x, filled)?;
    let product = b.mul(grad, product)?;
    let alone = taken(b, product)?;
    let product = b.mul(grad, result)?;
    let product = taken(b, product)?;
    let divisor = b.op("masked_fill.Scalar", &[t(source), t(zero), 1i64.into()])?;
    let share = b.div(product, divisor)?;
    Ok((given, b.op("where.self", &[t(single), t(alone), t(share)])?))
}
