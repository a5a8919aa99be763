"""What a program says about single functions and tensors."""

from torch._C import _compiler
from torch._C._compiler import disable, graph_break

# How the tracer treats functions that a program has named: id of the function -> (function, treatment).  Treatments are
# "leaf" (one call in the graph, not looked into), "forbidden" (a break) and "constant" (called once, its result kept).
treatments = {}


def _treat(fn, treatment):
    if isinstance(fn, (list, tuple)):
        return [_treat(one, treatment) for one in fn]
    if not callable(fn):
        raise AssertionError(f"{treatment} expects a callable")
    treatments[id(fn)] = (fn, treatment)
    return fn


def allow_in_graph(fn):
    """Lets `fn` stand in graphs as one call that tracing does not look into."""
    return _treat(fn, "leaf")


def disallow_in_graph(fn):
    """Breaks the graph where `fn` is called."""
    return _treat(fn, "forbidden")


forbid_in_graph = disallow_in_graph


def assume_constant_result(fn):
    """Declares that `fn` gives the same result at every call."""
    return _treat(fn, "constant")


def skip(fn=None):
    """Runs `fn` plainly; what it calls may be compiled again."""
    if fn is None:
        return skip
    return disable(fn, recursive=False)


def run(fn=None):
    """`fn`, without compiling anything new."""
    if fn is None:
        return run
    return disable(fn, recursive=False)


class set_stance:
    """Sets how compiled functions behave: "default", or "force_eager" to run them plainly."""

    _STANCES = ("default", "force_eager", "eager_on_recompile", "fail_on_recompile")

    def __init__(self, stance="default", *, skip_guard_eval_unsafe=False, force_backend=None):
        if stance not in self._STANCES:
            raise RuntimeError(f"invalid torch.compile stance '{stance}'")
        self.stance = stance
        self.prev = _compiler.settings_get("stance")
        _compiler.settings_set("stance", stance)

    def __enter__(self):
        _compiler.settings_set("stance", self.stance)

    def __exit__(self, exc_type, exc_value, traceback):
        _compiler.settings_set("stance", self.prev)

    def __call__(self, fn):
        from torch.utils._contextlib import context_decorator

        _compiler.settings_set("stance", self.prev)
        return context_decorator(lambda: set_stance(self.stance), fn)


def _mark(t, index, attribute):
    if index is None:
        index = range(t.dim())
    elif isinstance(index, int):
        index = (index,)
    marked = getattr(t, attribute, None)
    if marked is None:
        marked = set()
        setattr(t, attribute, marked)
    marked.update(index)


def mark_dynamic(t, index, *, hint_override=None, min=None, max=None, specialize_on=None):
    """Asks for a symbolic size at these dims of `t`; a size that turns out to be fixed is an error."""
    _mark(t, index, "_dynamo_dynamic_indices")


def maybe_mark_dynamic(t, index):
    """Asks for a symbolic size at these dims of `t`."""
    _mark(t, index, "_dynamo_weak_dynamic_indices")


def mark_static(t, index=None):
    """Asks for fixed sizes at these dims of `t`."""
    _mark(t, index, "_dynamo_static_indices")


def mark_static_address(t, guard=False):
    """Does nothing: compiled code never depends on addresses."""
