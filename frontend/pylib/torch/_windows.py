"""Window functions: weights that fade a signal in and out."""

from torch import _C


def _window(name, weigh, window_length, periodic, dtype, device, requires_grad):
    if window_length in (0, 1):
        return _C.ones(window_length, dtype=dtype, device=device, requires_grad=requires_grad)
    if window_length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={window_length}")
    # A periodic window is one of a point more, without its last.
    length = window_length + 1 if periodic else window_length
    points = _C.arange(length, dtype=dtype or _C.get_default_dtype(), device=device)
    return weigh(points, length)[:window_length].clone().requires_grad_(requires_grad)


def hamming_window(window_length, periodic=True, alpha=0.54, beta=0.46, *, dtype=None, device=None, requires_grad=False,
                   **settings):
    """`alpha - beta` cos, over one period."""
    def weigh(points, length):
        return points.mul(2.0 * 3.141592653589793 / (length - 1)).cos().mul(-beta).add(alpha)

    return _window("hamming_window", weigh, window_length, periodic, dtype, device, requires_grad)


def bartlett_window(window_length, periodic=True, *, dtype=None, device=None, requires_grad=False, **settings):
    """A triangle."""
    def weigh(points, length):
        slope = points.mul(2.0 / (length - 1))
        return _C.where(points <= (length - 1) // 2, slope, 2.0 - slope)

    return _window("bartlett_window", weigh, window_length, periodic, dtype, device, requires_grad)


def blackman_window(window_length, periodic=True, *, dtype=None, device=None, requires_grad=False, **settings):
    """A sum of two cosines."""
    def weigh(points, length):
        angle = points.mul(3.141592653589793 / (length - 1))
        return angle.mul(4).cos().mul(0.08) - angle.mul(2).cos().mul(0.5) + 0.42

    return _window("blackman_window", weigh, window_length, periodic, dtype, device, requires_grad)


def kaiser_window(window_length, periodic=True, beta=12.0, *, dtype=None, device=None, requires_grad=False, **settings):
    """A ratio of modified Bessel functions: the larger `beta`, the narrower."""
    def weigh(points, length):
        middle = (length - 1) / 2.0
        inside = (1 - points.div(middle).sub(1).square()).clamp(min=0.0).sqrt().mul(beta)
        return inside.i0() / _C.tensor(beta, dtype=_C.float64).i0().item()

    return _window("kaiser_window", weigh, window_length, periodic, dtype, device, requires_grad)
