"""`torch.linalg`: the ops of the registry that belong to it."""

from torch._C._linalg import *


def __getattr__(name):
    from torch._C import _linalg

    if name == "householder_product":
        from torch._householder import householder_product

        return householder_product

    return getattr(_linalg, name)
