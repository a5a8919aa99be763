"""The module `torch._C._compiler` of a VM without an engine: everything runs plainly."""


def compile(target, *, fullgraph=False, dynamic=None, backend=None, mode=None, options=None, disable=False):
    return target


def disable(fn=None, recursive=True, *, reason=None):
    return fn if fn is not None else disable


def explain(fn):
    return fn


def reset():
    pass


def is_compiling():
    return False


def graph_break(msg=""):
    pass


def reveal(x):
    return x


def list_backends():
    return []


def settings_get(name):
    raise AttributeError("there is no setting %r without an engine" % name)


def settings_set(name, value):
    raise AttributeError("there is no setting %r without an engine" % name)


class CompiledFunction:
    """Nothing is an instance of this."""
