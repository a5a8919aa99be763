"""`torch.types`: names for annotations."""

import os
from collections.abc import Sequence
from typing import IO, Union

from torch import _C, Size, SymInt, Tensor

_bool, _bytes, _complex, _float, _int, _str = bool, bytes, complex, float, int, str
_device, _dtype, _layout = _C.device, _C.dtype, _C.layout
_size = Size | list[int] | tuple[int, ...]
_TensorOrTensors = Tensor | Sequence[Tensor]
_TensorOrOptionalTensors = Tensor | Sequence[Tensor | None]
IntLikeType = int | SymInt
BoolLikeType, FloatLikeType = bool, float
py_sym_types = ()
Number = int | float | bool
_Number = (int, float, bool)
FileLike = Union[str, os.PathLike, IO[bytes]]
Device = _C.device | str | int | None


class Storage:
    """Stands for storage objects in annotations; storages are not objects of their own here."""
