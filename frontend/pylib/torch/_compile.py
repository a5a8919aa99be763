"""`torch.compile`: hands functions to the native compiler and wraps modules."""

from torch._C import _compiler

# Backends that the program registered under a name: see `torch._dynamo.register_backend`.
registered_backends = {}


def compile(model=None, *, fullgraph=False, dynamic=None, backend=None, mode=None, options=None, disable=False):
    """Compiles `model`, a function or an `nn.Module`; without it, returns the decorator that does.

    `backend` is the name of a backend, or a callable that is given a `torch.fx.GraphModule` and example inputs; None is the
    engine's default.  With `fullgraph` a break is an error.  `dynamic` says whether sizes are symbolic (True), fixed (False), or
    become symbolic once they have been seen to change (None).
    """
    if model is None:
        def decorate(model):
            if model is None:
                raise RuntimeError("Model can't be None")
            return compile(
                model, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode, options=options, disable=disable
            )

        return decorate
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")

    if isinstance(backend, str):
        backend = registered_backends.get(backend, backend)

    def native(target):
        return _compiler.compile(
            target, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode, options=options, disable=disable
        )

    from torch.nn.modules.module import Module

    if isinstance(model, Module):
        from torch._dynamo.eval_frame import OptimizedModule

        return OptimizedModule(model, native)
    if hasattr(model, "__code__"):
        return native(model)
    function = getattr(model, "__func__", None)
    if hasattr(function, "__code__"):
        return native(function).__get__(model.__self__, type(model.__self__))
    if not callable(model):
        raise TypeError(f"torch.compile expects a callable, got {type(model).__name__}")

    # A builtin, a partial or an instance with __call__ has no code of its own: compile a function that calls it.
    def call(*args, **kwargs):
        return model(*args, **kwargs)

    return native(call)
