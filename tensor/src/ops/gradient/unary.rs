//! Gradients of functions of one element.

use super::{Maths, complex::conj, give_times, give_where};
use crate::ops::{args, call::t};
use std::f64::consts::PI;
use taipan_ir::{OpError, Val, gradient::Backward};

/// The gradient times what `slope` makes of the argument.
///
/// # Errors
/// Those of the ops.
pub fn by_input(b: &mut Backward<'_>, slope: fn(&mut Backward<'_>, Val) -> Result<Val, OpError>) -> Result<(), OpError> {
    let slope = slope(b, b.tensor(0)?)?;
    give_times(b, 0, slope)
}

/// The gradient times what `slope` makes of the result.
///
/// # Errors
/// Those of the ops.
pub fn by_result(b: &mut Backward<'_>, slope: fn(&mut Backward<'_>, Val) -> Result<Val, OpError>) -> Result<(), OpError> {
    let slope = slope(b, b.result(0)?)?;
    give_times(b, 0, slope)
}

/// The gradient divided by what `divisor` makes of the argument.
///
/// # Errors
/// Those of the ops.
pub fn over(b: &mut Backward<'_>, divisor: fn(&mut Backward<'_>, Val) -> Result<Val, OpError>) -> Result<(), OpError> {
    let divisor = divisor(b, b.tensor(0)?)?;
    let (grad, divisor) = (b.grad()?, conj(b, t(divisor))?);
    let given = b.div(grad, divisor)?;
    b.give(0, given);
    Ok(())
}

/// The gradient times a number.
///
/// # Errors
/// Those of the ops.
pub fn times(b: &mut Backward<'_>, factor: f64) -> Result<(), OpError> {
    give_times(b, 0, factor)
}

/// `1 - x²`.
///
/// # Errors
/// Those of the ops.
pub fn one_minus_square(b: &mut Backward<'_>, x: Val) -> Result<Val, OpError> {
    let square = b.mul(x, x)?;
    b.op("rsub.Tensor", &[t(square), 1i64.into()])
}

/// `x² + shift`.
///
/// # Errors
/// Those of the ops.
pub fn square_plus(b: &mut Backward<'_>, x: Val, shift: i64) -> Result<Val, OpError> {
    let square = b.mul(x, x)?;
    b.add(square, shift)
}

/// `1 / sqrt(x)`.
///
/// # Errors
/// Those of the ops.
pub fn rsqrt(b: &mut Backward<'_>, x: Val) -> Result<Val, OpError> {
    b.of("rsqrt", x)
}

/// The derivative of erf: `2 / sqrt(pi) * exp(-x²)`.
///
/// # Errors
/// Those of the ops.
pub fn bell(b: &mut Backward<'_>, x: Val) -> Result<Val, OpError> {
    let square = b.mul(x, x)?;
    let minus = b.neg(square)?;
    let e = b.of("exp", minus)?;
    b.mul(e, 2.0 / PI.sqrt())
}

/// `sqrt`: half of one over the result.
///
/// # Errors
/// Those of the ops.
pub fn of_sqrt(b: &mut Backward<'_>) -> Result<(), OpError> {
    let double = b.mul(b.result(0)?, 2i64)?;
    let (grad, double) = (b.grad()?, conj(b, t(double))?);
    let given = b.div(grad, double)?;
    b.give(0, given);
    Ok(())
}

/// `sigmoid`: `(1 - y) y`.
///
/// # Errors
/// Those of the ops.
pub fn of_sigmoid(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (grad, y) = (b.grad()?, b.result(0)?);
    let rest = b.op("rsub.Tensor", &[t(y), 1i64.into()])?;
    let (rest, y) = (conj(b, t(rest))?, conj(b, t(y))?);
    let share = b.mul(grad, rest)?;
    let given = b.mul(share, y)?;
    b.give(0, given);
    Ok(())
}

/// `erfinv`: `sqrt(pi) / 2 * exp(y²)`.
///
/// # Errors
/// Those of the ops.
pub fn inverse_bell(b: &mut Backward<'_>, y: Val) -> Result<Val, OpError> {
    let square = b.mul(y, y)?;
    let e = b.of("exp", square)?;
    b.mul(e, 0.5 * PI.sqrt())
}

/// `logit`: nothing outside the bounds that `eps` gives.
///
/// # Errors
/// Those of the ops.
pub fn of_logit(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (grad, x) = (b.grad()?, b.tensor(0)?);
    let rest = b.op("rsub.Tensor", &[t(x), 1i64.into()])?;
    let product = b.mul(x, rest)?;
    let given = b.div(grad, product)?;
    let given = match args::number(b.args(), 1) {
        None => {
            let (low, high) = (b.compare("lt.Tensor", x, 0i64)?, b.compare("gt.Tensor", x, 1i64)?);
            let outside = b.op("logical_or", &[t(low), t(high)])?;
            b.op("masked_fill.Scalar", &[t(given), t(outside), f64::NAN.into()])?
        }
        Some(eps) => {
            let (low, high) = (b.compare("ge.Tensor", x, eps.as_f64())?, b.compare("le.Tensor", x, 1.0 - eps.as_f64())?);
            let inside = b.op("logical_and", &[t(low), t(high)])?;
            b.masked(given, inside)?
        }
    };
    b.give(0, given);
    Ok(())
}

/// `nan_to_num`: nothing where the number was replaced.
///
/// # Errors
/// Those of the ops.
pub fn of_nan_to_num(b: &mut Backward<'_>) -> Result<(), OpError> {
    let size = b.of("abs", b.tensor(0)?)?;
    let finite = b.compare("lt.Tensor", size, f64::INFINITY)?;
    give_where(b, 0, finite)
}

/// `sinc`: flat at zero.
///
/// # Errors
/// Those of the ops.
pub fn of_sinc(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (grad, x) = (b.grad()?, b.tensor(0)?);
    let angle = b.mul(x, PI)?;
    let (sine, cosine) = (b.of("sin", angle)?, b.of("cos", angle)?);
    let rising = b.mul(angle, cosine)?;
    let difference = b.sub(rising, sine)?;
    let square = b.mul(angle, x)?;
    let slope = b.div(difference, square)?;
    let product = b.mul(grad, slope)?;
    let flat = b.compare("eq.Tensor", x, 0i64)?;
    let given = b.op("masked_fill.Scalar", &[t(product), t(flat), 0i64.into()])?;
    b.give(0, given);
    Ok(())
}
