//! Gradients of softmax and of normalization over features.

use super::Maths;
use crate::ops::{
    args,
    call::{cast, i, ints, t},
    normalize::least_eps,
};
use taipan_ir::{Arg, OpError, Val, gradient::Backward, promote::compute_type};

/// `softmax`: `y (g - Σ g y)`.
///
/// # Errors
/// Those of the ops.
pub fn of_softmax(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (grad, y) = wide(b, b.result(0)?)?;
    let product = b.mul(grad, y)?;
    let sum = sum_along(b, product)?;
    let difference = b.sub(grad, sum)?;
    let given = b.mul(difference, y)?;
    b.give(0, given);
    Ok(())
}

/// `log_softmax`: `g - exp(y) Σ g`.
///
/// # Errors
/// Those of the ops.
pub fn of_log_softmax(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (grad, y) = wide(b, b.result(0)?)?;
    let sum = sum_along(b, grad)?;
    let e = b.of("exp", y)?;
    let share = b.mul(e, sum)?;
    let given = b.sub(grad, share)?;
    b.give(0, given);
    Ok(())
}

fn sum_along(b: &mut Backward<'_>, value: Val) -> Result<Val, OpError> {
    if b.emitter.facts(value).rank() == 0 {
        return Ok(value);
    }
    let dim = args::int(b.args(), 1)?;
    b.op("sum.dim_IntList", &[t(value), ints([dim]), Arg::Bool(true)])
}

fn wide(b: &mut Backward<'_>, value: Val) -> Result<(Val, Val), OpError> {
    let grad = b.grad()?;
    let dtype = compute_type(b.emitter.facts(value).dtype);
    Ok((cast(b.emitter, grad, dtype)?, cast(b.emitter, value, dtype)?))
}

/// `layer_norm`.
///
/// # Errors
/// Those of the ops.
pub fn of_layer_norm(b: &mut Backward<'_>) -> Result<(), OpError> {
    let x = b.tensor(0)?;
    let (grad, x) = wide(b, x)?;
    let over = over(b);
    let eps = args::float(b.args(), 4, 1e-5);
    let mean = b.op("mean.dim", &[t(x), over.clone(), Arg::Bool(true)])?;
    let centred = b.sub(x, mean)?;
    let square = b.mul(centred, centred)?;
    let var = b.op("mean.dim", &[t(square), over.clone(), Arg::Bool(true)])?;
    let shifted = b.add(var, eps)?;
    let rstd = b.of("rsqrt", shifted)?;
    let normal = b.mul(centred, rstd)?;
    scale_and_shift(b, grad, normal)?;
    if b.needs(0) {
        let g = weighted(b, grad)?;
        let g_mean = b.op("mean.dim", &[t(g), over.clone(), Arg::Bool(true)])?;
        let product = b.mul(g, normal)?;
        let product_mean = b.op("mean.dim", &[t(product), over, Arg::Bool(true)])?;
        let along = b.mul(normal, product_mean)?;
        let rest = b.sub(g, g_mean)?;
        let rest = b.sub(rest, along)?;
        let given = b.mul(rest, rstd)?;
        b.give(0, given);
    }
    Ok(())
}

/// `rms_norm`.
///
/// # Errors
/// Those of the ops.
pub fn of_rms_norm(b: &mut Backward<'_>) -> Result<(), OpError> {
    let input = b.facts(0)?;
    let (grad, x) = wide(b, b.tensor(0)?)?;
    let over = over(b);
    let eps = args::float(b.args(), 3, least_eps(input.dtype));
    let square = b.mul(x, x)?;
    let mean = b.op("mean.dim", &[t(square), over.clone(), Arg::Bool(true)])?;
    let shifted = b.add(mean, eps)?;
    let rstd = b.of("rsqrt", shifted)?;
    let normal = b.mul(x, rstd)?;
    scale_and_shift(b, grad, normal)?;
    if b.needs(0) {
        let g = weighted(b, grad)?;
        let product = b.mul(g, normal)?;
        let product_mean = b.op("mean.dim", &[t(product), over, Arg::Bool(true)])?;
        let along = b.mul(normal, product_mean)?;
        let rest = b.sub(g, along)?;
        let given = b.mul(rest, rstd)?;
        b.give(0, given);
    }
    Ok(())
}

/// The dims that are normalized over: the last ones.
fn over(b: &Backward<'_>) -> Arg<Val> {
    let count = args::dims(b.args(), 1).map_or(0, <[_]>::len) as i64;
    ints(-count..0)
}

/// The gradients of weight and bias: sums that whoever runs the rule makes.
fn scale_and_shift(b: &mut Backward<'_>, grad: Val, normal: Val) -> Result<(), OpError> {
    if b.needs(2) {
        let product = b.mul(grad, normal)?;
        b.give(2, product);
    }
    if b.needs(3) {
        b.give(3, grad);
    }
    Ok(())
}

fn weighted(b: &mut Backward<'_>, grad: Val) -> Result<Val, OpError> {
    match b.args()[2] {
        Arg::Tensor(weight) => b.mul(grad, weight),
        _ => Ok(grad),
    }
}

/// The loss picked at each target: minus the factor, at the target's class.
///
/// # Errors
/// Those of the ops.
pub fn of_nll(b: &mut Backward<'_>) -> Result<(), OpError> {
    let Some(grad) = b.grad_of(0) else { return Ok(()) };
    let facts = b.facts(0)?;
    let (target, factors) = (b.tensor(1)?, b.result(1)?);
    let ignored = b.compare("eq.Tensor", target, args::int(b.args(), 3)?)?;
    let target = b.op("masked_fill.Scalar", &[t(target), t(ignored), 0i64.into()])?;
    let product = b.mul(grad, factors)?;
    let minus = b.neg(product)?;
    let axis = i64::from(facts.rank() > 1);
    let (target, minus) = (b.op("unsqueeze", &[t(target), i(axis)])?, b.op("unsqueeze", &[t(minus), i(axis)])?);
    let zeros = b.zeros(&facts)?;
    let given = b.op("scatter.src", &[t(zeros), i(axis), t(target), t(minus)])?;
    b.give(0, given);
    Ok(())
}

/// `_bce`, whose logarithms are kept above -100 and whose slope doesn't divide by less than 1e-12.
///
/// # Errors
/// Those of the ops.
pub fn of_bce(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (grad, x) = wide(b, b.tensor(0)?)?;
    if b.needs(0) {
        let rest = b.op("rsub.Tensor", &[t(x), 1i64.into()])?;
        let product = b.mul(rest, x)?;
        let divisor = b.op("clamp_min", &[t(product), 1e-12.into()])?;
        let distance = b.sub(x, b.tensor(1)?)?;
        let share = b.mul(grad, distance)?;
        let given = b.div(share, divisor)?;
        b.give(0, given);
    }
    if b.needs(1) {
        let minus = b.neg(x)?;
        let (no, yes) = (b.of("log1p", minus)?, b.of("log", x)?);
        let no = b.op("clamp_min", &[t(no), (-100.0).into()])?;
        let yes = b.op("clamp_min", &[t(yes), (-100.0).into()])?;
        let difference = b.sub(no, yes)?;
        let given = b.mul(grad, difference)?;
        b.give(1, given);
    }
    Ok(())
}
