"""`torch.overrides`: questions about objects that act like tensors."""

from torch._C import Tensor


def is_tensor_like(inp):
    """Whether `inp` is a tensor, or has a `__torch_function__` of its own."""
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def has_torch_function(relevant_args):
    """False: no function is overridden."""
    return False


def is_tensor_method_or_property(func):
    """Whether `func` belongs to `torch.Tensor`."""
    return getattr(func, "__objclass__", None) is Tensor
