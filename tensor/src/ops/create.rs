//! New tensors from sizes and numbers.

use super::{
    args,
    call::{call, t},
    copy::{check_device, strides_of_copy},
    define::{composite, constant, gradient, kernel, moves, refusing, samples},
    refusal::{numbers, shapes},
    rules,
};
use crate::{Context, KernelFn, Tensor, element::Additive, layout::Sizes, tensor::plain_number, with_plain};
use smallvec::smallvec;
use taipan_ir::{
    Arg, DType, Dim, Facts, MemoryFormat, Number, Op, OpError, Shape,
    op::{FactsList, Family, Forms, Kernel, RuleContext},
};

const FUNCTION: Forms = Forms::FUNCTION;

const fn create(schema: &'static str, forms: Forms, facts: taipan_ir::op::FactsRule, run: Kernel) -> Op {
    constant(kernel(schema, forms, Family::Create, facts, run))
}

/// The op tables of this file.
pub static OPS: &[Op] = &[
    moves(samples(
        create(
            "zeros(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool requires_grad=False) -> Tensor",
            FUNCTION,
            |cx, a| sized(cx, a, 0, 1, 3, None),
            Kernel(&(zeros as KernelFn)),
        ),
        &["[2,3]", "[4], dtype=i64"],
    )),
    moves(samples(
        create(
            "ones(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool requires_grad=False) -> Tensor",
            FUNCTION,
            |cx, a| sized(cx, a, 0, 1, 3, None),
            Kernel(&(ones as KernelFn)),
        ),
        &["[2,3]", "[4], dtype=bool"],
    )),
    moves(create(
        "empty.memory_format(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None, bool requires_grad=False) -> Tensor",
        FUNCTION,
        |cx, a| sized(cx, a, 0, 1, 3, None),
        Kernel(&(zeros as KernelFn)),
    )),
    moves(refusing(
        create(
            "empty_strided(int[] size, int[] stride, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool requires_grad=False) -> Tensor",
            FUNCTION,
            |cx, a| {
                let mut facts = sized(cx, a, 0, 2, 4, None)?;
                facts[0].strides = args::dims(a, 1)?.into();
                Ok(facts)
            },
            Kernel(&(strided as KernelFn)),
        ),
        shapes::strided,
    )),
    moves(samples(
        refusing(
            create(
                "full(int[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool requires_grad=False) -> Tensor",
                FUNCTION,
                |cx, a| {
                    let value = args::number(a, 1).unwrap_or(Number::Int(0)).dtype(cx.default_float);
                    sized(cx, a, 0, 2, 4, Some(value))
                },
                Kernel(&(full as KernelFn)),
            ),
            numbers::filling::<1, 2>,
        ),
        &["[2,3], 1.5", "[2], 3", "[2], True", "[2], 1, dtype=f64"],
    )),
    moves(samples(
        refusing(
            create(
                "scalar_tensor(Scalar s, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
                FUNCTION,
                |cx, a| {
                    let dtype = args::dtype(a, 1).unwrap_or(cx.default_float);
                    Ok(smallvec![Facts::contiguous(cx.dims, dtype, args::device(a, 3), Shape::new())?])
                },
                Kernel(&(scalar as KernelFn)),
            ),
            numbers::lone,
        ),
        &["2.5"],
    )),
    samples(
        refusing(
            create(
                "arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool requires_grad=False) -> Tensor",
                FUNCTION,
                |cx, a| arange_rule(cx, args::number(a, 0), args::number(a, 1), args::number(a, 2), args::dtype(a, 3), args::device(a, 5)),
                Kernel(&(arange_steps as KernelFn)),
            ),
            shapes::arange::<2, 3>,
        ),
        &["1, 5", "0, 1, 0.25", "5, 0, -2", "1, 2, 0.3, dtype=f64"],
    ),
    samples(
        refusing(
            create(
                "arange(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool requires_grad=False) -> Tensor",
                FUNCTION,
                |cx, a| {
                    arange_rule(cx, Some(Number::Int(0)), args::number(a, 0), Some(Number::Int(1)), args::dtype(a, 1), args::device(a, 3))
                },
                Kernel(&(arange_end as KernelFn)),
            ),
            shapes::arange::<1, 1>,
        ),
        &["5", "2.5", "4, dtype=f32"],
    ),
    samples(
        refusing(
            create(
                "linspace(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool requires_grad=False) -> Tensor",
                FUNCTION,
                |cx, a| {
                    if args::int(a, 2)? < 0 {
                        return Err(OpError::runtime("number of steps must be non-negative"));
                    }
                    let dtype = args::dtype(a, 3).unwrap_or(cx.default_float);
                    Ok(smallvec![Facts::contiguous(cx.dims, dtype, args::device(a, 5), smallvec![args::dim(a, 2)?])?])
                },
                Kernel(&(linspace as KernelFn)),
            ),
            numbers::ends,
        ),
        &["0, 1, 5", "-1, 1, 4", "3, 10, 1"],
    ),
    samples(
        create(
            "logspace(Scalar start, Scalar end, int steps, float base=10.0, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool requires_grad=False) -> Tensor",
            FUNCTION,
            |cx, a| {
                let dtype = args::dtype(a, 4).unwrap_or(cx.default_float);
                Ok(smallvec![Facts::contiguous(cx.dims, dtype, args::device(a, 6), smallvec![args::dim(a, 2)?])?])
            },
            Kernel(&(logspace as KernelFn)),
        ),
        &["0, 2, 3"],
    ),
    moves(samples(
        create(
            "eye.m(int n, int m, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool requires_grad=False) -> Tensor",
            FUNCTION,
            |cx, a| {
                check_side("n", args::int(a, 0)?)?;
                check_side("m", args::int(a, 1)?)?;
                let dtype = args::dtype(a, 2).unwrap_or(cx.default_float);
                let dims = smallvec![args::dim(a, 0)?, args::dim(a, 1)?];
                Ok(smallvec![Facts::contiguous(cx.dims, dtype, args::device(a, 4), dims)?])
            },
            Kernel(&(eye as KernelFn)),
        ),
        &["2, 3"],
    )),
    moves(samples(
        create(
            "eye(int n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool requires_grad=False) -> Tensor",
            FUNCTION,
            |cx, a| {
                check_side("n", args::int(a, 0)?)?;
                let dtype = args::dtype(a, 1).unwrap_or(cx.default_float);
                let dims = smallvec![args::dim(a, 0)?, args::dim(a, 0)?];
                Ok(smallvec![Facts::contiguous(cx.dims, dtype, args::device(a, 3), dims)?])
            },
            Kernel(&(eye as KernelFn)),
        ),
        &["3"],
    )),
    moves(samples(
        create(
            "zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None, bool requires_grad=False) -> Tensor",
            FUNCTION,
            |cx, a| like(cx, a, 1, 3, 5),
            Kernel(&(zeros as KernelFn)),
        ),
        &["f32[2,3]", "f32[2,3].t", "i64[3], dtype=f32"],
    )),
    moves(samples(
        create(
            "ones_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None, bool requires_grad=False) -> Tensor",
            FUNCTION,
            |cx, a| like(cx, a, 1, 3, 5),
            Kernel(&(ones as KernelFn)),
        ),
        &["f32[2,3]"],
    )),
    moves(create(
        "empty_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None, bool requires_grad=False) -> Tensor",
        FUNCTION,
        |cx, a| like(cx, a, 1, 3, 5),
        Kernel(&(zeros as KernelFn)),
    )),
    moves(samples(
        refusing(
            create(
                "full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None, bool requires_grad=False) -> Tensor",
                FUNCTION,
                |cx, a| like(cx, a, 2, 4, 6),
                Kernel(&(full as KernelFn)),
            ),
            numbers::filling::<1, 2>,
        ),
        &["f32[2,3], 2", "i64[3], 7"],
    )),
    moves(new_like(
        "new_zeros(Tensor self, int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool requires_grad=False) -> Tensor",
        Kernel(&(zeros as KernelFn)),
    )),
    moves(new_like(
        "new_ones(Tensor self, int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool requires_grad=False) -> Tensor",
        Kernel(&(ones as KernelFn)),
    )),
    moves(create(
        "new_empty(Tensor self, int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool requires_grad=False) -> Tensor",
        Forms::METHOD,
        new_like_rule,
        Kernel(&(zeros as KernelFn)),
    )),
    moves(samples(
        refusing(
            create(
                "new_full(Tensor self, int[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool requires_grad=False) -> Tensor",
                Forms::METHOD,
                |cx, a| {
                    let own = args::tensor(a, 0)?.dtype;
                    sized(cx, a, 1, 3, 5, Some(own))
                },
                Kernel(&(new_full as KernelFn)),
            ),
            numbers::filling::<2, 3>,
        ),
        &["f32[2], [3], 1.5"],
    )),
    moves(samples(
        gradient(
            kernel(
                "tril(Tensor self, int diagonal=0) -> Tensor",
                Forms::BOTH.or(Forms::INPLACE),
                Family::Create,
                triangle_rule,
                Kernel(&(tril as KernelFn)),
            ),
            "",
            super::gradient::same_op,
        ),
        &["f32[3,4]", "f32[2,3,3], -1"],
    )),
    moves(samples(
        gradient(
            kernel(
                "triu(Tensor self, int diagonal=0) -> Tensor",
                Forms::BOTH.or(Forms::INPLACE),
                Family::Create,
                triangle_rule,
                Kernel(&(triu as KernelFn)),
            ),
            "",
            super::gradient::same_op,
        ),
        &["f32[3,4]", "bool[3,3], 1"],
    )),
    samples(
        composite("diag(Tensor self, int diagonal=0) -> Tensor", Forms::BOTH, |e, a| {
            let value = *args::tensor(a, 0)?;
            match e.facts(value).rank() {
                1 => call(e, "diag_embed", &[t(value), a[1].clone()]),
                2 => {
                    let view = super::call::one(e, "diagonal", &[t(value), a[1].clone()])?;
                    call(e, "clone", &[t(view)])
                }
                n => Err(OpError::runtime(format!("diag(): Supports 1D or 2D tensors. Got {n}D"))),
            }
        }),
        &["f32[3]", "f32[3,3]", "f32[3,3], 1"],
    ),
    moves(samples(
        gradient(
            refusing(
                kernel(
                    "diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
                    Forms::BOTH,
                    Family::Create,
                    diag_embed_rule,
                    Kernel(&(diag_embed as KernelFn)),
                ),
                shapes::diag_embed,
            ),
            "",
            super::gradient::of_diag_embed,
        ),
        &["f32[3]", "f32[2,3], 1"],
    )),
];

const fn new_like(schema: &'static str, run: Kernel) -> Op {
    samples(create(schema, Forms::METHOD, new_like_rule, run), &["f32[2], [3]"])
}

fn check_side(name: &str, n: i64) -> Result<(), OpError> {
    if n < 0 {
        return Err(OpError::runtime(format!("{name} must be greater or equal to 0, got {n}")));
    }
    Ok(())
}

fn new_like_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let own = args::tensor(a, 0)?.dtype;
    sized(cx, a, 1, 2, 4, Some(own))
}

/// Facts from a size argument, a dtype argument and a device argument.
pub fn sized(
    cx: &mut RuleContext<'_>,
    a: &[Arg<&Facts>],
    size: usize,
    dtype: usize,
    device: usize,
    otherwise: Option<DType>,
) -> Result<FactsList, OpError> {
    let dims = args::dims(a, size)?;
    if let Some(n) = dims.iter().filter_map(|d| d.known()).find(|n| *n < 0) {
        return Err(OpError::runtime(format!("Trying to create tensor with negative dimension {n}: {}", rules::shown(dims))));
    }
    let device = args::device(a, device);
    check_device(&device)?;
    let dtype = args::dtype(a, dtype).or(otherwise).unwrap_or(cx.default_float);
    Ok(smallvec![Facts::contiguous(cx.dims, dtype, device, dims.into())?])
}

/// Facts like those of argument 0.
pub fn like(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>], dtype: usize, device: usize, format: usize) -> Result<FactsList, OpError> {
    let f = *args::tensor(a, 0)?;
    check_device(&args::device(a, device))?;
    let strides = strides_of_copy(cx.dims, f, args::memory_format(a, format).unwrap_or(MemoryFormat::Preserve))?;
    Ok(smallvec![Facts { dtype: args::dtype(a, dtype).unwrap_or(f.dtype), strides, offset: Dim::Is(0), ..f.clone() }])
}

fn known(dims: &[Dim]) -> Result<Sizes, OpError> {
    dims.iter().map(|d| d.known().ok_or(OpError::DataDependent)).collect()
}

/// A tensor laid out as the facts say, every element `number`.
pub fn filled(facts: &Facts, number: Number) -> Result<Tensor, OpError> {
    let sizes = known(&facts.dims)?;
    let tensor = Tensor::full(facts.dtype, &sizes, number);
    Ok(tensor.with_layout(facts.dtype, &sizes, &known(&facts.strides)?, 0))
}

fn zeros(_: &mut Context, _: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    Ok(vec![filled(&facts[0], Number::Int(0))?])
}

fn ones(_: &mut Context, _: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    Ok(vec![filled(&facts[0], Number::Int(1))?])
}

fn full(_: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    Ok(vec![filled(&facts[0], args::number(a, 1).unwrap_or(Number::Int(0)))?])
}

fn new_full(_: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    Ok(vec![filled(&facts[0], args::number(a, 2).unwrap_or(Number::Int(0)))?])
}

fn scalar(_: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    Ok(vec![filled(&facts[0], args::number(a, 0).unwrap_or(Number::Int(0)))?])
}

fn strided(_: &mut Context, _: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let (sizes, strides) = (known(&facts[0].dims)?, known(&facts[0].strides)?);
    let needed = crate::layout::extent(&sizes, &strides).1 + 1;
    let memory = Tensor::zeros(facts[0].dtype, &[if sizes.contains(&0) { 0 } else { needed }]);
    Ok(vec![memory.with_layout(facts[0].dtype, &sizes, &strides, 0)])
}

fn arange_rule(
    cx: &mut RuleContext<'_>,
    start: Option<Number>,
    end: Option<Number>,
    step: Option<Number>,
    dtype: Option<DType>,
    device: taipan_ir::Device,
) -> Result<FactsList, OpError> {
    let [start, end, step] = [start, end, step].map(|n| n.unwrap_or(Number::Int(0)));
    let (low, high, by) = (start.as_f64(), end.as_f64(), step.as_f64());
    if by == 0.0 {
        return Err(OpError::runtime("step must be nonzero"));
    }
    if !low.is_finite() || !high.is_finite() {
        return Err(OpError::runtime(format!("unsupported range: {low} -> {high}")));
    }
    if (by > 0.0 && high < low) || (by < 0.0 && high > low) {
        return Err(OpError::runtime("upper bound and lower bound inconsistent with step sign"));
    }
    let floats = [start, end, step].iter().any(|n| matches!(n, Number::Float(_)));
    let dtype = dtype.unwrap_or(if floats { cx.default_float } else { DType::I64 });
    let count = match (start, end, step) {
        (Number::Int(s), Number::Int(e), Number::Int(b)) => (i128::from(e) - i128::from(s) + i128::from(b - b.signum())) as i64 / b,
        _ => ((high - low) / by).ceil() as i64,
    };
    Ok(smallvec![Facts::contiguous(cx.dims, dtype, device, smallvec![Dim::Is(count.max(0))])?])
}

fn arange(start: Number, step: Number, facts: &Facts) -> Result<Tensor, OpError> {
    let sizes = known(&facts.dims)?;
    let integers = !matches!((start, step), (Number::Float(_), _) | (_, Number::Float(_)));
    Ok(with_plain!(facts.dtype, T => Tensor::build(facts.dtype, &sizes, |out: &mut [T]| {
        for (i, o) in out.iter_mut().enumerate() {
            let number = if integers || !facts.dtype.is_float() {
                Number::Int(start.as_i64().wrapping_add((i as i64).wrapping_mul(step.as_i64())))
            } else {
                Number::Float(start.as_f64() + i as f64 * step.as_f64())
            };
            *o = plain_number(facts.dtype, number);
        }
    })))
}

fn arange_steps(_: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let number = |i: usize| args::number(a, i).unwrap_or(Number::Int(0));
    Ok(vec![arange(number(0), number(2), &facts[0])?])
}

fn arange_end(_: &mut Context, _: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    Ok(vec![arange(Number::Int(0), Number::Int(1), &facts[0])?])
}

fn linspace(_: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let (start, end) = (args::float(a, 0, 0.0), args::float(a, 1, 0.0));
    let sizes = known(&facts[0].dims)?;
    Ok(vec![spaced(facts[0].dtype, &sizes, start, end, |x| x)])
}

fn logspace(_: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let (start, end, base) = (args::float(a, 0, 0.0), args::float(a, 1, 0.0), args::float(a, 3, 10.0));
    let sizes = known(&facts[0].dims)?;
    Ok(vec![spaced(facts[0].dtype, &sizes, start, end, |x| libm::pow(base, x))])
}

/// Evenly spaced from both ends, so that both come out exactly.
fn spaced(dtype: DType, sizes: &[i64], start: f64, end: f64, map: impl Fn(f64) -> f64) -> Tensor {
    let steps = sizes[0].max(0) as usize;
    let single = dtype == DType::F32;
    let step = if steps > 1 { (end - start) / (steps - 1) as f64 } else { 0.0 };
    let at = |i: usize| {
        let forward = i < steps / 2 || steps == 1;
        let (from, count, sign) = if forward { (start, i, 1.0) } else { (end, steps - 1 - i, -1.0) };
        if single {
            f64::from((sign as f32 * step as f32).mul_add(count as f32, from as f32))
        } else {
            (sign * step).mul_add(count as f64, from)
        }
    };
    with_plain!(dtype, T => Tensor::build(dtype, sizes, |out: &mut [T]| {
        out.iter_mut().enumerate().for_each(|(i, o)| *o = plain_number(dtype, Number::Float(map(at(i)))));
    }))
}

fn eye(_: &mut Context, _: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let sizes = known(&facts[0].dims)?;
    let columns = sizes[1].max(0) as usize;
    let dtype = facts[0].dtype;
    Ok(vec![with_plain!(dtype, T => Tensor::build(dtype, &sizes, |out: &mut [T]| {
        (0..sizes[0].min(sizes[1]).max(0) as usize).for_each(|i| out[i * columns + i] = <T as Additive>::one());
    }))])
}

fn triangle_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    if args::tensor(a, 0)?.rank() < 2 {
        return Err(OpError::runtime("tril: input tensor must have at least 2 dimensions"));
    }
    rules::like_first(cx, a)
}

fn triangle(a: &[Arg<Tensor>], keep: impl Fn(i64, i64) -> bool) -> Result<Vec<Tensor>, OpError> {
    let source = args::tensor(a, 0)?;
    let (rows, columns) = (source.sizes()[source.rank() - 2], source.sizes()[source.rank() - 1]);
    crate::with_bits!(source.dtype(), T => {
        let elements = source.elements::<T>()?;
        Ok(vec![Tensor::build(source.dtype(), source.sizes(), |out: &mut [T]| {
            for (r, (to, from)) in out.chunks_mut(columns.max(1) as usize).zip(elements.chunks(columns.max(1) as usize)).enumerate() {
                let row = r as i64 % rows;
                to.iter_mut().zip(from).enumerate().for_each(|(c, (o, x))| if keep(row, c as i64) { *o = *x });
            }
        })])
    })
}

fn tril(_: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let diagonal = args::int(a, 1)?;
    triangle(a, |row, column| column - row <= diagonal)
}

fn triu(_: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let diagonal = args::int(a, 1)?;
    triangle(a, |row, column| column - row >= diagonal)
}

fn diag_embed_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let f = *args::tensor(a, 0)?;
    let rank = f.rank() + 1;
    let (p, q) = (rules::wrap_dim(args::int(a, 2)?, rank)?, rules::wrap_dim(args::int(a, 3)?, rank)?);
    let side = cx.dims.calc(taipan_ir::DimOp::Add, f.dims[f.rank() - 1], Dim::Is(args::int(a, 1)?.abs()));
    let mut dims: Shape = f.dims[..f.rank() - 1].into();
    for d in [p.min(q), p.max(q)] {
        dims.insert(d, side);
    }
    rules::fresh(cx, f, f.dtype, dims)
}

fn diag_embed(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let source = args::tensor(a, 0)?;
    let out = filled(&facts[0], Number::Int(0))?;
    let offset = args::int(a, 1)?;
    let (p, q) = (rules::wrap_dim(args::int(a, 2)?, out.rank())?, rules::wrap_dim(args::int(a, 3)?, out.rank())?);
    let mut sizes: Sizes = Sizes::new();
    let mut strides: Sizes = Sizes::new();
    for d in (0..out.rank()).filter(|d| *d != p && *d != q) {
        sizes.push(out.sizes()[d]);
        strides.push(out.strides()[d]);
    }
    sizes.push(source.sizes()[source.rank() - 1]);
    strides.push(out.strides()[p] + out.strides()[q]);
    let start = if offset >= 0 { offset * out.strides()[q] } else { -offset * out.strides()[p] };
    let view = out.with_layout(out.dtype(), &sizes, &strides, start);
    crate::write::fill_new(cx, &view, source)?;
    Ok(vec![out.with_layout(out.dtype(), out.sizes(), out.strides(), 0)])
}
