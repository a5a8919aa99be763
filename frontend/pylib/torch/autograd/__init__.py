"""`torch.autograd`: gradient modes, and the entry points of the tape."""

from torch import _C
from torch._C._compiler import disable
from torch.autograd import grad_mode
from torch.autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled


def _tuple(tensors):
    return (tensors,) if isinstance(tensors, _C.TensorBase) else tuple(tensors)


def _first_gradients(outputs, grads):
    """The gradient each output starts with: as given, or one for an output of one element."""
    made = []
    for index, (output, grad) in enumerate(zip(outputs, grads)):
        if isinstance(grad, _C.TensorBase):
            if grad.shape != output.shape:
                raise RuntimeError(
                    f"Mismatch in shape: grad_output[{index}] has a shape of {grad.shape} and output[{index}] has a shape of "
                    f"{output.shape}."
                )
            made.append(grad)
        elif grad is None:
            if not output.requires_grad:
                raise RuntimeError(f"element {index} of tensors does not require grad and does not have a grad_fn")
            if output.numel() != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            if output.is_complex():
                raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {output.dtype}")
            made.append(_C.ones_like(output, memory_format=_C.preserve_format))
        else:
            raise TypeError("gradients can be either Tensors or None, but got " + type(grad).__name__)
    return tuple(made)


def _given_gradients(grads, count):
    if grads is None:
        return (None,) * count
    grads = _tuple(grads)
    if len(grads) != count:
        raise RuntimeError("got %d tensors and %d gradients" % (count, len(grads)))
    return grads


@disable
def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None):
    """Adds the gradients of `tensors` to those of the leaves they were computed from, or of `inputs` alone."""
    if grad_variables is not None:
        if grad_tensors is not None:
            raise RuntimeError("`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only use `grad_tensors`.")
        grad_tensors = grad_variables
    if inputs is not None:
        inputs = _tuple(inputs)
        if len(inputs) == 0:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    tensors = _tuple(tensors)
    grads = _first_gradients(tensors, _given_gradients(grad_tensors, len(tensors)))
    if retain_graph is None:
        retain_graph = create_graph
    _C._run_backward(tensors, grads, retain_graph, create_graph, inputs, True, True)


@disable
def grad(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, allow_unused=None, is_grads_batched=False,
         materialize_grads=False):
    """The gradients of `outputs` with respect to `inputs`, a tuple."""
    if is_grads_batched:
        raise NotImplementedError("torch.autograd.grad(is_grads_batched=True) is not available")
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False.")
    if allow_unused is None:
        allow_unused = materialize_grads
    outputs, inputs = _tuple(outputs), _tuple(inputs)
    grads = _first_gradients(outputs, _given_gradients(grad_outputs, len(outputs)))
    if retain_graph is None:
        retain_graph = create_graph
    found = _C._run_backward(outputs, grads, retain_graph, create_graph, inputs, allow_unused, False)
    if materialize_grads:
        found = tuple([_C.zeros_like(of) if one is None else one for one, of in zip(found, inputs)])
    return found


class _VariableKind(type):
    def __instancecheck__(cls, instance):
        return isinstance(instance, _C.TensorBase)


class Variable(metaclass=_VariableKind):
    """The older name of a tensor that gradients are recorded for: calling it gives such a tensor."""

    def __new__(cls, data=None, requires_grad=False, volatile=None):
        made = _C.empty(0) if data is None else data.detach()
        return made.requires_grad_(requires_grad)


def __getattr__(name):
    if name in ("Function", "gradcheck", "gradgradcheck"):
        import importlib

        module = importlib.import_module("torch.autograd.function" if name == "Function" else "torch.autograd.gradcheck")
        return getattr(module, name)
    if name in ("function", "profiler", "graph", "anomaly_mode", "functional"):
        import importlib

        return importlib.import_module("torch.autograd." + name)
    if name in ("set_detect_anomaly", "detect_anomaly"):
        import importlib

        return getattr(importlib.import_module("torch.autograd.anomaly_mode"), name)
    raise AttributeError(f"module 'torch.autograd' has no attribute '{name}'")
