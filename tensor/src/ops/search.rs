//! Finding places: classes as rows of zeros and a one, numbers among sorted ones.

use super::{
    args,
    define::{constant, kernel, samples},
    rules,
};
use crate::{Context, KernelFn, Tensor, layout::Sizes, write};
use taipan_ir::{
    Arg, DType, Dim, Facts, Op, OpError,
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
        constant(kernel(
            "bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
            Forms::FUNCTION,
            Family::Other,
            |cx, a| {
                let f = *args::tensor(a, 0)?;
                rules::fresh(cx, f, if args::flag(a, 2) { DType::I32 } else { DType::I64 }, f.dims.clone())
            },
            Kernel(&(bucketize as KernelFn)),
        )),
        &["f32[5], f64[1]"],
    ),
    samples(
        constant(kernel(
            "searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False) -> Tensor",
            Forms::FUNCTION,
            Family::Other,
            |cx, a| {
                let f = *args::tensor(a, 1)?;
                rules::fresh(cx, f, if args::flag(a, 2) { DType::I32 } else { DType::I64 }, f.dims.clone())
            },
            Kernel(&(searchsorted as KernelFn)),
        )),
        &["f32[1], f32[5]"],
    ),
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

/// How many of `sorted` lie before `x`.
fn rank_in(sorted: &[f64], x: f64, right: bool) -> usize {
    sorted.partition_point(|s| if right { *s <= x } else { *s < x })
}

fn ranks(cx: &mut Context, sorted: &Tensor, x: &Tensor, facts: &Facts, right: bool) -> Result<Vec<Tensor>, OpError> {
    let (sorted, values) = (write::cast(cx, sorted, DType::F64)?, write::cast(cx, x, DType::F64)?);
    let (sorted_elements, elements) = (sorted.elements::<f64>()?, values.elements::<f64>()?);
    let n = sorted.sizes().last().copied().unwrap_or(1) as usize;
    let width = if sorted.rank() <= 1 { elements.len().max(1) } else { x.sizes().last().copied().unwrap_or(1).max(1) as usize };
    let mut found: Vec<i64> = vec![];
    for (row, values) in elements.chunks(width).enumerate() {
        let boundaries = if sorted.rank() <= 1 { &sorted_elements[..] } else { &sorted_elements[row * n..(row + 1) * n] };
        found.extend(values.iter().map(|v| rank_in(boundaries, *v, right) as i64));
    }
    let out = Tensor::from_slice(&found, x.sizes())?;
    Ok(vec![write::cast(cx, &out, facts.dtype)?])
}

fn bucketize(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    ranks(cx, args::tensor(a, 1)?, args::tensor(a, 0)?, &facts[0], args::flag(a, 3))
}

fn searchsorted(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    ranks(cx, args::tensor(a, 0)?, args::tensor(a, 1)?, &facts[0], args::flag(a, 3))
}
