//! Ranks, repeated dims and sizes that don't divide.

use super::{Checked, dtypes, same};
use crate::ops::{args, rules};
use taipan_ir::{Arg, DType, Dim, Facts, OpError, Rel, op::RuleContext};

fn refused(text: impl Into<String>) -> Checked {
    Err(OpError::runtime(text))
}

/// The dims of argument 1 are those of argument 0, none twice.
pub fn distinct(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let rank = args::tensor(a, 0)?.rank();
    let mut seen = vec![];
    for dim in args::ints(a, 1)? {
        let dim = rules::wrap_dim(dim, rank)?;
        if seen.contains(&dim) {
            return refused(format!("dim {dim} appears multiple times in the list of dims"));
        }
        seen.push(dim);
    }
    Ok(())
}

/// `flipud` needs a dim.
pub fn flipud(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    if args::tensor(a, 0)?.rank() == 0 { refused("Input must be >= 1-d.") } else { Ok(()) }
}

/// `fliplr` needs two dims.
pub fn fliplr(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    if args::tensor(a, 0)?.rank() < 2 { refused("Input must be >= 2-d.") } else { Ok(()) }
}

/// `movedim`: as many destinations as sources, no dim twice.
pub fn movedim(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let rank = args::tensor(a, 0)?.rank();
    let (from, to) = (args::dims(a, 1)?, args::dims(a, 2)?);
    if from.len() != to.len() {
        return refused(format!(
            "movedim: Invalid source or destination dims: source ({} dims) should contain the same number of dims as destination ({} dims)",
            rules::shown(from),
            rules::shown(to)
        ));
    }
    for (dims, i, name) in [(from, 1, "source"), (to, 2, "destination")] {
        let mut seen = vec![];
        for dim in args::ints(a, i)? {
            let dim = rules::wrap_dim(dim, rank)?;
            if seen.contains(&dim) {
                return refused(format!("movedim: repeated dim in `{name}` ({})", rules::shown(dims)));
            }
            seen.push(dim);
        }
    }
    Ok(())
}

/// `hsplit`, `vsplit` and `dsplit`: a number of parts divides the dim; the input has dims enough.
fn split(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>], name: &str, least: usize, dim: usize) -> Checked {
    let x = *args::tensor(a, 0)?;
    if x.rank() < least {
        return refused(format!(
            "torch.{name} requires a tensor with at least {least} dimension, but got a tensor with {} dimensions!",
            x.rank()
        ));
    }
    let Some(sections) = args::optional_dim(a, 1) else { return Ok(()) };
    if sections.known().is_some_and(|n| n <= 0) || !cx.dims.decide(Rel::Divides, sections, x.dims[dim])? {
        return refused(format!(
            "torch.{name} attempted to split along dimension {dim}, but the size of the dimension {} is not divisible by the split_size {sections}!",
            x.dims[dim]
        ));
    }
    Ok(())
}

/// `hsplit`.
pub fn hsplit(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let dim = usize::from(args::tensor(a, 0)?.rank() > 1);
    split(cx, a, "hsplit", 1, dim)
}

/// `vsplit`.
pub fn vsplit(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    split(cx, a, "vsplit", 2, 0)
}

/// `dsplit`.
pub fn dsplit(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    split(cx, a, "dsplit", 3, 2)
}

/// `tensor_split`.
pub fn tensor_split(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    if args::tensor(a, 0)?.rank() == 0 {
        return refused("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims");
    }
    Ok(())
}

/// `diag_embed`: two dims of the result.
pub fn diag_embed(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let rank = args::tensor(a, 0)?.rank();
    if rank == 0 {
        return rules::wrap_dim(-2, 0).map(|_| ());
    }
    let (first, second) = (args::int(a, 2)?, args::int(a, 3)?);
    if rules::wrap_dim(first, rank + 1)? == rules::wrap_dim(second, rank + 1)? {
        return refused(format!("diagonal dimensions cannot be identical {first}, {second}"));
    }
    Ok(())
}

/// `channel_shuffle`.
pub fn channel_shuffle(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let (x, groups) = (*args::tensor(a, 0)?, args::dim(a, 1)?);
    if x.rank() < 3 {
        return refused(format!("channel_shuffle expects input with > 2 dims, but got input with sizes {}", rules::shown(&x.dims)));
    }
    if groups.known().is_some_and(|n| n <= 0) {
        return refused(format!("Number of groups to divide channels in must be positive. Value of groups:{groups}"));
    }
    if !cx.dims.decide(Rel::Divides, groups, x.dims[1])? {
        return refused(format!("Number of channels must be divisible by groups. Got {} channels and {groups} groups.", x.dims[1]));
    }
    Ok(())
}

/// `glu`: halves of a dim.
pub fn glu(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let x = *args::tensor(a, 0)?;
    if x.rank() == 0 {
        return refused("glu does not support scalars because halving size must be even");
    }
    let dim = rules::dim_of(a, 1)?;
    if !cx.dims.decide(Rel::Divides, Dim::Is(2), x.dims[dim])? {
        return refused(format!("Halving dimension must be even, but dimension {dim} is size {}", x.dims[dim]));
    }
    dtypes::floats(a, "glu_cpu")
}

/// `prelu`: one slope, or one for each channel.
pub fn prelu(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let (x, weight) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
    if x.dtype != weight.dtype {
        return refused(format!("prelu: Type promoting not supported. Got {} and {}", x.dtype.scalar_name(), weight.dtype.scalar_name()));
    }
    let single = weight.rank() == 0 || weight.dims.iter().all(|d| d.known() == Some(1));
    if !single {
        if x.rank() == 0 {
            return refused("Not allow zero-dim input tensor.");
        }
        let channels = x.dims.get(1).copied().unwrap_or(Dim::Is(1));
        if weight.rank() == 1 && !same(cx, weight.dims[0], channels)? {
            return refused(format!(
                "Mismatch of parameter numbers and input channel size. Found parameter numbers = {} and channel size = {channels}.",
                weight.dims[0]
            ));
        }
    }
    if weight.rank() > 1 {
        return refused(format!("prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {}", weight.rank()));
    }
    dtypes::floats(a, "prelu_cpu")
}

/// `outer`: two vectors.
pub fn outer(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    for (i, name) in [(0, "self"), (1, "vec2")] {
        let rank = args::tensor(a, i)?.rank();
        if rank != 1 {
            return refused(format!("outer: Expected 1-D argument {name}, but got {rank}-D"));
        }
    }
    Ok(())
}

/// `repeat_interleave` by a tensor of counts.
pub fn repeat_interleave(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let repeats = args::tensor(a, 1)?;
    if repeats.rank() > 1 {
        return refused("repeats must be 0-dim or 1-dim tensor");
    }
    if matches!(repeats.dtype, DType::I64 | DType::I32) {
        return Ok(());
    }
    Err(dtypes::not_implemented("repeat_interleave_cpu", repeats.dtype))
}

/// `vander` of a vector.
pub fn vander(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    if args::tensor(a, 0)?.rank() != 1 { refused("x must be a one-dimensional tensor.") } else { Ok(()) }
}

/// `block_diag` of matrices.
pub fn block_diag(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let tensors = args::tensors(a, 0)?;
    match tensors.iter().enumerate().find(|(_, f)| f.rank() > 2) {
        Some((k, f)) => {
            refused(format!("torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {k} has {} dimensions", f.rank()))
        }
        None => Ok(()),
    }
}

/// `cartesian_prod` of vectors.
pub fn cartesian_prod(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    match args::tensors(a, 0)?.iter().find(|f| f.rank() != 1) {
        Some(f) => refused(format!("Expect a 1D vector, but got shape {}", rules::shown(&f.dims))),
        None => Ok(()),
    }
}

/// `meshgrid`: one dtype, a known order.
pub fn meshgrid(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let tensors = args::tensors(a, 0)?;
    let Some(first) = tensors.first() else { return refused("meshgrid expects a non-empty TensorList") };
    if tensors.iter().any(|f| f.dtype != first.dtype) {
        return refused("meshgrid expects all tensors to have the same dtype");
    }
    match args::text(a, 1) {
        "" | "ij" | "xy" => Ok(()),
        other => refused(format!("torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: {other}")),
    }
}

/// `renorm`: a norm, and a bound for it.
pub fn renorm(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    if args::float(a, 1, 2.0) <= 0.0 {
        return refused("renorm: non-positive-norm not supported");
    }
    match args::number(a, 3) {
        Some(most) if most.as_f64() < 0.0 => refused(format!("renorm: expected maxnorm to be >= 0 but got {}", most.as_f64())),
        _ => Ok(()),
    }
}

/// `diff` takes differences zero times or more.
pub fn diff(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    match args::int(a, 1)? {
        n if n < 0 => refused(format!("order must be non-negative but got {n}")),
        _ => Ok(()),
    }
}

/// `pdist` has a distance of its own.
pub fn pdist(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    if !args::tensor(a, 0)?.dtype.is_float() {
        return refused("pdist only supports floating-point dtypes");
    }
    if args::float(a, 1, 2.0) < 0.0 { refused("pdist only supports non-negative p values") } else { Ok(()) }
}

/// `empty_strided`: a stride for each size, none negative.
pub fn strided(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let (sizes, strides) = (args::dims(a, 0)?, args::dims(a, 1)?);
    if sizes.len() != strides.len() {
        return refused(format!("dimensionality of sizes ({}) must match dimensionality of strides ({})", sizes.len(), strides.len()));
    }
    if strides.iter().any(|s| s.known().is_some_and(|s| s < 0)) {
        return refused(format!(
            "Storage size calculation overflowed with sizes={} and strides={}",
            rules::shown(sizes),
            rules::shown(strides)
        ));
    }
    Ok(())
}

/// `arange`: a finite step, and elements that can be counted. `STEP` is the argument of the step, or past the end where there is none.
pub fn arange<const STEP: usize, const DTYPE: usize>(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    if let Some(step) = args::number(a, STEP).filter(|n| STEP < DTYPE && !n.as_f64().is_finite()) {
        return refused(format!("step must be finite but got {}", step.as_f64().to_string().to_lowercase()));
    }
    match args::dtype(a, DTYPE) {
        Some(DType::Bool) => Err(dtypes::not_implemented("arange_cpu", DType::Bool)),
        _ => Ok(()),
    }
}

/// `randperm` has no code for bools.
pub fn randperm(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    match args::dtype(a, 2) {
        Some(DType::Bool) => Err(dtypes::not_implemented("randperm", DType::Bool)),
        _ => Ok(()),
    }
}

/// `tril_indices` and `triu_indices` count in integers of 32 or 64 bits.
pub fn triangle_indices(name: &str, a: &[Arg<&Facts>]) -> Checked {
    match args::dtype(a, 3) {
        Some(dtype) if dtype == DType::Bool || dtype.is_float() => Err(dtypes::not_implemented(name, dtype)),
        _ => Ok(()),
    }
}

/// `linalg.solve_triangular`: matrices whose sizes fit.
pub fn solve_triangular(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let (x, b) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
    for (f, name) in [(x, "A"), (b, "B")] {
        if f.rank() < 2 {
            return refused(format!("linalg.solve_triangular: The input tensor {name} must have at least 2 dimensions."));
        }
    }
    let left = !matches!(a.get(3), Some(Arg::Bool(false)));
    let side = if left { b.dims[b.rank() - 2] } else { b.dims[b.rank() - 1] };
    let [rows, columns] = [x.dims[x.rank() - 2], x.dims[x.rank() - 1]];
    if same(cx, rows, columns)? && !same(cx, columns, side)? {
        return refused(format!(
            "linalg.solve_triangular: Incompatible shapes of A and B for the equation {} ({rows}x{columns} and {}x{})",
            if left { "AX = B" } else { "XA = B" },
            b.dims[b.rank() - 2],
            b.dims[b.rank() - 1]
        ));
    }
    Ok(())
}

/// `cholesky_solve`: matrices whose sizes fit.
pub fn cholesky_solve(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let (b, factor) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
    for (f, name) in [(b, "b"), (factor, "u")] {
        if f.rank() < 2 {
            return refused(format!("{name} should have at least 2 dimensions, but has {} dimensions instead", f.rank()));
        }
    }
    let [rows, columns] = [factor.dims[factor.rank() - 2], factor.dims[factor.rank() - 1]];
    let own = [b.dims[b.rank() - 2], b.dims[b.rank() - 1]];
    if !same(cx, rows, own[0])? {
        return refused(format!(
            "Incompatible matrix sizes for cholesky_solve: each A matrix is {rows} by {columns} but each b matrix is {} by {}",
            own[0], own[1]
        ));
    }
    Ok(())
}

/// `grid_sample` in one dtype of floats.
pub fn grid_sample(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let (x, grid) = (args::tensor(a, 0)?, args::tensor(a, 1)?);
    if x.dtype != grid.dtype {
        return refused(format!("expected scalar type {} but found {}", x.dtype.scalar_name(), grid.dtype.scalar_name()));
    }
    dtypes::floats(a, &format!("grid_sampler_{}d_cpu_kernel_impl", x.rank().saturating_sub(2)))
}

/// The mask of attention is of bools or has the dtype of the query.
pub fn attention(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let query = args::tensor(a, 0)?.dtype;
    match args::optional_tensor(a, 3).map(|mask| mask.dtype) {
        Some(mask) if mask != DType::Bool && mask != query && !(mask == DType::F32 && query.is_half()) => refused(format!(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: {} and  query.dtype: {} instead.",
            dtypes::scalar_type_name(mask),
            dtypes::scalar_type_name(query)
        )),
        _ => Ok(()),
    }
}

/// `histogram`: edges in one dim, weights of the sizes and dtype of the input. Argument `BINS` is a tensor of edges, argument `WEIGHT` weights.
pub fn histogram<const BINS: usize, const WEIGHT: usize>(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let x = *args::tensor(a, 0)?;
    if let Some(bins) = args::optional_tensor(a, BINS) {
        if bins.rank() != 1 {
            return refused(format!(
                "torch.histogramdd: bins tensor should have one dimension, but got {} dimensions in the bins tensor for dimension 0",
                bins.rank()
            ));
        }
        if bins.dtype != x.dtype {
            return refused(format!(
                "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with dtype {} and bins for dimension 0 with dtype {}",
                dtypes::scalar_type_name(x.dtype),
                dtypes::scalar_type_name(bins.dtype)
            ));
        }
    }
    let Some(weight) = args::optional_tensor(a, WEIGHT) else { return Ok(()) };
    if weight.dtype != x.dtype {
        return refused(format!(
            "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same dtype, but got input({}), and weight({})",
            dtypes::scalar_type_name(x.dtype),
            dtypes::scalar_type_name(weight.dtype)
        ));
    }
    let count = x.dims.iter().fold(Dim::Is(1), |n, d| cx.dims.calc(taipan_ir::DimOp::Mul, n, *d));
    let given = weight.dims.iter().fold(Dim::Is(1), |n, d| cx.dims.calc(taipan_ir::DimOp::Mul, n, *d));
    if !same(cx, count, given)? {
        return refused(format!(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor excluding its innermost dimension, but got input with shape [{count}, 1] and weight with shape [{given}]"
        ));
    }
    Ok(())
}

/// The weights of `cov`.
pub fn cov(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let x = args::tensor(a, 0)?;
    if x.dtype == DType::Bool {
        return Err(OpError::not_implemented("cov(): bool dtype is not supported for input"));
    }
    let observations = x.dims.last().copied().unwrap_or(Dim::Is(1));
    for (i, name, kind) in [(2, "fweights", "integral"), (3, "aweights", "floating point")] {
        let Some(weights) = args::optional_tensor(a, i) else { continue };
        if weights.rank() > 1 {
            return refused(format!(
                "cov(): expected {name} to have one or fewer dimensions but got {name} with {} dimensions",
                weights.rank()
            ));
        }
        if weights.dtype.is_float() != (i == 3) {
            return refused(format!(
                "cov(): expected {name} to have {kind} dtype but got {name} with {} dtype",
                weights.dtype.scalar_name()
            ));
        }
        let count = weights.dims.first().copied().unwrap_or(Dim::Is(1));
        if count != observations && count.known().is_some() && observations.known().is_some() {
            return refused(format!(
                "cov(): expected {name} to have the same numel as there are observations in the input but got {count} != {observations}"
            ));
        }
    }
    Ok(())
}
