//! `torch.fft`: Fourier transforms.
//!
//! The functions bring the input to its size, and are otherwise three kernels: from complex to complex numbers, from real ones, to real ones.

use super::{
    args,
    call::{call, cast, dims as dim_list, f, i, ints, one, t},
    define::{close, composite, constant, gradient, kernel, moves, samples},
    gradient::fourier::{of_c2c, of_c2r, of_r2c},
    rules::wrap_dim,
};
use crate::{Context, KernelFn, Tensor, complex::known, fourier::Spectrum, layout::Sizes, with_parts};
use rustfft::FftDirection;
use smallvec::smallvec;
use taipan_ir::{
    Arg, DType, Dim, Emitter, Facts, Op, OpError, Val,
    op::{Family, Forms, Kernel, RuleContext, Vals},
};

const FFT: Forms = Forms::FFT;

/// How results are scaled: not at all, by one over the root of the number of elements, by one over that number.
const NONE: i64 = 0;
const ORTHO: i64 = 1;
const WHOLE: i64 = 2;

/// A transform along one dim.
const fn along_one(schema: &'static str, rule: taipan_ir::op::CompositeRule, calls: &'static [&'static str]) -> Op {
    samples(composite(schema, FFT, rule), calls)
}

const ONE_COMPLEX: &[&str] =
    &["c64[2,5]", "c128[6,2], dim=0, norm='ortho'", "f32[2,8]", "f64[7], 10, norm='forward'", "c64[3,4].t, 3", "i64[6]"];
const ONE_REAL: &[&str] = &["f32[2,5]", "f64[6,2], dim=0, norm='ortho'", "f32[8], 5, norm='forward'", "f32[3,4].t, 11", "i64[6]"];
const SEVERAL: &[&str] =
    &["f32[2,3,4]", "c64[3,4,5], dim=[2,0], norm='ortho'", "c128[4,6], [3,8], norm='forward'", "f64[2,3,5].t, dim=[0,1]"];
const SEVERAL_REAL: &[&str] = &["f32[2,3,4]", "f64[3,4,5], dim=[2,0], norm='ortho'", "f32[4,6], [3,8], norm='forward'"];
const HALVES: &[&str] = &["c64[2,3]", "c128[4,5], norm='ortho'", "f32[3,4], norm='forward'"];

/// The op tables of this file.
pub static OPS: &[Op] = &[
    along_one("fft_fft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor", |e, a| whole(e, a, true), ONE_COMPLEX),
    along_one("fft_ifft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor", |e, a| whole(e, a, false), ONE_COMPLEX),
    along_one("fft_rfft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor", |e, a| half(e, a, "rfft", true), ONE_REAL),
    along_one("fft_ihfft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor", |e, a| half(e, a, "ihfft", false), ONE_REAL),
    along_one("fft_irfft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor", |e, a| to_real(e, a, false), ONE_COMPLEX),
    along_one("fft_hfft(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor", |e, a| to_real(e, a, true), ONE_COMPLEX),
    along_one("fft_fftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor", |e, a| whole_n(e, a, true), SEVERAL),
    along_one("fft_ifftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor", |e, a| whole_n(e, a, false), SEVERAL),
    along_one(
        "fft_rfftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
        |e, a| half_n(e, a, "rfftn", true),
        SEVERAL_REAL,
    ),
    along_one(
        "fft_ihfftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
        |e, a| half_n(e, a, "ihfftn", false),
        SEVERAL_REAL,
    ),
    along_one(
        "fft_irfftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
        |e, a| to_real_n(e, a, "irfftn", false),
        SEVERAL,
    ),
    along_one(
        "fft_hfftn(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
        |e, a| to_real_n(e, a, "hfftn", true),
        SEVERAL,
    ),
    along_one(
        "fft_fft2(Tensor self, int[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor",
        |e, a| call(e, "fft_fftn", a),
        SEVERAL,
    ),
    along_one(
        "fft_ifft2(Tensor self, int[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor",
        |e, a| call(e, "fft_ifftn", a),
        HALVES,
    ),
    along_one(
        "fft_rfft2(Tensor self, int[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor",
        |e, a| call(e, "fft_rfftn", a),
        &["f32[2,3,4]"],
    ),
    along_one(
        "fft_irfft2(Tensor self, int[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor",
        |e, a| call(e, "fft_irfftn", a),
        HALVES,
    ),
    along_one(
        "fft_hfft2(Tensor self, int[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor",
        |e, a| call(e, "fft_hfftn", a),
        HALVES,
    ),
    along_one(
        "fft_ihfft2(Tensor self, int[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor",
        |e, a| call(e, "fft_ihfftn", a),
        &["f32[2,3,4]"],
    ),
    constant(along_one(
        "fft_fftfreq(int n, float d=1.0, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        |e, a| {
            let n = args::int(a, 0)?;
            let (from, dtype) = (n.div_euclid(2), frequency_type(e, a, "fftfreq")?);
            let (up, down) = (range(e, 0, n - from, dtype)?, range(e, -from, 0, dtype)?);
            let all = one(e, "cat", &[Arg::Tensors(vec![up, down]), i(0)])?;
            scaled(e, all, a)
        },
        &["5", "6, 0.5", "4, dtype=f64"],
    )),
    constant(along_one(
        "fft_rfftfreq(int n, float d=1.0, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        |e, a| {
            let n = args::int(a, 0)?;
            let dtype = frequency_type(e, a, "rfftfreq")?;
            let all = range(e, 0, n.div_euclid(2) + 1, dtype)?;
            scaled(e, all, a)
        },
        &["5", "6, 0.5", "4, dtype=f64"],
    )),
    along_one("fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor", |e, a| shifted(e, a, 0), &["f32[2,3]", "c64[5], [0]"]),
    along_one("fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor", |e, a| shifted(e, a, 1), &["f32[2,3]", "c64[5], [0]"]),
    transform(
        "_fft_c2c(Tensor self, int[] dim, int normalization, bool forward) -> Tensor",
        |cx, a| {
            let x = *args::tensor(a, 0)?;
            expect_type(x, true)?;
            Ok(smallvec![spectrum(cx, x, &transformed(a, x.rank())?, false, x.dims.clone(), x.dtype)?])
        },
        Kernel(&(c2c as KernelFn)),
        of_c2c,
        &["c64[3,4], [1,0], 1, True", "c128[5], [0], 0, False"],
    ),
    transform(
        "_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor",
        |cx, a| {
            let x = *args::tensor(a, 0)?;
            expect_type(x, false)?;
            let dims = transformed(a, x.rank())?;
            let mut sizes = x.dims.clone();
            if let (Some(last), true) = (dims.last(), args::flag(a, 3)) {
                sizes[*last] = Dim::Is(cx.dims.number(sizes[*last])? / 2 + 1);
            }
            Ok(smallvec![spectrum(cx, x, &dims, true, sizes, x.dtype.complex())?])
        },
        Kernel(&(r2c as KernelFn)),
        of_r2c,
        &["f32[3,4], [1,0], 1, True", "f64[5], [0], 0, False"],
    ),
    transform(
        "_fft_c2r(Tensor self, int[] dim, int normalization, int last_dim_size) -> Tensor",
        |cx, a| {
            let x = *args::tensor(a, 0)?;
            expect_type(x, true)?;
            let dims = transformed(a, x.rank())?;
            let Some((last, others)) = dims.split_last() else { return Err(OpError::runtime("a transform to real numbers needs a dim")) };
            let whole = match others.is_empty() {
                true => x.clone(),
                false => spectrum(cx, x, others, false, x.dims.clone(), x.dtype)?,
            };
            let mut sizes = x.dims.clone();
            sizes[*last] = args::dim(a, 3)?;
            Ok(smallvec![spectrum(cx, &whole, &[*last], false, sizes, x.dtype.real())?])
        },
        Kernel(&(c2r as KernelFn)),
        of_c2r,
        &["c64[3,4], [0,1], 2, 6", "c128[5], [0], 0, 9"],
    ),
];

const fn transform(
    schema: &'static str,
    facts: taipan_ir::op::FactsRule,
    run: Kernel,
    rule: taipan_ir::gradient::GradientRule,
    calls: &'static [&'static str],
) -> Op {
    moves(close(samples(gradient(kernel(schema, Forms::INTERNAL, Family::Other, facts, run), "", rule), calls)))
}

/// The scaling that `norm` names.
fn scaling(norm: &str, forward: bool) -> Result<i64, OpError> {
    match norm {
        "" | "backward" => Ok(if forward { NONE } else { WHOLE }),
        "forward" => Ok(if forward { WHOLE } else { NONE }),
        "ortho" => Ok(ORTHO),
        other => Err(OpError::runtime(format!("Invalid normalization mode: \"{other}\""))),
    }
}

/// The value in a type that can be transformed.
fn promoted(e: &mut dyn Emitter, value: Val, complex: bool) -> Result<Val, OpError> {
    let own = e.facts(value).dtype;
    let mut dtype = if own.has_gradients() { own } else { e.default_float() };
    if dtype.is_half() {
        return Err(OpError::not_implemented(format!("Unsupported dtype {}", dtype.scalar_name())));
    }
    if complex {
        dtype = dtype.complex();
    }
    cast(e, value, dtype)
}

fn only_real(e: &dyn Emitter, value: Val, name: &str, wanted: &str) -> Result<(), OpError> {
    match e.facts(value).dtype {
        dtype if dtype.is_complex() => {
            Err(OpError::type_error(format!("{name} expects a {wanted} input tensor, but got {}", dtype.scalar_name())))
        }
        _ => Ok(()),
    }
}

fn check_points(n: i64) -> Result<(), OpError> {
    if n < 1 { Err(OpError::runtime(format!("Invalid number of data points ({n}) specified"))) } else { Ok(()) }
}

/// A dim argument, which a tensor without dims doesn't have.
fn existing_dim(dim: i64, rank: usize) -> Result<usize, OpError> {
    match rank {
        0 => Err(OpError::index(format!("Dimension specified as {dim} but tensor has no dimensions"))),
        _ => wrap_dim(dim, rank),
    }
}

/// The value cut, or filled up with zeros, to these sizes along these dims.
fn resized(e: &mut dyn Emitter, value: Val, dims: &[usize], sizes: &[i64]) -> Result<Val, OpError> {
    let rank = e.facts(value).rank();
    let mut padding = vec![0; 2 * rank];
    let mut value = value;
    for (d, size) in dims.iter().zip(sizes) {
        let own = e.facts(value).dims[*d];
        let own = e.dims().number(own)?;
        if own < *size {
            padding[2 * (rank - 1 - d) + 1] = size - own;
        } else if own > *size {
            value = one(e, "slice.Tensor", &[t(value), i(*d as i64), i(0), i(*size)])?;
        }
    }
    if padding.iter().all(|n| *n == 0) {
        return Ok(value);
    }
    one(e, "constant_pad_nd", &[t(value), ints(padding)])
}

/// The dim and the number of points of a transform along one dim. `points` gives the number from the size where none was asked for.
fn one_dim(e: &mut dyn Emitter, a: &[Arg<Val>], points: fn(i64) -> i64) -> Result<(Val, usize, i64), OpError> {
    let value = *args::tensor(a, 0)?;
    let dim = existing_dim(args::int(a, 2)?, e.facts(value).rank())?;
    let size = e.facts(value).dims[dim];
    let n = match args::optional_int(a, 1)? {
        Some(n) => n,
        None => points(e.dims().number(size)?),
    };
    check_points(n)?;
    Ok((value, dim, n))
}

/// `fft` and `ifft`.
fn whole(e: &mut dyn Emitter, a: &[Arg<Val>], forward: bool) -> Result<Vals, OpError> {
    let (value, dim, n) = one_dim(e, a, |size| size)?;
    let value = promoted(e, value, false)?;
    let value = resized(e, value, &[dim], &[n])?;
    let (dims, scale) = (ints([dim as i64]), i(scaling(args::text(a, 3), forward)?));
    if e.facts(value).dtype.is_complex() {
        return call(e, "_fft_c2c", &[t(value), dims, scale, Arg::Bool(forward)]);
    }
    let result = one(e, "_fft_r2c", &[t(value), dims, scale, Arg::Bool(false)])?;
    if forward { Ok(smallvec![result]) } else { call(e, "conj", &[t(result)]) }
}

/// `rfft` and `ihfft`.
fn half(e: &mut dyn Emitter, a: &[Arg<Val>], name: &str, forward: bool) -> Result<Vals, OpError> {
    only_real(e, *args::tensor(a, 0)?, name, "real")?;
    let (value, dim, n) = one_dim(e, a, |size| size)?;
    let value = promoted(e, value, false)?;
    let value = resized(e, value, &[dim], &[n])?;
    let scale = i(scaling(args::text(a, 3), forward)?);
    let result = one(e, "_fft_r2c", &[t(value), ints([dim as i64]), scale, Arg::Bool(true)])?;
    if forward { Ok(smallvec![result]) } else { call(e, "conj", &[t(result)]) }
}

/// `irfft` and `hfft`.
fn to_real(e: &mut dyn Emitter, a: &[Arg<Val>], forward: bool) -> Result<Vals, OpError> {
    let (value, dim, n) = one_dim(e, a, |size| 2 * (size - 1))?;
    let value = promoted(e, value, true)?;
    let mut value = resized(e, value, &[dim], &[n / 2 + 1])?;
    if forward {
        value = one(e, "conj", &[t(value)])?;
    }
    let scale = i(scaling(args::text(a, 3), forward)?);
    call(e, "_fft_c2r", &[t(value), ints([dim as i64]), scale, i(n)])
}

/// The dims and sizes of a transform along several.
struct Extent {
    dims: Vec<usize>,
    sizes: Vec<i64>,
    /// The last size as it was asked for.
    last: Option<i64>,
}

fn extent(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Extent, OpError> {
    let own = e.facts(*args::tensor(a, 0)?).dims.clone();
    let rank = own.len();
    let given = |k: usize| args::optional_dims(a, k).map(|_| args::ints(a, k)).transpose();
    let (shape, dims) = (given(1)?, given(2)?);
    let dims = match (dims, &shape) {
        (Some(dims), _) => {
            let dims: Vec<usize> = dims.iter().map(|d| existing_dim(*d, rank)).collect::<Result<_, _>>()?;
            let mut sorted = dims.clone();
            sorted.sort_unstable();
            if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
                return Err(OpError::runtime("FFT dims must be unique"));
            }
            if shape.as_ref().is_some_and(|shape| shape.len() != dims.len()) {
                return Err(OpError::runtime("When given, dim and shape arguments must have the same length"));
            }
            dims
        }
        (None, Some(shape)) if shape.len() > rank => {
            let text = format!("Got shape with {} values but input tensor only has {rank} dimensions.", shape.len());
            return Err(OpError::runtime(text));
        }
        (None, Some(shape)) => (rank - shape.len()..rank).collect(),
        (None, None) => (0..rank).collect(),
    };
    let mut sizes = vec![];
    for (k, d) in dims.iter().enumerate() {
        let size = match shape.as_ref().map(|shape| shape[k]).filter(|n| *n != -1) {
            Some(n) => n,
            None => e.dims().number(own[*d])?,
        };
        check_points(size)?;
        sizes.push(size);
    }
    let last = shape.and_then(|shape| shape.last().copied()).filter(|n| *n != -1);
    Ok(Extent { dims, sizes, last })
}

fn listed(dims: &[usize]) -> Arg<Val> {
    ints(dims.iter().map(|d| *d as i64))
}

/// `fftn` and `ifftn`.
fn whole_n(e: &mut dyn Emitter, a: &[Arg<Val>], forward: bool) -> Result<Vals, OpError> {
    let extent = extent(e, a)?;
    let value = promoted(e, *args::tensor(a, 0)?, true)?;
    let value = resized(e, value, &extent.dims, &extent.sizes)?;
    let scale = i(scaling(args::text(a, 3), forward)?);
    call(e, "_fft_c2c", &[t(value), listed(&extent.dims), scale, Arg::Bool(forward)])
}

fn at_least_one(name: &str, extent: &Extent) -> Result<(), OpError> {
    match extent.dims.is_empty() {
        true => Err(OpError::runtime(format!("{name} must transform at least one axis"))),
        false => Ok(()),
    }
}

/// `rfftn` and `ihfftn`.
fn half_n(e: &mut dyn Emitter, a: &[Arg<Val>], name: &str, forward: bool) -> Result<Vals, OpError> {
    only_real(e, *args::tensor(a, 0)?, name, "real-valued")?;
    let extent = extent(e, a)?;
    at_least_one(name, &extent)?;
    let value = promoted(e, *args::tensor(a, 0)?, false)?;
    let value = resized(e, value, &extent.dims, &extent.sizes)?;
    let scale = i(scaling(args::text(a, 3), forward)?);
    if forward {
        return call(e, "_fft_r2c", &[t(value), listed(&extent.dims), scale, Arg::Bool(true)]);
    }
    let (last, others) = extent.dims.split_at(extent.dims.len() - 1).swapped();
    let result = one(e, "_fft_r2c", &[t(value), listed(last), scale.clone(), Arg::Bool(true)])?;
    let result = one(e, "conj", &[t(result)])?;
    if others.is_empty() {
        return Ok(smallvec![result]);
    }
    call(e, "_fft_c2c", &[t(result), listed(others), scale, Arg::Bool(false)])
}

/// `irfftn` and `hfftn`.
fn to_real_n(e: &mut dyn Emitter, a: &[Arg<Val>], name: &str, forward: bool) -> Result<Vals, OpError> {
    let mut extent = extent(e, a)?;
    at_least_one(name, &extent)?;
    let own = extent.sizes.pop().unwrap_or(1);
    let n = extent.last.unwrap_or(2 * (own - 1));
    check_points(n)?;
    extent.sizes.push(n / 2 + 1);
    let value = promoted(e, *args::tensor(a, 0)?, true)?;
    let value = resized(e, value, &extent.dims, &extent.sizes)?;
    let scale = i(scaling(args::text(a, 3), forward)?);
    if !forward {
        return call(e, "_fft_c2r", &[t(value), listed(&extent.dims), scale, i(n)]);
    }
    let (last, others) = extent.dims.split_at(extent.dims.len() - 1).swapped();
    let value = match others.is_empty() {
        true => value,
        false => one(e, "_fft_c2c", &[t(value), listed(others), scale.clone(), Arg::Bool(true)])?,
    };
    let value = one(e, "conj", &[t(value)])?;
    call(e, "_fft_c2r", &[t(value), listed(last), scale, i(n)])
}

/// A pair the other way round.
trait Swapped {
    fn swapped(self) -> Self;
}
impl<T> Swapped for (T, T) {
    fn swapped(self) -> Self {
        (self.1, self.0)
    }
}

fn frequency_type(e: &dyn Emitter, a: &[Arg<Val>], name: &str) -> Result<DType, OpError> {
    let dtype = args::dtype(a, 2).unwrap_or(e.default_float());
    match dtype.has_gradients() {
        true => Ok(dtype),
        false => Err(OpError::runtime(format!("{name} requires a floating point or complex dtype"))),
    }
}

fn range(e: &mut dyn Emitter, from: i64, to: i64, dtype: DType) -> Result<Val, OpError> {
    if to < from {
        let n = to - from;
        return Err(OpError::runtime(format!("Trying to create tensor with negative dimension {n}: [{n}]")));
    }
    let number = |n: i64| Arg::Number(taipan_ir::Number::Int(n));
    one(e, "arange.start_step", &[number(from), number(to), number(1), Arg::DType(dtype)])
}

/// Frequencies from their numbers: over the number of points and their distance.
fn scaled(e: &mut dyn Emitter, numbers: Val, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let span = args::int(a, 0)? as f64 * args::float(a, 1, 1.0);
    call(e, "mul.Tensor", &[t(numbers), f(1.0 / span)])
}

/// `fftshift`, and `ifftshift` where odd sizes round `up`.
fn shifted(e: &mut dyn Emitter, a: &[Arg<Val>], up: i64) -> Result<Vals, OpError> {
    let own = e.facts(*args::tensor(a, 0)?).dims.clone();
    let dims: Vec<usize> = match args::optional_dims(a, 1) {
        Some(_) => args::ints(a, 1)?.iter().map(|d| existing_dim(*d, own.len())).collect::<Result<_, _>>()?,
        None => (0..own.len()).collect(),
    };
    let mut shifts = vec![];
    for d in &dims {
        shifts.push(Dim::Is((e.dims().number(own[*d])? + up) / 2));
    }
    call(e, "roll", &[a[0].clone(), dim_list(shifts), listed(&dims)])
}

/// The dims that a kernel transforms.
fn transformed<T>(a: &[Arg<T>], rank: usize) -> Result<Vec<usize>, OpError> {
    args::ints(a, 1)?.iter().map(|d| existing_dim(*d, rank)).collect()
}

fn expect_type(x: &Facts, complex: bool) -> Result<(), OpError> {
    match x.dtype {
        DType::C64 | DType::C128 if complex => Ok(()),
        DType::F32 | DType::F64 if !complex => Ok(()),
        other => Err(OpError::not_implemented(format!("Unsupported dtype {}", other.scalar_name()))),
    }
}

/// The order of dims in which a result lies: those that aren't transformed first, each group from the largest stride to the smallest. The
/// last transformed one may have to stay last.
fn order(strides: &[i64], dims: &[usize], keeps_last: bool) -> (Vec<usize>, Vec<usize>) {
    let mut batch: Vec<usize> = (0..strides.len()).filter(|d| !dims.contains(d)).collect();
    batch.sort_by_key(|d| std::cmp::Reverse(strides[*d]));
    let mut sorted = dims.to_vec();
    let movable = dims.len() - usize::from(keeps_last && !dims.is_empty());
    sorted[..movable].sort_by_key(|d| std::cmp::Reverse(strides[*d]));
    (batch, sorted)
}

fn spectrum(
    cx: &mut RuleContext<'_>,
    x: &Facts,
    dims: &[usize],
    keeps_last: bool,
    sizes: taipan_ir::Shape,
    dtype: DType,
) -> Result<Facts, OpError> {
    if dims.is_empty() {
        let strides = super::copy::strides_of_copy(cx.dims, x, taipan_ir::MemoryFormat::Preserve)?;
        return Ok(Facts { dtype, strides, offset: Dim::Is(0), ..x.clone() });
    }
    let strides: Vec<i64> = x.strides.iter().map(|d| cx.dims.number(*d)).collect::<Result<_, _>>()?;
    let (batch, sorted) = order(&strides, dims, keeps_last);
    let mut laid = x.strides.clone();
    let mut next = 1;
    for d in batch.iter().chain(&sorted).rev() {
        laid[*d] = Dim::Is(next);
        next *= cx.dims.number(sizes[*d])?.max(1);
    }
    Ok(Facts { dtype, device: x.device.clone(), dims: sizes, strides: laid, offset: Dim::Is(0) })
}

fn factor(scale: i64, points: i64) -> f64 {
    match scale {
        ORTHO => 1.0 / (points as f64).sqrt(),
        WHOLE => 1.0 / points as f64,
        _ => 1.0,
    }
}

fn c2c(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let dims = transformed(a, x.rank())?;
    if dims.is_empty() {
        return Ok(vec![crate::complex::laid(cx, x.copied()?, &facts[0])?]);
    }
    Ok(vec![complex_to_complex(cx, x, &dims, args::int(a, 2)?, args::flag(a, 3))?])
}

fn complex_to_complex(cx: &Context, x: &Tensor, dims: &[usize], scale: i64, forward: bool) -> Result<Tensor, OpError> {
    let (batch, sorted) = order(x.strides(), dims, false);
    let all: Vec<usize> = batch.iter().chain(&sorted).copied().collect();
    let direction = if forward { FftDirection::Forward } else { FftDirection::Inverse };
    let points = dims.iter().map(|d| x.sizes()[*d]).product();
    with_parts!(x.dtype(), F => {
        let mut spectrum = Spectrum::<F>::new(x, &all)?;
        (batch.len()..all.len()).rev().for_each(|d| spectrum.transform(&cx.workers(), d, direction));
        spectrum.scale(factor(scale, points));
        Ok(spectrum.into_tensor(x.sizes(), &all, false))
    })
}

fn r2c(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let dims = transformed(a, x.rank())?;
    let sizes: Sizes = known(&facts[0].dims)?;
    let (batch, sorted) = order(x.strides(), &dims, true);
    let all: Vec<usize> = batch.iter().chain(&sorted).copied().collect();
    let points = dims.iter().map(|d| x.sizes()[*d]).product();
    with_parts!(facts[0].dtype, F => {
        let mut spectrum = Spectrum::<F>::new(x, &all)?;
        for d in (batch.len()..all.len()).rev() {
            spectrum.transform(&cx.workers(), d, FftDirection::Forward);
            if d + 1 == all.len() {
                spectrum.truncate(sizes[all[d]] as usize);
            }
        }
        spectrum.scale(factor(args::int(a, 2)?, points));
        Ok(vec![spectrum.into_tensor(&sizes, &all, false)])
    })
}

fn c2r(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let dims = transformed(a, x.rank())?;
    let (scale, n) = (args::int(a, 2)?, args::int(a, 3)?);
    let Some((last, others)) = dims.split_last() else { return Err(OpError::runtime("a transform to real numbers needs a dim")) };
    let whole = match others.is_empty() {
        true => x.clone(),
        false => complex_to_complex(cx, x, others, scale, false)?,
    };
    let sizes: Sizes = known(&facts[0].dims)?;
    let (batch, sorted) = order(whole.strides(), &[*last], false);
    let all: Vec<usize> = batch.into_iter().chain(sorted).collect();
    with_parts!(x.dtype(), F => {
        let mut spectrum = Spectrum::<F>::new(&whole, &all)?;
        spectrum.complete(n.max(1) as usize);
        spectrum.transform(&cx.workers(), all.len() - 1, FftDirection::Inverse);
        spectrum.scale(factor(scale, n));
        Ok(vec![spectrum.into_tensor(&sizes, &all, true)])
    })
}
