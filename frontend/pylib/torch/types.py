"""Names of types for annotations."""

from typing import Any, Sequence, Union

from torch._C import Size, Tensor, device as _device, dtype as _dtype, layout as _layout

Device = Union[_device, str, int, None]
Number = Union[int, float, bool]
FileLike = Any
Storage = Any
_bool, _bytes, _complex, _float, _int, _str = bool, bytes, complex, float, int, str
_Number = (int, float, bool)
_size = Union[Size, list[int], tuple[int, ...]]
_TensorOrTensors = Union[Tensor, Sequence[Tensor]]
BoolLikeType, FloatLikeType, IntLikeType = bool, float, int
py_sym_types = ()
