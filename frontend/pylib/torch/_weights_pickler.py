"""Pickles objects as PyTorch's checkpoints hold them: tensors by the storage they are views of, which is kept outside."""

import io
import pickle
from collections import OrderedDict

import torch
from torch.serialization import _STORAGE_NAMES


class _Global:
    """A name that the pickle refers to without this program having it."""

    def __init__(self, module, name):
        self.module, self.name = module, name

    def __call__(self):
        raise TypeError("stands for a name in a pickle")


_TENSOR = _Global("torch._utils", "_rebuild_tensor_v2")
_PARAMETER = _Global("torch._utils", "_rebuild_parameter")
_SIZE = _Global("torch", "Size")
_DEVICE = _Global("torch", "device")
_STORAGES = {dtype: _Global("torch", name) for dtype, name in _STORAGE_NAMES.items()}
_DTYPES = {dtype: _Global("torch", str(dtype).removeprefix("torch.")) for dtype in _STORAGE_NAMES}


class _StorageName:
    """Stands for a storage while its tensor is pickled."""

    def __init__(self, key, dtype, count):
        self.name = ("storage", _STORAGES[dtype], key, "cpu", count)


class _Pickler(pickle._Pickler):
    def __init__(self, file, protocol):
        super().__init__(file, protocol)
        self.storages = {}

    def persistent_id(self, obj):
        return obj.name if isinstance(obj, _StorageName) else None

    def save(self, obj, save_persistent_id=True):
        if isinstance(obj, torch.dtype):
            obj = _DTYPES[obj]
        if not isinstance(obj, _Global):
            return super().save(obj, save_persistent_id)
        known = self.memo.get(id(obj))
        if known is not None:
            self.write(self.get(known[0]))
            return
        self.write(pickle.GLOBAL + f"{obj.module}\n{obj.name}\n".encode())
        self.memoize(obj)

    def reducer_override(self, obj):
        if isinstance(obj, torch.Tensor):
            return self._tensor(obj)
        if isinstance(obj, torch.Size):
            return _SIZE, (tuple(obj),)
        if isinstance(obj, torch.device):
            return _DEVICE, (obj.type,)
        return NotImplemented

    def _tensor(self, tensor):
        if isinstance(tensor, torch.nn.Parameter):
            return _PARAMETER, (tensor.detach(), tensor.requires_grad, OrderedDict())
        if type(tensor) is not torch.Tensor:
            raise NotImplementedError(f"torch.save: objects of {type(tensor).__name__}, a subclass of Tensor, can't be saved here")
        storage = tensor.untyped_storage()
        if storage not in self.storages:
            self.storages[storage] = (str(len(self.storages)), tensor)
        key, first = self.storages[storage]
        if first.dtype != tensor.dtype:
            raise RuntimeError("Cannot save multiple tensors or storages that view the same data as different types")
        name = _StorageName(key, tensor.dtype, storage.nbytes() // tensor.element_size())
        requires_grad = tensor.requires_grad
        return _TENSOR, (name, tensor.storage_offset(), tuple(tensor.size()), tuple(tensor.stride()), requires_grad, OrderedDict())


def pickled(obj, protocol):
    """The pickle of `obj`, and the storages it names: pairs of a key and a tensor over the storage."""
    file = io.BytesIO()
    pickler = _Pickler(file, protocol)
    pickler.dump(obj)
    return file.getvalue(), list(pickler.storages.values())
