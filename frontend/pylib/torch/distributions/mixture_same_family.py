"""Mixtures of distributions of one kind."""

import torch
from torch.distributions import constraints
from torch.distributions.categorical import Categorical
from torch.distributions.constraints import MixtureSameFamilyConstraint
from torch.distributions.distribution import Distribution


class MixtureSameFamily(Distribution):
    """A sample of one of several distributions, which are the last batch dim of one; which of them is categorical."""

    arg_constraints = {}
    has_rsample = False

    def __init__(self, mixture_distribution, component_distribution, validate_args=None):
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution needs to be an instance of torch.distributions.Distribution")
        self._mixture_distribution, self._component_distribution = mixture_distribution, component_distribution
        batch = component_distribution.batch_shape[:-1]
        for one, other in zip(reversed(mixture_distribution.batch_shape), reversed(batch)):
            if one != 1 and other != 1 and one != other:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({mixture_distribution.batch_shape}) is not compatible with "
                    f"`component_distribution.batch_shape`({batch})"
                )
        count, components = mixture_distribution.logits.shape[-1], component_distribution.batch_shape[-1]
        if count != components:
            raise ValueError(
                f"`mixture_distribution component` ({count}) does not equal `component_distribution.batch_shape[-1]` ({components})"
            )
        self._num_component = count
        self._event_ndims = len(component_distribution.event_shape)
        super().__init__(batch, component_distribution.event_shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._new_instance(_instance)
        batch_shape = torch.Size(batch_shape)
        new._component_distribution = self._component_distribution.expand(batch_shape + (self._num_component,))
        new._mixture_distribution = self._mixture_distribution.expand(batch_shape)
        new._num_component, new._event_ndims = self._num_component, self._event_ndims
        Distribution.__init__(new, batch_shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property
    def support(self):
        return MixtureSameFamilyConstraint(self._component_distribution.support)

    mixture_distribution = property(lambda self: self._mixture_distribution)
    component_distribution = property(lambda self: self._component_distribution)

    def _weights(self):
        """The probabilities of the components, with dims for those of events."""
        probs = self._mixture_distribution.probs
        return probs.reshape(probs.shape + (1,) * self._event_ndims)

    def _mixed(self, value):
        return torch.sum(self._weights() * value, dim=-1 - self._event_ndims)

    mean = property(lambda self: self._mixed(self._component_distribution.mean))

    @property
    def variance(self):
        within = self._mixed(self._component_distribution.variance)
        away = self._component_distribution.mean - self.mean.unsqueeze(-1 - self._event_ndims)
        return within + self._mixed(away.pow(2.0))

    def _for_components(self, value):
        return value.unsqueeze(-1 - self._event_ndims)

    def cdf(self, x):
        probability = self._component_distribution.cdf(self._for_components(x))
        return torch.sum(probability * self._mixture_distribution.probs, dim=-1)

    def log_prob(self, x):
        if self._validate_args:
            self._validate_sample(x)
        logs = self._component_distribution.log_prob(self._for_components(x))
        return torch.logsumexp(logs + torch.log_softmax(self._mixture_distribution.logits, dim=-1), dim=-1)

    def sample(self, sample_shape=torch.Size()):
        with torch.no_grad():
            shape = torch.Size(sample_shape)
            dim = len(shape) + len(self.batch_shape)
            chosen = self._mixture_distribution.sample(shape)
            samples = self._component_distribution.sample(shape)
            chosen = chosen.reshape(chosen.shape + (1,) * (self._event_ndims + 1))
            chosen = chosen.expand(samples.shape[:dim] + (1,) + self.event_shape)
            return samples.gather(dim, chosen).squeeze(dim)

    def __repr__(self):
        return f"MixtureSameFamily(\n  {self._mixture_distribution},\n  {self._component_distribution})"
