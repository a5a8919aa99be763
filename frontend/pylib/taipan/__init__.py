"""`taipan`: what PyTorch has no name for."""

from torch._C._compiler import reveal
