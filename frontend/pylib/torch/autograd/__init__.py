"""`torch.autograd`: gradient modes, and the entry points of the tape."""

from torch import _C
from torch.autograd import grad_mode
from torch.autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, inputs=None):
    """Accumulates the gradients of `tensors` into the leaves they were computed from."""
    tensors = (tensors,) if isinstance(tensors, _C.Tensor) else tuple(tensors)
    if grad_tensors is None:
        grad_tensors = (None,) * len(tensors)
    elif isinstance(grad_tensors, _C.Tensor):
        grad_tensors = (grad_tensors,)
    for tensor, grad in zip(tensors, grad_tensors):
        tensor.backward(grad, retain_graph=retain_graph, create_graph=create_graph, inputs=inputs)


def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, allow_unused=None, is_grads_batched=False,
         materialize_grads=False):
    """The gradients of `outputs` with respect to `inputs`."""
    raise RuntimeError("torch.autograd.grad needs the autograd tape, which this build does not have")


def __getattr__(name):
    if name == "Function":
        from torch.autograd.function import Function

        return Function
    if name in ("function", "profiler"):
        import importlib

        return importlib.import_module("torch.autograd." + name)
    raise AttributeError(f"module 'torch.autograd' has no attribute '{name}'")
