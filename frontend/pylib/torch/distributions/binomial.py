"""The binomial distribution."""

import torch
from torch.distributions import constraints
from torch.distributions.bernoulli import OfProbability
from torch.distributions.utils import broadcast_all


class Binomial(OfProbability):
    """Successes in `total_count` tries."""

    arg_constraints = {"total_count": constraints.nonnegative_integer, **OfProbability.arg_constraints}
    has_enumerate_support = True

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        self._take(probs, logits)
        name = "logits" if probs is None else "probs"
        count, param = broadcast_all(total_count, self._param)
        self.total_count = count.type_as(param)
        setattr(self, name, param)
        super().__init__(param.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        return constraints.integer_interval(0, self.total_count)

    mean = property(lambda self: self.total_count * self.probs)
    mode = property(lambda self: ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count))
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))

    def sample(self, sample_shape=torch.Size()):
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        count, logits = self.total_count, self.logits
        ways = torch.lgamma(count + 1) - torch.lgamma(value + 1) - torch.lgamma(count - value + 1)
        # The log of 1 + exp(logits), without overflow.
        softplus = logits.clamp(min=0) + torch.log1p(torch.exp(-torch.abs(logits)))
        return value * logits + ways - count * softplus

    def entropy(self):
        most = int(self.total_count.max())
        if not self.total_count.min() == most:
            raise NotImplementedError("Inhomogeneous total count not supported by `entropy`.")
        logs = self.log_prob(self.enumerate_support(False))
        return -(torch.exp(logs) * logs).sum(0)

    def enumerate_support(self, expand=True):
        most = int(self.total_count.max())
        if not self.total_count.min() == most:
            raise NotImplementedError("Inhomogeneous total count not supported by `enumerate_support`.")
        values = torch.arange(1 + most, dtype=self._param.dtype, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + self._batch_shape) if expand else values
