"""A small `numpy`: arrays over the same memory as torch's tensors.

It has the names below and no others; asking for another is an error that says so.  It keeps to NumPy 2 in types, promotion,
shapes, error texts and printing.  Where it can't, it refuses: backwards views can't be written, there are no objects, texts,
complex numbers and 64-bit unsigned integers, and integer scalars are also instances of `int`.
"""

from numpy._dtypes import (
    bool_, dtype, finfo, float16, float32, float64, floating, generic, iinfo, inexact, int8, int16, int32, int64, integer, number,
    signedinteger, uint8, uint16, uint32, unsignedinteger,
)
from numpy._array import array, asarray, broadcast_shapes, ndarray
from numpy._create import (
    arange, asanyarray, ascontiguousarray, empty, empty_like, eye, full, full_like, identity, linspace, logspace, ones, ones_like, tri, zeros,
    zeros_like,
)
from numpy._elementwise import (
    absolute, add, allclose, arccos, arcsin, arctan, arctan2, around, array_equal, bitwise_and, bitwise_not, bitwise_or, bitwise_xor, ceil,
    clip, cos, cosh, deg2rad, degrees, divide, equal, exp, exp2, expm1, floor, floor_divide, greater, greater_equal, hypot, invert, isclose,
    isfinite, isinf, isnan, left_shift, less, less_equal, log, log10, log1p, log2, logical_and, logical_not, logical_or, logical_xor,
    maximum, minimum, mod, multiply, negative, nonzero, not_equal, power, rad2deg, radians, remainder, right_shift, rint, sign, sin, sinh,
    sqrt, square, subtract, tan, tanh, true_divide, trunc, where,
)
from numpy._reductions import (
    amax, amin, argmax, argmin, argsort, count_nonzero, cumprod, cumsum, diff, mean, median, prod, ptp, searchsorted, sort, std, unique,
    var,
)
from numpy._products import (
    dot, einsum, matmul, outer,
)
from numpy._shapes import (
    array_split, atleast_1d, atleast_2d, bincount, broadcast_to, concat, concatenate, copy, diag, expand_dims, flip, hstack, meshgrid,
    moveaxis, pad, ravel, repeat, reshape, roll, split, squeeze, stack, swapaxes, take, tile, transpose, tril, triu, vstack,
)
from numpy._elementwise import abs, round
from numpy._reductions import all, any, max, min, sum
from numpy._sets import (
    append, argwhere, diag_indices, fill_diagonal, hamming, hanning, intersect1d, isin, ix_, ravel_multi_index, setdiff1d, tril_indices,
    triu_indices, union1d, unravel_index,
)
from numpy._files import frombuffer, fromfile, load, memmap, save, savez
from numpy._dtypes import bool_ as bool

__version__ = "2.4.6+taipan"

half, single, double, intp, long, byte, ubyte, short, ushort = float16, float32, float64, int64, int64, int8, uint8, int16, uint16
pi, e, inf, nan, newaxis = 3.141592653589793, 2.718281828459045, float("inf"), float("nan"), None


def ndim(a):
    """The number of dims."""
    return asarray(a).ndim


def shape(a):
    """The sizes."""
    return asarray(a).shape


def size(a, axis=None):
    """The number of elements, or the size of one dim."""
    return asarray(a).size if axis is None else asarray(a).shape[axis]


def isscalar(element):
    """Whether it is a single number."""
    return isinstance(element, (generic, int, float, str, bytes))


def result_type(*arrays_and_dtypes):
    """The type in which an operation on these would answer."""
    from numpy._array import operands

    described = [empty(0, value) if isinstance(value, (dtype, type, str)) else value for value in arrays_and_dtypes]
    return operands(*described)[1]


def promote_types(type1, type2):
    """The common type of two types."""
    from numpy._dtypes import promote

    return promote(dtype(type1), dtype(type2))


def issubdtype(arg1, arg2):
    """Whether one type is of a kind."""
    first = arg1 if isinstance(arg1, type) and issubclass(arg1, generic) else dtype(arg1).type
    second = arg2 if isinstance(arg2, type) and issubclass(arg2, generic) else dtype(arg2).type
    return issubclass(first, second)


def _over(tensor):
    """The array that `tensor.numpy()` gives."""
    from numpy._array import over
    from numpy._dtypes import of_torch

    return over(tensor, of_torch(tensor.dtype))


def _lacking(module, name, names):
    """The error for a name that this module has not, with those nearest to it."""
    import difflib

    near = difflib.get_close_matches(name, [other for other in names if other[:1] != "_"], 3)
    hint = f"; near it are {', '.join(near)}" if near else ""
    return AttributeError(f"module '{module}' has no attribute '{name}': Taipan's numpy is a small one{hint}")


def __getattr__(name):
    if name in ("linalg", "random"):
        import importlib

        return importlib.import_module("numpy." + name)
    raise _lacking("numpy", name, list(globals()))
