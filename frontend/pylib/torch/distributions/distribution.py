"""What distributions share."""

import torch
from torch.distributions import constraints


class lazy_parameter:
    """A parameter that is computed from another when it is first asked for, and kept."""

    def __init__(self, compute):
        self.compute = compute
        self.name = compute.__name__

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        with torch.enable_grad():
            value = self.compute(instance)
        instance.__dict__[self.name] = value
        return value


class Distribution:
    """Draws samples and gives the logs of their probabilities.

    Subclasses name where their parameters may lie in `arg_constraints`, and where their samples lie in `support`.
    """

    has_rsample = False
    has_enumerate_support = False
    arg_constraints = {}
    _validate_args = True

    def __init__(self, batch_shape=torch.Size(), event_shape=torch.Size(), validate_args=None):
        self._batch_shape = torch.Size(batch_shape)
        self._event_shape = torch.Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()

    @staticmethod
    def set_default_validate_args(value):
        """Whether parameters and values are checked where a distribution is not told."""
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    @property
    def batch_shape(self):
        """The shape over which the parameters vary."""
        return self._batch_shape

    @property
    def event_shape(self):
        """The shape of one sample."""
        return self._event_shape

    @property
    def support(self):
        """Where samples lie."""
        raise NotImplementedError

    @property
    def mean(self):
        """The mean."""
        raise NotImplementedError

    @property
    def mode(self):
        """The value of the highest density."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self):
        """The variance."""
        raise NotImplementedError

    @property
    def stddev(self):
        """The standard deviation."""
        return self.variance.sqrt()

    def sample(self, sample_shape=torch.Size()):
        """Samples that are off the tape."""
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=torch.Size()):
        """Samples through which gradients reach the parameters."""
        raise NotImplementedError

    def log_prob(self, value):
        """The log of the probability, or its density, at `value`."""
        raise NotImplementedError

    def cdf(self, value):
        """The probability of values up to `value`."""
        raise NotImplementedError

    def icdf(self, value):
        """The value up to which the probability is `value`."""
        raise NotImplementedError

    def enumerate_support(self, expand=True):
        """All values there are."""
        raise NotImplementedError

    def entropy(self):
        """The entropy."""
        raise NotImplementedError

    def perplexity(self):
        """e to the entropy."""
        return torch.exp(self.entropy())

    def expand(self, batch_shape, _instance=None):
        """The same distribution over a larger batch."""
        made = object.__new__(type(self))
        batch_shape = torch.Size(batch_shape)
        for name, value in self.__dict__.items():
            if name in self.arg_constraints and isinstance(value, torch.Tensor):
                value = value.expand(batch_shape + value.shape[len(self._batch_shape):])
            made.__dict__[name] = value
        made._batch_shape = batch_shape
        return made

    def _extended_shape(self, sample_shape=torch.Size()):
        return torch.Size(tuple(sample_shape) + tuple(self._batch_shape) + tuple(self._event_shape))

    def _check_parameters(self):
        """Raises ValueError where a parameter is out of its range."""
        for name, constraint in self.arg_constraints.items():
            if constraints.is_dependent(constraint) or (name not in self.__dict__ and hasattr(type(self), name)):
                continue
            value = getattr(self, name)
            if not bool(constraint.check(value).all()):
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution {self!r} to "
                    f"satisfy the constraint {constraint!r}, but found invalid values:\n{value}"
                )

    def _validate_sample(self, value):
        """Raises ValueError where `value` can't have been drawn; does nothing where checks are off."""
        if not self._validate_args:
            return
        if not isinstance(value, torch.Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        start = value.dim() - len(self._event_shape)
        if value.shape[start:] != self._event_shape:
            raise ValueError(
                f"The right-most size of value must match event_shape: {value.size()} vs {self._event_shape}."
            )
        actual, expected = value.size(), self._batch_shape + self._event_shape
        for one, other in zip(reversed(actual), reversed(expected)):
            if one != 1 and other != 1 and one != other:
                raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {actual} vs {expected}.")
        try:
            support = self.support
        except NotImplementedError:
            return
        if not bool(support.check(value).all()):
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the support ({support!r}) "
                f"of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def __repr__(self):
        parts = []
        for name in self.arg_constraints:
            if name in self.__dict__:
                value = self.__dict__[name]
                parts.append(f"{name}: {value if value.numel() == 1 else value.size()}")
        return f"{type(self).__name__}({', '.join(parts)})"


def as_tensors(*values):
    """Numbers and tensors as tensors of one shape."""
    like = next((value for value in values if isinstance(value, torch.Tensor)), None)
    dtype = torch.get_default_dtype() if like is None else like.dtype
    tensors = [value if isinstance(value, torch.Tensor) else torch.tensor(value, dtype=dtype) for value in values]
    shape = torch.broadcast_shapes(*[tensor.shape for tensor in tensors])
    return [tensor.expand(shape) for tensor in tensors]


def clamped(probs):
    """Probabilities away from zero and one, so that logs of them are finite."""
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs, is_binary=False):
    """The logs of probabilities, or of odds."""
    probs = clamped(probs)
    return torch.log(probs) - torch.log1p(-probs) if is_binary else torch.log(probs)


def logits_to_probs(logits, is_binary=False):
    """Probabilities by their logs, or by the logs of odds."""
    return torch.sigmoid(logits) if is_binary else torch.softmax(logits, dim=-1)


def either(probs, logits):
    """The one parameter of two that was given."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")
    return logits if probs is None else probs
