//! Gradients of views that lie otherwise than by zeros with a part written.

use super::{Maths, zero};
use crate::ops::{
    args,
    call::{i, ints, t},
    rules::wrap_dim,
};
use taipan_ir::{Arg, OpError, Val, gradient::Backward};

/// `transpose` back.
///
/// # Errors
/// Those of the ops.
pub fn transposed(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (grad, a) = (b.grad()?, b.args());
    let grad = b.op("transpose.int", &[t(grad), a[1].clone(), a[2].clone()])?;
    b.give(0, grad);
    Ok(())
}

/// `t` and `mT` back.
///
/// # Errors
/// Those of the ops.
pub fn turned(b: &mut Backward<'_>) -> Result<(), OpError> {
    let mut grad = b.grad()?;
    if b.emitter.facts(grad).rank() > 1 {
        grad = b.op("transpose.int", &[t(grad), i(-2), i(-1)])?;
    }
    b.give(0, grad);
    Ok(())
}

/// `permute` back.
///
/// # Errors
/// Those of the ops.
pub fn permuted(b: &mut Backward<'_>) -> Result<(), OpError> {
    let rank = b.facts(0)?.rank();
    let order: Vec<usize> = args::ints(b.args(), 1)?.into_iter().map(|d| wrap_dim(d, rank)).collect::<Result<_, _>>()?;
    let mut back = vec![0; rank];
    order.iter().enumerate().for_each(|(to, from)| back[*from] = to as i64);
    let grad = b.grad()?;
    let grad = b.op("permute", &[t(grad), ints(back)])?;
    b.give(0, grad);
    Ok(())
}

/// The parts of a split laid behind each other again, zeros for those that nothing depends on.
///
/// # Errors
/// Those of the ops.
pub fn joined(b: &mut Backward<'_>) -> Result<(), OpError> {
    let parts = (0..b.results()).map(|part| part_or_zeros(b, part)).collect::<Result<_, _>>()?;
    let grad = b.op("cat", &[Arg::Tensors(parts), b.args()[2].clone()])?;
    b.give(0, grad);
    Ok(())
}

/// The slices of `unbind` stacked again.
///
/// # Errors
/// Those of the ops.
pub fn stacked(b: &mut Backward<'_>) -> Result<(), OpError> {
    let slices: Vec<Val> = (0..b.results()).map(|slice| part_or_zeros(b, slice)).collect::<Result<_, _>>()?;
    if slices.is_empty() {
        return zero(b);
    }
    let grad = b.op("stack", &[Arg::Tensors(slices), b.args()[1].clone()])?;
    b.give(0, grad);
    Ok(())
}

fn part_or_zeros(b: &mut Backward<'_>, result: usize) -> Result<Val, OpError> {
    if let Some(grad) = b.grad_of(result) {
        return Ok(grad);
    }
    let facts = b.emitter.facts(b.result(result)?).clone();
    b.zeros(&facts)
}
