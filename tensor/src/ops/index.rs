//! Reading and writing elements by index: `x[i, :, mask]` and its relatives.

use super::{
    args,
    call::{call, i, one, t},
    define::{composite, constant, gradient, kernel, moves, mutate, refusing, samples},
    gradient::gather::*,
    refusal::indexing,
    rules::{self, broadcast_pair, wrap_dim},
};
use crate::{
    Context, KernelFn, Tensor,
    element::Additive,
    layout::{self, Sizes, numel},
    with_bits, with_plain, write,
};
use smallvec::smallvec;
use taipan_ir::{
    Arg, DType, Dim, Facts, Op, OpError, Rel, Shape,
    facts::row_major,
    op::{FactsList, Family, Forms, Kernel, RuleContext},
};

const BOTH: Forms = Forms::BOTH;
const ALL: Forms = super::define::ALL;

/// The op tables of this file.
pub static OPS: &[Op] = &[
    samples(
        gradient(
            kernel(
                "embedding(Tensor weight, Tensor indices, int padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False) -> Tensor",
                Forms::FUNCTION,
                Family::Gather,
                embedding_rule,
                Kernel(&(embedding as KernelFn)),
            ),
            "indices",
            of_embedding,
        ),
        &["f32[5,3], i64[2,2]%5", "f16[5,3], i64[4]%5"],
    ),
    moves(samples(
        gradient(
            kernel(
                "index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
                Forms::INTERNAL,
                Family::Gather,
                index_rule,
                Kernel(&(index as KernelFn)),
            ),
            "indices",
            of_index,
        ),
        &[
            "f32[3,4], [i64[2]%3]",
            "f32[3,4], [None, i64[2]%4]",
            "f32[3,4], [i64[2]%3, i64[2]%4]",
            "f32[3,4,5], [i64[2]%3, None, i64[2]%5]",
            "f32[3,4], [i64[2,1]%3, i64[3]%4]",
            "f32[3,4], [bool[3]]",
            "f32[3,4].t, [i64[2]%4]",
        ],
    )),
    moves(samples(
        gradient(
            refusing(
                kernel(
                    "index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
                    BOTH,
                    Family::Scatter,
                    super::join::like_copy,
                    Kernel(&(index_put as KernelFn)),
                ),
                indexing::index_put,
            ),
            "indices",
            of_index_put,
        ),
        &[
            "f32[3,4], [i64[2]%3], f32[4]",
            "f32[3,4], [i64[2]%3], f32[2,4], True",
            "f32[3,4], [None, i64[2]%4], f32[3,2]",
            "f32[3,4].t, [i64[2]%4], f32[3]",
        ],
    )),
    mutate("index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor(a!)", BOTH, "index_put"),
    moves(samples(
        gradient(
            refusing(
                kernel(
                    "index_select(Tensor self, int dim, Tensor index) -> Tensor",
                    BOTH,
                    Family::Gather,
                    index_select_rule,
                    Kernel(&(index_select as KernelFn)),
                ),
                indexing::select,
            ),
            "index",
            of_index_select,
        ),
        &["f32[3,4], 0, i64[2]%3", "f32[3,4], 1, i64[3]%4"],
    )),
    samples(
        refusing(
            composite("take(Tensor self, Tensor index) -> Tensor", BOTH, |e, a| {
                let flat = one(e, "flatten.using_ints", &a[..1])?;
                call(e, "index.Tensor", &[t(flat), Arg::OptionalTensors(vec![Some(*args::tensor(a, 1)?)])])
            }),
            indexing::take,
        ),
        &["f32[3,4], i64[2]%12"],
    ),
    moves(samples(
        constant(kernel("nonzero(Tensor self) -> Tensor", BOTH, Family::Other, nonzero_rule, Kernel(&(nonzero as KernelFn)))),
        &["bool[2,3]", "i64[4]", "c64[4]"],
    )),
    constant(composite("argwhere(Tensor self) -> Tensor", BOTH, |e, a| call(e, "nonzero", a))),
    constant(composite("where(Tensor condition) -> Tensor[]", Forms::FUNCTION, |e, a| {
        let found = one(e, "nonzero", a)?;
        call(e, "unbind.int", &[t(found), i(1)])
    })),
    samples(
        composite("masked_select(Tensor self, Tensor mask) -> Tensor", BOTH, |e, a| {
            let (x, mask) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
            if e.facts(mask).dtype != DType::Bool {
                return Err(OpError::runtime("masked_select: expected BoolTensor for mask"));
            }
            let (f, m) = (e.facts(x).dims.clone(), e.facts(mask).dims.clone());
            let shape = broadcast_pair(e.dims(), &f, &m)?;
            let x = one(e, "expand", &[t(x), Arg::Ints(shape.clone())])?;
            let mask = one(e, "expand", &[t(mask), Arg::Ints(shape)])?;
            call(e, "index.Tensor", &[t(x), Arg::OptionalTensors(vec![Some(mask)])])
        }),
        &["f32[2,3], bool[3]"],
    ),
    samples(
        refusing(
            composite("masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor", ALL, |e, a| {
                let (x, mask) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
                let shape = e.facts(x).dims.clone();
                let mask = one(e, "expand", &[t(mask), Arg::Ints(shape)])?;
                let counted = one(e, "flatten.using_ints", &[t(mask)])?;
                let counted = one(e, "cumsum", &[t(counted), i(0)])?;
                let at = one(e, "sub.Tensor", &[t(counted), super::call::n(1)])?;
                let at = one(e, "clamp_min", &[t(at), super::call::n(0)])?;
                let at = one(e, "view_as", &[t(at), t(mask)])?;
                let source = one(e, "take", &[a[2].clone(), t(at)])?;
                let out = one(e, "where.self", &[t(mask), t(source), t(x)])?;
                call(e, "contiguous", &[t(out)])
            }),
            indexing::masked_scatter,
        ),
        &["f32[2,3], bool[2,3], f32[6]"],
    ),
];

fn check_index_dtype(f: &Facts) -> Result<(), OpError> {
    if matches!(f.dtype, DType::I64 | DType::I32 | DType::Bool | DType::U8 | DType::I16 | DType::I8) {
        return Ok(());
    }
    Err(OpError::index("tensors used as indices must be long, int, byte or bool tensors"))
}

fn embedding_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let (weight, indices) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
    if weight.rank() != 2 {
        return Err(OpError::runtime("'weight' must be 2-D"));
    }
    if !matches!(indices.dtype, DType::I64 | DType::I32) {
        return Err(OpError::runtime(format!(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got torch.{}Tensor instead (while checking arguments for embedding)",
            indices.dtype.scalar_name()
        )));
    }
    let mut dims = indices.dims.clone();
    dims.push(weight.dims[1]);
    rules::fresh(cx, weight, weight.dtype, dims)
}

fn embedding(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let (weight, indices) = (args::tensor(a, 0)?, args::tensor(a, 1)?);
    let rows = write::cast(cx, indices, DType::I64)?;
    let rows = rows.elements::<i64>()?;
    let n = weight.sizes()[0];
    if rows.iter().any(|r| *r < 0 || *r >= n) {
        return Err(OpError::index("index out of range in self"));
    }
    let taken = take_rows(weight, 0, &rows)?;
    let sizes: Sizes = facts[0].dims.iter().filter_map(|d| d.known()).collect();
    Ok(vec![taken.reshaped(&sizes)])
}

/// The slices of a tensor at these places of dim `d`, which must exist; row-major.
pub fn take_rows(x: &Tensor, d: usize, rows: &[i64]) -> Result<Tensor, OpError> {
    let source = x.contiguous()?;
    let mut sizes: Sizes = x.sizes().into();
    let n = sizes[d] as usize;
    sizes[d] = rows.len() as i64;
    let inner = numel(&sizes[d + 1..]);
    with_bits!(x.dtype(), T => {
        let elements = source.elements::<T>()?;
        Ok(Tensor::build(x.dtype(), &sizes, |out: &mut [T]| {
            if inner == 0 || n == 0 || rows.is_empty() {
                return;
            }
            for (to, from) in out.chunks_mut(rows.len() * inner).zip(elements.chunks(n * inner)) {
                for (o, r) in to.chunks_mut(inner).zip(rows) {
                    let start = *r as usize * inner;
                    o.copy_from_slice(&from[start..start + inner]);
                }
            }
        }))
    })
}

/// Where an index expression reaches: offsets of the dims before the indexed ones, of the indexed places, and of the dims behind.
struct Reach {
    before: Vec<i64>,
    places: Vec<i64>,
    after: Vec<i64>,
    sizes: Sizes,
}

/// The offsets of all elements of a layout, in row-major order.
pub fn offsets(sizes: &[i64], strides: &[i64]) -> Vec<i64> {
    let mut out = Vec::with_capacity(numel(sizes));
    layout::for_each_row(sizes, [strides], [0], |[start], [step], length| out.extend((0..length as i64).map(|k| start + k * step)));
    out
}

/// Masks become the places where they hold; the rest stays.
fn placed(cx: &mut Context, x: &Tensor, indices: &[Option<Tensor>]) -> Result<Vec<Option<Tensor>>, OpError> {
    let mut out = vec![];
    for (k, index) in indices.iter().enumerate() {
        match index {
            Some(mask) if matches!(mask.dtype(), DType::Bool | DType::U8) => {
                let at = out.len();
                for d in 0..mask.rank() {
                    if x.sizes().get(at + d) != Some(&mask.sizes()[d]) {
                        return Err(mask_error(mask.sizes(), x.sizes(), d, at + d));
                    }
                }
                let found = places(mask)?;
                let count = found.len() as i64;
                if mask.rank() == 0 {
                    return Err(OpError::not_implemented("indexing with a zero-dim mask"));
                }
                let strides = layout::row_major(mask.sizes());
                for d in 0..mask.rank() {
                    let along: Vec<i64> = found.iter().map(|p| p / strides[d] % mask.sizes()[d]).collect();
                    out.push(Some(Tensor::from_slice(&along, &[count])?));
                }
                let _ = k;
            }
            Some(index) => out.push(Some(write::cast(cx, index, DType::I64)?)),
            None => out.push(None),
        }
    }
    Ok(out)
}

fn mask_error(mask: &[i64], sizes: &[i64], at: usize, dim: usize) -> OpError {
    OpError::index(format!(
        "The shape of the mask {mask:?} at index {at} does not match the shape of the indexed tensor {sizes:?} at index {dim}"
    ))
}

fn reach(cx: &mut Context, x: &Tensor, indices: &[Option<Tensor>]) -> Result<Reach, OpError> {
    let indices = placed(cx, x, indices)?;
    if indices.len() > x.rank() {
        return Err(OpError::index(format!("too many indices for tensor of dimension {}", x.rank())));
    }
    let used: Vec<usize> = (0..indices.len()).filter(|k| indices[*k].is_some()).collect();
    let adjacent = used.windows(2).all(|w| w[1] == w[0] + 1);
    let first = if adjacent { used.first().copied().unwrap_or(0) } else { 0 };
    let mut shape: Shape = Shape::new();
    for index in indices.iter().flatten() {
        let own: Shape = index.sizes().iter().map(|n| Dim::Is(*n)).collect();
        shape = broadcast_pair(&mut taipan_ir::dims::NumberDims, &shape, &own).map_err(|_| {
            let shown: Vec<String> = indices.iter().flatten().map(|t| format!("{:?}", t.sizes())).collect();
            OpError::index(format!("shape mismatch: indexing tensors could not be broadcast together with shapes {}", shown.join(", ")))
        })?;
    }
    let shape: Sizes = shape.iter().filter_map(|d| d.known()).collect();
    let mut places = vec![0i64; numel(&shape)];
    for d in &used {
        let Some(index) = &indices[*d] else { continue };
        let wide = index.broadcast_to(&shape).copied()?;
        let n = x.sizes()[*d];
        for (place, i) in places.iter_mut().zip(wide.elements::<i64>()?.iter()) {
            if *i < -n || *i >= n {
                return Err(OpError::index(format!("index {i} is out of bounds for dimension {d} with size {n}")));
            }
            *place += (if *i < 0 { i + n } else { *i }) * x.strides()[*d];
        }
    }
    let rest: Vec<usize> = (0..x.rank()).filter(|d| !used.contains(d)).collect();
    let (lead, tail): (Vec<usize>, Vec<usize>) = rest.iter().partition(|d| **d < first);
    let pick = |dims: &[usize], from: &[i64]| dims.iter().map(|d| from[*d]).collect::<Sizes>();
    let (lead_sizes, tail_sizes) = (pick(&lead, x.sizes()), pick(&tail, x.sizes()));
    let sizes = lead_sizes.iter().chain(&shape).chain(&tail_sizes).copied().collect();
    Ok(Reach {
        before: offsets(&lead_sizes, &pick(&lead, x.strides())),
        places,
        after: offsets(&tail_sizes, &pick(&tail, x.strides())),
        sizes,
    })
}

fn index_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let x = *args::tensor(a, 0)?;
    let list: Vec<Option<&Facts>> = match &a[1] {
        Arg::OptionalTensors(list) => list.clone(),
        Arg::Tensors(list) => list.iter().map(|f| Some(*f)).collect(),
        _ => vec![],
    };
    let (mut used, mut vectors) = (vec![], vec![]);
    let mut shape: Shape = Shape::new();
    let mut d = 0;
    let mut fresh = None;
    for index in &list {
        match index {
            Some(mask) if matches!(mask.dtype, DType::Bool | DType::U8) => {
                for k in 0..mask.rank() {
                    let fits = d + k < x.rank() && cx.dims.decide(Rel::Eq, mask.dims[k], x.dims[d + k])?;
                    if !fits {
                        return Err(OpError::index(format!(
                            "The shape of the mask {} at index {k} does not match the shape of the indexed tensor {} at index {}",
                            rules::shown(&mask.dims),
                            rules::shown(&x.dims),
                            d + k
                        )));
                    }
                    used.push(d + k);
                }
                d += mask.rank();
                let count = *fresh.get_or_insert_with(|| cx.dims.fresh(0));
                // How many places hold is only known at run time; plain execution finds the true size in the kernel.
                shape = broadcast_pair(cx.dims, &shape, &[count])?;
            }
            Some(index) => {
                check_index_dtype(index)?;
                shape = broadcast_pair(cx.dims, &shape, &index.dims)?;
                vectors.push(*index);
                used.push(d);
                d += 1;
            }
            None => d += 1,
        }
    }
    if d > x.rank() {
        return Err(OpError::index(format!("too many indices for tensor of dimension {}", x.rank())));
    }
    let adjacent = used.windows(2).all(|w| w[1] == w[0] + 1);
    let first = if adjacent { used.first().copied().unwrap_or(0) } else { 0 };
    let rest: Vec<usize> = (0..x.rank()).filter(|d| !used.contains(d)).collect();
    let arranged = |own: &[Dim], indexed: &[Dim]| -> Shape {
        let (before, after) = (rest.iter().filter(|d| **d < first), rest.iter().filter(|d| **d >= first));
        before.map(|d| own[*d]).chain(indexed.iter().copied()).chain(after.map(|d| own[*d])).collect()
    };
    let dims = arranged(&x.dims, &shape);
    let mut out = rules::fresh(cx, x, x.dtype, dims.clone())?;
    let mut plain = row_major(cx.dims, &x.dims)? == x.strides;
    for index in &vectors {
        plain = plain && row_major(cx.dims, &index.dims)? == index.strides;
    }
    if !plain {
        // The dims lie as those of the tensor do, in which the indexed ones have no place, and then as those of the indices.
        let strides = arranged(&x.strides, &vec![Dim::Is(0); shape.len()]);
        let spread = Facts { dims: dims.clone(), strides, ..x.clone() };
        let behind = rest.iter().filter(|d| **d >= first).count();
        let widened = |index: &&Facts| {
            let mut wide = (*index).clone();
            wide.dims.extend(std::iter::repeat_n(Dim::Is(1), behind));
            wide.strides.extend(std::iter::repeat_n(Dim::Is(0), behind));
            wide
        };
        let wide: Vec<Facts> = vectors.iter().map(widened).collect();
        let all: Vec<&Facts> = std::iter::once(&spread).chain(&wide).collect();
        out[0].strides = rules::pointwise_strides(cx.dims, &dims, &all)?;
    }
    Ok(out)
}

fn index_list(arg: &Arg<Tensor>) -> Vec<Option<Tensor>> {
    match arg {
        Arg::OptionalTensors(list) => list.clone(),
        Arg::Tensors(list) => list.iter().cloned().map(Some).collect(),
        _ => vec![],
    }
}

fn index(cx: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let reach = reach(cx, x, &index_list(&a[1]))?;
    let together = reach.after.iter().enumerate().all(|(k, o)| *o == k as i64);
    with_bits!(x.dtype(), T => {
        let memory = x.read::<T>()?;
        Ok(vec![Tensor::build(x.dtype(), &reach.sizes, |out: &mut [T]| {
            let width = reach.after.len().max(1);
            let starts = reach.before.iter().flat_map(|b| reach.places.iter().map(move |p| b + p));
            for (row, start) in out.chunks_mut(width).zip(starts) {
                let start = start + x.offset();
                if together {
                    row.copy_from_slice(&memory[start as usize..start as usize + width]);
                } else {
                    row.iter_mut().zip(&reach.after).for_each(|(o, k)| *o = memory[(start + k) as usize]);
                }
            }
        })])
    })
}

fn index_put(cx: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let (x, values) = (args::tensor(a, 0)?, args::tensor(a, 2)?);
    if values.dtype() != x.dtype() {
        return Err(OpError::runtime(format!(
            "Index put requires the source and destination dtypes match, got {} for the destination and {} for the source.",
            x.dtype().scalar_name(),
            values.dtype().scalar_name()
        )));
    }
    let base = x.copied()?;
    let reach = reach(cx, &base, &index_list(&a[1]))?;
    if values.rank() > reach.sizes.len() || !broadcasts(values.sizes(), &reach.sizes) {
        return Err(OpError::runtime(format!(
            "shape mismatch: value tensor of shape {:?} cannot be broadcast to indexing result of shape {:?}",
            values.sizes(),
            reach.sizes.as_slice()
        )));
    }
    let values = values.broadcast_to(&reach.sizes);
    let accumulate = args::flag(a, 3);
    with_plain!(x.dtype(), T => {
        let new = values.elements::<T>()?;
        write::change_new(&base, |memory: &mut [T]| {
            let starts = reach.before.iter().flat_map(|b| reach.places.iter().map(move |p| b + p));
            for (row, start) in new.chunks(reach.after.len().max(1)).zip(starts) {
                for (v, k) in row.iter().zip(&reach.after) {
                    let o = &mut memory[(start + k) as usize];
                    *o = if accumulate { o.plus(*v) } else { *v };
                }
            }
        })?;
    });
    Ok(vec![base])
}

fn broadcasts(from: &[i64], to: &[i64]) -> bool {
    from.iter().rev().zip(to.iter().rev()).all(|(f, t)| f == t || *f == 1)
}

fn index_select_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let (x, index) = (*args::tensor(a, 0)?, *args::tensor(a, 2)?);
    let d = wrap_dim(args::int(a, 1)?, x.rank())?;
    if index.rank() > 1 {
        return Err(OpError::index("index_select(): Index is supposed to be a vector"));
    }
    if !matches!(index.dtype, DType::I64 | DType::I32) {
        return Err(OpError::runtime("index_select(): Expected dtype int32 or int64 for index"));
    }
    let mut dims = x.dims.clone();
    if let Some(size) = dims.get_mut(d) {
        *size = index.dims.first().copied().unwrap_or(Dim::Is(1));
    }
    rules::fresh(cx, x, x.dtype, dims)
}

fn index_select(cx: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let (x, index) = (args::tensor(a, 0)?, args::tensor(a, 2)?);
    let d = wrap_dim(args::int(a, 1)?, x.rank())?;
    let rows = write::cast(cx, index, DType::I64)?;
    let rows = rows.elements::<i64>()?;
    let size = x.sizes().get(d).copied().unwrap_or(1);
    if rows.iter().any(|r| *r < 0 || *r >= size) {
        return Err(OpError::index("index out of range in self"));
    }
    if x.rank() == 0 {
        return Ok(vec![x.copied()?]);
    }
    Ok(vec![take_rows(x, d, &rows)?])
}

/// Row-major positions of the elements that are not zero.
fn places(x: &Tensor) -> Result<Vec<i64>, OpError> {
    with_plain!(x.dtype(), T => {
        Ok(x.elements::<T>()?.iter().enumerate().filter(|(_, v)| **v != <T as Additive>::zero()).map(|(k, _)| k as i64).collect())
    })
}

fn nonzero_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let x = *args::tensor(a, 0)?;
    // PyTorch keeps the coordinates of one dim together.
    let count = cx.dims.fresh(0);
    let (dims, strides) = (smallvec![count, Dim::Is(x.rank() as i64)], smallvec![Dim::Is(1), count]);
    Ok(smallvec![Facts { dtype: DType::I64, device: x.device.clone(), dims, strides, offset: Dim::Is(0) }])
}

fn nonzero(_: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let found = places(x)?;
    let strides = layout::row_major(x.sizes());
    let along = |d: usize| found.iter().map(move |p| (p, d));
    let coordinates: Vec<i64> = (0..x.rank()).flat_map(along).map(|(p, d)| p / strides[d] % x.sizes()[d]).collect();
    let table = Tensor::from_slice(&coordinates, &[x.rank() as i64, found.len() as i64])?;
    Ok(vec![table.permuted(&[1, 0])])
}
