//! Windows of images as columns of a matrix, and back: what convolutions are made of.

use super::{
    args,
    call::{call, i, one, t},
    define::{close, composite, gradient, kernel, refusing, samples},
    gradient::window::{of_col2im, of_im2col},
    refusal::windows,
    rules,
};
use crate::{
    Context, KernelFn, Tensor,
    layout::{Sizes, numel},
    with_real, write,
};
use smallvec::smallvec;
use taipan_ir::{
    Arg, Dim, DimOp, Dims, Emitter, Facts, Op, OpError, Rel, Val,
    op::{FactsList, Family, Forms, Kernel, RuleContext, Vals},
};

/// The op tables of this file.
pub static OPS: &[Op] = &[
    samples(
        gradient(
            kernel(
                "im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor",
                Forms::INTERNAL,
                Family::Convolution,
                im2col_rule,
                Kernel(&(im2col as KernelFn)),
            ),
            "",
            of_im2col,
        ),
        &["f32[1,2,4,4], [2,2], [1,1], [0,0], [1,1]"],
    ),
    close(samples(
        gradient(
            kernel(
                "col2im(Tensor self, int[2] output_size, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor",
                Forms::INTERNAL,
                Family::Convolution,
                col2im_rule,
                Kernel(&(col2im as KernelFn)),
            ),
            "",
            of_col2im,
        ),
        &["f32[1,8,9], [4,4], [2,2], [1,1], [0,0], [1,1]", "f32[1,12,9], [5,5], [3,2], [1,1], [1,1], [2,2]"],
    )),
    samples(
        refusing(
            composite(
                "unfold.nn(Tensor input, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] stride=1) -> Tensor",
                Forms::NN,
                |e, a| batched(e, a, 4, "im2col"),
            ),
            windows::unfold,
        ),
        &["f32[1,2,4,4], 2", "f32[1,2,5,5], [3,2], 1, 1, 2", "f32[2,4,4], 2"],
    ),
    samples(
        refusing(
            composite(
                "fold(Tensor input, int[2] output_size, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] stride=1) -> Tensor",
                Forms::NN,
                |e, a| batched(e, a, 3, "col2im"),
            ),
            windows::fold,
        ),
        &["f32[1,8,9], 4, 2", "f32[8,9], 4, 2"],
    ),
];

/// The op `name`, which takes tensors of `rank` dims, of one that may have no batch dim.
fn batched(e: &mut dyn Emitter, a: &[Arg<Val>], rank: usize, name: &str) -> Result<Vals, OpError> {
    let x = *args::tensor(a, 0)?;
    if e.facts(x).rank() == rank {
        return call(e, name, a);
    }
    let batch = one(e, "unsqueeze", &[t(x), i(0)])?;
    let mut all = a.to_vec();
    all[0] = t(batch);
    let result = one(e, name, &all)?;
    call(e, "squeeze.dim", &[t(result), i(0)])
}

/// The number of windows along a dim.
pub fn output_size(table: &mut dyn Dims, size: Dim, kernel: Dim, stride: i64, padding: i64, dilation: i64) -> Dim {
    let reach = table.calc(DimOp::Sub, kernel, Dim::Is(1));
    let reach = table.calc(DimOp::Mul, reach, Dim::Is(dilation));
    let room = table.calc(DimOp::Add, size, Dim::Is(2 * padding - 1));
    let room = table.calc(DimOp::Sub, room, reach);
    let steps = table.calc(DimOp::FloorDiv, room, Dim::Is(stride));
    table.calc(DimOp::Add, steps, Dim::Is(1))
}

/// Three spatial dims, of which leading ones may be trivial.
#[derive(Clone, Copy)]
pub struct Geometry {
    /// Sizes of the image that windows move over.
    pub image: [usize; 3],
    /// Sizes of a window.
    pub kernel: [usize; 3],
    /// Number of windows.
    pub windows: [usize; 3],
    /// From one window to the next.
    pub stride: [usize; 3],
    /// Zeros before and behind the image.
    pub padding: [usize; 3],
    /// From one element of a window to the next.
    pub dilation: [usize; 3],
}

/// Values of up to three spatial dims, with `missing` for leading dims that there aren't.
pub fn three(values: &[i64], missing: usize) -> [usize; 3] {
    let mut out = [missing; 3];
    let lead = 3 - values.len().min(3);
    values.iter().take(3).enumerate().for_each(|(k, v)| out[lead + k] = (*v).max(0) as usize);
    out
}

impl Geometry {
    /// Whether columns are the image itself.
    pub fn is_trivial(&self) -> bool {
        self.kernel == [1; 3] && self.stride == [1; 3] && self.padding == [0; 3]
    }

    /// Calls `at(column element, image element)` for every pair that touch, over `channels` channels.
    pub fn pairs(&self, channels: usize, mut at: impl FnMut(usize, usize)) {
        let [kd, kh, kw] = self.kernel;
        let [wd, wh, ww] = self.windows;
        let [id, ih, iw] = self.image;
        let place = |window: usize, k: usize, d: usize| (window * self.stride[d] + k * self.dilation[d]).wrapping_sub(self.padding[d]);
        let mut row = 0;
        for c in 0..channels {
            for (a, b, k) in (0..kd).flat_map(|a| (0..kh).flat_map(move |b| (0..kw).map(move |k| (a, b, k)))) {
                for (x, y) in (0..wd).flat_map(|x| (0..wh).map(move |y| (x, y))) {
                    let (p, q) = (place(x, a, 0), place(y, b, 1));
                    if p >= id || q >= ih {
                        continue;
                    }
                    let (columns, image) = (row * wd * wh * ww + (x * wh + y) * ww, ((c * id + p) * ih + q) * iw);
                    for z in 0..ww {
                        let r = place(z, k, 2);
                        if r < iw {
                            at(columns + z, image + r);
                        }
                    }
                }
                row += 1;
            }
        }
    }
}

/// The windows over an image of two dims, from the arguments that begin at number `first`: size, dilation, padding, stride.
fn planar(a: &[Arg<Tensor>], first: usize, image: &[i64]) -> Result<Geometry, OpError> {
    let (kernel, dilation, padding, stride) =
        (args::ints(a, first)?, args::ints(a, first + 1)?, args::ints(a, first + 2)?, args::ints(a, first + 3)?);
    let windows: Vec<i64> = (0..2).map(|d| (image[d] + 2 * padding[d] - dilation[d] * (kernel[d] - 1) - 1) / stride[d] + 1).collect();
    Ok(Geometry {
        image: three(image, 1),
        windows: three(&windows, 1),
        kernel: three(&kernel, 1),
        stride: three(&stride, 1),
        padding: three(&padding, 0),
        dilation: three(&dilation, 1),
    })
}

/// The number of windows over an image of two dims.
fn window_count(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>], first: usize, image: &[Dim]) -> Result<Dim, OpError> {
    let (kernel, dilation, padding, stride) =
        (args::ints(a, first)?, args::ints(a, first + 1)?, args::ints(a, first + 2)?, args::ints(a, first + 3)?);
    let mut count = Dim::Is(1);
    for d in 0..2 {
        let windows = output_size(cx.dims, image[d], Dim::Is(kernel[d]), stride[d], padding[d], dilation[d]);
        count = cx.dims.calc(DimOp::Mul, count, windows);
    }
    Ok(count)
}

fn im2col_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let x = *args::tensor(a, 0)?;
    if x.rank() != 4 {
        return Err(OpError::runtime(format!(
            "Expected 3D or 4D (batch mode) tensor for input with possibly 0 batch size, but got: {}",
            rules::shown(&x.dims)
        )));
    }
    let count = window_count(cx, a, 1, &x.dims[2..])?;
    let kernel = args::ints(a, 1)?;
    let rows = cx.dims.calc(DimOp::Mul, x.dims[1], Dim::Is(kernel[0] * kernel[1]));
    rules::fresh(cx, x, x.dtype, smallvec![x.dims[0], rows, count])
}

fn im2col(_: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?.contiguous()?;
    let geometry = planar(a, 1, &x.sizes()[2..])?;
    let sizes = known(&facts[0])?;
    let channels = x.sizes()[1] as usize;
    let (row, source) = (numel(&sizes[1..]), numel(&x.sizes()[1..]));
    crate::with_bits!(x.dtype(), T => {
        let elements = x.elements::<T>()?;
        Ok(vec![Tensor::build(x.dtype(), &sizes, |out: &mut [T]| {
            for (out, image) in out.chunks_mut(row.max(1)).zip(elements.chunks(source.max(1))) {
                geometry.pairs(channels, |c, i| out[c] = image[i]);
            }
        })])
    })
}

fn col2im_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let x = *args::tensor(a, 0)?;
    let (image, kernel) = (args::dims(a, 1)?, args::ints(a, 2)?);
    if x.rank() != 3 {
        return Err(OpError::runtime(format!(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for input, but got: {}",
            rules::shown(&x.dims)
        )));
    }
    let each = Dim::Is(kernel[0] * kernel[1]);
    if !cx.dims.decide(Rel::Divides, each, x.dims[1])? {
        return Err(OpError::runtime(format!(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size(1)={} and kernel_size=({}, {}).",
            x.dims[1], kernel[0], kernel[1]
        )));
    }
    let count = window_count(cx, a, 2, image)?;
    if !cx.dims.decide(Rel::Eq, count, x.dims[2])? {
        return Err(OpError::runtime(format!(
            "Given an input with {} columns, expected the {count} windows over output_size ({}, {})",
            x.dims[2], image[0], image[1]
        )));
    }
    let channels = cx.dims.calc(DimOp::FloorDiv, x.dims[1], each);
    rules::fresh(cx, x, x.dtype, smallvec![x.dims[0], channels, image[0], image[1]])
}

fn col2im(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let wide = write::widened(cx, x)?;
    let sizes = known(&facts[0])?;
    let geometry = planar(a, 2, &sizes[2..])?;
    let channels = sizes[1] as usize;
    let (image, source) = (numel(&sizes[1..]), numel(&x.sizes()[1..]));
    let out = with_real!(wide.dtype(), T => {
        let elements = wide.elements::<T>()?;
        Tensor::build(wide.dtype(), &sizes, |out: &mut [T]| {
            for (out, columns) in out.chunks_mut(image.max(1)).zip(elements.chunks(source.max(1))) {
                geometry.pairs(channels, |c, i| out[i] += columns[c]);
            }
        })
    });
    Ok(vec![write::cast(cx, &out, x.dtype())?])
}

fn known(facts: &Facts) -> Result<Sizes, OpError> {
    facts.dims.iter().map(|d| d.known().ok_or(OpError::DataDependent)).collect()
}
