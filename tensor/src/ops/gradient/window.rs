//! Gradients of ops over windows of images: convolution, pooling, padding, resampling.

use super::Maths;
use crate::ops::{
    args,
    call::{i, ints, t},
};
use taipan_ir::{Arg, Facts, OpError, Val, gradient::Backward};

/// `convolution`: the input gets the gradient convolved the other way round with the same weight, the weight a sum over all windows.
///
/// # Errors
/// Those of the ops.
pub fn of_convolution(b: &mut Backward<'_>) -> Result<(), OpError> {
    let grad = b.grad()?;
    if b.needs(0) {
        let given = convolved_back(b, grad, b.tensor(1)?, &b.facts(0)?)?;
        b.give(0, given);
    }
    if b.needs(1) {
        let given = weight_gradient(b, grad, b.tensor(0)?)?;
        b.give(1, given);
    }
    if b.needs(2) {
        let rank = b.emitter.facts(grad).rank() as i64;
        let given = b.op("sum.dim_IntList", &[t(grad), ints((0..rank).filter(|d| *d != 1))])?;
        b.give(2, given);
    }
    Ok(())
}

/// The gradient of a convolution's input, from that of its result and the weight. The other arguments are the op's own.
fn convolved_back(b: &mut Backward<'_>, grad: Val, weight: Val, input: &Facts) -> Result<Val, OpError> {
    let (kernel, a) = (b.emitter.facts(weight).dims.clone(), b.args());
    let (stride, padding, dilation) = (args::ints(a, 3)?, args::ints(a, 4)?, args::ints(a, 5)?);
    let (transposed, spatial) = (args::flag(a, 6), input.rank() - 2);
    let mut extra = vec![0; spatial];
    if !transposed {
        let windows = b.emitter.facts(grad).dims.clone();
        for d in 0..spatial {
            let table = b.emitter.dims();
            let (windows, kernel) = (table.number(windows[d + 2])?, table.number(kernel[d + 2])?);
            let reached = (windows - 1) * stride[d] + dilation[d] * (kernel - 1) + 1 - 2 * padding[d];
            extra[d] = table.number(input.dims[d + 2])? - reached;
        }
    }
    let all =
        [t(grad), t(weight), Arg::Absent, a[3].clone(), a[4].clone(), a[5].clone(), Arg::Bool(!transposed), ints(extra), a[8].clone()];
    let mut given = b.op("convolution", &all)?;
    // An output padding of a whole stride makes room for windows that the input doesn't have.
    for d in 2..input.rank() {
        if b.emitter.facts(given).dims[d] != input.dims[d] {
            given = b.op("narrow", &[t(given), i(d as i64), i(0), Arg::Int(input.dims[d])])?;
        }
    }
    Ok(given)
}

/// The gradient of a convolution's weight, from that of its result and the input.
fn weight_gradient(b: &mut Backward<'_>, grad: Val, input: Val) -> Result<Val, OpError> {
    let (a, kernel) = (b.args(), b.facts(1)?.dims[2..].into());
    let all = [t(grad), t(input), Arg::Ints(kernel), a[3].clone(), a[4].clone(), a[5].clone(), a[6].clone(), a[7].clone(), a[8].clone()];
    b.op("_convolution_weight", &all)
}

/// `_convolution_weight` is linear in the gradient and in the input of the convolution it belongs to.
///
/// # Errors
/// Those of the ops.
pub fn of_convolution_weight(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (weight, a) = (b.grad()?, b.args());
    if b.needs(0) {
        let all =
            [t(b.tensor(1)?), t(weight), Arg::Absent, a[3].clone(), a[4].clone(), a[5].clone(), a[6].clone(), a[7].clone(), a[8].clone()];
        let given = b.op("convolution", &all)?;
        b.give(0, given);
    }
    if b.needs(1) {
        let given = convolved_back(b, b.tensor(0)?, weight, &b.facts(1)?)?;
        b.give(1, given);
    }
    Ok(())
}

/// Windows of which one element was chosen, by the place in its image that result 1 says: the gradient goes there.
///
/// # Errors
/// Those of the ops.
pub fn of_greatest(b: &mut Backward<'_>) -> Result<(), OpError> {
    let image = b.facts(0)?;
    let (grad, places) = (b.grad()?, b.result(1)?);
    let rows = |b: &mut Backward<'_>, value: Val| b.op("flatten.using_ints", &[t(value), i(2)]);
    let (grad, places) = (rows(b, grad)?, rows(b, places)?);
    let zeros = b.zeros(&image)?;
    let zeros = rows(b, zeros)?;
    let sums = b.op("scatter_add", &[t(zeros), i(2), t(places), t(grad)])?;
    let given = b.op("view", &[t(sums), Arg::Ints(image.dims)])?;
    b.give(0, given);
    Ok(())
}

/// A linear op of argument 0 whose transpose is the op `name`, of the gradient, the sizes of argument 0, and the other arguments.
///
/// # Errors
/// Those of the ops.
pub fn by_transpose(b: &mut Backward<'_>, name: &str) -> Result<(), OpError> {
    let sizes = Arg::Ints(b.facts(0)?.dims);
    let all: Vec<Arg<Val>> = [t(b.grad()?), sizes].into_iter().chain(b.args()[1..].iter().cloned()).collect();
    let given = b.op(name, &all)?;
    b.give(0, given);
    Ok(())
}

/// The transpose of such an op, for which sizes stand at argument 1: its own transpose is the op `name` without them.
///
/// # Errors
/// Those of the ops.
pub fn of_transpose(b: &mut Backward<'_>, name: &str) -> Result<(), OpError> {
    let all: Vec<Arg<Val>> = std::iter::once(t(b.grad()?)).chain(b.args()[2..].iter().cloned()).collect();
    let given = b.op(name, &all)?;
    b.give(0, given);
    Ok(())
}

/// `constant_pad_nd`: the gradient without the padding.
///
/// # Errors
/// Those of the ops.
pub fn of_constant_pad(b: &mut Backward<'_>) -> Result<(), OpError> {
    let minus = args::ints(b.args(), 1)?.into_iter().map(|side| -side);
    let given = b.op("constant_pad_nd", &[t(b.grad()?), ints(minus)])?;
    b.give(0, given);
    Ok(())
}

/// The sizes of an image's spatial dims, as an argument.
fn spatial(facts: &Facts) -> Arg<Val> {
    Arg::Ints(facts.dims[2..].iter().copied().collect::<taipan_ir::Shape>())
}

/// `im2col`: windows added up where they lie.
///
/// # Errors
/// Those of the ops.
pub fn of_im2col(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (image, a) = (b.facts(0)?, b.args());
    let all = [t(b.grad()?), spatial(&image), a[1].clone(), a[2].clone(), a[3].clone(), a[4].clone()];
    let given = b.op("col2im", &all)?;
    b.give(0, given);
    Ok(())
}

/// `col2im`: each window gets what lies under it.
///
/// # Errors
/// Those of the ops.
pub fn of_col2im(b: &mut Backward<'_>) -> Result<(), OpError> {
    of_transpose(b, "im2col")
}
