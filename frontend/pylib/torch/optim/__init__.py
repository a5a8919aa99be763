"""`torch.optim`: optimizers. Those that few programs use are loaded when they are named."""

from torch.optim import lr_scheduler
from torch.optim.adam import Adam, AdamW
from torch.optim.optimizer import Optimizer
from torch.optim.sgd import SGD

_LATER = {
    "ASGD": "asgd", "Adadelta": "adadelta", "Adafactor": "_adafactor", "Adagrad": "adagrad", "Adamax": "adamax",
    "LBFGS": "lbfgs", "Muon": "muon", "NAdam": "nadam", "RAdam": "radam", "RMSprop": "rmsprop", "Rprop": "rprop", "SparseAdam": "sparse_adam",
}

__all__ = ["Adam", "AdamW", "Optimizer", "SGD", "lr_scheduler", "swa_utils", *_LATER]


def __getattr__(name):
    import importlib

    file = _LATER.get(name)
    if file is not None:
        value = getattr(importlib.import_module("torch.optim." + file), name)
        globals()[name] = value
        return value
    if name == "swa_utils":
        return importlib.import_module("torch.optim.swa_utils")
    from torch import _C

    raise _C._missing("torch.optim", name, [*globals(), *_LATER])


def __dir__():
    return sorted([*globals(), *_LATER])
