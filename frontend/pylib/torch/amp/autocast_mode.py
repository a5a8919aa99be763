"""The module that PyTorch defines `autocast` in."""

from torch.amp import autocast, custom_bwd, custom_fwd, is_autocast_available
