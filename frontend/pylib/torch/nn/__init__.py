"""`torch.nn`: modules, parameters, functions."""

from torch import _C
from torch.nn.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter
from torch.nn import functional, init, modules, parameter
from torch.nn.modules import *

# `torch.nn.modules.utils` came along; `torch.nn.utils` is another module, loaded when it is first named.
del utils


def __getattr__(name):
    if name in ("attention", "parallel", "quantized", "utils"):
        import importlib

        return importlib.import_module("torch.nn." + name)
    if name == "DataParallel":
        from torch.nn.parallel import DataParallel

        return DataParallel
    if name in modules._later_names():
        value = getattr(modules, name)
        globals()[name] = value
        return value
    raise _C._missing("torch.nn", name, list(globals()) + modules._later_names())


def __dir__():
    return sorted([*globals(), *modules._later_names()])
