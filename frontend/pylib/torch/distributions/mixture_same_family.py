"""Mixtures of distributions of one kind."""

import torch
from torch.distributions.categorical import Categorical
from torch.distributions.distribution import Distribution


class MixtureSameFamily(Distribution):
    """Draws one of the components, which are the last dim of the batch of one distribution, and then from it."""

    arg_constraints = {}

    def __init__(self, mixture_distribution, component_distribution, validate_args=None):
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution need to be an instance of torch.distributions.Distribution")
        batch = component_distribution.batch_shape
        for one, other in zip(reversed(mixture_distribution.batch_shape), reversed(batch[:-1])):
            if one != 1 and other != 1 and one != other:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({mixture_distribution.batch_shape}) is not compatible with "
                    f"`component_distribution.batch_shape`({batch[:-1]})"
                )
        count = mixture_distribution.logits.shape[-1]
        if count != batch[-1]:
            raise ValueError(
                f"`mixture_distribution component` ({count}) does not equal `component_distribution.batch_shape[-1]` ({batch[-1]})"
            )
        self._mixture_distribution, self._component_distribution = mixture_distribution, component_distribution
        self._event_dims = len(component_distribution.event_shape)
        super().__init__(component_distribution.batch_shape[:-1], component_distribution.event_shape, validate_args=validate_args)

    mixture_distribution = property(lambda self: self._mixture_distribution)
    component_distribution = property(lambda self: self._component_distribution)
    support = property(lambda self: self._component_distribution.support)

    def _probs(self):
        probs = self._mixture_distribution.probs
        return probs.reshape(probs.shape + (1,) * self._event_dims)

    @property
    def mean(self):
        """The mean of the components' means."""
        return torch.sum(self._probs() * self._component_distribution.mean, dim=-1 - self._event_dims)

    @property
    def variance(self):
        """The mean of the components' variances, and the variance of their means."""
        probs, dim = self._probs(), -1 - self._event_dims
        inner = torch.sum(probs * self._component_distribution.variance, dim=dim)
        means = self._component_distribution.mean
        outer = torch.sum(probs * (means - self.mean.unsqueeze(dim)).pow(2.0), dim=dim)
        return inner + outer

    def sample(self, sample_shape=torch.Size()):
        with torch.no_grad():
            dim = len(sample_shape) + len(self._batch_shape)
            chosen = self._mixture_distribution.sample(sample_shape)
            drawn = self._component_distribution.sample(sample_shape)
            places = chosen.reshape(chosen.shape + (1,) * (self._event_dims + 1))
            return torch.gather(drawn, dim, places.expand(chosen.shape + (1,) + self._event_shape)).squeeze(dim)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        each = self._component_distribution.log_prob(value.unsqueeze(-1 - self._event_dims))
        return torch.logsumexp(each + torch.log_softmax(self._mixture_distribution.logits, dim=-1), dim=-1)

    def cdf(self, value):
        each = self._component_distribution.cdf(value.unsqueeze(-1 - self._event_dims))
        return torch.sum(each * self._mixture_distribution.probs, dim=-1)

    def __repr__(self):
        return f"MixtureSameFamily(\n  {self._mixture_distribution},\n  {self._component_distribution})"
