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


export = script_method = script_if_tracing = _script_if_tracing = _overload = _overload_method = _identity


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


class RecursiveScriptModule(ScriptModule):
    """No module is ever of this class."""


class TracerWarning(Warning):
    """Never given: there is no tracer of this kind."""


Attribute = annotate


def trace(func, example_inputs=None, *args, **kwargs):
    """Not available: `torch.compile` traces."""
    raise RuntimeError("torch.jit.trace does not exist here; use torch.compile")


def trace_module(mod, inputs, *args, **kwargs):
    """Not available: `torch.compile` traces."""
    raise RuntimeError("torch.jit.trace_module does not exist here; use torch.compile")


def load(f, *args, **kwargs):
    """Not available: programs of TorchScript can't be run."""
    raise RuntimeError("torch.jit.load does not exist here: there is no TorchScript")


def save(m, f, *args, **kwargs):
    """Not available: there are no programs of TorchScript."""
    raise RuntimeError("torch.jit.save does not exist here: there is no TorchScript")


def freeze(mod, *args, **kwargs):
    """Returns `mod`."""
    return mod


def optimize_for_inference(mod, *args, **kwargs):
    """Returns `mod`."""
    return mod


def fork(func, *args, **kwargs):
    """Calls the function at once; `wait` gives its result."""
    return _Done(func(*args, **kwargs))


def wait(future):
    """The result of `fork`."""
    return future.wait()


class _Done:
    """What `fork` returns."""

    def __init__(self, value):
        self._value = value

    def wait(self):
        return self._value

    value = wait


def set_fusion_strategy(strategy):
    """Nothing to set: the strategy before, which is none."""
    return []


def __getattr__(name):
    if name == "annotations":
        import importlib

        return importlib.import_module("torch.jit.annotations")
    raise AttributeError(f"module 'torch.jit' has no attribute '{name}'")
