//! Sorting and order statistics.

use super::{
    args,
    call::{call, i, one, t},
    define::{composite, constant, gradient, kernel, refusing, samples},
    gradient::reduce::{of_chosen, of_shared},
    refusal::dtypes,
    rules::{self, wrap_dim},
};
use crate::{Context, KernelFn, Tensor, element::Arithmetic, layout::Sizes, with_bits, with_comparable, write};
use smallvec::smallvec;
use std::cmp::Ordering;
use taipan_ir::{
    Arg, DType, Dim, Emitter, Facts, Op, OpError, Rel, Shape, Val,
    op::{FactsList, Family, Forms, Kernel, RuleContext},
};

const BOTH: Forms = Forms::BOTH;

/// The op tables of this file.
pub static OPS: &[Op] = &[
    samples(
        gradient(
            kernel(
                "sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
                BOTH,
                Family::Sort,
                |cx, a| sort_rule(cx, a, 2),
                Kernel(&(sort_stable as KernelFn)),
            ),
            "indices",
            |b| of_chosen(b, 2, None),
        ),
        &["f32[2,5], stable=True"],
    ),
    samples(
        gradient(
            kernel(
                "sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)",
                BOTH,
                Family::Sort,
                |cx, a| sort_rule(cx, a, 1),
                Kernel(&(sort as KernelFn)),
            ),
            "indices",
            |b| of_chosen(b, 1, None),
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
        gradient(
            refusing(
                kernel(
                    "topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)",
                    BOTH,
                    Family::Sort,
                    topk_rule,
                    Kernel(&(topk as KernelFn)),
                ),
                |_, a| dtypes::no_bools(a, || OpError::not_implemented("topk does not support bool dtypes on CPU")),
            ),
            "indices",
            |b| of_chosen(b, 2, None),
        ),
        &["f32[2,5], 2", "f32[5,2], 3, 0, False"],
    ),
    samples(
        gradient(
            refusing(
                kernel(
                    "kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
                    BOTH,
                    Family::Sort,
                    |cx, a| one_place_rule(cx, a, 2, 3),
                    Kernel(&(kth as KernelFn)),
                ),
                |_, a| dtypes::numbers_only(a, "kthvalue_cpu"),
            ),
            "indices",
            |b| of_chosen(b, 2, Some(3)),
        ),
        &["f32[2,5], 2"],
    ),
    samples(
        gradient(
            refusing(
                kernel(
                    "median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
                    BOTH,
                    Family::Sort,
                    |cx, a| one_place_rule(cx, a, 1, 2),
                    Kernel(&(median_along as KernelFn)),
                ),
                |_, a| dtypes::numbers_only(a, "median_out"),
            ),
            "indices",
            |b| of_chosen(b, 1, Some(2)),
        ),
        &["f32[2,5], 1", "f32[4,3], 0"],
    ),
    samples(
        gradient(
            refusing(
                composite("median(Tensor self) -> Tensor", BOTH, |e, a| {
                    if let Some(nan) = median_of_nothing(e, *args::tensor(a, 0)?)? {
                        return Ok(smallvec![nan]);
                    }
                    let flat = one(e, "flatten.using_ints", &a[..1])?;
                    let found = call(e, "median.dim", &[t(flat), i(0)])?;
                    Ok(smallvec![found[0]])
                }),
                |_, a| dtypes::numbers_only(a, "median_cpu"),
            ),
            "self, result",
            of_shared,
        ),
        &["f32[2,5]", "i64[4]"],
    ),
    samples(
        gradient(
            kernel(
                "mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
                BOTH,
                Family::Sort,
                |cx, a| {
                    let x = *args::tensor(a, 0)?;
                    let d = wrap_dim(args::int(a, 1)?, x.rank())?;
                    if let Some(size) = x.dims.get(d)
                        && cx.dims.decide(Rel::Eq, *size, Dim::Is(0))?
                    {
                        return Err(OpError::index(format!("mode(): Expected reduction dim {d} to have non-zero size.")));
                    }
                    one_place_rule(cx, a, 1, 2)
                },
                Kernel(&(mode as KernelFn)),
            ),
            "indices",
            |b| of_chosen(b, 1, Some(2)),
        ),
        &["i64[3,7]"],
    ),
    samples(
        kernel(
            "unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)",
            Forms::FUNCTION,
            Family::Sort,
            unique_rule,
            Kernel(&(unique_consecutive as KernelFn)),
        ),
        &["i64[7], True, True"],
    ),
    samples(
        kernel(
            "_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)",
            Forms::FUNCTION,
            Family::Sort,
            unique_rule,
            Kernel(&(unique as KernelFn)),
        ),
        &["i64[2,4], True, True, True", "f32[5], True, True, True"],
    ),
    samples(
        kernel(
            "unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)",
            Forms::FUNCTION,
            Family::Sort,
            unique_rows_rule,
            Kernel(&(unique_rows as KernelFn)),
        ),
        &["i64[6,2]%2, 0, True, True, True", "i64[2,7]%2, 1, True, True, True", "i64[2,2,3]%2, -1, True, True, True"],
    ),
    samples(
        kernel(
            "unique_dim_consecutive(Tensor self, int dim, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)",
            Forms::FUNCTION,
            Family::Sort,
            unique_rows_rule,
            Kernel(&(unique_rows_consecutive as KernelFn)),
        ),
        &["i64[6,2]%2, 0, True, True", "i64[2,7]%2, 1, True, True"],
    ),
    samples(
        gradient(
            refusing(
                kernel(
                    "nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
                    BOTH,
                    Family::Sort,
                    |cx, a| one_place_rule(cx, a, 1, 2),
                    Kernel(&(nanmedian_along as KernelFn)),
                ),
                |_, a| dtypes::numbers_only(a, "median_out"),
            ),
            "indices",
            |b| of_chosen(b, 1, Some(2)),
        ),
        &["f32[2,5], 1", "f32[4,3], 0, True"],
    ),
    samples(
        refusing(
            composite("nanmedian(Tensor self) -> Tensor", BOTH, |e, a| {
                if let Some(nan) = median_of_nothing(e, *args::tensor(a, 0)?)? {
                    return Ok(smallvec![nan]);
                }
                let flat = one(e, "flatten.using_ints", &a[..1])?;
                let found = call(e, "nanmedian.dim", &[t(flat), i(0)])?;
                Ok(smallvec![found[0]])
            }),
            |_, a| dtypes::numbers_only(a, "median_cpu"),
        ),
        &["f32[2,5]", "i64[4]"],
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

/// NaN, where there are no elements.
fn median_of_nothing(e: &mut dyn Emitter, x: Val) -> Result<Option<Val>, OpError> {
    let facts = e.facts(x).clone();
    let count = facts.numel(e.dims());
    if !e.dims().decide(Rel::Eq, count, Dim::Is(0))? {
        return Ok(None);
    }
    one(e, "full", &[super::call::ints([]), super::call::f(f64::NAN), Arg::DType(facts.dtype)]).map(Some)
}

/// NaN is greater than all.
fn compare<T: Arithmetic>(a: T, b: T) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// For each row along dim `d` the places that `pick` chooses from its elements and their places in order. The result has the rows' places
/// along dim `d`.
fn chosen(
    cx: &mut Context,
    x: &Tensor,
    d: usize,
    descending: bool,
    mut pick: impl FnMut(&dyn Fn(usize) -> bool, &dyn Fn(usize, usize) -> Ordering, &[usize], &mut Vec<i64>),
) -> Result<Tensor, OpError> {
    let mut order: Vec<usize> = (0..x.rank()).filter(|k| *k != d).collect();
    if x.rank() > 0 {
        order.push(d);
    }
    let laid = write::comparable(cx, x)?.permuted(&order);
    let n = laid.sizes().last().copied().unwrap_or(1).max(0) as usize;
    let mut found = vec![];
    let mut places: Vec<usize> = Vec::with_capacity(n);
    with_comparable!(laid.dtype(), T => {
        for row in laid.elements::<T>()?.chunks(n.max(1)) {
            places.clear();
            places.extend(0..row.len());
            places.sort_by(|p, q| if descending { compare(row[*q], row[*p]) } else { compare(row[*p], row[*q]) });
            pick(&|p| Arithmetic::is_nan(row[p]), &|p, q| compare(row[p], row[q]), &places, &mut found);
        }
    });
    let rows = laid.numel() / n.max(1);
    let mut sizes: Sizes = order.iter().map(|k| x.sizes()[*k]).collect();
    if let Some(last) = sizes.last_mut() {
        *last = (found.len() / rows.max(1)) as i64;
    }
    let mut back = vec![0; order.len()];
    order.iter().enumerate().for_each(|(k, d)| back[*d] = k);
    Ok(Tensor::from_slice(&found, &sizes)?.permuted(&back))
}

/// The elements at these places along dim `d`.
fn at_places(x: &Tensor, d: usize, places: &Tensor) -> Result<Tensor, OpError> {
    let stride = x.strides().get(d).copied().unwrap_or(0);
    let mut strides: Sizes = x.strides().into();
    if let Some(s) = strides.get_mut(d) {
        *s = 0;
    }
    let found = places.elements::<i64>()?;
    with_bits!(x.dtype(), T => {
        let memory = x.read::<T>()?;
        Ok(Tensor::build(x.dtype(), places.sizes(), |out: &mut [T]| {
            let mut k = 0;
            crate::layout::for_each_row(places.sizes(), [&strides], [x.offset()], |[start], [step], length| {
                for i in 0..length as i64 {
                    out[k] = memory[(start + i * step + found[k] * stride) as usize];
                    k += 1;
                }
            });
        }))
    })
}

/// Values and places as results laid out as the facts say.
fn results(cx: &mut Context, x: &Tensor, d: usize, places: Tensor, facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let values = at_places(x, d, &places)?;
    laid(cx, (values, places), facts)
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
    let places = chosen(cx, x, d, descending, |_, _, places, found| found.extend(places.iter().map(|p| *p as i64)))?;
    results(cx, x, d, places, facts)
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
    let places = chosen(cx, x, d, args::flag(a, 3), |_, _, places, found| found.extend(places[..k].iter().map(|p| *p as i64)))?;
    results(cx, x, d, places, facts)
}

/// The element that comes `rank`-th in order, of each row; the first NaN instead where `spoiled` says so.
fn ranked(
    cx: &mut Context,
    x: &Tensor,
    d: usize,
    facts: &[Facts],
    spoiled: bool,
    rank: impl Fn(usize) -> usize,
) -> Result<Vec<Tensor>, OpError> {
    let places = chosen(cx, x, d, false, |is_nan, _, places, found| {
        let nan = (0..places.len()).find(|p| spoiled && is_nan(*p));
        found.push(nan.unwrap_or(places[rank(places.len()).min(places.len() - 1)]) as i64);
    })?;
    results(cx, x, d, places, facts)
}

fn kth(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let (k, d) = (args::int(a, 1)?, wrap_dim(args::int(a, 2)?, x.rank())?);
    let size = x.sizes().get(d).copied().unwrap_or(1);
    if k < 1 || k > size {
        return Err(OpError::runtime("kthvalue(): selected number k out of range for dimension ".to_owned() + &d.to_string()));
    }
    ranked(cx, x, d, facts, false, |_| k as usize - 1)
}

fn median_along(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let d = wrap_dim(args::int(a, 1)?, x.rank())?;
    if x.sizes().get(d) == Some(&0) {
        return Err(OpError::index(format!("median(): Expected reduction dim {d} to have non-zero size.")));
    }
    ranked(cx, x, d, facts, true, |n| (n - 1) / 2)
}

/// The median of what is a number in each row; NaN where nothing is.
fn nanmedian_along(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let d = wrap_dim(args::int(a, 1)?, x.rank())?;
    if x.sizes().get(d) == Some(&0) {
        return Err(OpError::index(format!("median(): Expected reduction dim {d} to have non-zero size.")));
    }
    let places = chosen(cx, x, d, false, |is_nan, _, places, found| {
        // NaNs come last.
        let count = places.iter().filter(|p| !is_nan(**p)).count();
        found.push(places[count.saturating_sub(1) / 2] as i64);
    })?;
    results(cx, x, d, places, facts)
}

fn unique_rows_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let x = *args::tensor(a, 0)?;
    let d = wrap_dim(args::int(a, 1)?, x.rank())?;
    for (k, size) in x.dims.iter().enumerate() {
        if k != d && cx.dims.decide(Rel::Eq, *size, Dim::Is(0))? {
            return Err(OpError::runtime("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied"));
        }
    }
    let size = x.dims.get(d).copied().unwrap_or(Dim::Is(1));
    let count = cx.dims.fresh(0);
    // The dim lies outermost, whichever it is.
    let mut moved = x.dims.clone();
    if d < moved.len() {
        moved.remove(d);
        moved.insert(0, count);
    }
    let mut values = Facts::contiguous(cx.dims, x.dtype, x.device.clone(), moved)?;
    if d < x.rank() {
        let (size, stride) = (values.dims.remove(0), values.strides.remove(0));
        values.dims.insert(d, size);
        values.strides.insert(d, stride);
    }
    let mut out = FactsList::new();
    out.push(values);
    let last = a.len() - 1;
    let inverse = if args::flag(a, last - 1) { size } else { Dim::Is(0) };
    out.extend(rules::fresh(cx, x, DType::I64, smallvec![inverse])?);
    let counts = if args::flag(a, last) { count } else { Dim::Is(0) };
    out.extend(rules::fresh(cx, x, DType::I64, smallvec![counts])?);
    Ok(out)
}

/// The slices along a dim that differ; compared element by element.
fn different_rows(cx: &mut Context, a: &[Arg<Tensor>], sort: bool) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let d = wrap_dim(args::int(a, 1)?, x.rank())?;
    let order: Vec<usize> = std::iter::once(d).chain((0..x.rank()).filter(|k| *k != d)).take(x.rank()).collect();
    let laid = x.permuted(&order).contiguous()?;
    let wide = write::comparable(cx, &laid)?.contiguous()?;
    let size = laid.sizes().first().copied().unwrap_or(1) as usize;
    let width = laid.numel() / size.max(1);
    let (mut firsts, mut lengths, mut run_of) = (vec![], vec![], vec![0i64; size]);
    with_comparable!(wide.dtype(), T => {
        let elements = wide.elements::<T>()?;
        let row = |p: usize| &elements[p * width..(p + 1) * width];
        let order_of = |p: usize, q: usize| {
            row(p).iter().zip(row(q)).map(|(a, b)| compare(*a, *b)).find(|o| *o != Ordering::Equal).unwrap_or(Ordering::Equal)
        };
        let mut places: Vec<usize> = (0..size).collect();
        if sort {
            places.sort_by(|p, q| order_of(*p, *q));
        }
        for p in places {
            match (firsts.last(), lengths.last_mut()) {
                (Some(last), Some(n)) if order_of(*last as usize, p) == Ordering::Equal => *n += 1,
                _ => {
                    firsts.push(p as i64);
                    lengths.push(1i64);
                }
            }
            run_of[p] = firsts.len() as i64 - 1;
        }
    });
    let mut back = vec![0; order.len()];
    order.iter().enumerate().for_each(|(k, d)| back[*d] = k);
    let values = if x.rank() == 0 { laid } else { super::index::take_rows(&laid, 0, &firsts)?.permuted(&back) };
    let last = a.len() - 1;
    let none = Tensor::zeros(DType::I64, &[0]);
    Ok(vec![
        values,
        if args::flag(a, last - 1) { Tensor::from_slice(&run_of, &[size as i64])? } else { none.clone() },
        if args::flag(a, last) { Tensor::from_slice(&lengths, &[firsts.len() as i64])? } else { none },
    ])
}

fn unique_rows(cx: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    different_rows(cx, a, true)
}

fn unique_rows_consecutive(cx: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    different_rows(cx, a, false)
}

/// The most frequent element of each row, the least of several; its index is its last place.
fn mode(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let d = wrap_dim(args::int(a, 1)?, x.rank())?;
    let places = chosen(cx, x, d, false, |_, compare, places, found| {
        let (mut best, mut start) = (0..0, 0);
        for k in 1..=places.len() {
            if k == places.len() || compare(places[k], places[start]) != Ordering::Equal {
                if k - start > best.len() {
                    best = start..k;
                }
                start = k;
            }
        }
        found.push(places[best].iter().copied().max().unwrap_or(0) as i64);
    })?;
    results(cx, x, d, places, facts)
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
fn runs(cx: &mut Context, x: &Tensor, sort: bool, inverse: bool, counts: bool) -> Result<Vec<Tensor>, OpError> {
    let wide = write::comparable(cx, x)?;
    let (mut firsts, mut lengths, mut run_of) = (vec![], vec![], vec![0i64; x.numel()]);
    with_comparable!(wide.dtype(), T => {
        let elements = wide.elements::<T>()?;
        let mut places: Vec<usize> = (0..elements.len()).collect();
        if sort {
            places.sort_by(|p, q| compare(elements[*p], elements[*q]));
        }
        for p in places {
            let same = |last: &i64| compare(elements[*last as usize], elements[p]) == Ordering::Equal && !Arithmetic::is_nan(elements[p]);
            match (firsts.last(), lengths.last_mut()) {
                (Some(last), Some(n)) if same(last) => *n += 1,
                _ => {
                    firsts.push(p as i64);
                    lengths.push(1i64);
                }
            }
            run_of[p] = firsts.len() as i64 - 1;
        }
    });
    let flat = x.contiguous()?.reshaped(&[x.numel() as i64]);
    let none = Tensor::zeros(DType::I64, &[0]);
    Ok(vec![
        super::index::take_rows(&flat, 0, &firsts)?,
        if inverse { Tensor::from_slice(&run_of, x.sizes())? } else { none.clone() },
        if counts { Tensor::from_slice(&lengths, &[firsts.len() as i64])? } else { none },
    ])
}

fn unique(cx: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    runs(cx, args::tensor(a, 0)?, true, args::flag(a, 2), args::flag(a, 3))
}

fn unique_consecutive(cx: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    runs(cx, args::tensor(a, 0)?, false, args::flag(a, 1), args::flag(a, 2))
}
