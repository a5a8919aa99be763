//! Draws from generators. The bits are those of PyTorch on a processor with AVX2 or better.

use super::{
    args,
    call::{call, f, i, n, one, t},
    create::{filled, like, sized},
    define::{composite, mutate, random},
    rules,
};
use crate::{Context, KernelFn, Tensor, element::Arithmetic, normal, random::Twister, with_plain, write};
use smallvec::smallvec;
use taipan_ir::{
    Arg, DType, Dim, Emitter, Facts, MemoryFormat, Number, Op, OpError, Val,
    op::{FactsList, Forms, Kernel, RuleContext, Vals},
};

const FUNCTION: Forms = Forms::FUNCTION;
const METHOD: Forms = Forms::METHOD;

/// The op tables of this file.
pub static OPS: &[Op] = &[
    random(
        "rand(int[] size, *, Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool requires_grad=False) -> Tensor",
        FUNCTION,
        |cx, a| sized(cx, a, 0, 2, 4, None),
        Kernel(&(rand as KernelFn)),
    ),
    random(
        "randn(int[] size, *, Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool requires_grad=False) -> Tensor",
        FUNCTION,
        |cx, a| sized(cx, a, 0, 2, 4, None),
        Kernel(&(randn as KernelFn)),
    ),
    random(
        "randint.low(int low, int high, int[] size, *, Generator? generator=None, ScalarType? dtype=i64, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool requires_grad=False) -> Tensor",
        FUNCTION,
        |cx, a| {
            check_range(args::int(a, 0)?, args::int(a, 1)?)?;
            sized(cx, a, 2, 4, 6, Some(DType::I64))
        },
        Kernel(&(randint_low as KernelFn)),
    ),
    random(
        "randint(int high, int[] size, *, Generator? generator=None, ScalarType? dtype=i64, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool requires_grad=False) -> Tensor",
        FUNCTION,
        |cx, a| {
            check_range(0, args::int(a, 0)?)?;
            sized(cx, a, 1, 3, 5, Some(DType::I64))
        },
        Kernel(&(randint as KernelFn)),
    ),
    random(
        "randperm(int n, *, Generator? generator=None, ScalarType? dtype=i64, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool requires_grad=False) -> Tensor",
        FUNCTION,
        |cx, a| {
            let n = args::int(a, 0)?;
            if n < 0 {
                return Err(OpError::runtime(format!("Trying to create tensor with negative dimension {n}: [{n}]")));
            }
            let dtype = args::dtype(a, 2).unwrap_or(DType::I64);
            Ok(smallvec![Facts::contiguous(cx.dims, dtype, args::device(a, 4), smallvec![args::dim(a, 0)?])?])
        },
        Kernel(&(randperm as KernelFn)),
    ),
    random(
        "rand_like(Tensor self, *, Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None, bool requires_grad=False) -> Tensor",
        FUNCTION,
        |cx, a| like(cx, a, 2, 4, 6),
        Kernel(&(rand as KernelFn)),
    ),
    random(
        "randn_like(Tensor self, *, Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None, bool requires_grad=False) -> Tensor",
        FUNCTION,
        |cx, a| like(cx, a, 2, 4, 6),
        Kernel(&(randn as KernelFn)),
    ),
    composite(
        "randint_like.low_dtype(Tensor self, int low, int high, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        FUNCTION,
        |e, a| {
            let facts = e.facts(*args::tensor(a, 0)?).clone();
            let dtype = args::dtype(a, 3).unwrap_or(facts.dtype);
            call(e, "randint.low", &[a[1].clone(), a[2].clone(), Arg::Ints(facts.dims), Arg::Absent, Arg::DType(dtype)])
        },
    ),
    random(
        "uniform(Tensor self, float from=0, float to=1, *, Generator? generator=None) -> Tensor",
        Forms::INTERNAL,
        like_self,
        Kernel(&(uniform as KernelFn)),
    ),
    mutate("uniform_(Tensor(a!) self, float from=0, float to=1, *, Generator? generator=None) -> Tensor(a!)", METHOD, "uniform"),
    random(
        "normal_functional(Tensor self, float mean=0, float std=1, *, Generator? generator=None) -> Tensor",
        Forms::INTERNAL,
        normal_rule,
        Kernel(&(normal_kernel as KernelFn)),
    ),
    mutate("normal_(Tensor(a!) self, float mean=0, float std=1, *, Generator? generator=None) -> Tensor(a!)", METHOD, "normal_functional"),
    random(
        "normal.float_float(float mean, float std, int[] size, *, Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        FUNCTION,
        |cx, a| sized(cx, a, 2, 4, 6, None),
        Kernel(&(normal_sized as KernelFn)),
    ),
    composite("normal.Tensor_Tensor(Tensor mean, Tensor|Scalar std=1, *, Generator? generator=None) -> Tensor", FUNCTION, |e, a| {
        let noise = one(e, "randn_like", &[a[0].clone(), a[2].clone()])?;
        let scaled = one(e, "mul.Tensor", &[t(noise), a[1].clone()])?;
        call(e, "add.Tensor", &[t(scaled), a[0].clone()])
    }),
    random(
        "exponential(Tensor self, float lambd=1, *, Generator? generator=None) -> Tensor",
        Forms::INTERNAL,
        like_self,
        Kernel(&(exponential as KernelFn)),
    ),
    mutate("exponential_(Tensor(a!) self, float lambd=1, *, Generator? generator=None) -> Tensor(a!)", METHOD, "exponential"),
    random(
        "random.from(Tensor self, int from, int? to, *, Generator? generator=None) -> Tensor",
        Forms::INTERNAL,
        like_self,
        Kernel(&(random_between as KernelFn)),
    ),
    mutate("random_.from(Tensor(a!) self, int from, int? to, *, Generator? generator=None) -> Tensor(a!)", METHOD, "random.from"),
    random(
        "bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor",
        Forms::BOTH,
        bernoulli_rule,
        Kernel(&(bernoulli_p as KernelFn)),
    ),
    random("bernoulli(Tensor self, *, Generator? generator=None) -> Tensor", Forms::BOTH, like_self, Kernel(&(bernoulli as KernelFn))),
    mutate("bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> Tensor(a!)", METHOD, "bernoulli.p"),
    composite(
        "multinomial(Tensor self, int num_samples, bool replacement=False, *, Generator? generator=None) -> Tensor",
        Forms::BOTH,
        multinomial,
    ),
];

fn like_self(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    rules::like_first(cx, a)
}

fn bernoulli_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let p = args::float(a, 1, 0.5);
    if !(0.0..=1.0).contains(&p) {
        return Err(OpError::runtime(format!("bernoulli_ expects p to be in [0, 1], but got p={}", taipan_ir::number::float_text(p))));
    }
    like_self(cx, a)
}

fn normal_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let std = args::float(a, 2, 1.0);
    if std < 0.0 {
        return Err(OpError::runtime(format!("normal expects std >= 0.0, but found std {}", taipan_ir::number::float_text(std))));
    }
    like_self(cx, a)
}

fn check_range(low: i64, high: i64) -> Result<(), OpError> {
    if low >= high {
        return Err(OpError::runtime(format!("random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")));
    }
    Ok(())
}

/// The generator an argument names.
fn stream<'a>(cx: &'a mut Context, a: &[Arg<Tensor>], k: usize) -> Result<&'a mut Twister, OpError> {
    cx.generators.get(args::generator(a, k))
}

/// A tensor laid out as the facts say, each element in the order of memory from `draw`.
fn drawn(facts: &Facts, mut draw: impl FnMut() -> Number) -> Result<Tensor, OpError> {
    let out = filled(facts, Number::Int(0))?;
    with_plain!(facts.dtype, T => {
        out.storage().write().elements_mut::<T>().iter_mut().for_each(|o| *o = crate::tensor::plain_number(facts.dtype, draw()));
    });
    Ok(out)
}

fn uniform_between(generator: &mut Twister, facts: &Facts, from: f64, to: f64) -> Result<Tensor, OpError> {
    match facts.dtype {
        DType::F64 => drawn(facts, || Number::Float(generator.uniform_f64() * (to - from) + from)),
        dtype if dtype.is_float() => {
            let (from, width) = (from as f32, (to - from) as f32);
            drawn(facts, || Number::Float(f64::from(generator.uniform_f32() * width + from)))
        }
        dtype => Err(OpError::not_implemented(format!("\"check_uniform_bounds\" not implemented for '{}'", dtype.scalar_name()))),
    }
}

fn normals(generator: &mut Twister, facts: &Facts, mean: f64, std: f64) -> Result<Tensor, OpError> {
    if !facts.dtype.is_float() {
        return Err(OpError::not_implemented(format!("\"normal_kernel_cpu\" not implemented for '{}'", facts.dtype.scalar_name())));
    }
    let numel: i64 = facts.dims.iter().filter_map(|d| d.known()).product();
    if numel < 16 {
        return drawn(facts, || Number::Float(generator.normal_f64() * std + mean));
    }
    let out = filled(facts, Number::Int(0))?;
    match facts.dtype {
        DType::F32 => normal::fill_f32(generator, mean, std, out.storage().write().elements_mut()),
        DType::F64 => normal::fill_f64(generator, mean, std, out.storage().write().elements_mut()),
        _ => {
            let mut wide = vec![0.0; numel as usize];
            normal::fill_f32(generator, mean, std, &mut wide);
            with_plain!(facts.dtype, T => {
                out.storage().write().elements_mut::<T>().iter_mut().zip(wide).for_each(|(o, x)| *o = <T as Arithmetic>::from_f64(f64::from(x)));
            });
        }
    }
    Ok(out)
}

fn rand(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    Ok(vec![uniform_between(stream(cx, a, 1)?, &facts[0], 0.0, 1.0)?])
}

fn randn(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    Ok(vec![normals(stream(cx, a, 1)?, &facts[0], 0.0, 1.0)?])
}

fn uniform(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let (from, to) = (args::float(a, 1, 0.0), args::float(a, 2, 1.0));
    if from > to {
        let shown = taipan_ir::number::float_text;
        return Err(OpError::runtime(format!(
            "uniform_ expects to return a [from, to) range, but found from={} > to={}",
            shown(from),
            shown(to)
        )));
    }
    Ok(vec![uniform_between(stream(cx, a, 3)?, &facts[0], from, to)?])
}

fn normal_kernel(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    Ok(vec![normals(stream(cx, a, 3)?, &facts[0], args::float(a, 1, 0.0), args::float(a, 2, 1.0))?])
}

fn normal_sized(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    Ok(vec![normals(stream(cx, a, 3)?, &facts[0], args::float(a, 0, 0.0), args::float(a, 1, 1.0))?])
}

fn exponential(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let rate = args::float(a, 1, 1.0);
    let generator = stream(cx, a, 2)?;
    Ok(vec![drawn(&facts[0], || Number::Float(-libm::log1p(-generator.uniform_f64()) / rate))?])
}

/// Whole numbers from `low` up to but not including `high`.
fn integers(generator: &mut Twister, facts: &Facts, low: i64, high: i64) -> Result<Tensor, OpError> {
    let range = high.wrapping_sub(low) as u64;
    drawn(facts, || {
        let bits = if range >= 1 << 28 { generator.bits64() } else { u64::from(generator.bits32()) };
        Number::Int(low.wrapping_add((bits % range.max(1)) as i64))
    })
}

fn randint_low(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let (low, high) = (args::int(a, 0)?, args::int(a, 1)?);
    Ok(vec![integers(stream(cx, a, 3)?, &facts[0], low, high)?])
}

fn randint(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let high = args::int(a, 0)?;
    Ok(vec![integers(stream(cx, a, 2)?, &facts[0], 0, high)?])
}

fn random_between(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let (low, high) = match args::optional_int(a, 2)? {
        Some(high) => (args::int(a, 1)?, high),
        None => (0, args::int(a, 1)?),
    };
    check_range(low, high)?;
    Ok(vec![integers(stream(cx, a, 3)?, &facts[0], low, high)?])
}

fn randperm(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let n = args::int(a, 0)?;
    let generator = stream(cx, a, 1)?;
    let mut order: Vec<i64> = (0..n).collect();
    for k in 0..order.len().saturating_sub(1) {
        let ahead = generator.bits32() as usize % (order.len() - k);
        order.swap(k, k + ahead);
    }
    let out = Tensor::from_slice(&order, &[n])?;
    Ok(vec![write::cast(cx, &out, facts[0].dtype)?])
}

fn bernoulli_p(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let p = args::float(a, 1, 0.5);
    let generator = stream(cx, a, 2)?;
    Ok(vec![drawn(&facts[0], || Number::Int(i64::from(generator.uniform_f64() < p)))?])
}

fn bernoulli(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let probabilities = write::cast(cx, x, DType::F64)?;
    let elements = probabilities.elements::<f64>()?;
    if elements.iter().any(|p| !(0.0..=1.0).contains(p)) {
        return Err(OpError::runtime(
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  If so, please report an enhancement request to PyTorch.)",
        ));
    }
    let double = x.dtype() == DType::F64;
    let generator = stream(cx, a, 1)?;
    let mut at = elements.iter();
    let out = drawn(&facts[0], || {
        let p = at.next().copied().unwrap_or(0.0);
        let draw = if double { generator.uniform_f64() } else { f64::from(generator.uniform_f32()) };
        Number::Int(i64::from(draw < p))
    })?;
    Ok(vec![out])
}

fn multinomial(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let x = *args::tensor(a, 0)?;
    let facts = e.facts(x).clone();
    let count = args::int(a, 1)?;
    if !facts.dtype.is_float() {
        return Err(OpError::runtime(
            "multinomial only supports floating-point dtypes for input, got: ".to_owned() + facts.dtype.scalar_name(),
        ));
    }
    if count <= 0 {
        return Err(OpError::runtime("cannot sample n_sample <= 0 samples"));
    }
    let classes = facts.dims.last().copied().unwrap_or(Dim::Is(0));
    if !args::flag(a, 2) && e.dims().number(classes)? < count {
        return Err(OpError::runtime("cannot sample n_sample > prob_dist.size(-1) samples without replacement"));
    }
    if !args::flag(a, 2) || count == 1 {
        let noise =
            one(e, "empty_like", &[t(x), Arg::Absent, Arg::Absent, Arg::Absent, Arg::Absent, Arg::MemoryFormat(MemoryFormat::Contiguous)])?;
        let noise = one(e, "exponential", &[t(noise), f(1.0), a[3].clone()])?;
        let race = one(e, "div.Tensor", &[t(x), t(noise)])?;
        if count == 1 {
            return call(e, "argmax", &[t(race), i(-1), Arg::Bool(true)]);
        }
        let found = call(e, "topk", &[t(race), i(count), i(-1)])?;
        return Ok(smallvec![found[1]]);
    }
    // With replacement: the place of a uniform number among the running sums.
    let sums = one(e, "cumsum", &[t(x), i(-1)])?;
    let total = one(e, "slice.Tensor", &[t(sums), i(-1), i(-1)])?;
    let sums = one(e, "div.Tensor", &[t(sums), t(total)])?;
    let mut shape = facts.dims.clone();
    if let Some(last) = shape.last_mut() {
        *last = Dim::Is(count);
    }
    let draws = one(e, "rand", &[Arg::Ints(shape), a[3].clone(), Arg::DType(DType::F64)])?;
    let sums = one(e, "_to_copy", &[t(sums), Arg::DType(DType::F64)])?;
    let found = one(e, "searchsorted.Tensor", &[t(sums), t(draws)])?;
    let last = e.dims().number(classes)? - 1;
    call(e, "clamp_max", &[t(found), n(last)])
}
