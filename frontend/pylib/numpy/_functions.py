"""Functions of arrays, element by element, along axes, and of shapes; the operators of arrays are made of them."""

import builtins

import torch
from numpy._array import answer, array, asarray, broadcast_shapes, in_type, ndarray, operands, over
from numpy._dtypes import BOOL, FLOAT32, FLOAT64, INT64, _dtype, _named, as_float

# Element by element.


def _wrapped(tensor, dtype):
    """Results of an unsigned type that torch has not, brought back into its range."""
    if dtype._modulus:
        tensor = tensor % dtype._modulus
    return answer(tensor.to(dtype._torch), dtype)


def _written(result, out):
    if out is None:
        return result
    out = out[0] if isinstance(out, tuple) else out
    out[...] = result
    return out


def _binary(name, compute, kinds="biuf", gives=None, to_float=False):
    def function(x1, x2, /, out=None, *, dtype=None):
        (left, right), common = operands(x1, x2)
        if common.kind not in kinds:
            raise TypeError(
                f"ufunc '{name}' not supported for the input types, and the inputs could not be safely coerced to any supported types "
                "according to the casting rule ''safe''"
            )
        broadcast_shapes(left.shape, right.shape)
        if dtype is not None:
            common = _dtype(dtype)
        if to_float and common.kind != "f":
            common = FLOAT64
        result = compute(in_type(left, common), in_type(right, common), common)
        return _written(_wrapped(result, gives or common), out)

    function.__name__ = name
    return function


def _bool_or(otherwise, on_bools):
    return lambda a, b, dtype: on_bools(a, b) if dtype is BOOL else otherwise(a, b)


def _no_bools(name, operation):
    def compute(a, b, dtype):
        if dtype is BOOL:
            raise TypeError(
                f"numpy boolean {name}, the `-` operator, is not supported, use the bitwise_xor, the `^` operator, or the logical_xor "
                "function instead."
            )
        return operation(a, b)

    return compute


def _floor_divide(a, b, dtype):
    if dtype.kind == "f":
        return torch.floor_divide(a, b)
    a, b = (a.to(torch.int8), b.to(torch.int8)) if dtype is BOOL else (a, b)
    zero = b == 0
    return torch.where(zero, torch.zeros_like(a), torch.floor_divide(a, torch.where(zero, torch.ones_like(b), b)))


def _remainder(a, b, dtype):
    if dtype.kind == "f":
        return torch.remainder(a, b)
    a, b = (a.to(torch.int8), b.to(torch.int8)) if dtype is BOOL else (a, b)
    zero = b == 0
    return torch.where(zero, torch.zeros_like(a), torch.remainder(a, torch.where(zero, torch.ones_like(b), b)))


def _power(a, b, dtype):
    if dtype.kind != "f":
        if builtins.bool((b < 0).any()):
            raise ValueError("Integers to negative integer powers are not allowed.")
        a, b = (a.to(torch.int8), b.to(torch.int8)) if dtype is BOOL else (a, b)
    return torch.pow(a, b)


_BOOL_RESULT = {"floor_divide": "int8", "remainder": "int8", "power": "int8"}


def _small(name, compute):
    """Operations that give small integers for bools."""
    plain = _binary(name, compute)
    on_bools = _binary(name, compute, gives=_named["int8"])

    def function(x1, x2, /, out=None, *, dtype=None):
        chosen = on_bools if operands(x1, x2)[1] is BOOL else plain
        return chosen(x1, x2, out, dtype=dtype)

    function.__name__ = name
    return function


add = _binary("add", _bool_or(torch.add, torch.logical_or))
subtract = _binary("subtract", _no_bools("subtract", torch.sub))
multiply = _binary("multiply", _bool_or(torch.mul, torch.logical_and))
divide = true_divide = _binary("divide", lambda a, b, dtype: torch.div(a, b), to_float=True)
floor_divide = _small("floor_divide", _floor_divide)
mod = remainder = _small("remainder", _remainder)
power = _small("power", _power)
arctan2 = _binary("arctan2", lambda a, b, dtype: torch.atan2(a, b), to_float=True)
hypot = _binary("hypot", lambda a, b, dtype: torch.hypot(a, b), to_float=True)
maximum = _binary("maximum", lambda a, b, dtype: torch.maximum(a, b))
minimum = _binary("minimum", lambda a, b, dtype: torch.minimum(a, b))
bitwise_and = _binary("bitwise_and", lambda a, b, dtype: a & b, "biu")
bitwise_or = _binary("bitwise_or", lambda a, b, dtype: a | b, "biu")
bitwise_xor = _binary("bitwise_xor", lambda a, b, dtype: a ^ b, "biu")
left_shift = _binary("left_shift", lambda a, b, dtype: a << b, "iu")
right_shift = _binary("right_shift", lambda a, b, dtype: a >> b, "iu")
equal = _binary("equal", lambda a, b, dtype: a == b, gives=BOOL)
not_equal = _binary("not_equal", lambda a, b, dtype: a != b, gives=BOOL)
less = _binary("less", lambda a, b, dtype: a < b, gives=BOOL)
less_equal = _binary("less_equal", lambda a, b, dtype: a <= b, gives=BOOL)
greater = _binary("greater", lambda a, b, dtype: a > b, gives=BOOL)
greater_equal = _binary("greater_equal", lambda a, b, dtype: a >= b, gives=BOOL)
logical_and = _binary("logical_and", lambda a, b, dtype: torch.logical_and(a, b), gives=BOOL)
logical_or = _binary("logical_or", lambda a, b, dtype: torch.logical_or(a, b), gives=BOOL)
logical_xor = _binary("logical_xor", lambda a, b, dtype: torch.logical_xor(a, b), gives=BOOL)


def _unary(name, compute, to_float=False, gives=None):
    def function(x, /, out=None, *, dtype=None):
        x = asarray(x)
        own = as_float(x.dtype) if to_float else x.dtype
        own = own if dtype is None else _dtype(dtype)
        result = compute(in_type(x, own))
        return _written(_wrapped(result, gives or own), out)

    function.__name__ = name
    return function


def _negated(tensor):
    if tensor.dtype == torch.bool:
        raise TypeError(
            "The numpy boolean negative, the `-` operator, is not supported, use the `~` operator or the logical_not function instead."
        )
    return -tensor


negative = _unary("negative", _negated)
absolute = abs = _unary("absolute", lambda t: t if t.dtype == torch.bool else torch.abs(t))
invert = bitwise_not = _unary("invert", torch.bitwise_not)
logical_not = _unary("logical_not", torch.logical_not, gives=BOOL)
sign = _unary("sign", torch.sign)
square = _unary("square", lambda t: t if t.dtype == torch.bool else t * t)
exp = _unary("exp", torch.exp, True)
exp2 = _unary("exp2", torch.exp2, True)
expm1 = _unary("expm1", torch.expm1, True)
log = _unary("log", torch.log, True)
log2 = _unary("log2", torch.log2, True)
log10 = _unary("log10", torch.log10, True)
log1p = _unary("log1p", torch.log1p, True)
sqrt = _unary("sqrt", torch.sqrt, True)
sin = _unary("sin", torch.sin, True)
cos = _unary("cos", torch.cos, True)
tan = _unary("tan", torch.tan, True)
arcsin = _unary("arcsin", torch.asin, True)
arccos = _unary("arccos", torch.acos, True)
arctan = _unary("arctan", torch.atan, True)
sinh = _unary("sinh", torch.sinh, True)
cosh = _unary("cosh", torch.cosh, True)
tanh = _unary("tanh", torch.tanh, True)
_whole = lambda name, compute: _unary(name, lambda t: compute(t) if t.dtype.is_floating_point else t)
floor, ceil, trunc, rint = _whole("floor", torch.floor), _whole("ceil", torch.ceil), _whole("trunc", torch.trunc), _whole("rint", torch.round)
isnan = _unary("isnan", torch.isnan, gives=BOOL)
isinf = _unary("isinf", torch.isinf, gives=BOOL)
isfinite = _unary("isfinite", torch.isfinite, gives=BOOL)
deg2rad = radians = _unary("deg2rad", torch.deg2rad, True)
rad2deg = degrees = _unary("rad2deg", torch.rad2deg, True)


def _operator(function, swapped=False):
    def operator(self, other):
        if isinstance(other, torch.Tensor):
            raise TypeError("an array and a tensor can't be mixed in an operation: use torch.from_numpy(array) or tensor.numpy()")
        if other is None or isinstance(other, (str, bytes, dict, set)):
            return NotImplemented
        return function(other, self) if swapped else function(self, other)

    return operator


for _name, _function in {
    "add": add, "sub": subtract, "mul": multiply, "truediv": divide, "floordiv": floor_divide, "mod": mod, "pow": power,
    "and": bitwise_and, "or": bitwise_or, "xor": bitwise_xor, "lshift": left_shift, "rshift": right_shift,
}.items():
    setattr(ndarray, f"__{_name}__", _operator(_function))
    setattr(ndarray, f"__r{_name}__", _operator(_function, swapped=True))
for _name, _function in {
    "lt": less, "le": less_equal, "gt": greater, "ge": greater_equal, "eq": equal, "ne": not_equal,
}.items():
    setattr(ndarray, f"__{_name}__", _operator(_function))
ndarray.__neg__ = lambda self: negative(self)
ndarray.__abs__ = lambda self: absolute(self)
ndarray.__invert__ = lambda self: invert(self)


def clip(a, a_min=None, a_max=None, out=None):
    """Elements held between two bounds."""
    result = asarray(a)
    if a_min is not None:
        result = maximum(result, a_min)
    if a_max is not None:
        result = minimum(result, a_max)
    return _written(result, out)


def where(condition, x=None, y=None):
    """Elements of `x` where the condition holds, of `y` elsewhere; with neither, the places where it holds."""
    condition = asarray(condition)
    if x is None and y is None:
        return nonzero(condition)
    (left, right), common = operands(x, y)
    broadcast_shapes(condition.shape, left.shape, right.shape)
    result = torch.where(condition.astype(BOOL, copy=False)._t, in_type(left, common), in_type(right, common))
    return over(result, common)


def nonzero(a):
    """The places of elements that aren't zero, one array a dim."""
    return tuple(over(places, INT64) for places in torch.nonzero(asarray(a)._t).unbind(1))


def round(a, decimals=0, out=None):
    """Rounded to a number of decimals, halves to even."""
    a = asarray(a)
    if a.dtype.kind != "f":
        return _written(answer(a._t.clone(), a.dtype), out)
    if decimals == 0:
        return _written(answer(torch.round(a._t), a.dtype), out)
    factor = 10.0 ** builtins.abs(decimals)
    scaled = torch.round(a._t * factor) / factor if decimals > 0 else torch.round(a._t / factor) * factor
    return _written(answer(scaled, a.dtype), out)


around = round


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Where two arrays are equal but for a tolerance."""
    (a, b), common = operands(a, b)
    common = common if common.kind == "f" else FLOAT64
    a, b = in_type(a, common), in_type(b, common)
    same = (torch.abs(a - b) <= atol + rtol * torch.abs(b)) & torch.isfinite(b) | (a == b)
    if equal_nan:
        same = same | (torch.isnan(a) & torch.isnan(b))
    return answer(same, BOOL)


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether two arrays are equal everywhere but for a tolerance."""
    return builtins.bool(asarray(isclose(a, b, rtol, atol, equal_nan)).all())


def array_equal(a1, a2, equal_nan=False):
    """Whether shape and elements are the same."""
    a1, a2 = asarray(a1), asarray(a2)
    if a1.shape != a2.shape:
        return False
    return builtins.bool(asarray(isclose(a1, a2, 0, 0, equal_nan)).all())


# Along axes.


def _axes(axis, ndim):
    if axis is None:
        return tuple(range(ndim))
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    for dim in axes:
        if not -ndim <= dim < ndim:
            raise AxisError(f"axis {dim} is out of bounds for array of dimension {ndim}")
    return tuple(dim % ndim for dim in axes)


class AxisError(ValueError, IndexError):
    """An axis that the array has not."""


def _reduction(name, compute, result_type, initial=None):
    def function(a, axis=None, dtype=None, out=None, keepdims=False):
        a = asarray(a)
        axes = _axes(axis, a.ndim)
        own = result_type(a.dtype) if dtype is None else _dtype(dtype)
        if initial is None and a.size == 0 and builtins.any(a.shape[dim] == 0 for dim in axes):
            raise ValueError(f"zero-size array to reduction operation {name} which has no identity")
        result = compute(in_type(a, own), axes, keepdims) if a.ndim else in_type(a, own)
        return _written(answer(result.to(own._torch), own), out)

    function.__name__ = name
    return function


def _each(operation):
    def compute(tensor, axes, keepdims):
        for dim in sorted(axes, reverse=True):
            tensor = operation(tensor, dim, keepdims)
        return tensor

    return compute


def _sum_type(dtype):
    if dtype.kind in "bi":
        return INT64
    if dtype.kind == "u":
        raise NotImplementedError(f"NumPy sums {dtype.name} as uint64, which Taipan's numpy has not; give dtype=np.int64")
    return dtype


sum = _reduction("add", lambda t, axes, keep: t.sum(axes, keepdim=keep) if axes else t, _sum_type, 0)
prod = _reduction("multiply", _each(lambda t, dim, keep: t.prod(dim, keepdim=keep)), _sum_type, 1)
amax = max = _reduction("maximum", _each(lambda t, dim, keep: t.amax(dim, keepdim=keep)), lambda dtype: dtype)
amin = min = _reduction("minimum", _each(lambda t, dim, keep: t.amin(dim, keepdim=keep)), lambda dtype: dtype)
any = _reduction("logical_or", _each(lambda t, dim, keep: t.any(dim, keepdim=keep)), lambda dtype: BOOL, False)
all = _reduction("logical_and", _each(lambda t, dim, keep: t.all(dim, keepdim=keep)), lambda dtype: BOOL, True)


def _count(a, axes):
    count = 1
    for dim in axes:
        count *= a.shape[dim]
    return count


def mean(a, axis=None, dtype=None, out=None, keepdims=False):
    """The mean; of integers in double precision, of halves in single."""
    a = asarray(a)
    axes = _axes(axis, a.ndim)
    own = (FLOAT64 if a.dtype.kind != "f" else a.dtype) if dtype is None else _dtype(dtype)
    wide = FLOAT32 if own.name == "float16" else own
    total = in_type(a, wide).sum(axes, keepdim=keepdims) if axes else in_type(a, wide)
    return _written(answer((total / _count(a, axes)).to(own._torch), own), out)


def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    """The variance, over the number of elements less `ddof`."""
    a = asarray(a)
    axes = _axes(axis, a.ndim)
    own = (FLOAT64 if a.dtype.kind != "f" else a.dtype) if dtype is None else _dtype(dtype)
    wide = in_type(a, FLOAT32 if own.name == "float16" else own)
    if not axes:
        return answer(torch.zeros_like(wide).to(own._torch), own)
    centred = wide - wide.sum(axes, keepdim=True) / _count(a, axes)
    total = (centred * centred).sum(axes, keepdim=keepdims)
    return _written(answer((total / builtins.max(_count(a, axes) - ddof, 0)).to(own._torch), own), out)


def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
    """The standard deviation, over the number of elements less `ddof`."""
    return _written(sqrt(var(a, axis, dtype, None, ddof, keepdims)), out)


def _search(name, method):
    def function(a, axis=None, out=None, *, keepdims=False):
        a = asarray(a)
        if a.size == 0:
            raise ValueError(f"attempt to get {name} of an empty sequence")
        tensor = a._t.to(torch.uint8) if a.dtype is BOOL else a._t
        if axis is None:
            return _named["int64"].type(getattr(tensor.reshape(-1), method)(0))
        dim, = _axes(axis, a.ndim)
        return _written(answer(getattr(tensor, method)(dim, keepdim=keepdims), INT64), out)

    function.__name__ = name
    return function


argmax, argmin = _search("argmax", "argmax"), _search("argmin", "argmin")


def _running(name, method):
    def function(a, axis=None, dtype=None, out=None):
        a = asarray(a)
        own = _sum_type(a.dtype) if dtype is None else _dtype(dtype)
        tensor = in_type(a, own)
        tensor = tensor.reshape(-1) if axis is None else tensor
        return _written(over(getattr(tensor, method)(0 if axis is None else _axes(axis, a.ndim)[0]), own), out)

    function.__name__ = name
    return function


cumsum, cumprod = _running("cumsum", "cumsum"), _running("cumprod", "cumprod")


def ptp(a, axis=None, out=None, keepdims=False):
    """The greatest less the least."""
    return _written(subtract(max(a, axis, keepdims=keepdims), min(a, axis, keepdims=keepdims)), out)


def median(a, axis=None, keepdims=False):
    """The middle element, or the mean of the two in the middle."""
    a = asarray(a)
    if axis is None:
        ordered, dim, shape = a._t.reshape(-1).sort()[0], 0, (1,) * a.ndim
    else:
        dim, = _axes(axis, a.ndim)
        ordered, shape = a._t.sort(dim)[0], None
    count = ordered.shape[dim]
    middle = ordered.narrow(dim, (count - 1) // 2, 2 - count % 2)
    result = mean(over(middle, a.dtype), axis=dim, keepdims=keepdims and shape is None)
    return asarray(result).reshape(shape) if keepdims and shape is not None else result


def count_nonzero(a, axis=None, *, keepdims=False):
    """How many elements aren't zero."""
    return sum(not_equal(a, 0), axis, keepdims=keepdims)


def sort(a, axis=-1, kind=None):
    """The elements in order along an axis."""
    a = asarray(a)
    tensor = a._t.reshape(-1) if axis is None else a._t
    return over(tensor.sort(dim=-1 if axis is None else axis, stable=True)[0], a.dtype)


def argsort(a, axis=-1, kind=None):
    """The places that put the elements in order; equal elements keep theirs."""
    a = asarray(a)
    tensor = a._t.reshape(-1) if axis is None else a._t
    return over(tensor.sort(dim=-1 if axis is None else axis, stable=True)[1], INT64)


def searchsorted(a, v, side="left", sorter=None):
    """The places at which elements of `v` would keep `a` in order."""
    (a, v), common = operands(a, v)
    found = torch.searchsorted(in_type(a, common).contiguous(), in_type(v, common).contiguous(), right=side == "right")
    return answer(found, INT64)


def unique(ar, return_index=False, return_inverse=False, return_counts=False):
    """The elements in order, each once."""
    flat = asarray(ar).ravel()
    ordered, places = flat._t.sort(stable=True)
    fresh = torch.ones_like(ordered, dtype=torch.bool)
    fresh[1:] = ordered[1:] != ordered[:-1]
    results = [over(ordered[fresh], flat.dtype)]
    starts = torch.nonzero(fresh).reshape(-1)
    if return_index:
        results.append(over(places[starts], INT64))
    if return_inverse:
        inverse = torch.empty_like(places)
        inverse[places] = torch.cumsum(fresh, 0) - 1
        results.append(over(inverse.reshape(asarray(ar).shape), INT64))
    if return_counts:
        ends = torch.cat([starts[1:], torch.tensor([flat.size])])
        results.append(over(ends - starts, INT64))
    return results[0] if len(results) == 1 else tuple(results)


def diff(a, n=1, axis=-1):
    """The differences of neighbours along an axis."""
    a = asarray(a)
    for _ in range(n):
        length = a.shape[axis]
        later, sooner = a._t.narrow(axis, 1, length - 1), a._t.narrow(axis, 0, length - 1)
        a = asarray(subtract(over(later, a.dtype), over(sooner, a.dtype)))
    return a


# Products.


def matmul(x1, x2, /, out=None):
    """The matrix product."""
    (left, right), common = operands(x1, x2)
    if left.ndim == 0 or right.ndim == 0:
        raise ValueError(
            "matmul: Input operand 0 does not have enough dimensions (has 0, gufunc core with signature (n?,k),(k,m?)->(n?,m?) requires 1)"
        )
    inner = right.shape[-2] if right.ndim > 1 else right.shape[0]
    if left.shape[-1] != inner:
        raise ValueError(
            "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature (n?,k),(k,m?)->(n?,m?) "
            f"(size {inner} is different from {left.shape[-1]})"
        )
    return _written(_wrapped(torch.matmul(in_type(left, common), in_type(right, common)), common), out)


def dot(a, b, out=None):
    """The product of vectors or matrices; of numbers, their product."""
    a, b = asarray(a), asarray(b)
    if a.ndim == 0 or b.ndim == 0:
        return _written(multiply(a, b), out)
    if a.ndim <= 2 and b.ndim <= 2:
        if a.shape[-1] != (b.shape[-2] if b.ndim > 1 else b.shape[0]):
            inner = b.ndim - 2 if b.ndim > 1 else 0
            raise ValueError(
                f"shapes {_plain(a.shape)} and {_plain(b.shape)} not aligned: {a.shape[-1]} (dim {a.ndim - 1}) != {b.shape[inner]} (dim {inner})"
            )
        return matmul(a, b, out)
    raise NotImplementedError("Taipan's numpy has dot for at most two dims; use matmul or einsum")


def _plain(shape):
    sizes = ",".join(str(size) for size in shape)
    return f"({sizes},)" if len(shape) == 1 else f"({sizes})"


def outer(a, b, out=None):
    """Every element of one times every element of the other."""
    return _written(multiply(asarray(a).ravel()[:, None], asarray(b).ravel()[None, :]), out)


def einsum(subscripts, *arrays, out=None):
    """Sums of products by Einstein's notation."""
    arrays, common = operands(*arrays)
    return _written(answer(torch.einsum(subscripts, *(in_type(a, common) for a in arrays)), common), out)


ndarray.__matmul__ = _operator(matmul)
ndarray.__rmatmul__ = _operator(matmul, swapped=True)

# Shapes.


def _joined(name, join):
    def function(arrays, axis=0, out=None):
        arrays, common = operands(*arrays)
        if not arrays:
            raise ValueError(f"need at least one array to {name}")
        if axis is None:
            arrays, axis = [a.ravel() for a in arrays], 0
        return _written(over(join([in_type(a, common) for a in arrays], axis, arrays), common), out)

    function.__name__ = name
    return function


def _concatenate(tensors, axis, arrays):
    first = arrays[0]
    _axes(axis, first.ndim)
    for place, other in enumerate(arrays[1:], 1):
        if other.ndim != first.ndim:
            raise ValueError(
                "all the input array dimensions except for the concatenation axis must match exactly, but along dimension 0, the array at "
                f"index 0 has size {first.ndim} and the array at index {place} has size {other.ndim}"
            )
        for dim, (size, own) in enumerate(zip(first.shape, other.shape)):
            if size != own and dim != axis % first.ndim:
                raise ValueError(
                    "all the input array dimensions except for the concatenation axis must match exactly, but along dimension "
                    f"{dim}, the array at index 0 has size {size} and the array at index {place} has size {own}"
                )
    return torch.cat(tensors, axis)


def _stack(tensors, axis, arrays):
    if builtins.any(a.shape != arrays[0].shape for a in arrays):
        raise ValueError("all input arrays must have the same shape")
    return torch.stack(tensors, axis)


concatenate = concat = _joined("concatenate", _concatenate)
stack = _joined("stack", _stack)


def vstack(tup):
    """Joined along the first dim, vectors as rows."""
    return concatenate([atleast_2d(a) for a in tup], 0)


def hstack(tup):
    """Joined along the second dim, vectors along their only one."""
    arrays = [atleast_1d(a) for a in tup]
    return concatenate(arrays, 0 if arrays and arrays[0].ndim == 1 else 1)


def atleast_1d(a):
    """With at least one dim."""
    a = asarray(a)
    return a if a.ndim else a.reshape(1)


def atleast_2d(a):
    """With at least two dims."""
    a = atleast_1d(a)
    return a if a.ndim > 1 else a[None, :]


def split(ary, indices_or_sections, axis=0):
    """Parts along an axis: a number of equal ones, or those between these places."""
    ary = asarray(ary)
    size = ary.shape[axis]
    if isinstance(indices_or_sections, int):
        if size % indices_or_sections:
            raise ValueError("array split does not result in an equal division")
        step = size // indices_or_sections
        places = [step * place for place in range(1, indices_or_sections)]
    else:
        places = list(indices_or_sections)
    ends = [0, *places, size]
    return [over(ary._t.narrow(axis, a, builtins.max(b - a, 0)), ary.dtype, ary._writeable) for a, b in zip(ends, ends[1:])]


def array_split(ary, sections, axis=0):
    """As `split`, parts of unequal sizes allowed."""
    size = asarray(ary).shape[axis]
    each, more = divmod(size, sections)
    places, at = [], 0
    for part in range(sections - 1):
        at += each + (part < more)
        places.append(at)
    return split(ary, places, axis)


def reshape(a, shape, order="C"):
    """Other sizes for the same elements."""
    return asarray(a).reshape(shape)


def ravel(a, order="C"):
    """One dim."""
    return asarray(a).ravel()


def transpose(a, axes=None):
    """The dims in another order."""
    return asarray(a).transpose(axes) if axes is not None else asarray(a).T


def swapaxes(a, axis1, axis2):
    """Two dims exchanged."""
    return asarray(a).swapaxes(axis1, axis2)


def moveaxis(a, source, destination):
    """Dims moved to other places."""
    a = asarray(a)
    return over(torch.movedim(a._t, source, destination), a.dtype, a._writeable)


def squeeze(a, axis=None):
    """Without dims of one element."""
    return asarray(a).squeeze(axis)


def expand_dims(a, axis):
    """With further dims of one element."""
    a = asarray(a)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    tensor = a._t
    for dim in sorted(dim % (a.ndim + len(axes)) for dim in axes):
        tensor = tensor.unsqueeze(dim)
    return over(tensor, a.dtype, a._writeable)


def broadcast_to(array, shape):
    """The array repeated to a shape, without copying; it can't be written."""
    a = asarray(array)
    broadcast_shapes(a.shape, tuple(shape) if isinstance(shape, (tuple, list)) else (shape,))
    return over(a._t.expand(shape), a.dtype, False)


def tile(A, reps):
    """The array set side by side."""
    A = asarray(A)
    reps = tuple(reps) if isinstance(reps, (tuple, list)) else (reps,)
    return over(A._t.tile(reps), A.dtype)


def repeat(a, repeats, axis=None):
    """Each element several times."""
    a = asarray(a)
    tensor = a._t.reshape(-1) if axis is None else a._t
    repeats = asarray(repeats)._t if not isinstance(repeats, int) else repeats
    return over(torch.repeat_interleave(tensor, repeats, dim=0 if axis is None else axis), a.dtype)


def take(a, indices, axis=None):
    """The elements at these places."""
    a, indices = asarray(a), asarray(indices)
    if axis is None:
        return a.ravel()[indices]
    return a[(slice(None),) * (axis % a.ndim) + (indices,)]


def flip(m, axis=None):
    """The elements in reverse order along axes."""
    m = asarray(m)
    return over(m._t.flip(_axes(axis, m.ndim)), m.dtype)


def roll(a, shift, axis=None):
    """The elements moved on along an axis, those at the end to the front."""
    a = asarray(a)
    return over(torch.roll(a._t, shift, () if axis is None else axis), a.dtype)


def pad(array, pad_width, mode="constant", constant_values=0):
    """With a margin of a constant."""
    a = asarray(array)
    if mode != "constant":
        raise NotImplementedError(f"Taipan's numpy pads with mode 'constant' only, not {mode!r}")
    widths = asarray(pad_width)
    widths = broadcast_to(widths, (a.ndim, 2)).tolist()
    target = torch.full([before + size + after for (before, after), size in zip(widths, a.shape)], constant_values, dtype=a._t.dtype)
    target[tuple(slice(before, before + size) for (before, _), size in zip(widths, a.shape))] = a._t
    return over(target, a.dtype)


def tril(m, k=0):
    """The lower triangle."""
    m = asarray(m)
    return over(torch.tril(m._t, k), m.dtype)


def triu(m, k=0):
    """The upper triangle."""
    m = asarray(m)
    return over(torch.triu(m._t, k), m.dtype)


def diag(v, k=0):
    """A diagonal, or the matrix with this diagonal."""
    v = asarray(v)
    return over(torch.diag(v._t, k), v.dtype)


def meshgrid(*xi, indexing="xy"):
    """Coordinates of a grid, one array a dim."""
    grids = torch.meshgrid(*(asarray(x)._t for x in xi), indexing=indexing)
    return tuple(over(grid.clone(), asarray(x).dtype) for grid, x in zip(grids, xi))


def bincount(x, weights=None, minlength=0):
    """How often each number from zero on occurs."""
    places = asarray(x)._t.to(torch.int64)
    if places.numel() and builtins.bool((places < 0).any()):
        raise ValueError("'list' argument must have no negative elements")
    count = builtins.max(builtins.int(places.max()) + 1 if places.numel() else 0, minlength)
    each = torch.ones_like(places) if weights is None else asarray(weights)._t.double()
    counted = torch.zeros(count, dtype=each.dtype).scatter_add_(0, places, each)
    return over(counted, INT64 if weights is None else FLOAT64)


def copy(a):
    """A copy."""
    return array(a, copy=True)


for _name in (
    "sum prod max min any all mean var std argmax argmin cumsum cumprod clip round nonzero dot argsort searchsorted".split()
):
    setattr(ndarray, _name, globals()[_name])
del _name, _function
