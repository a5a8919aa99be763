"""Batch norm in evaluation mode as part of the layer before it."""

import copy

import torch


def fuse_conv_bn_eval(conv, bn, transpose=False):
    """A convolution that does what `bn(conv(x))` does; both must be in evaluation mode."""
    if conv.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    return fused


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False):
    """The weight and bias of that convolution."""
    shape = [-1 if dim == (1 if transpose else 0) else 1 for dim in range(conv_w.dim())]
    return _fuse(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, shape)


def fuse_linear_bn_eval(linear, bn):
    """A linear layer that does what `bn(linear(x))` does; both must be in evaluation mode."""
    if linear.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if not (linear.out_features == bn.num_features or bn.num_features == 1):
        raise AssertionError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused


def fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    """The weight and bias of that linear layer."""
    return _fuse(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, [-1, 1])


def _fuse(weight, bias, mean, var, eps, scale, shift, shape):
    if bias is None:
        bias = torch.zeros_like(mean)
    if scale is None:
        scale = torch.ones_like(mean)
    if shift is None:
        shift = torch.zeros_like(mean)
    factor = scale * torch.rsqrt(var + eps)
    return (
        torch.nn.Parameter((weight * factor.reshape(shape)).to(weight.dtype), weight.requires_grad),
        torch.nn.Parameter(((bias - mean) * factor + shift).to(bias.dtype), bias.requires_grad),
    )
