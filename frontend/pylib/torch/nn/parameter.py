"""Parameters and buffers: tensors that a module registers when they are assigned to it."""

import torch
from torch._C import Tensor
from torch._subclasses import _disabled_torch_function_impl


class Parameter(Tensor):
    """A tensor that is a parameter of the module it is assigned to."""

    __torch_function__ = _disabled_torch_function_impl

    def __new__(cls, data=None, requires_grad=True):
        if data is None:
            data = torch.empty(0)
        return Tensor._make_subclass(cls, data, requires_grad)

    def __deepcopy__(self, memo):
        known = memo.get(id(self))
        if known is not None:
            return known
        result = type(self)(self.data.clone(memory_format=torch.preserve_format), self.requires_grad)
        memo[id(self)] = result
        return result

    def __repr__(self):
        return "Parameter containing:\n" + super().__repr__()

    def __reduce_ex__(self, proto):
        return _rebuild_parameter, (self.data, self.requires_grad)


def _rebuild_parameter(data, requires_grad):
    return Parameter(data, requires_grad)


class Buffer:
    """Makes a tensor that is a buffer of the module it is assigned to; `persistent` ones are in the module's state dict."""

    def __new__(cls, data=None, *, persistent=True):
        if data is None:
            data = torch.empty(0)
        tensor = data.detach().requires_grad_(data.requires_grad)
        tensor._is_buffer = True
        tensor.persistent = persistent
        return tensor


class UninitializedParameter(Parameter):
    """A parameter whose shape is found when the module is first called: nothing can be asked of it but to materialize."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        data = torch.empty(0, device=device, dtype=dtype)
        return Tensor._make_subclass(cls, data, requires_grad)

    def materialize(self, shape, device=None, dtype=None):
        """Gives this tensor storage of `shape`; its class becomes that of an ordinary parameter or buffer."""
        self.data = torch.empty(shape, device=device, dtype=dtype or self.data.dtype)
        self.__class__ = self.cls_to_become

    @property
    def shape(self):
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` when "
            "trying to load an uninitialized parameter into an initialized one. Call `forward` to initialize the parameters "
            "before accessing their attributes."
        )

    def share_memory_(self):
        """Not possible without a shape."""
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters before "
            "calling `module.share_memory()`."
        )

    def __deepcopy__(self, memo):
        known = memo.get(id(self))
        if known is not None:
            return known
        result = type(self)(self.requires_grad, self.data.device, self.data.dtype)
        memo[id(self)] = result
        return result

    def __repr__(self):
        return f"<{type(self).__name__}>"


class UninitializedBuffer(Tensor):
    """A buffer whose shape is found when the module is first called."""

    cls_to_become = Tensor

    def __new__(cls, requires_grad=False, device=None, dtype=None, persistent=True):
        data = torch.empty(0, device=device, dtype=dtype)
        result = Tensor._make_subclass(cls, data, requires_grad)
        result.persistent = persistent
        result._is_buffer = True
        return result

    # Tensor must be the first base of both classes, so what they share can't be a base too.
    materialize = UninitializedParameter.materialize
    shape = UninitializedParameter.shape
    share_memory_ = UninitializedParameter.share_memory_
    __repr__ = UninitializedParameter.__repr__


def is_lazy(param):
    """Whether a parameter or buffer still waits for its shape."""
    return isinstance(param, (UninitializedParameter, UninitializedBuffer))
