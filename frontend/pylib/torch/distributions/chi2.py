"""The chi-squared distribution."""

import torch
from torch.distributions import constraints
from torch.distributions.gamma import Gamma


class Chi2(Gamma):
    """The sum of the squares of `df` standard normal variables."""

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df, validate_args=None):
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    df = property(lambda self: self.concentration * 2)

    def expand(self, batch_shape, _instance=None):
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made.concentration, made.rate = self.concentration.expand(batch_shape), self.rate.expand(batch_shape)
        made._batch_shape = torch.Size(batch_shape)
        return made
