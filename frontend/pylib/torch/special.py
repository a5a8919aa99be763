"""`torch.special`: the ops of the registry that belong to it."""

from torch._C._special import *


def __getattr__(name):
    from torch._C import _special

    return getattr(_special, name)
