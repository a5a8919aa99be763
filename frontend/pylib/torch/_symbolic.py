"""Functions of numbers that may be symbolic sizes. Sizes are plain numbers here, so these are Python's own."""

import math


def sym_int(a):
    """A number without its fraction."""
    return int(a)


def sym_float(a):
    """A number as a float."""
    return float(a)


def sym_not(a):
    """Whether a condition doesn't hold."""
    return not a


def sym_max(a, b):
    """The larger number: a float if either is."""
    return float(max(a, b)) if isinstance(a, float) or isinstance(b, float) else max(a, b)


def sym_min(a, b):
    """The smaller number: a float if either is."""
    return float(min(a, b)) if isinstance(a, float) or isinstance(b, float) else min(a, b)


def sym_sqrt(a):
    """The square root of a number."""
    return math.sqrt(a)


def sym_sum(args):
    """The sum of numbers."""
    return sum(args)


def sym_ite(b, t, f):
    """`t` if `b` holds, else `f`."""
    return t if b else f
