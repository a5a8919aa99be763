"""`torch.cuda`: there are no CUDA devices here; programs that ask are told so."""


def is_available():
    """False."""
    return False


def is_bf16_supported(including_emulation=True):
    """False."""
    return False


def is_initialized():
    """False."""
    return False


def device_count():
    """Zero."""
    return 0


def _missing():
    raise RuntimeError("Torch not compiled with CUDA enabled")


def current_device():
    """An error: there is none."""
    _missing()


def init():
    """An error: there is nothing to initialize."""
    _missing()


def get_device_name(device=None):
    """An error: there is none."""
    _missing()


def get_device_capability(device=None):
    """An error: there is none."""
    _missing()


def set_device(device):
    """An error: there is none."""
    _missing()


def synchronize(device=None):
    """An error: there is none."""
    _missing()


def empty_cache():
    """Does nothing."""


def manual_seed(seed):
    """Does nothing."""


def manual_seed_all(seed):
    """Does nothing."""


def memory_allocated(device=None):
    """Zero."""
    return 0


def max_memory_allocated(device=None):
    """Zero."""
    return 0


def reset_peak_memory_stats(device=None):
    """Does nothing."""


def __getattr__(name):
    if name == "amp":
        from torch.cuda import amp

        return amp
    raise AttributeError(f"module 'torch.cuda' has no attribute '{name}'")
