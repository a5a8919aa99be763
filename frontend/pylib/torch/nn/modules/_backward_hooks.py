"""Full backward hooks of a module: operations that pass its inputs and outputs on, and on the way back call the hooks."""

import torch
from torch._C import Tensor
from torch.autograd.function import Function


class _Passing(Function):
    """Gives out what it takes in; on the way back `on_backward(grads)` may replace the gradients by returning others."""

    @staticmethod
    def forward(ctx, on_backward, *tensors):
        ctx.on_backward = on_backward
        ctx.set_materialize_grads(False)
        return tensors

    @staticmethod
    def backward(ctx, *grads):
        replaced = ctx.on_backward(grads)
        return (None, *(grads if replaced is None else replaced))


class BackwardHooks:
    """The hooks of one call of a module, and the gradients that are known of it."""

    def __init__(self, module, hooks, pre_hooks):
        self.module = module
        self.hooks = hooks
        self.pre_hooks = pre_hooks
        self.grad_outputs = None
        self.input_count = -1
        self.output_count = -1
        # Where the tensors stand among the arguments, and among the results; None where nothing passes through here.
        self.input_places = None
        self.output_places = None
        # The shape, dtype and device of every tensor among the arguments, by its place.
        self.input_kinds = {}

    def wrap_inputs(self, args):
        """The arguments, through an operation that learns of their gradients."""
        wrapped, self.input_places = self._wrap(self._on_input_grads, args)
        if self.input_places is not None:
            self.input_kinds = {
                place: (arg.shape, arg.dtype, arg.device) for place, arg in enumerate(args) if isinstance(arg, Tensor)
            }
        self.input_count = len(args)
        return wrapped

    def wrap_outputs(self, result):
        """The result, through an operation that learns of its gradients."""
        single = not isinstance(result, tuple)
        results = (result,) if single else result
        wrapped, self.output_places = self._wrap(self._on_output_grads, results)
        self.output_count = len(results)
        return wrapped[0] if single else wrapped

    def _wrap(self, on_backward, values):
        places = [place for place, value in enumerate(values) if isinstance(value, Tensor) and value.requires_grad]
        if not places or not torch.is_grad_enabled():
            return values, None
        passed = _Passing.apply(on_backward, *[values[place] for place in places])
        wrapped = list(values)
        for place, tensor in zip(places, passed):
            wrapped[place] = tensor
        return tuple(wrapped), places

    def _on_output_grads(self, grads):
        outputs = _spread(grads, self.output_places, self.output_count)
        for hook in self.pre_hooks:
            replaced = hook(self.module, outputs)
            if replaced is not None:
                outputs = _checked(replaced, outputs, "Backward pre hook returned an invalid number of grad_output")
        self.grad_outputs = outputs
        if self.input_places is None and self.hooks:
            # Nothing will arrive at the inputs: the hooks are told now, with no gradients.
            nothing = (None,) * self.input_count
            for hook in self.hooks:
                answer = hook(self.module, nothing, outputs)
                if answer is not None and not (isinstance(answer, tuple) and all(grad is None for grad in answer)):
                    raise RuntimeError(
                        "Backward hook for Modules where no input requires gradient should always return None or None for all "
                        "gradients."
                    )
            self.grad_outputs = None
        return [outputs[place] for place in self.output_places]

    def _on_input_grads(self, grads):
        if self.grad_outputs is None:
            # The gradient came here by a way that doesn't lead through the outputs.
            return None
        inputs = list(_spread(grads, self.input_places, self.input_count))
        for place, (shape, dtype, device) in self.input_kinds.items():
            if inputs[place] is None:
                inputs[place] = torch.zeros(shape, dtype=dtype, device=device)
        inputs = tuple(inputs)
        for hook in self.hooks:
            replaced = hook(self.module, inputs, self.grad_outputs)
            if replaced is not None:
                inputs = _checked(replaced, inputs, "Backward hook returned an invalid number of grad_input")
        self.grad_outputs = None
        return [inputs[place] for place in self.input_places]


def _spread(grads, places, count):
    """Gradients at the places they belong to, None at the others."""
    spread = [None] * count
    for place, grad in zip(places, grads):
        spread[place] = grad
    return tuple(spread)


def _checked(replaced, grads, message):
    replaced = replaced if isinstance(replaced, tuple) else (replaced,)
    if len(replaced) != len(grads):
        raise RuntimeError(f"{message}, got {len(replaced)}, but expected {len(grads)}")
    return replaced
