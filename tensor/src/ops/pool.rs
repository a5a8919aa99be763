//! Pooling over windows of one, two and three spatial dims.

use super::{
    args,
    call::{call, i, one, t},
    define::{close, composite, gradient, kernel, refusing, samples},
    gradient::window::{by_transpose, of_greatest, of_transpose},
    refusal::windows,
    rules,
};
use crate::{Context, KernelFn, Tensor, element::Real, layout::Sizes, with_real, write};
use smallvec::smallvec;
use taipan_ir::{
    Arg, DType, Dim, DimOp, Emitter, Facts, Op, OpError, Rel, Shape, Val,
    facts::row_major,
    op::{FactsList, Family, Forms, Kernel, RuleContext, Vals},
};

const FORMS: Forms = Forms::FUNCTION.or(Forms::NN);

macro_rules! pools {
    ($($n:literal $ints:literal $max:literal $avg:literal $shrink:literal ($($grow:literal)?);)*) => {
        &[$(
            samples(
                refusing(composite(
                    concat!("max_pool", $n, "d.nn(Tensor input, ", $ints, " kernel_size, ", $ints, "? stride=None, ", $ints, " padding=0, ", $ints, " dilation=1, bool ceil_mode=False, bool return_indices=False) -> Tensor"),
                    FORMS,
                    |e, a| {
                        if args::flag(a, 6) {
                            return Err(OpError::not_implemented(concat!("max_pool", $n, "d(return_indices=True)")));
                        }
                        let found = pooled(e, a, $n, "_max_pool", &[a[1].clone(), stride(a)?, a[3].clone(), a[4].clone(), a[5].clone()])?;
                        Ok(smallvec![found[0]])
                    },
                ), windows::max_pool::<$n>),
                &[$max],
            ),
            samples(
                refusing(composite(
                    concat!("max_pool", $n, "d_with_indices(Tensor input, ", $ints, " kernel_size, ", $ints, "? stride=None, ", $ints, " padding=0, ", $ints, " dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)"),
                    FORMS,
                    |e, a| pooled(e, a, $n, "_max_pool", &[a[1].clone(), stride(a)?, a[3].clone(), a[4].clone(), a[5].clone()]),
                ), windows::max_pool::<$n>),
                &[],
            ),
            samples(
                refusing(composite(
                    concat!("avg_pool", $n, "d.nn(Tensor input, ", $ints, " kernel_size, ", $ints, "? stride=None, ", $ints, " padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor"),
                    FORMS,
                    |e, a| pooled(e, a, $n, "_avg_pool", &[a[1].clone(), stride(a)?, a[3].clone(), a[4].clone(), a[5].clone(), a[6].clone()]),
                ), windows::avg_pool::<$n>),
                &[$avg],
            ),
            samples(
                refusing(composite(
                    concat!("adaptive_avg_pool", $n, "d.nn(Tensor input, ", $ints, " output_size) -> Tensor"),
                    FORMS,
                    |e, a| pooled(e, a, $n, "_adaptive_avg_pool", &a[1..2]),
                ), windows::adaptive_avg::<$n>),
                &[$shrink],
            ),
            samples(
                refusing(composite(
                    concat!("adaptive_max_pool", $n, "d(Tensor self, ", $ints, " output_size) -> (Tensor, Tensor)"),
                    FORMS,
                    |e, a| pooled(e, a, $n, "_adaptive_max_pool", &a[1..2]),
                ), windows::adaptive_max::<$n>),
                &[$($grow)?],
            ),
        )*]
    };
}

/// The forms of `torch.nn.functional`.
pub static FUNCTIONAL: &[Op] = pools! {
    1 "int[1]" "f32[2,3,7], 2" "f32[2,3,7], 3, 2, 1" "f32[2,3,7], 3" ("f32[2,3,7], 3");
    2 "int[2]" "f32[2,3,6,5], 2, 2, 1" "f32[2,3,6,5], 2" "f32[2,3,6,5], [3,2]" ();
    3 "int[3]" "f32[1,2,4,4,4], 2" "f32[1,2,4,4,4], 2" "f32[1,2,4,4,4], 2" ();
};

/// The op tables of this file.
pub static OPS: &[Op] = &[
    gradient(
        kernel(
            "_max_pool(Tensor self, int[] kernel_size, int[] stride, int[] padding, int[] dilation, bool ceil_mode) -> (Tensor values, Tensor indices)",
            Forms::INTERNAL,
            Family::Pool,
            |cx, a| {
                let mut out = windows_rule(cx, a, Some(4), 5)?;
                let indices = Facts { dtype: DType::I64, ..out[0].clone() };
                out.push(indices);
                Ok(out)
            },
            Kernel(&(max_pool as KernelFn)),
        ),
        "indices",
        of_greatest,
    ),
    close(gradient(
        kernel(
            "_avg_pool(Tensor self, int[] kernel_size, int[] stride, int[] padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor",
            Forms::INTERNAL,
            Family::Pool,
            |cx, a| windows_rule(cx, a, None, 4),
            Kernel(&(avg_pool as KernelFn)),
        ),
        "",
        |b| by_transpose(b, "_avg_pool_transpose"),
    )),
    close(gradient(
        kernel(
            "_adaptive_avg_pool(Tensor self, int[] output_size) -> Tensor",
            Forms::INTERNAL,
            Family::Pool,
            adaptive_rule,
            Kernel(&(adaptive_avg as KernelFn)),
        ),
        "",
        |b| by_transpose(b, "_adaptive_avg_pool_transpose"),
    )),
    gradient(
        kernel(
            "_adaptive_max_pool(Tensor self, int[] output_size) -> (Tensor values, Tensor indices)",
            Forms::INTERNAL,
            Family::Pool,
            |cx, a| {
                let mut out = adaptive_rule(cx, a)?;
                let indices = Facts { dtype: DType::I64, ..out[0].clone() };
                out.push(indices);
                Ok(out)
            },
            Kernel(&(adaptive_max as KernelFn)),
        ),
        "indices",
        of_greatest,
    ),
    close(gradient(
        kernel(
            "_avg_pool_transpose(Tensor grad, int[] input_size, int[] kernel_size, int[] stride, int[] padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor",
            Forms::INTERNAL,
            Family::Pool,
            image_rule,
            Kernel(&(avg_pool_transpose as KernelFn)),
        ),
        "",
        |b| of_transpose(b, "_avg_pool"),
    )),
    close(gradient(
        kernel(
            "_adaptive_avg_pool_transpose(Tensor grad, int[] input_size, int[] output_size) -> Tensor",
            Forms::INTERNAL,
            Family::Pool,
            image_rule,
            Kernel(&(adaptive_avg_transpose as KernelFn)),
        ),
        "",
        |b| of_transpose(b, "_adaptive_avg_pool"),
    )),
];

/// The stride, which is the kernel's size where none was given.
fn stride(a: &[Arg<Val>]) -> Result<Arg<Val>, OpError> {
    Ok(match &a[2] {
        Arg::Ints(s) if !s.is_empty() => a[2].clone(),
        _ => a[1].clone(),
    })
}

fn pooled(e: &mut dyn Emitter, a: &[Arg<Val>], spatial: usize, name: &str, rest: &[Arg<Val>]) -> Result<Vals, OpError> {
    let x = *args::tensor(a, 0)?;
    let rank = e.facts(x).rank();
    if rank != spatial + 1 && rank != spatial + 2 {
        return Err(OpError::runtime(format!(
            "Expected {}D or {}D (batch mode) tensor with optional 0 dim batch size for input, but got:{}",
            spatial + 1,
            spatial + 2,
            rules::shown(&e.facts(x).dims.clone())
        )));
    }
    let single = rank == spatial + 1;
    let x = if single { one(e, "unsqueeze", &[t(x), i(0)])? } else { x };
    let all: Vec<Arg<Val>> = std::iter::once(t(x)).chain(rest.iter().cloned()).collect();
    let out = call(e, name, &all)?;
    if !single {
        return Ok(out);
    }
    out.iter().map(|v| one(e, "squeeze.dim", &[t(*v), i(0)])).collect()
}

fn windows_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>], dilation: Option<usize>, ceil: usize) -> Result<FactsList, OpError> {
    let x = *args::tensor(a, 0)?;
    let (kernel, stride, padding) = (args::ints(a, 1)?, args::ints(a, 2)?, args::ints(a, 3)?);
    let dilated = dilation.is_some();
    let dilation = dilation.map_or(Ok(vec![1; kernel.len()]), |k| args::ints(a, k))?;
    if kernel.iter().zip(&padding).any(|(k, p)| *p < 0 || p * 2 > *k) {
        return Err(OpError::runtime(format!(
            "pad should be at most half of effective kernel size, but got pad={}, kernel_size={} and dilation={}",
            padding[0], kernel[0], dilation[0]
        )));
    }
    if stride.contains(&0) {
        return Err(OpError::runtime("stride should not be zero"));
    }
    let mut dims = x.dims.clone();
    for d in 0..kernel.len() {
        let reach = dilation[d] * (kernel[d] - 1) + 1;
        let room = cx.dims.calc(DimOp::Add, x.dims[d + 2], Dim::Is(2 * padding[d] - reach));
        let up = if args::flag(a, ceil) { stride[d] - 1 } else { 0 };
        let room_up = cx.dims.calc(DimOp::Add, room, Dim::Is(up));
        let steps = cx.dims.calc(DimOp::FloorDiv, room_up, Dim::Is(stride[d]));
        let mut count = cx.dims.calc(DimOp::Add, steps, Dim::Is(1));
        if args::flag(a, ceil) {
            // The last window must begin inside the image or the padding before it.
            let start = cx.dims.calc(DimOp::Mul, steps, Dim::Is(stride[d]));
            let end = cx.dims.calc(DimOp::Add, x.dims[d + 2], Dim::Is(padding[d]));
            if !cx.dims.decide(Rel::Lt, start, end)? {
                count = steps;
            }
        }
        if !cx.dims.decide(Rel::Lt, Dim::Is(0), count)? {
            let shown = |s: &[Dim]| s.iter().map(Dim::to_string).collect::<Vec<_>>().join("x");
            dims[d + 2] = count;
            return Err(OpError::runtime(format!(
                "Given input size: ({}). Calculated output size: ({}). Output size is too small",
                shown(&x.dims[1..]),
                shown(&dims[1..])
            )));
        }
        dims[d + 2] = count;
    }
    // Of volumes only those of the greatest elements keep their channels innermost.
    if dilated { rules::image(cx, &[x], x.dtype, dims) } else { flat_image(cx, x, dims) }
}

/// As [`rules::image`] for images, and for sequences as images of one row; volumes lie row by row.
fn flat_image(cx: &mut RuleContext<'_>, x: &Facts, dims: Shape) -> Result<FactsList, OpError> {
    if x.rank() == 4 {
        return rules::image(cx, &[x], x.dtype, dims);
    }
    let mut out = rules::fresh(cx, x, x.dtype, dims)?;
    if x.rank() == 3 && row_major(cx.dims, &x.dims)? != x.strides {
        let (mut image, mut sizes) = (x.clone(), out[0].dims.clone());
        let row = cx.dims.calc(DimOp::Mul, x.dims[2], x.strides[2]);
        image.dims.insert(2, Dim::Is(1));
        image.strides.insert(2, row);
        sizes.insert(2, Dim::Is(1));
        if rules::is_channels_last(cx.dims, &image)? {
            out[0].strides = rules::channels_last(cx.dims, &sizes);
            out[0].strides.remove(2);
        }
    }
    Ok(out)
}

fn adaptive_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let x = *args::tensor(a, 0)?;
    let mut dims = x.dims.clone();
    for (d, n) in args::dims(a, 1)?.iter().enumerate() {
        dims[d + 2] = *n;
    }
    flat_image(cx, x, dims)
}

/// The places of one window along one dim: those inside the image, and how many there are with the padding.
struct Window {
    places: Vec<usize>,
    with_padding: usize,
}

fn regular(size: i64, count: i64, kernel: i64, stride: i64, padding: i64, dilation: i64) -> Vec<Window> {
    (0..count)
        .map(|w| {
            let start = w * stride - padding;
            let places = (0..kernel).map(|k| start + k * dilation).filter(|p| (0..size).contains(p)).map(|p| p as usize).collect();
            let end = (start + kernel).min(size + padding);
            Window { places, with_padding: (end - start).max(0) as usize }
        })
        .collect()
}

fn adaptive(size: i64, count: i64) -> Vec<Window> {
    (0..count)
        .map(|w| {
            let places: Vec<usize> = (w * size / count..((w + 1) * size + count - 1) / count).map(|p| p as usize).collect();
            let with_padding = places.len();
            Window { places, with_padding }
        })
        .collect()
}

/// Per spatial dim the windows over it; missing leading dims have one window of one place.
/// The arguments begin with number `first`: size, stride, padding and, where `dilated`, dilation.
fn windows(a: &[Arg<Tensor>], first: usize, dilated: bool, image: &[i64], sizes: &[i64]) -> Result<[Vec<Window>; 3], OpError> {
    let kernel = args::ints(a, first)?;
    let (stride, padding) = (args::ints(a, first + 1)?, args::ints(a, first + 2)?);
    let dilation = if dilated { args::ints(a, first + 3)? } else { vec![1; kernel.len()] };
    let lead = 3 - kernel.len();
    Ok(std::array::from_fn(|d| match d.checked_sub(lead) {
        Some(k) => regular(image[k + 2], sizes[k + 2], kernel[k], stride[k], padding[k], dilation[k]),
        None => adaptive(1, 1),
    }))
}

fn adaptive_windows(image: &[i64], sizes: &[i64]) -> [Vec<Window>; 3] {
    let lead = 5 - sizes.len();
    std::array::from_fn(|d| match d.checked_sub(lead) {
        Some(k) => adaptive(image[k + 2], sizes[k + 2]),
        None => adaptive(1, 1),
    })
}

fn known(facts: &Facts) -> Result<Sizes, OpError> {
    facts.dims.iter().map(|d| d.known().ok_or(OpError::DataDependent)).collect()
}

/// Calls `fold(image of one channel, places of one window, its size with padding)` for each result.
fn pool<T: Real, R>(
    x: &Tensor,
    windows: &[Vec<Window>; 3],
    mut fold: impl FnMut(&[T], &mut dyn Iterator<Item = usize>, usize) -> R,
) -> Result<Vec<R>, OpError> {
    let elements = x.elements::<T>()?;
    let lead = 5 - x.rank();
    let size = |d: usize| d.checked_sub(lead).map_or(1, |k| x.sizes()[k + 2] as usize);
    let (height, width) = (size(1), size(2));
    let image = size(0) * height * width;
    let mut out = vec![];
    for channel in elements.chunks(image.max(1)) {
        for p in &windows[0] {
            for q in &windows[1] {
                for r in &windows[2] {
                    let mut places = p
                        .places
                        .iter()
                        .flat_map(|a| q.places.iter().flat_map(move |b| r.places.iter().map(move |c| (a * height + b) * width + c)));
                    out.push(fold(channel, &mut places, p.with_padding * q.with_padding * r.with_padding));
                }
            }
        }
    }
    Ok(out)
}

fn greatest<T: Real>(channel: &[T], places: &mut dyn Iterator<Item = usize>) -> (T, i64) {
    let mut best = (T::least(), -1);
    for p in places {
        if best.1 < 0 || channel[p] > best.0 || channel[p].is_nan() {
            best = (channel[p], p as i64);
        }
    }
    best
}

fn max_pool(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    greatest_of(cx, x, &known(&facts[0])?, |sizes| windows(a, 1, true, x.sizes(), sizes))
}

fn avg_pool(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let sizes = known(&facts[0])?;
    let windows = windows(a, 1, false, x.sizes(), &sizes)?;
    averaged(cx, x, &sizes, &windows, divisor(a, 5)?)
}

/// What a window's sum is divided by, from the number of its elements inside the image and with the padding.
fn divisor(a: &[Arg<Tensor>], include_padding: usize) -> Result<impl Fn(usize, usize) -> usize, OpError> {
    let (include, fixed) = (args::flag(a, include_padding), args::optional_int(a, include_padding + 1)?);
    Ok(move |inside, padded| fixed.map_or(if include { padded } else { inside }, |n| n as usize))
}

fn averaged(
    cx: &mut Context,
    x: &Tensor,
    sizes: &[i64],
    windows: &[Vec<Window>; 3],
    divisor: impl Fn(usize, usize) -> usize,
) -> Result<Vec<Tensor>, OpError> {
    let wide = write::widened(cx, x)?;
    let out = with_real!(wide.dtype(), T => {
        let means = pool::<T, _>(&wide, windows, |channel, places, padded| {
            let (mut sum, mut count) = (0 as T, 0);
            for p in places {
                sum += channel[p];
                count += 1;
            }
            sum / divisor(count, padded) as T
        })?;
        Tensor::from_slice(&means, sizes)?
    });
    Ok(vec![write::cast(cx, &out, x.dtype())?])
}

fn adaptive_avg(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let sizes = known(&facts[0])?;
    averaged(cx, x, &sizes, &adaptive_windows(x.sizes(), &sizes), |inside, _| inside)
}

fn adaptive_max(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    greatest_of(cx, x, &known(&facts[0])?, |sizes| Ok(adaptive_windows(x.sizes(), sizes)))
}

/// The greatest element of each window, and its place in the image.
fn greatest_of(
    cx: &mut Context,
    x: &Tensor,
    sizes: &[i64],
    windows: impl FnOnce(&[i64]) -> Result<[Vec<Window>; 3], OpError>,
) -> Result<Vec<Tensor>, OpError> {
    let windows = windows(sizes)?;
    let wide = write::widened(cx, x)?;
    let (values, indices) = with_real!(wide.dtype(), T => {
        let found = pool::<T, _>(&wide, &windows, |channel, places, _| greatest(channel, places))?;
        let (values, indices): (Vec<T>, Vec<i64>) = found.into_iter().unzip();
        (Tensor::from_slice(&values, sizes)?, indices)
    });
    Ok(vec![write::cast(cx, &values, x.dtype())?, Tensor::from_slice(&indices, sizes)?])
}

/// The facts of an image of the sizes that argument 1 says.
fn image_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let grad = *args::tensor(a, 0)?;
    rules::image(cx, &[grad], grad.dtype, args::dims(a, 1)?.into())
}

fn avg_pool_transpose(cx: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let (grad, image) = (args::tensor(a, 0)?, args::ints(a, 1)?);
    let windows = windows(a, 2, false, &image, grad.sizes())?;
    shared(cx, grad, &image, &windows, divisor(a, 6)?)
}

fn adaptive_avg_transpose(cx: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let (grad, image) = (args::tensor(a, 0)?, args::ints(a, 1)?);
    shared(cx, grad, &image, &adaptive_windows(&image, grad.sizes()), |inside, _| inside)
}

/// Images in which each element of `grad` is shared out over its window.
fn shared(
    cx: &mut Context,
    grad: &Tensor,
    sizes: &[i64],
    windows: &[Vec<Window>; 3],
    divisor: impl Fn(usize, usize) -> usize,
) -> Result<Vec<Tensor>, OpError> {
    let wide = write::widened(cx, grad)?;
    let lead = 5 - sizes.len();
    let size = |d: usize| d.checked_sub(lead).map_or(1, |k| sizes[k + 2] as usize);
    let (height, width) = (size(1), size(2));
    let image = size(0) * height * width;
    let out = with_real!(wide.dtype(), T => {
        let elements = wide.elements::<T>()?;
        let mut shares = elements.iter();
        Tensor::build(wide.dtype(), sizes, |out: &mut [T]| {
            for channel in out.chunks_mut(image.max(1)) {
                for (p, q) in windows[0].iter().flat_map(|p| windows[1].iter().map(move |q| (p, q))) {
                    for (r, element) in windows[2].iter().zip(&mut shares) {
                        let inside = p.places.len() * q.places.len() * r.places.len();
                        let share = *element / divisor(inside, p.with_padding * q.with_padding * r.with_padding) as T;
                        for (a, b) in p.places.iter().flat_map(|a| q.places.iter().map(move |b| (a, b))) {
                            r.places.iter().for_each(|c| channel[(a * height + b) * width + c] += share);
                        }
                    }
                }
            }
        })
    });
    Ok(vec![write::cast(cx, &out, grad.dtype())?])
}
