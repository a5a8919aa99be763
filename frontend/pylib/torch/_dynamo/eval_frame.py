"""Compiled modules, and the entry points of TorchDynamo from before `torch.compile`."""

import torch
from torch._C import _compiler
from torch.nn.modules.module import Module


class OptimizedModule(Module):
    """A module whose calls run compiled; all its state is that of the original, `_orig_mod`.

    Reading, writing and every method go to the original, so nothing has a prefix and `isinstance` answers for its class.
    """

    def __init__(self, mod, compile):
        # Past our own __setattr__, which writes to the original.
        attributes = self.__dict__
        attributes["_orig_mod"] = mod
        attributes["_compile"] = compile
        kind = type(mod)
        attributes["_compiled_call"] = compile(
            Module._call_impl if kind.__call__ is Module.__call__ else kind.__call__
        )

    def __call__(self, *args, **kwargs):
        return self._compiled_call(self._orig_mod, *args, **kwargs)

    @property
    def __class__(self):
        return type(self._orig_mod)

    def __getattr__(self, name):
        if name in ("_orig_mod", "_compile", "_compiled_call"):
            raise AttributeError(f"'OptimizedModule' object has no attribute '{name}'")
        return getattr(self._orig_mod, name)

    def __setattr__(self, name, value):
        setattr(self._orig_mod, name, value)

    def __delattr__(self, name):
        delattr(self._orig_mod, name)

    def __dir__(self):
        return sorted(set(dir(self._orig_mod)) | {"_orig_mod"})

    def __deepcopy__(self, memo):
        import copy

        return OptimizedModule(copy.deepcopy(self._orig_mod, memo), self._compile)

    def __copy__(self):
        return OptimizedModule(self._orig_mod, self._compile)

    def __repr__(self):
        return "OptimizedModule(\n  (_orig_mod): " + repr(self._orig_mod).replace("\n", "\n  ") + "\n)"


def _delegate(name):
    def method(self, *args, **kwargs):
        result = getattr(self._orig_mod, name)(*args, **kwargs)
        return self if result is self._orig_mod else result

    method.__name__ = name
    return method


# The methods that Module defines would be found before __getattr__ is asked; the original may have overridden any of them.
for _name in dir(Module):
    if not _name.startswith("__") and callable(getattr(Module, _name)):
        setattr(OptimizedModule, _name, _delegate(_name))
OptimizedModule.forward = OptimizedModule.__call__


class OptimizeContext:
    """What `optimize` returns: a decorator."""

    def __init__(self, backend, fullgraph, dynamic, disable):
        self.backend = backend
        self.fullgraph = fullgraph
        self.dynamic = dynamic
        self.disable = disable

    def __call__(self, fn):
        return torch.compile(
            fn, backend=self.backend, fullgraph=self.fullgraph, dynamic=self.dynamic, disable=self.disable
        )

    def __enter__(self):
        if torch._dynamo.config.raise_on_ctx_manager_usage:
            raise RuntimeError(
                "torch._dynamo.optimize(...) is used with a context manager. Please refer to "
                "https://pytorch.org/tutorials/intermediate/torch_compile_tutorial.html to use torch._dynamo.optimize(...) as "
                "an annotation/decorator. "
            )
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        return None


def optimize(backend="inductor", *, nopython=False, error_on_graph_break=None, guard_export_fn=None, guard_fail_fn=None,
             guard_filter_fn=None, disable=False, dynamic=None, package=None):
    """A decorator that compiles with these settings; `nopython` is `fullgraph`."""
    return OptimizeContext(backend, nopython, dynamic, disable)


def optimize_assert(backend, *, guard_export_fn=None, guard_fail_fn=None, guard_filter_fn=None, export=False, **settings):
    """`optimize` with `nopython`: a break is an error."""
    return OptimizeContext(backend, True, settings.get("dynamic"), False)


def explain(f, *extra_args, **extra_kwargs):
    """A function that runs `f` and tells what was compiled: see `torch._dynamo.explanation.ExplainOutput`."""
    if isinstance(f, Module):
        module = f

        def f(*args, **kwargs):
            return module(*args, **kwargs)

    inner = _compiler.explain(f)
    if extra_args or extra_kwargs:
        return inner(*extra_args, **extra_kwargs)
    return inner


def is_dynamo_supported():
    """True."""
    return True


def is_inductor_supported():
    """True: the default backend stands for Inductor."""
    return True
