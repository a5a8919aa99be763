"""`torch.typename`: how error messages name the type of an object."""

from torch._C import Tensor


def typename(obj, /):
    """The type of `obj` as messages write it: `torch.FloatTensor`, `list`, `mymodule.Thing`."""
    if isinstance(obj, Tensor):
        return obj.type()
    owner = obj if isinstance(getattr(obj, "__module__", None), str) and hasattr(obj, "__qualname__") else type(obj)
    module = getattr(owner, "__module__", None)
    name = getattr(owner, "__qualname__", None) or type(obj).__name__
    if module and module not in ("builtins", "__builtin__"):
        return f"{module}.{name}"
    return name
