"""Transforms whose results are triangular factors and the matrices these make."""

import torch
from torch.distributions import constraints
from torch.distributions.transforms import StickBreakingTransform, Transform
from torch.nn import functional as F


class LowerCholeskyTransform(Transform):
    """The lower triangle of a matrix, its diagonal made positive by exponentials."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def __eq__(self, other):
        return isinstance(other, LowerCholeskyTransform)

    __hash__ = object.__hash__

    def _call(self, x):
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y):
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(Transform):
    """The positive definite matrix whose Cholesky factor `LowerCholeskyTransform` gives."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def __eq__(self, other):
        return isinstance(other, PositiveDefiniteTransform)

    __hash__ = object.__hash__

    def _call(self, x):
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y):
        return LowerCholeskyTransform().inv(torch.linalg.cholesky(y))


class CorrCholeskyTransform(Transform):
    """The Cholesky factor of a correlation matrix from the numbers below its diagonal: each row is a stick broken by squares."""

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x):
        ratios = _below_diagonal(torch.tanh(x))
        eps = torch.finfo(x.dtype).eps
        ratios = ratios.clamp(min=-1 + eps, max=1 - eps)
        left = (1 - ratios**2).sqrt().cumprod(-1)
        ratios = ratios + torch.eye(ratios.shape[-1], dtype=x.dtype, device=x.device)
        return ratios * F.pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y):
        left = (1 - (y * y).cumsum(-1)).tril(-1)
        before = F.pad(left[..., :-1], [1, 0], value=1)
        ratios = _vector_below_diagonal(y) / _vector_below_diagonal(before).sqrt()
        return (ratios.log1p() - ratios.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x, y):
        left = 1 - (y * y).cumsum(-1)
        rows = 0.5 * _vector_below_diagonal(left[..., :-1], -2).log().sum(-1) if y.shape[-1] > 2 else 0.0
        return rows + -2 * (x + F.softplus(-2 * x) - torch.log(torch.tensor(2.0, dtype=x.dtype))).sum(-1)

    def forward_shape(self, shape):
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        count = shape[-1]
        size = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if size * (size - 1) // 2 != count:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return shape[:-1] + (size, size)

    def inverse_shape(self, shape):
        if len(shape) < 2:
            raise ValueError("Too few dimensions on input")
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        size = shape[-1]
        return shape[:-2] + (size * (size - 1) // 2,)


def _places_below_diagonal(size, offset=-1):
    return torch.tril_indices(size, size, offset)


def _below_diagonal(vector):
    """The matrix whose elements below the diagonal are a vector's, row by row."""
    size = CorrCholeskyTransform().forward_shape(vector.shape)[-1]
    rows, columns = _places_below_diagonal(size)
    flat = vector.new_zeros(vector.shape[:-1] + (size * size,))
    flat = flat.index_copy(-1, rows * size + columns, vector)
    return flat.reshape(vector.shape[:-1] + (size, size))


def _vector_below_diagonal(matrix, offset=-1):
    rows, columns = torch.tril_indices(matrix.shape[-2], matrix.shape[-1], offset)
    return matrix[..., rows, columns]
