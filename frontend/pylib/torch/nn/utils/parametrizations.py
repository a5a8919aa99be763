"""Ready-made parametrizations: orthogonal matrices, weight norm and spectral norm."""

import torch
from torch.nn import functional as F
from torch.nn.modules.module import Module
from torch.nn.utils import parametrize
from torch.nn.utils.weight_norm import norm_except_dim


_MAPS = ("matrix_exp", "cayley", "householder")


class _Orthogonal(Module):
    """A matrix with orthonormal columns, or rows if it is wider than high, that `orthogonal_map` makes of any matrix.

    With `base` the result is a product with that matrix, so that any orthogonal matrix can be started from.
    """

    def __init__(self, weight, orthogonal_map, use_trivialization=True):
        super().__init__()
        self.orthogonal_map = orthogonal_map
        self.shape = weight.shape
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X):
        tall = X if X.size(-2) >= X.size(-1) else X.mT
        if self.orthogonal_map == "householder":
            result = self._reflections(tall)
        else:
            result = self._of_skew(tall)
        if hasattr(self, "base"):
            result = self.base @ result
        return result if tall is X else result.mT

    @staticmethod
    def _reflections(matrix):
        below = matrix.tril(-1)
        factors = 2.0 / (1.0 + (below * below).sum(-2))
        # The diagonal holds signs.
        signs = matrix.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        return torch.linalg.householder_product(below, factors) * signs

    def _of_skew(self, matrix):
        rows, columns = matrix.shape[-2:]
        below = F.pad(matrix.tril(), (0, rows - columns))
        skew = below - below.mT
        if self.orthogonal_map == "matrix_exp":
            result = torch.matrix_exp(skew)
        else:
            unit = torch.eye(rows, dtype=skew.dtype, device=skew.device)
            result = torch.linalg.solve(unit - skew * 0.5, unit + skew * 0.5)
        return result[..., :columns]

    @torch.autograd.no_grad()
    def right_inverse(self, Q):
        if Q.shape != self.shape:
            raise ValueError(f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {Q.shape}.")
        tall = Q if Q.size(-2) >= Q.size(-1) else Q.mT
        rows, columns = tall.shape[-2:]
        if not hasattr(self, "base"):
            if self.orthogonal_map != "householder":
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                    "use_trivialization=False."
                )
            A, factors = torch.geqrf(tall)
            signs = A.diagonal(dim1=-2, dim2=-1).sign()
            # A column that needed no reflection gets one that turns it round.
            A.diagonal(dim1=-2, dim2=-1).copy_(torch.where(factors == 0.0, -signs, signs))
            return A if tall is Q else A.mT
        if rows != columns:
            # The base is square: its other columns are any that are orthogonal to the given ones.
            others = torch.randn(tall.shape[:-2] + (rows, rows - columns), dtype=Q.dtype, device=Q.device)
            base = _orthonormal(torch.cat([tall, others], -1))
        else:
            base = tall.clone() if _is_orthonormal(tall) else _orthonormal(tall)
        self.base = base
        minus_one = torch.zeros_like(Q)
        minus_one.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return minus_one


def _is_orthonormal(Q):
    unit = torch.eye(Q.size(-1), dtype=Q.dtype, device=Q.device)
    return torch.allclose(Q.mT @ Q, unit, atol=10.0 * Q.size(-2) * torch.finfo(Q.dtype).eps)


def _orthonormal(matrix):
    """The orthogonal factor of a matrix, with signs such that the triangular one has a positive diagonal."""
    A, factors = torch.geqrf(matrix)
    return torch.linalg.householder_product(A, factors) * A.diagonal(dim1=-2, dim2=-1).sign().unsqueeze(-2)


def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    """Makes `name` a matrix with orthonormal columns, or rows if it is wider than high."""
    weight = getattr(module, name, None)
    if not isinstance(weight, torch.Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        orthogonal_map = "matrix_exp" if weight.size(-2) == weight.size(-1) else "householder"
    if orthogonal_map not in _MAPS:
        raise ValueError(f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}')
    parametrize.register_parametrization(module, name, _Orthogonal(weight, orthogonal_map, use_trivialization), unsafe=True)
    return module


class _WeightNorm(Module):
    """A length for each index of `dim`, times a direction."""

    def __init__(self, dim=0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g, weight_v):
        return weight_v * (weight_g / norm_except_dim(weight_v, self.dim))

    def right_inverse(self, weight):
        return norm_except_dim(weight, self.dim), weight


def weight_norm(module, name="weight", dim=0):
    """Makes `name` a length, `original0`, times a direction, `original1`."""
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        # What the hook of `torch.nn.utils.weight_norm` saved.
        for number, suffix in enumerate(("_g", "_v")):
            key = prefix + name + suffix
            if key in state_dict:
                state_dict[f"{prefix}parametrizations.{name}.original{number}"] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(rename)
    return module


class _SpectralNorm(Module):
    """The weight over its largest singular value, which a power iteration estimates while training."""

    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        if dim >= weight.ndim or dim < -weight.ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{weight.ndim}, {weight.ndim - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
        self.dim = dim if dim >= 0 else dim + weight.ndim
        self.eps = eps
        if weight.ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._reshape_weight_to_matrix(weight)
            rows, columns = matrix.size()
            u = matrix.new_empty(rows).normal_(0, 1)
            v = matrix.new_empty(columns).normal_(0, 1)
            self.register_buffer("_u", F.normalize(u, dim=0, eps=self.eps))
            self.register_buffer("_v", F.normalize(v, dim=0, eps=self.eps))
            # Fifteen steps bring the random vectors near the singular ones.
            self._power_method(matrix, 15)

    def _reshape_weight_to_matrix(self, weight):
        if self.dim != 0:
            weight = weight.permute(self.dim, *(dim for dim in range(weight.dim()) if dim != self.dim))
        return weight.flatten(1)

    @torch.no_grad()
    def _power_method(self, matrix, steps):
        for _ in range(steps):
            self._u.copy_(F.normalize(torch.mv(matrix, self._v), dim=0, eps=self.eps))
            self._v.copy_(F.normalize(torch.mv(matrix.t(), self._u), dim=0, eps=self.eps))

    def forward(self, weight):
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._reshape_weight_to_matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        # Clones, for the next forward writes the buffers.
        u, v = self._u.clone(), self._v.clone()
        return weight / torch.dot(u, torch.mv(matrix, v))

    def right_inverse(self, value):
        return value


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Makes `name` a weight whose largest singular value is one."""
    if not hasattr(module, name):
        raise ValueError(f"Module '{module}' has no attribute with name '{name}'")
    weight = getattr(module, name)
    if dim is None:
        transposed = (torch.nn.ConvTranspose1d, torch.nn.ConvTranspose2d, torch.nn.ConvTranspose3d)
        dim = 1 if isinstance(module, transposed) else 0
    parametrize.register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module
