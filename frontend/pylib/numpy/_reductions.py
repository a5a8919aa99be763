"""Functions of arrays along axes: sums and their like, searches, orders."""

import builtins

import torch
from numpy._array import answer, asarray, in_type, ndarray, operands, over
from numpy._dtypes import BOOL, FLOAT32, FLOAT64, INT64, _dtype, _named
from numpy._elementwise import _written, not_equal, sqrt, subtract


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


for _name in "sum prod max min any all mean var std argmax argmin cumsum cumprod argsort searchsorted".split():
    setattr(ndarray, _name, globals()[_name])
del _name
