//! Complex elements: their parts, conversions, and the loops of ops over them.
//!
//! A complex tensor is memory of pairs, so its parts are a tensor of floats with one more dim; what is linear in real numbers runs on that.

use crate::{Context, Tensor, element::Element, layout, layout::Sizes, run, with_parts, write};
use bytemuck::Pod;
use num_complex::Complex;
use rustfft::{FftNum, num_traits::Float};
use taipan_ir::{Arg, DType, Dim, Facts, Number, OpError, OpRef, promote};

/// The type of the parts of a complex number.
pub trait Part: Float + FftNum + Pod + Element<Plain = Self> {
    /// Rounded from `f64`.
    fn of(x: f64) -> Self;
}
impl Part for f32 {
    fn of(x: f64) -> f32 {
        x as f32
    }
}
impl Part for f64 {
    fn of(x: f64) -> f64 {
        x
    }
}

/// A kernel over each element of one complex argument.
#[macro_export]
macro_rules! complex_map {
    ($f:ident) => {
        taipan_ir::op::Kernel(
            &((|cx, a, facts| {
                let x = $crate::ops::args::tensor(a, 0)?;
                $crate::with_parts!(x.dtype(), F => $crate::complex::map(cx, x, facts, $f::<F>))
            }) as $crate::KernelFn),
        )
    };
}

/// A kernel over the pairs of elements of two arguments, in the complex type that they promote to.
#[macro_export]
macro_rules! complex_zip {
    ($f:ident) => {
        taipan_ir::op::Kernel(
            &((|cx, a, facts| {
                let dtype = $crate::complex::common_type(cx, a);
                $crate::with_parts!(dtype, F => $crate::complex::zip(cx, a, facts, dtype, $f::<F>))
            }) as $crate::KernelFn),
        )
    };
}

/// The real and imaginary parts of a complex tensor, as a view with one more dim of two.
pub fn parts(x: &Tensor) -> Tensor {
    let (mut sizes, mut strides) = (Sizes::from_slice(x.sizes()), x.strides().iter().map(|s| s * 2).collect::<Sizes>());
    sizes.push(2);
    strides.push(1);
    x.with_layout(x.dtype().real(), &sizes, &strides, x.offset() * 2)
}

/// The complex view of a row-major tensor of parts.
pub fn joined(x: &Tensor) -> Tensor {
    let rank = x.rank().saturating_sub(1);
    let strides: Sizes = x.strides()[..rank].iter().map(|s| s / 2).collect();
    x.with_layout(x.dtype().complex(), &x.sizes()[..rank], &strides, x.offset() / 2)
}

/// The real parts, as a view.
pub fn real_part(x: &Tensor) -> Tensor {
    let strides: Sizes = x.strides().iter().map(|s| s * 2).collect();
    x.with_layout(x.dtype().real(), x.sizes(), &strides, x.offset() * 2)
}

/// A complex tensor as another dtype, or a tensor as a complex dtype; row-major. Imaginary parts are dropped where the dtype has none.
pub fn cast(cx: &mut Context, x: &Tensor, dtype: DType) -> Result<Tensor, OpError> {
    match (x.dtype(), dtype) {
        (from, to) if from == to => x.copied(),
        (from, DType::Bool) => with_parts!(from, F => {
            let elements = x.elements::<Complex<F>>()?;
            Ok(Tensor::build(DType::Bool, x.sizes(), |out: &mut [u8]| {
                out.iter_mut().zip(elements.iter()).for_each(|(o, z)| *o = u8::from(z.re != 0.0 || z.im != 0.0));
            }))
        }),
        (from, to) if from.is_complex() && to.is_complex() => {
            let parts = write::cast(cx, &parts(x), to.real())?;
            Ok(joined(&parts))
        }
        (from, to) if from.is_complex() => {
            let real = real_part(x);
            if from.real() == to { real.copied() } else { write::cast(cx, &real, to) }
        }
        (_, to) => {
            let real = write::cast(cx, x, to.real())?;
            with_parts!(to, F => {
                let elements = real.elements::<F>()?;
                Ok(Tensor::build(to, x.sizes(), |out: &mut [Complex<F>]| {
                    out.iter_mut().zip(elements.iter()).for_each(|(o, x)| *o = Complex::new(*x, 0.0));
                }))
            })
        }
    }
}

/// The type the first two arguments promote to; they hold a complex number.
pub fn common_type(cx: &Context, a: &[Arg<Tensor>]) -> DType {
    let owned: Vec<Arg<Facts>> = a.iter().take(2).map(|arg| arg.map(Tensor::facts)).collect();
    let facts: Vec<Arg<&Facts>> = owned.iter().map(Arg::borrowed).collect();
    promote::result_type(&facts, cx.default_float)
}

/// `f` of each element, as memory of the dtype that the facts say.
///
/// # Errors
/// Where the storage is too small for the tensor.
pub fn map<F: Part, R: Pod>(cx: &mut Context, x: &Tensor, facts: &[Facts], f: fn(Complex<F>) -> R) -> Result<Vec<Tensor>, OpError> {
    let elements = x.elements::<Complex<F>>()?;
    let dense = Tensor::build(facts[0].dtype, x.sizes(), |out: &mut [R]| {
        out.iter_mut().zip(elements.iter()).for_each(|(o, z)| *o = f(*z));
    });
    Ok(vec![laid(cx, dense, &facts[0])?])
}

/// `f` of each pair of the first two arguments, converted to `dtype` and broadcast.
///
/// # Errors
/// Where a storage is too small for its tensor.
pub fn zip<F: Part, R: Pod>(
    cx: &mut Context,
    a: &[Arg<Tensor>],
    facts: &[Facts],
    dtype: DType,
    f: impl Fn(Complex<F>, Complex<F>) -> R,
) -> Result<Vec<Tensor>, OpError> {
    let sizes = known(&facts[0].dims)?;
    let (x, y) = (operand(cx, a, 0, dtype, &sizes)?, operand(cx, a, 1, dtype, &sizes)?);
    let (x, y) = (x.elements::<Complex<F>>()?, y.elements::<Complex<F>>()?);
    let dense = Tensor::build(facts[0].dtype, &sizes, |out: &mut [R]| {
        out.iter_mut().zip(x.iter().zip(y.iter())).for_each(|(o, (x, y))| *o = f(*x, *y));
    });
    Ok(vec![laid(cx, dense, &facts[0])?])
}

/// An argument, tensor or number, as a tensor of `dtype` and these sizes.
pub fn operand(cx: &mut Context, a: &[Arg<Tensor>], i: usize, dtype: DType, sizes: &[i64]) -> Result<Tensor, OpError> {
    let tensor = match a.get(i) {
        Some(Arg::Tensor(t)) => write::cast(cx, t, dtype)?,
        Some(Arg::Number(n)) => Tensor::full(dtype, &[], *n),
        _ => return Err(OpError::type_error(format!("argument {} must be Tensor", i + 1))),
    };
    Ok(tensor.broadcast_to(sizes))
}

/// A row-major tensor laid out as the facts say.
pub fn laid(cx: &mut Context, dense: Tensor, facts: &Facts) -> Result<Tensor, OpError> {
    let strides = known(&facts.strides)?;
    if layout::row_major(dense.sizes()) == strides {
        return Ok(dense);
    }
    let target = Tensor::zeros(dense.dtype(), dense.sizes()).with_layout(dense.dtype(), dense.sizes(), &strides, 0);
    write::fill_new(cx, &target, &dense)?;
    Ok(target)
}

/// Runs an op that is linear in real numbers, works on argument 0 alone, and leaves dims beyond those it is told in place, on the parts:
/// `rest` are its other arguments for these.
///
/// # Errors
/// Those of the op.
pub fn by_parts(cx: &mut Context, op: OpRef, x: &Tensor, dtype: DType, rest: &[Arg<Tensor>]) -> Result<Vec<Tensor>, OpError> {
    let x = write::cast(cx, x, dtype)?;
    let mut args = vec![Arg::Tensor(parts(&x))];
    args.extend(rest.iter().cloned());
    let results = run::run(cx, op, &args)?;
    results.iter().map(|t| t.contiguous().map(|t| joined(&t))).collect()
}

/// Sizes or strides as numbers.
pub fn known(dims: &[Dim]) -> Result<Sizes, OpError> {
    dims.iter().map(|d| d.known().ok_or(OpError::DataDependent)).collect()
}

/// A number as a complex one.
pub fn number<F: Part>(n: Number) -> Complex<F> {
    let (re, im) = n.parts();
    Complex::new(F::of(re), F::of(im))
}

/// The quotient, dividing by the larger part of the divisor first, so that nothing overflows on the way.
pub fn quotient<F: Part>(x: Complex<F>, y: Complex<F>) -> Complex<F> {
    if y.re.abs() >= y.im.abs() {
        if y.re == F::zero() && y.im == F::zero() {
            return Complex::new(x.re / y.re.abs(), x.im / y.im.abs());
        }
        let ratio = y.im / y.re;
        let scale = F::one() / (y.re + y.im * ratio);
        return Complex::new((x.re + x.im * ratio) * scale, (x.im - x.re * ratio) * scale);
    }
    let ratio = y.re / y.im;
    let scale = F::one() / (y.re * ratio + y.im);
    Complex::new((x.re * ratio + x.im) * scale, (x.im * ratio - x.re) * scale)
}
