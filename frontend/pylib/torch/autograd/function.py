"""`autograd.Function`: operations with a backward of their own.

Without a tape only the forward runs; what it returns requires a gradient where PyTorch's would, and asking for that gradient is
the error it is for every other operation.
"""

import torch
from torch._C import Tensor


class FunctionCtx:
    """What a forward keeps for its backward."""

    def __init__(self):
        self.saved_tensors = ()
        self.needs_input_grad = ()
        self.materialize_grads = True
        self._non_differentiable = ()

    def save_for_backward(self, *tensors):
        """Keeps tensors for the backward."""
        self.saved_tensors = tensors

    def save_for_forward(self, *tensors):
        """Keeps tensors for forward-mode differentiation."""

    def mark_dirty(self, *args):
        """Declares that the forward wrote into these inputs."""

    def mark_non_differentiable(self, *args):
        """Declares that these outputs have no gradient."""
        self._non_differentiable = args

    def set_materialize_grads(self, value):
        """Whether gradients that are missing are given to the backward as zeros."""
        self.materialize_grads = value


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

    @classmethod
    def apply(cls, *args, **kwargs):
        """Runs the operation."""
        ctx = FunctionCtx()
        ctx.needs_input_grad = tuple(isinstance(arg, Tensor) and arg.requires_grad for arg in args)
        tracked = torch.is_grad_enabled() and any(ctx.needs_input_grad)
        with torch.no_grad():
            if cls.setup_context is Function.setup_context:
                output = cls.forward(ctx, *args, **kwargs)
            else:
                output = cls.forward(*args, **kwargs)
                cls.setup_context(ctx, args, output)
        if tracked:
            for result in output if isinstance(output, tuple) else (output,):
                if isinstance(result, Tensor) and result.is_floating_point() and not _among(result, ctx._non_differentiable):
                    result.requires_grad_()
        return output


def _among(tensor, tensors):
    return any(other is tensor for other in tensors)


def once_differentiable(fn):
    """Returns `fn`."""
    return fn
