//! Gradients of special functions.

use super::{Maths, give_times};
use crate::ops::call::{i, t};
use std::f64::consts::{FRAC_1_SQRT_2, LN_2, PI};
use taipan_ir::{OpError, Val, gradient::Backward};

type Given = Result<(), OpError>;

/// I₀' is I₁.
///
/// # Errors
/// Those of the ops.
pub fn of_i0(b: &mut Backward<'_>) -> Given {
    let slope = b.of("special_i1", b.tensor(0)?)?;
    give_times(b, 0, slope)
}

/// I₁' is I₀ - I₁ / x, and a half at zero.
///
/// # Errors
/// Those of the ops.
pub fn of_i1(b: &mut Backward<'_>) -> Given {
    let (x, result) = (b.tensor(0)?, b.result(0)?);
    let ratio = b.div(result, x)?;
    let whole = b.of("i0", x)?;
    let slope = b.sub(whole, ratio)?;
    let zero = b.compare("eq.Tensor", x, 0i64)?;
    let slope = b.op("where.self", &[t(zero), 0.5.into(), t(slope)])?;
    give_times(b, 0, slope)
}

/// Of `e^-|x| I₀(x)`.
///
/// # Errors
/// Those of the ops.
pub fn of_i0e(b: &mut Backward<'_>) -> Given {
    let (x, result) = (b.tensor(0)?, b.result(0)?);
    let sign = b.of("sign", x)?;
    let signed = b.mul(sign, result)?;
    let other = b.of("special_i1e", x)?;
    let slope = b.sub(other, signed)?;
    give_times(b, 0, slope)
}

/// Of `e^-|x| I₁(x)`.
///
/// # Errors
/// Those of the ops.
pub fn of_i1e(b: &mut Backward<'_>) -> Given {
    let (x, result) = (b.tensor(0)?, b.result(0)?);
    let (sign, inverse) = (b.of("sign", x)?, b.of("reciprocal", x)?);
    let factor = b.add(sign, inverse)?;
    let part = b.mul(result, factor)?;
    let whole = b.of("special_i0e", x)?;
    let slope = b.sub(whole, part)?;
    let zero = b.compare("eq.Tensor", x, 0i64)?;
    let slope = b.op("where.self", &[t(zero), 0.5.into(), t(slope)])?;
    give_times(b, 0, slope)
}

/// `2 x erfcx(x) - 2 / √π`
///
/// # Errors
/// Those of the ops.
pub fn of_erfcx(b: &mut Backward<'_>) -> Given {
    let (x, result) = (b.tensor(0)?, b.result(0)?);
    let product = b.mul(x, result)?;
    let product = b.mul(product, 2i64)?;
    let slope = b.sub(product, 2.0 / PI.sqrt())?;
    give_times(b, 0, slope)
}

/// The normal density over the normal distribution function.
///
/// # Errors
/// Those of the ops.
pub fn of_log_ndtr(b: &mut Backward<'_>) -> Given {
    let scaled = b.mul(b.tensor(0)?, -FRAC_1_SQRT_2)?;
    let tail = b.of("special_erfcx", scaled)?;
    let inverse = b.of("reciprocal", tail)?;
    let slope = b.mul(inverse, (2.0 / PI).sqrt())?;
    give_times(b, 0, slope)
}

/// The normal density.
///
/// # Errors
/// Those of the ops.
pub fn of_ndtr(b: &mut Backward<'_>) -> Given {
    let x = b.tensor(0)?;
    let power = half_square(b, x, -0.5)?;
    let slope = b.div(power, (2.0 * PI).sqrt())?;
    give_times(b, 0, slope)
}

/// One over the normal density at the result.
///
/// # Errors
/// Those of the ops.
pub fn of_ndtri(b: &mut Backward<'_>) -> Given {
    let result = b.result(0)?;
    let power = half_square(b, result, 0.5)?;
    let slope = b.mul(power, (2.0 * PI).sqrt())?;
    give_times(b, 0, slope)
}

/// `exp(factor x²)`
fn half_square(b: &mut Backward<'_>, x: Val, factor: f64) -> Result<Val, OpError> {
    let square = b.mul(x, x)?;
    let scaled = b.mul(square, factor)?;
    b.of("exp", scaled)
}

/// `-1 - log x`
///
/// # Errors
/// Those of the ops.
pub fn of_entr(b: &mut Backward<'_>) -> Given {
    let log = b.of("log", b.tensor(0)?)?;
    let minus = b.neg(log)?;
    let slope = b.sub(minus, 1i64)?;
    give_times(b, 0, slope)
}

/// Of `x log(1 + y)`.
///
/// # Errors
/// Those of the ops.
pub fn of_xlog1py(b: &mut Backward<'_>) -> Given {
    let x = b.args()[0].clone();
    let y = b.args()[1].clone();
    if b.needs(0) {
        let like = match y {
            taipan_ir::Arg::Tensor(y) => y,
            _ => b.op("full_like", &[x.clone(), y.clone()])?,
        };
        let log = b.of("log1p", like)?;
        // Zero times the infinite logarithm counts as zero.
        let (zero, low) = (b.op("eq.Tensor", &[x.clone(), 0i64.into()])?, b.compare("le.Tensor", like, -1i64)?);
        let nothing = b.op("logical_and", &[t(zero), t(low)])?;
        let something = b.of("logical_not", nothing)?;
        let slope = b.masked(log, something)?;
        give_times(b, 0, slope)?;
    }
    if b.needs(1) {
        let shifted = b.add(b.tensor(1)?, 1i64)?;
        let grad = b.grad()?;
        let part = b.op("mul.Tensor", &[t(grad), x])?;
        let given = b.div(part, shifted)?;
        b.give(1, given);
    }
    Ok(())
}

/// By q: `-x ζ(x + 1, q)`.
///
/// # Errors
/// Where the gradient by x is asked for, as in PyTorch.
pub fn of_zeta(b: &mut Backward<'_>) -> Given {
    if b.needs(0) {
        return Err(OpError::not_implemented("the derivative for 'self' of special_zeta is not implemented"));
    }
    if b.needs(1) {
        let q = b.tensor(1)?;
        let x = match b.args()[0] {
            taipan_ir::Arg::Tensor(x) => x,
            ref number => b.op("full_like", &[t(q), number.clone()])?,
        };
        let more = b.add(x, 1i64)?;
        let value = b.op("special_zeta", &[t(more), t(q)])?;
        let slope = b.mul(value, x)?;
        let slope = b.neg(slope)?;
        give_times(b, 1, slope)?;
    }
    Ok(())
}

/// By x, both incomplete gamma functions change by the density `x^(a-1) e^-x / Γ(a)`.
fn of_gamma(b: &mut Backward<'_>, sign: f64) -> Given {
    if b.needs(0) {
        return Err(OpError::not_implemented(format!("the derivative for 'self' of {} is not implemented", b.record().schema)));
    }
    if b.needs(1) {
        let (a, x) = (b.tensor(0)?, b.tensor(1)?);
        let log = b.of("log", x)?;
        let less = b.sub(a, 1i64)?;
        let power = b.mul(less, log)?;
        let shifted = b.sub(power, x)?;
        let gamma = b.of("lgamma", a)?;
        let exponent = b.sub(shifted, gamma)?;
        let density = b.of("exp", exponent)?;
        let slope = b.mul(density, sign)?;
        give_times(b, 1, slope)?;
    }
    Ok(())
}

/// Of the lower function.
///
/// # Errors
/// Those of the ops.
pub fn of_igamma(b: &mut Backward<'_>) -> Given {
    of_gamma(b, 1.0)
}

/// Of the upper function.
///
/// # Errors
/// Those of the ops.
pub fn of_igammac(b: &mut Backward<'_>) -> Given {
    of_gamma(b, -1.0)
}

/// The next of the polygamma functions.
///
/// # Errors
/// Those of the ops.
pub fn of_trigamma(b: &mut Backward<'_>) -> Given {
    let x = b.tensor(0)?;
    let slope = b.op("polygamma", &[i(2), t(x)])?;
    give_times(b, 0, slope)
}

/// The share of each power of two in the sum.
///
/// # Errors
/// Those of the ops.
pub fn of_logaddexp2(b: &mut Backward<'_>) -> Given {
    for (own, other) in [(0, 1), (1, 0)] {
        if b.needs(own) {
            let difference = b.sub(b.tensor(own)?, b.tensor(other)?)?;
            let scaled = b.mul(difference, LN_2)?;
            let share = b.of("sigmoid", scaled)?;
            give_times(b, own, share)?;
        }
    }
    Ok(())
}
