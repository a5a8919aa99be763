//! Finding places: classes as rows of zeros and a one, numbers among sorted ones.

use super::{
    args,
    call::{call, one, t},
    define::{composite, constant, kernel, refusing, samples},
    refusal::indexing,
    rules,
};
use crate::{Context, KernelFn, Tensor, layout::Sizes, with_comparable, write};
use std::cmp::Ordering;
use taipan_ir::{
    Arg, DType, Dim, Emitter, Facts, Number, Op, OpError, Rel, Val,
    op::{FactsList, Family, Forms, Kernel, RuleContext},
};

/// The op tables of this file.
pub static OPS: &[Op] = &[
    samples(
        constant(kernel(
            "one_hot(Tensor self, int num_classes=-1) -> Tensor",
            Forms::NN,
            Family::Scatter,
            one_hot_rule,
            Kernel(&(one_hot as KernelFn)),
        )),
        &["i64[4]%3, 5", "i64[2,2]%3, 3"],
    ),
    samples(
        constant(refusing(
            kernel(
                "bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
                Forms::FUNCTION,
                Family::Other,
                |cx, a| {
                    let f = *args::tensor(a, 0)?;
                    rules::fresh(cx, f, if args::flag(a, 2) { DType::I32 } else { DType::I64 }, f.dims.clone())
                },
                Kernel(&(bucketize as KernelFn)),
            ),
            indexing::bucketize,
        )),
        &["f32[5], f64[1]"],
    ),
    constant(refusing(
        composite(
            "bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
            Forms::FUNCTION,
            |e, a| {
                let value = lone(e, &a[0], *args::tensor(a, 1)?)?;
                call(e, "bucketize.Tensor", &[t(value), a[1].clone(), a[2].clone(), a[3].clone()])
            },
        ),
        indexing::bucketize,
    )),
    samples(
        constant(refusing(
            kernel(
                "searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) -> Tensor",
                Forms::FUNCTION,
                Family::Other,
                searchsorted_rule,
                Kernel(&(searchsorted as KernelFn)),
            ),
            indexing::searchsorted,
        )),
        &[
            "f32[1], f32[5]",
            "f32[1], f32[5], side='right'",
            "f32[2,1], f32[2,3], right=True",
            "i64[3]%1, i64[2,2], sorter=i64[3]%3",
            "f32[1], f32[5], side='x'",
            "f32[2,1], f32[3,3]",
        ],
    ),
    constant(refusing(
        composite(
            "searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) -> Tensor",
            Forms::FUNCTION,
            |e, a| {
                let value = lone(e, &a[1], *args::tensor(a, 0)?)?;
                call(e, "searchsorted.Tensor", &[a[0].clone(), t(value), a[2].clone(), a[3].clone(), a[4].clone(), a[5].clone()])
            },
        ),
        indexing::searchsorted,
    )),
];

fn one_hot_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let x = *args::tensor(a, 0)?;
    if x.dtype != DType::I64 {
        return Err(OpError::runtime("one_hot is only applicable to index tensor of type LongTensor."));
    }
    let classes = args::dim(a, 1)?;
    let mut dims = x.dims.clone();
    dims.push(if classes == Dim::Is(-1) { cx.dims.fresh(1) } else { classes });
    rules::fresh(cx, x, DType::I64, dims)
}

fn one_hot(_: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let elements = x.elements::<i64>()?;
    if elements.iter().any(|v| *v < 0) {
        return Err(OpError::runtime("Class values must be non-negative."));
    }
    let classes = match args::int(a, 1)? {
        -1 => elements.iter().max().map_or(0, |m| m + 1),
        n => n,
    };
    if elements.iter().any(|v| *v >= classes) {
        return Err(OpError::runtime("Class values must be smaller than num_classes."));
    }
    let mut sizes: Sizes = x.sizes().into();
    sizes.push(classes);
    Ok(vec![Tensor::build(DType::I64, &sizes, |out: &mut [i64]| {
        out.chunks_mut(classes.max(1) as usize).zip(elements.iter()).for_each(|(row, v)| row[*v as usize] = 1);
    })])
}

/// A number as a zero-dim tensor of the type it has beside the elements of `like`.
fn lone(e: &mut dyn Emitter, number: &Arg<Val>, like: Val) -> Result<Val, OpError> {
    let float = matches!(number, Arg::Number(Number::Float(_)));
    let dtype = e.facts(like).dtype;
    let dtype = if float && !dtype.is_float() { e.default_float() } else { dtype };
    one(e, "full", &[super::call::ints([]), number.clone(), Arg::DType(dtype)])
}

fn searchsorted_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let (sorted, x) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
    let side = args::text(a, 4);
    if !matches!(side, "" | "left" | "right") {
        return Err(OpError::runtime(format!("torch.searchsorted(): side can only be 'left' or 'right' but got {side}")));
    }
    if args::flag(a, 3) && side == "left" {
        return Err(OpError::runtime(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True",
        ));
    }
    let mut same = sorted.rank() <= 1 || sorted.rank() == x.rank();
    if same && sorted.rank() > 1 {
        for (p, q) in sorted.dims[..sorted.rank() - 1].iter().zip(&x.dims) {
            same = same && (p == q || cx.dims.decide(Rel::Eq, *p, *q)?);
        }
    }
    if !same {
        return Err(OpError::runtime(format!(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and input value tensor must match, but we got boundaries tensor {} and input value tensor {}",
            rules::shown(&sorted.dims),
            rules::shown(&x.dims)
        )));
    }
    rules::fresh(cx, x, if args::flag(a, 2) { DType::I32 } else { DType::I64 }, x.dims.clone())
}

/// For each element of `x`, how many of its row of `sorted` come before it; NaN comes behind all.
fn ranks(
    cx: &mut Context,
    sorted: &Tensor,
    x: &Tensor,
    sorter: Option<&Tensor>,
    facts: &Facts,
    right: bool,
) -> Result<Vec<Tensor>, OpError> {
    let common = if sorted.dtype() == x.dtype() { x.dtype() } else { sorted.dtype().promote(x.dtype()) };
    let (sorted, values) = (write::cast(cx, sorted, common)?, write::cast(cx, x, common)?);
    let (sorted, values) = (write::comparable(cx, &sorted)?, write::comparable(cx, &values)?);
    let n = sorted.sizes().last().copied().unwrap_or(1) as usize;
    let shared = sorted.rank() <= 1;
    let width = if shared { values.numel() } else { x.sizes().last().copied().unwrap_or(1) as usize };
    let order = sorter.map(|s| s.elements::<i64>()).transpose()?;
    let mut found: Vec<i64> = vec![];
    with_comparable!(values.dtype(), T => {
        let (boundaries, elements) = (sorted.elements::<T>()?, values.elements::<T>()?);
        for (row, values) in elements.chunks(width.max(1)).enumerate() {
            let start = if shared { 0 } else { row * n };
            for v in values {
                // NaN lies behind all numbers.
                let before = |s: T| match s.partial_cmp(v) {
                    Some(Ordering::Greater) => false,
                    Some(Ordering::Equal) => right,
                    Some(Ordering::Less) | None => true,
                };
                let rank = match &order {
                    None => boundaries[start..start + n].partition_point(|s| before(*s)),
                    Some(order) => {
                        let row = &order[start..start + n];
                        if row.iter().any(|k| !(0..n as i64).contains(k)) {
                            return Err(OpError::runtime("torch.searchsorted(): sorter index out of range"));
                        }
                        row.partition_point(|k| before(boundaries[start + *k as usize]))
                    }
                };
                found.push(rank as i64);
            }
        }
    });
    let out = Tensor::from_slice(&found, x.sizes())?;
    Ok(vec![write::cast(cx, &out, facts.dtype)?])
}

fn bucketize(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    ranks(cx, args::tensor(a, 1)?, args::tensor(a, 0)?, None, &facts[0], args::flag(a, 3))
}

fn searchsorted(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let right = args::flag(a, 3) || args::text(a, 4) == "right";
    ranks(cx, args::tensor(a, 0)?, args::tensor(a, 1)?, args::optional_tensor(a, 5), &facts[0], right)
}
