//! Views: new layouts over the storage of argument 0.

use super::{
    args,
    call::{call, dims, i, one, t},
    define::{composite, constant, gradient, refusing, samples, view},
    gradient::{
        of_as_strided, reshaped, through,
        view::{joined, permuted, stacked, transposed, turned},
    },
    refusal::shapes,
    rules::{shown, wrap_dim},
};
use smallvec::{SmallVec, smallvec};
use taipan_ir::{
    Arg, Dim, DimOp, Dims, Emitter, Facts, Op, OpError, Rel, Shape, Val,
    op::{FactsList, Forms, RuleContext, Vals},
};

const BOTH: Forms = Forms::BOTH;
const METHOD: Forms = Forms::METHOD;

/// The op tables of this file.
pub static OPS: &[Op] = &[
    samples(
        gradient(view("view(Tensor(a) self, int[] size) -> Tensor(a)", METHOD, view_rule), "", reshaped),
        &["f32[2,6], [3,4]", "f32[2,6], [-1,2]"],
    ),
    samples(
        composite("reshape(Tensor(a) self, int[] shape) -> Tensor(a)", BOTH, reshape),
        &["f32[2,6], [3,4]", "f32[2,6], [-1]", "f32[3,4].t, [12]"],
    ),
    composite("reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)", METHOD, |e, a| {
        let shape = e.facts(*args::tensor(a, 1)?).dims.clone();
        call(e, "reshape", &[a[0].clone(), Arg::Ints(shape)])
    }),
    composite("view_as(Tensor(a) self, Tensor other) -> Tensor(a)", METHOD, |e, a| {
        let shape = e.facts(*args::tensor(a, 1)?).dims.clone();
        call(e, "view", &[a[0].clone(), Arg::Ints(shape)])
    }),
    composite("expand_as(Tensor(a) self, Tensor other) -> Tensor(a)", METHOD, |e, a| {
        let shape = e.facts(*args::tensor(a, 1)?).dims.clone();
        call(e, "expand", &[a[0].clone(), Arg::Ints(shape)])
    }),
    samples(
        gradient(
            view("transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", BOTH, |_, a| {
                let mut f = self_of(a)?.clone();
                let (p, q) = (dim_at(a, 1, f.rank())?, dim_at(a, 2, f.rank())?);
                if f.rank() > 0 {
                    f.dims.swap(p, q);
                    f.strides.swap(p, q);
                }
                Ok(smallvec![f])
            }),
            "",
            transposed,
        ),
        &["f32[2,3,4], 0, 2", "f32[2,3], -1, -2"],
    ),
    composite("swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)", BOTH, |e, a| call(e, "transpose.int", a)),
    composite("swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", BOTH, |e, a| call(e, "transpose.int", a)),
    samples(
        gradient(
            view("t(Tensor(a) self) -> Tensor(a)", BOTH, |_, a| {
                let mut f = self_of(a)?.clone();
                if f.rank() > 2 {
                    return Err(OpError::runtime(format!("t() expects a tensor with <= 2 dimensions, but self is {}D", f.rank())));
                }
                f.dims.reverse();
                f.strides.reverse();
                Ok(smallvec![f])
            }),
            "",
            turned,
        ),
        &["f32[2,3]", "f32[3]"],
    ),
    gradient(
        view("mT(Tensor(a) self) -> Tensor(a)", Forms::INTERNAL, |_, a| {
            let mut f = self_of(a)?.clone();
            let n = f.rank();
            if n < 2 {
                return Err(OpError::runtime(format!("tensor.mT is only supported on matrices or batches of matrices. Got {n}-D tensor.")));
            }
            f.dims.swap(n - 1, n - 2);
            f.strides.swap(n - 1, n - 2);
            Ok(smallvec![f])
        }),
        "",
        turned,
    ),
    samples(gradient(view("permute(Tensor(a) self, int[] dims) -> Tensor(a)", BOTH, permute_rule), "", permuted), &["f32[2,3,4], [2,0,1]"]),
    samples(
        refusing(
            composite("movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)", BOTH, movedim),
            shapes::movedim,
        ),
        &["f32[2,3,4], [0], [2]"],
    ),
    samples(
        composite("movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)", BOTH, |e, a| {
            let (from, to) = (args::dim(a, 1)?, args::dim(a, 2)?);
            call(e, "movedim.intlist", &[a[0].clone(), dims([from]), dims([to])])
        }),
        &["f32[2,3,4], 0, -1"],
    ),
    samples(
        gradient(
            view("unsqueeze(Tensor(a) self, int dim) -> Tensor(a)", BOTH, |cx, a| {
                let mut f = self_of(a)?.clone();
                let d = wrap_dim(args::int(a, 1)?, f.rank() + 1)?;
                let stride = if d < f.rank() { cx.dims.calc(DimOp::Mul, f.dims[d], f.strides[d]) } else { Dim::Is(1) };
                f.dims.insert(d, Dim::Is(1));
                f.strides.insert(d, stride);
                Ok(smallvec![f])
            }),
            "",
            reshaped,
        ),
        &["f32[2,3], 0", "f32[2,3], -1", "f32[2,3], 1"],
    ),
    samples(gradient(view("squeeze(Tensor(a) self) -> Tensor(a)", BOTH, |cx, a| squeezed(cx, a, None)), "", reshaped), &["f32[2,1,3,1]"]),
    samples(
        gradient(
            view("squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)", BOTH, |cx, a| {
                let d = dim_at(a, 1, self_of(a)?.rank())?;
                squeezed(cx, a, Some(&[d]))
            }),
            "",
            reshaped,
        ),
        &["f32[2,1,3], 1", "f32[2,1,3], 0"],
    ),
    samples(
        gradient(
            refusing(
                view("squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)", BOTH, |cx, a| {
                    let rank = self_of(a)?.rank();
                    let chosen: Vec<usize> = args::ints(a, 1)?.into_iter().map(|d| wrap_dim(d, rank)).collect::<Result<_, _>>()?;
                    squeezed(cx, a, Some(&chosen))
                }),
                shapes::distinct,
            ),
            "",
            reshaped,
        ),
        &["f32[2,1,3,1], [1,3]"],
    ),
    samples(
        gradient(view("expand(Tensor(a) self, int[] size, *, bool implicit=False) -> Tensor(a)", METHOD, expand_rule), "", through),
        &["f32[2,1], [2,3]", "f32[3], [2,-1]"],
    ),
    composite("broadcast_to(Tensor(a) self, int[] size) -> Tensor(a)", BOTH, |e, a| call(e, "expand", a)),
    samples(
        composite("flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)", BOTH, flatten),
        &["f32[2,3,4]", "f32[2,3,4], 1", "f32[2,3,4], 0, 1"],
    ),
    samples(
        composite("ravel(Tensor(a) self) -> Tensor(a)", BOTH, |e, a| call(e, "reshape", &[a[0].clone(), dims([Dim::Is(-1)])])),
        &["f32[2,3]"],
    ),
    samples(composite("unflatten.int(Tensor(a) self, int dim, int[] sizes) -> Tensor(a)", BOTH, unflatten), &["f32[2,6], 1, [2,-1]"]),
    samples(view("select.int(Tensor(a) self, int dim, int index) -> Tensor(a)", BOTH, select_rule), &["f32[2,3], 0, 1", "f32[2,3], 1, -1"]),
    samples(
        view(
            "slice.Tensor(Tensor(a) self, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor(a)",
            Forms::INTERNAL,
            |cx, a| {
                let f = self_of(a)?;
                if f.rank() == 0 {
                    return Err(OpError::runtime("slice() cannot be applied to a 0-dim tensor."));
                }
                let d = dim_at(a, 1, f.rank())?;
                let step = args::int(a, 4)?;
                if step <= 0 {
                    return Err(OpError::runtime("slice step must be positive"));
                }
                let length = f.dims[d];
                let start = bounded(cx.dims, args::optional_dim(a, 2).unwrap_or(Dim::Is(0)), length)?;
                let end = match args::optional_dim(a, 3) {
                    Some(end) => bounded(cx.dims, end, length)?,
                    None => length,
                };
                sliced(cx, f, d, start, end, step)
            },
        ),
        &["f32[5,3], 0, 1, 4", "f32[5,3], 1, -2", "f32[5,3], 0, 0, 5, 2"],
    ),
    samples(
        view("narrow(Tensor(a) self, int dim, int start, int length) -> Tensor(a)", BOTH, |cx, a| {
            let f = self_of(a)?;
            if f.rank() == 0 {
                return Err(OpError::runtime("narrow() cannot be applied to a 0-dim tensor."));
            }
            let d = dim_at(a, 1, f.rank())?;
            let (mut start, length, size) = (args::dim(a, 2)?, args::dim(a, 3)?, f.dims[d]);
            if cx.dims.decide(Rel::Lt, length, Dim::Is(0))? {
                return Err(OpError::runtime("narrow(): length must be non-negative."));
            }
            if cx.dims.decide(Rel::Lt, start, Dim::Is(0))? {
                start = cx.dims.calc(DimOp::Add, start, size);
            }
            let end = cx.dims.calc(DimOp::Add, start, length);
            if !cx.dims.decide(Rel::Le, end, size)? {
                return Err(OpError::runtime(format!("start ({start}) + length ({length}) exceeds dimension size ({size}).")));
            }
            sliced(cx, f, d, start, end, 1)
        }),
        &["f32[5,3], 0, 1, 3"],
    ),
    samples(
        gradient(view("split.Tensor(Tensor(a) self, int split_size, int dim=0) -> Tensor(a)[]", METHOD, split_rule), "", joined),
        &["f32[5,3], 2", "f32[2,6], 3, 1"],
    ),
    samples(
        gradient(view("split_with_sizes(Tensor(a) self, int[] split_sizes, int dim=0) -> Tensor(a)[]", BOTH, split_sizes_rule), "", joined),
        &["f32[5,3], [2,3]"],
    ),
    composite("split.sizes(Tensor(a) self, int[] split_size, int dim=0) -> Tensor(a)[]", METHOD, |e, a| call(e, "split_with_sizes", a)),
    samples(
        gradient(view("chunk(Tensor(a) self, int chunks, int dim=0) -> Tensor(a)[]", BOTH, chunk_rule), "", joined),
        &["f32[5,3], 2", "f32[2,6], 3, -1"],
    ),
    samples(
        gradient(
            refusing(
                view("tensor_split.sections(Tensor(a) self, int sections, int dim=0) -> Tensor(a)[]", BOTH, |cx, a| {
                    let d = dim_at(a, 2, self_of(a)?.rank())?;
                    let (n, size) = (args::int(a, 1)?, cx.dims.number(self_of(a)?.dims[d])?);
                    if n <= 0 {
                        return Err(OpError::runtime(format!("number of sections must be larger than 0, got {n}")));
                    }
                    let ends: Vec<i64> = (1..=n).map(|k| k * (size / n) + k.min(size % n)).collect();
                    pieces(cx, self_of(a)?, d, &ends)
                }),
                shapes::tensor_split,
            ),
            "",
            joined,
        ),
        &["f32[5,3], 2"],
    ),
    samples(
        gradient(
            refusing(
                view("tensor_split.indices(Tensor(a) self, int[] indices, int dim=0) -> Tensor(a)[]", BOTH, |cx, a| {
                    let d = dim_at(a, 2, self_of(a)?.rank())?;
                    let size = cx.dims.number(self_of(a)?.dims[d])?;
                    let wrapped = |i: i64| (if i < 0 { i + size } else { i }).clamp(0, size);
                    let mut ends: Vec<i64> = args::ints(a, 1)?.into_iter().map(wrapped).collect();
                    ends.push(size);
                    pieces(cx, self_of(a)?, d, &ends)
                }),
                shapes::tensor_split,
            ),
            "",
            joined,
        ),
        &["f32[5,3], [1,3]"],
    ),
    samples(
        gradient(
            view("unbind.int(Tensor(a) self, int dim=0) -> Tensor(a)[]", BOTH, |cx, a| {
                let f = self_of(a)?;
                if f.rank() == 0 {
                    return Err(OpError::runtime("Dimension specified as 0 but tensor has no dimensions"));
                }
                let d = dim_at(a, 1, f.rank())?;
                let n = cx.dims.number(f.dims[d])?;
                (0..n).map(|k| selected(cx.dims, f, d, Dim::Is(k))).collect()
            }),
            "",
            stacked,
        ),
        &["f32[3,2]", "f32[2,3], 1"],
    ),
    samples(
        gradient(
            view("as_strided(Tensor(a) self, int[] size, int[] stride, int? storage_offset=None) -> Tensor(a)", BOTH, |_, a| {
                let f = self_of(a)?;
                let (sizes, strides) = (args::dims(a, 1)?, args::dims(a, 2)?);
                if sizes.len() != strides.len() {
                    return Err(OpError::runtime("mismatch in length of strides and shape"));
                }
                if strides.iter().any(|s| s.known().is_some_and(|n| n < 0)) {
                    return Err(OpError::runtime(format!(
                        "as_strided: Negative strides are not supported at the moment, got strides: {}",
                        shown(strides)
                    )));
                }
                Ok(smallvec![Facts {
                    dims: sizes.into(),
                    strides: strides.into(),
                    offset: args::optional_dim(a, 3).unwrap_or(f.offset),
                    ..f.clone()
                }])
            }),
            "",
            of_as_strided,
        ),
        &["f32[6], [2,2], [1,2]", "f32[6], [2], [2], 1"],
    ),
    samples(
        view("diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)", BOTH, diagonal_rule),
        &["f32[3,4]", "f32[3,4], 1", "f32[2,3,3], 0, 1, 2", "f32[3,4], -1"],
    ),
    samples(
        view("unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)", METHOD, unfold_rule),
        &["f32[7], 0, 3, 2", "f32[2,5], 1, 2, 1"],
    ),
    constant(view("detach(Tensor(a) self) -> Tensor(a)", BOTH, |_, a| Ok(smallvec![self_of(a)?.clone()]))),
    gradient(view("alias(Tensor(a) self) -> Tensor(a)", Forms::INTERNAL, |_, a| Ok(smallvec![self_of(a)?.clone()])), "", through),
    samples(constant(view("view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)", METHOD, view_dtype_rule)), &["f32[2,3], i32"]),
    samples(
        refusing(
            composite("hsplit.int(Tensor(a) self, int sections) -> Tensor(a)[]", BOTH, |e, a| {
                let d = i64::from(e.facts(*args::tensor(a, 0)?).rank() > 1);
                call(e, "tensor_split.sections", &[a[0].clone(), a[1].clone(), i(d)])
            }),
            shapes::hsplit,
        ),
        &[],
    ),
    samples(
        refusing(
            composite("vsplit.int(Tensor(a) self, int sections) -> Tensor(a)[]", BOTH, |e, a| {
                call(e, "tensor_split.sections", &[a[0].clone(), a[1].clone(), i(0)])
            }),
            shapes::vsplit,
        ),
        &[],
    ),
];

fn self_of<'a>(a: &[Arg<&'a Facts>]) -> Result<&'a Facts, OpError> {
    args::tensor(a, 0).copied()
}

fn dim_at<T>(a: &[Arg<T>], k: usize, rank: usize) -> Result<usize, OpError> {
    wrap_dim(args::int(a, k)?, rank)
}

/// The sizes asked for, a -1 among them worked out.
pub fn inferred(table: &mut dyn Dims, numel: Dim, asked: &[Dim]) -> Result<Shape, OpError> {
    let minus = asked.iter().position(|d| *d == Dim::Is(-1));
    let known = asked.iter().filter(|d| **d != Dim::Is(-1)).fold(Dim::Is(1), |n, d| table.calc(DimOp::Mul, n, *d));
    let invalid = || OpError::runtime(format!("shape '{}' is invalid for input of size {numel}", shown(asked)));
    if let Some(bad) = asked.iter().find(|d| d.known().is_some_and(|n| n < -1)) {
        let at = asked.iter().position(|d| d == bad).unwrap_or(0);
        return Err(OpError::runtime(format!("invalid shape dimension {bad} at index {at} of shape {}", shown(asked))));
    }
    if asked.iter().filter(|d| **d == Dim::Is(-1)).count() > 1 {
        return Err(OpError::runtime("only one dimension can be inferred"));
    }
    let mut shape: Shape = asked.into();
    let Some(k) = minus else {
        return if known == numel || table.decide(Rel::Eq, known, numel)? { Ok(shape) } else { Err(invalid()) };
    };
    if table.decide(Rel::Eq, known, Dim::Is(0))? {
        if table.decide(Rel::Eq, numel, Dim::Is(0))? {
            return Err(OpError::runtime(format!(
                "cannot reshape tensor of 0 elements into shape {} because the unspecified dimension size -1 can be any value and is ambiguous",
                shown(asked)
            )));
        }
        return Err(invalid());
    }
    if !table.decide(Rel::Divides, known, numel)? {
        return Err(invalid());
    }
    shape[k] = table.calc(DimOp::FloorDiv, numel, known);
    Ok(shape)
}

/// The strides that make `sizes` a view of the same elements, where there are any.
pub fn view_strides(table: &mut dyn Dims, f: &Facts, sizes: &[Dim]) -> Result<Option<Shape>, OpError> {
    let numel = f.numel(table);
    if f.dims[..] == *sizes {
        return Ok(Some(f.strides.clone()));
    }
    if f.is_contiguous(table)? || table.decide(Rel::Eq, numel, Dim::Is(0))? {
        return taipan_ir::facts::row_major(table, sizes).map(Some);
    }
    let mut strides: Shape = smallvec![Dim::Is(0); sizes.len()];
    let mut k = sizes.len();
    // Dims of the tensor, innermost first, in runs whose elements lie evenly; each run must hold a whole number of new dims.
    let mut base = f.strides.last().copied().unwrap_or(Dim::Is(1));
    let (mut old, mut new) = (Dim::Is(1), Dim::Is(1));
    for d in (0..f.rank()).rev() {
        old = table.calc(DimOp::Mul, old, f.dims[d]);
        let run = table.calc(DimOp::Mul, old, base);
        let ends = d == 0 || (!table.decide(Rel::Eq, f.dims[d - 1], Dim::Is(1))? && !table.decide(Rel::Eq, f.strides[d - 1], run)?);
        if !ends {
            continue;
        }
        while k > 0 && (table.decide(Rel::Lt, new, old)? || table.decide(Rel::Eq, sizes[k - 1], Dim::Is(1))?) {
            k -= 1;
            strides[k] = table.calc(DimOp::Mul, new, base);
            new = table.calc(DimOp::Mul, new, sizes[k]);
        }
        if !table.decide(Rel::Eq, new, old)? {
            return Ok(None);
        }
        if d > 0 {
            base = f.strides[d - 1];
            (old, new) = (Dim::Is(1), Dim::Is(1));
        }
    }
    Ok((k == 0).then_some(strides))
}

fn view_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let f = self_of(a)?;
    let numel = f.numel(cx.dims);
    let sizes = inferred(cx.dims, numel, args::dims(a, 1)?)?;
    match view_strides(cx.dims, f, &sizes)? {
        Some(strides) => Ok(smallvec![Facts { dims: sizes, strides, ..f.clone() }]),
        None => Err(OpError::runtime(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous subspaces). Use .reshape(...) instead.",
        )),
    }
}

fn reshape(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let value = *args::tensor(a, 0)?;
    let f = e.facts(value).clone();
    let numel = f.numel(e.dims());
    let sizes = inferred(e.dims(), numel, args::dims(a, 1)?)?;
    if view_strides(e.dims(), &f, &sizes)?.is_some() {
        return call(e, "view", &[t(value), Arg::Ints(sizes)]);
    }
    let copy = one(e, "clone", &[t(value), Arg::MemoryFormat(taipan_ir::MemoryFormat::Contiguous)])?;
    call(e, "view", &[t(copy), Arg::Ints(sizes)])
}

fn flatten(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let value = *args::tensor(a, 0)?;
    let f = e.facts(value).clone();
    let (start, end) = (dim_at(a, 1, f.rank())?, dim_at(a, 2, f.rank())?);
    if start > end {
        return Err(OpError::runtime("flatten() has invalid args: start_dim cannot come after end_dim"));
    }
    if f.rank() == 0 {
        return call(e, "reshape", &[t(value), dims([Dim::Is(1)])]);
    }
    if start == end {
        return Ok(smallvec![value]);
    }
    let flat = f.dims[start..=end].iter().fold(Dim::Is(1), |n, d| e.dims().calc(DimOp::Mul, n, *d));
    let shape: Vec<Dim> = f.dims[..start].iter().copied().chain([flat]).chain(f.dims[end + 1..].iter().copied()).collect();
    call(e, "reshape", &[t(value), dims(shape)])
}

fn unflatten(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let value = *args::tensor(a, 0)?;
    let f = e.facts(value).clone();
    let d = dim_at(a, 1, f.rank())?;
    let asked = args::dims(a, 2)?;
    let sizes = inferred(e.dims(), f.dims[d], asked).map_err(|_| {
        OpError::runtime(format!(
            "unflatten: Provided sizes {} don't multiply up to the size of dim {d} ({}) in the input tensor",
            shown(asked),
            f.dims[d]
        ))
    })?;
    let shape: Vec<Dim> = f.dims[..d].iter().chain(&sizes).chain(&f.dims[d + 1..]).copied().collect();
    call(e, "view", &[t(value), dims(shape)])
}

fn permute_rule(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let f = self_of(a)?;
    let order = args::ints(a, 1)?;
    if order.len() != f.rank() {
        return Err(OpError::runtime(format!(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of dimensions i.e. input.dim() = {} is not equal to len(dims) = {}",
            f.rank(),
            order.len()
        )));
    }
    let order: Vec<usize> = order.into_iter().map(|d| wrap_dim(d, f.rank())).collect::<Result<_, _>>()?;
    if (1..order.len()).any(|k| order[..k].contains(&order[k])) {
        return Err(OpError::runtime("permute(): duplicate dims are not allowed."));
    }
    let pick = |s: &Shape| order.iter().map(|d| s[*d]).collect::<Shape>();
    Ok(smallvec![Facts { dims: pick(&f.dims), strides: pick(&f.strides), ..f.clone() }])
}

fn movedim(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let rank = e.facts(*args::tensor(a, 0)?).rank();
    let wrapped = |k: usize| -> Result<Vec<usize>, OpError> { args::ints(a, k)?.into_iter().map(|d| wrap_dim(d, rank)).collect() };
    let (from, to) = (wrapped(1)?, wrapped(2)?);
    if from.len() != to.len() {
        return Err(OpError::runtime(format!(
            "movedim: Invalid source or destination dims: source ({:?} dims) should contain the same number of dims as destination ({:?} dims)",
            from, to
        )));
    }
    let mut order: Vec<Option<usize>> = vec![None; rank];
    for (f, t) in from.iter().zip(&to) {
        order[*t] = Some(*f);
    }
    let mut rest = (0..rank).filter(|d| !from.contains(d));
    let order: Vec<Dim> = order.into_iter().map(|o| Dim::Is(o.or_else(|| rest.next()).unwrap_or(0) as i64)).collect();
    call(e, "permute", &[a[0].clone(), dims(order)])
}

fn squeezed(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>], chosen: Option<&[usize]>) -> Result<FactsList, OpError> {
    let f = self_of(a)?;
    let mut out = Facts { dims: Shape::new(), strides: Shape::new(), ..f.clone() };
    for d in 0..f.rank() {
        let drop = chosen.is_none_or(|c| c.contains(&d)) && cx.dims.decide(Rel::Eq, f.dims[d], Dim::Is(1))?;
        if !drop {
            out.dims.push(f.dims[d]);
            out.strides.push(f.strides[d]);
        }
    }
    Ok(smallvec![out])
}

fn expand_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let f = self_of(a)?;
    let sizes = args::dims(a, 1)?;
    if sizes.len() < f.rank() {
        return Err(OpError::runtime(format!(
            "expand(torch.{}Tensor{{{}}}, size={}): the number of sizes provided ({}) must be greater or equal to the number of dimensions in the tensor ({})",
            f.dtype.scalar_name(),
            shown(&f.dims),
            shown(sizes),
            sizes.len(),
            f.rank()
        )));
    }
    let lead = sizes.len() - f.rank();
    let mut out = Facts { dims: sizes.into(), strides: smallvec![Dim::Is(0); sizes.len()], ..f.clone() };
    for (k, asked) in sizes.iter().enumerate() {
        let keep = *asked == Dim::Is(-1);
        if k < lead {
            if keep {
                return Err(OpError::runtime(format!(
                    "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension {k}"
                )));
            }
            continue;
        }
        let (size, stride) = (f.dims[k - lead], f.strides[k - lead]);
        if keep || *asked == size || cx.dims.decide(Rel::Eq, *asked, size)? {
            out.dims[k] = size;
            out.strides[k] = stride;
        } else if !cx.dims.decide(Rel::Eq, size, Dim::Is(1))? {
            return Err(OpError::runtime(format!(
                "The expanded size of the tensor ({asked}) must match the existing size ({size}) at non-singleton dimension {k}.  Target sizes: {}.  Tensor sizes: {}",
                shown(sizes),
                shown(&f.dims)
            )));
        }
    }
    Ok(smallvec![out])
}

fn selected(table: &mut dyn Dims, f: &Facts, d: usize, index: Dim) -> Result<Facts, OpError> {
    let mut out = f.clone();
    let skip = table.calc(DimOp::Mul, index, f.strides[d]);
    out.offset = table.calc(DimOp::Add, f.offset, skip);
    out.dims.remove(d);
    out.strides.remove(d);
    Ok(out)
}

fn select_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let f = self_of(a)?;
    if f.rank() == 0 {
        return Err(OpError::index("select() cannot be applied to a 0-dim tensor."));
    }
    let d = dim_at(a, 1, f.rank())?;
    let (index, size) = (args::dim(a, 2)?, f.dims[d]);
    let negative = cx.dims.decide(Rel::Lt, index, Dim::Is(0))?;
    let wrapped = if negative { cx.dims.calc(DimOp::Add, index, size) } else { index };
    if cx.dims.decide(Rel::Lt, wrapped, Dim::Is(0))? || !cx.dims.decide(Rel::Lt, wrapped, size)? {
        return Err(OpError::index(format!("select(): index {index} out of range for tensor of size {} at dimension {d}", shown(&f.dims))));
    }
    Ok(smallvec![selected(cx.dims, f, d, wrapped)?])
}

/// A slice bound counted from the front and kept within the dim.
fn bounded(table: &mut dyn Dims, bound: Dim, length: Dim) -> Result<Dim, OpError> {
    let bound = if table.decide(Rel::Lt, bound, Dim::Is(0))? { table.calc(DimOp::Add, bound, length) } else { bound };
    if table.decide(Rel::Lt, bound, Dim::Is(0))? {
        return Ok(Dim::Is(0));
    }
    Ok(if table.decide(Rel::Le, bound, length)? { bound } else { length })
}

fn sliced(cx: &mut RuleContext<'_>, f: &Facts, d: usize, start: Dim, end: Dim, step: i64) -> Result<FactsList, OpError> {
    let mut out = f.clone();
    let span = cx.dims.calc(DimOp::Sub, end, start);
    let span = if cx.dims.decide(Rel::Lt, span, Dim::Is(0))? { Dim::Is(0) } else { span };
    out.dims[d] = match step {
        1 => span,
        _ => {
            let up = cx.dims.calc(DimOp::Add, span, Dim::Is(step - 1));
            cx.dims.calc(DimOp::FloorDiv, up, Dim::Is(step))
        }
    };
    let skip = cx.dims.calc(DimOp::Mul, start, f.strides[d]);
    out.offset = cx.dims.calc(DimOp::Add, f.offset, skip);
    out.strides[d] = cx.dims.calc(DimOp::Mul, f.strides[d], Dim::Is(step));
    Ok(smallvec![out])
}

/// Pieces that end at `ends`, in order.
fn pieces(cx: &mut RuleContext<'_>, f: &Facts, d: usize, ends: &[i64]) -> Result<FactsList, OpError> {
    let mut out = FactsList::new();
    let mut start = 0;
    for end in ends {
        out.extend(sliced(cx, f, d, Dim::Is(start), Dim::Is(*end), 1)?);
        start = *end;
    }
    Ok(out)
}

fn split_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let f = self_of(a)?;
    let each = args::int(a, 1)?;
    if f.rank() == 0 {
        return Err(OpError::runtime("split expects at least a 1-dimensional tensor"));
    }
    if each < 0 {
        return Err(OpError::runtime(format!("split expects split_size be non-negative, but got split_size={each}")));
    }
    let d = dim_at(a, 2, f.rank())?;
    let size = cx.dims.number(f.dims[d])?;
    if each == 0 && size != 0 {
        return Err(OpError::runtime(format!("split_size can only be 0 if dimension size is 0, but got dimension size of {size}")));
    }
    let count = if each == 0 { 1 } else { ((size + each - 1) / each).max(1) };
    let ends: Vec<i64> = (1..=count).map(|k| (k * each).min(size)).collect();
    pieces(cx, f, d, &ends)
}

fn split_sizes_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let f = self_of(a)?;
    let d = dim_at(a, 2, f.rank())?;
    let (sizes, size) = (args::ints(a, 1)?, cx.dims.number(f.dims[d])?);
    if sizes.iter().any(|n| *n < 0) || sizes.iter().sum::<i64>() != size {
        return Err(OpError::runtime(format!(
            "split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's size at dimension {}), but got split_sizes={}",
            args::int(a, 2)?,
            shown(args::dims(a, 1)?)
        )));
    }
    let ends: Vec<i64> = sizes
        .iter()
        .scan(0, |sum, n| {
            *sum += n;
            Some(*sum)
        })
        .collect();
    pieces(cx, f, d, &ends)
}

fn chunk_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let f = self_of(a)?;
    let chunks = args::int(a, 1)?;
    if f.rank() == 0 {
        return Err(OpError::runtime("chunk expects at least a 1-dimensional tensor"));
    }
    if chunks <= 0 {
        return Err(OpError::runtime(format!("chunk expects `chunks` to be greater than 0, got: {chunks}")));
    }
    let d = dim_at(a, 2, f.rank())?;
    let size = cx.dims.number(f.dims[d])?;
    let each = (size + chunks - 1) / chunks;
    let count = if each == 0 { chunks } else { (size + each - 1) / each };
    let ends: Vec<i64> = (1..=count).map(|k| (k * each).min(size)).collect();
    pieces(cx, f, d, &ends)
}

fn diagonal_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let f = self_of(a)?;
    let offset = args::int(a, 1)?;
    let (p, q) = (dim_at(a, 2, f.rank())?, dim_at(a, 3, f.rank())?);
    if p == q {
        return Err(OpError::runtime(format!("diagonal dimensions cannot be identical {}, {}", args::int(a, 2)?, args::int(a, 3)?)));
    }
    let (rows, columns) = if offset >= 0 {
        (f.dims[p], cx.dims.calc(DimOp::Sub, f.dims[q], Dim::Is(offset)))
    } else {
        (cx.dims.calc(DimOp::Add, f.dims[p], Dim::Is(offset)), f.dims[q])
    };
    let length = if cx.dims.decide(Rel::Lt, rows, columns)? { rows } else { columns };
    let empty = cx.dims.decide(Rel::Lt, length, Dim::Is(0))?;
    let length = if empty { Dim::Is(0) } else { length };
    let mut out = f.clone();
    let along = if offset >= 0 { f.strides[q] } else { f.strides[p] };
    let skip = cx.dims.calc(DimOp::Mul, Dim::Is(offset.abs()), along);
    if !cx.dims.decide(Rel::Eq, length, Dim::Is(0))? {
        out.offset = cx.dims.calc(DimOp::Add, f.offset, skip);
    }
    let stride = cx.dims.calc(DimOp::Add, f.strides[p], f.strides[q]);
    for d in [p.max(q), p.min(q)] {
        out.dims.remove(d);
        out.strides.remove(d);
    }
    out.dims.push(length);
    out.strides.push(stride);
    Ok(smallvec![out])
}

fn unfold_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let f = self_of(a)?;
    let d = dim_at(a, 1, f.rank())?;
    let (size, step) = (args::int(a, 2)?, args::int(a, 3)?);
    let length = f.dims.get(d).copied().unwrap_or(Dim::Is(1));
    if size < 0 {
        return Err(OpError::runtime(format!("size is {size} but must be >= 0")));
    }
    if !cx.dims.decide(Rel::Le, Dim::Is(size), length)? {
        return Err(OpError::runtime(format!("maximum size for tensor at dimension {d} is {length} but size is {size}")));
    }
    if step <= 0 {
        return Err(OpError::runtime(format!("step is {step} but must be > 0")));
    }
    let mut out = f.clone();
    let stride = f.strides.get(d).copied().unwrap_or(Dim::Is(1));
    let last = cx.dims.calc(DimOp::Sub, length, Dim::Is(size));
    let count = cx.dims.calc(DimOp::FloorDiv, last, Dim::Is(step));
    if f.rank() > 0 {
        out.dims[d] = cx.dims.calc(DimOp::Add, count, Dim::Is(1));
        out.strides[d] = cx.dims.calc(DimOp::Mul, stride, Dim::Is(step));
    }
    out.dims.push(Dim::Is(size));
    out.strides.push(stride);
    Ok(smallvec![out])
}

fn view_dtype_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let f = self_of(a)?;
    let dtype = args::dtype(a, 1).unwrap_or(f.dtype);
    let (old, new) = (f.dtype.size() as i64, dtype.size() as i64);
    let mut out = Facts { dtype, ..f.clone() };
    if old == new {
        return Ok(smallvec![out]);
    }
    let last = f.rank().checked_sub(1);
    let Some(last) = last.filter(|d| f.strides[*d] == Dim::Is(1)) else {
        return Err(OpError::runtime(format!(
            "self.stride(-1) must be 1 to view {} as {} (different element sizes), but got {}",
            f.dtype.scalar_name(),
            dtype.scalar_name(),
            f.strides.last().copied().unwrap_or(Dim::Is(0))
        )));
    };
    let table = &mut *cx.dims;
    let mut scale = |d: Dim| -> Result<Dim, OpError> {
        if old > new {
            return Ok(table.calc(DimOp::Mul, d, Dim::Is(old / new)));
        }
        if !table.decide(Rel::Divides, Dim::Is(new / old), d)? {
            return Err(OpError::runtime(format!(
                "self.size(-1) must be divisible by {} to view {} as {} (different element sizes), but got {d}",
                new / old,
                f.dtype.scalar_name(),
                dtype.scalar_name()
            )));
        }
        Ok(table.calc(DimOp::FloorDiv, d, Dim::Is(new / old)))
    };
    out.dims[last] = scale(f.dims[last])?;
    out.offset = scale(f.offset)?;
    let outer: SmallVec<[Dim; 5]> = f.strides[..last].iter().map(|s| scale(*s)).collect::<Result<_, _>>()?;
    out.strides[..last].copy_from_slice(&outer);
    Ok(smallvec![out])
}
