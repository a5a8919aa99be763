"""The categorical distribution, as indices and as vectors."""

import torch
from torch.distributions import constraints
from torch.distributions.distribution import Distribution, as_tensors, either, lazy_parameter, logits_to_probs, probs_to_logits


class Categorical(Distribution):
    """An index of the last dim, by probabilities that may be given by their logs, neither of them normalized."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        given = either(probs, logits)
        if given.dim() < 1:
            raise ValueError(f"`{'logits' if probs is None else 'probs'}` parameter must be at least one-dimensional.")
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        self._num_events = given.size(-1)
        super().__init__(given.shape[:-1], validate_args=validate_args)

    @lazy_parameter
    def logits(self):
        """The logs of the probabilities."""
        return probs_to_logits(self.probs)

    @lazy_parameter
    def probs(self):
        """The probabilities."""
        return logits_to_probs(self.logits)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        """The indices."""
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def param_shape(self):
        """The shape of the probabilities."""
        return (self.__dict__["probs"] if "probs" in self.__dict__ else self.logits).shape

    @property
    def mean(self):
        """NaN: indices have none."""
        return torch.full(self._batch_shape, float("nan"), dtype=self.probs.dtype)

    variance = mean

    @property
    def mode(self):
        """The most probable index."""
        return self.probs.argmax(dim=-1)

    def sample(self, sample_shape=torch.Size()):
        shape = torch.Size(sample_shape)
        with torch.no_grad():
            rows = self.probs.reshape(-1, self._num_events)
            drawn = torch.multinomial(rows, shape.numel(), True).T
            return drawn.reshape(self._extended_shape(shape))

    def log_prob(self, value):
        self._validate_sample(value)
        value, logits = as_tensors(value.long().unsqueeze(-1), self.logits)
        return logits.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self):
        smallest = torch.finfo(self.logits.dtype).min
        return -(self.logits.clamp(min=smallest) * self.probs).sum(-1)

    def enumerate_support(self, expand=True):
        values = torch.arange(self._num_events).view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + tuple(self._batch_shape)) if expand else values


class OneHotCategorical(Distribution):
    """A vector of zeros with one one, by the probabilities of its places."""

    arg_constraints = Categorical.arg_constraints
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._categorical = Categorical(probs, logits, validate_args)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=False)
        self._validate_args = self._categorical._validate_args

    probs = property(lambda self: self._categorical.probs)
    logits = property(lambda self: self._categorical.logits)
    param_shape = property(lambda self: self._categorical.param_shape)
    mean = property(lambda self: self._categorical.probs)
    variance = property(lambda self: self._categorical.probs * (1 - self._categorical.probs))

    @property
    def mode(self):
        """The most probable vector."""
        return torch.nn.functional.one_hot(self.probs.argmax(-1), self._categorical._num_events).to(self.probs)

    def sample(self, sample_shape=torch.Size()):
        drawn = self._categorical.sample(sample_shape)
        return torch.nn.functional.one_hot(drawn, self._categorical._num_events).to(self.probs)

    def log_prob(self, value):
        self._validate_sample(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self):
        return self._categorical.entropy()

    def enumerate_support(self, expand=True):
        size = self._categorical._num_events
        values = torch.eye(size, dtype=self.probs.dtype).view((size,) + (1,) * len(self._batch_shape) + (size,))
        return values.expand((size,) + tuple(self._batch_shape) + (size,)) if expand else values

    def expand(self, batch_shape, _instance=None):
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made._categorical = self._categorical.expand(batch_shape)
        made._batch_shape = torch.Size(batch_shape)
        return made

    def __repr__(self):
        return f"{type(self).__name__}()"


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """The same, with samples through which gradients reach the probabilities as if they were these."""

    has_rsample = True

    def rsample(self, sample_shape=torch.Size()):
        drawn = self.sample(sample_shape)
        probs = self._categorical.probs
        return drawn + (probs - probs.detach())
