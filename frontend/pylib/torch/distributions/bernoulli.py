"""The Bernoulli distribution."""

import torch
from torch.distributions.distribution import Distribution, as_tensors
from torch.nn import functional as F


class Bernoulli(Distribution):
    """One with probability `probs`, which may be given by its logit, otherwise zero."""

    def __init__(self, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        if probs is not None:
            (self.probs,) = as_tensors(probs)
            eps = torch.finfo(self.probs.dtype).eps
            clamped = self.probs.clamp(min=eps, max=1 - eps)
            self.logits = torch.log(clamped) - torch.log1p(-clamped)
        else:
            (self.logits,) = as_tensors(logits)
            self.probs = torch.sigmoid(self.logits)
        super().__init__(self.probs.shape, validate_args=validate_args)
        self._check("probs", self.probs, (self.probs >= 0) & (self.probs <= 1), "Interval(lower_bound=0.0, upper_bound=1.0)")

    mean = property(lambda self: self.probs)
    variance = property(lambda self: self.probs * (1 - self.probs))

    def sample(self, sample_shape=torch.Size()):
        with torch.no_grad():
            return torch.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        logits, value = as_tensors(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self):
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def __repr__(self):
        return self._parameters_text(probs=self.probs)
