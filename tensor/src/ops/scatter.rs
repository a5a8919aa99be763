//! Gathering and scattering along one dim.

use super::{
    args,
    call::{call, cast, i, one, t},
    define::{ALL, composite, gradient, kernel, moves, refusing, samples},
    gradient::gather::*,
    index::offsets,
    refusal::indexing,
    rules::{self, wrap_dim},
};
use crate::{
    Context, KernelFn, Tensor,
    element::{Additive, Arithmetic},
    layout::{self, Sizes},
    with_bits, with_comparable, write,
};
use bytemuck::Pod;
use taipan_ir::{
    Arg, DType, Dim, Emitter, Facts, Number, Op, OpError, Rel, Shape, Val,
    op::{FactsList, Family, Forms, Kernel, RuleContext, Vals},
};

const BOTH: Forms = Forms::BOTH;

/// The op tables of this file.
pub static OPS: &[Op] = &[
    moves(samples(
        gradient(
            kernel(
                "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
                BOTH,
                Family::Gather,
                gather_rule,
                Kernel(&(gather as KernelFn)),
            ),
            "index",
            of_gather,
        ),
        &["f32[3,4], 1, i64[3,2]%4", "f32[3,4], 0, i64[2,4]%3"],
    )),
    samples(
        refusing(
            composite("take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor", BOTH, |e, a| match a[2] {
                Arg::Int(d) => taken_along(e, a, d),
                _ => {
                    let (x, index) = (one(e, "flatten.using_ints", &a[..1])?, one(e, "flatten.using_ints", &a[1..2])?);
                    call(e, "gather", &[t(x), i(0), t(index)])
                }
            }),
            indexing::take_along,
        ),
        &["f32[3,4], i64[3,2]%4, 1"],
    ),
    moves(samples(
        gradient(
            refusing(
                kernel(
                    "scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
                    ALL,
                    Family::Scatter,
                    scatter_rule,
                    Kernel(&(scatter as KernelFn)),
                ),
                indexing::scatter,
            ),
            "index",
            of_scatter,
        ),
        &["f32[3,4], 1, i64[3,1]%4, f32[3,2]"],
    )),
    moves(samples(
        gradient(
            refusing(
                kernel(
                    "scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
                    ALL,
                    Family::Scatter,
                    scatter_rule,
                    Kernel(&(scatter as KernelFn)),
                ),
                indexing::scatter,
            ),
            "index",
            of_scatter,
        ),
        &["f32[3,4], 1, i64[3,1]%4, 7"],
    )),
    samples(
        refusing(
            kernel(
                "scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor",
                ALL,
                Family::Scatter,
                scatter_rule,
                Kernel(&(scatter_reduced as KernelFn)),
            ),
            indexing::scatter,
        ),
        &["f32[3,4], 1, i64[3,2]%4, f32[3,2], reduce='add'"],
    ),
    samples(
        gradient(
            refusing(
                kernel(
                    "scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> Tensor",
                    ALL,
                    Family::Scatter,
                    scatter_rule,
                    Kernel(&(scatter_reduced as KernelFn)),
                ),
                indexing::scatter,
            ),
            "self, index, src, result",
            of_scatter_reduce,
        ),
        &[
            "f32[3,4], 1, i64[3,2]%4, f32[3,2], 'sum'",
            "f32[3,4], 1, i64[3,2]%4, f32[3,2], 'amax'",
            "f32[3,4], 1, i64[3,4]%2, f32[3,4], 'mean'",
            "i64[3,4], 1, i64[3,4]%2, i64[3,4], 'mean'",
            "f32[3,4], 1, i64[3,4]%3, f32[3,4], 'sum', include_self=False",
            "f32[3,4], 1, i64[3,4]%3, f32[3,4], 'prod', include_self=False",
            "f32[3,4], 0, i64[2,4]%3, f32[2,4], 'mean', include_self=False",
            "f32[3,4].t, 0, i64[2,3]%4, f32[2,3], 'amin', include_self=False",
            "f32[3,4], 1, i64[3,2]%4, f32[3,2], 'x'",
        ],
    ),
    samples(
        refusing(
            composite(
                "index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> Tensor",
                ALL,
                |e, a| {
                    let source = *args::tensor(a, 3)?;
                    let index = index_along(e, a, source)?;
                    call(e, "scatter_reduce.two", &[a[0].clone(), a[1].clone(), t(index), t(source), a[4].clone(), a[5].clone()])
                },
            ),
            indexing::reduce,
        ),
        &["f32[3,4], 0, i64[2]%3, f32[2,4], 'prod'", "f32[3,4], 0, i64[2]%3, f32[2,4], 'mean', include_self=False"],
    ),
    samples(
        gradient(
            refusing(
                kernel(
                    "scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
                    ALL,
                    Family::Scatter,
                    scatter_rule,
                    Kernel(&(scatter_add as KernelFn)),
                ),
                indexing::scatter,
            ),
            "index",
            of_scatter_add,
        ),
        &["f32[3,4], 1, i64[3,2]%4, f32[3,2]"],
    ),
    samples(
        refusing(
            composite("index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor", ALL, |e, a| {
                let mut source = *args::tensor(a, 3)?;
                if !matches!(a[4], Arg::Number(Number::Int(1))) {
                    source = one(e, "mul.Tensor", &[t(source), a[4].clone()])?;
                }
                let index = index_along(e, a, source)?;
                call(e, "scatter_add", &[a[0].clone(), a[1].clone(), t(index), t(source)])
            }),
            indexing::add,
        ),
        &["f32[3,4], 0, i64[2]%3, f32[2,4]"],
    ),
    samples(
        refusing(
            composite("index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor", ALL, |e, a| {
                let source = *args::tensor(a, 3)?;
                let index = index_along(e, a, source)?;
                call(e, "scatter.src", &[a[0].clone(), a[1].clone(), t(index), t(source)])
            }),
            indexing::copy,
        ),
        &["f32[3,4], 0, i64[2]%3, f32[2,4]"],
    ),
    moves(samples(
        refusing(
            composite("index_fill.int_Scalar(Tensor self, int dim, Tensor index, Tensor|Scalar value) -> Tensor", ALL, index_fill),
            indexing::fill,
        ),
        &["f32[3,4], 0, i64[2]%3, 7"],
    )),
];

/// A gather along `dim` of two tensors that broadcast to each other in the other dims.
fn taken_along(e: &mut dyn Emitter, a: &[Arg<Val>], dim: Dim) -> Result<Vals, OpError> {
    let (x, index) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
    let (own, places) = (e.facts(x).dims.clone(), e.facts(index).dims.clone());
    let d = wrap_dim(dim.known().ok_or(OpError::DataDependent)?, own.len())?;
    if own.is_empty() {
        return call(e, "gather", &[t(x), Arg::Int(dim), t(index)]);
    }
    let with = |sizes: &[Dim], size: Dim| {
        let mut sizes: Shape = sizes.into();
        sizes[d] = size;
        sizes
    };
    let shape = rules::broadcast_pair(e.dims(), &with(&own, Dim::Is(1)), &with(&places, Dim::Is(1)))?;
    let x = one(e, "expand", &[t(x), Arg::Ints(with(&shape, own[d]))])?;
    let index = one(e, "expand", &[t(index), Arg::Ints(with(&shape, places[d]))])?;
    call(e, "gather", &[t(x), Arg::Int(dim), t(index)])
}

/// The value put at every place of the index; a tensor without dims counts as one of one element.
fn index_fill(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let x = *args::tensor(a, 0)?;
    let facts = e.facts(x).clone();
    let d = wrap_dim(args::int(a, 1)?, facts.rank())?;
    let value = match a[3] {
        Arg::Tensor(value) => cast(e, value, facts.dtype)?,
        _ => one(e, "full", &[super::call::ints([]), a[3].clone(), Arg::DType(facts.dtype)])?,
    };
    let base = if facts.rank() == 0 { one(e, "reshape", &[t(x), super::call::ints([1])])? } else { x };
    let mut indices = vec![None; d];
    indices.push(Some(*args::tensor(a, 2)?));
    let out = one(e, "index_put", &[t(base), Arg::OptionalTensors(indices), t(value), Arg::Bool(false)])?;
    call(e, "view", &[t(out), Arg::Ints(facts.dims)])
}

fn gather_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let (x, index) = (*args::tensor(a, 0)?, *args::tensor(a, 2)?);
    let d = wrap_dim(args::int(a, 1)?, x.rank())?;
    check_alongside(cx, x, index, d, "gather")?;
    rules::fresh(cx, x, x.dtype, index.dims.clone())
}

fn check_alongside(cx: &mut RuleContext<'_>, x: &Facts, index: &Facts, d: usize, name: &str) -> Result<(), OpError> {
    if !matches!(index.dtype, DType::I64 | DType::I32) {
        return Err(OpError::runtime(format!("{name}(): Expected dtype int32/int64 for index")));
    }
    if index.rank().max(1) != x.rank().max(1) {
        return Err(OpError::runtime("Index tensor must have the same number of dimensions as input tensor"));
    }
    for k in (0..index.rank().min(x.rank())).filter(|k| *k != d) {
        if !cx.dims.decide(Rel::Le, index.dims[k], x.dims[k])? {
            return Err(OpError::runtime(format!(
                "Size does not match at dimension {k} expected index {} to be no larger than self {} apart from dimension {d}",
                rules::shown(&index.dims),
                rules::shown(&x.dims)
            )));
        }
    }
    Ok(())
}

/// Calls `at(index element, offset in x without dim d, number of the index element)` over all of `index`.
fn alongside(x: &Tensor, index: &Tensor, d: usize, mut at: impl FnMut(i64, i64, usize) -> Result<(), OpError>) -> Result<(), OpError> {
    let elements = index.elements::<i64>()?;
    let mut strides: Sizes = x.strides().into();
    if let Some(s) = strides.get_mut(d) {
        *s = 0;
    }
    let places = if index.rank() == x.rank() { offsets(index.sizes(), &strides) } else { vec![0; elements.len()] };
    let n = x.sizes().get(d).copied().unwrap_or(1);
    for (k, (i, place)) in elements.iter().zip(places).enumerate() {
        if *i < 0 || *i >= n {
            return Err(OpError::runtime(format!("index {i} is out of bounds for dimension {d} with size {n}")));
        }
        at(*i, place, k)?;
    }
    Ok(())
}

fn gather(cx: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let index = write::cast(cx, args::tensor(a, 2)?, DType::I64)?;
    let d = wrap_dim(args::int(a, 1)?, x.rank())?;
    let stride = x.strides().get(d).copied().unwrap_or(0);
    with_bits!(x.dtype(), T => {
        let memory = x.read::<T>()?;
        Tensor::try_build(x.dtype(), index.sizes(), |out: &mut [T]| {
            alongside(x, &index, d, |i, place, k| {
                out[k] = memory[(x.offset() + place + i * stride) as usize];
                Ok(())
            })
        })
        .map(|t| vec![t])
    })
}

fn scatter_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let (x, index) = (*args::tensor(a, 0)?, *args::tensor(a, 2)?);
    let d = wrap_dim(args::int(a, 1)?, x.rank())?;
    check_alongside(cx, x, index, d, "scatter")?;
    if let Arg::Tensor(source) = a[3]
        && source.dtype != x.dtype
    {
        return Err(OpError::runtime("scatter(): Expected self.dtype to be equal to src.dtype"));
    }
    rules::like_first(cx, a)
}

/// `combine(old, new)` at each place of `index`, in a copy of `x`; `values` has the dtype of `x`.
fn scattered<T: Pod>(x: &Tensor, index: &Tensor, d: usize, values: &Tensor, combine: impl Fn(T, T) -> T) -> Result<Tensor, OpError> {
    let base = x.copied()?;
    let stride = base.strides().get(d).copied().unwrap_or(0);
    let values = values.elements::<T>()?;
    let mut result = Ok(());
    write::change_new(&base, |memory: &mut [T]| {
        let layout = x.with_layout(x.dtype(), x.sizes(), &layout::row_major(x.sizes()), 0);
        result = alongside(&layout, index, d, |i, place, k| {
            let o = &mut memory[(place + i * stride) as usize];
            *o = combine(*o, values[k]);
            Ok(())
        });
    })?;
    result.map(|()| base)
}

/// The index of a scatter, the dim it goes along, and one value per index.
fn scatter_arguments(cx: &mut Context, a: &[Arg<Tensor>]) -> Result<(Tensor, usize, Tensor), OpError> {
    let x = args::tensor(a, 0)?;
    let index = write::cast(cx, args::tensor(a, 2)?, DType::I64)?;
    let d = wrap_dim(args::int(a, 1)?, x.rank())?;
    let values = match &a[3] {
        Arg::Tensor(source) => {
            if source.rank() == index.rank() && source.sizes().iter().zip(index.sizes()).any(|(s, i)| i > s) {
                return Err(OpError::runtime(format!(
                    "Expected index {:?} to be no larger than self {:?} apart from dimension {d} and to be no larger size than src {:?}",
                    index.sizes(),
                    x.sizes(),
                    source.sizes()
                )));
            }
            source.with_layout(source.dtype(), index.sizes(), source.strides(), source.offset())
        }
        other => Tensor::full(x.dtype(), index.sizes(), args::number(std::slice::from_ref(other), 0).unwrap_or(Number::Int(0))),
    };
    Ok((index, d, values))
}

fn scatter(cx: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let (index, d, values) = scatter_arguments(cx, a)?;
    Ok(vec![with_bits!(x.dtype(), T => scattered::<T>(x, &index, d, &values, |_, new| new)?)])
}

fn scatter_add(cx: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    combined(cx, a, "sum")
}

fn scatter_reduced(cx: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    combined(cx, a, args::text(a, 4))
}

fn combined(cx: &mut Context, a: &[Arg<Tensor>], how: &str) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let (index, d, values) = scatter_arguments(cx, a)?;
    let (mut wide, values) = (write::comparable(cx, x)?, write::comparable(cx, &values)?);
    let fresh = matches!(a.get(5), Some(Arg::Bool(false)));
    if fresh {
        wide = with_comparable!(wide.dtype(), T => {
            let neutral = match how {
                "prod" | "multiply" => <T as Additive>::one(),
                "amax" => <T as Arithmetic>::least(),
                "amin" => <T as Arithmetic>::greatest(),
                _ => <T as Additive>::zero(),
            };
            scattered::<T>(&wide, &index, d, &values, |_, _| neutral)?
        });
    }
    let out = with_comparable!(wide.dtype(), T => match how {
        "mean" => {
            let sums = scattered::<T>(&wide, &index, d, &values, |old, new| old.plus(new))?;
            let counts = Tensor::full(DType::I64, x.sizes(), Number::Int(i64::from(!fresh)));
            let ones = Tensor::full(DType::I64, index.sizes(), Number::Int(1));
            let counts = scattered::<i64>(&counts, &index, d, &ones, |old, new| old + new)?;
            let counts = counts.elements::<i64>()?;
            let means: Vec<T> = sums.elements::<T>()?.iter().zip(counts.iter()).map(|(s, n)| Arithmetic::over(*s, (*n).max(1))).collect();
            Tensor::from_slice(&means, x.sizes())?
        }
        "add" | "sum" => scattered::<T>(&wide, &index, d, &values, |old, new| old.plus(new))?,
        "multiply" | "prod" => scattered::<T>(&wide, &index, d, &values, |old, new| old.times(new))?,
        "amax" => scattered::<T>(&wide, &index, d, &values, |old, new| if old > new || Arithmetic::is_nan(old) { old } else { new })?,
        "amin" => scattered::<T>(&wide, &index, d, &values, |old, new| if old < new || Arithmetic::is_nan(old) { old } else { new })?,
        other => return Err(OpError::runtime(format!("reduce argument must be either sum, prod, mean, amax or amin, got {other}"))),
    });
    Ok(vec![write::cast(cx, &out, x.dtype())?])
}

/// Argument 2, a vector of indices along dim argument 1, expanded to the shape of `like`.
fn index_along(e: &mut dyn Emitter, a: &[Arg<Val>], like: Val) -> Result<Val, OpError> {
    let f = e.facts(like).clone();
    let d = wrap_dim(args::int(a, 1)?, f.rank())?;
    let index = cast(e, *args::tensor(a, 2)?, DType::I64)?;
    let mut own = vec![Dim::Is(1); f.rank()];
    if let Some(size) = own.get_mut(d) {
        *size = e.facts(index).dims.first().copied().unwrap_or(Dim::Is(1));
    }
    let view = one(e, "view", &[t(index), super::call::dims(own)])?;
    one(e, "expand", &[t(view), Arg::Ints(f.dims)])
}
