"""Transforms that map each part of a tensor along a dim by a transform of its own."""

import torch
from torch.distributions import constraints
from torch.distributions.transforms import Transform


class _PartsTransform(Transform):
    """What both kinds share: they differ in how they take a tensor apart and put it together."""

    def __init__(self, tseq, dim=0, cache_size=0):
        if not all(isinstance(t, Transform) for t in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        if cache_size:
            tseq = [t.with_cache(cache_size) for t in tseq]
        super().__init__(cache_size=cache_size)
        self.transforms, self.dim = list(tseq), dim

    bijective = property(lambda self: all(t.bijective for t in self.transforms))

    def _call(self, x):
        return self._joined([t(part) for t, part in zip(self.transforms, self._parts(x))])

    def _inverse(self, y):
        return self._joined([t.inv(part) for t, part in zip(self.transforms, self._parts(y))])


class CatTransform(_PartsTransform):
    """Transforms of slices of some lengths along a dim."""

    def __init__(self, tseq, dim=0, lengths=None, cache_size=0):
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(f"Expected len(lengths)={len(self.lengths)} to match len(transforms)={len(self.transforms)}")

    event_dim = property(lambda self: max(t.event_dim for t in self.transforms))
    length = property(lambda self: sum(self.lengths))
    domain = property(lambda self: constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths))
    codomain = property(lambda self: constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths))

    def with_cache(self, cache_size=1):
        return self if self._cache_size == cache_size else CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _parts(self, x):
        return x.split(self.lengths, self.dim)

    def _joined(self, parts):
        return torch.cat(parts, self.dim)

    def log_abs_det_jacobian(self, x, y):
        events = self.event_dim
        terms = []
        for t, before, after in zip(self.transforms, self._parts(x), self._parts(y)):
            term = t.log_abs_det_jacobian(before, after)
            own = t.domain.event_dim
            terms.append(term.reshape(term.shape[: term.dim() - (events - own)] + (-1,)).sum(-1) if own < events else term)
        dim = self.dim if self.dim < 0 else self.dim - x.dim()
        dim += events
        if dim < 0:
            return torch.cat(terms, dim=dim)
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total


class StackTransform(_PartsTransform):
    """Transforms of the entries along a dim."""

    domain = property(lambda self: constraints.stack([t.domain for t in self.transforms], self.dim))
    codomain = property(lambda self: constraints.stack([t.codomain for t in self.transforms], self.dim))

    def with_cache(self, cache_size=1):
        return self if self._cache_size == cache_size else StackTransform(self.transforms, self.dim, cache_size)

    def _parts(self, x):
        if x.size(self.dim) != len(self.transforms):
            raise AssertionError(f"Expected size {len(self.transforms)} along dim {self.dim}, but got {x.size(self.dim)}")
        return x.unbind(self.dim)

    def _joined(self, parts):
        return torch.stack(parts, self.dim)

    def log_abs_det_jacobian(self, x, y):
        pairs = zip(self.transforms, self._parts(x), self._parts(y))
        return torch.stack([t.log_abs_det_jacobian(before, after) for t, before, after in pairs], dim=self.dim)
