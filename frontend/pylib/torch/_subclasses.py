"""How subclasses of `Tensor` answer functions of `torch`: by default with objects of their own class."""

from torch import _C
from torch._C import Tensor, _set_torch_function_enabled
from torch._C._compiler import disable


class DisableTorchFunctionSubclass:
    """Runs a block in which no subclass is asked."""

    def __enter__(self):
        self.before = _set_torch_function_enabled(False)

    def __exit__(self, exc_type, exc_value, traceback):
        _set_torch_function_enabled(self.before)
        return False


class _Declining:
    """What a class has for `__torch_function__` that leaves functions of `torch` as they are."""

    def __call__(self, func, types, args=(), kwargs=None):
        with DisableTorchFunctionSubclass():
            return func(*args, **(kwargs or {}))


_disabled_torch_function_impl = _Declining()


@disable
def _answer(cls, func, types, args=(), kwargs=None):
    """The result of `func`, its tensors as objects of the class that is asked."""
    if not all(issubclass(cls, kind) for kind in types):
        return NotImplemented
    with DisableTorchFunctionSubclass():
        result = func(*args, **(kwargs or {}))
        return _of_class(result, cls)


def _of_class(result, cls):
    if cls is Tensor:
        return result
    if isinstance(result, Tensor) and not isinstance(result, cls):
        return result.as_subclass(cls)
    if isinstance(result, (tuple, list)):
        parts = [_of_class(part, cls) for part in result]
        # Results with names are made of a sequence, other named tuples of their fields.
        if hasattr(result, "_fields") and type(result).__module__ != "torch.return_types":
            return type(result)(*parts)
        return type(result)(parts)
    return result


Tensor.__torch_function__ = classmethod(_answer)
_C.DisableTorchFunctionSubclass = _C.DisableTorchFunction = DisableTorchFunctionSubclass
_C._disabled_torch_function_impl = _disabled_torch_function_impl
