"""`torch.fft`: the ops of the registry that belong to it."""

from torch._C._fft import *


def __getattr__(name):
    from torch._C import _fft

    return getattr(_fft, name)
