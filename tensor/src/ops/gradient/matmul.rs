//! Gradients of matrix products. Products of batches with one matrix are folded into one product, as PyTorch does.

use super::Maths;
use crate::ops::call::{i, ints, t};
use taipan_ir::{Arg, Dim, Facts, OpError, Val, gradient::Backward};

/// `mm` and `bmm`.
///
/// # Errors
/// Those of the ops.
pub fn of_product(b: &mut Backward<'_>) -> Result<(), OpError> {
    let grad = b.grad()?;
    if b.needs(0) {
        let other = conjugate(b, b.tensor(1)?)?;
        let turned = turned(b, other)?;
        let given = b.op("matmul", &[t(grad), t(turned)])?;
        b.give(0, given);
    }
    if b.needs(1) {
        let other = conjugate(b, b.tensor(0)?)?;
        let turned = turned(b, other)?;
        let given = b.op("matmul", &[t(turned), t(grad)])?;
        b.give(1, given);
    }
    Ok(())
}

/// `matmul`: vectors become matrices of one row or column.
///
/// # Errors
/// Those of the ops.
pub fn of_matmul(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (left_facts, right_facts) = (b.facts(0)?, b.facts(1)?);
    // A factor is only kept for the gradient of the other.
    let factor = |b: &mut Backward<'_>, own: usize, other: usize| match b.tensor(own) {
        Ok(value) if b.needs(other) => conjugate(b, value),
        kept => kept,
    };
    let (mut grad, mut left, mut right) = (b.grad()?, factor(b, 0, 1)?, factor(b, 1, 0)?);
    if left_facts.rank() == 1 {
        left = b.op("unsqueeze", &[t(left), i(0)])?;
        let at = if right_facts.rank() == 1 { 0 } else { -2 };
        grad = b.op("unsqueeze", &[t(grad), i(at)])?;
    }
    if right_facts.rank() == 1 {
        right = b.op("unsqueeze", &[t(right), i(-1)])?;
        grad = b.op("unsqueeze", &[t(grad), i(-1)])?;
    }
    if b.needs(0) {
        let turned = turned(b, right)?;
        let given = b.op("matmul", &[t(grad), t(turned)])?;
        let given = without_added(b, given, &left_facts, -2)?;
        b.give(0, given);
    }
    if b.needs(1) {
        let given = match right_facts.rank() {
            1 | 2 => {
                let (rows, grads) = (rows_of(b, left)?, rows_of(b, grad)?);
                let turned = turned(b, rows)?;
                b.op("matmul", &[t(turned), t(grads)])?
            }
            _ => {
                let turned = turned(b, left)?;
                b.op("matmul", &[t(turned), t(grad)])?
            }
        };
        let given = without_added(b, given, &right_facts, -1)?;
        b.give(1, given);
    }
    Ok(())
}

/// `linear`.
///
/// # Errors
/// Those of the ops.
pub fn of_linear(b: &mut Backward<'_>) -> Result<(), OpError> {
    let grad = b.grad()?;
    let vector = b.facts(1)?.rank() == 1;
    if b.needs(0) {
        let weight = conjugate(b, b.tensor(1)?)?;
        let given = match vector {
            true => {
                let column = b.op("unsqueeze", &[t(grad), i(-1)])?;
                b.mul(column, weight)?
            }
            false => b.op("matmul", &[t(grad), t(weight)])?,
        };
        b.give(0, given);
    }
    if b.needs(1) {
        let input = conjugate(b, b.tensor(0)?)?;
        let input = rows_of(b, input)?;
        let given = match vector {
            true => {
                let flat = b.op("reshape", &[t(grad), ints([-1])])?;
                b.op("matmul", &[t(flat), t(input)])?
            }
            false => {
                let grads = rows_of(b, grad)?;
                let turned = turned(b, grads)?;
                b.op("matmul", &[t(turned), t(input)])?
            }
        };
        b.give(1, given);
    }
    if b.needs(2) {
        b.give(2, grad);
    }
    Ok(())
}

/// The conjugate of a complex value, the value itself otherwise.
fn conjugate(b: &mut Backward<'_>, value: Val) -> Result<Val, OpError> {
    if b.emitter.facts(value).dtype.is_complex() { b.of("conj", value) } else { Ok(value) }
}

/// The last two dims exchanged.
fn turned(b: &mut Backward<'_>, value: Val) -> Result<Val, OpError> {
    b.op("transpose.int", &[t(value), i(-2), i(-1)])
}

/// All rows of a batch of matrices as one matrix; a vector as one row.
fn rows_of(b: &mut Backward<'_>, value: Val) -> Result<Val, OpError> {
    let facts = b.emitter.facts(value).clone();
    let Some(last) = facts.dims.last().copied() else { return Ok(value) };
    if facts.rank() == 2 {
        return Ok(value);
    }
    b.op("reshape", &[t(value), Arg::Ints([Dim::Is(-1), last].into_iter().collect())])
}

/// The gradient of a vector that was made a matrix, with leading dims summed.
fn without_added(b: &mut Backward<'_>, value: Val, facts: &Facts, at: i64) -> Result<Val, OpError> {
    if facts.rank() == 1 { b.op("squeeze.dim", &[t(value), i(at)]) } else { Ok(value) }
}
