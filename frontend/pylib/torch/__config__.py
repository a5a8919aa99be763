"""`torch.__config__`: how this `torch` was built, for programs that print it."""

from torch.version import __version__


def show():
    """A text about the build."""
    return f"Taipan's torch {__version__}, with kernels of its own"


def parallel_info():
    """A text about threads."""
    from torch import _C

    return f"threads: {_C.get_num_threads()}"
