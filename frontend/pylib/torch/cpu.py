"""`torch.cpu`: the CPU as a device."""


def is_available():
    """True."""
    return True


def device_count():
    """One."""
    return 1


def current_device():
    """The name of the device."""
    return "cpu"


def synchronize(device=None):
    """Does nothing: operations are done when their call returns."""
