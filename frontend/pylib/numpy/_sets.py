"""Arrays as sets, and places in them."""

import torch
from numpy._array import array, asarray, in_type, operands, over
from numpy._dtypes import BOOL, FLOAT64, INT64
from numpy._reductions import unique
from numpy._shapes import concatenate


def isin(element, test_elements, assume_unique=False, invert=False):
    """Whether each element is among others."""
    (element, tests), common = operands(element, test_elements)
    return over(torch.isin(in_type(element, common), in_type(tests, common), invert=invert), BOOL)


def intersect1d(ar1, ar2, assume_unique=False):
    """The values that are in both, in order."""
    values = unique(ar1)
    return values[isin(values, ar2)]


def setdiff1d(ar1, ar2, assume_unique=False):
    """The values of one that are not in the other, in order."""
    values = asarray(ar1).ravel() if assume_unique else unique(ar1)
    return values[isin(values, ar2, invert=True)]


def union1d(ar1, ar2):
    """The values that are in either, in order."""
    return unique(concatenate((asarray(ar1).ravel(), asarray(ar2).ravel())))


def append(arr, values, axis=None):
    """One array behind another."""
    return concatenate((asarray(arr), asarray(values)), axis)


def argwhere(a):
    """The places of elements that aren't zero, one a row."""
    return over(torch.nonzero(asarray(a)._taipan_tensor), INT64)


def unravel_index(indices, shape):
    """The coordinates of places counted row by row."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    indices = asarray(indices)
    count = 1
    for size in shape:
        count *= size
    for place in indices.ravel().tolist():
        if not 0 <= place < count:
            raise ValueError(f"index {place} is out of bounds for array with size {count}")
    coordinates = []
    for size in reversed(shape):
        coordinates.append(indices % size)
        indices = indices // size
    return tuple(reversed(coordinates))


def ravel_multi_index(multi_index, dims):
    """The places, counted row by row, of coordinates."""
    place = asarray(0)
    for coordinate, size in zip(multi_index, dims):
        coordinate = asarray(coordinate)
        if bool(((coordinate < 0) | (coordinate >= size)).any()):
            raise ValueError("invalid entry in coordinates array")
        place = place * size + coordinate
    return place


def ix_(*args):
    """Vectors of places, shaped so that together they choose rows, columns and so on."""
    found = []
    for position, vector in enumerate(args):
        vector = asarray(vector)
        if vector.dtype == BOOL:
            vector = argwhere(vector).ravel()
        found.append(vector.reshape([-1 if dim == position else 1 for dim in range(len(args))]))
    return tuple(found)


def tril_indices(n, k=0, m=None):
    """The places on and below a diagonal."""
    rows, columns = torch.tril_indices(n, n if m is None else m, k)
    return over(rows, INT64), over(columns, INT64)


def triu_indices(n, k=0, m=None):
    """The places on and above a diagonal."""
    rows, columns = torch.triu_indices(n, n if m is None else m, k)
    return over(rows, INT64), over(columns, INT64)


def diag_indices(n, ndim=2):
    """The places on the diagonal."""
    return (over(torch.arange(n), INT64),) * ndim


def fill_diagonal(a, val, wrap=False):
    """Writes the diagonal of a matrix."""
    if a.ndim != 2:
        raise NotImplementedError("Taipan's numpy has fill_diagonal for matrices only")
    count = min(a.shape)
    a[diag_indices(count)] = val


def hanning(M):
    """A raised cosine, over `M` points."""
    return _cosine(M, 0.5, 0.5)


def hamming(M):
    """A raised cosine that doesn't reach zero, over `M` points."""
    return _cosine(M, 0.54, 0.46)


def _cosine(count, middle, swing):
    if count < 1:
        return array([], dtype=FLOAT64)
    if count == 1:
        return array([1.0])
    places = torch.arange(1 - count, count, 2, dtype=torch.float64)
    return over(middle + swing * torch.cos(torch.pi * places / (count - 1)), FLOAT64)
