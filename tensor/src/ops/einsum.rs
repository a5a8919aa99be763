//! Einstein sums, and contractions written like them.

use super::{
    args,
    call::{call, dims, i, ints, one, t},
    define::{composite, samples},
    rules::wrap_dim,
};
use smallvec::smallvec;
use taipan_ir::{
    Arg, Dim, DimOp, Emitter, Op, OpError, Rel, Val,
    op::{Forms, Vals},
};

/// The op tables of this file.
pub static OPS: &[Op] = &[
    samples(
        composite("einsum(str equation, Tensor[] tensors) -> Tensor", Forms::FUNCTION, einsum),
        &[
            "'ij,jk->ik', [f32[2,3], f32[3,4]]",
            "'bhid,bhjd->bhij', [f32[2,2,3,4], f32[2,2,5,4]]",
            "'b h i j, b h j d -> b h i d', [f32[2,2,3,4], f32[2,2,4,3]]",
            "'i,j', [f32[2], f32[3]]",
            "'ii->i', [f32[3,3]]",
            "'ij->ji', [f32[2,3]]",
            "'...ij,jk->...ik', [f32[2,2,3], f32[3,4]]",
            "'ij->', [f32[2,3]]",
            "'i,ij,j->', [f32[2], f32[2,3], f32[3]]",
            "'bij,bij->b', [f32[2,3,4], f32[2,3,4]]",
        ],
    ),
    samples(
        composite("tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor", Forms::FUNCTION, tensordot),
        &["f32[2,3,4], f32[4,3,5], [1,2], [1,0]"],
    ),
];

/// A label of a dim: a letter, or the number of a dim under the ellipsis.
type Label = u32;

/// Labels of dims under the ellipsis come behind those of letters.
const ELLIPSIS: Label = 1 << 16;

/// A tensor with a label for each dim, no two alike.
struct Labelled {
    value: Val,
    labels: Vec<Label>,
}

fn fail(text: impl std::fmt::Display) -> OpError {
    OpError::runtime(format!("einsum(): {text}"))
}

/// The labels of one operand or of the result; an ellipsis stands for `hidden` dims, numbered so that they align at the right.
fn labels(text: &str, hidden: usize) -> Result<Vec<Label>, OpError> {
    let mut out = vec![];
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(tail) = rest.strip_prefix("...") {
            out.extend((0..hidden as Label).rev().map(|k| ELLIPSIS + k));
            rest = tail;
            continue;
        }
        match c {
            ' ' => {}
            c if c.is_ascii_alphabetic() => out.push(c as Label),
            c => {
                return Err(fail(format_args!(
                    "invalid subscript given at index 0 in the equation string, subscripts must be in [a-zA-Z], got '{c}'"
                )));
            }
        }
        rest = &rest[1..];
    }
    Ok(out)
}

fn einsum(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let equation = args::text(a, 0).to_owned();
    let operands = args::tensors(a, 1)?.to_vec();
    let (left, right) = match equation.split_once("->") {
        Some((left, right)) => (left, Some(right)),
        None => (equation.as_str(), None),
    };
    let terms: Vec<&str> = left.split(',').collect();
    if operands.is_empty() {
        return Err(fail("must provide at least one operand"));
    }
    if terms.len() != operands.len() {
        let word = if terms.len() > operands.len() { "fewer" } else { "more" };
        return Err(fail(format_args!("{word} operands were provided than specified in the equation")));
    }
    let mut parts = vec![];
    for (k, (term, value)) in terms.iter().zip(&operands).enumerate() {
        let rank = e.facts(*value).rank();
        let letters = term.chars().filter(char::is_ascii_alphabetic).count();
        let hidden = if term.contains("...") { rank.saturating_sub(letters) } else { 0 };
        let labels = labels(term, hidden)?;
        if labels.len() != rank {
            return Err(fail(format_args!(
                "the number of subscripts in the equation ({}) does not match the number of dimensions ({rank}) for operand {k} and no ellipsis was given",
                labels.len()
            )));
        }
        parts.push(without_repeats(e, Labelled { value: *value, labels })?);
    }
    let mut all: Vec<Label> = parts.iter().flat_map(|p| p.labels.iter().copied()).collect();
    all.sort_unstable();
    let result = match right {
        Some(text) => {
            let hidden = all.iter().filter(|l| **l >= ELLIPSIS).map(|l| l - ELLIPSIS + 1).max().unwrap_or(0);
            labels(text, hidden as usize)?
        }
        None => {
            let mut once: Vec<Label> = all.iter().copied().filter(|l| *l >= ELLIPSIS).rev().collect();
            once.dedup();
            once.extend(all.iter().copied().filter(|l| *l < ELLIPSIS && all.iter().filter(|m| *m == l).count() == 1));
            once
        }
    };
    if let Some(unknown) = result.iter().find(|l| !all.contains(l)) {
        let letter = char::from_u32(*unknown).unwrap_or('?');
        return Err(fail(format_args!("output subscript {letter} does not appear in the equation for any input operand")));
    }
    let mut rest = parts.into_iter();
    let Some(mut sum) = rest.next() else { return Err(fail("must provide at least one operand")) };
    let mut later: Vec<Labelled> = rest.collect();
    while !later.is_empty() {
        let next = later.remove(0);
        let needed = |l: &Label| result.contains(l) || later.iter().any(|p| p.labels.contains(l));
        sum = contract(e, sum, next, &needed)?;
    }
    sum = summed(e, sum, &|l| result.contains(l))?;
    let order: Vec<i64> = result.iter().filter_map(|l| sum.labels.iter().position(|m| m == l)).map(|k| k as i64).collect();
    if order.iter().enumerate().all(|(k, d)| k as i64 == *d) {
        return Ok(smallvec![sum.value]);
    }
    call(e, "permute", &[t(sum.value), ints(order)])
}

/// Takes the diagonal over dims of the same label.
fn without_repeats(e: &mut dyn Emitter, mut part: Labelled) -> Result<Labelled, OpError> {
    while let Some((p, q)) = (0..part.labels.len()).find_map(|q| part.labels[..q].iter().position(|l| *l == part.labels[q]).map(|p| (p, q)))
    {
        let sizes = e.facts(part.value).dims.clone();
        if !e.dims().decide(Rel::Eq, sizes[p], sizes[q])? {
            return Err(fail(format_args!(
                "subscript {} is repeated for operand 0 but the sizes don't match, {} != {}",
                char::from_u32(part.labels[p]).unwrap_or('?'),
                sizes[q],
                sizes[p]
            )));
        }
        part.value = one(e, "diagonal", &[t(part.value), i(0), i(p as i64), i(q as i64)])?;
        let label = part.labels.remove(q);
        part.labels.remove(p);
        part.labels.push(label);
    }
    Ok(part)
}

/// Sums over the labels that nothing needs any more.
fn summed(e: &mut dyn Emitter, part: Labelled, needed: &dyn Fn(&Label) -> bool) -> Result<Labelled, OpError> {
    let over: Vec<i64> = part.labels.iter().enumerate().filter(|(_, l)| !needed(l)).map(|(k, _)| k as i64).collect();
    if over.is_empty() {
        return Ok(part);
    }
    let value = one(e, "sum.dim_IntList", &[t(part.value), ints(over)])?;
    Ok(Labelled { value, labels: part.labels.into_iter().filter(|l| needed(l)).collect() })
}

fn product(e: &mut dyn Emitter, sizes: &[Dim]) -> Dim {
    sizes.iter().fold(Dim::Is(1), |n, d| e.dims().calc(DimOp::Mul, n, *d))
}

/// The product of two tensors, summed over the labels both have and nothing needs: one batched matrix product.
fn contract(e: &mut dyn Emitter, a: Labelled, b: Labelled, needed: &dyn Fn(&Label) -> bool) -> Result<Labelled, OpError> {
    let (a_labels, b_labels) = (a.labels.clone(), b.labels.clone());
    let a = summed(e, a, &|l| needed(l) || b_labels.contains(l))?;
    let b = summed(e, b, &|l| needed(l) || a_labels.contains(l))?;
    let in_both: Vec<Label> = a.labels.iter().copied().filter(|l| b.labels.contains(l)).collect();
    let (batch, inner): (Vec<Label>, Vec<Label>) = in_both.iter().partition(|l| needed(l));
    let left: Vec<Label> = a.labels.iter().copied().filter(|l| !in_both.contains(l)).collect();
    let right: Vec<Label> = b.labels.iter().copied().filter(|l| !in_both.contains(l)).collect();
    let (a_dims, b_dims) = (e.facts(a.value).dims.clone(), e.facts(b.value).dims.clone());
    let size_in = |labels: &[Label], sizes: &[Dim], l: &Label| labels.iter().position(|m| m == l).map_or(Dim::Is(1), |k| sizes[k]);
    let mut shared = vec![];
    for l in batch.iter().chain(&inner) {
        let (p, q) = (size_in(&a.labels, &a_dims, l), size_in(&b.labels, &b_dims, l));
        let size = if p == q || q == Dim::Is(1) {
            p
        } else if p == Dim::Is(1) {
            q
        } else if e.dims().decide(Rel::Eq, p, q)? {
            p
        } else {
            return Err(fail(format_args!(
                "operands do not broadcast with remapped shapes [original->remapped]: {} and {}",
                super::rules::shown(&a_dims),
                super::rules::shown(&b_dims)
            )));
        };
        shared.push((*l, size));
    }
    let size = |l: &Label| {
        let found = shared.iter().find(|(m, _)| m == l).map(|(_, n)| *n);
        found.unwrap_or_else(|| if left.contains(l) { size_in(&a.labels, &a_dims, l) } else { size_in(&b.labels, &b_dims, l) })
    };
    let sizes = |labels: &[Label]| labels.iter().map(&size).collect::<Vec<Dim>>();
    let (batch_sizes, left_sizes, right_sizes) = (sizes(&batch), sizes(&left), sizes(&right));
    let matrix = |e: &mut dyn Emitter, part: &Labelled, order: [&[Label]; 3]| -> Result<Val, OpError> {
        let wanted: Vec<Label> = order.concat();
        let places = wanted.iter().filter_map(|l| part.labels.iter().position(|m| m == l)).map(|k| k as i64);
        let laid = one(e, "permute", &[t(part.value), ints(places)])?;
        let laid = one(e, "expand", &[t(laid), dims(sizes(&wanted))])?;
        let merged: Vec<Dim> = order.iter().map(|labels| product(e, &sizes(labels))).collect();
        one(e, "reshape", &[t(laid), dims(merged)])
    };
    let a_matrix = matrix(e, &a, [&batch, &left, &inner])?;
    let b_matrix = matrix(e, &b, [&batch, &inner, &right])?;
    let out =
        if inner.is_empty() { one(e, "mul.Tensor", &[t(a_matrix), t(b_matrix)])? } else { one(e, "bmm", &[t(a_matrix), t(b_matrix)])? };
    let shape: Vec<Dim> = batch_sizes.into_iter().chain(left_sizes).chain(right_sizes).collect();
    let value = one(e, "reshape", &[t(out), dims(shape)])?;
    Ok(Labelled { value, labels: [batch, left, right].concat() })
}

fn tensordot(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let (x, y) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
    let (x_rank, y_rank) = (e.facts(x).rank(), e.facts(y).rank());
    let over_x: Vec<usize> = args::ints(a, 2)?.into_iter().map(|d| wrap_dim(d, x_rank)).collect::<Result<_, _>>()?;
    let over_y: Vec<usize> = args::ints(a, 3)?.into_iter().map(|d| wrap_dim(d, y_rank)).collect::<Result<_, _>>()?;
    if over_x.len() != over_y.len() {
        return Err(OpError::runtime("both dimension lists should have same length"));
    }
    let x_labels: Vec<Label> = (0..x_rank as Label).collect();
    let mut y_labels: Vec<Label> = (0..y_rank as Label).map(|k| 1000 + k).collect();
    over_x.iter().zip(&over_y).for_each(|(p, q)| y_labels[*q] = *p as Label);
    let over: Vec<Label> = over_x.iter().map(|d| *d as Label).collect();
    let out = contract(e, Labelled { value: x, labels: x_labels }, Labelled { value: y, labels: y_labels }, &|l| !over.contains(l))?;
    Ok(smallvec![out.value])
}
