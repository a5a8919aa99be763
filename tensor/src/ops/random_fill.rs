//! Draws that fill a tensor in place: `uniform_`, `normal_`, `random_` and the other distributions.
//!
//! Elements are drawn in the order of memory, not of indices: a transposed matrix gets its columns first. The pure op of each pair
//! makes a dense tensor whose dims lie in the order of the argument's, so that both orders are one.

use super::{
    args,
    create::filled,
    define::{moves, mutate, random},
    refusal::dtypes::scalar_type_name,
    rules,
};
use crate::{Context, KernelFn, Tensor, distribution, element::Additive, normal, random::Twister, with_plain};
use smallvec::smallvec;
use taipan_ir::{
    Arg, DType, Dim, DimOp, Dims, Facts, Number, Op, OpError,
    dims::NumberDims,
    op::{FactsList, Forms, Kernel, RuleContext},
};

const METHOD: Forms = Forms::METHOD;
const INTERNAL: Forms = Forms::INTERNAL;

/// The op tables of this file.
pub static OPS: &[Op] = &[
    moves(random(
        "uniform(Tensor self, float from=0, float to=1, *, Generator? generator=None) -> Tensor",
        INTERNAL,
        uniform_rule,
        Kernel(&(uniform as KernelFn)),
    )),
    mutate("uniform_(Tensor(a!) self, float from=0, float to=1, *, Generator? generator=None) -> Tensor(a!)", METHOD, "uniform"),
    moves(random(
        "normal_functional(Tensor self, float mean=0, float std=1, *, Generator? generator=None) -> Tensor",
        INTERNAL,
        normal_rule,
        Kernel(&(normal_fill as KernelFn)),
    )),
    mutate("normal_(Tensor(a!) self, float mean=0, float std=1, *, Generator? generator=None) -> Tensor(a!)", METHOD, "normal_functional"),
    moves(random(
        "exponential(Tensor self, float lambd=1, *, Generator? generator=None) -> Tensor",
        INTERNAL,
        |cx, a| {
            let (facts, rate) = (*args::tensor(a, 0)?, args::float(a, 1, 1.0));
            if !facts.dtype.is_float() {
                return Err(not_continuous("Exponential", facts.dtype.scalar_name()));
            }
            positive("exponential_", "lambda", rate)?;
            in_memory_order(cx, a)
        },
        Kernel(&(exponential as KernelFn)),
    )),
    mutate("exponential_(Tensor(a!) self, float lambd=1, *, Generator? generator=None) -> Tensor(a!)", METHOD, "exponential"),
    random(
        "geometric(Tensor self, float p, *, Generator? generator=None) -> Tensor",
        INTERNAL,
        |cx, a| {
            let p = args::float(a, 1, 0.5);
            if !(0.0 < p && p < 1.0) {
                return Err(OpError::runtime(format!("geometric_ expects p to be in (0, 1), but got p={}", plain_text(p))));
            }
            if args::tensor(a, 0)?.dtype == DType::Bool {
                return Err(not_implemented("geometric_cpu", DType::Bool));
            }
            in_memory_order(cx, a)
        },
        Kernel(&(geometric as KernelFn)),
    ),
    mutate("geometric_(Tensor(a!) self, float p, *, Generator? generator=None) -> Tensor(a!)", METHOD, "geometric"),
    moves(random(
        "cauchy(Tensor self, float median=0, float sigma=1, *, Generator? generator=None) -> Tensor",
        INTERNAL,
        |cx, a| {
            positive("cauchy_", "sigma", args::float(a, 2, 1.0))?;
            let dtype = args::tensor(a, 0)?.dtype;
            if !dtype.is_float() {
                return Err(not_continuous("Cauchy", scalar_type_name(dtype)));
            }
            in_memory_order(cx, a)
        },
        Kernel(&(cauchy as KernelFn)),
    )),
    mutate("cauchy_(Tensor(a!) self, float median=0, float sigma=1, *, Generator? generator=None) -> Tensor(a!)", METHOD, "cauchy"),
    random(
        "log_normal(Tensor self, float mean=1, float std=2, *, Generator? generator=None) -> Tensor",
        INTERNAL,
        |cx, a| {
            positive("log_normal_", "std", args::float(a, 2, 2.0))?;
            let dtype = args::tensor(a, 0)?.dtype;
            if !dtype.is_float() {
                return Err(not_implemented("log_normal_cpu", dtype));
            }
            in_memory_order(cx, a)
        },
        Kernel(&(log_normal as KernelFn)),
    ),
    mutate("log_normal_(Tensor(a!) self, float mean=1, float std=2, *, Generator? generator=None) -> Tensor(a!)", METHOD, "log_normal"),
    random(
        "random.from(Tensor self, int from, int? to, *, Generator? generator=None) -> Tensor",
        INTERNAL,
        |cx, a| {
            Range::of(args::tensor(a, 0)?.dtype, args::int(a, 1)?, args::optional_int(a, 2)?)?;
            in_memory_order(cx, a)
        },
        Kernel(&(random_from as KernelFn)),
    ),
    random(
        "random.to(Tensor self, int to, *, Generator? generator=None) -> Tensor",
        INTERNAL,
        |cx, a| {
            Range::of(args::tensor(a, 0)?.dtype, 0, Some(args::int(a, 1)?))?;
            in_memory_order(cx, a)
        },
        Kernel(&(random_to as KernelFn)),
    ),
    random("random(Tensor self, *, Generator? generator=None) -> Tensor", INTERNAL, in_memory_order, Kernel(&(random_any as KernelFn))),
    mutate("random_.from(Tensor(a!) self, int from, int? to, *, Generator? generator=None) -> Tensor(a!)", METHOD, "random.from"),
    mutate("random_.to(Tensor(a!) self, int to, *, Generator? generator=None) -> Tensor(a!)", METHOD, "random.to"),
    mutate("random_(Tensor(a!) self, *, Generator? generator=None) -> Tensor(a!)", METHOD, "random"),
];

/// The generator an argument names.
pub fn stream<'a>(cx: &'a mut Context, a: &[Arg<Tensor>], k: usize) -> Result<&'a mut Twister, OpError> {
    cx.generators.get(args::generator(a, k))
}

/// Dense facts like argument 0, dims in the order of its memory.
pub fn in_memory_order(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let like = *args::tensor(a, 0)?;
    let strides = rules::pointwise_strides(cx.dims, &like.dims, &[like])?;
    Ok(smallvec![Facts { strides, offset: Dim::Is(0), ..like.clone() }])
}

/// A tensor laid out as the facts say, each element in the order of memory from `draw`.
pub fn drawn(facts: &Facts, mut draw: impl FnMut() -> f64) -> Result<Tensor, OpError> {
    let out = filled(facts, Number::Int(0))?;
    with_plain!(facts.dtype, T => {
        out.storage().write().elements_mut::<T>().iter_mut().for_each(|o| *o = <T as Additive>::from_f64(draw()));
    });
    Ok(out)
}

/// As [`drawn`] for whole numbers, which wrap.
pub fn drawn_integers(facts: &Facts, mut draw: impl FnMut() -> i64) -> Result<Tensor, OpError> {
    let out = filled(facts, Number::Int(0))?;
    with_plain!(facts.dtype, T => {
        let draw = || crate::tensor::plain_number::<T>(facts.dtype, Number::Int(draw()));
        let mut draw = draw;
        out.storage().write().elements_mut::<T>().iter_mut().for_each(|o| *o = draw());
    });
    Ok(out)
}

/// Complex numbers whose parts, in the order of memory, are what `draw` makes of the facts of the parts.
fn drawn_parts(facts: &Facts, draw: impl FnOnce(&Facts) -> Result<Tensor, OpError>) -> Result<Tensor, OpError> {
    let (dims, doubled) = (&mut NumberDims, Dim::Is(2));
    let mut parts = Facts { dtype: facts.dtype.real(), ..facts.clone() };
    parts.strides.iter_mut().for_each(|stride| *stride = dims.calc(DimOp::Mul, *stride, doubled));
    parts.dims.push(doubled);
    parts.strides.push(Dim::Is(1));
    draw(&parts)?.with_facts(facts)
}

/// Refuses bounds between which a type has no uniform numbers.
pub fn check_uniform(dtype: DType, from: f64, to: f64) -> Result<(), OpError> {
    let dtype = dtype.real();
    let most = match dtype {
        DType::F16 => 65504.0,
        DType::BF16 => f64::from(half::bf16::MAX),
        DType::F32 => f64::from(f32::MAX),
        DType::F64 => f64::MAX,
        _ => return Err(not_implemented("check_uniform_bounds", dtype)),
    };
    for (name, value) in [("from", from), ("to", to)] {
        if !(-most..=most).contains(&value) {
            return Err(OpError::runtime(format!("{name} is out of bounds for {}", scalar_type_name(dtype))));
        }
    }
    let (shown_from, shown_to) = (plain_text(from), plain_text(to));
    if from > to {
        return Err(OpError::runtime(format!(
            "uniform_ expects to return a [from, to) range, but found from={shown_from} > to={shown_to}"
        )));
    }
    if to - from > most {
        return Err(OpError::runtime(format!(
            "uniform_ expects to-from <= std::numeric_limits<{}>::max(), but found to={shown_to} and from={shown_from} which result in to-from to exceed the limit",
            dtype.scalar_name()
        )));
    }
    Ok(())
}

/// Uniform numbers between two bounds; those of half types are drawn as `f32` and rounded.
pub fn uniform_between(generator: &mut Twister, facts: &Facts, from: f64, to: f64) -> Result<Tensor, OpError> {
    if facts.dtype.is_complex() {
        return drawn_parts(facts, |parts| uniform_between(generator, parts, from, to));
    }
    if facts.dtype == DType::F64 {
        return drawn(facts, || generator.uniform_f64().mul_add(to - from, from));
    }
    let (from, width) = (from as f32, to as f32 - from as f32);
    drawn(facts, || f64::from(generator.uniform_f32().mul_add(width, from)))
}

/// Normal numbers; `contiguous` says whether the tensor they are for is, which from sixteen elements on means another way to draw.
pub fn normals(generator: &mut Twister, facts: &Facts, contiguous: bool, mean: f64, std: f64) -> Result<Tensor, OpError> {
    if facts.dtype.is_complex() {
        return drawn_parts(facts, |parts| normals(generator, parts, contiguous, mean, std / std::f64::consts::SQRT_2));
    }
    let numel: i64 = facts.dims.iter().filter_map(|d| d.known()).product();
    if numel < 16 || !contiguous {
        return drawn(facts, || distribution::normal(generator, mean, std));
    }
    let out = filled(facts, Number::Int(0))?;
    match facts.dtype {
        DType::F64 => normal::fill_f64(generator, mean, std, out.storage().write().elements_mut()),
        DType::F16 => normal::fill_half::<half::f16>(generator, mean, std, out.storage().write().elements_mut()),
        DType::BF16 => normal::fill_half::<half::bf16>(generator, mean, std, out.storage().write().elements_mut()),
        _ => normal::fill_f32(generator, mean, std, out.storage().write().elements_mut()),
    }
    Ok(out)
}

/// Refuses spreads and types that no normal numbers have.
pub fn check_normal(dtype: DType, std: f64) -> Result<(), OpError> {
    if std < 0.0 {
        return Err(OpError::runtime(format!("normal expects std >= 0.0, but found std {}", plain_text(std))));
    }
    if dtype.has_gradients() { Ok(()) } else { Err(not_implemented("normal_kernel_cpu", dtype)) }
}

/// Whole numbers from `low` on, `count` of them; all of 64 bits where that is `None`.
#[derive(Clone, Copy)]
pub struct Range {
    low: i64,
    count: Option<u64>,
}

impl Range {
    /// The numbers from `low` to `high`, which is excluded, or to the type's greatest.
    ///
    /// # Errors
    /// Where there are none, or the type has not all of them.
    pub fn of(dtype: DType, low: i64, high: Option<i64>) -> Result<Range, OpError> {
        let digits = distribution::mantissa(dtype);
        let Some(high) = high else { return Range::upwards(dtype, low, digits) };
        if low >= high {
            return Err(OpError::runtime(format!("random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")));
        }
        let (low, high) = match digits {
            Some(digits) => (least_not_below(dtype, low, digits), greatest_not_above(dtype, high, digits)),
            None => (low, high),
        };
        if low >= high {
            return Err(OpError::runtime(format!(
                "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, but got from={low} >= to={high}"
            )));
        }
        check_in_type(dtype, "from", low)?;
        check_in_type(dtype, "to - 1", high.wrapping_sub(1))?;
        Ok(Range { low, count: Some(high.wrapping_sub(low) as u64) })
    }

    fn upwards(dtype: DType, low: i64, digits: Option<u32>) -> Result<Range, OpError> {
        if low == i64::MIN {
            return match dtype {
                DType::I64 | DType::F64 | DType::F32 | DType::BF16 => Ok(Range { low, count: None }),
                _ => Err(OpError::runtime("random_full_64_bits_range_kernel_cpu handles only int64, double, float and bfloat16")),
            };
        }
        let (low, last) = match digits {
            Some(digits) => (least_not_below(dtype, low, digits), 1 << digits),
            None => (low, integer_bounds(dtype).1),
        };
        if digits.is_some() && low >= last {
            return Err(OpError::runtime(format!(
                "random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' casted to dtype, but got from={low} > to_inc={last}"
            )));
        }
        check_in_type(dtype, "from", low)?;
        Ok(Range { low, count: Some((last.wrapping_sub(low) as u64).wrapping_add(1)) })
    }

    /// One of them. Where there are many, it takes 64 random bits.
    pub fn draw(self, generator: &mut Twister) -> i64 {
        match self.count {
            None | Some(0) => generator.bits64() as i64,
            Some(count) => {
                let bits = if count >= 1 << 28 { generator.bits64() } else { u64::from(generator.bits32()) };
                self.low.wrapping_add((bits % count) as i64)
            }
        }
    }
}

/// The least and greatest integer of a type.
fn integer_bounds(dtype: DType) -> (i64, i64) {
    match dtype {
        DType::Bool => (0, 1),
        DType::U8 => (0, i64::from(u8::MAX)),
        DType::I8 => (i64::from(i8::MIN), i64::from(i8::MAX)),
        DType::I16 => (i64::from(i16::MIN), i64::from(i16::MAX)),
        DType::I32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        DType::F16 => (-65504, 65504),
        _ => (i64::MIN, i64::MAX),
    }
}

fn check_in_type(dtype: DType, name: &str, value: i64) -> Result<(), OpError> {
    let (least, greatest) = integer_bounds(dtype);
    if (least..=greatest).contains(&value) {
        return Ok(());
    }
    Err(OpError::runtime(format!("{name} is out of bounds for {}", scalar_type_name(dtype))))
}

/// `low`, raised where the type rounds it down.
fn least_not_below(dtype: DType, low: i64, digits: u32) -> i64 {
    let next = low.wrapping_add(1);
    let rounded = through(dtype, next);
    if rounded >= low {
        return low;
    }
    rounded.wrapping_add(1 << (next.unsigned_abs().ilog2() + 1).saturating_sub(digits))
}

/// `high`, lowered where the type rounds it up.
fn greatest_not_above(dtype: DType, high: i64, digits: u32) -> i64 {
    let last = high.wrapping_sub(1);
    let rounded = through(dtype, last);
    if rounded < high {
        return high;
    }
    rounded.wrapping_sub(1 << (last.unsigned_abs().ilog2() + 1).saturating_sub(digits))
}

/// The integer as the type holds it.
fn through(dtype: DType, value: i64) -> i64 {
    with_plain!(dtype, T => {
        let held = <T as crate::element::Element>::from_number(Number::Int(value));
        crate::element::Element::number(held).as_i64()
    })
}

/// A float as PyTorch's messages about random numbers show it: six digits, none of them trailing zeros.
pub fn plain_text(x: f64) -> String {
    if x != 0.0 && !(1e-4..1e6).contains(&x.abs()) {
        return taipan_ir::number::float_text(x).replace(".0e", "e");
    }
    let digits = (5 - x.abs().max(1e-4).log10().floor() as i32).max(0) as usize;
    let text = format!("{x:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn positive(op: &str, name: &str, value: f64) -> Result<(), OpError> {
    if value > 0.0 {
        return Ok(());
    }
    Err(OpError::runtime(format!("{op} expects {name} > 0.0, but found {name}={}", plain_text(value))))
}

fn not_implemented(kernel: &str, dtype: DType) -> OpError {
    OpError::not_implemented(format!("\"{kernel}\" not implemented for '{}'", dtype.scalar_name()))
}

fn not_continuous(distribution: &str, dtype: &str) -> OpError {
    OpError::runtime(format!(
        "{distribution} distribution is a continuous probability distribution. dtype must be a floating point but you specified {dtype}"
    ))
}

fn uniform_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    check_uniform(args::tensor(a, 0)?.dtype, args::float(a, 1, 0.0), args::float(a, 2, 1.0))?;
    in_memory_order(cx, a)
}

fn normal_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    check_normal(args::tensor(a, 0)?.dtype, args::float(a, 2, 1.0))?;
    in_memory_order(cx, a)
}

fn uniform(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let (from, to) = (args::float(a, 1, 0.0), args::float(a, 2, 1.0));
    Ok(vec![uniform_between(stream(cx, a, 3)?, &facts[0], from, to)?])
}

fn normal_fill(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let contiguous = args::tensor(a, 0)?.is_contiguous();
    Ok(vec![normals(stream(cx, a, 3)?, &facts[0], contiguous, args::float(a, 1, 0.0), args::float(a, 2, 1.0))?])
}

fn exponential(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let rate = args::float(a, 1, 1.0);
    let generator = stream(cx, a, 2)?;
    Ok(vec![drawn(&facts[0], || distribution::exponential(generator, rate))?])
}

fn geometric(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let p = args::float(a, 1, 0.5);
    let generator = stream(cx, a, 2)?;
    Ok(vec![drawn(&facts[0], || distribution::geometric(generator, p))?])
}

fn cauchy(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let (median, sigma) = (args::float(a, 1, 0.0), args::float(a, 2, 1.0));
    let generator = stream(cx, a, 3)?;
    Ok(vec![drawn(&facts[0], || distribution::cauchy(generator, median, sigma))?])
}

fn log_normal(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let (mean, std) = (args::float(a, 1, 1.0), args::float(a, 2, 2.0));
    let generator = stream(cx, a, 3)?;
    Ok(vec![drawn(&facts[0], || distribution::log_normal(generator, mean, std))?])
}

fn random_from(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let range = Range::of(facts[0].dtype, args::int(a, 1)?, args::optional_int(a, 2)?)?;
    let generator = stream(cx, a, 3)?;
    Ok(vec![drawn_integers(&facts[0], || range.draw(generator))?])
}

fn random_to(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let range = Range::of(facts[0].dtype, 0, Some(args::int(a, 1)?))?;
    let generator = stream(cx, a, 2)?;
    Ok(vec![drawn_integers(&facts[0], || range.draw(generator))?])
}

/// From zero to the greatest number of the type; for floats, to the last up to which it has all integers.
fn random_any(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let dtype = facts[0].dtype;
    let count = match distribution::mantissa(dtype) {
        Some(digits) => (1 << digits) + 1,
        None => integer_bounds(dtype).1 as u64 + 1,
    };
    let wide = matches!(dtype, DType::I64 | DType::F64);
    let generator = stream(cx, a, 1)?;
    let draw = || if wide { generator.bits64() % count } else { u64::from(generator.bits32()) % count };
    let mut draw = draw;
    Ok(vec![drawn_integers(&facts[0], || draw() as i64)?])
}
