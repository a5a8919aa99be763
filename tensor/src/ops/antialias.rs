//! Resampling of images under a filter as wide as the pixels of the result, so that shrinking doesn't alias.

use super::{
    args,
    define::{close, gradient, kernel},
    gradient::window::{by_transpose, of_transpose},
    rules,
};
use crate::{
    Context, KernelFn, Tensor,
    element::Real,
    layout::{Sizes, numel},
    with_real,
};
use std::f64::consts::PI;
use taipan_ir::{
    Arg, DType, Facts, Op, OpError,
    op::{FactsList, Family, Forms, Kernel, RuleContext},
};

/// The op tables of this file.
pub static OPS: &[Op] = &[
    close(gradient(
        kernel(
            "_resample_antialias(Tensor self, int[] output_size, float[] scales, str mode, bool align_corners) -> Tensor",
            Forms::INTERNAL,
            Family::Gather,
            resample_rule,
            Kernel(&(resample as KernelFn)),
        ),
        "",
        |b| by_transpose(b, "_resample_antialias_transpose"),
    )),
    close(gradient(
        kernel(
            "_resample_antialias_transpose(Tensor grad, int[] input_size, int[] output_size, float[] scales, str mode, bool align_corners) -> Tensor",
            Forms::INTERNAL,
            Family::Scatter,
            |cx, a| {
                let grad = *args::tensor(a, 0)?;
                rules::image(cx, &[grad], grad.dtype, args::dims(a, 1)?.into())
            },
            Kernel(&(resample_transpose as KernelFn)),
        ),
        "",
        |b| of_transpose(b, "_resample_antialias"),
    )),
];

/// The modes that have such a filter.
pub const MODES: [&str; 3] = ["bilinear", "bicubic", "lanczos"];

fn resample_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let x = *args::tensor(a, 0)?;
    match x.dtype {
        DType::F32 | DType::F64 => super::resize::resample_rule(cx, a),
        DType::U8 => Err(OpError::not_implemented("interpolate(antialias=True) of uint8 tensors")),
        other => Err(OpError::not_implemented(format!("\"compute_index_ranges_weights\" not implemented for '{}'", other.scalar_name()))),
    }
}

/// What one place of the result is made of: the first place of the input, and the weights of it and those behind it.
struct Window<T> {
    start: usize,
    weights: Vec<T>,
}

/// How far the filter reaches to both sides, in pixels.
fn reach(mode: &str) -> f64 {
    match mode {
        "bilinear" => 1.0,
        "bicubic" => 2.0,
        _ => 3.0,
    }
}

/// The filter's value at a distance.
fn filter<T: Real>(mode: &str, distance: T) -> T {
    let n = T::from_f64;
    let x = if distance < T::zero() { -distance } else { distance };
    match mode {
        "bilinear" if x < T::one() => T::one() - x,
        // The cubic convolution with a = -1/2.
        "bicubic" if x < T::one() => (n(1.5) * x - n(2.5)) * x * x + T::one(),
        "bicubic" if x < n(2.0) => (((x - n(5.0)) * x + n(8.0)) * x - n(4.0)) * n(-0.5),
        "lanczos" if x < n(3.0) => n(sinc(x.as_f64()) * sinc(x.as_f64() / 3.0)),
        _ => T::zero(),
    }
}

/// `sin(πx) / πx`
fn sinc(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { libm::sin(PI * x) / (PI * x) }
}

/// The windows of all places of the result along one dim. Where they begin depends on how positions are rounded, so they are computed in
/// the type of the elements.
fn windows<T: Real>(size: usize, count: usize, scale: f64, mode: &str, align: bool) -> Vec<Window<T>> {
    let n = |count: usize| T::from_f64(count as f64);
    let half = T::from_f64(0.5);
    let ratio = match (align, scale > 0.0) {
        (true, _) if count > 1 => n(size - 1) / n(count - 1),
        (true, _) => T::zero(),
        (false, true) => T::from_f64(1.0 / scale),
        (false, false) => n(size) / n(count),
    };
    let wide = if ratio >= T::one() { ratio } else { T::one() };
    let support = T::from_f64(reach(mode)) * wide;
    let narrowing = T::one() / wide;
    (0..count)
        .map(|k| {
            let centre = ratio * (n(k) + half);
            let start = (centre - support + half).as_i64().max(0) as usize;
            let end = ((centre + support + half).as_i64().max(0) as usize).min(size);
            let mut weights: Vec<T> = (start..end).map(|p| filter(mode, (n(p) - centre + half) * narrowing)).collect();
            let total = weights.iter().fold(T::zero(), |sum, w| sum.plus(*w));
            if total != T::zero() {
                weights.iter_mut().for_each(|w| *w = *w / total);
            }
            Window { start, weights }
        })
        .collect()
}

/// The windows along both spatial dims of an image, for the arguments that begin with number `first`: sizes, scales, mode, alignment.
fn all_windows<T: Real>(a: &[Arg<Tensor>], first: usize, image: &[i64]) -> Result<Vec<Vec<Window<T>>>, OpError> {
    let Arg::Floats(scales) = &a[first + 1] else { return Err(OpError::type_error("scales must be tuple of floats")) };
    let (mode, align) = (args::text(a, first + 2), args::flag(a, first + 3));
    let along = |(k, count): (usize, &i64)| match image[k + 2] {
        0 => Err(OpError::runtime("Input and output sizes should be greater than 0")),
        size => Ok(windows(size as usize, *count as usize, scales[k], mode, align)),
    };
    args::ints(a, first)?.iter().enumerate().map(along).collect()
}

fn resample(_: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let mut x = args::tensor(a, 0)?.contiguous()?;
    x = with_real!(x.dtype(), T => {
        // The innermost dim first, as PyTorch does.
        for (k, windows) in all_windows::<T>(a, 1, x.sizes())?.iter().enumerate().rev() {
            x = gathered(&x, k + 2, windows)?;
        }
        x
    });
    Ok(vec![x])
}

fn resample_transpose(_: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let image = args::ints(a, 1)?;
    let mut grad = args::tensor(a, 0)?.contiguous()?;
    grad = with_real!(grad.dtype(), T => {
        for (k, windows) in all_windows::<T>(a, 2, &image)?.iter().enumerate() {
            grad = spread(&grad, k + 2, image[k + 2], windows)?;
        }
        grad
    });
    Ok(vec![grad])
}

/// Sums over the windows along dim `d`.
fn gathered<T: Real>(x: &Tensor, d: usize, windows: &[Window<T>]) -> Result<Tensor, OpError> {
    let mut sizes: Sizes = x.sizes().into();
    let inner = numel(&sizes[d + 1..]);
    let row = sizes[d] as usize * inner;
    sizes[d] = windows.len() as i64;
    let elements = x.elements::<T>()?;
    Ok(Tensor::build(x.dtype(), &sizes, |out: &mut [T]| {
        for (to, from) in out.chunks_mut((windows.len() * inner).max(1)).zip(elements.chunks(row.max(1))) {
            for (sums, window) in to.chunks_mut(inner.max(1)).zip(windows) {
                for (values, w) in from[window.start * inner..].chunks(inner.max(1)).zip(&window.weights) {
                    sums.iter_mut().zip(values).for_each(|(sum, v)| *sum = sum.plus(*v * *w));
                }
            }
        }
    }))
}

/// The transpose of [`gathered`]: size `count` along dim `d`, each element added up over its window.
fn spread<T: Real>(x: &Tensor, d: usize, count: i64, windows: &[Window<T>]) -> Result<Tensor, OpError> {
    let mut sizes: Sizes = x.sizes().into();
    let inner = numel(&sizes[d + 1..]);
    sizes[d] = count;
    let row = count as usize * inner;
    let elements = x.elements::<T>()?;
    Ok(Tensor::build(x.dtype(), &sizes, |out: &mut [T]| {
        for (to, from) in out.chunks_mut(row.max(1)).zip(elements.chunks((windows.len() * inner).max(1))) {
            for (values, window) in from.chunks(inner.max(1)).zip(windows) {
                for (sums, w) in to[window.start * inner..].chunks_mut(inner.max(1)).zip(&window.weights) {
                    sums.iter_mut().zip(values).for_each(|(sum, v)| *sum = sum.plus(*v * *w));
                }
            }
        }
    }))
}
