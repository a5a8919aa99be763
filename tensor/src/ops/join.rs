//! Joining and repeating tensors.

use super::{
    args,
    call::{call, dims, i, one, t},
    copy::strides_of_copy,
    define::{composite, gradient, kernel, moves, refusing, samples},
    gradient::{
        gather::{of_cat, of_repeat_interleave},
        same_op,
    },
    refusal::shapes,
    rules::{self, wrap_dim},
};
use crate::{Context, KernelFn, Tensor, layout::Sizes, with_bits, write};
use smallvec::{SmallVec, smallvec};
use taipan_ir::{
    Arg, DType, Dim, DimOp, Emitter, Facts, MemoryFormat, Op, OpError, Rel, Val,
    op::{FactsList, Family, Forms, Kernel, RuleContext, Vals},
};

const BOTH: Forms = Forms::BOTH;
const FUNCTION: Forms = Forms::FUNCTION;

/// The op tables of this file.
pub static OPS: &[Op] = &[
    moves(samples(
        gradient(
            kernel("cat(Tensor[] tensors, int dim=0) -> Tensor", FUNCTION, Family::Copy, cat_rule, Kernel(&(cat as KernelFn))),
            "",
            of_cat,
        ),
        &["[f32[2,3], f32[1,3]]", "[f32[2,3], f32[2,2], f32[2,1]], -1", "[i64[2], f32[3]]", "[f32[2,3], c64[1,3]]"],
    )),
    composite("concat(Tensor[] tensors, int dim=0) -> Tensor", FUNCTION, |e, a| call(e, "cat", a)),
    composite("concatenate(Tensor[] tensors, int dim=0) -> Tensor", FUNCTION, |e, a| call(e, "cat", a)),
    samples(composite("stack(Tensor[] tensors, int dim=0) -> Tensor", FUNCTION, stack), &["[f32[2,3], f32[2,3]]", "[f32[3], f32[3]], -1"]),
    composite("hstack(Tensor[] tensors) -> Tensor", FUNCTION, |e, a| {
        let parts = at_least(e, args::tensors(a, 0)?, 1)?;
        let dim = i64::from(parts.first().is_some_and(|v| e.facts(*v).rank() > 1));
        call(e, "cat", &[Arg::Tensors(parts), i(dim)])
    }),
    composite("vstack(Tensor[] tensors) -> Tensor", FUNCTION, |e, a| {
        let parts = at_least(e, args::tensors(a, 0)?, 2)?;
        call(e, "cat", &[Arg::Tensors(parts), i(0)])
    }),
    samples(composite("repeat(Tensor self, int[] repeats) -> Tensor", Forms::METHOD, repeat), &["f32[2,3], [2,1]", "f32[3], [2,2]"]),
    samples(
        composite("tile(Tensor self, int[] dims) -> Tensor", BOTH, |e, a| {
            let rank = e.facts(*args::tensor(a, 0)?).rank();
            let counts = args::dims(a, 1)?;
            let lead = rank.saturating_sub(counts.len());
            let all = std::iter::repeat_n(Dim::Is(1), lead).chain(counts.iter().copied());
            call(e, "repeat", &[a[0].clone(), dims(all)])
        }),
        &["f32[2,3], [2]"],
    ),
    samples(
        composite(
            "repeat_interleave.self_int(Tensor self, int repeats, int? dim=None, *, int? output_size=None) -> Tensor",
            BOTH,
            |e, a| {
                let value = *args::tensor(a, 0)?;
                let (value, d) = match args::optional_int(a, 2)? {
                    Some(d) => (value, wrap_dim(d, e.facts(value).rank())?),
                    None => (one(e, "flatten.using_ints", &[t(value)])?, 0),
                };
                let f = e.facts(value).clone();
                let count = args::dim(a, 1)?;
                if count.known().is_some_and(|n| n < 0) {
                    return Err(OpError::runtime("Repeats must be non-negative"));
                }
                let wide = one(e, "unsqueeze", &[t(value), i(d as i64 + 1)])?;
                let mut shape = f.dims.clone();
                shape.insert(d + 1, count);
                let wide = one(e, "expand", &[t(wide), Arg::Ints(shape)])?;
                let wide = one(e, "clone", &[t(wide), Arg::MemoryFormat(MemoryFormat::Contiguous)])?;
                let mut shape = f.dims.clone();
                shape[d] = e.dims().calc(DimOp::Mul, f.dims[d], count);
                call(e, "view", &[t(wide), Arg::Ints(shape)])
            },
        ),
        &["f32[2,3], 2", "f32[2,3], 2, 1"],
    ),
    samples(
        gradient(
            refusing(
                kernel(
                    "repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, int? output_size=None) -> Tensor",
                    BOTH,
                    Family::Gather,
                    |cx, a| {
                        let f = *args::tensor(a, 0)?;
                        let rows = cx.dims.fresh(0);
                        let rows = args::optional_dim(a, 3).unwrap_or(rows);
                        match args::optional_int(a, 2)? {
                            Some(d) => {
                                let mut shape = f.dims.clone();
                                shape[wrap_dim(d, f.rank())?] = rows;
                                rules::fresh(cx, f, f.dtype, shape)
                            }
                            None => rules::fresh(cx, f, f.dtype, smallvec![rows]),
                        }
                    },
                    Kernel(&(repeat_each as KernelFn)),
                ),
                shapes::repeat_interleave,
            ),
            "repeats",
            of_repeat_interleave,
        ),
        &["f32[3,2], i64[3], 0"],
    ),
    moves(samples(
        gradient(
            refusing(
                kernel("flip(Tensor self, int[] dims) -> Tensor", BOTH, Family::Copy, like_copy, Kernel(&(flip as KernelFn))),
                shapes::distinct,
            ),
            "",
            same_op,
        ),
        &["f32[2,3], [0]", "f32[2,3], [0,1]", "c128[2,3], [1]"],
    )),
    refusing(
        composite("fliplr(Tensor self) -> Tensor", BOTH, |e, a| call(e, "flip", &[a[0].clone(), super::call::ints([1])])),
        shapes::fliplr,
    ),
    refusing(
        composite("flipud(Tensor self) -> Tensor", BOTH, |e, a| call(e, "flip", &[a[0].clone(), super::call::ints([0])])),
        shapes::flipud,
    ),
    samples(
        composite("roll(Tensor self, int[1] shifts, int[1] dims=[]) -> Tensor", BOTH, roll),
        &["f32[2,3], [1], [1]", "f32[2,3], [2]", "f32[2,3], [1,-1], [0,1]"],
    ),
    samples(
        refusing(composite("meshgrid.indexing(Tensor[] tensors, *, str indexing='ij') -> Tensor[]", FUNCTION, meshgrid), shapes::meshgrid),
        &["[f32[2], f32[3]]", "[f32[2], f32[3]], indexing='xy'"],
    ),
    samples(
        refusing(
            composite("cartesian_prod(Tensor[] tensors) -> Tensor", FUNCTION, |e, a| {
                let parts = args::tensors(a, 0)?;
                if let [only] = parts {
                    return Ok(smallvec![*only]);
                }
                let grids = call(e, "meshgrid.indexing", &[a[0].clone()])?;
                let flat: Vec<Val> = grids.iter().map(|g| one(e, "flatten.using_ints", &[t(*g)])).collect::<Result<_, _>>()?;
                call(e, "stack", &[Arg::Tensors(flat), i(1)])
            }),
            shapes::cartesian_prod,
        ),
        &["[i64[2], i64[3]]"],
    ),
    samples(
        refusing(
            composite("block_diag(Tensor[] tensors) -> Tensor", FUNCTION, |e, a| {
                let parts = at_least(e, args::tensors(a, 0)?, 2)?;
                let widths: Vec<Dim> = parts.iter().map(|p| e.facts(*p).dims[1]).collect();
                let mut rows = vec![];
                for (k, part) in parts.iter().enumerate() {
                    let (f, mut row) = (e.facts(*part).clone(), vec![]);
                    for (j, width) in widths.iter().enumerate() {
                        row.push(if j == k { *part } else { one(e, "new_zeros", &[t(*part), dims([f.dims[0], *width])])? });
                    }
                    rows.push(one(e, "cat", &[Arg::Tensors(row), i(1)])?);
                }
                call(e, "cat", &[Arg::Tensors(rows), i(0)])
            }),
            shapes::block_diag,
        ),
        &["[f32[2,2], f32[1,3]]"],
    ),
];

/// A tensor that `cat` skips whatever its dims: PyTorch's oldest rule.
fn is_legacy_empty(f: &Facts) -> bool {
    f.dims[..] == [Dim::Is(0)]
}

fn cat_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let all = args::tensors(a, 0)?;
    if all.is_empty() {
        return Err(OpError::value("torch.cat(): expected a non-empty list of Tensors"));
    }
    let dtype = taipan_ir::promote::result_type(a, cx.default_float);
    if let Some(k) = all.iter().position(|f| f.rank() == 0) {
        return Err(OpError::runtime(format!("zero-dimensional tensor (at position {k}) cannot be concatenated")));
    }
    let parts: SmallVec<[&Facts; 8]> = all.iter().copied().filter(|f| !is_legacy_empty(f)).collect();
    let Some(first) = parts.first() else { return rules::fresh(cx, all[0], dtype, smallvec![Dim::Is(0)]) };
    let d = wrap_dim(args::int(a, 1)?, first.rank())?;
    let mut shape = first.dims.clone();
    for (k, part) in parts.iter().enumerate().skip(1) {
        if part.rank() != first.rank() {
            return Err(OpError::runtime(format!("Tensors must have same number of dimensions: got {} and {}", first.rank(), part.rank())));
        }
        for j in (0..part.rank()).filter(|j| *j != d) {
            if part.dims[j] != first.dims[j] && !cx.dims.decide(Rel::Eq, part.dims[j], first.dims[j])? {
                return Err(OpError::runtime(format!(
                    "Sizes of tensors must match except in dimension {d}. Expected size {} but got size {} for tensor number {k} in the list.",
                    first.dims[j], part.dims[j]
                )));
            }
        }
        shape[d] = cx.dims.calc(DimOp::Add, shape[d], part.dims[d]);
    }
    let mut out = rules::fresh(cx, first, dtype, shape)?;
    let mut images = parts.len() == all.len();
    for part in &parts {
        images = images && rules::is_channels_last(cx.dims, part)?;
    }
    if images {
        out[0].strides = rules::channels_last(cx.dims, &out[0].dims);
    }
    Ok(out)
}

/// Facts of a copy that lies as argument 0 does.
pub fn like_copy(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let f = *args::tensor(a, 0)?;
    let strides = strides_of_copy(cx.dims, f, MemoryFormat::Preserve)?;
    Ok(smallvec![Facts { strides, offset: Dim::Is(0), ..f.clone() }])
}

fn cat(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let dtype = facts[0].dtype;
    let sizes: Sizes = facts[0].dims.iter().map(|d| d.known().ok_or(OpError::DataDependent)).collect::<Result<_, _>>()?;
    let mut parts: SmallVec<[Tensor; 8]> = SmallVec::new();
    for part in args::tensors(a, 0)? {
        if part.sizes() != [0] {
            parts.push(write::cast(cx, part, dtype)?.contiguous()?);
        }
    }
    let d = wrap_dim(args::int(a, 1)?, sizes.len())?;
    let inner: usize = sizes[d + 1..].iter().product::<i64>() as usize;
    let row = sizes[d] as usize * inner;
    with_bits!(dtype, T => {
        Tensor::try_build(dtype, &sizes, |out: &mut [T]| {
            let mut at = 0;
            for part in &parts {
                let width = part.sizes()[d] as usize * inner;
                let elements = part.elements::<T>()?;
                if width > 0 && row > 0 {
                    for (to, from) in out.chunks_mut(row).zip(elements.chunks(width)) {
                        to[at..at + width].copy_from_slice(from);
                    }
                }
                at += width;
            }
            Ok(())
        })
        .map(|t| vec![t])
    })
}

fn stack(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let parts = args::tensors(a, 0)?;
    let Some(first) = parts.first() else { return Err(OpError::runtime("stack expects a non-empty TensorList")) };
    let f = e.facts(*first).clone();
    let d = wrap_dim(args::int(a, 1)?, f.rank() + 1)?;
    let mut rows = vec![];
    for (k, part) in parts.iter().enumerate() {
        let own = e.facts(*part).dims.clone();
        let mut same = own.len() == f.rank();
        for (x, y) in own.iter().zip(&f.dims) {
            same = same && (x == y || e.dims().decide(Rel::Eq, *x, *y)?);
        }
        if !same {
            return Err(OpError::runtime(format!(
                "stack expects each tensor to be equal size, but got {} at entry 0 and {} at entry {k}",
                rules::shown(&f.dims),
                rules::shown(&own)
            )));
        }
        rows.push(one(e, "unsqueeze", &[t(*part), i(d as i64)])?);
    }
    call(e, "cat", &[Arg::Tensors(rows), i(d as i64)])
}

fn at_least(e: &mut dyn Emitter, parts: &[Val], rank: usize) -> Result<Vec<Val>, OpError> {
    let mut out = vec![];
    for part in parts {
        let mut part = *part;
        while e.facts(part).rank() < rank {
            part = one(e, "unsqueeze", &[t(part), i(0)])?;
        }
        out.push(part);
    }
    Ok(out)
}

fn repeat(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let value = *args::tensor(a, 0)?;
    let f = e.facts(value).clone();
    let counts = args::dims(a, 1)?.to_vec();
    if counts.len() < f.rank() {
        return Err(OpError::runtime("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor"));
    }
    if let Some(n) = counts.iter().filter_map(|d| d.known()).find(|n| *n < 0) {
        return Err(OpError::runtime(format!("Trying to create tensor with negative dimension {n}: {}", rules::shown(&counts))));
    }
    // Each dim as (count, size): expanded over count, then merged.
    let lead = counts.len() - f.rank();
    let (mut split, mut wide, mut out) = (vec![], vec![], vec![]);
    for (k, count) in counts.iter().enumerate() {
        let size = if k < lead { Dim::Is(1) } else { f.dims[k - lead] };
        split.extend([Dim::Is(1), size]);
        wide.extend([*count, size]);
        out.push(e.dims().calc(DimOp::Mul, *count, size));
    }
    let value = one(e, "reshape", &[t(value), dims(split)])?;
    let value = one(e, "expand", &[t(value), dims(wide)])?;
    let value = one(e, "clone", &[t(value), Arg::MemoryFormat(MemoryFormat::Contiguous)])?;
    call(e, "view", &[t(value), dims(out)])
}

fn repeat_each(cx: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let value = args::tensor(a, 0)?;
    let counts = write::cast(cx, args::tensor(a, 1)?, DType::I64)?.to_vec::<i64>()?;
    let (value, d) = match args::optional_int(a, 2)? {
        Some(d) => (value.clone(), wrap_dim(d, value.rank())?),
        None => {
            let flat = value.contiguous()?;
            (flat.reshaped(&[flat.numel() as i64]), 0)
        }
    };
    let n = value.sizes()[d];
    if counts.len() != 1 && counts.len() as i64 != n {
        return Err(OpError::runtime("repeats must have the same size as input along dim"));
    }
    if counts.iter().any(|c| *c < 0) {
        return Err(OpError::runtime("repeats can not be negative"));
    }
    let count = |i: usize| counts[if counts.len() == 1 { 0 } else { i }] as usize;
    let rows: Vec<i64> = (0..n).flat_map(|i| std::iter::repeat_n(i, count(i as usize))).collect();
    Ok(vec![super::index::take_rows(&value, d, &rows)?])
}

fn flip(_: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let value = args::tensor(a, 0)?;
    let (mut strides, mut offset): (Sizes, i64) = (value.strides().into(), value.offset());
    for d in args::ints(a, 1)? {
        let d = wrap_dim(d, value.rank())?;
        if value.rank() > 0 && value.sizes()[d] > 0 {
            offset += strides[d] * (value.sizes()[d] - 1);
            strides[d] = -strides[d];
        }
    }
    Ok(vec![value.with_layout(value.dtype(), value.sizes(), &strides, offset).copied()?])
}

fn roll(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let mut value = *args::tensor(a, 0)?;
    let (shifts, along) = (args::ints(a, 1)?, args::ints(a, 2)?);
    if shifts.is_empty() {
        return Err(OpError::runtime("`shifts` required"));
    }
    if along.is_empty() && shifts.len() == 1 {
        let shape = e.facts(value).dims.clone();
        let flat = one(e, "flatten.using_ints", &[t(value)])?;
        let rolled = one(e, "roll", &[t(flat), a[1].clone(), super::call::ints([0])])?;
        return call(e, "view", &[t(rolled), Arg::Ints(shape)]);
    }
    if shifts.len() != along.len() {
        return Err(OpError::runtime(format!("shifts and dimensions must align. shifts: {}, dims:{}", shifts.len(), along.len())));
    }
    let rank = e.facts(value).rank();
    if let (0, Some(d)) = (rank, along.first()) {
        return Err(OpError::index(format!("Dimension specified as {d} but tensor has no dimensions")));
    }
    for (shift, d) in shifts.iter().zip(along) {
        let d = wrap_dim(d, e.facts(value).rank())? as i64;
        let size = e.facts(value).dims[d as usize];
        if e.dims().decide(Rel::Eq, size, Dim::Is(0))? {
            continue;
        }
        let back = e.dims().calc(DimOp::Sub, size, Dim::Is(*shift));
        let start = e.dims().calc(DimOp::Mod, back, size);
        let tail = one(e, "slice.Tensor", &[t(value), i(d), Arg::Int(start)])?;
        let head = one(e, "slice.Tensor", &[t(value), i(d), i(0), Arg::Int(start)])?;
        value = one(e, "cat", &[Arg::Tensors(vec![tail, head]), i(d)])?;
    }
    Ok(smallvec![value])
}

fn meshgrid(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let mut parts = args::tensors(a, 0)?.to_vec();
    let swap = args::text(a, 1) == "xy" && parts.len() > 1;
    if swap {
        parts.swap(0, 1);
    }
    let mut shape = vec![];
    for part in &parts {
        let f = e.facts(*part).clone();
        if f.rank() > 1 {
            return Err(OpError::runtime(format!(
                "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {}",
                rules::shown(&f.dims)
            )));
        }
        shape.push(f.dims.first().copied().unwrap_or(Dim::Is(1)));
    }
    let mut out = Vals::new();
    for (k, part) in parts.iter().enumerate() {
        let mut own = vec![Dim::Is(1); shape.len()];
        own[k] = shape[k];
        let view = one(e, "view", &[t(*part), dims(own)])?;
        out.push(one(e, "expand", &[t(view), dims(shape.clone())])?);
    }
    if swap {
        out.swap(0, 1);
    }
    Ok(out)
}
