"""The tuples of sizes, where PyTorch has them."""

from torch.nn._sizes import (
    _list_with_default, _ntuple, _pair, _quadruple, _reverse_repeat_tuple, _single, _triple,
)
