# Files of numpy: what NumPy wrote is read, what is written is read again, damaged files are refused.
import io
import os

import numpy as np
import torch

here = os.path.dirname(os.path.abspath(__file__))


def path(name):
    return os.path.join(here, name)


def fails(name, call):
    try:
        call()
    except Exception as error:
        print(name, "-", type(error).__name__)
        return
    print(name, "- no error")


print(repr(np.load(path("array.npy"))), repr(np.load(path("fortran.npy"))), np.load(path("fortran.npy")).strides)
with np.load(path("arrays.npz")) as arrays:
    print(arrays.files, repr(arrays["a"]), repr(arrays["b"]), repr(arrays["c"]), "b" in arrays)
packed = np.load(path("packed.npz"))
print(packed["zeros"].shape, packed["ones"])
for array in (np.arange(6).reshape(2, 3), np.float32(1.5), np.array([True]), np.zeros((0, 2)), np.arange(6.0).reshape(2, 3).T, np.array([7, 65535], np.uint16)):
    file = io.BytesIO()
    np.save(file, array)
    back = np.load(io.BytesIO(file.getvalue()))
    print(repr(back), np.array_equal(back, array), back.dtype == array.dtype, len(file.getvalue()))
file = io.BytesIO()
np.savez(file, np.arange(2), named=np.ones(2))
print({name: array.tolist() for name, array in np.load(io.BytesIO(file.getvalue())).items()})
data = np.memmap(path("array.npy"), dtype=np.float32, mode="r", offset=128)
print(data, data[2:4].astype(np.int64), torch.from_numpy(data[1:3].astype(np.int64)), len(data))
fails("written memmap", lambda: data.__setitem__(0, 1))
print(np.fromfile(path("array.npy"), dtype=np.uint8, count=6).tobytes())
whole = open(path("array.npy"), "rb").read()
fails("cut", lambda: np.load(io.BytesIO(whole[:140])))
fails("empty", lambda: np.load(io.BytesIO(b"")))
fails("no array", lambda: np.load(io.BytesIO(b"\x80\x04N.")))
fails("missing", lambda: np.load(path("nothing.npy")))
