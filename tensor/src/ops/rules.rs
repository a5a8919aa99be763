//! Facts rules that families share: broadcasting, promotion, the strides of results, dim arguments.

use super::args;
use smallvec::{SmallVec, smallvec};
use taipan_ir::{
    Arg, DType, Dim, DimOp, Dims, Facts, OpError, Rel, Shape,
    facts::row_major,
    op::{FactsList, Promotion, RuleContext},
    promote,
};

/// The sizes two shapes broadcast to.
pub fn broadcast_pair(dims: &mut dyn Dims, a: &[Dim], b: &[Dim]) -> Result<Shape, OpError> {
    if a == b {
        return Ok(a.into());
    }
    let rank = a.len().max(b.len());
    let one = Dim::Is(1);
    let mut out: Shape = smallvec![one; rank];
    for i in 0..rank {
        let (x, y) = (at_from_left(a, rank, i), at_from_left(b, rank, i));
        out[i] = match (x, y) {
            _ if x == y => x,
            _ if y == one => x,
            _ if x == one => y,
            _ if dims.decide(Rel::Eq, x, y)? => x,
            _ if dims.decide(Rel::Eq, x, one)? => y,
            _ if dims.decide(Rel::Eq, y, one)? => x,
            _ => {
                return Err(OpError::runtime(format!(
                    "The size of tensor a ({x}) must match the size of tensor b ({y}) at non-singleton dimension {i}"
                )));
            }
        };
    }
    Ok(out)
}

fn at_from_left(sizes: &[Dim], rank: usize, i: usize) -> Dim {
    (i + sizes.len()).checked_sub(rank).map_or(Dim::Is(1), |k| sizes[k])
}

/// The sizes all tensors broadcast to.
pub fn broadcast(dims: &mut dyn Dims, tensors: &[&Facts]) -> Result<Shape, OpError> {
    let Some(first) = tensors.first() else { return Ok(Shape::new()) };
    tensors[1..].iter().try_fold(first.dims.clone(), |shape, t| broadcast_pair(dims, &shape, &t.dims))
}

/// The strides PyTorch gives the result of a pointwise op over `tensors` broadcast to `shape`: dense, with dims in the order in which
/// they lie in the first tensor that tells them apart.
pub fn pointwise_strides(dims: &mut dyn Dims, shape: &[Dim], tensors: &[&Facts]) -> Result<Shape, OpError> {
    let mut plain = true;
    for t in tensors {
        plain = plain && (t.dims.len() <= 1 || (t.dims[..] == *shape && row_major(dims, &t.dims)? == t.strides));
    }
    if plain || shape.len() <= 1 {
        return row_major(dims, shape);
    }
    let mut same = tensors.iter().all(|t| t.dims[..] == *shape && t.strides == tensors[0].strides);
    if same {
        // All alike and dense: the result lies the same way.
        same = is_dense(dims, tensors[0])?;
    }
    if same {
        return Ok(tensors[0].strides.clone());
    }
    let rank = shape.len();
    let mut order: SmallVec<[usize; 5]> = (0..rank).rev().collect();
    for i in 1..rank {
        let mut moving = i;
        for k in (0..i).rev() {
            match compare_dims(dims, shape, tensors, order[k], order[moving])? {
                1 => {
                    order.swap(k, moving);
                    moving = k;
                }
                -1 => break,
                _ => {}
            }
        }
    }
    let mut strides: Shape = smallvec![Dim::Is(1); rank];
    let mut next = Dim::Is(1);
    for d in order {
        strides[d] = next;
        let size = dims.calc(DimOp::Max, shape[d], Dim::Is(1));
        next = dims.calc(DimOp::Mul, next, size);
    }
    Ok(strides)
}

/// 1 where `a` should lie outside `b`, -1 where it lies inside, 0 where no tensor tells.
fn compare_dims(dims: &mut dyn Dims, shape: &[Dim], tensors: &[&Facts], a: usize, b: usize) -> Result<i32, OpError> {
    for t in tensors {
        let (x, y) = (broadcast_stride(dims, shape, t, a)?, broadcast_stride(dims, shape, t, b)?);
        let (Some(x), Some(y)) = (x, y) else { continue };
        if dims.decide(Rel::Lt, x, y)? {
            return Ok(-1);
        }
        if dims.decide(Rel::Lt, y, x)? {
            return Ok(1);
        }
        if dims.decide(Rel::Lt, shape[b], shape[a])? {
            return Ok(1);
        }
    }
    Ok(0)
}

/// The stride of dim `d` of the broadcast tensor; `None` where it is zero.
fn broadcast_stride(dims: &mut dyn Dims, shape: &[Dim], t: &Facts, d: usize) -> Result<Option<Dim>, OpError> {
    let Some(k) = (d + t.dims.len()).checked_sub(shape.len()) else { return Ok(None) };
    let one = Dim::Is(1);
    let stretched = t.dims[k] != shape[d] && dims.decide(Rel::Eq, t.dims[k], one)? && !dims.decide(Rel::Eq, shape[d], one)?;
    if stretched || dims.decide(Rel::Eq, t.strides[k], Dim::Is(0))? {
        return Ok(None);
    }
    Ok(Some(t.strides[k]))
}

/// Whether the elements lie without gaps or overlap, in any order of dims.
pub fn is_dense(dims: &mut dyn Dims, t: &Facts) -> Result<bool, OpError> {
    if t.is_contiguous(dims)? {
        return Ok(true);
    }
    let mut expected = Dim::Is(1);
    let mut left: SmallVec<[usize; 5]> = SmallVec::new();
    for d in 0..t.rank() {
        if !dims.decide(Rel::Eq, t.dims[d], Dim::Is(1))? {
            left.push(d);
        }
    }
    while !left.is_empty() {
        let mut found = None;
        for (i, d) in left.iter().enumerate() {
            if dims.decide(Rel::Eq, t.strides[*d], expected)? {
                found = Some(i);
                break;
            }
        }
        let Some(i) = found else { return Ok(false) };
        let d = left.remove(i);
        expected = dims.calc(DimOp::Mul, expected, t.dims[d]);
    }
    Ok(true)
}

/// The facts of a result without storage of its own to look like: dense, strides as PyTorch chooses them.
pub fn pointwise_result(cx: &mut RuleContext<'_>, dtype: DType, tensors: &[&Facts]) -> Result<FactsList, OpError> {
    let dims = broadcast(cx.dims, tensors)?;
    let strides = pointwise_strides(cx.dims, &dims, tensors)?;
    let device = tensors.first().map(|t| t.device.clone()).unwrap_or(taipan_ir::Device::CPU);
    Ok(smallvec![Facts { dtype, device, dims, strides, offset: Dim::Is(0) }])
}

fn pointwise_rule(
    cx: &mut RuleContext<'_>,
    args: &[Arg<&Facts>],
    promoted: &[Arg<&Facts>],
    promotion: Promotion,
) -> Result<FactsList, OpError> {
    let mut tensors: SmallVec<[&Facts; 4]> = SmallVec::new();
    args.iter().for_each(|a| a.for_each(|f| tensors.push(*f)));
    let dtype = promote::types(promotion, promoted, cx.default_float).result;
    pointwise_result(cx, dtype, &tensors)
}

/// [`Promotion::Common`].
pub fn common(cx: &mut RuleContext<'_>, args: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    pointwise_rule(cx, args, args, Promotion::Common)
}

/// [`Promotion::Common`] of the first two arguments; the rest are plain numbers.
pub fn common_pair(cx: &mut RuleContext<'_>, args: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    pointwise_rule(cx, args, &args[..2], Promotion::Common)
}

/// [`Promotion::Common`] of the first three arguments; the rest are plain numbers.
pub fn common_triple(cx: &mut RuleContext<'_>, args: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    pointwise_rule(cx, args, &args[..3], Promotion::Common)
}

/// [`Promotion::Common`] of argument 0 alone.
pub fn common_one(cx: &mut RuleContext<'_>, args: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    pointwise_rule(cx, args, &args[..1], Promotion::Common)
}

/// [`Promotion::Float`].
pub fn float(cx: &mut RuleContext<'_>, args: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    pointwise_rule(cx, args, args, Promotion::Float)
}

/// [`Promotion::Float`] of argument 0 alone.
pub fn float_one(cx: &mut RuleContext<'_>, args: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    pointwise_rule(cx, args, &args[..1], Promotion::Float)
}

/// [`Promotion::Compare`].
pub fn compare(cx: &mut RuleContext<'_>, args: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    pointwise_rule(cx, args, args, Promotion::Compare)
}

/// [`Promotion::First`].
pub fn first(cx: &mut RuleContext<'_>, args: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    pointwise_rule(cx, args, args, Promotion::First)
}

/// [`Promotion::Select`].
pub fn select(cx: &mut RuleContext<'_>, args: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    pointwise_rule(cx, args, args, Promotion::Select)
}

/// Row-major facts on the device of `like`.
pub fn fresh(cx: &mut RuleContext<'_>, like: &Facts, dtype: DType, dims: Shape) -> Result<FactsList, OpError> {
    Ok(smallvec![Facts::contiguous(cx.dims, dtype, like.device.clone(), dims)?])
}

/// As [`fresh`]; where one of these images lies with its channels innermost, the result does too.
pub fn image(cx: &mut RuleContext<'_>, images: &[&Facts], dtype: DType, dims: Shape) -> Result<FactsList, OpError> {
    let mut out = fresh(cx, images[0], dtype, dims)?;
    for image in images {
        if image.rank() == out[0].rank() && is_channels_last(cx.dims, image)? {
            out[0].strides = channels_last(cx.dims, &out[0].dims);
            break;
        }
    }
    Ok(out)
}

/// The strides of dense images, or volumes, whose channels are innermost.
pub fn channels_last(table: &mut dyn Dims, sizes: &[Dim]) -> Shape {
    let mut strides: Shape = smallvec![Dim::Is(1); sizes.len()];
    let mut next = Dim::Is(1);
    for d in std::iter::once(1).chain((2..sizes.len()).rev()).chain(std::iter::once(0)) {
        strides[d] = next;
        let size = table.calc(DimOp::Max, sizes[d], Dim::Is(1));
        next = table.calc(DimOp::Mul, next, size);
    }
    strides
}

/// Whether PyTorch takes this for images, or volumes, whose channels are innermost: by the order of the strides, so that parts of such images
/// are such images. Row-major tensors never are.
pub fn is_channels_last(dims: &mut dyn Dims, f: &Facts) -> Result<bool, OpError> {
    let rank = f.rank();
    if !(4..=5).contains(&rank) || row_major(dims, &f.dims)? == f.strides {
        return Ok(false);
    }
    if channels_last(dims, &f.dims) == f.strides {
        return Ok(true);
    }
    let mut least = Dim::Is(0);
    if dims.decide(Rel::Eq, f.strides[1], least)? {
        return Ok(false);
    }
    for d in std::iter::once(1).chain((2..rank).rev()).chain(std::iter::once(0)) {
        let (size, stride) = (f.dims[d], f.strides[d]);
        let same_as_channels = d == 0 && dims.decide(Rel::Eq, least, f.strides[1])?;
        if same_as_channels || dims.decide(Rel::Eq, size, Dim::Is(0))? || dims.decide(Rel::Lt, stride, least)? {
            return Ok(false);
        }
        least = dims.calc(DimOp::Mul, stride, size);
    }
    Ok(true)
}

/// Row-major facts like argument 0.
pub fn like_first(cx: &mut RuleContext<'_>, args: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let like = args::tensor(args, 0)?;
    fresh(cx, like, like.dtype, like.dims.clone())
}

/// A dim argument counted from the front. A zero-dim tensor has one dim in this.
pub fn wrap_dim(dim: i64, rank: usize) -> Result<usize, OpError> {
    let n = rank.max(1) as i64;
    if dim < -n || dim >= n {
        return Err(OpError::index(format!("Dimension out of range (expected to be in range of [{}, {}], but got {dim})", -n, n - 1)));
    }
    Ok((if dim < 0 { dim + n } else { dim }) as usize)
}

/// Argument `i` as a dim of argument 0.
pub fn dim_of(args: &[Arg<&Facts>], i: usize) -> Result<usize, OpError> {
    wrap_dim(args::int(args, i)?, args::tensor(args, 0)?.rank())
}

/// Which dims a reduction goes over; `None` and an empty list mean all.
pub fn reduced_dims<T>(args: &[Arg<T>], i: usize, rank: usize) -> Result<SmallVec<[bool; 5]>, OpError> {
    let mut reduced: SmallVec<[bool; 5]> = smallvec![false; rank];
    let list: SmallVec<[Dim; 5]> = match args.get(i) {
        Some(Arg::Ints(ds)) => ds.clone(),
        Some(Arg::Int(d)) => smallvec![*d],
        _ => smallvec![],
    };
    if list.is_empty() {
        return Ok(smallvec![true; rank]);
    }
    for d in list {
        let d = wrap_dim(d.known().ok_or(OpError::DataDependent)?, rank)?;
        match reduced.get_mut(d) {
            Some(true) => return Err(OpError::runtime(format!("dim {d} appears multiple times in the list of dims"))),
            Some(r) => *r = true,
            // A zero-dim tensor reduced over its one dim.
            None => {}
        }
    }
    Ok(reduced)
}

/// Sizes after a reduction.
pub fn reduced_shape(dims: &[Dim], reduced: &[bool], keep: bool) -> Shape {
    let kept = |(d, r): (&Dim, &bool)| match (r, keep) {
        (false, _) => Some(*d),
        (true, true) => Some(Dim::Is(1)),
        (true, false) => None,
    };
    dims.iter().zip(reduced).filter_map(kept).collect()
}

/// PyTorch's name of a list of sizes: `[4, 8]`.
pub fn shown(dims: &[Dim]) -> String {
    taipan_ir::text::sizes_text(dims)
}
