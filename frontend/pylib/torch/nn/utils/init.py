"""Modules without their initial values."""

import inspect

import torch


def skip_init(module_cls, *args, **kwargs):
    """A module whose parameters have sizes and no values: for those that a checkpoint fills anyway."""
    if not issubclass(module_cls, torch.nn.Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    # There is no device without values here, so the module is built on a generator's state that is then put back.
    with torch.random.fork_rng():
        return module_cls(*args, **kwargs)
