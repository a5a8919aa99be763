//! Convolutions of one, two and three spatial dims, and their transposes.

use super::{
    args,
    call::{f, i, one, t},
    columns::{Geometry, output_size, three},
    define::{composite, gradient, kernel, refusing, samples, ulps},
    gradient::window::{of_convolution, of_convolution_weight},
    matmul::{Matrix, multiply},
    refusal::windows,
    rules,
};
use crate::{Context, KernelFn, Tensor, context::Workers, element::Real, layout::Sizes, with_real, write};
use smallvec::smallvec;
use taipan_ir::{
    Arg, DType, Dim, DimOp, Emitter, Facts, Op, OpError, Rel, Shape, Val,
    op::{FactsList, Family, Forms, Kernel, RuleContext, Vals},
};

const FORMS: Forms = Forms::FUNCTION.or(Forms::NN);

/// The op tables of this file.
pub static OPS: &[Op] = &[
    ulps(
        gradient(
            refusing(
                kernel(
                    "convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, bool transposed, int[] output_padding, int groups) -> Tensor",
                    Forms::FUNCTION,
                    Family::Convolution,
                    convolution_rule,
                    Kernel(&(convolution as KernelFn)),
                ),
                windows::convolution,
            ),
            "input: weight; weight: input",
            of_convolution,
        ),
        &[(DType::F32, 64), (DType::F64, 64), (DType::F16, 2), (DType::BF16, 2)],
    ),
    samples(
        refusing(
            composite(
                "conv1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, int[1] padding=0, int[1] dilation=1, int groups=1) -> Tensor",
                FORMS,
                |e, a| conv(e, a, 1),
            ),
            windows::conv,
        ),
        &["f32[2,3,7], f32[4,3,3], f32[4]", "f32[3,7], f32[4,3,3], None, 2, 1"],
    ),
    samples(
        refusing(
            composite(
                "conv2d(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, int[2] dilation=1, int groups=1) -> Tensor",
                FORMS,
                |e, a| conv(e, a, 2),
            ),
            windows::conv,
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
        refusing(
            composite(
                "conv3d(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, int[3] padding=0, int[3] dilation=1, int groups=1) -> Tensor",
                FORMS,
                |e, a| conv(e, a, 3),
            ),
            windows::conv,
        ),
        &["f32[1,2,4,5,4], f32[3,2,2,3,2], f32[3]"],
    ),
    samples(
        refusing(
            composite(
                "conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, str padding='valid', int[1] dilation=1, int groups=1) -> Tensor",
                FORMS,
                |e, a| conv_named(e, a, 1),
            ),
            windows::conv,
        ),
        &["f32[2,3,7], f32[4,3,3], None, 1, 'same'"],
    ),
    samples(
        refusing(
            composite(
                "conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, str padding='valid', int[2] dilation=1, int groups=1) -> Tensor",
                FORMS,
                |e, a| conv_named(e, a, 2),
            ),
            windows::conv,
        ),
        &["f32[2,3,6,5], f32[4,3,3,2], f32[4], 1, 'same'", "f32[2,3,6,5], f32[4,3,3,3], f32[4], 1, 'valid'"],
    ),
    refusing(
        composite(
            "conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, str padding='valid', int[3] dilation=1, int groups=1) -> Tensor",
            FORMS,
            |e, a| conv_named(e, a, 3),
        ),
        windows::conv,
    ),
    samples(
        refusing(
            composite(
                "conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, int[1] padding=0, int[1] output_padding=0, int groups=1, int[1] dilation=1) -> Tensor",
                FORMS,
                |e, a| conv_transposed(e, a, 1),
            ),
            windows::conv_transposed,
        ),
        &["f32[2,3,5], f32[3,4,3], f32[4], 2"],
    ),
    samples(
        refusing(
            composite(
                "conv_transpose2d(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, int[2] output_padding=0, int groups=1, int[2] dilation=1) -> Tensor",
                FORMS,
                |e, a| conv_transposed(e, a, 2),
            ),
            windows::conv_transposed,
        ),
        &["f32[1,4,3,3], f32[4,2,3,3], f32[4], 2, 1, 1, 2"],
    ),
    refusing(
        composite(
            "conv_transpose3d(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, int[3] padding=0, int[3] output_padding=0, int groups=1, int[3] dilation=1) -> Tensor",
            FORMS,
            |e, a| conv_transposed(e, a, 3),
        ),
        windows::conv_transposed,
    ),
    samples(
        gradient(
            kernel(
                "_convolution_weight(Tensor grad, Tensor input, int[] kernel_size, int[] stride, int[] padding, int[] dilation, bool transposed, int[] output_padding, int groups) -> Tensor",
                Forms::INTERNAL,
                Family::Convolution,
                weight_rule,
                Kernel(&(weight_gradient as KernelFn)),
            ),
            "grad: input; input: grad",
            of_convolution_weight,
        ),
        &["f32[2,4,3,2], f32[2,2,5,4], [3,3], [1,1], [0,0], [1,1], False, [0,0], 1"],
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

/// The number for dim `d` of a list, of which one stands for all.
fn number(list: &[i64], d: usize) -> i64 {
    list.get(d).or(list.first()).copied().unwrap_or(0)
}

fn convolution_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let (x, w) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
    let (stride, padding, dilation, extra) = (args::ints(a, 3)?, args::ints(a, 4)?, args::ints(a, 5)?, args::ints(a, 7)?);
    let (transposed, groups) = (args::flag(a, 6), args::int(a, 8)?);
    let spatial = x.rank().saturating_sub(2);
    let mut dims: Shape = smallvec![x.dims[0]];
    if transposed {
        dims.push(cx.dims.calc(DimOp::Mul, w.dims[1], Dim::Is(groups)));
        for d in 0..spatial {
            let size = cx.dims.calc(DimOp::Sub, x.dims[d + 2], Dim::Is(1));
            let size = cx.dims.calc(DimOp::Mul, size, Dim::Is(number(&stride, d)));
            let reach = cx.dims.calc(DimOp::Sub, w.dims[d + 2], Dim::Is(1));
            let reach = cx.dims.calc(DimOp::Mul, reach, Dim::Is(number(&dilation, d)));
            let size = cx.dims.calc(DimOp::Add, size, reach);
            dims.push(cx.dims.calc(DimOp::Add, size, Dim::Is(1 + number(&extra, d) - 2 * number(&padding, d))));
        }
        if dims[2..].iter().any(|size| size.known().is_some_and(|size| size < 1)) {
            let shown = |sizes: &[Dim]| {
                let lead = if sizes.len() == 1 { "1 x " } else { "" };
                format!("{lead}{}", sizes.iter().map(Dim::to_string).collect::<Vec<_>>().join(" x "))
            };
            return Err(OpError::runtime(format!(
                "Given input size per channel: ({}). Calculated output size per channel: ({}). Output size is too small",
                shown(&x.dims[2..]),
                shown(&dims[2..])
            )));
        }
    } else {
        dims.push(w.dims[0]);
        let (mut padded, mut fits) = (vec![], true);
        for d in 0..spatial {
            let size = cx.dims.calc(DimOp::Add, x.dims[d + 2], Dim::Is(2 * number(&padding, d)));
            let reach = cx.dims.calc(DimOp::Sub, w.dims[d + 2], Dim::Is(1));
            let reach = cx.dims.calc(DimOp::Mul, reach, Dim::Is(number(&dilation, d)));
            fits = fits && cx.dims.decide(Rel::Lt, reach, size)?;
            padded.push(size.to_string());
            dims.push(output_size(cx.dims, x.dims[d + 2], w.dims[d + 2], number(&stride, d), number(&padding, d), number(&dilation, d)));
        }
        if !fits {
            let mut kernel = vec![];
            for (d, size) in w.dims[2..].iter().enumerate() {
                let gaps = cx.dims.calc(DimOp::Sub, *size, Dim::Is(1));
                let reach = cx.dims.calc(DimOp::Mul, gaps, Dim::Is(number(&dilation, d)));
                kernel.push(cx.dims.calc(DimOp::Add, reach, Dim::Is(1)).to_string());
            }
            return Err(OpError::runtime(format!(
                "Calculated padded input size per channel: ({}). Kernel size: ({}). Kernel size can't be greater than actual input size",
                padded.join(" x "),
                kernel.join(" x ")
            )));
        }
    }
    rules::image(cx, &[x, *args::tensor(a, 1)?], x.dtype, dims)
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

fn shapes(a: &[Arg<Tensor>], x: &Tensor, kernel: &[i64], sizes: &[i64]) -> Result<Shapes, OpError> {
    let (transposed, groups) = (args::flag(a, 6), args::int(a, 8)? as usize);
    let (inner, outer) = (&x.sizes()[2..], &sizes[2..]);
    let geometry = Geometry {
        image: three(if transposed { outer } else { inner }, 1),
        windows: three(if transposed { inner } else { outer }, 1),
        kernel: three(kernel, 1),
        stride: three(&args::ints(a, 3)?, 1),
        padding: three(&args::ints(a, 4)?, 0),
        dilation: three(&args::ints(a, 5)?, 1),
    };
    let (inputs, outputs) = (x.sizes()[1] as usize / groups, sizes[1] as usize / groups);
    Ok(Shapes { batch: sizes[0] as usize, groups, inputs, outputs, geometry, transposed })
}

fn convolution(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let (x, w) = (args::tensor(a, 0)?, args::tensor(a, 1)?);
    let sizes = known(&facts[0])?;
    let shapes = shapes(a, x, &w.sizes()[2..], &sizes)?;
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

fn known(facts: &Facts) -> Result<Sizes, OpError> {
    facts.dims.iter().map(|d| d.known().ok_or(OpError::DataDependent)).collect()
}

/// The facts of a convolution's weight, from those of the gradient of its result and of its input.
fn weight_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let (grad, x) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
    let (rows, channels) = if args::flag(a, 6) { (x, grad) } else { (grad, x) };
    let groups = Dim::Is(args::int(a, 8)?);
    let mut dims: Shape = smallvec![rows.dims[1], cx.dims.calc(DimOp::FloorDiv, channels.dims[1], groups)];
    dims.extend_from_slice(args::dims(a, 2)?);
    rules::fresh(cx, x, x.dtype, dims)
}

/// The sum over batch and windows of what each window held times the gradient of what it gave.
fn weight_gradient(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let (grad, x) = (args::tensor(a, 0)?, args::tensor(a, 1)?);
    let shapes = shapes(a, x, &args::ints(a, 2)?, grad.sizes())?;
    let (wide_grad, wide) = (write::widened(cx, grad)?, write::widened(cx, x)?);
    let workers = cx.workers();
    let out = with_real!(wide.dtype(), T => {
        let (grad, x) = (wide_grad.elements::<T>()?, wide.elements::<T>()?);
        Tensor::try_build(wide.dtype(), &known(&facts[0])?, |out: &mut [T]| match shapes.transposed {
            false => window_products(&workers, &grad, (shapes.outputs, shapes.inputs), &x, &shapes, out),
            true => window_products(&workers, &x, (shapes.inputs, shapes.outputs), &grad, &shapes, out),
        })?
    });
    Ok(vec![write::cast(cx, &out, x.dtype())?])
}

/// `out` += `values` · windows of `images`, transposed. `channels` are those of each, per group.
fn window_products<T: Real>(
    workers: &Workers,
    values: &[T],
    channels: (usize, usize),
    images: &[T],
    shape: &Shapes,
    out: &mut [T],
) -> Result<(), OpError> {
    let Shapes { batch, groups, geometry, .. } = *shape;
    let (image, windows, kernel) =
        (geometry.image.iter().product::<usize>(), geometry.windows.iter().product::<usize>(), geometry.kernel.iter().product::<usize>());
    let (rows, width) = (channels.0, channels.1 * kernel);
    let mut columns = vec![T::zero(); if geometry.is_trivial() { 0 } else { width * windows }];
    out.fill(T::zero());
    for block in 0..batch * groups {
        let values = &values[block * rows * windows..][..rows * windows];
        let images = &images[block * channels.1 * image..][..channels.1 * image];
        let held: &[T] = if geometry.is_trivial() {
            images
        } else {
            columns.fill(T::zero());
            geometry.pairs(channels.1, |c, i| columns[c] = images[i]);
            &columns
        };
        let left = Matrix { elements: values, offset: 0, rows, columns: windows, row_stride: windows as i64, column_stride: 1 };
        let right = Matrix { elements: held, offset: 0, rows: windows, columns: width, row_stride: 1, column_stride: windows as i64 };
        multiply(workers, left, right, &mut out[block % groups * rows * width..][..rows * width], true)?;
    }
    Ok(())
}
