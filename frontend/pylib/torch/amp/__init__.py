"""`torch.amp`: automatic mixed precision.

Only contexts that change nothing are available: disabled ones, and those for devices that are not here.
"""

import torch
from torch.utils._contextlib import DecoratorContextManager


class autocast(DecoratorContextManager):
    """Runs a block in mixed precision; on the CPU that must be `enabled=False`."""

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.device = device_type
        self.fast_dtype = dtype
        self._cache_enabled = cache_enabled
        if device_type == "cuda" and enabled:
            import warnings

            warnings.warn("User provided device_type of 'cuda', but CUDA is not available. Disabling", stacklevel=2)
            enabled = False
        self._enabled = enabled

    def __enter__(self):
        if self._enabled:
            raise RuntimeError(f"autocast on '{self.device}' is not available; use enabled=False")
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        return False

    def clone(self):
        return autocast(self.device, self.fast_dtype, self._enabled, self._cache_enabled)


class GradScaler:
    """Scales losses for float16 gradients; disabled, since only devices that are not here need it."""

    def __init__(self, device="cuda", init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000,
                 enabled=True):
        self._enabled = False

    def scale(self, outputs):
        """`outputs`."""
        return outputs

    def unscale_(self, optimizer):
        """Does nothing."""

    def step(self, optimizer, *args, **kwargs):
        """Steps the optimizer."""
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale=None):
        """Does nothing."""

    def is_enabled(self):
        """False."""
        return False

    def get_scale(self):
        """One."""
        return 1.0

    def state_dict(self):
        """Empty."""
        return {}

    def load_state_dict(self, state_dict):
        """Does nothing."""


def is_autocast_available(device_type):
    """False."""
    return False


def is_autocast_enabled(device_type=None):
    """False."""
    return False


def is_autocast_cpu_enabled():
    """False."""
    return False


def is_autocast_cache_enabled():
    """Whether casts of weights would be kept: yes, though nothing is cast."""
    return True


def get_autocast_dtype(device_type):
    """The type that mixed precision would use on such a device."""
    return torch.bfloat16 if device_type == "cpu" else torch.float16


def get_autocast_cpu_dtype():
    """`get_autocast_dtype("cpu")`."""
    return torch.bfloat16


def get_autocast_gpu_dtype():
    """`get_autocast_dtype("cuda")`."""
    return torch.float16


def custom_fwd(fwd=None, *, device_type=None, cast_inputs=None):
    """Returns the function it decorates."""
    return (lambda fwd: fwd) if fwd is None else fwd


def custom_bwd(bwd=None, *, device_type=None):
    """Returns the function it decorates."""
    return (lambda bwd: bwd) if bwd is None else bwd
