"""New arrays."""

import builtins
import math

import torch
from numpy._array import _sizes, asarray, over
from numpy._dtypes import BOOL, FLOAT64, INT64, _dtype, generic


def _filled(shape, value, dtype):
    described = _dtype(dtype)
    return over(torch.full(_sizes(shape), value, dtype=described._torch), described)


def zeros(shape, dtype=float, order="C"):
    """Zeros."""
    return _filled(shape, 0, dtype)


def ones(shape, dtype=float, order="C"):
    """Ones."""
    return _filled(shape, 1, dtype)


def empty(shape, dtype=float, order="C"):
    """An array whose elements are not set; here they are zeros."""
    return _filled(shape, 0, dtype)


def full(shape, fill_value, dtype=None, order="C"):
    """Every element the same."""
    value = asarray(fill_value)
    described = value.dtype if dtype is None else _dtype(dtype)
    result = _filled(shape, 0, described)
    result[...] = value
    return result


def _like(make):
    def function(a, dtype=None, order="K", subok=True, shape=None):
        a = asarray(a)
        return make(a.shape if shape is None else shape, a.dtype if dtype is None else dtype)

    return function


zeros_like, ones_like, empty_like = _like(zeros), _like(ones), _like(empty)


def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None):
    """Every element the same, in the shape and type of another array."""
    a = asarray(a)
    return full(a.shape if shape is None else shape, fill_value, a.dtype if dtype is None else dtype)


def arange(start, stop=None, step=1, dtype=None):
    """Numbers from `start` up to but not including `stop`."""
    if stop is None:
        start, stop = 0, start
    plain = [value.item() if isinstance(value, generic) else value for value in (start, stop, step)]
    whole = builtins.all(isinstance(value, builtins.int) for value in plain)
    start, stop, step = plain
    if step == 0:
        raise ZeroDivisionError("division by zero")
    described = (INT64 if whole else FLOAT64) if dtype is None else _dtype(dtype)
    count = builtins.max(0, -((start - stop) // step) if whole else math.ceil((stop - start) / step))
    places = torch.arange(count, dtype=torch.int64)
    if whole:
        return over(places * step + start, INT64).astype(described, copy=False)
    # The step that is really taken is the difference of the first two elements.
    step = (start + step) - start
    return over(places.double() * step + start, FLOAT64).astype(described, copy=False)


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None):
    """Evenly spaced numbers."""
    start, stop = builtins.float(start), builtins.float(stop)
    gaps = num - 1 if endpoint else num
    step = (stop - start) / gaps if gaps > 0 else float("nan")
    places = torch.arange(num, dtype=torch.float64)
    values = places * step + start if step != 0 or gaps <= 0 else places * (stop - start) + start
    if gaps <= 0:
        values = places * (stop - start) + start
    if endpoint and num > 1:
        values[-1] = stop
    described = FLOAT64 if dtype is None else _dtype(dtype)
    if described.kind in "iu":
        values = torch.floor(values)
    result = over(values, FLOAT64).astype(described, copy=False)
    return (result, step) if retstep else result


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None):
    """Numbers evenly spaced by their logarithms."""
    from numpy._elementwise import power

    result = power(builtins.float(base), linspace(start, stop, num, endpoint))
    return result if dtype is None else result.astype(dtype)


def eye(N, M=None, k=0, dtype=float):
    """Ones on a diagonal."""
    M = N if M is None else M
    rows, columns = torch.arange(N)[:, None], torch.arange(M)[None, :]
    return over(columns - rows == k, BOOL).astype(dtype)


def identity(n, dtype=None):
    """The identity matrix."""
    return eye(n, dtype=float if dtype is None else dtype)


def tri(N, M=None, k=0, dtype=float):
    """Ones at and below a diagonal."""
    M = N if M is None else M
    return over(torch.arange(M)[None, :] - torch.arange(N)[:, None] <= k, BOOL).astype(dtype)


def ascontiguousarray(a, dtype=None):
    """The array in row-major order, itself where it is."""
    a = asarray(a, dtype)
    return a if a._t.is_contiguous() and a.ndim else over(a._t.contiguous().reshape(a.shape or (1,)), a.dtype)


asanyarray = asarray
