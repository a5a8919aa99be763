"""Gradient modes: context managers and decorators that say whether operations are recorded for differentiation."""

from torch._C import (
    _set_grad_enabled,
    _set_inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
)
from torch.utils._contextlib import DecoratorContextManager, context_decorator


class _FixedMode(DecoratorContextManager):
    """A mode without settings: as a decorator it works with and without parentheses."""

    def __new__(cls, orig_func=None):
        if orig_func is None:
            return object.__new__(cls)
        return context_decorator(cls, orig_func)


class no_grad(_FixedMode):
    """Disables gradients."""

    def __enter__(self):
        self.prev = is_grad_enabled()
        _set_grad_enabled(False)

    def __exit__(self, exc_type, exc_value, traceback):
        _set_grad_enabled(self.prev)


class enable_grad(_FixedMode):
    """Enables gradients, also inside `no_grad`."""

    def __enter__(self):
        self.prev = is_grad_enabled()
        _set_grad_enabled(True)

    def __exit__(self, exc_type, exc_value, traceback):
        _set_grad_enabled(self.prev)


class set_grad_enabled(DecoratorContextManager):
    """Sets gradients on or off: at once when called as a function, for the block when used as a context manager."""

    def __init__(self, mode):
        self.prev = is_grad_enabled()
        self.mode = mode
        _set_grad_enabled(mode)

    def __call__(self, function):
        _set_grad_enabled(self.prev)
        return context_decorator(self.clone, function)

    def __enter__(self):
        _set_grad_enabled(self.mode)

    def __exit__(self, exc_type, exc_value, traceback):
        _set_grad_enabled(self.prev)

    def __str__(self):
        return f"{type(self).__module__}.{type(self).__name__}(mode={self.mode})"

    def __repr__(self):
        return str(self)

    def clone(self):
        return type(self)(self.mode)


class inference_mode(DecoratorContextManager):
    """Disables gradients, views' bookkeeping and version counters for what is made inside."""

    def __new__(cls, mode=True):
        if isinstance(mode, bool):
            return object.__new__(cls)
        return context_decorator(cls, mode)

    def __init__(self, mode=True):
        self.mode = mode

    def __enter__(self):
        self.prev = is_inference_mode_enabled()
        self.prev_grad = is_grad_enabled()
        _set_inference_mode(self.mode)
        if self.mode:
            _set_grad_enabled(False)

    def __exit__(self, exc_type, exc_value, traceback):
        _set_inference_mode(self.prev)
        _set_grad_enabled(self.prev_grad)

    def clone(self):
        return type(self)(self.mode)
