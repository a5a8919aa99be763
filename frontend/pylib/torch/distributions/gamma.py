"""The gamma distribution, and that of sums of squares."""

import torch
from torch.distributions import constraints
from torch.distributions.distribution import Distribution, as_tensors


def standard_gamma(concentration):
    """One sample for each element, of rate one, as PyTorch draws them: element by element, in double precision.

    Gradients don't reach the concentration.
    """
    drawn = [_one(alpha) for alpha in concentration.detach().double().flatten().tolist()]
    return torch.tensor(drawn, dtype=torch.float64).to(concentration.dtype).reshape(concentration.shape)


def _one(alpha):
    """Rejection from a cube of a normal variable; below one, from the distribution above by a power of a uniform one."""
    import math

    if alpha == 0:
        return 0.0
    scale = 1.0
    if alpha < 1:
        scale = (1 - _uniform()) ** (1 / alpha)
        alpha += 1
    d = alpha - 1 / 3
    c = 1 / math.sqrt(9 * d)
    while True:
        x = _normal()
        y = 1 + c * x
        if y <= 0:
            continue
        v = y * y * y
        u = 1 - _uniform()
        square = x * x
        if u < 1 - 0.0331 * square * square or math.log(u) < 0.5 * square + d * (1 - v + math.log(v)):
            return scale * d * v


def _uniform():
    return torch.empty((), dtype=torch.float64).uniform_().item()


def _normal():
    return torch.empty((), dtype=torch.float64).normal_().item()


def refuse_gradient(name, *parameters):
    """Raises where a gradient of samples with respect to a concentration would be wanted: there is none here."""
    if torch.is_grad_enabled() and any(parameter.requires_grad for parameter in parameters):
        raise NotImplementedError(f"{name}.rsample() has no gradient with respect to its concentration here: use sample()")


class Gamma(Distribution):
    """Waiting times of `concentration` events that come `rate` times in a unit."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, concentration, rate, validate_args=None):
        self.concentration, self.rate = as_tensors(concentration, rate)
        super().__init__(self.concentration.shape, validate_args=validate_args)

    mean = property(lambda self: self.concentration / self.rate)
    mode = property(lambda self: ((self.concentration - 1) / self.rate).clamp(min=0))
    variance = property(lambda self: self.concentration / self.rate.pow(2))

    def rsample(self, sample_shape=torch.Size()):
        refuse_gradient("Gamma", self.concentration)
        shape = self._extended_shape(sample_shape)
        drawn = standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        return drawn.clamp(min=torch.finfo(drawn.dtype).tiny)

    def log_prob(self, value):
        value = torch.as_tensor(value, dtype=self.rate.dtype)
        self._validate_sample(value)
        return (
            torch.xlogy(self.concentration, self.rate) + torch.xlogy(self.concentration - 1, value) - self.rate * value
            - torch.lgamma(self.concentration)
        )

    def cdf(self, value):
        self._validate_sample(value)
        return torch.special.gammainc(self.concentration, self.rate * value)

    def entropy(self):
        return (
            self.concentration - torch.log(self.rate) + torch.lgamma(self.concentration)
            + (1.0 - self.concentration) * torch.digamma(self.concentration)
        )
