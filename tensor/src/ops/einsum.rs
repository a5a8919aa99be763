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
            "'ii', [f32[3,3]]",
            "'ij,jk->ki', [f32[2,3], f32[3,4]]",
            "'acs,sbd->badc', [f32[2,3,4], f32[4,5,2]]",
            "'as,sb,bc->ca', [f32[2,3], f32[3,4], f32[4,5]]",
            "'ij,j->ij', [f32[3,2].t, f32[3]]",
            "'i...,j...->ij...', [f32[2,4], f32[3,5,4]]",
        ],
    ),
    samples(
        composite("tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor", Forms::FUNCTION, tensordot),
        &["f32[2,3,4], f32[4,3,5], [1,2], [1,0]", "f32[2,3,4], f32[4,1,5], [1], [1]", "f32[2,3], f32[4], [], []"],
    ),
];

/// A label of a dim: a letter, or the number of a dim under the ellipsis.
type Label = u32;

/// Labels of dims under the ellipsis come behind those of letters.
const ELLIPSIS: Label = 1 << 16;

/// A tensor with a label for each dim.
struct Labelled {
    value: Val,
    labels: Vec<Label>,
}

fn fail(text: impl std::fmt::Display) -> OpError {
    OpError::runtime(format!("einsum(): {text}"))
}

/// The letters of an operand or of the output, which starts at `from` in the equation; `None` is the ellipsis.
fn subscripts(text: &str, from: usize, whose: &str) -> Result<Vec<Option<char>>, OpError> {
    let mut out = vec![];
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let mut length = c.len_utf8();
        match c {
            ' ' => {}
            'a'..='z' | 'A'..='Z' => out.push(Some(c)),
            '.' if out.contains(&None) => return Err(fail(format_args!("found '.' for {whose} for which an ellipsis was already found"))),
            '.' if rest.starts_with("...") => {
                out.push(None);
                length = 3;
            }
            '.' => {
                let example = if whose == "output" { " (...)" } else { "" };
                return Err(fail(format_args!("found '.' for {whose} that is not part of any ellipsis{example}")));
            }
            _ => {
                return Err(fail(format_args!(
                    "invalid subscript given at index {} in the equation string, subscripts must be in [a-zA-Z]",
                    from + text.len() - rest.len()
                )));
            }
        }
        rest = &rest[length..];
    }
    Ok(out)
}

/// The labels that subscripts stand for; an ellipsis for `hidden` dims, numbered so that they align at the right.
fn labels(subscripts: &[Option<char>], hidden: usize) -> Vec<Label> {
    let mut out = vec![];
    for subscript in subscripts {
        match subscript {
            Some(letter) => out.push(*letter as Label),
            None => out.extend((0..hidden as Label).rev().map(|k| ELLIPSIS + k)),
        }
    }
    out
}

/// The labels of operand `k`, one for each dim of `value`.
fn operand(e: &dyn Emitter, subscripts: &[Option<char>], value: Val, k: usize) -> Result<Labelled, OpError> {
    let rank = e.facts(value).rank();
    let letters = subscripts.iter().flatten().count();
    let complaint = match subscripts.contains(&None) {
        true if letters > rank => format!("is more than the number of dimensions ({rank}) for operand {k}"),
        false if letters != rank => {
            format!("does not match the number of dimensions ({rank}) for operand {k} and no ellipsis was given")
        }
        _ => return Ok(Labelled { value, labels: labels(subscripts, rank - letters) }),
    };
    Err(fail(format_args!("the number of subscripts in the equation ({letters}) {complaint}")))
}

/// The labels of the result: those written behind the arrow, or what stands once in all of the operands.
fn output(written: Option<(&str, usize)>, operands: &[Labelled]) -> Result<Vec<Label>, OpError> {
    let all: Vec<Label> = operands.iter().flat_map(|operand| operand.labels.iter().copied()).collect();
    let hidden = all.iter().filter(|label| **label >= ELLIPSIS).map(|label| label - ELLIPSIS + 1).max().unwrap_or(0);
    let Some((text, from)) = written else {
        let mut result = labels(&[None], hidden as usize);
        let mut letters: Vec<Label> =
            all.iter().copied().filter(|l| *l < ELLIPSIS && all.iter().filter(|m| *m == l).count() == 1).collect();
        letters.sort_unstable();
        result.extend(letters);
        return Ok(result);
    };
    let result = labels(&subscripts(text, from, "output")?, hidden as usize);
    for (k, label) in result.iter().enumerate() {
        let letter = char::from_u32(*label).unwrap_or('?');
        if result[..k].contains(label) {
            return Err(fail(format_args!("output subscript {letter} appears more than once in the output")));
        }
        if !all.contains(label) {
            return Err(fail(format_args!("output subscript {letter} does not appear in the equation for any input operand")));
        }
    }
    Ok(result)
}

/// Fails where two operands have other sizes for a label than can be broadcast.
fn check_sizes(e: &mut dyn Emitter, operands: &[Labelled]) -> Result<(), OpError> {
    let mut seen: Vec<(Label, Dim)> = vec![];
    for (k, operand) in operands.iter().enumerate() {
        let sizes = e.facts(operand.value).dims.clone();
        for (d, (label, size)) in operand.labels.iter().zip(sizes).enumerate().filter(|(_, (_, size))| *size != Dim::Is(1)) {
            let Some((_, before)) = seen.iter().find(|(seen, _)| seen == label).copied() else {
                seen.push((*label, size));
                continue;
            };
            if before == size || e.dims().decide(Rel::Eq, before, size)? {
                continue;
            }
            return Err(fail(match char::from_u32(*label).filter(|_| *label < ELLIPSIS) {
                Some(letter) => {
                    format!(
                        "subscript {letter} has size {size} for operand {k} which does not broadcast with previously seen size {before}"
                    )
                }
                None => format!(
                    "dimension {d} covered by ellipsis in operand {k}has size {size} which does not broadcast with previously seen ellipsis with size {before} for the respective dimension"
                ),
            }));
        }
    }
    Ok(())
}

fn einsum(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let equation = args::text(a, 0).to_owned();
    let (left, right) = match equation.split_once("->") {
        Some((left, right)) => (left, Some((right, left.len() + 2))),
        None => (equation.as_str(), None),
    };
    let terms: Vec<&str> = left.split(',').collect();
    let values = args::tensors(a, 1)?.to_vec();
    if values.is_empty() {
        return Err(fail("must provide at least one operand"));
    }
    if terms.len() != values.len() {
        let word = if terms.len() > values.len() { "fewer" } else { "more" };
        return Err(fail(format_args!("{word} operands were provided than specified in the equation")));
    }
    let mut operands = vec![];
    let mut from = 0;
    for (k, (term, value)) in terms.iter().zip(&values).enumerate() {
        operands.push(operand(e, &subscripts(term, from, &format!("operand {k}"))?, *value, k)?);
        from += term.len() + 1;
    }
    let result = output(right, &operands)?;
    for (k, operand) in operands.iter_mut().enumerate() {
        take_diagonals(e, operand, k)?;
    }
    check_sizes(e, &operands)?;
    let mut summed: Vec<Label> = operands.iter().flat_map(|o| o.labels.iter().copied()).filter(|l| !result.contains(l)).collect();
    summed.sort_unstable();
    summed.dedup();
    let order = [result.as_slice(), &summed].concat();
    let inner: Vec<usize> = (result.len()..order.len()).collect();
    let mut total = aligned(e, &operands[0], &order)?;
    if operands.len() == 1 {
        return match inner.is_empty() {
            true => Ok(smallvec![total]),
            false => call(e, "sum.dim_IntList", &[t(total), places(&inner)]),
        };
    }
    for (k, next) in operands.iter().enumerate().skip(1) {
        let next = aligned(e, next, &order)?;
        let later = &operands[k + 1..];
        let over = inner.iter().copied().filter(|d| later.iter().all(|operand| !operand.labels.contains(&order[*d])));
        total = contracted(e, total, next, &over.collect::<Vec<usize>>())?;
    }
    match inner.is_empty() {
        true => Ok(smallvec![total]),
        false => call(e, "squeeze.dims", &[t(total), places(&inner)]),
    }
}

fn places(dims: &[usize]) -> Arg<Val> {
    ints(dims.iter().map(|d| *d as i64))
}

/// Takes the diagonal over dims of the same label.
fn take_diagonals(e: &mut dyn Emitter, operand: &mut Labelled, k: usize) -> Result<(), OpError> {
    let twice = |labels: &[Label]| (0..labels.len()).find_map(|q| labels[..q].iter().position(|l| *l == labels[q]).map(|p| (p, q)));
    while let Some((p, q)) = twice(&operand.labels) {
        let sizes = e.facts(operand.value).dims.clone();
        if !e.dims().decide(Rel::Eq, sizes[p], sizes[q])? {
            return Err(fail(format_args!(
                "subscript {} is repeated for operand {k} but the sizes don't match, {} != {}",
                char::from_u32(operand.labels[p]).unwrap_or('?'),
                sizes[q],
                sizes[p]
            )));
        }
        operand.value = one(e, "diagonal", &[t(operand.value), i(0), i(p as i64), i(q as i64)])?;
        let label = operand.labels.remove(q);
        operand.labels.remove(p);
        operand.labels.push(label);
    }
    Ok(())
}

/// The operand with its dims in this order, those it lacks of size 1.
fn aligned(e: &mut dyn Emitter, operand: &Labelled, order: &[Label]) -> Result<Val, OpError> {
    let own: Vec<usize> = order.iter().filter_map(|label| operand.labels.iter().position(|own| own == label)).collect();
    let mut value = permuted(e, operand.value, &own)?;
    for (d, _) in order.iter().enumerate().filter(|(_, label)| !operand.labels.contains(label)) {
        value = one(e, "unsqueeze", &[t(value), i(d as i64)])?;
    }
    Ok(value)
}

fn permuted(e: &mut dyn Emitter, value: Val, order: &[usize]) -> Result<Val, OpError> {
    if order.is_sorted() { Ok(value) } else { one(e, "permute", &[t(value), places(order)]) }
}

/// The product of two tensors whose dims correspond, summed over some of them, which stay with size 1.
fn contracted(e: &mut dyn Emitter, mut a: Val, mut b: Val, over: &[usize]) -> Result<Val, OpError> {
    let (p, q) = (e.facts(a).dims.clone(), e.facts(b).dims.clone());
    let one_wide = Dim::Is(1);
    for (value, own, other) in [(&mut a, &p, &q), (&mut b, &q, &p)] {
        let alone: Vec<usize> = over.iter().copied().filter(|d| own[*d] != one_wide && other[*d] == one_wide).collect();
        if !alone.is_empty() {
            *value = one(e, "sum.dim_IntList", &[t(*value), places(&alone), Arg::Bool(true)])?;
        }
    }
    let inner: Vec<usize> = over.iter().copied().filter(|d| p[*d] != one_wide && q[*d] != one_wide).collect();
    if inner.is_empty() { one(e, "mul.Tensor", &[t(a), t(b)]) } else { batched_product(e, a, b, &inner) }
}

/// One batched matrix product over the dims `inner`, which both tensors have and which stay with size 1. Its result lies in memory with the
/// dims of both tensors first, then those of one, then those of the other.
fn batched_product(e: &mut dyn Emitter, mut a: Val, mut b: Val, inner: &[usize]) -> Result<Val, OpError> {
    let (mut p, mut q) = (e.facts(a).dims.clone(), e.facts(b).dims.clone());
    let (mut shared, mut left, mut right, mut nowhere) = (vec![], vec![], vec![], vec![]);
    for d in (0..p.len()).filter(|d| !inner.contains(d)) {
        match (p[d] == Dim::Is(1), q[d] == Dim::Is(1)) {
            (false, false) => shared.push(d),
            (false, true) => left.push(d),
            (true, false) => right.push(d),
            (true, true) => nowhere.push(d),
        }
    }
    // The other way round where that alone gives the dims the order of the result.
    if let (Some(last), Some(first)) = (right.iter().chain(&nowhere).max(), left.first())
        && last < first
    {
        std::mem::swap(&mut a, &mut b);
        std::mem::swap(&mut p, &mut q);
        std::mem::swap(&mut left, &mut right);
    }
    left.extend(nowhere);
    left.sort_unstable();
    let sizes = |places: &[usize], of: &[Dim]| places.iter().map(|d| of[*d]).collect::<Vec<Dim>>();
    let matrix = |e: &mut dyn Emitter, value: Val, own: &[Dim], order: [&[usize]; 4]| -> Result<Val, OpError> {
        let laid = permuted(e, value, &order.concat())?;
        let merged: Vec<Dim> = order[..3].iter().map(|places| product(e, &sizes(places, own))).collect();
        one(e, "reshape", &[t(laid), dims(merged)])
    };
    let rows = matrix(e, a, &p, [&shared, &left, inner, &right])?;
    let columns = matrix(e, b, &q, [&shared, inner, &right, &left])?;
    let out = one(e, "bmm", &[t(rows), t(columns)])?;
    let ones = vec![Dim::Is(1); inner.len()];
    let apart = [sizes(&shared, &p), sizes(&left, &p), ones, sizes(&right, &q)].concat();
    let out = one(e, "reshape", &[t(out), dims(apart)])?;
    let order = [shared.as_slice(), &left, inner, &right].concat();
    let mut back = vec![0; order.len()];
    order.iter().enumerate().for_each(|(k, d)| back[*d] = k);
    permuted(e, out, &back)
}

fn product(e: &mut dyn Emitter, sizes: &[Dim]) -> Dim {
    sizes.iter().fold(Dim::Is(1), |n, d| e.dims().calc(DimOp::Mul, n, *d))
}

fn tensordot(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let (mut x, mut y) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
    let over_x = contracted_dims(e, x, &args::ints(a, 2)?)?;
    let over_y = contracted_dims(e, y, &args::ints(a, 3)?)?;
    if over_x.len() != over_y.len() {
        return Err(OpError::runtime("both dimension lists should have same length"));
    }
    let (p, q) = (e.facts(x).dims.clone(), e.facts(y).dims.clone());
    for (d, f) in over_x.iter().zip(&over_y) {
        let keep = Arg::Bool(true);
        if p[*d] == Dim::Is(1) {
            y = one(e, "sum.dim_IntList", &[t(y), places(&[*f]), keep])?;
        } else if q[*f] == Dim::Is(1) {
            x = one(e, "sum.dim_IntList", &[t(x), places(&[*d]), keep])?;
        } else if !e.dims().decide(Rel::Eq, p[*d], q[*f])? {
            return Err(OpError::runtime(format!(
                "contracted dimensions need to match, but first has size {} in dim {d} and second has size {} in dim {f}",
                p[*d], q[*f]
            )));
        }
    }
    let free = |rank: usize, over: &[usize]| (0..rank).filter(|d| !over.contains(d)).collect::<Vec<usize>>();
    let (free_x, free_y) = (free(p.len(), &over_x), free(q.len(), &over_y));
    let matrix = |e: &mut dyn Emitter, value: Val, rows: &[usize], columns: &[usize]| -> Result<Val, OpError> {
        let own = e.facts(value).dims.clone();
        let laid = permuted(e, value, &[rows, columns].concat())?;
        let merged = [rows, columns].map(|places| product(e, &places.iter().map(|d| own[*d]).collect::<Vec<Dim>>()));
        one(e, "reshape", &[t(laid), dims(merged)])
    };
    let (rows, columns) = (matrix(e, x, &free_x, &over_x)?, matrix(e, y, &over_y, &free_y)?);
    let out = one(e, "mm", &[t(rows), t(columns)])?;
    let sizes = free_x.iter().map(|d| p[*d]).chain(free_y.iter().map(|d| q[*d]));
    call(e, "reshape", &[t(out), dims(sizes.collect::<Vec<Dim>>())])
}

/// The dims of one list of `tensordot`, none twice.
fn contracted_dims(e: &dyn Emitter, value: Val, given: &[i64]) -> Result<Vec<usize>, OpError> {
    let rank = e.facts(value).rank();
    let found: Vec<usize> = given.iter().map(|d| wrap_dim(*d, rank)).collect::<Result<_, _>>()?;
    match (1..found.len()).find(|k| found[..*k].contains(&found[*k])) {
        Some(k) => Err(OpError::runtime(format!("dim {} appears multiple times in the list of dims", found[k]))),
        None => Ok(found),
    }
}
