"""Tensors to and from safetensors files."""

import torch
from safetensors import SafetensorError, _check_device, _parse, safe_open
from torch import _C


def save(tensors, metadata=None):
    """The bytes of a file with these tensors."""
    _check_tensors(tensors)
    return _C._write_safetensors(tensors, metadata)


def save_file(tensors, filename, metadata=None):
    """Writes a file with these tensors."""
    data = save(tensors, metadata)
    with open(filename, "wb") as file:
        file.write(data)


def load(data):
    """The tensors in a file's bytes, by name."""
    return _parse(data)[0]


def load_file(filename, device="cpu"):
    """The tensors of a file, by name."""
    _check_device(device)
    with open(filename, "rb") as file:
        return load(file.read())


def save_model(model, filename, metadata=None, force_contiguous=True):
    """Writes a module's state; of names that stand for the same tensor the first by name is kept, the others become metadata."""
    kept, metadata, by_place = {}, dict(metadata or {}), {}
    state = model.state_dict()
    for name in sorted(state):
        tensor = state[name]
        place = (tensor.untyped_storage(), tensor.storage_offset(), tuple(tensor.shape), tuple(tensor.stride()))
        if place in by_place and tensor.numel():
            metadata[name] = by_place[place]
            continue
        by_place[place] = name
        kept[name] = tensor.contiguous() if force_contiguous else tensor
    save_file(kept, filename, metadata)


def load_model(model, filename, strict=True, device="cpu"):
    """Reads a module's state; answers with the names missing in the file and those the module has not."""
    state = load_file(filename, device)
    by_place = {}
    for name, tensor in model.state_dict().items():
        by_place.setdefault((tensor.untyped_storage(), tensor.storage_offset()), []).append(name)
    missing, unexpected = model.load_state_dict(state, strict=False)
    shared = {name for names in by_place.values() if any(other in state for other in names) for name in names}
    missing = [name for name in missing if name not in shared]
    if strict and (missing or unexpected):
        listed = "".join(f'\n    Missing key(s) in state_dict: "{name}"' for name in sorted(missing))
        listed += "".join(f'\n    Unexpected key(s) in state_dict: "{name}"' for name in sorted(unexpected))
        raise RuntimeError(f"Error(s) in loading state_dict for {model.__class__.__name__}:{listed}")
    return missing, unexpected


def _check_tensors(tensors):
    if not isinstance(tensors, dict):
        raise ValueError(f"Expected a dict of [str, torch.Tensor] but received {type(tensors)}")
    by_storage = {}
    for name, tensor in tensors.items():
        if not isinstance(tensor, torch.Tensor):
            raise ValueError(f"Key `{name}` is invalid, expected torch.Tensor but received {type(tensor)}")
        if not tensor.is_contiguous():
            raise ValueError(
                f"You are trying to save a non contiguous tensor: `{name}` which is not allowed. It either means you are trying to save "
                "tensors which are reference of each other in which case it's recommended to save only the full tensors, and reslice at "
                "load time, or simply call `.contiguous()` on your tensor to pack it before saving."
            )
        if tensor.numel():
            by_storage.setdefault(tensor.untyped_storage(), []).append(name)
    shared = [set(names) for names in by_storage.values() if len(names) > 1]
    if shared:
        raise RuntimeError(
            f"Some tensors share memory, this will lead to duplicate memory on disk and potential differences when loading them again: "
            f"{shared}. A potential way to correctly save your model is to use `save_model`."
        )
