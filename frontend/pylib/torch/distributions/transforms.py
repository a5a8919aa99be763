"""`torch.distributions.transforms`: invertible functions, with the logs of how they stretch space."""

import math

import torch
from torch.distributions import constraints
from torch.distributions.independent import sum_rightmost
from torch.nn.functional import softplus


class Transform:
    """An invertible function of samples; with `cache_size=1` the inverse of the last value is the value it came from."""

    bijective = False
    domain = constraints.real
    codomain = constraints.real

    def __init__(self, cache_size=0):
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._last = None, None

    @property
    def event_dim(self):
        """How many dims of a tensor make one value."""
        return max(self.domain.event_dim, self.codomain.event_dim)

    @property
    def inv(self):
        """The inverse."""
        return _Inverse(self)

    def __call__(self, x):
        if self._cache_size and x is self._last[0]:
            return self._last[1]
        y = self._call(x)
        if self._cache_size:
            self._last = x, y
        return y

    def _inv_call(self, y):
        if self._cache_size and y is self._last[1]:
            return self._last[0]
        x = self._inverse(y)
        if self._cache_size:
            self._last = x, y
        return x

    def _call(self, x):
        raise NotImplementedError

    def _inverse(self, y):
        raise NotImplementedError

    def log_abs_det_jacobian(self, x, y):
        """The log of the absolute determinant of the derivative at `x`, where `y` is the value."""
        raise NotImplementedError

    def forward_shape(self, shape):
        """The shape of the values for arguments of a shape."""
        return shape

    def inverse_shape(self, shape):
        """The shape of the arguments for values of a shape."""
        return shape

    def with_cache(self, cache_size=1):
        """The same function with that cache."""
        self._cache_size = cache_size
        return self

    def __repr__(self):
        return type(self).__name__ + "()"


class _Inverse(Transform):
    """A function turned around."""

    def __init__(self, transform):
        super().__init__(transform._cache_size)
        self._turned = transform
        self.bijective = transform.bijective

    domain = property(lambda self: self._turned.codomain)
    codomain = property(lambda self: self._turned.domain)
    inv = property(lambda self: self._turned)
    sign = property(lambda self: self._turned.sign)

    def __call__(self, x):
        return self._turned._inv_call(x)

    def _inv_call(self, y):
        return self._turned(y)

    def log_abs_det_jacobian(self, x, y):
        return -self._turned.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape):
        return self._turned.inverse_shape(shape)

    def inverse_shape(self, shape):
        return self._turned.forward_shape(shape)


class ComposeTransform(Transform):
    """Functions one after the other."""

    def __init__(self, parts, cache_size=0):
        super().__init__(cache_size)
        self.parts = list(parts)
        self.bijective = all(part.bijective for part in self.parts)

    domain = property(lambda self: self.parts[0].domain if self.parts else constraints.real)
    codomain = property(lambda self: self.parts[-1].codomain if self.parts else constraints.real)

    @property
    def event_dim(self):
        return max([part.event_dim for part in self.parts], default=0)

    def __call__(self, x):
        for part in self.parts:
            x = part(x)
        return x

    def _inv_call(self, y):
        for part in reversed(self.parts):
            y = part._inv_call(y)
        return y

    def log_abs_det_jacobian(self, x, y):
        total = torch.zeros_like(x) if not self.parts else 0
        for part in self.parts:
            value = part(x) if part is not self.parts[-1] else y
            total = total + sum_rightmost(part.log_abs_det_jacobian(x, value), self.event_dim - part.event_dim)
            x = value
        return total

    def forward_shape(self, shape):
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape):
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self):
        return "ComposeTransform(\n    " + ",\n    ".join(repr(part) for part in self.parts) + "\n)"


identity_transform = ComposeTransform([])


class AffineTransform(Transform):
    """loc + scale · x."""

    bijective = True

    def __init__(self, loc, scale, event_dim=0, cache_size=0):
        super().__init__(cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    event_dim = property(lambda self: self._event_dim)

    @property
    def domain(self):
        """All numbers."""
        return constraints.real if self._event_dim == 0 else constraints.independent(constraints.real, self._event_dim)

    codomain = domain

    @property
    def sign(self):
        """Whether it keeps the order of numbers, or turns it."""
        if isinstance(self.scale, (int, float)):
            return 1 if self.scale > 0 else -1 if self.scale < 0 else 0
        return self.scale.sign()

    def _call(self, x):
        return self.loc + self.scale * x

    def _inverse(self, y):
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x, y):
        scale = self.scale
        if isinstance(scale, (int, float)):
            return sum_rightmost(torch.full_like(x, math.log(abs(scale))), self._event_dim)
        return sum_rightmost(torch.abs(scale).log().expand(x.shape), self._event_dim)


class ExpTransform(Transform):
    """e to x."""

    bijective = True
    codomain = constraints.positive
    sign = 1

    def _call(self, x):
        return x.exp()

    def _inverse(self, y):
        return y.log()

    def log_abs_det_jacobian(self, x, y):
        return x


class PowerTransform(Transform):
    """x to a power."""

    bijective = True
    domain = codomain = constraints.positive

    def __init__(self, exponent, cache_size=0):
        super().__init__(cache_size)
        self.exponent = exponent if isinstance(exponent, torch.Tensor) else torch.tensor(float(exponent))

    sign = property(lambda self: self.exponent.sign())

    def _call(self, x):
        return x.pow(self.exponent)

    def _inverse(self, y):
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x, y):
        return (self.exponent * y / x).abs().log()


class SigmoidTransform(Transform):
    """The logistic function."""

    bijective = True
    codomain = constraints.unit_interval
    sign = 1

    def _call(self, x):
        limits = torch.finfo(x.dtype)
        return torch.clamp(torch.sigmoid(x), min=limits.tiny, max=1.0 - limits.eps)

    def _inverse(self, y):
        limits = torch.finfo(y.dtype)
        y = y.clamp(min=limits.tiny, max=1.0 - limits.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x, y):
        return -softplus(-x) - softplus(x)


class TanhTransform(Transform):
    """The hyperbolic tangent."""

    bijective = True
    codomain = constraints.interval(-1.0, 1.0)
    sign = 1

    def _call(self, x):
        return x.tanh()

    def _inverse(self, y):
        return torch.atanh(y)

    def log_abs_det_jacobian(self, x, y):
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class SoftplusTransform(Transform):
    """log(1 + e to x)."""

    bijective = True
    codomain = constraints.positive
    sign = 1

    def _call(self, x):
        return softplus(x)

    def _inverse(self, y):
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x, y):
        return -softplus(-x)


class AbsTransform(Transform):
    """The absolute value, which can't be turned around."""

    codomain = constraints.positive

    def _call(self, x):
        return x.abs()

    def _inverse(self, y):
        return y


class SoftmaxTransform(Transform):
    """Shares by their logs, which are not unique."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x):
        probs = (x - x.max(-1, True)[0]).exp()
        return probs / probs.sum(-1, True)

    def _inverse(self, y):
        return y.log()
