"""Functions of arrays element by element; the operators of arrays are made of them."""

import builtins

import torch
from numpy._array import answer, asarray, broadcast_shapes, in_type, ndarray, operands, over
from numpy._dtypes import BOOL, FLOAT64, INT64, _dtype, _named, as_float


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


ndarray.clip, ndarray.round, ndarray.nonzero = clip, round, nonzero
del _name, _function
