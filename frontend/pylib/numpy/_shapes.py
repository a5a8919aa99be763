"""Joining, splitting and rearranging arrays."""

import builtins

import torch
from numpy._array import array, asarray, broadcast_shapes, in_type, operands, over
from numpy._dtypes import FLOAT64, INT64
from numpy._elementwise import _written
from numpy._reductions import _axes


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
