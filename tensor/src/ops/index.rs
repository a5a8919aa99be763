//! Reading and writing elements by index.

use super::{
    args,
    call::{call, cast, i, one, t},
    define::{composite, constant, kernel, mutate, samples},
    rules::{self, broadcast_pair, wrap_dim},
};
use crate::{
    Context, KernelFn, Tensor,
    element::Arithmetic,
    layout::{self, Sizes, numel},
    with_bits, with_comparable, with_plain, write,
};
use bytemuck::Pod;
use smallvec::smallvec;
use taipan_ir::{
    Arg, DType, Dim, Emitter, Facts, Number, Op, OpError, Rel, Shape, Val,
    op::{FactsList, Family, Forms, Kernel, RuleContext},
};

const BOTH: Forms = Forms::BOTH;
const ALL: Forms = super::define::ALL;

/// The op tables of this file.
pub static OPS: &[Op] = &[
    samples(
        kernel(
            "embedding(Tensor weight, Tensor indices, int padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False) -> Tensor",
            Forms::FUNCTION,
            Family::Gather,
            embedding_rule,
            Kernel(&(embedding as KernelFn)),
        ),
        &["f32[5,3], i64[2,2]%5", "f16[5,3], i64[4]%5"],
    ),
    samples(
        kernel(
            "index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
            Forms::INTERNAL,
            Family::Gather,
            index_rule,
            Kernel(&(index as KernelFn)),
        ),
        &[
            "f32[3,4], [i64[2]%3]",
            "f32[3,4], [None, i64[2]%4]",
            "f32[3,4], [i64[2]%3, i64[2]%4]",
            "f32[3,4,5], [i64[2]%3, None, i64[2]%5]",
            "f32[3,4], [i64[2,1]%3, i64[3]%4]",
            "f32[3,4], [bool[3]]",
        ],
    ),
    samples(
        kernel(
            "index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
            BOTH,
            Family::Scatter,
            rules::like_first,
            Kernel(&(index_put as KernelFn)),
        ),
        &["f32[3,4], [i64[2]%3], f32[4]", "f32[3,4], [i64[2]%3], f32[2,4], True", "f32[3,4], [None, i64[2]%4], f32[3,2]"],
    ),
    mutate("index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor(a!)", BOTH, "index_put"),
    samples(
        kernel(
            "index_select(Tensor self, int dim, Tensor index) -> Tensor",
            BOTH,
            Family::Gather,
            index_select_rule,
            Kernel(&(index_select as KernelFn)),
        ),
        &["f32[3,4], 0, i64[2]%3", "f32[3,4], 1, i64[3]%4"],
    ),
    samples(
        kernel(
            "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
            BOTH,
            Family::Gather,
            gather_rule,
            Kernel(&(gather as KernelFn)),
        ),
        &["f32[3,4], 1, i64[3,2]%4", "f32[3,4], 0, i64[2,4]%3"],
    ),
    samples(
        composite("take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor", BOTH, |e, a| match a[2] {
            Arg::Int(d) => call(e, "gather", &[a[0].clone(), Arg::Int(d), a[1].clone()]),
            _ => {
                let (x, index) = (one(e, "flatten.using_ints", &a[..1])?, one(e, "flatten.using_ints", &a[1..2])?);
                call(e, "gather", &[t(x), i(0), t(index)])
            }
        }),
        &["f32[3,4], i64[3,2]%4, 1"],
    ),
    samples(
        kernel(
            "scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
            ALL,
            Family::Scatter,
            scatter_rule,
            Kernel(&(scatter as KernelFn)),
        ),
        &["f32[3,4], 1, i64[3,1]%4, f32[3,2]"],
    ),
    samples(
        kernel(
            "scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
            ALL,
            Family::Scatter,
            scatter_rule,
            Kernel(&(scatter as KernelFn)),
        ),
        &["f32[3,4], 1, i64[3,1]%4, 7"],
    ),
    samples(
        kernel(
            "scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor",
            ALL,
            Family::Scatter,
            scatter_rule,
            Kernel(&(scatter_reduced as KernelFn)),
        ),
        &["f32[3,4], 1, i64[3,2]%4, f32[3,2], reduce='add'"],
    ),
    samples(
        kernel(
            "scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> Tensor",
            ALL,
            Family::Scatter,
            scatter_rule,
            Kernel(&(scatter_reduced as KernelFn)),
        ),
        &["f32[3,4], 1, i64[3,2]%4, f32[3,2], 'sum'", "f32[3,4], 1, i64[3,2]%4, f32[3,2], 'amax'"],
    ),
    samples(
        kernel(
            "scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
            ALL,
            Family::Scatter,
            scatter_rule,
            Kernel(&(scatter_add as KernelFn)),
        ),
        &["f32[3,4], 1, i64[3,2]%4, f32[3,2]"],
    ),
    samples(
        composite("index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor", ALL, |e, a| {
            let mut source = *args::tensor(a, 3)?;
            if !matches!(a[4], Arg::Number(Number::Int(1))) {
                source = one(e, "mul.Tensor", &[t(source), a[4].clone()])?;
            }
            let index = index_along(e, a, source)?;
            call(e, "scatter_add", &[a[0].clone(), a[1].clone(), t(index), t(source)])
        }),
        &["f32[3,4], 0, i64[2]%3, f32[2,4]"],
    ),
    samples(
        composite("index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor", ALL, |e, a| {
            let source = *args::tensor(a, 3)?;
            let index = index_along(e, a, source)?;
            call(e, "scatter.src", &[a[0].clone(), a[1].clone(), t(index), t(source)])
        }),
        &["f32[3,4], 0, i64[2]%3, f32[2,4]"],
    ),
    samples(
        composite("index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor", ALL, |e, a| {
            let f = e.facts(*args::tensor(a, 0)?).clone();
            let d = wrap_dim(args::int(a, 1)?, f.rank())?;
            let mut shape = f.dims.clone();
            shape[d] = e.facts(*args::tensor(a, 2)?).dims.first().copied().unwrap_or(Dim::Is(1));
            let ones = one(e, "new_zeros", &[a[0].clone(), Arg::Ints(shape)])?;
            let index = index_along(e, a, ones)?;
            call(e, "scatter.value", &[a[0].clone(), a[1].clone(), t(index), a[3].clone()])
        }),
        &["f32[3,4], 0, i64[2]%3, 7"],
    ),
    samples(
        composite("take(Tensor self, Tensor index) -> Tensor", BOTH, |e, a| {
            let flat = one(e, "flatten.using_ints", &a[..1])?;
            call(e, "index.Tensor", &[t(flat), Arg::OptionalTensors(vec![Some(*args::tensor(a, 1)?)])])
        }),
        &["f32[3,4], i64[2]%12"],
    ),
    samples(
        constant(kernel("nonzero(Tensor self) -> Tensor", BOTH, Family::Other, nonzero_rule, Kernel(&(nonzero as KernelFn)))),
        &["bool[2,3]", "i64[4]"],
    ),
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
            call(e, "where.self", &[t(mask), t(source), t(x)])
        }),
        &["f32[2,3], bool[2,3], f32[6]"],
    ),
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

fn offsets(sizes: &[i64], strides: &[i64]) -> Vec<i64> {
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
    let mut used = vec![];
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
    let dims: Shape = rest
        .iter()
        .filter(|d| **d < first)
        .map(|d| x.dims[*d])
        .chain(shape)
        .chain(rest.iter().filter(|d| **d >= first).map(|d| x.dims[*d]))
        .collect();
    rules::fresh(cx, x, x.dtype, dims)
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
    if x.rank() == 0 {
        return Ok(vec![x.copied()?]);
    }
    let d = wrap_dim(args::int(a, 1)?, x.rank())?;
    let rows = write::cast(cx, index, DType::I64)?;
    let rows = rows.elements::<i64>()?;
    if rows.iter().any(|r| *r < 0 || *r >= x.sizes()[d]) {
        return Err(OpError::index("index out of range in self"));
    }
    Ok(vec![take_rows(x, d, &rows)?])
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
    if matches!(a.get(5), Some(Arg::Bool(false))) {
        return Err(OpError::not_implemented("scatter_reduce(include_self=False)"));
    }
    combined(cx, a, args::text(a, 4))
}

fn combined(cx: &mut Context, a: &[Arg<Tensor>], how: &str) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let (index, d, values) = scatter_arguments(cx, a)?;
    let (wide, values) = (write::comparable(cx, x)?, write::comparable(cx, &values)?);
    let out = with_comparable!(wide.dtype(), T => match how {
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

/// Row-major positions of the elements that are not zero.
fn places(x: &Tensor) -> Result<Vec<i64>, OpError> {
    with_plain!(x.dtype(), T => {
        Ok(x.elements::<T>()?.iter().enumerate().filter(|(_, v)| **v != <T as Arithmetic>::zero()).map(|(k, _)| k as i64).collect())
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
