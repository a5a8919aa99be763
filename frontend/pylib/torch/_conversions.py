"""Tensors from what programs hold otherwise: arrays, lists, memory."""

from torch import _C
from torch._C import Tensor


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False):
    """A tensor of `obj`: sharing memory with a tensor or an array where it can and `copy` doesn't say otherwise."""
    if isinstance(obj, Tensor):
        shared = obj
    elif type(obj).__module__.partition(".")[0] == "numpy" and hasattr(obj, "shape") and len(obj.shape) > 0:
        shared = _C.from_numpy(obj)
    elif isinstance(obj, (bytes, bytearray, memoryview)):
        shared = frombuffer(obj, dtype=dtype or _C.get_default_dtype())
    else:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        made = _C.tensor(obj, dtype=dtype, device=device)
        return made.requires_grad_() if requires_grad else made
    if dtype is not None and shared.dtype != dtype:
        if copy is False:
            raise ValueError(f"can't alias tensor with dtype '{_scalar(shared.dtype)}' into dtype '{_scalar(dtype)}'.")
        shared = shared.to(dtype)
    elif copy:
        shared = shared.clone()
    if requires_grad:
        return shared.detach().requires_grad_() if shared.grad_fn is not None else shared.requires_grad_()
    return shared.detach() if shared.requires_grad and not isinstance(obj, Tensor) else shared


def _scalar(dtype):
    """The name of a type in messages: `Float` for `torch.float32`."""
    return _C.empty(0, dtype=dtype).type().removeprefix("torch.").removesuffix("Tensor")


def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    """A vector of the elements in a buffer of bytes, copied: the memory of Python's objects can't be shared here."""
    itemsize = _C.empty(0, dtype=dtype).element_size()
    length = memoryview(buffer).nbytes
    if length == 0 or count == 0:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({length} bytes) minus 1")
    if count < 0:
        if (length - offset) % itemsize != 0:
            raise ValueError(
                f"buffer length ({length - offset} bytes) after offset ({offset} bytes) must be a multiple of element size ({itemsize})"
            )
        count = (length - offset) // itemsize
    if offset + count * itemsize > length:
        raise ValueError(
            f"requested buffer length ({count} * {itemsize} bytes) after offset ({offset} bytes) must not be greater than actual buffer "
            f"length ({length} bytes)"
        )
    found = _C._from_bytes(memoryview(buffer).cast("B")[offset : offset + count * itemsize], dtype)
    return found.requires_grad_() if requires_grad else found
