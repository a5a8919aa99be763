"""`torch.mps`: there are no such devices here; programs that ask are told so."""

from torch._absent_devices import Absent

globals().update(Absent("mps", "Torch not compiled with MPS enabled").names())


def recommended_max_memory():
    """Zero."""
    return 0
