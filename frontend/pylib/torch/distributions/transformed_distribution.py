"""Functions of samples."""

import torch
from torch.distributions.distribution import Distribution
from torch.distributions.independent import Independent, sum_rightmost
from torch.distributions.transforms import ComposeTransform, Transform


class TransformedDistribution(Distribution):
    """Samples of `base_distribution`, handed through functions."""

    arg_constraints = {}

    def __init__(self, base_distribution, transforms, validate_args=None):
        self.transforms = [transforms] if isinstance(transforms, Transform) else list(transforms)
        if not all(isinstance(transform, Transform) for transform in self.transforms):
            raise ValueError("transforms must be a Transform or a list of Transforms")
        whole = ComposeTransform(self.transforms)
        # Functions of vectors take the last dims of the batch for dims of one sample.
        lacking = whole.event_dim - len(base_distribution.event_shape)
        base = Independent(base_distribution, lacking) if lacking > 0 else base_distribution
        self.base_dist = base
        shape = whole.forward_shape(base.batch_shape + base.event_shape)
        event_dim = max(whole.event_dim, len(base.event_shape))
        super().__init__(shape[: len(shape) - event_dim], shape[len(shape) - event_dim :], validate_args=validate_args)

    has_rsample = property(lambda self: self.base_dist.has_rsample)

    @property
    def support(self):
        """Where the last function takes its values."""
        return self.transforms[-1].codomain if self.transforms else self.base_dist.support

    def sample(self, sample_shape=torch.Size()):
        with torch.no_grad():
            return self._through(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape=torch.Size()):
        return self._through(self.base_dist.rsample(sample_shape))

    def _through(self, value):
        for transform in self.transforms:
            value = transform(value)
        return value

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        event_dim = len(self._event_shape)
        total = 0.0
        y = value
        for transform in reversed(self.transforms):
            x = transform._inv_call(y)
            event_dim += transform.domain.event_dim - transform.codomain.event_dim
            total = total - sum_rightmost(transform.log_abs_det_jacobian(x, y), event_dim - transform.domain.event_dim)
            y = x
        return total + sum_rightmost(self.base_dist.log_prob(y), event_dim - len(self.base_dist.event_shape))

    def cdf(self, value):
        for transform in reversed(self.transforms):
            value = transform._inv_call(value)
        return self._turned(self.base_dist.cdf(value))

    def icdf(self, value):
        return self._through(self.base_dist.icdf(self._turned(value)))

    def _turned(self, value):
        """The probability of the other side, where the functions turn the order of numbers."""
        sign = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        return value if isinstance(sign, int) and sign == 1 else sign * (value - 0.5) + 0.5

    def expand(self, batch_shape, _instance=None):
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made.base_dist = self.base_dist.expand(batch_shape)
        made._batch_shape = torch.Size(batch_shape)
        return made

    def __repr__(self):
        return type(self).__name__ + "()"
