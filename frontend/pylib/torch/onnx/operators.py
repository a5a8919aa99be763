"""Sizes as tensors."""

import torch


def shape_as_tensor(x):
    """The sizes of `x`, as an int64 tensor."""
    return torch.tensor(list(x.shape), dtype=torch.int64)


def reshape_from_tensor_shape(x, shape):
    """`x` with the sizes that the tensor `shape` holds."""
    return x.reshape(shape.tolist())
