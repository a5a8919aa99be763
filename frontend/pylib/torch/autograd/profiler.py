"""The module that PyTorch defines the profiler's ranges in."""

from torch.profiler import profile, record_function
