//! New tensors of random numbers. The bits are those of PyTorch on a processor with AVX2 or better.

use super::{
    args,
    call::{call, t},
    create::{like, sized},
    define::{composite, gradient, moves, random, refusing},
    gradient::zero,
    random_fill::{Range, check_normal, check_uniform, drawn_integers, normals, stream, uniform_between},
    refusal::shapes,
    rules,
};
use crate::{Context, KernelFn, Tensor, run::EagerEmitter, write};
use smallvec::smallvec;
use taipan_ir::{
    Arg, DType, Facts, Number, Op, OpError,
    op::{FactsList, Forms, Kernel, RuleContext},
};

const FUNCTION: Forms = Forms::FUNCTION;

/// The op tables of this file.
pub static OPS: &[Op] = &[
    moves(random(
        "rand(int[] size, *, Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool requires_grad=False) -> Tensor",
        FUNCTION,
        |cx, a| uniform_facts(sized(cx, a, 0, 2, 4, None)?),
        Kernel(&(rand as KernelFn)),
    )),
    moves(random(
        "randn(int[] size, *, Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool requires_grad=False) -> Tensor",
        FUNCTION,
        |cx, a| normal_facts(sized(cx, a, 0, 2, 4, None)?, 1.0),
        Kernel(&(randn as KernelFn)),
    )),
    random(
        "randint.low(int low, int high, int[] size, *, Generator? generator=None, ScalarType? dtype=i64, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool requires_grad=False) -> Tensor",
        FUNCTION,
        |cx, a| {
            let facts = sized(cx, a, 2, 4, 6, Some(DType::I64))?;
            Range::of(facts[0].dtype, args::int(a, 0)?, Some(args::int(a, 1)?))?;
            Ok(facts)
        },
        Kernel(&(randint_low as KernelFn)),
    ),
    random(
        "randint(int high, int[] size, *, Generator? generator=None, ScalarType? dtype=i64, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool requires_grad=False) -> Tensor",
        FUNCTION,
        |cx, a| {
            let facts = sized(cx, a, 1, 3, 5, Some(DType::I64))?;
            Range::of(facts[0].dtype, 0, Some(args::int(a, 0)?))?;
            Ok(facts)
        },
        Kernel(&(randint as KernelFn)),
    ),
    refusing(
        random(
            "randperm(int n, *, Generator? generator=None, ScalarType? dtype=i64, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool requires_grad=False) -> Tensor",
            FUNCTION,
            permutation_rule,
            Kernel(&(randperm as KernelFn)),
        ),
        shapes::randperm,
    ),
    moves(random(
        "rand_like(Tensor self, *, Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None, bool requires_grad=False) -> Tensor",
        FUNCTION,
        |cx, a| uniform_facts(like(cx, a, 2, 4, 6)?),
        Kernel(&(rand as KernelFn)),
    )),
    moves(random(
        "randn_like(Tensor self, *, Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None, bool requires_grad=False) -> Tensor",
        FUNCTION,
        |cx, a| normal_facts(like(cx, a, 2, 4, 6)?, 1.0),
        Kernel(&(randn as KernelFn)),
    )),
    random(
        "randint_like.low_dtype(Tensor self, int low, int high, *, Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None, bool requires_grad=False) -> Tensor",
        FUNCTION,
        |cx, a| {
            let facts = like(cx, a, 4, 6, 8)?;
            Range::of(facts[0].dtype, args::int(a, 1)?, Some(args::int(a, 2)?))?;
            Ok(facts)
        },
        Kernel(&(randint_like_low as KernelFn)),
    ),
    random(
        "randint_like(Tensor self, int high, *, Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None, bool requires_grad=False) -> Tensor",
        FUNCTION,
        |cx, a| {
            let facts = like(cx, a, 3, 5, 7)?;
            Range::of(facts[0].dtype, 0, Some(args::int(a, 1)?))?;
            Ok(facts)
        },
        Kernel(&(randint_like as KernelFn)),
    ),
    gradient(
        moves(random(
            "normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor",
            FUNCTION,
            |cx, a| {
                let (mean, std) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
                check_normal(mean.dtype, 1.0)?;
                let dims = rules::broadcast_pair(cx.dims, &mean.dims, &std.dims)?;
                rules::fresh(cx, mean, mean.dtype, dims)
            },
            Kernel(&(normal_of_tensors as KernelFn)),
        )),
        "",
        zero,
    ),
    gradient(
        moves(random(
            "normal.Tensor_float(Tensor mean, float std=1, *, Generator? generator=None) -> Tensor",
            FUNCTION,
            |cx, a| {
                check_normal(args::tensor(a, 0)?.dtype, args::float(a, 1, 1.0))?;
                rules::like_first(cx, a)
            },
            Kernel(&(normal_of_means as KernelFn)),
        )),
        "",
        zero,
    ),
    gradient(
        random(
            "normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor",
            FUNCTION,
            |cx, a| {
                let std = *args::tensor(a, 1)?;
                check_normal(std.dtype, 1.0)?;
                rules::fresh(cx, std, std.dtype, std.dims.clone())
            },
            Kernel(&(normal_of_tensors as KernelFn)),
        ),
        "",
        zero,
    ),
    moves(random(
        "normal.float_float(float mean, float std, int[] size, *, Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool requires_grad=False) -> Tensor",
        FUNCTION,
        |cx, a| normal_facts(sized(cx, a, 2, 4, 6, None)?, args::float(a, 1, 1.0)),
        Kernel(&(normal_sized as KernelFn)),
    )),
    composite(
        "normal.int_int(int mean, int std, int[] size, *, Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool requires_grad=False) -> Tensor",
        FUNCTION,
        |e, a| {
            let mut as_floats = a.to_vec();
            for number in &mut as_floats[..2] {
                *number = args::number(std::slice::from_ref(number), 0).map_or(Arg::Absent, |n| Arg::Number(Number::Float(n.as_f64())));
            }
            call(e, "normal.float_float", &as_floats)
        },
    ),
];

fn uniform_facts(facts: FactsList) -> Result<FactsList, OpError> {
    check_uniform(facts[0].dtype, 0.0, 1.0)?;
    Ok(facts)
}

fn normal_facts(facts: FactsList, std: f64) -> Result<FactsList, OpError> {
    check_normal(facts[0].dtype, std)?;
    Ok(facts)
}

fn permutation_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let n = args::int(a, 0)?;
    if n < 0 {
        return Err(OpError::runtime(format!("Trying to create tensor with negative dimension {n}: [{n}]")));
    }
    let dtype = args::dtype(a, 2).unwrap_or(DType::I64);
    let (most, name) = match dtype {
        DType::U8 => (i64::from(u8::MAX), "uint8_t"),
        DType::I8 => (i64::from(i8::MAX), "int8_t"),
        DType::I16 => (i64::from(i16::MAX), "int16_t"),
        DType::I32 => (i64::from(i32::MAX), "int"),
        DType::F16 => (65504, "at::Half"),
        _ => (i64::MAX, ""),
    };
    if n > most {
        return Err(OpError::runtime(format!("value cannot be converted to type {name} without overflow")));
    }
    Ok(smallvec![Facts::contiguous(cx.dims, dtype, args::device(a, 4), smallvec![args::dim(a, 0)?])?])
}

fn is_contiguous(facts: &Facts) -> bool {
    facts.is_contiguous(&mut taipan_ir::dims::NumberDims).unwrap_or(false)
}

fn rand(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    Ok(vec![uniform_between(stream(cx, a, 1)?, &facts[0], 0.0, 1.0)?])
}

fn randn(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    Ok(vec![normals(stream(cx, a, 1)?, &facts[0], is_contiguous(&facts[0]), 0.0, 1.0)?])
}

fn normal_sized(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    Ok(vec![normals(stream(cx, a, 3)?, &facts[0], true, args::float(a, 0, 0.0), args::float(a, 1, 1.0))?])
}

fn normal_of_means(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let noise = normals(stream(cx, a, 2)?, &facts[0], true, 0.0, args::float(a, 1, 1.0))?;
    let mut e = EagerEmitter::new(cx);
    let (noise, mean) = (e.value(noise), e.value(args::tensor(a, 0)?.clone()));
    call(&mut e, "add_.Tensor", &[t(noise), t(mean)])?;
    Ok(vec![e.tensor(noise).clone()])
}

/// The mean may be a number.
fn normal_of_tensors(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let std = args::tensor(a, 1)?;
    if write::cast(cx, std, DType::F64)?.elements::<f64>()?.iter().any(|x| *x < 0.0 || x.is_nan()) {
        return Err(OpError::runtime("normal expects all elements of std >= 0.0"));
    }
    let noise = normals(stream(cx, a, 2)?, &facts[0], true, 0.0, 1.0)?;
    let mut e = EagerEmitter::new(cx);
    let (noise, std) = (e.value(noise), e.value(std.clone()));
    let mean = a[0].map(|mean| e.value(mean.clone()));
    call(&mut e, "mul_.Tensor", &[t(noise), t(std)])?;
    call(&mut e, "add_.Tensor", &[t(noise), mean])?;
    Ok(vec![e.tensor(noise).clone()])
}

fn integers(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts], bounds: [i64; 2], stream_at: usize) -> Result<Vec<Tensor>, OpError> {
    let range = Range::of(facts[0].dtype, bounds[0], Some(bounds[1]))?;
    let generator = stream(cx, a, stream_at)?;
    Ok(vec![drawn_integers(&facts[0], || range.draw(generator))?])
}

fn randint_low(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    integers(cx, a, facts, [args::int(a, 0)?, args::int(a, 1)?], 3)
}

fn randint(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    integers(cx, a, facts, [0, args::int(a, 0)?], 2)
}

fn randint_like_low(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    integers(cx, a, facts, [args::int(a, 1)?, args::int(a, 2)?], 3)
}

fn randint_like(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    integers(cx, a, facts, [0, args::int(a, 1)?], 2)
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
