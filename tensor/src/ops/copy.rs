//! Copies, conversions, and writes that replace a tensor's elements.

use super::{
    args,
    call::{call, one, t},
    define::{composite, constant, gradient, kernel, moves, mutate, refusing, samples},
    gradient::through,
    refusal::numbers,
    rules::{self, is_dense, like_first},
};
use crate::{Context, KernelFn, Tensor, layout::Sizes, write};
use smallvec::smallvec;
use taipan_ir::{
    Arg, DType, Dim, Dims, Emitter, Facts, MemoryFormat, Op, OpError, Val,
    facts::row_major,
    op::{FactsList, Family, Forms, Kernel, RuleContext, Vals},
};

const BOTH: Forms = Forms::BOTH;
const METHOD: Forms = Forms::METHOD;

macro_rules! conversions {
    ($($name:literal $dtype:ident;)*) => {
        &[$(
            composite(
                concat!($name, "(Tensor(a) self, *, MemoryFormat? memory_format=None) -> Tensor(a)"),
                METHOD,
                |e, a| to(e, *args::tensor(a, 0)?, Some(DType::$dtype), false, args::memory_format(a, 1)),
            ),
        )*]
    };
}

/// `float()`, `long()` and so on.
pub static CONVERSIONS: &[Op] = conversions! {
    "float" F32; "double" F64; "half" F16; "bfloat16" BF16; "long" I64; "int" I32; "short" I16; "char" I8; "byte" U8; "bool" Bool;
    "cfloat" C64; "cdouble" C128;
};

/// The op tables of this file.
pub static OPS: &[Op] = &[
    moves(samples(
        gradient(
            kernel(
                "_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool non_blocking=False, MemoryFormat? memory_format=None) -> Tensor",
                Forms::INTERNAL,
                Family::Copy,
                |cx, a| {
                    let f = *args::tensor(a, 0)?;
                    let dtype = args::dtype(a, 1).unwrap_or(f.dtype);
                    let device = if matches!(a[3], Arg::Device(_)) { args::device(a, 3) } else { f.device.clone() };
                    check_device(&device)?;
                    let strides = strides_of_copy(cx.dims, f, args::memory_format(a, 6).unwrap_or(MemoryFormat::Preserve))?;
                    Ok(smallvec![Facts { dtype, device, strides, offset: Dim::Is(0), ..f.clone() }])
                },
                Kernel(&(copy as KernelFn)),
            ),
            "",
            through,
        ),
        &[
            "f32[2,3], dtype=i64",
            "i64[4], dtype=f16",
            "f32[4], dtype=bool",
            "f64[4], dtype=bf16",
            "f32[3,2].t, dtype=f64",
            "c64[2,3].t, dtype=c128",
            "i64[4], dtype=c64",
            "c64[4], dtype=f32",
            "c128[4], dtype=bool",
        ],
    )),
    moves(samples(
        gradient(
            kernel(
                "clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
                BOTH,
                Family::Copy,
                clone_rule,
                Kernel(&(copy as KernelFn)),
            ),
            "",
            through,
        ),
        &[
            "f32[2,3]",
            "f32[2,3].t",
            "f32[2,3].t, memory_format=contiguous_format",
            "c64[2,3].t",
            "c128[2,3].t, memory_format=contiguous_format",
        ],
    )),
    samples(
        composite("contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> Tensor(a)", METHOD, |e, a| {
            let value = *args::tensor(a, 0)?;
            let format = args::memory_format(a, 1).unwrap_or(MemoryFormat::Contiguous);
            let f = e.facts(value).clone();
            if has_format(e.dims(), &f, format)? {
                return Ok(smallvec![value]);
            }
            call(e, "clone", &[t(value), Arg::MemoryFormat(format)])
        }),
        &["f32[2,3]", "f32[2,3].t"],
    ),
    samples(
        composite(
            "to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
            METHOD,
            |e, a| to(e, *args::tensor(a, 0)?, args::dtype(a, 1), args::flag(a, 3), args::memory_format(a, 4)),
        ),
        &["f32[2,3], i64", "f32[2,3], f32", "f32[4], f64"],
    ),
    composite(
        "to.device(Tensor(a) self, Device? device=None, ScalarType? dtype=None, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
        METHOD,
        |e, a| {
            check_device(&args::device(a, 1))?;
            to(e, *args::tensor(a, 0)?, args::dtype(a, 2), args::flag(a, 4), args::memory_format(a, 5))
        },
    ),
    composite(
        "to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
        METHOD,
        |e, a| {
            let dtype = e.facts(*args::tensor(a, 1)?).dtype;
            to(e, *args::tensor(a, 0)?, Some(dtype), args::flag(a, 3), args::memory_format(a, 4))
        },
    ),
    composite(
        "to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
        METHOD,
        |e, a| {
            check_device(&args::device(a, 3))?;
            to(e, *args::tensor(a, 0)?, args::dtype(a, 1), args::flag(a, 6), args::memory_format(a, 7))
        },
    ),
    composite("type_as(Tensor(a) self, Tensor other) -> Tensor(a)", METHOD, |e, a| {
        let dtype = e.facts(*args::tensor(a, 1)?).dtype;
        to(e, *args::tensor(a, 0)?, Some(dtype), false, None)
    }),
    composite("cpu(Tensor(a) self, *, MemoryFormat? memory_format=None) -> Tensor(a)", METHOD, |_, a| Ok(smallvec![*args::tensor(a, 0)?])),
    moves(samples(
        gradient(
            kernel(
                "copy(Tensor self, Tensor|Scalar src, bool non_blocking=False) -> Tensor",
                Forms::INTERNAL,
                Family::Copy,
                copy_rule,
                Kernel(&(expanded_copy as KernelFn)),
            ),
            "",
            |b| {
                let grad = b.grad()?;
                b.give(1, grad);
                Ok(())
            },
        ),
        &["f32[2,3], f32[3]", "f32[4], i64[4]", "c64[2,3], f32[3]"],
    )),
    mutate("copy_(Tensor(a!) self, Tensor|Scalar src, bool non_blocking=False) -> Tensor(a!)", METHOD, "copy"),
    moves(samples(
        gradient(
            refusing(
                kernel("fill(Tensor self, Tensor|Scalar value) -> Tensor", BOTH, Family::Create, fill_rule, Kernel(&(fill as KernelFn))),
                numbers::element::<1>,
            ),
            "",
            |b| {
                let grad = b.grad()?;
                b.give(1, grad);
                Ok(())
            },
        ),
        &["f32[2,3], 1.5", "i64[3], 2"],
    )),
    mutate("fill_(Tensor(a!) self, Tensor|Scalar value) -> Tensor(a!)", BOTH, "fill"),
    moves(constant(kernel("zero(Tensor self) -> Tensor", Forms::INTERNAL, Family::Create, like_first, Kernel(&(zero as KernelFn))))),
    mutate("zero_(Tensor(a!) self) -> Tensor(a!)", BOTH, "zero"),
];

/// The only device whose memory this crate reaches.
pub fn check_device(device: &taipan_ir::Device) -> Result<(), OpError> {
    if device.is_cpu() {
        return Ok(());
    }
    Err(OpError::runtime(format!("Expected one of cpu device type at start of device string: {}", device.name())))
}

/// The value itself where nothing changes, as PyTorch's `to` answers.
pub fn to(e: &mut dyn Emitter, value: Val, dtype: Option<DType>, copy: bool, format: Option<MemoryFormat>) -> Result<Vals, OpError> {
    let f = e.facts(value).clone();
    let dtype = dtype.unwrap_or(f.dtype);
    let laid = match format {
        Some(format) => has_format(e.dims(), &f, format)?,
        None => true,
    };
    if dtype == f.dtype && laid && !copy {
        return Ok(smallvec![value]);
    }
    let format = format.map_or(Arg::Absent, Arg::MemoryFormat);
    call(e, "_to_copy", &[t(value), Arg::DType(dtype), Arg::Absent, Arg::Absent, Arg::Absent, Arg::Bool(false), format])
}

fn channels_last_strides(table: &mut dyn Dims, sizes: &[Dim], spatial: usize) -> Result<taipan_ir::Shape, OpError> {
    if sizes.len() != spatial + 2 {
        let name = if spatial == 2 { "channels_last format must be rank 4" } else { "channels_last_3d format must be rank 5" };
        return Err(OpError::runtime(format!("required rank {} tensor to use {name}", spatial + 2)));
    }
    Ok(rules::channels_last(table, sizes))
}

/// The images, or volumes, with their channels innermost where those of `like` are.
pub fn images_like(e: &mut dyn Emitter, images: Val, like: &Facts) -> Result<Val, OpError> {
    if !rules::is_channels_last(e.dims(), like)? {
        return Ok(images);
    }
    let format = if like.rank() == 4 { MemoryFormat::ChannelsLast } else { MemoryFormat::ChannelsLast3d };
    one(e, "contiguous", &[t(images), Arg::MemoryFormat(format)])
}

/// Whether the elements lie as the format says.
pub fn has_format(table: &mut dyn Dims, f: &Facts, format: MemoryFormat) -> Result<bool, OpError> {
    match format {
        MemoryFormat::Contiguous => f.is_contiguous(table),
        MemoryFormat::Preserve => Ok(true),
        MemoryFormat::ChannelsLast => Ok(channels_last_strides(table, &f.dims, 2)? == f.strides),
        MemoryFormat::ChannelsLast3d => Ok(channels_last_strides(table, &f.dims, 3)? == f.strides),
    }
}

/// The strides a copy of `f` gets.
pub fn strides_of_copy(table: &mut dyn Dims, f: &Facts, format: MemoryFormat) -> Result<taipan_ir::Shape, OpError> {
    match format {
        MemoryFormat::Contiguous => row_major(table, &f.dims),
        MemoryFormat::ChannelsLast => channels_last_strides(table, &f.dims, 2),
        MemoryFormat::ChannelsLast3d => channels_last_strides(table, &f.dims, 3),
        MemoryFormat::Preserve if is_dense(table, f)? => Ok(f.strides.clone()),
        MemoryFormat::Preserve => super::rules::pointwise_strides(table, &f.dims, &[f]),
    }
}

fn clone_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let f = *args::tensor(a, 0)?;
    let strides = strides_of_copy(cx.dims, f, args::memory_format(a, 1).unwrap_or(MemoryFormat::Preserve))?;
    Ok(smallvec![Facts { strides, offset: Dim::Is(0), ..f.clone() }])
}

/// A copy laid out as the result's facts say.
fn copy(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let source = args::tensor(a, 0)?;
    let converted = if facts[0].dtype == source.dtype() { source.clone() } else { write::cast(cx, source, facts[0].dtype)? };
    let strides: Sizes = facts[0].strides.iter().map(|d| d.known().ok_or(OpError::DataDependent)).collect::<Result<_, _>>()?;
    Ok(vec![write::relaid(cx, &converted, &strides)?])
}

fn copy_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let Arg::Tensor(source) = a[1] else { return like_first(cx, a) };
    let target = *args::tensor(a, 0)?;
    let shape = super::rules::broadcast_pair(cx.dims, &target.dims, &source.dims)?;
    if shape.len() != target.rank() || shape.iter().zip(&target.dims).any(|(a, b)| a != b && a.known().is_some()) {
        return Err(OpError::runtime(format!(
            "output with shape {} doesn't match the broadcast shape {}",
            super::rules::shown(&target.dims),
            super::rules::shown(&shape)
        )));
    }
    super::rules::fresh(cx, target, target.dtype, target.dims.clone())
}

fn expanded_copy(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let Arg::Tensor(source) = &a[1] else { return fill(cx, a, facts) };
    let target = args::tensor(a, 0)?;
    let converted = write::cast(cx, source, target.dtype())?;
    Ok(vec![converted.broadcast_to(target.sizes()).copied()?])
}

fn fill_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    if let Arg::Tensor(value) = a[1]
        && value.rank() > 0
    {
        return Err(OpError::runtime(format!(
            "fill_ only supports 0-dimension value tensor but got tensor with {} dimensions.",
            value.rank()
        )));
    }
    like_first(cx, a)
}

fn fill(_: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let like = args::tensor(a, 0)?;
    let number = match &a[1] {
        Arg::Tensor(value) => value.item()?,
        other => args::number(std::slice::from_ref(other), 0).unwrap_or(taipan_ir::Number::Int(0)),
    };
    Ok(vec![Tensor::full(like.dtype(), like.sizes(), number)])
}

fn zero(_: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let like = args::tensor(a, 0)?;
    Ok(vec![Tensor::zeros(like.dtype(), like.sizes())])
}
