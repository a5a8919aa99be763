"""`torch.cuda.amp`: the older names of `torch.amp`."""

from torch.amp import GradScaler, custom_bwd, custom_fwd


def autocast(enabled=True, dtype=None, cache_enabled=True):
    """`torch.amp.autocast` for CUDA, which is not here, so it changes nothing."""
    from torch import amp

    return amp.autocast("cuda", dtype=dtype, enabled=enabled, cache_enabled=cache_enabled)
