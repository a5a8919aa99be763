"""`torch.nn.functional`: the native functions, and those that are compositions of others.

The native ones have PyTorch's signatures.  Losses, attention and pooling have files of their own.
"""

import torch
from torch import _C
from torch._C import _nn
from torch._C._nn import *
from torch.nn._attention import multi_head_attention_forward
from torch.nn._embedding import embedding
from torch.nn._fractional_pooling import (
    fractional_max_pool2d, fractional_max_pool2d_with_indices, fractional_max_pool3d, fractional_max_pool3d_with_indices,
)
from torch.nn._losses import (
    cosine_embedding_loss, ctc_loss, gaussian_nll_loss, hinge_embedding_loss, margin_ranking_loss, multi_margin_loss,
    multilabel_margin_loss, multilabel_soft_margin_loss, poisson_nll_loss, soft_margin_loss, triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from torch.nn._pooling import (
    adaptive_avg_pool2d, adaptive_avg_pool3d, adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d, lp_pool1d,
    lp_pool2d, lp_pool3d, max_pool1d, max_pool2d, max_pool3d, max_unpool1d, max_unpool2d, max_unpool3d,
)
from torch.nn._resize import interpolate
from torch.nn._sizes import _pair

# Activations


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """softmax(-x)"""
    return softmax(-input, dim, _stacklevel, dtype)


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """A sample of the Gumbel-softmax distribution; with `hard` it is one-hot, with the gradient of the soft one."""
    noise = -torch.empty_like(logits).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    return torch.zeros_like(logits).scatter_(dim, index, 1.0) - soft.detach() + soft


# The forms that write into their input.


def relu_(input):
    """`relu`, in place."""
    return _nn.relu(input, True)


def celu_(input, alpha=1.0):
    """`celu`, in place."""
    return _nn.celu(input, alpha, True)


def elu_(input, alpha=1.0):
    """`elu`, in place."""
    return _nn.elu(input, alpha, True)


def hardtanh_(input, min_val=-1.0, max_val=1.0):
    """`hardtanh`, in place."""
    return _nn.hardtanh(input, min_val, max_val, True)


def leaky_relu_(input, negative_slope=0.01):
    """`leaky_relu`, in place."""
    return _nn.leaky_relu(input, negative_slope, True)


def rrelu_(input, lower=1.0 / 8, upper=1.0 / 3, training=False):
    """`rrelu`, in place."""
    return _nn.rrelu(input, lower, upper, training, True)


def selu_(input):
    """`selu`, in place."""
    return _nn.selu(input, True)


def threshold_(input, threshold, value):
    """`threshold`, in place."""
    return _nn.threshold(input, threshold, value, True)


# Normalization


def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1,
                  eps=1e-5):
    """Normalizes each channel of each sample."""
    if running_mean is None or not use_input_stats:
        return _nn.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)
    # Batch norm with every channel of every sample as a channel updates statistics for each; they are then averaged.
    batch, channels = input.size(0), input.size(1)
    mean, var = running_mean.repeat(batch), running_var.repeat(batch)
    result = _nn.batch_norm(
        input.reshape((1, batch * channels) + tuple(input.shape[2:])), mean, var,
        None if weight is None else weight.repeat(batch), None if bias is None else bias.repeat(batch), True, momentum, eps,
    )
    with torch.no_grad():
        running_mean.copy_(mean.view(batch, channels).mean(0))
        running_var.copy_(var.view(batch, channels).mean(0))
    return result.view(input.shape)


def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """Divides by a power of the mean of squares over `size` neighbouring channels."""
    if input.dim() < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality                          input (got {input.dim()} dimensions)"
        )
    if input.numel() == 0:
        return input
    squares = (input * input).reshape(input.size(0), 1, input.size(1), -1)
    padded = _nn.pad(squares, [0, 0, size // 2, (size - 1) // 2])
    mean = padded.squeeze(1).unfold(1, size, 1).mean(-1).reshape(input.shape)
    return input / (mean * alpha + k) ** beta


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """Divides by the p-norm over `dim`, or by `eps` where the norm is smaller."""
    norm = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / norm if out is None else torch.div(input, norm, out=out)


# Moving values


def _block_positions(size, kernel, dilation, padding, stride, device):
    """Where the blocks along one dim lie in the padded input: (blocks, kernel) indices."""
    blocks = (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
    starts = torch.arange(blocks, device=device).reshape(-1, 1) * stride
    return starts + torch.arange(kernel, device=device) * dilation


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """Sums sliding blocks into images: the transpose of `unfold`."""
    batched = input.dim() == 3
    x = input if batched else input.unsqueeze(0)
    size, kernel = _pair(output_size), _pair(kernel_size)
    if x.size(1) % (kernel[0] * kernel[1]) != 0:
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
            f"input.size(1)={x.size(1)} and kernel_size={tuple(kernel)}."
        )
    dilation, padding, stride = _pair(dilation), _pair(padding), _pair(stride)
    rows = _block_positions(size[0], kernel[0], dilation[0], padding[0], stride[0], x.device)
    columns = _block_positions(size[1], kernel[1], dilation[1], padding[1], stride[1], x.device)
    area = kernel[0] * kernel[1]
    batch, channels = x.size(0), x.size(1) // area
    height, width = size[0] + 2 * padding[0], size[1] + 2 * padding[1]
    x = x.reshape(batch, channels, kernel[0], kernel[1], rows.size(0), columns.size(0)).permute(0, 1, 4, 2, 5, 3)
    places = (rows.reshape(-1, 1) * width + columns.reshape(1, -1)).reshape(-1)
    flat = torch.zeros(batch, channels, height * width, dtype=x.dtype, device=x.device)
    flat = flat.index_add(2, places, x.reshape(batch, channels, -1))
    image = flat.reshape(batch, channels, height, width)
    image = image[:, :, padding[0] : padding[0] + size[0], padding[1] : padding[1] + size[1]]
    return image if batched else image.squeeze(0)


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """`interpolate` under its older name."""
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None):
    """`interpolate` by nearest neighbours."""
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    """`interpolate` bilinearly, corners on corners."""
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def __getattr__(name):
    raise _C._missing("torch.nn.functional", name, list(globals()))
