//! Gradients of arithmetic on two tensors. Where a tensor was broadcast, whoever runs the rule sums.

use super::{
    Maths,
    complex::{conj, only_real},
    give_times, give_where,
};
use crate::ops::{args, call::t};
use taipan_ir::{Arg, Number, OpError, Val, gradient::Backward};

/// `add`: the second gets `alpha` times the gradient.
///
/// # Errors
/// Those of the ops.
pub fn of_add(b: &mut Backward<'_>) -> Result<(), OpError> {
    scaled_second(b, 1.0)
}

/// `sub`: as [`of_add`] with the other sign.
///
/// # Errors
/// Those of the ops.
pub fn of_sub(b: &mut Backward<'_>) -> Result<(), OpError> {
    scaled_second(b, -1.0)
}

fn scaled_second(b: &mut Backward<'_>, sign: f64) -> Result<(), OpError> {
    let grad = b.grad()?;
    if b.needs(0) {
        b.give(0, grad);
    }
    if b.needs(1) {
        only_real(b, 2)?;
        let alpha = args::float(b.args(), 2, 1.0) * sign;
        let scaled = match alpha {
            1.0 => grad,
            -1.0 => b.neg(grad)?,
            alpha => b.mul(grad, alpha)?,
        };
        b.give(1, scaled);
    }
    Ok(())
}

/// `mul`: each gets the gradient times the other.
///
/// # Errors
/// Those of the ops.
pub fn of_mul(b: &mut Backward<'_>) -> Result<(), OpError> {
    if b.needs(0) {
        give_times(b, 0, b.args()[1].clone())?;
    }
    if b.needs(1) {
        give_times(b, 1, b.args()[0].clone())?;
    }
    Ok(())
}

/// `div`.
///
/// # Errors
/// Those of the ops.
pub fn of_div(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (grad, divisor) = (b.grad()?, b.args()[1].clone());
    if b.needs(0) {
        let divisor = conj(b, divisor.clone())?;
        let quotient = b.div(grad, divisor)?;
        b.give(0, quotient);
    }
    if b.needs(1) {
        let minus = b.neg(grad)?;
        let ratio = b.div(b.tensor(0)?, divisor.clone())?;
        let ratio = b.div(ratio, divisor)?;
        let ratio = conj(b, t(ratio))?;
        let product = b.mul(minus, ratio)?;
        b.give(1, product);
    }
    Ok(())
}

/// `remainder`: the quotient, rounded down, is constant between its steps.
///
/// # Errors
/// Those of the ops.
pub fn of_remainder(b: &mut Backward<'_>) -> Result<(), OpError> {
    rest(b, "floor")
}

/// `fmod`: as [`of_remainder`], the quotient rounded towards zero.
///
/// # Errors
/// Those of the ops.
pub fn of_fmod(b: &mut Backward<'_>) -> Result<(), OpError> {
    rest(b, "trunc")
}

fn rest(b: &mut Backward<'_>, mode: &str) -> Result<(), OpError> {
    let grad = b.grad()?;
    if b.needs(0) {
        b.give(0, grad);
    }
    if b.needs(1) {
        let divisor = b.args()[1].clone();
        let quotient = b.op("div.Tensor_mode", &[t(b.tensor(0)?), divisor, Arg::Str(mode.into())])?;
        let product = b.mul(grad, quotient)?;
        let minus = b.neg(product)?;
        b.give(1, minus);
    }
    Ok(())
}

/// `pow`. At a zero exponent the base has no influence; at a zero base neither has an exponent that isn't negative.
///
/// # Errors
/// Those of the ops.
pub fn of_pow(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (grad, base, exponent) = (b.grad()?, b.tensor(0)?, b.args()[1].clone());
    if b.needs(0) {
        match &exponent {
            Arg::Tensor(exponent) => {
                only_real(b, 0)?;
                only_real(b, 1)?;
                let lower = b.sub(*exponent, 1i64)?;
                let power = b.pow(base, lower)?;
                let slope = b.mul(*exponent, power)?;
                let product = b.mul(grad, slope)?;
                let constant = b.compare("eq.Tensor", *exponent, 0i64)?;
                let given = b.op("masked_fill.Scalar", &[t(product), t(constant), 0i64.into()])?;
                b.give(0, given);
            }
            number => {
                only_real(b, 1)?;
                let exponent = args::float(std::slice::from_ref(number), 0, 1.0);
                if exponent == 0.0 {
                    let like = b.facts(0)?;
                    let zeros = b.zeros(&like)?;
                    b.give(0, zeros);
                } else {
                    let power = b.pow(base, exponent - 1.0)?;
                    let slope = b.mul(power, exponent)?;
                    let slope = conj(b, t(slope))?;
                    let product = b.mul(grad, slope)?;
                    b.give(0, product);
                }
            }
        }
    }
    if b.needs(1) {
        only_real(b, 0)?;
        only_real(b, 1)?;
        let exponent = b.tensor(1)?;
        let log = b.of("log", base)?;
        let slope = b.mul(b.result(0)?, log)?;
        let product = b.mul(grad, slope)?;
        let (no_base, rising) = (b.compare("eq.Tensor", base, 0i64)?, b.compare("ge.Tensor", exponent, 0i64)?);
        let constant = b.op("logical_and", &[t(no_base), t(rising)])?;
        let given = b.op("masked_fill.Scalar", &[t(product), t(constant), 0i64.into()])?;
        b.give(1, given);
    }
    Ok(())
}

/// `pow` of a number.
///
/// # Errors
/// Those of the ops.
pub fn of_pow_scalar(b: &mut Backward<'_>) -> Result<(), OpError> {
    if !b.needs(1) {
        return Ok(());
    }
    let (grad, exponent) = (b.grad()?, b.tensor(1)?);
    let base = args::float(b.args(), 0, 0.0);
    let slope = b.mul(b.result(0)?, base.ln())?;
    let mut product = b.mul(grad, slope)?;
    if base == 0.0 {
        let constant = b.compare("ge.Tensor", exponent, 0i64)?;
        product = b.op("masked_fill.Scalar", &[t(product), t(constant), 0i64.into()])?;
    }
    b.give(1, product);
    Ok(())
}

/// `maximum` and `minimum`: the one that was chosen, each half where they are equal. `losing` compares the first with the second.
///
/// # Errors
/// Those of the ops.
pub fn of_extreme(b: &mut Backward<'_>, losing: &str, winning: &str) -> Result<(), OpError> {
    shared(b, 1, losing, winning)
}

/// The gradients of argument 0 and another: none for the one that loses, half for each where they are equal.
fn shared(b: &mut Backward<'_>, other: usize, losing: &str, winning: &str) -> Result<(), OpError> {
    let (grad, left, right) = (b.grad()?, b.tensor(0)?, b.tensor(other)?);
    let equal = b.compare("eq.Tensor", left, right)?;
    let half = b.div(grad, 2i64)?;
    let split = b.op("where.self", &[t(equal), t(half), t(grad)])?;
    for (param, lost) in [(0, losing), (other, winning)] {
        if b.needs(param) {
            let lost = b.compare(lost, left, right)?;
            let given = b.op("masked_fill.Scalar", &[t(split), t(lost), 0i64.into()])?;
            b.give(param, given);
        }
    }
    Ok(())
}

/// `fmax` and `fmin`: the one that was chosen, each half where they are equal; the first where the second is NaN.
///
/// # Errors
/// Those of the ops.
pub fn of_number_extreme(b: &mut Backward<'_>, winning: &str) -> Result<(), OpError> {
    let (left, right) = (b.tensor(0)?, b.tensor(1)?);
    let (wins, missing) = (b.compare(winning, left, right)?, b.compare("ne.Tensor", right, right)?);
    let first = b.op("logical_or", &[t(wins), t(missing)])?;
    let equal = b.compare("eq.Tensor", left, right)?;
    let half = b.div(b.grad()?, 2i64)?;
    for (param, chosen) in [(0, first), (1, b.of("logical_not", first)?)] {
        if b.needs(param) {
            let own = b.masked(b.grad()?, chosen)?;
            let given = b.op("where.self", &[t(equal), t(half), t(own)])?;
            b.give(param, given);
        }
    }
    Ok(())
}

/// `clamp`: whichever of value and bounds the result is; a value and a tensor that it equals share.
///
/// # Errors
/// Those of the ops.
pub fn of_clamp(b: &mut Backward<'_>) -> Result<(), OpError> {
    let value = b.tensor(0)?;
    let within = |b: &mut Backward<'_>, name: &str, bound: &Arg<Val>| -> Result<Option<Val>, OpError> {
        if bound.is_absent() { Ok(None) } else { b.compare(name, value, bound.clone()).map(Some) }
    };
    let (low, high) = match (b.args()[1].clone(), b.args()[2].clone()) {
        (Arg::Tensor(low), Arg::Tensor(high)) => return of_two_bounds(b, low, high),
        (Arg::Tensor(_), high) if high.is_absent() => return shared(b, 1, "lt.Tensor", "gt.Tensor"),
        (low, Arg::Tensor(_)) if low.is_absent() => return shared(b, 2, "gt.Tensor", "lt.Tensor"),
        bounds => bounds,
    };
    if b.needs(0) {
        let (above, below) = (within(b, "gt.Tensor", &low)?, within(b, "lt.Tensor", &high)?);
        let inside = match (above, below) {
            (Some(above), Some(below)) => Some(b.op("logical_and", &[t(above), t(below)])?),
            (one, other) => one.or(other),
        };
        match inside {
            Some(inside) => give_where(b, 0, inside)?,
            None => b.give(0, b.grad()?),
        }
    }
    for (param, name, bound) in [(1, "lt.Tensor", &low), (2, "gt.Tensor", &high)] {
        if b.needs(param)
            && let Some(chosen) = within(b, name, bound)?
        {
            give_where(b, param, chosen)?;
        }
    }
    Ok(())
}

/// `clamp` between two tensors. Where they cross the upper one is the result; a value between equal ones has its gradient alone.
fn of_two_bounds(b: &mut Backward<'_>, low: Val, high: Val) -> Result<(), OpError> {
    let (grad, value) = (b.grad()?, b.tensor(0)?);
    let both = |b: &mut Backward<'_>, p: Val, q: Val| b.op("logical_and", &[t(p), t(q)]);
    let either = |b: &mut Backward<'_>, p: Val, q: Val| b.op("logical_or", &[t(p), t(q)]);
    let (below, above) = (b.compare("lt.Tensor", value, low)?, b.compare("gt.Tensor", value, high)?);
    let (apart, ordered, crossed) =
        (b.compare("lt.Tensor", low, high)?, b.compare("le.Tensor", low, high)?, b.compare("lt.Tensor", high, low)?);
    let (at_low, at_high) = (b.compare("eq.Tensor", value, low)?, b.compare("eq.Tensor", value, high)?);
    let (at_low, at_high) = (both(b, at_low, apart)?, both(b, at_high, apart)?);
    let (outside, touching) = (either(b, below, above)?, either(b, at_low, at_high)?);
    let half = b.div(grad, 2i64)?;
    let split = b.op("where.self", &[t(touching), t(half), t(grad)])?;
    if b.needs(0) {
        let lost = either(b, outside, crossed)?;
        let given = b.op("masked_fill.Scalar", &[t(split), t(lost), 0i64.into()])?;
        b.give(0, given);
    }
    if b.needs(1) {
        let chosen = both(b, below, ordered)?;
        let chosen = either(b, chosen, at_low)?;
        let given = b.masked(split, chosen)?;
        b.give(1, given);
    }
    if b.needs(2) {
        let chosen = both(b, above, ordered)?;
        let chosen = either(b, chosen, crossed)?;
        let chosen = either(b, chosen, at_high)?;
        let given = b.masked(split, chosen)?;
        b.give(2, given);
    }
    Ok(())
}

/// `clamp_min` and `clamp_max`. With a tensor as `maximum` and `minimum`; with a number the value where it is strictly inside.
///
/// # Errors
/// Those of the ops.
pub fn of_bound(b: &mut Backward<'_>, losing: &str, winning: &str) -> Result<(), OpError> {
    if matches!(b.args()[1], Arg::Tensor(_)) {
        return shared(b, 1, losing, winning);
    }
    let kept = b.compare(winning, b.tensor(0)?, b.args()[1].clone())?;
    give_where(b, 0, kept)
}

/// `atan2`.
///
/// # Errors
/// Those of the ops.
pub fn of_atan2(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (grad, y, x) = (b.grad()?, b.tensor(0)?, b.tensor(1)?);
    let (y2, x2) = (b.mul(y, y)?, b.mul(x, x)?);
    let square = b.add(y2, x2)?;
    // At the origin there is no direction, and no slope.
    let origin = b.compare("eq.Tensor", square, 0i64)?;
    let square = b.op("masked_fill.Scalar", &[t(square), t(origin), 1i64.into()])?;
    let share = b.div(grad, square)?;
    if b.needs(0) {
        let given = b.mul(share, x)?;
        b.give(0, given);
    }
    if b.needs(1) {
        let minus = b.neg(y)?;
        let given = b.mul(share, minus)?;
        b.give(1, given);
    }
    Ok(())
}

/// `hypot`.
///
/// # Errors
/// Those of the ops.
pub fn of_hypot(b: &mut Backward<'_>) -> Result<(), OpError> {
    let grad = b.grad()?;
    for param in [0, 1] {
        if b.needs(param) {
            let ratio = b.div(b.tensor(param)?, b.result(0)?)?;
            let given = b.mul(grad, ratio)?;
            b.give(param, given);
        }
    }
    Ok(())
}

/// `lerp`.
///
/// # Errors
/// Those of the ops.
pub fn of_lerp(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (grad, weight) = (b.grad()?, b.args()[2].clone());
    if b.needs(0) {
        let rest = match &weight {
            Arg::Tensor(weight) => t(b.op("rsub.Tensor", &[t(*weight), 1i64.into()])?),
            number => (1.0 - args::float(std::slice::from_ref(number), 0, 0.0)).into(),
        };
        give_times(b, 0, rest)?;
    }
    if b.needs(1) {
        give_times(b, 1, weight)?;
    }
    if b.needs(2) {
        let way = b.sub(b.tensor(1)?, b.tensor(0)?)?;
        let given = b.mul(grad, way)?;
        b.give(2, given);
    }
    Ok(())
}

/// `addcmul`.
///
/// # Errors
/// Those of the ops.
pub fn of_addcmul(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (grad, value) = (b.grad()?, args::float(b.args(), 3, 1.0));
    if b.needs(0) {
        b.give(0, grad);
    }
    for (param, other) in [(1, 2), (2, 1)] {
        if b.needs(param) {
            let scaled = b.mul(b.tensor(other)?, value)?;
            let given = b.mul(grad, scaled)?;
            b.give(param, given);
        }
    }
    Ok(())
}

/// `addcdiv`.
///
/// # Errors
/// Those of the ops.
pub fn of_addcdiv(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (grad, value) = (b.grad()?, args::float(b.args(), 3, 1.0));
    if b.needs(0) {
        b.give(0, grad);
    }
    if b.needs(1) {
        let scaled = b.mul(grad, value)?;
        let given = b.div(scaled, b.tensor(2)?)?;
        b.give(1, given);
    }
    if b.needs(2) {
        let scaled = b.mul(b.tensor(1)?, value)?;
        let square = b.mul(b.tensor(2)?, b.tensor(2)?)?;
        let ratio = b.div(scaled, square)?;
        let product = b.mul(grad, ratio)?;
        let given = b.neg(product)?;
        b.give(2, given);
    }
    Ok(())
}

/// `where`: each where it was chosen.
///
/// # Errors
/// Those of the ops.
pub fn of_where(b: &mut Backward<'_>) -> Result<(), OpError> {
    let condition = b.tensor(0)?;
    if b.needs(1) {
        give_where(b, 1, condition)?;
    }
    if b.needs(2) {
        let given = b.op("where.self", &[t(condition), 0i64.into(), t(b.grad()?)])?;
        b.give(2, given);
    }
    Ok(())
}

/// `masked_fill`: the tensor where the mask doesn't hold, the value where it does.
///
/// # Errors
/// Those of the ops.
pub fn of_masked_fill(b: &mut Backward<'_>) -> Result<(), OpError> {
    let mask = b.tensor(1)?;
    if b.needs(0) {
        let given = b.op("masked_fill.Scalar", &[t(b.grad()?), t(mask), 0i64.into()])?;
        b.give(0, given);
    }
    if b.needs(2) {
        give_where(b, 2, mask)?;
    }
    Ok(())
}

/// `xlogy`: nothing of the logarithm counts where the first is zero.
///
/// # Errors
/// Those of the ops.
pub fn of_xlogy(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (grad, left, right) = (b.grad()?, b.args()[0].clone(), b.args()[1].clone());
    if b.needs(0) {
        let log = match &right {
            Arg::Tensor(right) => t(b.of("log", *right)?),
            number => args::float(std::slice::from_ref(number), 0, 1.0).ln().into(),
        };
        let product = b.mul(grad, log)?;
        let (none, low) = (
            b.compare("eq.Tensor", b.tensor(0)?, 0i64)?,
            match &right {
                Arg::Tensor(right) => Some(b.compare("le.Tensor", *right, 0i64)?),
                _ => None,
            },
        );
        let flat = match low {
            Some(low) => b.op("logical_and", &[t(none), t(low)])?,
            None => none,
        };
        let given = b.op("masked_fill.Scalar", &[t(product), t(flat), 0i64.into()])?;
        b.give(0, given);
    }
    if b.needs(1) {
        let share = b.div(grad, right)?;
        let given = b.mul(share, left)?;
        b.give(1, given);
    }
    Ok(())
}

/// `copysign`: the sign that was changed or not.
///
/// # Errors
/// Those of the ops.
pub fn of_copysign(b: &mut Backward<'_>) -> Result<(), OpError> {
    if b.needs(0) {
        let ratio = b.div(b.result(0)?, b.tensor(0)?)?;
        let none = b.compare("eq.Tensor", b.tensor(0)?, 0i64)?;
        let factor = b.op("masked_fill.Scalar", &[t(ratio), t(none), 0i64.into()])?;
        give_times(b, 0, factor)?;
    }
    if b.needs(1) {
        let like = b.facts(1)?;
        let zeros = b.zeros(&like)?;
        b.give(1, zeros);
    }
    Ok(())
}

/// `logaddexp`: each by its share of the sum.
///
/// # Errors
/// Those of the ops.
pub fn of_logaddexp(b: &mut Backward<'_>) -> Result<(), OpError> {
    let grad = b.grad()?;
    for (param, other) in [(0, 1), (1, 0)] {
        if b.needs(param) {
            let difference = b.sub(b.tensor(other)?, b.tensor(param)?)?;
            let e = b.of("exp", difference)?;
            let sum = b.add(e, 1i64)?;
            let given = b.div(grad, sum)?;
            b.give(param, given);
        }
    }
    Ok(())
}

/// A number argument of a rule that scales, where it isn't one.
///
/// # Errors
/// Those of the ops.
pub fn scaled(b: &mut Backward<'_>, value: Val, factor: Number) -> Result<Val, OpError> {
    if factor.as_f64() == 1.0 { Ok(value) } else { b.mul(value, Arg::Number(factor)) }
}
