"""Resizing of sequences, images and volumes, one dim after the other."""

import math

import torch

_LINEAR = {"linear": 1, "bilinear": 2, "trilinear": 3}


def interpolate(input, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None,
                antialias=False):
    """Resizes the dims behind batch and channels to `size`, or by `scale_factor`."""
    dims = input.dim() - 2
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
            )
    elif align_corners is None:
        align_corners = False
    if antialias:
        raise NotImplementedError("interpolate with antialias=True is not available")
    sizes, scales = _targets(input, dims, size, scale_factor, recompute_scale_factor)
    if mode == "area":
        from torch.nn import functional as F

        return (F.adaptive_avg_pool1d, F.adaptive_avg_pool2d, F.adaptive_avg_pool3d)[dims - 1](input, sizes)
    if mode in _LINEAR and _LINEAR[mode] != dims:
        raise NotImplementedError(
            f"Got {input.dim()}D input, but {mode} mode needs {_LINEAR[mode] + 2}D input"
        )
    if mode in ("nearest", "nearest-exact"):
        resize = _nearest
    elif mode in _LINEAR:
        resize = _linear
    elif mode == "bicubic" and dims == 2:
        resize = _cubic
    else:
        raise NotImplementedError(
            "Input Error: Only 3D, 4D and 5D input Tensors supported (got {}D) for the modes: nearest | linear | bilinear | "
            "bicubic | trilinear | area | nearest-exact (got {})".format(input.dim(), mode)
        )
    for dim, (wanted, scale) in enumerate(zip(sizes, scales), 2):
        input = resize(input, dim, wanted, scale, mode if resize is _nearest else align_corners)
    return input


def _targets(input, dims, size, scale_factor, recompute_scale_factor):
    """The output sizes, and for each dim the scale to sample with (None: the ratio of the sizes)."""
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        sizes = list(size) if isinstance(size, (list, tuple)) else [size] * dims
        if len(sizes) != dims:
            raise ValueError(
                "Input and output must have the same number of spatial dimensions, but got input with spatial dimensions of "
                f"{list(input.shape[2:])} and output size of {size}. Please provide input tensor in (N, C, d1, d2, ...,dK) "
                "format and output size in (o1, o2, ...,oK) format."
            )
        return sizes, [None] * dims
    if scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    scales = list(scale_factor) if isinstance(scale_factor, (list, tuple)) else [scale_factor] * dims
    if len(scales) != dims:
        raise ValueError(
            "Input and scale_factor must have the same number of spatial dimensions, but got input with spatial dimensions of "
            f"{list(input.shape[2:])} and scale_factor of shape {scale_factor}. Please provide input tensor in "
            "(N, C, d1, d2, ...,dK) format and scale_factor in (s1, s2, ...,sK) format."
        )
    sizes = [int(math.floor(float(extent * scale))) for extent, scale in zip(input.shape[2:], scales)]
    return sizes, [None] * dims if recompute_scale_factor else scales


def _step(size, wanted, scale):
    """How far apart two output positions are in the input."""
    return 1.0 / scale if scale is not None and scale > 0 else size / wanted


def _nearest(input, dim, wanted, scale, mode):
    size = input.size(dim)
    positions = torch.arange(wanted, dtype=torch.float32, device=input.device)
    if mode == "nearest-exact":
        positions = positions + 0.5
    index = (positions * _step(size, wanted, scale)).to(torch.int64).clamp_max(size - 1)
    return input.index_select(dim, index)


def _sources(input, dim, wanted, scale, align_corners):
    """The positions in the input, as floats, of the output positions along `dim`."""
    size = input.size(dim)
    kind = torch.float64 if input.dtype == torch.float64 else torch.float32
    positions = torch.arange(wanted, dtype=kind, device=input.device)
    if align_corners:
        return positions * ((size - 1) / (wanted - 1) if wanted > 1 else 0.0)
    return (positions + 0.5) * _step(size, wanted, scale) - 0.5


def _along(weights, input, dim):
    """A vector of weights shaped to multiply along `dim`."""
    return weights.to(input.dtype).reshape([-1 if d == dim else 1 for d in range(input.dim())])


def _linear(input, dim, wanted, scale, align_corners):
    size = input.size(dim)
    sources = _sources(input, dim, wanted, scale, align_corners).clamp_min(0)
    low = sources.to(torch.int64).clamp_max(size - 1)
    high = (low + 1).clamp_max(size - 1)
    share = _along(sources - low, input, dim)
    return input.index_select(dim, low) * (1 - share) + input.index_select(dim, high) * share


def _cubic(input, dim, wanted, scale, align_corners):
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
    total = None
    for offset, weight in enumerate(weights, -1):
        index = (low.to(torch.int64) + offset).clamp(0, size - 1)
        part = input.index_select(dim, index) * _along(weight, input, dim)
        total = part if total is None else total + part
    return total


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """`interpolate` under its older name."""
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None):
    """`interpolate` by nearest neighbours."""
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    """`interpolate` bilinearly, corners on corners."""
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
