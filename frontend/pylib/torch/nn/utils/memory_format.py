"""Memory formats of convolution weights."""

import torch


def convert_conv2d_weight_memory_format(module, memory_format):
    """Lays out the weights of 2-d convolutions, here and below, as `memory_format` says."""
    return _convert(module, memory_format, (torch.nn.Conv2d, torch.nn.ConvTranspose2d))


def convert_conv3d_weight_memory_format(module, memory_format):
    """Lays out the weights of 3-d convolutions, here and below, as `memory_format` says."""
    return _convert(module, memory_format, (torch.nn.Conv3d, torch.nn.ConvTranspose3d))


def _convert(module, memory_format, kinds):
    if isinstance(module, kinds):
        module.weight.data = module.weight.detach().clone(memory_format=memory_format)
    for child in module.children():
        _convert(child, memory_format, kinds)
    return module
