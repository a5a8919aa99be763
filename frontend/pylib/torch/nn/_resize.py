"""Resizing of sequences, images and volumes: natively, but for the bicubic mode."""

import math

import torch
from torch._C import _nn
from torch.nn._pooling import like_images


def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None,
                antialias=False):
    """Resizes the dims behind batch and channels to `size`, or by `scale_factor`."""
    _check_mode(input.dim(), mode)
    if mode != "bicubic" or antialias or input.dim() != 4 or (size is None) == (scale_factor is None):
        return _nn.interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias)
    if size is not None:
        sizes, scales = (size, size) if isinstance(size, int) else size, (None, None)
    else:
        scales = tuple(scale_factor) if isinstance(scale_factor, (list, tuple)) else (scale_factor, scale_factor)
        sizes = [math.floor(float(extent * scale)) for extent, scale in zip(input.shape[2:], scales)]
        if recompute_scale_factor:
            scales = (None, None)
    output = input
    for dim in (2, 3):
        output = _cubic(output, dim, sizes[dim - 2], scales[dim - 2], bool(align_corners))
    return like_images(output, input)


# The number of dims that a mode needs; the others take three to five.
_DIMS = {"linear": 3, "bilinear": 4, "bicubic": 4, "lanczos": 4, "trilinear": 5}


def _check_mode(dims, mode):
    """Raises NotImplementedError where a mode is not for inputs of that many dims."""
    if 3 <= dims <= 5:
        if mode in ("nearest", "nearest-exact", "area") or _DIMS.get(mode) == dims:
            return
        if mode in ("linear", "bilinear", "trilinear"):
            raise NotImplementedError(f"Got {dims}D input, but {mode} mode needs {_DIMS[mode]}D input")
    raise NotImplementedError(
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {dims}D) for the modes: nearest | linear | bilinear | bicubic | "
        f"trilinear | lanczos | area | nearest-exact (got {mode})"
    )


def _sources(input, dim, wanted, scale, align_corners):
    """The positions in the input, as floats, of the output positions along `dim`."""
    size = input.size(dim)
    kind = torch.float64 if input.dtype == torch.float64 else torch.float32
    positions = torch.arange(wanted, dtype=kind, device=input.device)
    if align_corners:
        return positions * ((size - 1) / (wanted - 1) if wanted > 1 else 0.0)
    step = 1.0 / scale if scale is not None and scale > 0 else size / wanted
    return (positions + 0.5) * step - 0.5


def _cubic(input, dim, wanted, scale, align_corners):
    """Resizes one dim by the cubic convolution of four neighbours."""
    size = input.size(dim)
    a = -0.75
    sources = _sources(input, dim, wanted, scale, align_corners)
    low = sources.floor()
    t = sources - low
    near, far = t + 1.0, 2.0 - t
    weights = (
        ((a * near - 5 * a) * near + 8 * a) * near - 4 * a,
        ((a + 2) * t - (a + 3)) * t * t + 1,
        ((a + 2) * (1 - t) - (a + 3)) * (1 - t) * (1 - t) + 1,
        ((a * far - 5 * a) * far + 8 * a) * far - 4 * a,
    )
    shape = [-1 if d == dim else 1 for d in range(input.dim())]
    total = None
    for offset, weight in enumerate(weights, -1):
        index = (low.to(torch.int64) + offset).clamp(0, size - 1)
        part = input.index_select(dim, index) * weight.to(input.dtype).reshape(shape)
        total = part if total is None else total + part
    return total
