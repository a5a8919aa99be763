//! Gradients at complex numbers: with respect to the conjugate, so that a step against the gradient goes down.

use super::Maths;
use crate::ops::call::t;
use taipan_ir::{Arg, Number, OpError, Val, gradient::Backward};

/// The conjugate of a factor, where it is complex.
///
/// # Errors
/// Those of the ops.
pub fn conj(b: &mut Backward<'_>, factor: Arg<Val>) -> Result<Arg<Val>, OpError> {
    Ok(match factor {
        Arg::Tensor(value) if b.emitter.facts(value).dtype.is_complex() => t(b.of("conj", value)?),
        Arg::Number(Number::Complex(re, im)) => Arg::Number(Number::Complex(re, -im)),
        other => other,
    })
}

/// Fails where the argument is a complex tensor or number: for rules that hold for real ones.
///
/// # Errors
/// Then.
pub fn only_real(b: &Backward<'_>, param: usize) -> Result<(), OpError> {
    let complex = match &b.args()[param] {
        Arg::Tensor(value) => b.emitter.facts(*value).dtype.is_complex(),
        Arg::Number(number) => matches!(number, Number::Complex(..)),
        _ => false,
    };
    match complex {
        true => Err(OpError::not_implemented(format!("the derivative of {} at complex arguments is not implemented", b.record().schema))),
        false => Ok(()),
    }
}

/// `view_as_real`: the parts of the gradient are those of a complex one.
///
/// # Errors
/// Those of the ops.
pub fn of_view_as_real(b: &mut Backward<'_>) -> Result<(), OpError> {
    let grad = b.grad()?;
    let grad = b.of("contiguous", grad)?;
    let given = b.of("view_as_complex", grad)?;
    b.give(0, given);
    Ok(())
}

/// `view_as_complex`: the parts of the gradient.
///
/// # Errors
/// Those of the ops.
pub fn of_view_as_complex(b: &mut Backward<'_>) -> Result<(), OpError> {
    let grad = b.grad()?;
    let given = b.of("view_as_real", grad)?;
    b.give(0, given);
    Ok(())
}

/// `complex`: each argument has its part of the gradient.
///
/// # Errors
/// Those of the ops.
pub fn of_complex(b: &mut Backward<'_>) -> Result<(), OpError> {
    for (param, name) in [(0, "real"), (1, "imag")] {
        if b.needs(param) {
            let grad = b.grad()?;
            let given = b.of(name, grad)?;
            b.give(param, given);
        }
    }
    Ok(())
}

/// `conj`.
///
/// # Errors
/// Those of the ops.
pub fn of_conj(b: &mut Backward<'_>) -> Result<(), OpError> {
    let grad = b.grad()?;
    let given = b.of("conj", grad)?;
    b.give(0, given);
    Ok(())
}

/// `abs`: the gradient, which is real, in the direction of the number.
///
/// # Errors
/// Those of the ops.
pub fn of_abs(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (grad, direction) = (b.grad()?, b.of("sgn", b.tensor(0)?)?);
    let given = b.mul(grad, direction)?;
    b.give(0, given);
    Ok(())
}

/// `angle`: a quarter turn from the number, over its square; nothing at zero, and for real numbers.
///
/// # Errors
/// Those of the ops.
pub fn of_angle(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (grad, z) = (b.grad()?, b.tensor(0)?);
    let facts = b.facts(0)?;
    if !facts.dtype.is_complex() {
        let zeros = b.zeros(&facts)?;
        b.give(0, zeros);
        return Ok(());
    }
    let size = b.of("abs", z)?;
    let square = b.mul(size, size)?;
    let turned = b.mul(z, Arg::Number(Number::Complex(0.0, 1.0)))?;
    let slope = b.div(turned, square)?;
    let product = b.mul(grad, slope)?;
    let somewhere = b.compare("ne.Tensor", size, 0i64)?;
    let given = b.masked(product, somewhere)?;
    b.give(0, given);
    Ok(())
}

/// `sgn`: what of the gradient stands across the direction, over the size; nothing at zero, and for real numbers.
///
/// # Errors
/// Those of the ops.
pub fn of_sgn(b: &mut Backward<'_>) -> Result<(), OpError> {
    let facts = b.facts(0)?;
    if !facts.dtype.is_complex() {
        return super::zero(b);
    }
    let (grad, z) = (b.grad()?, b.tensor(0)?);
    let (size, direction) = (b.of("abs", z)?, b.of("sgn", z)?);
    let back = b.of("conj", direction)?;
    let along = b.mul(grad, back)?;
    let along = b.of("real", along)?;
    let along = b.mul(direction, along)?;
    let across = b.sub(grad, along)?;
    let slope = b.div(across, size)?;
    let somewhere = b.compare("ne.Tensor", size, 0i64)?;
    let given = b.masked(slope, somewhere)?;
    b.give(0, given);
    Ok(())
}
