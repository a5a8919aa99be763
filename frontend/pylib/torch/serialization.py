"""`torch.save` and `torch.load`: checkpoints in PyTorch's zip format.

A checkpoint is read as data (`_weights_unpickler`): nothing that a file says is executed, whatever `weights_only` is.
"""

import torch
from torch import _C

_STORAGE_NAMES = {
    torch.float32: "FloatStorage",
    torch.float64: "DoubleStorage",
    torch.float16: "HalfStorage",
    torch.bfloat16: "BFloat16Storage",
    torch.int64: "LongStorage",
    torch.int32: "IntStorage",
    torch.int16: "ShortStorage",
    torch.int8: "CharStorage",
    torch.uint8: "ByteStorage",
    torch.bool: "BoolStorage",
    torch.complex64: "ComplexFloatStorage",
    torch.complex128: "ComplexDoubleStorage",
}

# Classes that the program has declared safe to load, by module and name.
_safe = {}


def add_safe_globals(safe_globals):
    """Lets `torch.load` make objects of these classes; entries may be classes or pairs of a class and its full name."""
    for entry in safe_globals:
        kind, name = entry if isinstance(entry, tuple) else (entry, f"{entry.__module__}.{entry.__qualname__}")
        _safe[name] = kind


def get_safe_globals():
    """The classes declared safe."""
    return list(_safe.values())


def clear_safe_globals():
    """Declares no class safe any more."""
    _safe.clear()


class safe_globals:
    """Declares classes safe within a block."""

    def __init__(self, safe_globals):
        self.classes = safe_globals

    def __enter__(self):
        self.before = dict(_safe)
        add_safe_globals(self.classes)

    def __exit__(self, exc_type, exc_value, traceback):
        _safe.clear()
        _safe.update(self.before)


def save(obj, f, pickle_module=None, pickle_protocol=2, _use_new_zipfile_serialization=True, _disable_byteorder_record=False):
    """Writes `obj` to a path or a binary file.  Tensors that share memory do so again when they are loaded."""
    if not _use_new_zipfile_serialization:
        raise NotImplementedError("torch.save: the format before zip archives is not written here")
    from torch._weights_pickler import pickled

    if hasattr(f, "write"):
        _write(pickled(obj, pickle_protocol), f, "archive")
        return
    content = pickled(obj, pickle_protocol)
    import os

    name = os.path.basename(os.fspath(f))
    with open(f, "wb") as file:
        _write(content, file, name.rsplit(".", 1)[0] or "archive")


def _write(content, file, root):
    from torch._archive import Writer

    data, storages = content
    archive = Writer(file)
    archive.write(root + "/data.pkl", data)
    archive.write(root + "/.format_version", b"1")
    archive.write(root + "/.storage_alignment", b"64")
    archive.write(root + "/byteorder", b"little")
    for key, tensor in storages:
        archive.write(f"{root}/data/{key}", _C._storage_bytes(tensor))
    archive.write(root + "/version", b"3\n")
    archive.close()


def load(f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **pickle_load_args):
    """Reads a checkpoint from a path or a binary file.

    Only tensors, plain containers and classes given to `add_safe_globals` are read; with `weights_only=False` too, as no pickle
    is executed here.  `map_location` may be a device, its name, a mapping of device names, or a callable.
    """
    if hasattr(f, "read"):
        data = f.read()
    else:
        with open(f, "rb") as file:
            data = file.read()
    from pickle import UnpicklingError

    try:
        return _read(data, map_location)
    except UnpicklingError as error:
        raise UnpicklingError(f"Weights only load failed. {error}") from None


def _read(data, map_location):
    from torch._archive import Reader
    from torch._weights_unpickler import Storage, Unpickler, UnpicklingError

    if not data:
        raise EOFError("Ran out of input")
    if data[:4] != b"PK\x03\x04":
        raise UnpicklingError(
            "this file is no zip archive: it is damaged, or a checkpoint of the format before PyTorch 1.6, which is not read here "
            "(load it in PyTorch and save it again)"
        )
    archive = Reader(data)
    roots = [name[:-len("data.pkl")] for name in archive.names() if name.endswith("/data.pkl")]
    if len(roots) != 1:
        raise RuntimeError("this zip archive is no checkpoint: it has no record 'data.pkl'")
    root = roots[0]
    if root + "constants.pkl" in archive:
        raise RuntimeError("this is a TorchScript archive, which torch.jit.load would read; it is not supported here")
    if root + "byteorder" in archive and bytes(archive.read(root + "byteorder")) != b"little":
        raise RuntimeError("this checkpoint was written on a big-endian machine, which is not supported here")
    loaded = {}

    def storage_of(name):
        if not isinstance(name, tuple) or len(name) != 5 or name[0] != "storage":
            raise UnpicklingError(f"the pickle names an object that is no storage: {name!r}")
        _, dtype, key, location, count = name
        if not isinstance(dtype, torch.dtype) or not isinstance(key, str) or type(count) is not int:
            raise UnpicklingError(f"the pickle names a storage wrongly: {name!r}")
        if key not in loaded:
            content = archive.read(f"{root}data/{key}")
            if len(content) != count * dtype.itemsize:
                raise UnpicklingError(f"storage {key} has {len(content)} bytes, not {count} elements of {dtype}")
            loaded[key] = Storage(_C._from_bytes(content, dtype))
            _check_location(loaded[key], location, map_location)
        storage = loaded[key]
        if storage.tensor.dtype != dtype:
            return Storage(storage.tensor.view(dtype))
        return storage

    return Unpickler(archive.read(root + "data.pkl"), storage_of, _safe).load()


def _check_location(storage, location, map_location):
    """Refuses what can't be put where it should be: there is only the processor's memory."""
    if map_location is None:
        wanted = location
    elif isinstance(map_location, dict):
        wanted = map_location.get(location, location)
    elif isinstance(map_location, (str, torch.device)):
        wanted = map_location
    else:
        answer = map_location(storage.tensor.untyped_storage(), location)
        wanted = location if answer is None else "cpu"
    device = torch.device(wanted)
    if device.type == "cpu":
        return
    if device.type == "cuda":
        raise RuntimeError(
            "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you are running on a CPU-only "
            "machine, please use torch.load with map_location=torch.device('cpu') to map your storages to the CPU."
        )
    raise RuntimeError(f"the device '{device}' is not available: this engine has only 'cpu'; give map_location='cpu' to torch.load")
