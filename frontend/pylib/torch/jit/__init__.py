"""`torch.jit`: the annotations of TorchScript, which mean nothing here, so code that carries them runs as it is."""

import builtins


def is_scripting():
    """False: nothing is ever scripted."""
    return False


def is_tracing():
    """False: this is about `torch.jit.trace`, which does not exist here."""
    return False


def _identity(fn=None, *args, **kwargs):
    return fn


export = script_method = script_if_tracing = _identity


def unused(fn):
    """Returns `fn`."""
    return fn


def ignore(drop=False, **kwargs):
    """Returns the function it decorates; works with and without arguments."""
    if callable(drop):
        return drop
    return _identity


def script(obj, *args, **kwargs):
    """Returns `obj` itself: compiling is `torch.compile`'s work."""
    return obj


def annotate(the_type, the_value):
    """Returns `the_value`."""
    return the_value


def isinstance(obj, target_type):
    """Whether `obj` is of `target_type`."""
    return builtins.isinstance(obj, target_type)


def interface(obj):
    """Returns `obj`."""
    return obj


class Final:
    """Stands where an annotation says that an attribute never changes."""

    def __class_getitem__(cls, item):
        return item


class _DisableScripting:
    def __enter__(self):
        return None

    def __exit__(self, exc_type, exc_value, traceback):
        return None


def _disable_scripting():
    return _DisableScripting()


class ScriptModule:
    """No module is ever of this class."""


class ScriptFunction:
    """No function is ever of this class."""


Attribute = annotate


def trace(func, example_inputs=None, *args, **kwargs):
    """Not available: `torch.compile` traces."""
    raise RuntimeError("torch.jit.trace does not exist here; use torch.compile")
