"""The categorical distribution."""

import torch
from torch.distributions.distribution import Distribution, as_tensors


class Categorical(Distribution):
    """An index of the last dim, by probabilities that may be given by their logs, neither of them normalized."""

    def __init__(self, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        given = logits if probs is None else probs
        if given.dim() < 1:
            raise ValueError(f"`{'logits' if probs is None else 'probs'}` parameter must be at least one-dimensional.")
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
            eps = torch.finfo(self.probs.dtype).eps
            self.logits = torch.log(self.probs.clamp(min=eps, max=1 - eps))
        else:
            self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
            self.probs = torch.softmax(self.logits, dim=-1)
        super().__init__(given.shape[:-1], validate_args=validate_args)
        self._check("probs", self.probs, self.probs >= 0, "Simplex()")

    @property
    def mode(self):
        """The most probable index."""
        return self.probs.argmax(dim=-1)

    def sample(self, sample_shape=torch.Size()):
        shape = torch.Size(sample_shape)
        with torch.no_grad():
            rows = self.probs.reshape(-1, self.probs.size(-1))
            drawn = torch.multinomial(rows, shape.numel(), True).T
            return drawn.reshape(self._extended_shape(shape))

    def log_prob(self, value):
        value, logits = as_tensors(value.long().unsqueeze(-1), self.logits)
        return logits.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self):
        smallest = torch.finfo(self.logits.dtype).min
        return -(self.logits.clamp(min=smallest) * self.probs).sum(-1)

    def __repr__(self):
        return self._parameters_text(logits=self.logits)
