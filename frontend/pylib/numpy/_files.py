"""Arrays to and from bytes and files: `.npy`, `.npz`, raw."""

import torch
from numpy._array import asarray, over
from numpy._dtypes import _dtype
from torch import _C

_MAGIC = b"\x93NUMPY"


def bytes_of(a):
    """The elements' bytes in row-major order."""
    tensor = a._t
    if a.dtype._modulus:
        # The low halves of the wider integers that stand for them.
        narrow = torch.int16 if a.dtype.itemsize == 2 else torch.int32
        tensor = torch.where(tensor >= a.dtype._modulus // 2, tensor - a.dtype._modulus, tensor).to(narrow)
    return _C._tensor_bytes(tensor)


def frombuffer(buffer, dtype=float, count=-1, offset=0):
    """The elements in these bytes, copied; the array can't be written."""
    described = _dtype(dtype)
    data = memoryview(buffer).cast("B")[offset:]
    if count >= 0:
        if len(data) < count * described.itemsize:
            raise ValueError("buffer is smaller than requested size")
        data = data[:count * described.itemsize]
    elif len(data) % described.itemsize:
        raise ValueError("buffer size must be a multiple of element size")
    return over(_elements(data, described), described, False)


def _elements(data, described):
    if described._modulus:
        narrow = torch.int16 if described.itemsize == 2 else torch.int32
        return _C._from_bytes(data, narrow).to(described._torch) % described._modulus
    return _C._from_bytes(data, described._torch)


def fromfile(file, dtype=float, count=-1, sep="", offset=0):
    """The elements in a file's bytes."""
    if sep:
        raise NotImplementedError("Taipan's numpy reads binary files only")
    data = _read(file)[offset:]
    described = _dtype(dtype)
    whole = len(data) // described.itemsize
    return frombuffer(data[:whole * described.itemsize], described, -1 if count < 0 else min(count, whole)).copy()


def memmap(filename, dtype="uint8", mode="r+", offset=0, shape=None, order="C"):
    """The elements in a file's bytes.  The file is read once and not mapped, so only `mode="r"` and `"c"` are there."""
    if mode not in ("r", "c", "readonly", "copyonwrite"):
        raise NotImplementedError(f"Taipan's numpy maps files for reading only (mode 'r' or 'c'), not {mode!r}")
    described = _dtype(dtype)
    data = _read(filename)[offset:]
    if shape is not None:
        count = 1
        for size in shape if isinstance(shape, tuple) else (shape,):
            count *= size
        data = data[:count * described.itemsize]
    result = frombuffer(data, described)
    result = result if shape is None else result.reshape(shape)
    return result.copy() if mode in ("c", "copyonwrite") else result


def _read(file):
    if hasattr(file, "read"):
        return file.read()
    with open(file, "rb") as opened:
        return opened.read()


def _parse(data):
    """The array in the bytes of an `.npy` file."""
    if bytes(data[:6]) != _MAGIC:
        raise ValueError("this is no .npy file: its first bytes are wrong")
    major = data[6]
    length_size = 2 if major == 1 else 4
    start = 8 + length_size
    length = int.from_bytes(bytes(data[8:start]), "little")
    header = str(bytes(data[start:start + length]), "latin1")
    if len(header) != length:
        raise ValueError("this .npy file ends within its header")
    descr = _after(header, "'descr':")
    if descr[:1] != "'":
        raise ValueError("Taipan's numpy reads no structured arrays")
    descr = descr[1:].partition("'")[0]
    if "O" in descr:
        raise ValueError("Object arrays cannot be loaded when allow_pickle=False; Taipan's numpy never reads them")
    if descr[:1] == ">":
        raise ValueError("Taipan's numpy reads no big-endian arrays")
    described = _dtype(descr)
    shape = _after(header, "'shape':")
    sizes = [int(size) for size in shape.partition("(")[2].partition(")")[0].split(",") if size.strip()]
    count = 1
    for size in sizes:
        count *= size
    content = data[start + length:]
    if len(content) < count * described.itemsize:
        raise ValueError(f"cannot reshape array of size {len(content) // described.itemsize} into shape {tuple(sizes)}: the file is cut short")
    tensor = _elements(content[:count * described.itemsize], described)
    if _after(header, "'fortran_order':").startswith("True"):
        return over(tensor.reshape(sizes[::-1]).permute(*reversed(range(len(sizes)))), described)
    return over(tensor.reshape(sizes), described)


def _after(header, key):
    _, found, rest = header.partition(key)
    if not found:
        raise ValueError(f"the header of this .npy file has no {key.strip(':')}")
    return rest.strip()


class NpzFile:
    """The arrays of an `.npz` file by name, read when they are asked for."""

    def __init__(self, data):
        from torch._archive import Reader

        self._archive = Reader(data)
        self.files = [name.removesuffix(".npy") for name in self._archive.names()]

    def __getitem__(self, name):
        for record in (name, name + ".npy"):
            if record in self._archive:
                return _parse(self._archive.read(record))
        raise KeyError(f"{name} is not a file in the archive")

    def __contains__(self, name):
        return name in self.files

    def __iter__(self):
        return iter(self.files)

    def __len__(self):
        return len(self.files)

    def keys(self):
        """The names."""
        return list(self.files)

    def items(self):
        """Names and arrays."""
        return [(name, self[name]) for name in self.files]

    def values(self):
        """The arrays."""
        return [self[name] for name in self.files]

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.close()

    def close(self):
        """Nothing is left open."""


def load(file, mmap_mode=None, allow_pickle=False, fix_imports=True, encoding="ASCII"):
    """The array of an `.npy` file, or the arrays of an `.npz` file."""
    data = _read(file)
    if data[:4] == b"PK\x03\x04":
        return NpzFile(data)
    if not data:
        raise EOFError("No data left in file")
    if data[:6] != _MAGIC:
        raise ValueError("Cannot load file containing pickled data when allow_pickle=False; Taipan's numpy never reads it")
    return _parse(memoryview(data))


def _packed(a):
    a = asarray(a)
    header = f"{{'descr': '{a.dtype.str}', 'fortran_order': False, 'shape': {a.shape}, }}"
    padding = -(10 + len(header) + 1) % 64
    header = (header + " " * padding + "\n").encode()
    return _MAGIC + b"\x01\x00" + len(header).to_bytes(2, "little") + header + bytes_of(a)


def save(file, arr, allow_pickle=True):
    """Writes an `.npy` file."""
    if hasattr(file, "write"):
        file.write(_packed(arr))
        return
    import os

    name = os.fspath(file)
    with open(name if name.endswith(".npy") else name + ".npy", "wb") as opened:
        opened.write(_packed(arr))


def savez(file, *args, **kwds):
    """Writes an `.npz` file of several arrays."""
    named = kwds | {f"arr_{place}": value for place, value in enumerate(args)}
    if hasattr(file, "write"):
        _write_all(file, named)
        return
    import os

    name = os.fspath(file)
    with open(name if name.endswith(".npz") else name + ".npz", "wb") as opened:
        _write_all(opened, named)


def _write_all(file, named):
    from torch._archive import Writer

    archive = Writer(file)
    for name, value in named.items():
        archive.write(name + ".npy", _packed(value))
    archive.close()
