"""What distributions share."""

import torch


class Distribution:
    """Draws samples and gives the logs of their probabilities."""

    has_rsample = False

    def __init__(self, batch_shape=torch.Size(), event_shape=torch.Size(), validate_args=None):
        self._batch_shape = torch.Size(batch_shape)
        self._event_shape = torch.Size(event_shape)
        self._checks = validate_args is not False

    @property
    def batch_shape(self):
        """The shape over which the parameters vary."""
        return self._batch_shape

    @property
    def event_shape(self):
        """The shape of one sample."""
        return self._event_shape

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

    def entropy(self):
        """The entropy."""
        raise NotImplementedError

    @property
    def stddev(self):
        """The standard deviation."""
        return self.variance.sqrt()

    def _extended_shape(self, sample_shape=torch.Size()):
        return torch.Size(tuple(sample_shape) + tuple(self._batch_shape) + tuple(self._event_shape))

    def _check(self, name, value, holds, constraint):
        """Raises ValueError where a parameter is out of its range."""
        if self._checks and not bool(holds.all()):
            raise ValueError(
                f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution {self!r} to satisfy "
                f"the constraint {constraint}, but found invalid values:\n{value}"
            )

    def _parameters_text(self, **parameters):
        parts = [f"{name}: {value if value.numel() == 1 else value.size()}" for name, value in parameters.items()]
        return f"{type(self).__name__}({', '.join(parts)})"


def as_tensors(*values):
    """Numbers and tensors as tensors of one shape."""
    like = next((value for value in values if isinstance(value, torch.Tensor)), None)
    dtype = torch.get_default_dtype() if like is None else like.dtype
    tensors = [value if isinstance(value, torch.Tensor) else torch.tensor(value, dtype=dtype) for value in values]
    shape = torch.broadcast_shapes(*[tensor.shape for tensor in tensors])
    return [tensor.expand(shape) for tensor in tensors]
