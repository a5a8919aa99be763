"""Names of backends: those of the engine, and those that a program registers."""

from torch import _compile
from torch._C import _compiler


def register_backend(compiler_fn=None, name=None, tags=()):
    """Makes a Python callable known as a backend, under `name` or the name it has; also a decorator."""
    if compiler_fn is None:
        return lambda compiler_fn: register_backend(compiler_fn, name, tags)
    name = name or compiler_fn.__name__
    if name in _compile.registered_backends:
        raise AssertionError(f"duplicate name: {name}")
    _compile.registered_backends[name] = compiler_fn
    return compiler_fn


def list_backends(exclude_tags=("debug", "experimental")):
    """The names of all backends."""
    return sorted(set(_compiler.list_backends()) | set(_compile.registered_backends))


def lookup_backend(compiler_fn):
    """The callable `(graph_module, example_inputs) -> callable` of a name; callables are returned as they are."""
    if not isinstance(compiler_fn, str):
        return compiler_fn
    registered = _compile.registered_backends.get(compiler_fn)
    if registered is not None:
        return registered
    if compiler_fn not in list_backends():
        from torch._dynamo.exc import InvalidBackend

        raise InvalidBackend(name=compiler_fn)
    return run_graph


def run_graph(gm, example_inputs):
    """Runs the graph as the engine does: what every backend of the engine's own looks like from Python."""
    return gm.forward
