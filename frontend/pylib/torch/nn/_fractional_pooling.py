"""Max pooling over windows whose places are drawn at random, so that sizes may shrink by any factor."""

import torch
from torch.nn._sizes import _pair, _triple

_NAMES = {2: ("height", "width"), 3: ("time", "height", "width")}


def fractional_max_pool2d_with_indices(input, kernel_size, output_size=None, output_ratio=None, return_indices=False,
                                       _random_samples=None):
    """The largest value of each window of an image and where it was, counted row by row."""
    return _pool(2, input, kernel_size, output_size, output_ratio, _random_samples)


def fractional_max_pool2d(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
    """The largest value of each window of an image, and where it was if `return_indices`."""
    pooled = _pool(2, input, kernel_size, output_size, output_ratio, _random_samples)
    return pooled if return_indices else pooled[0]


def fractional_max_pool3d_with_indices(input, kernel_size, output_size=None, output_ratio=None, return_indices=False,
                                       _random_samples=None):
    """The largest value of each window of a volume and where it was, counted row by row."""
    return _pool(3, input, kernel_size, output_size, output_ratio, _random_samples)


def fractional_max_pool3d(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
    """The largest value of each window of a volume, and where it was if `return_indices`."""
    pooled = _pool(3, input, kernel_size, output_size, output_ratio, _random_samples)
    return pooled if return_indices else pooled[0]


def _pool(dims, input, kernel_size, output_size, output_ratio, samples):
    name = f"fractional_max_pool{dims}d"
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    to_tuple = _pair if dims == 2 else _triple
    kernel = to_tuple(kernel_size)
    sizes = tuple(input.shape[-dims:])
    if output_size is None:
        output_size = [int(size * ratio) for size, ratio in zip(sizes, to_tuple(output_ratio))]
    output = to_tuple(output_size)
    batch = 1 if input.dim() == dims + 1 else input.size(0)
    channels = input.size(-dims - 1)
    if samples is None:
        samples = torch.rand(batch, channels, dims, dtype=input.dtype, device=input.device)
    _check(name, input, dims, kernel, output, samples, batch, channels)
    # In an image the samples are those of width and height; in a volume they stand in order.
    order = (1, 0) if dims == 2 else (0, 1, 2)
    places = torch.zeros((batch, channels) + (1,) * (2 * dims), dtype=torch.int64, device=input.device)
    for dim in range(dims):
        starts = _starts(samples[:batch, :, order[dim]], sizes[dim], output[dim], kernel[dim])
        along = starts.unsqueeze(-1) + torch.arange(kernel[dim], device=input.device)
        # Windows on dim `dim`, their elements on dim `dims + dim`.
        shape = [batch, channels] + [1] * (2 * dims)
        shape[2 + dim], shape[2 + dims + dim] = output[dim], kernel[dim]
        places = places * sizes[dim] + along.reshape(shape)
    flat = input.reshape(batch, channels, -1)
    count = 1
    for size in output:
        count *= size
    places = places.reshape(batch, channels, count, -1)
    values = flat.gather(2, places.flatten(2)).reshape(places.shape)
    best = values.detach().max(-1, keepdim=True)[1]
    indices = places.gather(3, best).squeeze(-1)
    shape = tuple(input.shape[:-dims]) + output
    return flat.gather(2, indices).reshape(shape), indices.reshape(shape)


def _starts(sample, size, count, kernel):
    """Where `count` windows start: steps of one length from a random phase, cut to integers; the last ends at the border."""
    last = torch.full(sample.shape + (1,), size - kernel, dtype=torch.int64, device=sample.device)
    if count == 1:
        return last
    step = torch.tensor(size - kernel, dtype=sample.dtype) / (count - 1)
    phase = sample.unsqueeze(-1)
    steps = torch.arange(count - 1, device=sample.device).to(sample.dtype)
    return torch.cat([((steps + phase) * step).long() - (phase * step).long(), last], -1)


def _check(name, input, dims, kernel, output, samples, batch, channels):
    for dim in range(-dims - 1, 0):
        if input.size(dim) == 0:
            raise RuntimeError(
                f"{name}(): Expected input to have non-zero size for non-batch dimensions, but got{list(input.shape)} with "
                f"dimension {dim % input.dim()} being empty."
            )
    if samples.dtype != input.dtype:
        raise RuntimeError("Expect _random_samples to have the same dtype as input")
    if samples.dim() != 3:
        raise RuntimeError(f"Expect _random_samples to have 3 dimensions, got {samples.dim()}")
    if samples.size(0) < batch:
        raise RuntimeError("Expect _random_samples.size(0) no less then input batch size.")
    if samples.size(1) != channels:
        raise RuntimeError("Expect _random_samples.size(1) equals to input channel size.")
    if samples.size(2) != dims:
        raise RuntimeError(f"Expect _random_samples.size(2) equals to {dims} got {samples.size(2)}.")
    shown = name if dims == 2 else name + "_out"
    for dim in range(dims):
        size = input.size(dim - dims)
        if output[dim] + kernel[dim] - 1 > size:
            what = _NAMES[dims][dim]
            raise RuntimeError(f"{shown}(): pool {what} {kernel[dim]} too large relative to input {what} {size}")
