"""`numpy.linalg`: norms, inverses, solutions and factors of matrices, as torch computes them."""

import torch
from numpy._array import answer, asarray, in_type
from numpy._dtypes import FLOAT32, FLOAT64


class LinAlgError(ValueError):
    """A matrix has no such result."""


def _matrix(a):
    """The elements as floats, and their type."""
    a = asarray(a)
    described = FLOAT32 if a.dtype == FLOAT32 else FLOAT64
    return in_type(a, described), described


def _square(a):
    tensor, described = _matrix(a)
    if tensor.dim() < 2:
        raise LinAlgError(f"{tensor.dim()}-dimensional array given. Array must be at least two-dimensional")
    if tensor.size(-1) != tensor.size(-2):
        raise LinAlgError("Last 2 dimensions of the array must be square")
    return tensor, described


def norm(x, ord=None, axis=None, keepdims=False):
    """The length of vectors, or the norm of matrices."""
    tensor, described = _matrix(x)
    if ord is None and axis is None:
        length = tensor.reshape(-1).dot(tensor.reshape(-1)).sqrt()
        return answer(length.reshape([1] * tensor.dim()) if keepdims else length, described)
    if axis is None:
        axis = tuple(range(tensor.dim()))
    if isinstance(axis, int) or len(axis) == 1:
        return answer(torch.linalg.vector_norm(tensor, 2 if ord is None else ord, axis, keepdims), described)
    return answer(torch.linalg.matrix_norm(tensor, "fro" if ord is None else ord, tuple(axis), keepdims), described)


def inv(a):
    """The inverse."""
    tensor, described = _square(a)
    return _solved(lambda: torch.linalg.inv(tensor), described)


def solve(a, b):
    """The x of a · x = b."""
    tensor, described = _square(a)
    return _solved(lambda: torch.linalg.solve(tensor, in_type(asarray(b), described)), described)


def _solved(compute, described):
    try:
        return answer(compute(), described)
    except RuntimeError as error:
        raise LinAlgError("Singular matrix") from error


def det(a):
    """The determinant."""
    tensor, described = _square(a)
    return answer(torch.linalg.det(tensor), described)


def pinv(a, rcond=None):
    """The pseudo-inverse."""
    tensor, described = _matrix(a)
    return answer(torch.linalg.pinv(tensor, rtol=1e-15 if rcond is None else rcond), described)


def cholesky(a):
    """The lower triangular factor."""
    tensor, described = _square(a)
    try:
        return answer(torch.linalg.cholesky(tensor), described)
    except RuntimeError as error:
        raise LinAlgError("Matrix is not positive definite") from error


def matrix_rank(A):
    """How many rows are independent."""
    tensor, _ = _matrix(A)
    return int(torch.linalg.matrix_rank(tensor))


def __getattr__(name):
    from numpy import _lacking

    raise _lacking("numpy.linalg", name, list(globals()))
