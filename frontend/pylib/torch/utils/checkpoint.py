"""Activation checkpointing: what the backward needs of a function is computed again instead of kept."""

import torch
from torch._C._compiler import disable
from torch.autograd.graph import saved_tensors_hooks


class CheckpointError(RuntimeError):
    """The second run of a function did not do what the first did."""


def get_device_states(*args):
    """The random states of the devices other than the CPU on which the arguments are: there are none."""
    return [], []


def set_device_states(devices, states, *, device_type=None):
    """Restores what `get_device_states` gave."""


class _Enough(Exception):
    """Raised inside the second run when everything that was kept in the first has been seen."""


class _Replay:
    """One checkpointed call: counts what its first run keeps, and runs the function again for it."""

    def __init__(self, function, args, kwargs, preserve_rng_state):
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.rng_state = torch.get_rng_state() if preserve_rng_state else None
        self.kept = []
        self.found = {}

    def pack(self, tensor):
        """Keeps the number of a tensor, and its kind for a check."""
        self.kept.append((tensor.shape, tensor.dtype))
        return len(self.kept) - 1

    def unpack(self, index):
        """The tensor of that number."""
        if index not in self.found:
            self.run_again()
        if index not in self.found:
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and recomputation.\n"
                f"Number of tensors saved during forward: {len(self.kept)}\nNumber of tensors saved during recomputation: {len(self.found)}"
            )
        return self.found.pop(index)

    def run_again(self):
        """Runs the function once more, as far as something was kept."""
        found = []

        def pack(tensor):
            shape, dtype = self.kept[len(found)] if len(found) < len(self.kept) else (None, None)
            if shape is not None and (tensor.shape != shape or tensor.dtype != dtype):
                raise CheckpointError(
                    "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during the forward "
                    f"pass.\ntensor at position {len(found)}:\nsaved metadata: {{'shape': {shape}, 'dtype': {dtype}}}\n"
                    f"recomputed metadata: {{'shape': {tensor.shape}, 'dtype': {tensor.dtype}}}"
                )
            found.append(tensor.detach())
            if len(found) == len(self.kept):
                raise _Enough
            return tensor.detach()

        rng_state = None
        if self.rng_state is not None:
            rng_state = torch.get_rng_state()
            torch.set_rng_state(self.rng_state)
        try:
            with torch.enable_grad(), saved_tensors_hooks(pack, lambda tensor: tensor):
                self.function(*self.args, **self.kwargs)
        except _Enough:
            pass
        finally:
            if rng_state is not None:
                torch.set_rng_state(rng_state)
        self.found = dict(enumerate(found))


class CheckpointFunction(torch.autograd.Function):
    """The older form: the function is run again with inputs of its own, and differentiated inside the backward."""

    @staticmethod
    def forward(ctx, function, preserve_rng_state, *args):
        ctx.function = function
        ctx.rng_state = torch.get_rng_state() if preserve_rng_state else None
        ctx.args = args
        ctx.places = [index for index, arg in enumerate(args) if isinstance(arg, torch.Tensor)]
        ctx.save_for_backward(*[args[index] for index in ctx.places])
        with torch.no_grad():
            return function(*args)

    @staticmethod
    def backward(ctx, *grads):
        args = list(ctx.args)
        for index, tensor in zip(ctx.places, ctx.saved_tensors):
            copy = tensor.detach()
            copy.requires_grad = tensor.requires_grad
            args[index] = copy
        rng_state = None
        if ctx.rng_state is not None:
            rng_state = torch.get_rng_state()
            torch.set_rng_state(ctx.rng_state)
        try:
            with torch.enable_grad():
                outputs = ctx.function(*args)
        finally:
            if rng_state is not None:
                torch.set_rng_state(rng_state)
        if isinstance(outputs, torch.Tensor):
            outputs = (outputs,)
        pairs = [(out, grad) for out, grad in zip(outputs, grads) if isinstance(out, torch.Tensor) and out.requires_grad]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        torch.autograd.backward([out for out, _ in pairs], [grad for _, grad in pairs])
        return (None, None) + tuple([arg.grad if isinstance(arg, torch.Tensor) else None for arg in args])


@disable
def checkpoint(function, *args, use_reentrant=None, context_fn=None, determinism_check="default", debug=False, early_stop=True, **kwargs):
    """`function(*args, **kwargs)`, of which nothing is kept for the backward but the arguments."""
    preserve_rng_state = kwargs.pop("preserve_rng_state", True)
    if not torch.is_grad_enabled():
        return function(*args, **kwargs)
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        return CheckpointFunction.apply(function, preserve_rng_state, *args)
    replay = _Replay(function, args, kwargs, preserve_rng_state)
    with saved_tensors_hooks(replay.pack, replay.unpack):
        return function(*args, **kwargs)


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    """Calls functions, or the modules of a Sequential, one after the other; all segments but the last are checkpointed."""
    preserve = kwargs.pop("preserve_rng_state", True)
    functions = list(functions.children()) if isinstance(functions, torch.nn.Sequential) else list(functions)

    def run(start, end):
        def forward(input):
            for function in functions[start:end]:
                input = function(input)
            return input

        return forward

    size = len(functions) // segments
    start = 0
    for _ in range(segments - 1):
        input = checkpoint(run(start, start + size), input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
        start += size
    return run(start, len(functions))(input)
