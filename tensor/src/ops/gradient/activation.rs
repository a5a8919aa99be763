//! Gradients of activation functions. Half types compute in `f32` and round once, as PyTorch's kernels do.

use super::Maths;
use crate::ops::{
    args,
    call::{cast, t},
};
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, SQRT_2};
use taipan_ir::{OpError, Val, gradient::Backward, promote::compute_type};

/// The gradient and another value in the type they are computed in.
fn wide(b: &mut Backward<'_>, value: Val) -> Result<(Val, Val), OpError> {
    let grad = b.grad()?;
    let dtype = compute_type(b.emitter.facts(value).dtype);
    Ok((cast(b.emitter, grad, dtype)?, cast(b.emitter, value, dtype)?))
}

/// Answers the gradient, where `mask` holds, times a number where it doesn't.
fn kept_or_scaled(b: &mut Backward<'_>, mask: Val, factor: f64) -> Result<(), OpError> {
    let grad = b.grad()?;
    let scaled = b.mul(grad, factor)?;
    let given = b.op("where.self", &[t(mask), t(grad), t(scaled)])?;
    b.give(0, given);
    Ok(())
}

/// `relu`: where the result isn't zero; NaN passes.
///
/// # Errors
/// Those of the ops.
pub fn of_relu(b: &mut Backward<'_>) -> Result<(), OpError> {
    let flat = b.compare("le.Tensor", b.result(0)?, 0i64)?;
    let given = b.op("masked_fill.Scalar", &[t(b.grad()?), t(flat), 0i64.into()])?;
    b.give(0, given);
    Ok(())
}

/// Where the argument lies strictly between two numbers, times a factor.
///
/// # Errors
/// Those of the ops.
pub fn inside(b: &mut Backward<'_>, low: f64, high: f64, factor: f64) -> Result<(), OpError> {
    let x = b.tensor(0)?;
    let (above, below) = (b.compare("gt.Tensor", x, low)?, b.compare("lt.Tensor", x, high)?);
    let inside = b.op("logical_and", &[t(above), t(below)])?;
    let grad = b.grad()?;
    let scaled = if factor == 1.0 { grad } else { b.mul(grad, factor)? };
    let given = b.masked(scaled, inside)?;
    b.give(0, given);
    Ok(())
}

/// `gelu`, exact and by tanh.
///
/// # Errors
/// Those of the ops.
pub fn of_gelu(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (grad, x) = wide(b, b.tensor(0)?)?;
    let slope = if args::text(b.args(), 1) == "tanh" {
        let square = b.mul(x, x)?;
        let cube = b.mul(square, x)?;
        let bent = b.mul(cube, 0.044715)?;
        let sum = b.add(x, bent)?;
        let inner = b.mul(sum, SQRT_2 * FRAC_2_SQRT_PI * 0.5)?;
        let tanh = b.of("tanh", inner)?;
        let left = b.add(tanh, 1i64)?;
        let left = b.mul(left, 0.5)?;
        let tanh_square = b.mul(tanh, tanh)?;
        let sech = b.op("rsub.Tensor", &[t(tanh_square), 1i64.into()])?;
        let inner_slope = b.mul(square, 3.0 * 0.044715)?;
        let inner_slope = b.add(inner_slope, 1i64)?;
        let inner_slope = b.mul(inner_slope, SQRT_2 * FRAC_2_SQRT_PI * 0.5)?;
        let right = b.mul(sech, inner_slope)?;
        let half = b.mul(x, 0.5)?;
        let right = b.mul(half, right)?;
        b.add(left, right)?
    } else {
        let scaled = b.mul(x, FRAC_1_SQRT_2)?;
        let erf = b.of("erf", scaled)?;
        let sum = b.add(erf, 1i64)?;
        let cdf = b.mul(sum, 0.5)?;
        let square = b.mul(x, x)?;
        let exponent = b.mul(square, -0.5)?;
        let e = b.of("exp", exponent)?;
        let pdf = b.mul(e, FRAC_2_SQRT_PI * FRAC_1_SQRT_2 * 0.5)?;
        let moved = b.mul(x, pdf)?;
        b.add(cdf, moved)?
    };
    let given = b.mul(grad, slope)?;
    b.give(0, given);
    Ok(())
}

/// `silu`: `s (1 + x (1 - s))` with `s` the sigmoid.
///
/// # Errors
/// Those of the ops.
pub fn of_silu(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (grad, x) = wide(b, b.tensor(0)?)?;
    let sigmoid = b.of("sigmoid", x)?;
    let rest = b.op("rsub.Tensor", &[t(sigmoid), 1i64.into()])?;
    let moved = b.mul(x, rest)?;
    let sum = b.add(moved, 1i64)?;
    let share = b.mul(grad, sigmoid)?;
    let given = b.mul(share, sum)?;
    b.give(0, given);
    Ok(())
}

/// `mish`: with `t` the tanh of the softplus and `s` the sigmoid, `t + x s (1 - t²)`.
///
/// # Errors
/// Those of the ops.
pub fn of_mish(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (grad, x) = wide(b, b.tensor(0)?)?;
    let sigmoid = b.of("sigmoid", x)?;
    let soft = b.op("softplus", &[t(x)])?;
    let tanh = b.of("tanh", soft)?;
    let square = b.mul(tanh, tanh)?;
    let sech = b.op("rsub.Tensor", &[t(square), 1i64.into()])?;
    let moved = b.mul(x, sigmoid)?;
    let moved = b.mul(moved, sech)?;
    let slope = b.add(tanh, moved)?;
    let given = b.mul(grad, slope)?;
    b.give(0, given);
    Ok(())
}

/// `softplus`: the sigmoid, and one beyond the threshold.
///
/// # Errors
/// Those of the ops.
pub fn of_softplus(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (beta, threshold) = (args::float(b.args(), 1, 1.0), args::float(b.args(), 2, 20.0));
    let (grad, x) = wide(b, b.tensor(0)?)?;
    let scaled = b.mul(x, beta)?;
    let sigmoid = b.of("sigmoid", scaled)?;
    let share = b.mul(grad, sigmoid)?;
    let linear = b.compare("gt.Tensor", scaled, threshold)?;
    let given = b.op("where.self", &[t(linear), t(grad), t(share)])?;
    b.give(0, given);
    Ok(())
}

/// `elu`, with `alpha`, the scale of the whole and that of the input.
///
/// # Errors
/// Those of the ops.
pub fn elu_like(b: &mut Backward<'_>, alpha: f64, scale: f64, input_scale: f64) -> Result<(), OpError> {
    let (grad, x) = wide(b, b.tensor(0)?)?;
    let scaled = b.mul(x, input_scale)?;
    let e = b.of("exp", scaled)?;
    let slope = b.mul(e, alpha * scale * input_scale)?;
    let falling = b.mul(grad, slope)?;
    let rising = b.mul(grad, scale)?;
    let low = b.compare("le.Tensor", x, 0i64)?;
    let given = b.op("where.self", &[t(low), t(falling), t(rising)])?;
    b.give(0, given);
    Ok(())
}

/// `leaky_relu`.
///
/// # Errors
/// Those of the ops.
pub fn of_leaky_relu(b: &mut Backward<'_>) -> Result<(), OpError> {
    let positive = b.compare("gt.Tensor", b.tensor(0)?, 0i64)?;
    kept_or_scaled(b, positive, args::float(b.args(), 1, 0.01))
}

/// `prelu`: where the argument isn't positive its gradient is scaled by the weight, which gets the argument.
///
/// # Errors
/// Those of the ops.
pub fn of_prelu(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (grad, x, weight) = (b.grad()?, b.tensor(0)?, b.tensor(1)?);
    let positive = b.compare("gt.Tensor", x, 0i64)?;
    if b.needs(0) {
        let scaled = b.mul(grad, weight)?;
        let given = b.op("where.self", &[t(positive), t(grad), t(scaled)])?;
        b.give(0, given);
    }
    if b.needs(1) {
        let product = b.mul(grad, x)?;
        let given = b.op("masked_fill.Scalar", &[t(product), t(positive), 0i64.into()])?;
        b.give(1, given);
    }
    Ok(())
}

/// `hardswish`.
///
/// # Errors
/// Those of the ops.
pub fn of_hardswish(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (grad, x) = wide(b, b.tensor(0)?)?;
    let third = b.div(x, 3i64)?;
    let slope = b.add(third, 0.5)?;
    let middle = b.mul(grad, slope)?;
    let (low, high) = (b.compare("le.Tensor", x, -3i64)?, b.compare("ge.Tensor", x, 3i64)?);
    let rising = b.op("where.self", &[t(high), t(grad), t(middle)])?;
    let given = b.op("masked_fill.Scalar", &[t(rising), t(low), 0i64.into()])?;
    b.give(0, given);
    Ok(())
}

/// `logsigmoid`: one minus the sigmoid.
///
/// # Errors
/// Those of the ops.
pub fn of_logsigmoid(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (grad, x) = wide(b, b.tensor(0)?)?;
    let minus = b.neg(x)?;
    let slope = b.of("sigmoid", minus)?;
    let given = b.mul(grad, slope)?;
    b.give(0, given);
    Ok(())
}

/// `softsign`: one over the square of one plus the size.
///
/// # Errors
/// Those of the ops.
pub fn of_softsign(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (grad, x) = wide(b, b.tensor(0)?)?;
    let size = b.of("abs", x)?;
    let sum = b.add(size, 1i64)?;
    let square = b.mul(sum, sum)?;
    let given = b.div(grad, square)?;
    b.give(0, given);
    Ok(())
}

/// `tanhshrink`: the square of the tanh.
///
/// # Errors
/// Those of the ops.
pub fn of_tanhshrink(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (grad, x) = wide(b, b.tensor(0)?)?;
    let tanh = b.of("tanh", x)?;
    let square = b.mul(tanh, tanh)?;
    let given = b.mul(grad, square)?;
    b.give(0, given);
    Ok(())
}

/// `softshrink` and `hardshrink`: outside of plus and minus `lambd`.
///
/// # Errors
/// Those of the ops.
pub fn of_shrink(b: &mut Backward<'_>) -> Result<(), OpError> {
    let size = b.of("abs", b.tensor(0)?)?;
    let outside = b.compare("gt.Tensor", size, args::float(b.args(), 1, 0.5))?;
    super::give_where(b, 0, outside)
}

/// `threshold`: above it.
///
/// # Errors
/// Those of the ops.
pub fn of_threshold(b: &mut Backward<'_>) -> Result<(), OpError> {
    let above = b.compare("gt.Tensor", b.tensor(0)?, args::float(b.args(), 1, 0.0))?;
    super::give_where(b, 0, above)
}
