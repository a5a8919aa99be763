//! Gradients of Fourier transforms: the transform the other way, with the same scaling.

use super::Maths;
use crate::ops::{
    args,
    call::{i, ints, t},
};
use taipan_ir::{Arg, OpError, Val, gradient::Backward};

fn back(b: &mut Backward<'_>, grad: Val, forward: bool) -> Result<Val, OpError> {
    let a = b.args();
    b.op("_fft_c2c", &[t(grad), a[1].clone(), a[2].clone(), Arg::Bool(forward)])
}

/// From complex to complex numbers.
///
/// # Errors
/// Those of the ops.
pub fn of_c2c(b: &mut Backward<'_>) -> Result<(), OpError> {
    let grad = b.grad()?;
    let given = back(b, grad, !args::flag(b.args(), 3))?;
    b.give(0, given);
    Ok(())
}

/// From real numbers: what a spectrum of one side leaves out has no gradient.
///
/// # Errors
/// Those of the ops.
pub fn of_r2c(b: &mut Backward<'_>) -> Result<(), OpError> {
    let mut grad = b.grad()?;
    if let (true, Some(dim)) = (args::flag(b.args(), 3), args::ints(b.args(), 1)?.last()) {
        let sizes = b.facts(0)?.dims;
        let rank = sizes.len();
        let dim = super::super::rules::wrap_dim(*dim, rank)?;
        let (own, whole) = (b.emitter.facts(grad).dims[dim], sizes[dim]);
        let mut padding = vec![0; 2 * (rank - dim)];
        let last = padding.len() - 1;
        padding[last] = b.emitter.dims().number(whole)? - b.emitter.dims().number(own)?;
        if padding[last] > 0 {
            grad = b.op("constant_pad_nd", &[t(grad), ints(padding)])?;
        }
    }
    let given = back(b, grad, false)?;
    let given = b.of("real", given)?;
    b.give(0, given);
    Ok(())
}

/// To real numbers: an element that stands for two counts twice.
///
/// # Errors
/// Those of the ops.
pub fn of_c2r(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (grad, a) = (b.grad()?, b.args());
    let half = b.op("_fft_r2c", &[t(grad), a[1].clone(), a[2].clone(), Arg::Bool(true)])?;
    let rank = b.facts(0)?.rank();
    let dim = args::ints(a, 1)?.last().map_or(Ok(0), |dim| super::super::rules::wrap_dim(*dim, rank))?;
    let (whole, own) = (b.emitter.facts(grad).dims[dim], b.emitter.facts(half).dims[dim]);
    let own = b.emitter.dims().number(own)?;
    let twice = b.emitter.dims().number(whole)? - own;
    let part = |b: &mut Backward<'_>, from: i64, to: i64| b.op("slice.Tensor", &[t(half), i(dim as i64), i(from), i(to)]);
    let (first, middle, rest) = (part(b, 0, 1)?, part(b, 1, 1 + twice)?, part(b, 1 + twice, own)?);
    let middle = b.mul(middle, 2i64)?;
    let given = b.op("cat", &[Arg::Tensors(vec![first, middle, rest]), i(dim as i64)])?;
    b.give(0, given);
    Ok(())
}
