"""Resizing of images with antialiasing: where an image shrinks, each result is a weighted mean of all it stands for."""

import math

import torch


def resize_smoothly(input, size, scale_factor, mode, align_corners, recompute_scale_factor):
    """`interpolate(..., antialias=True)` of a batch of images."""
    if input.dim() != 4 or mode not in _FILTERS:
        raise ValueError("Anti-alias option is restricted to bilinear, bicubic and lanczos modes and requires a 4-D tensor as input")
    if not input.is_floating_point():
        raise NotImplementedError("interpolate(antialias=True) of integers is not available here: convert the image to floats first")
    if (size is None) == (scale_factor is None):
        raise ValueError("either size or scale_factor should be defined" if size is None else
                         "only one of size or scale_factor should be defined")
    if size is not None:
        sizes, scales = (size, size) if isinstance(size, int) else size, (None, None)
    else:
        scales = tuple(scale_factor) if isinstance(scale_factor, (list, tuple)) else (scale_factor, scale_factor)
        sizes = [math.floor(float(extent * scale)) for extent, scale in zip(input.shape[2:], scales)]
        if recompute_scale_factor:
            scales = (None, None)
    (height, width), (down, across) = sizes, scales
    if width != input.size(3) or across not in (None, 1.0):
        input = input @ _weights(input, input.size(3), width, across, mode, align_corners).T
    if height != input.size(2) or down not in (None, 1.0):
        input = _weights(input, input.size(2), height, down, mode, align_corners) @ input
    return input


def _triangle(x):
    x = x.abs()
    return torch.where(x < 1.0, 1.0 - x, 0.0)


def _cubic(x):
    x = x.abs()
    inner = ((1.5 * x) - 2.5) * x * x + 1
    outer = ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0
    return torch.where(x < 1.0, inner, torch.where(x < 2.0, outer, 0.0))


# The weight of a pixel by its distance, and how far away pixels still count.
_FILTERS = {"bilinear": (_triangle, 1.0), "bicubic": (_cubic, 2.0)}


def _weights(input, before, after, scale, mode, align_corners):
    """The share of each of `before` pixels in each of `after`, as a matrix of one row for each result."""
    filter, reach = _FILTERS[mode]
    if align_corners:
        step = (before - 1) / (after - 1) if after > 1 else 0.0
    else:
        step = 1.0 / scale if scale is not None and scale > 0 else before / after
    kind = torch.float64 if input.dtype == torch.float64 else torch.float32
    support = reach * step if step >= 1.0 else reach
    centers = (torch.arange(after, dtype=kind) + 0.5) * step
    first = (centers - support + 0.5).trunc().clamp(min=0)
    last = (centers + support + 0.5).trunc().clamp(max=before)
    pixels = torch.arange(before, dtype=kind)
    weights = filter((pixels - centers[:, None] + 0.5) * (1.0 / step if step >= 1.0 else 1.0))
    weights = torch.where((pixels >= first[:, None]) & (pixels < last[:, None]), weights, 0.0)
    return (weights / weights.sum(1, keepdim=True)).to(input.dtype)
