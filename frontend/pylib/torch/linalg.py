"""`torch.linalg`: the ops of the registry that belong to it."""

from torch._C._linalg import *


def __getattr__(name):
    from torch._C import _linalg

    return getattr(_linalg, name)
