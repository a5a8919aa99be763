"""The ops that nested tensors have.

Ops that work element by element, whatever the sizes, run on the packed values; for the others there is a function here, and
an op without one is refused.
"""

import torch
from torch import _C
from torch._C import Tensor
from torch.nested._internal.nested_tensor import Jagged

# Composites that work element by element, though their meaning doesn't say so.
_ELEMENTWISE = frozenset((
    "dropout", "alpha_dropout", "clone", "detach", "tanh", "sigmoid", "expm1", "exp2", "erf", "erfc", "log1p", "expit", "div", "div_", "divide", "true_divide", "to", "type_as", "positive",
    "zeros_like", "ones_like", "full_like", "empty_like", "rand_like", "randn_like", "randint_like", "zero_", "fill_",
    "softmin", "hardsigmoid", "tanhshrink", "softsign", "logsigmoid", "float_power", "rsub", "square", "isfinite", "isinf",
    "isnan", "isclose", "clip", "clip_", "logical_and", "logical_or", "logical_xor", "logical_not",
))

# Methods that are no ops and give the same pieces of another type, or the same.
_CONVERSIONS = frozenset((
    "bool", "byte", "char", "short", "int", "long", "half", "bfloat16", "float", "double", "type", "cpu",
))

# The ops with a function of their own: name -> function of (op, arguments).
_OWN = {}


def call(op, args, kwargs):
    """Calls an op of which an argument is a nested tensor."""
    name = op.__name__
    own = _OWN.get(name)
    if own is not None:
        return own(op, *args, **kwargs)
    if op._pointwise or name in _ELEMENTWISE:
        return _elementwise(op, args, kwargs)
    raise _refused(name)


def method(nested, name):
    """The attribute `name` of a nested tensor that its class doesn't have."""
    attribute = getattr(Tensor, name, None)
    if attribute is None or name.startswith("__"):
        raise AttributeError(f"'NestedTensor' object has no attribute '{name}'")
    if name in _CONVERSIONS:
        def convert(*args, **kwargs):
            converted = getattr(nested._values, name)(*args, **kwargs)
            return nested._with(converted) if isinstance(converted, Tensor) else converted

        return convert
    if name in ("mT", "mH"):
        return nested.transpose(-2, -1)
    if not callable(attribute):
        raise NotImplementedError(f"{name}: not supported for NestedTensor")
    if not hasattr(attribute, "_pointwise"):
        if name in ("is_nonzero", "is_same_size"):
            return attribute.__get__(nested)
        raise _refused(name)

    def run(*args, **kwargs):
        return call(attribute, (nested, *args), kwargs)

    return run


def _refused(name, why=""):
    return NotImplementedError(f"{name}(): not supported for NestedTensor{why}")


def _own(*names):
    """Makes the decorated function that of the ops so named."""
    def put(function):
        for name in names:
            _OWN[name] = function
        return function

    return put


def _first(values):
    """The first nested tensor among arguments."""
    for value in values:
        if isinstance(value, Jagged):
            return value
    return None


def _inner(name, nested, dim):
    """The dim of the packed tensor that `dim` is, neither the batch nor the ragged one."""
    dim = nested._dim(dim)
    if dim == 0:
        raise RuntimeError(f"{name}(): not supported for NestedTensor on dim=0")
    if dim == nested._ragged_idx:
        raise RuntimeError(f"{name}(): not supported for NestedTensor on ragged dim")
    return dim - 1


def _like_ragged(nested, other):
    """Whether two nested tensors have pieces of the same lengths along the same dim."""
    return nested._ragged_size == other._ragged_size and nested._ragged_idx == other._ragged_idx and nested.ndim == other.ndim


# Element by element


def _elementwise(op, args, kwargs):
    if "out" in kwargs:
        raise _refused(op.__name__, " with out=")
    writes = op.__name__.endswith("_") or kwargs.get("inplace", False)
    if writes and not isinstance(args[0] if args else kwargs.get("input"), Jagged):
        raise _refused(op.__name__, " written into a dense tensor")
    first = _first([*args, *kwargs.values()])
    packed = [_packed_operand(op, first, arg) for arg in args]
    named = {name: _packed_operand(op, first, arg) for name, arg in kwargs.items()}
    values = op(*packed, **named)
    # An op that writes into the values gives them back, and so does one that has nothing to do.
    return first if values is first._values else first._with(values)


def _packed_operand(op, nested, operand):
    """What stands for an operand where the packed values stand for `nested`: each element meets what it would broadcast with."""
    if isinstance(operand, Jagged):
        if operand is not nested and not _like_ragged(nested, operand):
            raise RuntimeError(
                f"cannot call binary pointwise function {op.__name__} with inputs of shapes {nested._size} and {operand._size}"
            )
        return operand._values
    if not isinstance(operand, Tensor) or operand.dim() == 0:
        return operand
    rank, ragged = nested.ndim, nested._ragged_idx
    if operand.dim() > rank:
        raise NotImplementedError(f"{op.__name__}(): not supported for NestedTensor with a tensor of more dims")
    dense = operand.reshape([1] * (rank - operand.dim()) + list(operand.shape))
    batch = len(nested)
    if dense.size(ragged) != 1 or dense.size(0) not in (1, batch):
        raise RuntimeError(
            f"cannot call binary pointwise function {op.__name__} with inputs of shapes {nested.shape} and {operand.shape}"
        )
    if dense.size(0) == 1:
        return dense.squeeze(0)
    if nested._lengths is not None:
        raise _refused(op.__name__, " with holes and a tensor with a batch")
    # Each piece meets its own part: as many copies as the piece is long.
    return dense.squeeze(ragged).repeat_interleave(nested._offsets.diff(), 0).movedim(0, ragged - 1)


@_own("where")
def _where(op, condition, input=None, other=None):
    if input is None or not isinstance(condition, Jagged):
        raise _refused("where", " but with a nested condition and two values")
    return _elementwise(op, (condition, input, other), {})


@_own("copy_")
def _copy(op, input, src, non_blocking=False):
    if not isinstance(input, Jagged):
        raise _refused("copy_", " written into a dense tensor")
    if not isinstance(src, Jagged):
        raise ValueError(
            "NestedTensor copy_default(self: jt_all, src: jt_all, non_blocking: any?): expected src to be a jagged layout NestedTensor"
        )
    if not (_same_lengths(input, src) and input._ragged_idx == src._ragged_idx):
        raise RuntimeError(f"copy_ only supports Nested tensors that have same size, but got {input._size} and {src._size}")
    input._values.copy_(src._values)
    return input


# Dims


@_own("transpose", "swapaxes", "swapdims")
def _transpose(op, input, dim0, dim1):
    dim0, dim1 = input._dim(dim0), input._dim(dim1)
    if (dim0 == 0) != (dim1 == 0):
        raise RuntimeError("transpose(): not supported for NestedTensor on dim=0")
    if dim0 == dim1:
        return input
    ragged = {dim0: dim1, dim1: dim0}.get(input._ragged_idx, input._ragged_idx)
    return input._with(input._values.transpose(dim0 - 1, dim1 - 1), ragged)


@_own("permute")
def _permute(op, input, *dims):
    dims = dims[0] if len(dims) == 1 and isinstance(dims[0], (list, tuple)) else dims
    dims = [input._dim(dim) for dim in dims]
    if dims[0] != 0:
        raise ValueError("Permute is not supported on the batch dimension for jagged NT")
    return input._with(input._values.permute([dim - 1 for dim in dims[1:]]), dims.index(input._ragged_idx))


@_own("unsqueeze")
def _unsqueeze(op, input, dim):
    rank = input.ndim + 1
    if not -rank <= dim < rank:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")
    dim %= rank
    if dim == 0:
        raise RuntimeError("unsqueeze(): not supported for NestedTensor on dim=0")
    return input._with(input._values.unsqueeze(dim - 1), input._ragged_idx + (dim <= input._ragged_idx))


@_own("squeeze")
def _squeeze(op, input, dim=None):
    if not isinstance(dim, int):
        raise _refused("squeeze", " without a dim")
    packed = _inner("squeeze", input, dim)
    if input._values.size(packed) != 1:
        return input
    return input._with(input._values.squeeze(packed), input._ragged_idx - (packed + 1 < input._ragged_idx))


@_own("flatten")
def _flatten(op, input, start_dim=0, end_dim=-1):
    start, end = input._dim(start_dim), input._dim(end_dim)
    if start == end:
        return input
    if start == 0:
        raise RuntimeError("flatten(): not supported for NestedTensor on dim=0")
    if start <= input._ragged_idx <= end:
        raise RuntimeError("flatten(): not supported for NestedTensor on ragged dim")
    ragged = input._ragged_idx - (end - start if end < input._ragged_idx else 0)
    return input._with(input._values.flatten(start - 1, end - 1), ragged)


@_own("unflatten")
def _unflatten(op, input, dim, sizes):
    packed = _inner("unflatten", input, dim)
    ragged = input._ragged_idx + (len(sizes) - 1 if packed + 1 < input._ragged_idx else 0)
    return input._with(input._values.unflatten(packed, sizes), ragged)


@_own("view", "reshape")
def _view(op, input, *shape):
    name = op.__name__
    shape = shape[0] if len(shape) == 1 and isinstance(shape[0], (list, tuple)) else shape
    if len(shape) == 1 and isinstance(shape[0], torch.dtype):
        raise _refused(name, " with a dtype")
    if tuple(shape) == input._size:
        return input._with(input._values)
    if input._ragged_idx != 1:
        raise RuntimeError(
            f"{name}(): does not support ragged_idx != 1 except when inp._size == size. inp._size is ({input._size}) and size is "
            f"({list(shape)})."
        )
    keeps_ragged = len(shape) > 1 and shape[0] in (len(input), -1) and (shape[1] == -1 or shape[1] == input._ragged_size)
    if not keeps_ragged:
        raise RuntimeError(f"{name}(): cannot view shape {input._size} as {list(shape)}")
    return input._with(op(input._values, [input._values.size(0), *shape[2:]]))


@_own("expand")
def _expand(op, input, *sizes):
    sizes = sizes[0] if len(sizes) == 1 and isinstance(sizes[0], (list, tuple)) else sizes
    ragged = input._ragged_idx
    if len(sizes) != input.ndim or sizes[0] not in (-1, len(input)) or not (sizes[ragged] == -1 or sizes[ragged] == input._ragged_size):
        raise RuntimeError(f"expand(): cannot expand shape {input._size} -> {tuple(sizes)}")
    inner = list(sizes[1:])
    inner[ragged - 1] = -1
    return input._with(input._values.expand(inner))


@_own("expand_as")
def _expand_as(op, input, other):
    if not isinstance(input, Jagged) or not isinstance(other, Jagged):
        raise _refused("expand_as", " and a dense tensor")
    return _expand(op, input, *other._size)


@_own("contiguous")
def _contiguous(op, input, *args, **kwargs):
    if input._lengths is None:
        return input._with(op(input._values, *args, **kwargs))
    # The pieces move together: other offsets, and so another ragged size.
    offsets = torch.nn.functional.pad(input._lengths.cumsum(0), (1, 0))
    return Jagged(_C.cat(input.unbind(), input._ragged_idx - 1), offsets, None, input._ragged_idx, input._limits)


# Parts


@_own("select")
def _select(op, input, dim, index):
    if input._dim(dim) == 0:
        return input.unbind()[index]
    packed = _inner("select", input, dim)
    return input._with(input._values.select(packed, index), input._ragged_idx - (packed + 1 < input._ragged_idx))


@_own("narrow")
def _narrow(op, input, dim, start, length):
    return input._with(input._values.narrow(_inner("narrow", input, dim), start, length))


@_own("split", "split_with_sizes", "chunk")
def _split(op, input, size, dim=0):
    name = op.__name__
    packed = _inner(name, input, dim)
    return tuple([input._with(part) for part in getattr(input._values, name)(size, packed)])


@_own("unbind")
def _unbind(op, input, dim=0):
    return input.unbind(dim)


@_own("cat", "concat", "concatenate")
def _cat(op, tensors, dim=0):
    first = _check_alike("cat", tensors)
    return first._with(_C.cat([each._values for each in tensors], _inner("cat", first, dim)))


@_own("stack")
def _stack(op, tensors, dim=0):
    first = _check_alike("stack", tensors)
    rank = first.ndim + 1
    if not -rank <= dim < rank:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")
    dim %= rank
    if dim == 0:
        raise RuntimeError("stack(): not supported for NestedTensor on dim=0")
    return first._with(_C.stack([each._values for each in tensors], dim - 1), first._ragged_idx + (dim <= first._ragged_idx))


def _check_alike(name, tensors):
    first = _first(tensors)
    for each in tensors:
        if not isinstance(each, Jagged):
            raise _refused(name, " and dense tensors")
        if not (_same_lengths(first, each) and first._ragged_idx == each._ragged_idx):
            raise RuntimeError(f"{name}(): not supported for NestedTensors of shapes {first._size} and {each._size}")
    return first


def _same_lengths(one, other):
    """Whether the pieces lie in the packed tensors in the same way, though the sizes may be different objects."""
    if one._ragged_size == other._ragged_size:
        return True
    return one._lengths is None and other._lengths is None and torch.equal(one._offsets, other._offsets)


# Reductions


@_own("sum", "mean", "prod", "amax", "amin", "all", "any", "argmax", "argmin", "max", "min")
def _reduce(op, input, dim=None, keepdim=False, **kwargs):
    name = op.__name__
    if isinstance(dim, (Tensor, Jagged)):
        if name in ("max", "min"):
            return _elementwise(_C.maximum if name == "max" else _C.minimum, (input, dim), {})
        raise _refused(name)
    if "out" in kwargs or not isinstance(input, Jagged):
        raise _refused(name)
    ragged = input._ragged_idx
    if dim is None:
        dims = list(range(input.ndim))
    else:
        dims = [input._dim(each) for each in (dim if isinstance(dim, (list, tuple)) else [dim])]
    if 0 in dims and ragged not in dims:
        raise RuntimeError(
            f"{name}(): reducing along the batch dimension but not the ragged dimension is not supported for nested tensors"
        )
    if ragged in dims and 0 not in dims and len(dims) > 1:
        raise RuntimeError(f"{name}(): reducing along a ragged and non-batch dimension is not supported for nested tensors")
    if ragged in dims and input._lengths is not None:
        raise RuntimeError(
            f"{name}(): reducing across the ragged dimension is not supported for non-contiguous nested tensors with holes"
        )
    if dim is None:
        return op(input._values, **kwargs)
    packed = [each - 1 for each in dims if each != 0]
    given = packed if isinstance(dim, (list, tuple)) else packed[0]
    if 0 in dims:
        if keepdim:
            raise _refused(name, " over the batch with keepdim")
        return op(input._values, given, **kwargs)
    if ragged not in dims:
        moved = 0 if keepdim else len([each for each in dims if each < ragged])
        return _each(op(input._values, given, keepdim, **kwargs), lambda values: input._with(values, ragged - moved))
    results = [op(piece, given, keepdim, **kwargs) for piece in input.unbind()]
    if isinstance(results[0], Tensor):
        return _C.stack(results)
    return type(results[0])([_C.stack(list(parts)) for parts in zip(*results)])


def _each(result, function):
    """`function` of a result, or of each of a named tuple's."""
    return function(result) if isinstance(result, Tensor) else type(result)([function(part) for part in result])


@_own("softmax", "log_softmax")
def _softmax(op, input, dim=None, _stacklevel=3, dtype=None):
    name = op.__name__
    if dim is None:
        raise _refused(name, " without a dim")
    dim = input._dim(dim)
    if dim == 0:
        raise RuntimeError(f"{name}(): not supported when reducing across the batch dimension for NestedTensor")
    if dim != input._ragged_idx:
        return input._with(op(input._values, dim - 1, dtype=dtype))
    if input._lengths is not None:
        raise _refused(name, " with holes along the ragged dim")
    return input._with(_C.cat([op(piece, dim - 1, dtype=dtype) for piece in input.unbind()], dim - 1))


# Layers


@_own("linear")
def _linear(op, input, weight, bias=None):
    if not isinstance(input, Jagged) or not input.is_contiguous() or input._ragged_idx == input.ndim - 1:
        raise ValueError(
            "NestedTensor linear_default(input: jt, weight: t, bias: t?): expected input to be a contiguous jagged layout NestedTensor"
        )
    return input._with(op(input._values, weight, bias))


@_own("layer_norm", "rms_norm")
def _norm(op, input, normalized_shape, *args, **kwargs):
    if not isinstance(input, Jagged):
        raise _refused(op.__name__, " but as its input")
    if len(normalized_shape) >= input.ndim - input._ragged_idx:
        raise ValueError(f"{op.__name__}(): Normalization over the ragged dim not supported for nested tensors")
    return input._with(op(input._values, normalized_shape, *args, **kwargs))


@_own("embedding")
def _embedding(op, input, weight, *args, **kwargs):
    if not isinstance(input, Jagged):
        raise _refused("embedding", " but as the indices of torch.nn.functional.embedding")
    return input._with(op(input._values, weight, *args, **kwargs))


@_own("matmul", "bmm")
def _matmul(op, input, other):
    unsupported = RuntimeError(
        f"{op.__name__}(): not supported between inputs of shapes {tuple(input.shape)} and {other.shape}"
    )
    if not isinstance(input, Jagged):
        raise unsupported
    last = input._ragged_idx == input.ndim - 1
    if isinstance(other, Jagged):
        # (B, *, D, j) by (B, *, j, E): the ragged dim is summed over.
        sums_over = last and other._ragged_idx == other.ndim - 2 and input._ragged_size == other._ragged_size
        if not sums_over or input.ndim != other.ndim:
            raise unsupported
        return _C.stack([op(a, b) if a.dim() > 2 else a @ b for a, b in zip(input.unbind(), other.unbind())])
    if last or other.dim() not in (2, 3):
        raise unsupported
    if other.dim() == 2:
        return input._with(op(input._values, other))
    if input.ndim != 3 or other.size(0) != len(input) or input._lengths is not None:
        raise unsupported
    return input._with(_C.cat([a @ b for a, b in zip(input.unbind(), other.unbind())]))


@_own("scaled_dot_product_attention")
def _attention(op, query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False):
    if not (isinstance(query, Jagged) and isinstance(key, Jagged) and isinstance(value, Jagged)):
        flags = [isinstance(each, Jagged) for each in (query, key, value)]
        raise ValueError(
            f"Expected query, key, and value to be nested tensors, but got query.is_nested: {flags[0]}, key.is_nested: {flags[1]}, "
            f"and value.is_nested: {flags[2]} instead."
        )
    if attn_mask is not None:
        raise ValueError("Masks are not yet supported!")
    for each in (query, key, value):
        if each.ndim not in (3, 4) or each.ndim != query.ndim or each._ragged_idx != each.ndim - 2 or len(each) != len(query):
            raise _refused("scaled_dot_product_attention", f" of shapes {query._size}, {key._size} and {value._size}")
    results = []
    for of_query, of_key, of_value in zip(query.unbind(), key.unbind(), value.unbind()):
        result = op(
            of_query, of_key, of_value, dropout_p=dropout_p, is_causal=is_causal, scale=scale, enable_gqa=enable_gqa
        )
        # Packed along the outermost dim, so that the heads can be merged by a view.
        results.append(result.movedim(-2, 0))
    values = _C.cat(results).movedim(0, -2)
    if query._lengths is not None:
        raise _refused("scaled_dot_product_attention", " with holes in the query")
    return query._with(values)
