"""The chi-squared distribution."""

from torch.distributions import constraints
from torch.distributions.gamma import Gamma


class Chi2(Gamma):
    """The sum of the squares of `df` normal numbers."""

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df, validate_args=None):
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    def _expand_rest(self, new, batch_shape):
        new.concentration, new.rate = self.concentration.expand(batch_shape), self.rate.expand(batch_shape)

    df = property(lambda self: self.concentration * 2)
