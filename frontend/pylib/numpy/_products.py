"""Products of arrays."""

import torch
from numpy._array import answer, asarray, in_type, ndarray, operands
from numpy._elementwise import _operator, _wrapped, _written, multiply


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
ndarray.dot = dot
