"""`torch.multiprocessing`: the names of `multiprocessing`, which starts no processes here."""

from multiprocessing import *
from multiprocessing import get_context


def set_sharing_strategy(new_strategy):
    """Does nothing: there is no process to share memory with."""


def get_sharing_strategy():
    """How memory would be shared."""
    return "file_descriptor"


def get_all_sharing_strategies():
    """The ways in which memory could be shared."""
    return {"file_descriptor", "file_system"}


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """An error: no process can be started."""
    raise OSError("this engine starts no processes")
