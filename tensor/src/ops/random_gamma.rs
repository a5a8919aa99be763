//! Draws of the gamma, Dirichlet and binomial distributions, and how those of the first two move with their parameters.

use super::{
    args,
    call::{call, t},
    define::{composite, gradient, kernel, random},
    gradient::{Maths, give_times, zero},
    random_fill::{drawn, stream},
    rules,
};
use crate::{Context, KernelFn, Tensor, distribution, special::slope, write};
use taipan_ir::{
    Arg, DType, Dim, Facts, Op, OpError,
    gradient::Backward,
    op::{FactsList, Family, Forms, Kernel, RuleContext},
};

/// The op tables of this file.
pub static OPS: &[Op] = &[
    gradient(
        random(
            "_standard_gamma(Tensor self, Generator? generator=None) -> Tensor",
            Forms::FUNCTION,
            |cx, a| of_floats(cx, a, "gamma_cpu"),
            Kernel(&(standard_gamma as KernelFn)),
        ),
        "self, result",
        |b| {
            let (shape, result) = (b.tensor(0)?, b.result(0)?);
            let slope = b.op("_standard_gamma_grad", &[t(shape), t(result)])?;
            give_times(b, 0, slope)
        },
    ),
    kernel(
        "_standard_gamma_grad(Tensor self, Tensor output) -> Tensor",
        Forms::FUNCTION,
        Family::Other,
        |cx, a| of_floats(cx, a, "_standard_gamma_grad_cpu"),
        Kernel(&(standard_gamma_grad as KernelFn)),
    ),
    gradient(
        random(
            "_sample_dirichlet(Tensor self, Generator? generator=None) -> Tensor",
            Forms::FUNCTION,
            |cx, a| of_floats(cx, a, "dirichlet"),
            Kernel(&(sample_dirichlet as KernelFn)),
        ),
        "self, result",
        of_dirichlet,
    ),
    kernel(
        "_dirichlet_grad(Tensor x, Tensor alpha, Tensor total) -> Tensor",
        Forms::FUNCTION,
        Family::Other,
        |cx, a| of_floats(cx, a, "_dirichlet_grad_cpu"),
        Kernel(&(dirichlet_grad as KernelFn)),
    ),
    composite("binomial(Tensor count, Tensor prob, Generator? generator=None) -> Tensor", Forms::FUNCTION, |e, a| {
        let both = call(e, "broadcast_tensors", &[Arg::Tensors([*args::tensor(a, 0)?, *args::tensor(a, 1)?].into_iter().collect())])?;
        call(e, "_binomial", &[t(both[0]), t(both[1]), a[2].clone()])
    }),
    gradient(
        random(
            "_binomial(Tensor count, Tensor prob, Generator? generator=None) -> Tensor",
            Forms::INTERNAL,
            |cx, a| {
                for (k, name) in ["count", "prob"].into_iter().enumerate() {
                    let dtype = args::tensor(a, k)?.dtype;
                    if !dtype.is_float() {
                        let text = format!("binomial only supports floating-point dtypes for {name}, got: {}", dtype.scalar_name());
                        return Err(OpError::value(text));
                    }
                }
                let like = *args::tensor(a, 0)?;
                rules::fresh(cx, like, like.dtype, like.dims.clone())
            },
            Kernel(&(binomial as KernelFn)),
        ),
        "",
        zero,
    ),
];

/// A dense result like argument 0, whose elements are `f32` or `f64`.
fn of_floats(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>], kernel: &str) -> Result<FactsList, OpError> {
    let like = *args::tensor(a, 0)?;
    if !matches!(like.dtype, DType::F32 | DType::F64) {
        return Err(OpError::not_implemented(format!("\"{kernel}\" not implemented for '{}'", like.dtype.scalar_name())));
    }
    rules::fresh(cx, like, like.dtype, like.dims.clone())
}

/// The elements of an argument, in double precision and in the order of their indices.
fn wide(cx: &mut Context, a: &[Arg<Tensor>], k: usize) -> Result<Vec<f64>, OpError> {
    let dense = write::cast(cx, args::tensor(a, k)?, DType::F64)?.contiguous()?;
    let elements = dense.elements::<f64>()?;
    Ok(elements.to_vec())
}

/// The least positive normal number, which stands for draws that round to zero.
fn least(dtype: DType) -> f64 {
    if dtype == DType::F64 { f64::MIN_POSITIVE } else { f64::from(f32::MIN_POSITIVE) }
}

/// A result from its elements in the order of their indices.
fn filled(facts: &Facts, values: impl IntoIterator<Item = f64>) -> Result<Vec<Tensor>, OpError> {
    let mut values = values.into_iter();
    Ok(vec![drawn(facts, || values.next().unwrap_or_default())?])
}

fn standard_gamma(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let shapes = wide(cx, a, 0)?;
    let generator = stream(cx, a, 1)?;
    let (least, single) = (least(facts[0].dtype), facts[0].dtype == DType::F32);
    filled(&facts[0], shapes.into_iter().map(|shape| distribution::gamma(generator, shape, single).max(least)))
}

fn standard_gamma_grad(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let (shapes, draws) = (wide(cx, a, 0)?, wide(cx, a, 1)?);
    filled(&facts[0], shapes.into_iter().zip(draws).map(|(shape, x)| slope::gamma(shape, x)))
}

fn sample_dirichlet(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let shapes = wide(cx, a, 0)?;
    let classes = args::tensor(a, 0)?.sizes().last().map_or(1, |n| *n as usize).max(1);
    let generator = stream(cx, a, 1)?;
    let mut draws: Vec<f64> = shapes.into_iter().map(|shape| distribution::gamma(generator, shape, false).max(f64::MIN_POSITIVE)).collect();
    let least = least(facts[0].dtype);
    for row in draws.chunks_mut(classes) {
        let sum: f64 = row.iter().sum();
        row.iter_mut().for_each(|x| *x = (*x / sum).max(least));
    }
    filled(&facts[0], draws)
}

fn dirichlet_grad(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let (draws, shapes, totals) = (wide(cx, a, 0)?, wide(cx, a, 1)?, wide(cx, a, 2)?);
    filled(&facts[0], draws.into_iter().zip(shapes).zip(totals).map(|((x, shape), total)| slope::beta(x, shape, total)))
}

/// Each class moves its own share, and what it takes comes from all in proportion.
fn of_dirichlet(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (shapes, draws, grad) = (b.tensor(0)?, b.result(0)?, b.grad()?);
    let last = || Arg::Ints([Dim::Is(-1)].into_iter().collect());
    let sums = b.op("sum.dim_IntList", &[t(shapes), last(), Arg::Bool(true)])?;
    let sizes = Arg::Ints(b.facts(0)?.dims);
    let totals = b.op("expand", &[t(sums), sizes])?;
    let slope = b.op("_dirichlet_grad", &[t(draws), t(shapes), t(totals)])?;
    let weighted = b.mul(draws, grad)?;
    let mean = b.op("sum.dim_IntList", &[t(weighted), last(), Arg::Bool(true)])?;
    let rest = b.sub(grad, mean)?;
    let moved = b.mul(slope, rest)?;
    b.give(0, moved);
    Ok(())
}

fn binomial(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let (counts, shares) = (wide(cx, a, 0)?, wide(cx, a, 1)?);
    let generator = stream(cx, a, 2)?;
    filled(&facts[0], counts.into_iter().zip(shares).map(|(count, p)| distribution::binomial(generator, count, p)))
}
