"""Names for annotations: what arrays can be made from."""

from typing import Any, TypeAlias

from . import dtype, ndarray

ArrayLike: TypeAlias = Any
DTypeLike: TypeAlias = dtype | type | str | None
NDArray: TypeAlias = ndarray

__all__ = ["ArrayLike", "DTypeLike", "NDArray"]
