"""`torch.distributed`: there is one process; programs that ask are told so."""


def is_available():
    """False."""
    return False


def is_initialized():
    """False."""
    return False


def get_rank(group=None):
    """Zero."""
    return 0


def get_world_size(group=None):
    """One."""
    return 1


def init_process_group(*args, **kwargs):
    """Not available."""
    raise RuntimeError("torch.distributed is not available")


def destroy_process_group(group=None):
    """Does nothing."""


def barrier(*args, **kwargs):
    """Does nothing: there is nobody to wait for."""
