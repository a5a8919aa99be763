"""`autograd.Function`: operations with a backward of their own."""

import torch
from torch import _C
from torch._C import Tensor
from torch._C._compiler import disable


class FunctionCtx:
    """What a forward keeps for its backward."""

    def __init__(self):
        self.needs_input_grad = ()
        self.materialize_grads = True
        self._saved = None
        self._dirty = ()
        self._non_differentiable = ()

    def save_for_backward(self, *tensors):
        """Keeps tensors for the backward, which finds them as `ctx.saved_tensors`."""
        hooks = _C._saved_hooks()
        if hooks is None:
            self._saved = _C._SavedTensors(tensors)
        else:
            self._saved = _PackedTensors(hooks, tensors)

    def save_for_forward(self, *tensors):
        """Keeps tensors for forward-mode differentiation, which does not exist here."""

    @property
    def saved_tensors(self):
        """The tensors that were kept. An error where one was written to since, or where the graph was let go of."""
        return () if self._saved is None else self._saved.get()

    def mark_dirty(self, *args):
        """Declares that the forward wrote into these inputs."""
        self._dirty = args

    def mark_non_differentiable(self, *args):
        """Declares that these outputs have no gradient."""
        self._non_differentiable = args

    def set_materialize_grads(self, value):
        """Whether gradients that are missing are given to the backward as zeros."""
        self.materialize_grads = value


class _PackedTensors:
    """Tensors kept by the hooks that are in force."""

    def __init__(self, hooks, tensors):
        pack, self.unpack = hooks
        with torch.no_grad():
            self.packed = [None if tensor is None else (pack(tensor),) for tensor in tensors]

    def get(self):
        """The tensors again."""
        return tuple([None if packed is None else self.unpack(packed[0]) for packed in self.packed])


class Function:
    """An operation: subclasses define static methods `forward(ctx, ...)` and `backward(ctx, ...)`, and are used by `apply`."""

    @staticmethod
    def forward(*args, **kwargs):
        """The operation."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx, inputs, output):
        """Keeps what the backward needs, for a `forward` that takes no `ctx`."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        """The gradients of the inputs."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with backward "
            "mode AD."
        )

    vjp = backward

    @classmethod
    @disable
    def apply(cls, *args, **kwargs):
        """Runs the operation, and puts it on the tape where an argument requires grad."""
        ctx = FunctionCtx()
        ctx.needs_input_grad = tuple([isinstance(arg, Tensor) and arg.requires_grad for arg in args])
        tracked = torch.is_grad_enabled() and any(ctx.needs_input_grad)
        with torch.no_grad():
            if cls.setup_context is Function.setup_context:
                output = cls.forward(ctx, *args, **kwargs)
            else:
                output = cls.forward(*args, **kwargs)
                cls.setup_context(ctx, args, output)
        single = not isinstance(output, tuple)
        outputs = [output] if single else list(output)
        if not tracked:
            return output
        recorded = []
        for index, result in enumerate(outputs):
            if not isinstance(result, Tensor):
                continue
            # Asked of what the forward returned: an input that it hands on is replaced by a view below.
            differentiable = (result.is_floating_point() or result.is_complex()) and not _among(result, ctx._non_differentiable)
            if (result.requires_grad or _among(result, args)) and not _among(result, ctx._dirty):
                with torch.no_grad():
                    result = outputs[index] = result.view_as(result) if differentiable else result.detach()
            if differentiable:
                recorded.append(result)
        if recorded:
            order = [_position(result, recorded) for result in outputs]
            _C._record_function(cls.__name__ + "Backward", _Backward(cls, ctx, len(args), order, outputs), args, recorded, ctx._saved)
        return outputs[0] if single else tuple(outputs)


class _Backward:
    """Calls the backward of a function with a gradient for each of its outputs."""

    def __init__(self, function, ctx, inputs, order, outputs):
        self.function = function
        self.ctx = ctx
        self.inputs = inputs
        self.order = order
        self.kinds = [(output.shape, output.dtype) if isinstance(output, Tensor) else None for output in outputs]

    def __call__(self, grads):
        given = []
        for place, kind in zip(self.order, self.kinds):
            grad = None if place is None else grads[place]
            if grad is None and kind is not None and self.ctx.materialize_grads:
                shape, dtype = kind
                grad = torch.zeros(shape, dtype=dtype)
            given.append(grad)
        backward = self.function.backward
        if backward is Function.backward:
            backward = self.function.vjp
        answer = backward(self.ctx, *given)
        answers = answer if isinstance(answer, tuple) else (answer,)
        name = self.function.__name__ + "Backward"
        if len(answers) < self.inputs or any([extra is not None for extra in answers[self.inputs:]]):
            raise RuntimeError(
                f"function {name} returned an incorrect number of gradients (expected {self.inputs}, got {len(answers)})"
            )
        return answers


def _among(tensor, tensors):
    return any([other is tensor for other in tensors])


def _position(tensor, tensors):
    for index, other in enumerate(tensors):
        if other is tensor:
            return index
    return None


class NestedIOFunction(Function):
    """A function whose inputs and outputs may be nested."""


class InplaceFunction(Function):
    """A function that may write into its inputs."""

    def __init__(self, inplace=False):
        self.inplace = inplace


def once_differentiable(fn):
    """A backward that can't be differentiated itself: what it computes is off the tape."""

    def wrapper(ctx, *args):
        with torch.no_grad():
            return fn(ctx, *args)

    return wrapper
