//! Sorting and order statistics.

use super::{
    args,
    call::{call, i, one, t},
    define::{composite, constant, kernel, samples},
    rules::{self, wrap_dim},
};
use crate::{Context, KernelFn, Tensor, element::Arithmetic, layout::Sizes, with_plain};
use smallvec::smallvec;
use std::cmp::Ordering;
use taipan_ir::{
    Arg, DType, Dim, Facts, Op, OpError, Rel, Shape,
    op::{FactsList, Family, Forms, Kernel, RuleContext},
};

const BOTH: Forms = Forms::BOTH;

/// The op tables of this file.
pub static OPS: &[Op] = &[
    samples(
        kernel(
            "sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
            BOTH,
            Family::Sort,
            |cx, a| sort_rule(cx, a, 2),
            Kernel(&(sort_stable as KernelFn)),
        ),
        &["f32[2,5], stable=True"],
    ),
    samples(
        kernel(
            "sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
            BOTH,
            Family::Sort,
            |cx, a| sort_rule(cx, a, 1),
            Kernel(&(sort as KernelFn)),
        ),
        &["f32[2,5]", "f32[4,3], 0, True", "i64[6]"],
    ),
    samples(
        constant(composite("argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor", BOTH, |e, a| {
            let found = call(e, "sort", a)?;
            Ok(smallvec![found[1]])
        })),
        &["f32[2,5]", "f32[4,3], 0, True"],
    ),
    constant(composite("argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor", BOTH, |e, a| {
        let found = call(e, "sort", &[a[0].clone(), a[2].clone(), a[3].clone()])?;
        Ok(smallvec![found[1]])
    })),
    samples(
        composite("msort(Tensor self) -> Tensor", BOTH, |e, a| {
            let found = call(e, "sort", &[a[0].clone(), i(0)])?;
            Ok(smallvec![found[0]])
        }),
        &["f32[4,3]"],
    ),
    samples(
        kernel(
            "topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)",
            BOTH,
            Family::Sort,
            topk_rule,
            Kernel(&(topk as KernelFn)),
        ),
        &["f32[2,5], 2", "f32[5,2], 3, 0, False"],
    ),
    samples(
        kernel(
            "kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
            BOTH,
            Family::Sort,
            |cx, a| one_place_rule(cx, a, 2, 3),
            Kernel(&(kth as KernelFn)),
        ),
        &["f32[2,5], 2"],
    ),
    samples(
        kernel(
            "median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
            BOTH,
            Family::Sort,
            |cx, a| one_place_rule(cx, a, 1, 2),
            Kernel(&(median_along as KernelFn)),
        ),
        &["f32[2,5], 1", "f32[4,3], 0"],
    ),
    samples(
        composite("median(Tensor self) -> Tensor", BOTH, |e, a| {
            let flat = one(e, "flatten.using_ints", &a[..1])?;
            let found = call(e, "median.dim", &[t(flat), i(0)])?;
            Ok(smallvec![found[0]])
        }),
        &["f32[2,5]", "i64[4]"],
    ),
    samples(
        kernel(
            "mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
            BOTH,
            Family::Sort,
            |cx, a| one_place_rule(cx, a, 1, 2),
            Kernel(&(mode as KernelFn)),
        ),
        &["i64[3,7]"],
    ),
    samples(
        constant(kernel(
            "unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)",
            Forms::INTERNAL,
            Family::Sort,
            |cx, a| unique_rule(cx, a),
            Kernel(&(unique_consecutive as KernelFn)),
        )),
        &["i64[7]"],
    ),
    samples(
        constant(kernel(
            "_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)",
            Forms::FUNCTION,
            Family::Sort,
            |cx, a| unique_rule(cx, a),
            Kernel(&(unique as KernelFn)),
        )),
        &["i64[2,4], True, True, True", "f32[5], True, True, True"],
    ),
];

fn sort_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>], dim: usize) -> Result<FactsList, OpError> {
    let x = *args::tensor(a, 0)?;
    wrap_dim(args::int(a, dim)?, x.rank())?;
    let strides = super::copy::strides_of_copy(cx.dims, x, taipan_ir::MemoryFormat::Preserve)?;
    let values = Facts { strides, offset: Dim::Is(0), ..x.clone() };
    let indices = Facts { dtype: DType::I64, ..values.clone() };
    Ok(smallvec![values, indices])
}

fn pair(cx: &mut RuleContext<'_>, x: &Facts, dims: Shape) -> Result<FactsList, OpError> {
    let mut out = rules::fresh(cx, x, x.dtype, dims.clone())?;
    out.extend(rules::fresh(cx, x, DType::I64, dims)?);
    Ok(out)
}

fn topk_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let x = *args::tensor(a, 0)?;
    let d = wrap_dim(args::int(a, 2)?, x.rank())?;
    let k = args::dim(a, 1)?;
    let size = x.dims.get(d).copied().unwrap_or(Dim::Is(1));
    if cx.dims.decide(Rel::Lt, k, Dim::Is(0))? || !cx.dims.decide(Rel::Le, k, size)? {
        return Err(OpError::runtime("selected index k out of range"));
    }
    let mut dims = x.dims.clone();
    if let Some(size) = dims.get_mut(d) {
        *size = k;
    }
    pair(cx, x, dims)
}

fn one_place_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>], dim: usize, keep: usize) -> Result<FactsList, OpError> {
    let x = *args::tensor(a, 0)?;
    let reduced = rules::reduced_dims(a, dim, x.rank())?;
    pair(cx, x, rules::reduced_shape(&x.dims, &reduced, args::flag(a, keep)))
}

/// NaN is greater than all.
fn compare<T: Arithmetic>(a: T, b: T) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// Rows along dim `d`, each with its elements' places in order; `pick` makes the results of a row from its elements and that order.
fn by_rows<T: Arithmetic>(
    x: &Tensor,
    d: usize,
    descending: bool,
    mut pick: impl FnMut(&[T], &[usize], &mut Vec<T>, &mut Vec<i64>),
) -> Result<(Tensor, Tensor), OpError> {
    let mut order: Vec<usize> = (0..x.rank()).filter(|k| *k != d).collect();
    if x.rank() > 0 {
        order.push(d);
    }
    let laid = x.permuted(&order);
    let n = laid.sizes().last().copied().unwrap_or(1).max(0) as usize;
    let elements = laid.elements::<T>()?;
    let (mut values, mut indices) = (vec![], vec![]);
    let mut places: Vec<usize> = Vec::with_capacity(n);
    for row in elements.chunks(n.max(1)) {
        places.clear();
        places.extend(0..row.len());
        places.sort_by(|p, q| if descending { compare(row[*q], row[*p]) } else { compare(row[*p], row[*q]) });
        pick(row, &places, &mut values, &mut indices);
    }
    let rows = if n == 0 { 0 } else { elements.len() / n };
    let width = if rows == 0 { 0 } else { values.len() / rows };
    let mut sizes: Sizes = order.iter().map(|k| x.sizes()[*k]).collect();
    if let Some(last) = sizes.last_mut() {
        *last = width as i64;
    }
    let mut back = vec![0; order.len()];
    order.iter().enumerate().for_each(|(k, d)| back[*d] = k);
    let values = Tensor::build(x.dtype(), &sizes, |out: &mut [T]| out.copy_from_slice(&values));
    let indices = Tensor::from_slice(&indices, &sizes)?;
    Ok((values.permuted(&back), indices.permuted(&back)))
}

/// The tensors laid out as the facts say.
fn laid(cx: &mut Context, found: (Tensor, Tensor), facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let mut out = vec![];
    for (tensor, facts) in [found.0, found.1].into_iter().zip(facts) {
        let sizes: Sizes = facts.dims.iter().map(|d| d.known().ok_or(OpError::DataDependent)).collect::<Result<_, _>>()?;
        let flat = if tensor.sizes() == sizes.as_slice() { tensor } else { tensor.contiguous()?.reshaped(&sizes) };
        let target = super::create::filled(facts, taipan_ir::Number::Int(0))?;
        crate::write::fill_new(cx, &target, &flat)?;
        out.push(target);
    }
    Ok(out)
}

fn sorted(cx: &mut Context, x: &Tensor, d: i64, descending: bool, facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let d = wrap_dim(d, x.rank())?;
    let found = with_plain!(x.dtype(), T => by_rows::<T>(x, d, descending, |row, places, values, indices| {
        values.extend(places.iter().map(|p| row[*p]));
        indices.extend(places.iter().map(|p| *p as i64));
    })?);
    laid(cx, found, facts)
}

fn sort(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    sorted(cx, args::tensor(a, 0)?, args::int(a, 1)?, args::flag(a, 2), facts)
}

fn sort_stable(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    sorted(cx, args::tensor(a, 0)?, args::int(a, 2)?, args::flag(a, 3), facts)
}

fn topk(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let (k, d) = (args::int(a, 1)? as usize, wrap_dim(args::int(a, 2)?, x.rank())?);
    let found = with_plain!(x.dtype(), T => by_rows::<T>(x, d, args::flag(a, 3), |row, places, values, indices| {
        values.extend(places[..k].iter().map(|p| row[*p]));
        indices.extend(places[..k].iter().map(|p| *p as i64));
    })?);
    laid(cx, found, facts)
}

/// The element that comes `rank`-th in order, of each row.
fn ranked(cx: &mut Context, x: &Tensor, d: usize, facts: &[Facts], rank: impl Fn(usize) -> usize) -> Result<Vec<Tensor>, OpError> {
    let found = with_plain!(x.dtype(), T => by_rows::<T>(x, d, false, |row, places, values, indices| {
        let nan = row.iter().position(|v| Arithmetic::is_nan(*v));
        let p = nan.unwrap_or(places[rank(row.len()).min(row.len() - 1)]);
        values.push(row[p]);
        indices.push(p as i64);
    })?);
    laid(cx, found, facts)
}

fn kth(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let (k, d) = (args::int(a, 1)?, wrap_dim(args::int(a, 2)?, x.rank())?);
    let size = x.sizes().get(d).copied().unwrap_or(1);
    if k < 1 || k > size {
        return Err(OpError::runtime("kthvalue(): selected number k out of range for dimension ".to_owned() + &d.to_string()));
    }
    ranked(cx, x, d, facts, |_| k as usize - 1)
}

fn median_along(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let d = wrap_dim(args::int(a, 1)?, x.rank())?;
    if x.sizes().get(d) == Some(&0) {
        return Err(OpError::index(format!("median(): Expected reduction dim {d} to have non-zero size.")));
    }
    ranked(cx, x, d, facts, |n| (n - 1) / 2)
}

/// The most frequent element of each row, the least of several; its index is its last place.
fn mode(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let d = wrap_dim(args::int(a, 1)?, x.rank())?;
    let found = with_plain!(x.dtype(), T => by_rows::<T>(x, d, false, |row, places, values, indices| {
        let (mut best, mut start) = (0..0, 0);
        for k in 1..=places.len() {
            if k == places.len() || compare(row[places[k]], row[places[start]]) != Ordering::Equal {
                if k - start > best.len() {
                    best = start..k;
                }
                start = k;
            }
        }
        let last = places[best].iter().copied().max().unwrap_or(0);
        values.push(row[last]);
        indices.push(last as i64);
    })?);
    laid(cx, found, facts)
}

fn unique_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let x = *args::tensor(a, 0)?;
    let count = cx.dims.fresh(0);
    let last = a.len() - 1;
    let mut out = rules::fresh(cx, x, x.dtype, smallvec![count])?;
    let inverse = if args::flag(a, last - 1) { x.dims.clone() } else { smallvec![Dim::Is(0)] };
    out.extend(rules::fresh(cx, x, DType::I64, inverse)?);
    let counts = if args::flag(a, last) { count } else { Dim::Is(0) };
    out.extend(rules::fresh(cx, x, DType::I64, smallvec![counts])?);
    Ok(out)
}

/// Runs of equal elements: the elements, for each place its run, and the lengths.
fn runs(x: &Tensor, sort: bool, inverse: bool, counts: bool) -> Result<Vec<Tensor>, OpError> {
    with_plain!(x.dtype(), T => {
        let elements = x.elements::<T>()?;
        let mut places: Vec<usize> = (0..elements.len()).collect();
        if sort {
            places.sort_by(|p, q| compare(elements[*p], elements[*q]));
        }
        let (mut values, mut lengths, mut run_of) = (vec![], vec![], vec![0i64; elements.len()]);
        for p in places {
            match values.last() {
                Some(last) if compare(*last, elements[p]) == Ordering::Equal && !Arithmetic::is_nan(*last) => {
                    if let Some(n) = lengths.last_mut() {
                        *n += 1;
                    }
                }
                _ => {
                    values.push(elements[p]);
                    lengths.push(1i64);
                }
            }
            run_of[p] = values.len() as i64 - 1;
        }
        let n = values.len() as i64;
        let none = Tensor::zeros(DType::I64, &[0]);
        Ok(vec![
            Tensor::build(x.dtype(), &[n], |out: &mut [T]| out.copy_from_slice(&values)),
            if inverse { Tensor::from_slice(&run_of, x.sizes())? } else { none.clone() },
            if counts { Tensor::from_slice(&lengths, &[n])? } else { none },
        ])
    })
}

fn unique(_: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    runs(args::tensor(a, 0)?, true, args::flag(a, 2), args::flag(a, 3))
}

fn unique_consecutive(_: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    runs(args::tensor(a, 0)?, false, args::flag(a, 1), args::flag(a, 2))
}
