"""`functional_call` where it was before `torch.func`."""

from torch.func import functional_call
