"""Dirichlet's distribution."""

import torch
from torch.distributions import constraints
from torch.distributions.distribution import ParametricDistribution


class Dirichlet(ParametricDistribution):
    """Shares of one, in proportion to gamma numbers of shapes `concentration`."""

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration, validate_args=None):
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    mean = property(lambda self: self.concentration / self.concentration.sum(-1, True))

    @property
    def mode(self):
        above = (self.concentration - 1).clamp(min=0.0)
        mode = above / above.sum(-1, True)
        # Where no concentration is above one, all of it lies in a corner.
        corner = torch.nn.functional.one_hot(self.concentration.argmax(dim=-1), self.concentration.size(-1)).to(mode)
        return torch.where((self.concentration < 1).all(dim=-1, keepdim=True), corner, mode)

    @property
    def variance(self):
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape=torch.Size()):
        return torch._sample_dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        powers = torch.xlogy(self.concentration - 1.0, value).sum(-1)
        return powers + torch.lgamma(self.concentration.sum(-1)) - torch.lgamma(self.concentration).sum(-1)

    def entropy(self):
        a = self.concentration
        total, count = a.sum(-1), a.size(-1)
        log_beta = torch.lgamma(a).sum(-1) - torch.lgamma(total)
        return log_beta - (count - total) * torch.digamma(total) - ((a - 1.0) * torch.digamma(a)).sum(-1)
