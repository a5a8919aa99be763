"""The negative binomial distribution."""

import torch
from torch.distributions import constraints
from torch.distributions.bernoulli import OfProbability
from torch.distributions.gamma import Gamma
from torch.distributions.utils import broadcast_all, lazy_property
from torch.nn import functional as F


class NegativeBinomial(OfProbability):
    """Successes before `total_count` failures."""

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(self, total_count, probs=None, logits=None, validate_args=None):
        self._take(probs, logits)
        name = "logits" if probs is None else "probs"
        count, param = broadcast_all(total_count, self._param)
        self.total_count = count.type_as(param)
        setattr(self, name, param)
        super().__init__(param.shape, validate_args=validate_args)

    mean = property(lambda self: self.total_count * torch.exp(self.logits))
    mode = property(lambda self: ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0))
    variance = property(lambda self: self.mean / torch.sigmoid(-self.logits))

    @lazy_property
    def _gamma(self):
        return Gamma(concentration=self.total_count, rate=torch.exp(-self.logits), validate_args=False)

    def sample(self, sample_shape=torch.Size()):
        with torch.no_grad():
            return torch.poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        unordered = self.total_count * F.logsigmoid(-self.logits) + value * F.logsigmoid(self.logits)
        together = -torch.lgamma(self.total_count + value) + torch.lgamma(1.0 + value) + torch.lgamma(self.total_count)
        # No failures to wait for: there is nothing to order.
        return unordered - together.masked_fill(self.total_count + value == 0.0, 0.0)
