"""`torch.cuda`: there are no CUDA devices here; programs that ask are told so."""

from torch._absent_devices import Absent

_absent = Absent("cuda", "Torch not compiled with CUDA enabled")
globals().update(_absent.names())


def _make_type(name):
    """The type of a CUDA tensor: nothing is of it, and none can be made."""
    return type(name, (), {"__new__": lambda cls, *args, **kwargs: _absent.refuse(), "__module__": "torch.cuda"})


for _name in ("Byte", "Char", "Double", "Float", "Half", "BFloat16", "Int", "Long", "Short", "Bool"):
    globals()[_name + "Tensor"] = _make_type(_name + "Tensor")


class CUDAGraph:
    """A recorded run of a device: none can be made."""

    def __init__(self, keep_graph=False):
        _absent.refuse()


class graph:
    """Records a run of a device: there is none."""

    def __init__(self, cuda_graph, pool=None, stream=None, capture_error_mode="thread_local"):
        _absent.refuse()


def get_arch_list():
    """None."""
    return []


def can_device_access_peer(device, peer_device):
    """An error: there are no devices."""
    _absent.refuse()


def cudart():
    """Nothing: the run-time library of CUDA is not here."""
    return None


def __getattr__(name):
    if name in ("amp", "memory", "nvtx", "random"):
        import importlib

        return importlib.import_module("torch.cuda." + name)
    if name == "OutOfMemoryError":
        from torch import OutOfMemoryError

        return OutOfMemoryError
    raise AttributeError(f"module 'torch.cuda' has no attribute '{name}'")
