"""Pooling functions."""

import torch
from torch._C import _nn
from torch.nn._sizes import _list_with_default, _pair, _single, _triple


def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """The largest value of each window of a sequence, and where it was if `return_indices`."""
    if return_indices:
        return _nn.max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return _nn.max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """The largest value of each window of an image, and where it was if `return_indices`."""
    if return_indices:
        return _nn.max_pool2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return _nn.max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool3d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """The largest value of each window of a volume, and where it was if `return_indices`."""
    if return_indices:
        return _nn.max_pool3d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    return _nn.max_pool3d(input, kernel_size, stride, padding, dilation, ceil_mode)


def adaptive_avg_pool2d(input, output_size):
    """The means of `output_size` windows of an image; None keeps the size of the input."""
    return _nn.adaptive_avg_pool2d(input, _list_with_default(output_size, input.size()))


def adaptive_avg_pool3d(input, output_size):
    """The means of `output_size` windows of a volume; None keeps the size of the input."""
    return _nn.adaptive_avg_pool3d(input, _list_with_default(output_size, input.size()))


def adaptive_max_pool1d(input, output_size, return_indices=False):
    """The largest values of `output_size` windows of a sequence."""
    values, indices = _nn.adaptive_max_pool1d(input, output_size)
    return (values, indices) if return_indices else values


def adaptive_max_pool2d(input, output_size, return_indices=False):
    """The largest values of `output_size` windows of an image; None keeps the size of the input."""
    values, indices = _nn.adaptive_max_pool2d(input, _list_with_default(output_size, input.size()))
    return (values, indices) if return_indices else values


def adaptive_max_pool3d(input, output_size, return_indices=False):
    """The largest values of `output_size` windows of a volume; None keeps the size of the input."""
    values, indices = _nn.adaptive_max_pool3d(input, _list_with_default(output_size, input.size()))
    return (values, indices) if return_indices else values


def _power_pool(pool, input, norm_type, kernel, stride, ceil_mode):
    """The p-norm of windows, from the mean of p-th powers; a negative mean counts as zero."""
    area = 1
    for size in kernel:
        area *= size
    mean = pool(input.pow(norm_type), kernel, stride, 0, ceil_mode)
    return (torch.sign(mean) * torch.relu(torch.abs(mean)) * area).pow(1.0 / norm_type)


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The p-norm of each window of a sequence."""
    return _power_pool(_nn.avg_pool1d, input, norm_type, _single(kernel_size), stride, ceil_mode)


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The p-norm of each window of an image."""
    return _power_pool(_nn.avg_pool2d, input, norm_type, _pair(kernel_size), stride, ceil_mode)


def lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The p-norm of each window of a volume."""
    return _power_pool(_nn.avg_pool3d, input, norm_type, _triple(kernel_size), stride, ceil_mode)


def _unpool(input, indices, kernel, stride, padding, output_size):
    """Puts values back at flat indices over the last dims, among zeros."""
    dims = len(kernel)
    stride = kernel if stride is None else stride
    if output_size is None:
        spatial = [
            (size - 1) * step + width - 2 * margin
            for size, step, width, margin in zip(input.shape[-dims:], stride, kernel, padding)
        ]
    else:
        spatial = list(output_size)[-dims:]
    lead = list(input.shape[:-dims])
    places = 1
    for size in spatial:
        places *= size
    flat = torch.zeros(lead + [places], dtype=input.dtype, device=input.device)
    output = flat.scatter(-1, indices.flatten(-dims), input.flatten(-dims)).reshape(lead + spatial)
    return like_images(output, input)


def like_images(output, input):
    """The output with its channels innermost if those of the input, which are images, are."""
    if input.dim() == 4 and not input.is_contiguous() and input.is_contiguous(memory_format=torch.channels_last):
        return output.contiguous(memory_format=torch.channels_last)
    return output


def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Puts the values of `max_pool1d` back at their indices."""
    return _unpool(input, indices, _single(kernel_size), None if stride is None else _single(stride), _single(padding), output_size)


def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Puts the values of `max_pool2d` back at their indices."""
    return _unpool(input, indices, _pair(kernel_size), None if stride is None else _pair(stride), _pair(padding), output_size)


def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """Puts the values of `max_pool3d` back at their indices."""
    return _unpool(input, indices, _triple(kernel_size), None if stride is None else _triple(stride), _triple(padding), output_size)
