"""Looking up vectors in a table, and keeping their norms within bounds."""

import torch
from torch._C import _nn


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    """The rows of `weight` that `input` counts; with `max_norm` those above it are first scaled down to it, in `weight` itself."""
    if max_norm is not None:
        embedding_renorm_(weight, input, max_norm, norm_type)
    return _nn.embedding(input, weight, padding_idx, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse)


@torch.no_grad()
def embedding_renorm_(input, indices, max_norm, norm_type):
    """Scales the rows that `indices` count and whose norm is above `max_norm` down to it."""
    if input.dim() != 2:
        raise RuntimeError(
            f"Expected 2-dimensional tensor, but got {input.dim()}-dimensional tensor for argument #1 'self' (while checking "
            "arguments for embedding_renorm_)"
        )
    if indices.dtype not in (torch.int64, torch.int32):
        raise RuntimeError(
            "Expected tensor for argument #2 'indices' to have one of the following scalar types: Long, Int; but got "
            f"{indices.type()} instead (while checking arguments for embedding_renorm_)"
        )
    rows = torch.unique(indices).long()
    vectors = input[rows]
    norms = vectors.norm(norm_type, 1, keepdim=True).double()
    scales = (max_norm / (norms + 1e-7)).to(input.dtype)
    input[rows] = torch.where(norms > max_norm, vectors * scales, vectors)
    return input
