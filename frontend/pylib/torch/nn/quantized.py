"""`torch.nn.quantized`: sums and products as modules, which models have where they could be quantized."""

import torch
from torch.nn.modules.linear import Identity
from torch.nn.modules.module import Module


class FloatFunctional(Module):
    """Sums, products and more of floats, each through a module that an observer can take the place of."""

    def __init__(self):
        super().__init__()
        self.activation_post_process = Identity()

    def forward(self, x):
        raise RuntimeError("FloatFunctional is not intended to use the 'forward'. Please use the underlying operation")

    def add(self, x, y):
        """x + y."""
        return self.activation_post_process(torch.add(x, y))

    def add_scalar(self, x, y):
        """x + y."""
        return torch.add(x, y)

    def mul(self, x, y):
        """x · y."""
        return self.activation_post_process(torch.mul(x, y))

    def mul_scalar(self, x, y):
        """x · y."""
        return torch.mul(x, y)

    def cat(self, x, dim=0):
        """The tensors of a list behind each other."""
        return self.activation_post_process(torch.cat(x, dim=dim))

    def add_relu(self, x, y):
        """max(x + y, 0)."""
        return self.activation_post_process(torch.nn.functional.relu(torch.add(x, y)))

    def matmul(self, x, y):
        """The matrix product."""
        return self.activation_post_process(torch.matmul(x, y))
