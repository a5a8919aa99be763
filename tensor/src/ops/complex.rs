//! Complex numbers: their parts and how they are made of them, and what arithmetic, functions and sums do with them.

use super::{
    args,
    call::{call, i, one, t},
    define::{composite, constant, gradient, kernel, moves, pointwise, samples, view},
    gradient::complex::{of_angle, of_complex, of_conj, of_view_as_complex, of_view_as_real},
    reduce::sizes_of,
    rules::{self, reduced_dims},
};
use crate::{
    Context, KernelFn, Tensor,
    complex::{Part, by_parts, known, laid, number, operand, quotient, zip},
    complex_map, registry, with_bits, with_parts, write,
};
use num_complex::Complex;
use smallvec::smallvec;
use taipan_ir::{
    Arg, DType, Dim, DimOp, Emitter, Facts, Number, Op, OpError, Rel, Val,
    body::{Body, Compare, Scalar},
    op::{FactsList, Family, Forms, Kernel, Promotion, RuleContext, Vals},
};

const BOTH: Forms = Forms::BOTH;
const FUNCTION: Forms = Forms::FUNCTION;

/// The op tables of this file.
pub static OPS: &[Op] = &[
    samples(
        gradient(view("view_as_real(Tensor(a) self) -> Tensor(a)", FUNCTION, view_as_real_rule), "", of_view_as_real),
        &["c64[2,3]", "c128[2,3].t"],
    ),
    samples(
        gradient(view("view_as_complex(Tensor(a) self) -> Tensor(a)", FUNCTION, view_as_complex_rule), "", of_view_as_complex),
        &["f32[3,2]", "f64[2,2,2]"],
    ),
    samples(
        composite("real(Tensor(a) self) -> Tensor(a)", FUNCTION, |e, a| match e.facts(*args::tensor(a, 0)?).dtype.is_complex() {
            true => part(e, a, 0),
            false => Ok(smallvec![*args::tensor(a, 0)?]),
        }),
        &["c64[2,3]", "f32[2]"],
    ),
    samples(
        composite("imag(Tensor(a) self) -> Tensor(a)", FUNCTION, |e, a| match e.facts(*args::tensor(a, 0)?).dtype.is_complex() {
            true => part(e, a, 1),
            false => Err(OpError::type_error("imag is not implemented for tensors with non-complex dtypes.")),
        }),
        &["c64[2,3]", "c128[4]"],
    ),
    moves(samples(
        gradient(
            kernel("complex(Tensor real, Tensor imag) -> Tensor", FUNCTION, Family::Other, complex_rule, Kernel(&(complex as KernelFn))),
            "",
            of_complex,
        ),
        &["f32[2,3], f32[3]", "f64[4], f64[4]"],
    )),
    samples(
        composite("polar(Tensor abs, Tensor angle) -> Tensor", FUNCTION, |e, a| {
            let (size, angle) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
            check_parts(e.facts(size), e.facts(angle))?;
            let (cos, sin) = (one(e, "cos", &[t(angle)])?, one(e, "sin", &[t(angle)])?);
            let (re, im) = (one(e, "mul.Tensor", &[t(size), t(cos)])?, one(e, "mul.Tensor", &[t(size), t(sin)])?);
            call(e, "complex", &[t(re), t(im)])
        }),
        &["f32[4]+, f32[4]", "f64[2,3]+, f64[3]"],
    ),
    samples(
        composite("conj(Tensor(a) self) -> Tensor(a)", BOTH, |e, a| {
            let value = *args::tensor(a, 0)?;
            if !e.facts(value).dtype.is_complex() {
                return Ok(smallvec![value]);
            }
            call(e, "_conj_physical", &[t(value)])
        }),
        &["c64[2,3]", "f32[2]"],
    ),
    samples(composite("conj_physical(Tensor self) -> Tensor", BOTH, |e, a| call(e, "conj", a)), &["c64[2,3]", "c128[2,3].t"]),
    super::define::complex(
        gradient(pointwise("_conj_physical(Tensor self) -> Tensor", Forms::INTERNAL, Promotion::Common, rules::common, first), "", of_conj),
        complex_map!(conj),
    ),
    composite("resolve_conj(Tensor(a) self) -> Tensor(a)", BOTH, |_, a| Ok(smallvec![*args::tensor(a, 0)?])),
    composite("resolve_neg(Tensor(a) self) -> Tensor(a)", BOTH, |_, a| Ok(smallvec![*args::tensor(a, 0)?])),
    samples(
        composite("adjoint(Tensor(a) self) -> Tensor(a)", BOTH, |e, a| {
            let turned = one(e, "transpose.int", &[a[0].clone(), i(-2), i(-1)])?;
            call(e, "conj", &[t(turned)])
        }),
        &["c64[2,3]", "f32[2,3,4]"],
    ),
    super::define::complex(
        samples(
            gradient(
                pointwise("angle(Tensor self) -> Tensor", BOTH, Promotion::Float, angle_rule, |b, a| {
                    let x = super::arithmetic::x(a, 0);
                    let negative = b.compare_number(Compare::Lt, x, 0.0);
                    let (pi, zero) = (b.number(x, std::f64::consts::PI), b.number(x, 0.0));
                    let angle = b.select(negative, pi, zero);
                    let ordinary = b.compare(Compare::Eq, x, x);
                    b.select(ordinary, angle, x)
                }),
                "self",
                of_angle,
            ),
            &["c64[2,3]", "c128[4]", "f32[4]", "i64[3]"],
        ),
        complex_map!(angle),
    ),
    samples(
        constant(composite("isreal(Tensor self) -> Tensor", FUNCTION, |e, a| {
            let value = *args::tensor(a, 0)?;
            if !e.facts(value).dtype.is_complex() {
                return call(e, "ones_like", &[t(value), Arg::DType(DType::Bool)]);
            }
            let imaginary = one(e, "imag", &[t(value)])?;
            call(e, "eq.Tensor", &[t(imaginary), Arg::Number(Number::Int(0))])
        })),
        &["c64[2,3]", "f32[2]"],
    ),
];

fn first(_: &mut Body, a: &[Arg<Scalar>]) -> Scalar {
    super::arithmetic::x(a, 0)
}

/// One of the parts, as a view.
fn part(e: &mut dyn Emitter, a: &[Arg<Val>], which: i64) -> Result<Vals, OpError> {
    let parts = one(e, "view_as_real", &a[..1])?;
    call(e, "select.int", &[t(parts), i(-1), i(which)])
}

fn view_as_real_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let f = *args::tensor(a, 0)?;
    if !f.dtype.is_complex() {
        return Err(OpError::type_error("view_as_real is only supported for complex tensors"));
    }
    let mut out = Facts { dtype: f.dtype.real(), ..f.clone() };
    for stride in out.strides.iter_mut().chain([&mut out.offset]) {
        *stride = cx.dims.calc(DimOp::Mul, *stride, Dim::Is(2));
    }
    out.dims.push(Dim::Is(2));
    out.strides.push(Dim::Is(1));
    Ok(smallvec![out])
}

fn view_as_complex_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let f = *args::tensor(a, 0)?;
    if !matches!(f.dtype, DType::F32 | DType::F64) {
        return Err(OpError::not_implemented(format!(
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: {}",
            f.dtype.scalar_name()
        )));
    }
    let mut out = Facts { dtype: f.dtype.complex(), ..f.clone() };
    let (Some(size), Some(stride)) = (out.dims.pop(), out.strides.pop()) else {
        return Err(OpError::runtime("Input tensor must have one or more dimensions"));
    };
    if !cx.dims.decide(Rel::Eq, size, Dim::Is(2))? {
        return Err(OpError::runtime("Tensor must have a last dimension of size 2"));
    }
    if !cx.dims.decide(Rel::Eq, stride, Dim::Is(1))? {
        return Err(OpError::runtime("Tensor must have a last dimension with stride 1"));
    }
    let mut halved = |d: Dim, what: &str| match cx.dims.decide(Rel::Divides, Dim::Is(2), d)? {
        true => Ok(cx.dims.calc(DimOp::FloorDiv, d, Dim::Is(2))),
        false => Err(OpError::runtime(format!("Tensor must have a {what}"))),
    };
    for stride in &mut out.strides {
        *stride = halved(*stride, "stride divisible by 2 for all but last dimension")?;
    }
    out.offset = halved(f.offset, "storage_offset divisible by 2")?;
    Ok(smallvec![out])
}

/// Whether two tensors may be the parts of complex numbers.
fn check_parts(re: &Facts, im: &Facts) -> Result<(), OpError> {
    let real = |f: &Facts| matches!(f.dtype, DType::F32 | DType::F64);
    if !real(re) || !real(im) {
        return Err(OpError::not_implemented(format!(
            "Expected both inputs to be Half, Float or Double tensors but got {} and {}",
            re.dtype.scalar_name(),
            im.dtype.scalar_name()
        )));
    }
    if re.dtype != im.dtype {
        return Err(OpError::runtime(format!(
            "Expected object of scalar type {} but got scalar type {} for second argument",
            re.dtype.scalar_name(),
            im.dtype.scalar_name()
        )));
    }
    Ok(())
}

fn complex_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let (re, im) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
    check_parts(re, im)?;
    rules::pointwise_result(cx, re.dtype.complex(), &[re, im])
}

fn complex(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let sizes = sizes_of(&facts[0])?;
    let (re, im) = (args::tensor(a, 0)?.broadcast_to(&sizes), args::tensor(a, 1)?.broadcast_to(&sizes));
    with_parts!(facts[0].dtype, F => {
        let (re, im) = (re.elements::<F>()?, im.elements::<F>()?);
        let dense = Tensor::build(facts[0].dtype, &sizes, |out: &mut [Complex<F>]| {
            out.iter_mut().zip(re.iter().zip(im.iter())).for_each(|(o, (re, im))| *o = Complex::new(*re, *im));
        });
        Ok(vec![laid(cx, dense, &facts[0])?])
    })
}

fn angle_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    real_of(rules::float(cx, a)?)
}

/// Facts of an op whose result is real.
pub fn size_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    real_of(rules::common(cx, a)?)
}

fn real_of(mut facts: FactsList) -> Result<FactsList, OpError> {
    facts.iter_mut().for_each(|f| f.dtype = f.dtype.real());
    Ok(facts)
}

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($z:ident) -> $result:ty { $body:expr })*) => {
        $($(#[$doc])* pub fn $name<F: Part>($z: Complex<F>) -> $result { $body })*
    };
}

functions! {
    /// The number itself.
    same(z) -> Complex<F> { z }
    /// The other sign of the imaginary part.
    conj(z) -> Complex<F> { z.conj() }
    /// The opposite number.
    neg(z) -> Complex<F> { -z }
    /// The distance from zero.
    abs(z) -> F { z.re.hypot(z.im) }
    /// The angle from the positive real numbers.
    angle(z) -> F { z.im.atan2(z.re) }
    /// The number of size one in the same direction; zero at zero.
    sgn(z) -> Complex<F> { if z.re == F::zero() && z.im == F::zero() { Complex::new(F::zero(), F::zero()) } else { z / abs(z) } }
    /// The square.
    square(z) -> Complex<F> { z * z }
    /// One over the number.
    reciprocal(z) -> Complex<F> { quotient(Complex::new(F::one(), F::zero()), z) }
    /// The exponential.
    exp(z) -> Complex<F> { z.exp() }
    /// The natural logarithm.
    ln(z) -> Complex<F> { Complex::new(abs(z).ln(), angle(z)) }
    /// The logarithm to base 2.
    log2(z) -> Complex<F> { ln(z) / F::of(std::f64::consts::LN_2) }
    /// The logarithm to base 10.
    log10(z) -> Complex<F> { ln(z) / F::of(std::f64::consts::LN_10) }
    /// The square root with a real part that isn't negative.
    sqrt(z) -> Complex<F> { z.sqrt() }
    /// One over the square root.
    rsqrt(z) -> Complex<F> { reciprocal(z.sqrt()) }
    /// The sine.
    sin(z) -> Complex<F> { z.sin() }
    /// The cosine.
    cos(z) -> Complex<F> { z.cos() }
    /// The tangent.
    tan(z) -> Complex<F> { tangent(z.re, z.im) }
    /// The hyperbolic sine.
    sinh(z) -> Complex<F> { z.sinh() }
    /// The hyperbolic cosine.
    cosh(z) -> Complex<F> { z.cosh() }
    /// The hyperbolic tangent.
    tanh(z) -> Complex<F> { hyperbolic_tangent(z.re, z.im) }
    /// The logistic function.
    sigmoid(z) -> Complex<F> { reciprocal((-z).exp() + F::one()) }
    /// Whether a part is not a number.
    nan(z) -> u8 { u8::from(z.re.is_nan() || z.im.is_nan()) }
    /// Whether a part is infinite.
    infinite(z) -> u8 { u8::from(z.re.is_infinite() || z.im.is_infinite()) }
    /// Whether both parts are finite.
    finite(z) -> u8 { u8::from(z.re.is_finite() && z.im.is_finite()) }
    /// Whether the number is zero.
    zero(z) -> u8 { u8::from(z.re == F::zero() && z.im == F::zero()) }
}

fn tangent<F: Part>(x: F, y: F) -> Complex<F> {
    let turned = hyperbolic_tangent(-y, x);
    Complex::new(turned.im, -turned.re)
}

fn hyperbolic_tangent<F: Part>(x: F, y: F) -> Complex<F> {
    let (re, im) = tanh_parts(x.to_f64().unwrap_or(f64::NAN), y.to_f64().unwrap_or(f64::NAN));
    Complex::new(F::of(re), F::of(im))
}

/// The parts of the hyperbolic tangent of `x + iy`. Nothing cancels near its poles, unlike in the quotient of sums of `2x` and `2y`.
fn tanh_parts(x: f64, y: f64) -> (f64, f64) {
    if y == 0.0 {
        return (x.tanh(), y);
    }
    if x.abs() > 22.0 {
        // The real part is one to the last digit, and the square of the sine below would overflow for larger ones.
        let angle = if x.is_infinite() && y.is_infinite() { 0.0 } else { y };
        return (1f64.copysign(x) + 0.0 * angle, 4.0 * angle.sin() * angle.cos() * (-2.0 * x.abs()).exp());
    }
    let (tan, sinh) = (y.tan(), x.sinh());
    let (slope, cosh) = (1.0 + tan * tan, 1.0f64.hypot(sinh));
    let divisor = 1.0 + slope * sinh * sinh;
    (slope * cosh * sinh / divisor, tan / divisor)
}

/// The product.
pub fn product<F: Part>(x: Complex<F>, y: Complex<F>) -> Complex<F> {
    x * y
}

/// Whether two numbers are equal.
pub fn equal<F: Part>(x: Complex<F>, y: Complex<F>) -> u8 {
    u8::from(x == y)
}

/// Whether two numbers differ.
pub fn unequal<F: Part>(x: Complex<F>, y: Complex<F>) -> u8 {
    u8::from(x != y)
}

/// A power. Small whole exponents are products.
pub fn power<F: Part>(x: Complex<F>, exponent: Complex<F>) -> Complex<F> {
    let zero = F::zero();
    match exponent.im == zero {
        true if exponent.re == zero => Complex::new(F::one(), zero),
        true if exponent.re == F::one() => x,
        true if exponent.re == F::of(2.0) => x * x,
        true if exponent.re == F::of(3.0) => x * x * x,
        true if exponent.re == F::of(0.5) => sqrt(x),
        true if exponent.re == F::of(-1.0) => reciprocal(x),
        _ => x.powc(exponent),
    }
}

fn scaled_sum(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts], sign: f64) -> Result<Vec<Tensor>, OpError> {
    let alpha = args::number(a, 2).unwrap_or(Number::Int(1));
    let dtype = facts[0].dtype;
    if !dtype.is_complex() {
        return Err(OpError::runtime("For non-complex input tensors, argument alpha must not be a complex number."));
    }
    with_parts!(dtype, F => {
        // A real factor is negated as a real one: its imaginary part stays a positive zero.
        let factor = number::<F>(match alpha {
            Number::Complex(re, im) => Number::Complex(sign * re, sign * im),
            real => Number::Float(sign * real.as_f64()),
        });
        // The factor is applied where it is one too, as PyTorch does, which shows in the sign of zeros.
        zip(cx, a, facts, dtype, |x: Complex<F>, y: Complex<F>| x + factor * y)
    })
}

/// `add` of complex numbers.
pub fn add(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    scaled_sum(cx, a, facts, 1.0)
}

/// `sub` of complex numbers.
pub fn sub(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    scaled_sum(cx, a, facts, -1.0)
}

/// Elements of `yes` where the condition holds, else of `no`; all have `dtype` and these sizes.
fn chosen(condition: &Tensor, yes: &Tensor, no: &Tensor, dtype: DType, sizes: &[i64]) -> Result<Tensor, OpError> {
    with_bits!(dtype, T => {
        let (condition, yes, no) = (condition.elements::<u8>()?, yes.elements::<T>()?, no.elements::<T>()?);
        Ok(Tensor::build(dtype, sizes, |out: &mut [T]| {
            for (k, o) in out.iter_mut().enumerate() {
                *o = if condition[k] != 0 { yes[k] } else { no[k] };
            }
        }))
    })
}

/// `where` of complex numbers.
pub fn select(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let (sizes, dtype) = (known(&facts[0].dims)?, facts[0].dtype);
    let condition = args::tensor(a, 0)?.broadcast_to(&sizes);
    let (yes, no) = (operand(cx, a, 1, dtype, &sizes)?, operand(cx, a, 2, dtype, &sizes)?);
    let dense = chosen(&condition, &yes, &no, dtype, &sizes)?;
    Ok(vec![laid(cx, dense, &facts[0])?])
}

/// `masked_fill` of a complex tensor.
pub fn masked_fill(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let (sizes, dtype) = (known(&facts[0].dims)?, facts[0].dtype);
    if !dtype.is_complex() {
        return Err(OpError::runtime(format!("value cannot be converted to type {} without overflow", dtype.native_name())));
    }
    let mask = args::tensor(a, 1)?.broadcast_to(&sizes);
    let (value, rest) = (operand(cx, a, 2, dtype, &sizes)?, operand(cx, a, 0, dtype, &sizes)?);
    let dense = chosen(&mask, &value, &rest, dtype, &sizes)?;
    Ok(vec![laid(cx, dense, &facts[0])?])
}

/// A reduction of the parts, by the op of this name.
fn reduced(cx: &mut Context, name: &str, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let dtype = facts[0].dtype;
    if !dtype.is_complex() {
        // Another dtype was asked for.
        let real = write::cast(cx, x, dtype)?;
        let op = registry().find(name).ok_or_else(|| OpError::not_implemented(name))?.op;
        return Ok(crate::run(cx, op, &[Arg::Tensor(real), a[1].clone(), a[2].clone(), Arg::Absent])?.into_vec());
    }
    let reduced = reduced_dims(a, 1, x.rank())?;
    let dims: smallvec::SmallVec<[Dim; 5]> = (0..x.rank()).filter(|d| reduced[*d]).map(|d| Dim::Is(d as i64)).collect();
    if dims.is_empty() {
        return Ok(vec![write::cast(cx, x, dtype)?.copied()?]);
    }
    let op = registry().find(name).ok_or_else(|| OpError::not_implemented(name))?.op;
    by_parts(cx, op, x, dtype, &[Arg::Ints(dims), a[2].clone(), Arg::Absent])
}

/// `sum` of complex numbers.
pub fn sum(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    reduced(cx, "sum.dim_IntList", a, facts)
}

/// `mean` of complex numbers.
pub fn mean(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    reduced(cx, "mean.dim", a, facts)
}
