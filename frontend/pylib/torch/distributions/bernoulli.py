"""The Bernoulli distribution."""

import torch
from torch.distributions import constraints
from torch.distributions.distribution import Distribution, as_tensors, either, lazy_parameter, logits_to_probs, probs_to_logits
from torch.nn import functional as F


class Binary(Distribution):
    """Distributions of one probability, which may be given by its logit."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}

    def __init__(self, probs=None, logits=None, validate_args=None):
        (given,) = as_tensors(either(probs, logits))
        self.__dict__["logits" if probs is None else "probs"] = given
        super().__init__(given.shape, validate_args=validate_args)

    @lazy_parameter
    def logits(self):
        """The log of the odds."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_parameter
    def probs(self):
        """The probability."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def param_shape(self):
        """The shape of the probability."""
        return self._batch_shape


class Bernoulli(Binary):
    """One with probability `probs`, which may be given by its logit, otherwise zero."""

    support = constraints.boolean
    has_enumerate_support = True

    mean = property(lambda self: self.probs)
    variance = property(lambda self: self.probs * (1 - self.probs))

    @property
    def mode(self):
        """The more probable value; NaN where neither is."""
        mode = (self.probs >= 0.5).to(self.probs)
        mode[self.probs == 0.5] = float("nan")
        return mode

    def sample(self, sample_shape=torch.Size()):
        with torch.no_grad():
            return torch.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        self._validate_sample(value)
        logits, value = as_tensors(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self):
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand=True):
        values = torch.arange(2, dtype=self.probs.dtype).view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + tuple(self._batch_shape)) if expand else values
