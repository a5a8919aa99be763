"""The Dirichlet distribution, and that of one of two shares."""

import torch
from torch.distributions import constraints
from torch.distributions.distribution import Distribution, as_tensors
from torch.distributions.gamma import refuse_gradient, standard_gamma


class Dirichlet(Distribution):
    """Shares of a whole."""

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration, validate_args=None):
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    @property
    def mean(self):
        """The concentrations, as shares."""
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self):
        """The shares of the highest density."""
        above = (self.concentration - 1).clamp(min=0.0)
        mode = above / above.sum(-1, True)
        below = (self.concentration < 1).all(dim=-1)
        mode[below] = torch.nn.functional.one_hot(mode[below].argmax(dim=-1), above.shape[-1]).to(mode)
        return mode

    @property
    def variance(self):
        """The variance of each share."""
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape=torch.Size()):
        refuse_gradient("Dirichlet", self.concentration)
        concentration = self.concentration.expand(self._extended_shape(sample_shape))
        drawn = standard_gamma(concentration.double())
        shares = (drawn / drawn.sum(-1, keepdim=True)).to(concentration.dtype)
        eps = torch.finfo(shares.dtype).eps
        return shares.clamp(min=torch.finfo(shares.dtype).tiny, max=1 - eps / 2)

    def log_prob(self, value):
        self._validate_sample(value)
        return (
            torch.xlogy(self.concentration - 1.0, value).sum(-1) + torch.lgamma(self.concentration.sum(-1))
            - torch.lgamma(self.concentration).sum(-1)
        )

    def entropy(self):
        size, total = self.concentration.size(-1), self.concentration.sum(-1)
        return (
            torch.lgamma(self.concentration).sum(-1) - torch.lgamma(total) - (size - total) * torch.digamma(total)
            - ((self.concentration - 1.0) * torch.digamma(self.concentration)).sum(-1)
        )
