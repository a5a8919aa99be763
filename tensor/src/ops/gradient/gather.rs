//! Gradients of taking elements by index, putting them, and laying tensors behind each other.

use super::Maths;
use crate::ops::{
    args,
    call::{i, t},
    rules::wrap_dim,
};
use taipan_ir::{Arg, Dim, OpError, gradient::Backward};

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
