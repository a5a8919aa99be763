"""What distributions are made of: broadcast parameters, lazy attributes, and the ways between probabilities and logits."""

import numbers

import torch
from torch.nn import functional as F


def broadcast_all(*values):
    """Numbers and tensors as tensors of one shape; numbers get the element type of the first tensor."""
    if not all(isinstance(value, (torch.Tensor, numbers.Number)) or hasattr(value, "__torch_function__") for value in values):
        raise ValueError("Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__.")
    like = next((value for value in values if isinstance(value, torch.Tensor)), None)
    dtype = torch.get_default_dtype() if like is None else like.dtype
    device = None if like is None else like.device
    tensors = [value if isinstance(value, torch.Tensor) else torch.tensor(value, dtype=dtype, device=device) for value in values]
    shape = torch.broadcast_shapes(*[tensor.shape for tensor in tensors])
    return [tensor.expand(shape) for tensor in tensors]


class lazy_property:
    """An attribute that is computed when it is first read, and is the instance's own from then on."""

    def __init__(self, wrapped):
        self.wrapped = wrapped
        self.__doc__ = wrapped.__doc__

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        with torch.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


def standard_normal(shape, like):
    """Normal numbers of the element type of another tensor."""
    return torch.empty(shape, dtype=like.dtype, device=like.device).normal_()


def sum_rightmost(value, dims):
    """The sums over the last `dims` dims."""
    return value if dims == 0 else value.reshape(value.shape[: value.dim() - dims] + (-1,)).sum(-1)


def clamp_probs(probs):
    """Probabilities with a distance from zero and one that is the element type's."""
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs, is_binary=False):
    """The logarithms of probabilities, or of their odds where there are two classes."""
    clamped = clamp_probs(probs)
    return torch.log(clamped) - torch.log1p(-clamped) if is_binary else torch.log(clamped)


def logits_to_probs(logits, is_binary=False):
    """The probabilities of logits."""
    return torch.sigmoid(logits) if is_binary else F.softmax(logits, dim=-1)
