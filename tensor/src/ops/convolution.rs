//! Convolutions of one, two and three spatial dims, and their transposes.

use super::{
    args,
    call::{call, f, i, one, t},
    define::{composite, kernel, samples, ulps},
    matmul::{Matrix, multiply},
    rules,
};
use crate::{Context, KernelFn, Tensor, context::Workers, element::Real, layout::numel, with_real, write};
use smallvec::smallvec;
use taipan_ir::{
    Arg, DType, Dim, DimOp, Dims, Emitter, Facts, Op, OpError, Rel, Shape, Val,
    op::{FactsList, Family, Forms, Kernel, RuleContext, Vals},
};

const FORMS: Forms = Forms::FUNCTION.or(Forms::NN);

/// The op tables of this file.
pub static OPS: &[Op] = &[
    ulps(
        kernel(
            "convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, bool transposed, int[] output_padding, int groups) -> Tensor",
            Forms::FUNCTION,
            Family::Convolution,
            convolution_rule,
            Kernel(&(convolution as KernelFn)),
        ),
        &[(DType::F32, 64), (DType::F64, 64), (DType::F16, 2), (DType::BF16, 2)],
    ),
    samples(
        composite(
            "conv1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, int[1] padding=0, int[1] dilation=1, int groups=1) -> Tensor",
            FORMS,
            |e, a| conv(e, a, 1),
        ),
        &["f32[2,3,7], f32[4,3,3], f32[4]", "f32[3,7], f32[4,3,3], None, 2, 1"],
    ),
    samples(
        composite(
            "conv2d(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, int[2] dilation=1, int groups=1) -> Tensor",
            FORMS,
            |e, a| conv(e, a, 2),
        ),
        &[
            "f32[2,3,6,5], f32[4,3,3,3], f32[4]",
            "f32[1,4,6,6], f32[6,2,3,3], None, [2,1], [1,0], 1, 2",
            "f32[1,2,7,7], f32[3,2,3,3], None, 1, 2, 2",
            "f64[2,3,4,4], f64[2,3,1,1], f64[2]",
            "f32[2,3,4,4], f32[2,4,1,1]",
        ],
    ),
    samples(
        composite(
            "conv3d(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, int[3] padding=0, int[3] dilation=1, int groups=1) -> Tensor",
            FORMS,
            |e, a| conv(e, a, 3),
        ),
        &["f32[1,2,4,5,4], f32[3,2,2,3,2], f32[3]"],
    ),
    samples(
        composite(
            "conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, str padding='valid', int[1] dilation=1, int groups=1) -> Tensor",
            FORMS,
            |e, a| conv_named(e, a, 1),
        ),
        &["f32[2,3,7], f32[4,3,3], None, 1, 'same'"],
    ),
    samples(
        composite(
            "conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, str padding='valid', int[2] dilation=1, int groups=1) -> Tensor",
            FORMS,
            |e, a| conv_named(e, a, 2),
        ),
        &["f32[2,3,6,5], f32[4,3,3,2], f32[4], 1, 'same'", "f32[2,3,6,5], f32[4,3,3,3], f32[4], 1, 'valid'"],
    ),
    composite(
        "conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, str padding='valid', int[3] dilation=1, int groups=1) -> Tensor",
        FORMS,
        |e, a| conv_named(e, a, 3),
    ),
    samples(
        composite(
            "conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, int[1] padding=0, int[1] output_padding=0, int groups=1, int[1] dilation=1) -> Tensor",
            FORMS,
            |e, a| conv_transposed(e, a, 1),
        ),
        &["f32[2,3,5], f32[3,4,3], f32[4], 2"],
    ),
    samples(
        composite(
            "conv_transpose2d(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, int[2] output_padding=0, int groups=1, int[2] dilation=1) -> Tensor",
            FORMS,
            |e, a| conv_transposed(e, a, 2),
        ),
        &["f32[1,4,3,3], f32[4,2,3,3], f32[4], 2, 1, 1, 2"],
    ),
    composite(
        "conv_transpose3d(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, int[3] padding=0, int[3] output_padding=0, int groups=1, int[3] dilation=1) -> Tensor",
        FORMS,
        |e, a| conv_transposed(e, a, 3),
    ),
    samples(
        kernel(
            "im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, int[2] stride) -> Tensor",
            Forms::INTERNAL,
            Family::Convolution,
            im2col_rule,
            Kernel(&(im2col as KernelFn)),
        ),
        &["f32[1,2,4,4], [2,2], [1,1], [0,0], [1,1]"],
    ),
    samples(
        composite(
            "unfold.nn(Tensor input, int[2] kernel_size, int[2] dilation=1, int[2] padding=0, int[2] stride=1) -> Tensor",
            Forms::NN,
            |e, a| {
                let x = *args::tensor(a, 0)?;
                if e.facts(x).rank() == 4 {
                    return call(e, "im2col", a);
                }
                let batch = one(e, "unsqueeze", &[t(x), i(0)])?;
                let mut all = a.to_vec();
                all[0] = t(batch);
                let columns = one(e, "im2col", &all)?;
                call(e, "squeeze.dim", &[t(columns), i(0)])
            },
        ),
        &["f32[1,2,4,4], 2", "f32[1,2,5,5], [3,2], 1, 1, 2"],
    ),
];

/// With a batch dim added where there is none, and taken away again.
fn batched(
    e: &mut dyn Emitter,
    a: &[Arg<Val>],
    spatial: usize,
    name: &str,
    run: impl FnOnce(&mut dyn Emitter, Val) -> Result<Val, OpError>,
) -> Result<Vals, OpError> {
    let x = *args::tensor(a, 0)?;
    let facts = e.facts(x).clone();
    if facts.rank() != spatial + 1 && facts.rank() != spatial + 2 {
        return Err(OpError::runtime(format!(
            "Expected {}D (unbatched) or {}D (batched) input to {name}, but got input of size: {}",
            spatial + 1,
            spatial + 2,
            rules::shown(&facts.dims)
        )));
    }
    let single = facts.rank() == spatial + 1;
    let x = if single { one(e, "unsqueeze", &[t(x), i(0)])? } else { x };
    let out = run(e, x)?;
    Ok(smallvec![if single { one(e, "squeeze.dim", &[t(out), i(0)])? } else { out }])
}

fn conv(e: &mut dyn Emitter, a: &[Arg<Val>], spatial: usize) -> Result<Vals, OpError> {
    batched(e, a, spatial, &format!("conv{spatial}d"), |e, x| {
        let none = super::call::ints(vec![0; spatial]);
        one(
            e,
            "convolution",
            &[t(x), a[1].clone(), a[2].clone(), a[3].clone(), a[4].clone(), a[5].clone(), Arg::Bool(false), none, a[6].clone()],
        )
    })
}

fn conv_transposed(e: &mut dyn Emitter, a: &[Arg<Val>], spatial: usize) -> Result<Vals, OpError> {
    batched(e, a, spatial, &format!("conv_transpose{spatial}d"), |e, x| {
        one(
            e,
            "convolution",
            &[t(x), a[1].clone(), a[2].clone(), a[3].clone(), a[4].clone(), a[7].clone(), Arg::Bool(true), a[5].clone(), a[6].clone()],
        )
    })
}

fn conv_named(e: &mut dyn Emitter, a: &[Arg<Val>], spatial: usize) -> Result<Vals, OpError> {
    let mut all = a.to_vec();
    all[4] = super::call::ints(vec![0; spatial]);
    match args::text(a, 4) {
        "valid" => {}
        "same" => {
            if args::ints(a, 3)?.iter().any(|s| *s != 1) {
                return Err(OpError::runtime("padding='same' is not supported for strided convolutions"));
            }
            let (weight, dilation) = (e.facts(*args::tensor(a, 1)?).clone(), args::ints(a, 5)?);
            let mut before = vec![];
            let mut uneven = vec![0; 2 * spatial];
            for d in 0..spatial {
                let total = dilation[d] * (e.dims().number(weight.dims[d + 2])? - 1);
                before.push(total / 2);
                uneven[2 * (spatial - 1 - d) + 1] = total % 2;
            }
            if uneven.iter().any(|n| *n != 0) {
                let padded = one(e, "constant_pad_nd", &[a[0].clone(), super::call::ints(uneven), f(0.0)])?;
                all[0] = t(padded);
            }
            all[4] = super::call::ints(before);
        }
        other => return Err(OpError::runtime(format!("Invalid padding string: '{other}'"))),
    }
    conv(e, &all, spatial)
}

fn output_size(table: &mut dyn Dims, size: Dim, kernel: Dim, stride: i64, padding: i64, dilation: i64) -> Dim {
    let reach = table.calc(DimOp::Sub, kernel, Dim::Is(1));
    let reach = table.calc(DimOp::Mul, reach, Dim::Is(dilation));
    let room = table.calc(DimOp::Add, size, Dim::Is(2 * padding - 1));
    let room = table.calc(DimOp::Sub, room, reach);
    let steps = table.calc(DimOp::FloorDiv, room, Dim::Is(stride));
    table.calc(DimOp::Add, steps, Dim::Is(1))
}

fn convolution_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let (x, w) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
    let (stride, padding, dilation, extra) = (args::ints(a, 3)?, args::ints(a, 4)?, args::ints(a, 5)?, args::ints(a, 7)?);
    let (transposed, groups) = (args::flag(a, 6), args::int(a, 8)?);
    let spatial = x.rank().saturating_sub(2);
    if w.rank() != x.rank() {
        return Err(OpError::runtime(format!(
            "expected weight to be at least {} at dimension 0, but got weight of size {} instead",
            groups,
            rules::shown(&w.dims)
        )));
    }
    if groups <= 0 {
        return Err(OpError::runtime("non-positive groups is not supported"));
    }
    if stride.iter().any(|s| *s <= 0) {
        return Err(OpError::runtime("non-positive stride is not supported"));
    }
    if padding.iter().any(|p| *p < 0) {
        return Err(OpError::runtime("negative padding is not supported"));
    }
    let kinds = |d: DType| match d {
        DType::F32 => "float",
        DType::F64 => "double",
        other => other.scalar_name(),
    };
    if x.dtype != w.dtype {
        return Err(OpError::runtime(format!("Input type ({}) and bias type ({}) should be the same", kinds(x.dtype), kinds(w.dtype))));
    }
    let channels = if transposed { w.dims[0] } else { cx.dims.calc(DimOp::Mul, w.dims[1], Dim::Is(groups)) };
    if !cx.dims.decide(Rel::Eq, x.dims[1], channels)? {
        return Err(OpError::runtime(format!(
            "Given {}groups={groups}, weight of size {}, expected input{} to have {channels} channels, but got {} channels instead",
            if transposed { "transposed=1, " } else { "" },
            rules::shown(&w.dims),
            rules::shown(&x.dims),
            x.dims[1]
        )));
    }
    let mut dims: Shape = smallvec![x.dims[0]];
    if transposed {
        dims.push(cx.dims.calc(DimOp::Mul, w.dims[1], Dim::Is(groups)));
        for d in 0..spatial {
            let size = cx.dims.calc(DimOp::Sub, x.dims[d + 2], Dim::Is(1));
            let size = cx.dims.calc(DimOp::Mul, size, Dim::Is(stride[d]));
            let reach = cx.dims.calc(DimOp::Sub, w.dims[d + 2], Dim::Is(1));
            let reach = cx.dims.calc(DimOp::Mul, reach, Dim::Is(dilation[d]));
            let size = cx.dims.calc(DimOp::Add, size, reach);
            dims.push(cx.dims.calc(DimOp::Add, size, Dim::Is(1 + extra[d] - 2 * padding[d])));
        }
    } else {
        dims.push(w.dims[0]);
        let (mut padded, mut fits) = (vec![], true);
        for d in 0..spatial {
            let size = cx.dims.calc(DimOp::Add, x.dims[d + 2], Dim::Is(2 * padding[d]));
            let reach = cx.dims.calc(DimOp::Sub, w.dims[d + 2], Dim::Is(1));
            let reach = cx.dims.calc(DimOp::Mul, reach, Dim::Is(dilation[d]));
            fits = fits && cx.dims.decide(Rel::Lt, reach, size)?;
            padded.push(size.to_string());
            dims.push(output_size(cx.dims, x.dims[d + 2], w.dims[d + 2], stride[d], padding[d], dilation[d]));
        }
        if !fits {
            let kernel: Vec<String> = w.dims[2..].iter().map(Dim::to_string).collect();
            return Err(OpError::runtime(format!(
                "Calculated padded input size per channel: ({}). Kernel size: ({}). Kernel size can't be greater than actual input size",
                padded.join(" x "),
                kernel.join(" x ")
            )));
        }
    }
    rules::fresh(cx, x, x.dtype, dims)
}

/// Three spatial dims, of which leading ones may be trivial.
#[derive(Clone, Copy)]
struct Geometry {
    /// Sizes of the image that windows move over.
    image: [usize; 3],
    kernel: [usize; 3],
    /// Number of windows.
    windows: [usize; 3],
    stride: [usize; 3],
    padding: [usize; 3],
    dilation: [usize; 3],
}

fn three(values: &[i64], missing: usize) -> [usize; 3] {
    let mut out = [missing; 3];
    let lead = 3 - values.len().min(3);
    values.iter().take(3).enumerate().for_each(|(k, v)| out[lead + k] = (*v).max(0) as usize);
    out
}

impl Geometry {
    /// Whether columns are the image itself.
    fn is_trivial(&self) -> bool {
        self.kernel == [1; 3] && self.stride == [1; 3] && self.padding == [0; 3]
    }

    /// Calls `at(column element, image element)` for every pair that touch, over `channels` channels.
    fn pairs(&self, channels: usize, mut at: impl FnMut(usize, usize)) {
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

fn convolved<T: Real>(workers: &Workers, x: &[T], w: &[T], bias: Option<&[T]>, shape: &Shapes, out: &mut [T]) -> Result<(), OpError> {
    let Shapes { batch, groups, inputs, outputs, geometry, transposed } = *shape;
    let (image, windows, kernel) =
        (geometry.image.iter().product::<usize>(), geometry.windows.iter().product::<usize>(), geometry.kernel.iter().product::<usize>());
    let (per_input, per_output) = if transposed { (windows, image) } else { (image, windows) };
    let side = if transposed { outputs } else { inputs };
    let mut columns = vec![T::zero(); if geometry.is_trivial() { 0 } else { side * kernel * windows }];
    for n in 0..batch {
        for g in 0..groups {
            let x = &x[(n * groups + g) * inputs * per_input..][..inputs * per_input];
            let w = &w[g * inputs * outputs * kernel..][..inputs * outputs * kernel];
            let out = &mut out[(n * groups + g) * outputs * per_output..][..outputs * per_output];
            if let Some(bias) = bias {
                out.chunks_mut(per_output.max(1)).zip(&bias[g * outputs..]).for_each(|(o, b)| o.fill(*b));
            }
            let matrix =
                |elements, rows, columns| Matrix { elements, offset: 0, rows, columns, row_stride: columns as i64, column_stride: 1 };
            if !transposed {
                let image: &[T] = if geometry.is_trivial() {
                    x
                } else {
                    columns.fill(T::zero());
                    geometry.pairs(inputs, |c, i| columns[c] = x[i]);
                    &columns
                };
                multiply(workers, matrix(w, outputs, inputs * kernel), matrix(image, inputs * kernel, windows), out, bias.is_some())?;
                continue;
            }
            // The weight is inputs × (outputs · kernel); its transpose times the input gives columns, which are added up.
            let turned = Matrix {
                elements: w,
                offset: 0,
                rows: outputs * kernel,
                columns: inputs,
                row_stride: 1,
                column_stride: (outputs * kernel) as i64,
            };
            if geometry.is_trivial() {
                multiply(workers, turned, matrix(x, inputs, windows), out, bias.is_some())?;
                continue;
            }
            multiply(workers, turned, matrix(x, inputs, windows), &mut columns, false)?;
            geometry.pairs(outputs, |c, i| out[i] = out[i] + columns[c]);
        }
    }
    Ok(())
}

/// Sizes of a convolution; channels are per group.
#[derive(Clone, Copy)]
struct Shapes {
    batch: usize,
    groups: usize,
    inputs: usize,
    outputs: usize,
    geometry: Geometry,
    transposed: bool,
}

fn convolution(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let (x, w) = (args::tensor(a, 0)?, args::tensor(a, 1)?);
    let sizes: crate::layout::Sizes = facts[0].dims.iter().map(|d| d.known().ok_or(OpError::DataDependent)).collect::<Result<_, _>>()?;
    let (transposed, groups) = (args::flag(a, 6), args::int(a, 8)? as usize);
    let (inner, outer) = (&x.sizes()[2..], &sizes[2..]);
    let geometry = Geometry {
        image: three(if transposed { outer } else { inner }, 1),
        windows: three(if transposed { inner } else { outer }, 1),
        kernel: three(&w.sizes()[2..], 1),
        stride: three(&args::ints(a, 3)?, 1),
        padding: three(&args::ints(a, 4)?, 0),
        dilation: three(&args::ints(a, 5)?, 1),
    };
    let shapes = Shapes {
        batch: sizes[0] as usize,
        groups,
        inputs: x.sizes()[1] as usize / groups,
        outputs: sizes[1] as usize / groups,
        geometry,
        transposed,
    };
    let (wide, weight) = (write::widened(cx, x)?, write::widened(cx, w)?);
    let bias = args::optional_tensor(a, 2).map(|b| write::widened(cx, b)).transpose()?;
    let workers = cx.workers();
    let out = with_real!(wide.dtype(), T => {
        let bias = bias.as_ref().map(|b| b.elements::<T>()).transpose()?;
        let (x, w) = (wide.elements::<T>()?, weight.elements::<T>()?);
        Tensor::try_build(wide.dtype(), &sizes, |out: &mut [T]| convolved(&workers, &x, &w, bias.as_deref(), &shapes, out))?
    });
    Ok(vec![write::cast(cx, &out, x.dtype())?])
}

fn im2col_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let x = *args::tensor(a, 0)?;
    let (kernel, dilation, padding, stride) = (args::ints(a, 1)?, args::ints(a, 2)?, args::ints(a, 3)?, args::ints(a, 4)?);
    if x.rank() != 4 {
        return Err(OpError::runtime(format!(
            "Expected 3D or 4D (batch mode) tensor for input with possibly 0 batch size, but got: {}",
            rules::shown(&x.dims)
        )));
    }
    let mut count = Dim::Is(1);
    for d in 0..2 {
        let windows = output_size(cx.dims, x.dims[d + 2], Dim::Is(kernel[d]), stride[d], padding[d], dilation[d]);
        count = cx.dims.calc(DimOp::Mul, count, windows);
    }
    let rows = cx.dims.calc(DimOp::Mul, x.dims[1], Dim::Is(kernel[0] * kernel[1]));
    rules::fresh(cx, x, x.dtype, smallvec![x.dims[0], rows, count])
}

fn im2col(_: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?.contiguous()?;
    let (kernel, dilation, padding, stride) = (args::ints(a, 1)?, args::ints(a, 2)?, args::ints(a, 3)?, args::ints(a, 4)?);
    let image = &x.sizes()[2..];
    let windows: Vec<i64> = (0..2).map(|d| (image[d] + 2 * padding[d] - dilation[d] * (kernel[d] - 1) - 1) / stride[d] + 1).collect();
    let geometry = Geometry {
        image: three(image, 1),
        windows: three(&windows, 1),
        kernel: three(&kernel, 1),
        stride: three(&stride, 1),
        padding: three(&padding, 0),
        dilation: three(&dilation, 1),
    };
    let sizes: crate::layout::Sizes = facts[0].dims.iter().map(|d| d.known().ok_or(OpError::DataDependent)).collect::<Result<_, _>>()?;
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
