"""Activation checkpointing: without a tape, nothing is kept, so the function is just called."""


def checkpoint(function, *args, use_reentrant=None, context_fn=None, determinism_check="default", debug=False, **kwargs):
    """`function(*args, **kwargs)`."""
    kwargs.pop("preserve_rng_state", None)
    return function(*args, **kwargs)


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    """Calls functions, or the modules of a Sequential, one after the other."""
    for function in functions:
        input = function(input)
    return input
