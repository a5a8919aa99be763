"""`torch.accelerator`: whatever device there is beside the CPU: none."""

from torch._absent_devices import Absent

_absent = Absent("accelerator", "Cannot access accelerator device when none is available.")
globals().update(_absent.names())

current_device_index = current_device_idx = set_device_index = set_device_idx = _absent.refuse
device_index = device


def current_accelerator(check_available=False):
    """None."""
    return None
