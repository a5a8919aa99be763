//! Gathers, scatters and searches: index types, ranks and sizes that don't go together.

use super::{Checked, numbers, same, same_sizes};
use crate::ops::{args, rules};
use taipan_ir::{Arg, DType, Dim, Facts, OpError, op::RuleContext};

fn refused(text: impl Into<String>) -> Checked {
    Err(OpError::runtime(text))
}

/// The number of elements of a tensor of one dim or none.
fn count(index: &Facts) -> Dim {
    index.dims.first().copied().unwrap_or(Dim::Is(1))
}

/// `index_fill`.
pub fn fill(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let index = *args::tensor(a, 2)?;
    if index.dtype != DType::I64 {
        return Err(OpError::index("index_fill_(): Expected dtype int64 for index."));
    }
    if index.rank() > 1 {
        return refused("Index has to be a vector/scalar");
    }
    if let Arg::Tensor(value) = a[3] {
        if value.rank() > 0 {
            return refused(format!(
                "index_fill_ only supports a 0-dimensional value tensor, but got tensor with {} dimension(s).",
                value.rank()
            ));
        }
        return Ok(());
    }
    numbers::element::<3>(cx, a)
}

/// `index_add` and, with its reductions, `index_reduce`.
fn summed(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>], name: &str) -> Checked {
    let (x, index, source) = (*args::tensor(a, 0)?, *args::tensor(a, 2)?, *args::tensor(a, 3)?);
    let dim = rules::dim_of(a, 1)?;
    if index.rank() > 1 {
        return Err(OpError::index(format!(
            "{name}(): Index is supposed to be a vector, but got dim: {} with type: {} and size: {}",
            index.rank(),
            index.dtype.scalar_name(),
            rules::shown(&index.dims)
        )));
    }
    if !matches!(index.dtype, DType::I64 | DType::I32) {
        return refused(format!("{name}(): Expected dtype int32/int64 for index but got: {}", index.dtype.scalar_name()));
    }
    if x.dtype != source.dtype {
        return refused(format!(
            "{name}(): self ({}) and source ({}) must have the same scalar type",
            x.dtype.scalar_name(),
            source.dtype.scalar_name()
        ));
    }
    let along = match source.dims.get(dim) {
        Some(size) => *size,
        None if source.rank() == 0 && x.rank() == 0 => Dim::Is(1),
        None if source.rank() == 0 => return Err(OpError::index(format!("Dimension specified as {dim} but tensor has no dimensions"))),
        None => rules::wrap_dim(dim as i64, source.rank()).map(|d| source.dims[d])?,
    };
    if !same(cx, count(index), along)? {
        return refused(format!(
            "{name}(): Number of indices ({}) should be equal to source.size(dim): ({along}), for dim: {dim}",
            count(index)
        ));
    }
    let mut fits = x.rank() == source.rank();
    for d in (0..x.rank()).filter(|d| *d != dim) {
        fits = fits && same(cx, x.dims[d], source.dims[d])?;
    }
    if !fits {
        return refused(format!(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = {} source.shape = {}",
            rules::shown(&x.dims),
            rules::shown(&source.dims)
        ));
    }
    Ok(())
}

/// `index_add`.
pub fn add(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    summed(cx, a, "index_add_")
}

/// `index_reduce`.
pub fn reduce(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let how = args::text(a, 4);
    if !matches!(how, "prod" | "mean" | "amax" | "amin") {
        return refused(format!("index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {how}."));
    }
    summed(cx, a, "index_reduce_")
}

/// `index_copy`.
pub fn copy(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let (x, index, source) = (*args::tensor(a, 0)?, *args::tensor(a, 2)?, *args::tensor(a, 3)?);
    let dim = rules::dim_of(a, 1)?;
    if index.rank() > 1 {
        return Err(OpError::index(format!("index_copy_(): Index should have dimension 1 or 0 (got {})", index.rank())));
    }
    if source.rank() == 0 && !same(cx, count(index), Dim::Is(1))? {
        return Err(OpError::index(format!("index_copy_(): When source is scalar, index should have one element (got {})", count(index))));
    }
    if source.rank() != x.rank() && source.rank() != 0 && x.rank() != 0 {
        return Err(OpError::index(format!(
            "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source dimensionality ({}), destination dimensionality ({})",
            source.rank(),
            x.rank()
        )));
    }
    if index.dtype != DType::I64 {
        return refused(format!("index_copy_(): Expected a long tensor for index, but got {}", index.dtype.scalar_name()));
    }
    if x.dtype != source.dtype {
        return refused(format!(
            "index_copy_(): self and source expected to have the same dtype, but got (self) {} and (source) {}",
            x.dtype.scalar_name(),
            source.dtype.scalar_name()
        ));
    }
    if x.rank() == source.rank() {
        let rest = |f: &Facts| f.dims.iter().enumerate().filter(|(d, _)| *d != dim).map(|(_, n)| *n).collect::<Vec<_>>();
        let (own, given) = (rest(x), rest(source));
        for (p, q) in own.iter().zip(&given) {
            if !same(cx, *p, *q)? {
                let spaced = |sizes: &[Dim]| sizes.iter().map(Dim::to_string).collect::<Vec<_>>().join(" ");
                return refused(format!(
                    "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: {} at dimension {dim} and source slice shape: {} at dimension 0.",
                    spaced(&own),
                    spaced(&given)
                ));
            }
        }
    }
    if let Some(along) = source.dims.get(dim)
        && !same(cx, count(index), *along)?
    {
        return Err(OpError::index(format!(
            "index_copy_(): Number of indices ({}) should be equal to source.size(dim) ({along})",
            count(index)
        )));
    }
    Ok(())
}

/// The index of `take` and `put_`, argument 1.
fn long(a: &[Arg<&Facts>], name: &str) -> Checked {
    let dtype = args::tensor(a, 1)?.dtype;
    if dtype == DType::I64 {
        return Ok(());
    }
    refused(format!("{name}(): Expected a long tensor for index, but got {}", dtype.scalar_name()))
}

/// `take`.
pub fn take(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    long(a, "take")
}

/// `put_`.
pub fn put(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    long(a, "put_")
}

/// `take_along_dim`.
pub fn take_along(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let (x, index) = (args::tensor(a, 0)?, args::tensor(a, 1)?);
    if index.dtype != DType::I64 {
        return refused(format!("torch.take_along_dim(): dtype of indices should be Long but got {}", index.dtype.scalar_name()));
    }
    if !a[2].is_absent() && x.rank() != index.rank() {
        return refused(format!(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got {} dimensions for input, and {} dimensions for indices",
            x.rank(),
            index.rank()
        ));
    }
    Ok(())
}

/// The index and source of a scatter.
pub fn scatter(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let (x, index) = (args::tensor(a, 0)?, args::tensor(a, 2)?);
    rules::dim_of(a, 1)?;
    if !matches!(index.dtype, DType::I64 | DType::I32) {
        return refused("scatter(): Expected dtype int32/int64 for index");
    }
    if index.rank().max(1) != x.rank().max(1) {
        return refused("Index tensor must have the same number of dimensions as self tensor");
    }
    match a[3] {
        Arg::Tensor(source) if source.rank().max(1) > index.rank().max(1) => {
            refused("Index tensor must have the same number of dimensions as src tensor")
        }
        Arg::Tensor(source) if source.rank().max(1) < index.rank().max(1) => {
            rules::wrap_dim(source.rank().max(1) as i64, source.rank()).map(|_| ())
        }
        _ => numbers::element::<3>(cx, a),
    }
}

/// The dtypes of `masked_scatter`.
pub fn masked_scatter(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let (x, source) = (args::tensor(a, 0)?.dtype, args::tensor(a, 2)?.dtype);
    if x == source {
        return Ok(());
    }
    refused(format!("masked_scatter: expected self and source to have same dtypes but got{} and {}", x.scalar_name(), source.scalar_name()))
}

/// The tensors that `index_put` indexes with.
pub fn index_put(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let mut wrong = false;
    a[1].for_each(|index: &&Facts| wrong |= index.dtype.is_float());
    if wrong {
        return Err(OpError::index("tensors used as indices must be long, int, byte or bool tensors"));
    }
    Ok(())
}

/// `index_select` of a tensor without dims takes one index.
pub fn select(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let (x, index) = (args::tensor(a, 0)?, args::tensor(a, 2)?);
    if x.rank() == 0 && index.rank() == 1 && index.dims[0].known() != Some(1) {
        return refused(format!("index_select(): Index to scalar can have only 1 value, got {} value(s)", index.dims[0]));
    }
    Ok(())
}

/// `searchsorted`.
pub fn searchsorted(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let sorted = *args::tensor(a, 0)?;
    if let Some(sorter) = args::optional_tensor(a, 5) {
        if !same_sizes(cx, &sorted.dims, &sorter.dims)? {
            return refused(format!(
                "torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor {}and got sorter tensor {}",
                rules::shown(&sorted.dims),
                rules::shown(&sorter.dims)
            ));
        }
        if sorter.dtype != DType::I64 {
            return refused(format!(
                "torch.searchsorted(): sorter must be a tensor of long dtype but got dtype {}",
                sorter.dtype.scalar_name()
            ));
        }
    }
    if sorted.rank() == 0 {
        return refused("torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension");
    }
    match a[1] {
        Arg::Tensor(x) if x.rank() > 0 => Ok(()),
        _ if sorted.rank() != 1 => refused(format!(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we got boundaries tensor dim({}) and input value's dim(0) numel(1)",
            sorted.rank()
        )),
        _ => Ok(()),
    }
}

/// `bucketize`.
pub fn bucketize(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    match args::tensor(a, 1)?.rank() {
        1 => Ok(()),
        rank => refused(format!("boundaries tensor must be 1 dimension, but got dim({rank})")),
    }
}
