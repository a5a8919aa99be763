"""`torch.overrides`: questions about objects that act like tensors, and how functions ask them."""

from torch._C import Tensor, _disabled_torch_function_impl


def is_tensor_like(inp):
    """Whether `inp` is a tensor, or has a `__torch_function__` of its own."""
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def _overriding(relevant_args):
    """The classes of the arguments that answer functions themselves; a subclass goes before its bases."""
    from torch import _C

    classes = []
    if not _C._is_torch_function_enabled():
        return classes
    for argument in relevant_args:
        kind = type(argument)
        answer = getattr(kind, "__torch_function__", None)
        if kind is Tensor or kind in classes or answer is None or answer is _disabled_torch_function_impl:
            continue
        before = [place for place, known in enumerate(classes) if issubclass(kind, known)]
        classes.insert(before[0] if before else len(classes), kind)
    return classes


def has_torch_function(relevant_args):
    """Whether one of the arguments answers functions itself."""
    return bool(_overriding(relevant_args))


def has_torch_function_unary(tensor):
    """Whether `tensor` answers functions itself."""
    return has_torch_function((tensor,))


def has_torch_function_variadic(*arguments):
    """Whether one of the arguments answers functions itself."""
    return has_torch_function(arguments)


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    """What the arguments that answer themselves say to a call of `public_api`."""
    classes = _overriding(relevant_args)
    for kind in classes:
        answer = kind.__torch_function__(public_api, tuple(classes), args, kwargs)
        if answer is not NotImplemented:
            return answer
    name = f"{public_api.__module__}.{public_api.__name__}"
    asked = "".join(f"\n\n  - tensor subclass {kind}" for kind in classes)
    raise TypeError(f"Multiple dispatch failed for '{name}'; all __torch_function__ handlers returned NotImplemented:{asked}")


def is_tensor_method_or_property(func):
    """Whether `func` belongs to `torch.Tensor`."""
    return getattr(func, "__objclass__", None) is Tensor


def get_default_nowrap_functions():
    """The functions whose results keep their class: none is a function here."""
    return set()


def resolve_name(f):
    """The dotted name of a function."""
    if isinstance(f, str):
        return f
    return f"{getattr(f, '__module__', None) or 'torch'}.{f.__name__}"
