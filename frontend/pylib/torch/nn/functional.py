"""`torch.nn.functional`: PyTorch's signatures over the native ops, which have those of ATen.

A function that is the native op under another name is imported or assigned; the others translate their arguments.  Losses,
attention, pooling and resizing have files of their own.
"""

import torch
from torch._C._nn import *
from torch import _C
from torch._C import _nn
from torch.nn._attention import multi_head_attention_forward
from torch.nn._losses import (
    binary_cross_entropy, binary_cross_entropy_with_logits, cosine_embedding_loss, cross_entropy, ctc_loss, gaussian_nll_loss,
    hinge_embedding_loss, huber_loss, kl_div, l1_loss, margin_ranking_loss, mse_loss, multi_margin_loss, multilabel_margin_loss,
    multilabel_soft_margin_loss, nll_loss, poisson_nll_loss, smooth_l1_loss, soft_margin_loss, triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from torch.nn._pooling import (
    adaptive_avg_pool2d, adaptive_avg_pool3d, adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d, lp_pool1d,
    lp_pool2d, lp_pool3d, max_pool1d, max_pool1d_with_indices, max_pool2d, max_pool2d_with_indices, max_pool3d,
    max_pool3d_with_indices, max_unpool1d, max_unpool2d, max_unpool3d,
)
from torch.nn._resize import interpolate, upsample, upsample_bilinear, upsample_nearest
from torch.nn._sizes import _pair

# Ops of `torch` that are functions here too, with the same signature; those the registry lacks are missing here as well.
for _name in (
    "adaptive_avg_pool1d", "avg_pool1d", "conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d", "hardshrink", "pdist", "prelu",
):
    if hasattr(_C, _name):
        globals()[_name] = getattr(_C, _name)

# Activations


def _written(result, input, inplace):
    """`result`, written into `input` where the caller asked for that."""
    return input.copy_(result) if inplace else result


def relu(input, inplace=False):
    """max(0, x)"""
    return torch.relu_(input) if inplace else torch.relu(input)


def relu6(input, inplace=False):
    """x clamped to [0, 6]"""
    return _written(_nn.relu6(input), input, inplace)


def elu(input, alpha=1.0, inplace=False):
    """x where positive, alpha * (exp(x) - 1) elsewhere"""
    return _written(_nn.elu(input, alpha), input, inplace)


def selu(input, inplace=False):
    """The ELU with the constants that keep mean and variance."""
    return _written(torch.selu(input), input, inplace)


def celu(input, alpha=1.0, inplace=False):
    """x where positive, alpha * (exp(x / alpha) - 1) elsewhere"""
    return _written(torch.celu(input, alpha), input, inplace)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    """x where positive, negative_slope * x elsewhere"""
    return _written(_nn.leaky_relu(input, negative_slope), input, inplace)


def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    """A leaky ReLU whose slope is drawn from [lower, upper) while training."""
    if training:
        slope = torch.empty_like(input).uniform_(lower, upper)
        return _written(torch.where(input <= 0, input * slope, input), input, inplace)
    return leaky_relu(input, (lower + upper) / 2, inplace)


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """x clamped to [min_val, max_val]"""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return _written(_nn.hardtanh(input, min_val, max_val), input, inplace)


def hardsigmoid(input, inplace=False):
    """relu6(x + 3) / 6"""
    return _written(_nn.hardsigmoid(input), input, inplace)


def hardswish(input, inplace=False):
    """x * relu6(x + 3) / 6"""
    return _written(_nn.hardswish(input), input, inplace)


def silu(input, inplace=False):
    """x * sigmoid(x)"""
    return _written(_nn.silu(input), input, inplace)


def mish(input, inplace=False):
    """x * tanh(softplus(x))"""
    return _written(_nn.mish(input), input, inplace)


def threshold(input, threshold, value, inplace=False):
    """x where x > threshold, else value"""
    return _written(torch.threshold(input, threshold, value), input, inplace)


def glu(input, dim=-1):
    """The first half of `dim` times the sigmoid of the second"""
    if input.dim() == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    return _nn.glu(input, dim)


def sigmoid(input):
    """1 / (1 + exp(-x))"""
    return input.sigmoid()


def tanh(input):
    """tanh(x)"""
    return input.tanh()


def _implicit_dim(name, ndim, stacklevel):
    import warnings

    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.",
        stacklevel=stacklevel,
    )
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """exp(x) divided by its sum over `dim`"""
    if dim is None:
        dim = _implicit_dim("softmax", input.dim(), _stacklevel)
    return input.softmax(dim) if dtype is None else input.softmax(dim, dtype=dtype)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """softmax(-x)"""
    if dim is None:
        dim = _implicit_dim("softmin", input.dim(), _stacklevel)
    return (-input).softmax(dim) if dtype is None else (-input).softmax(dim, dtype=dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """log(softmax(x))"""
    if dim is None:
        dim = _implicit_dim("log_softmax", input.dim(), _stacklevel)
    return input.log_softmax(dim) if dtype is None else input.log_softmax(dim, dtype=dtype)


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """A sample of the Gumbel-softmax distribution; with `hard` it is one-hot, with the gradient of the soft one."""
    noise = -torch.empty_like(logits).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    return torch.zeros_like(logits).scatter_(dim, index, 1.0) - soft.detach() + soft


def bilinear(input1, input2, weight, bias=None):
    """`input1 @ weight[k] @ input2 + bias[k]` for each output feature k."""
    half = input1.unsqueeze(-2).unsqueeze(-2) @ weight
    result = (half.squeeze(-2) * input2.unsqueeze(-2)).sum(-1)
    return result if bias is None else result + bias


# Dropout


def _check_probability(p):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(input, p=0.5, training=True, inplace=False):
    """Zeroes values with probability `p` and scales the others to keep the mean."""
    _check_probability(p)
    return _written(torch.dropout(input, p, training), input, inplace)


def _feature_dropout(input, p, training, inplace):
    if p == 0 or not training or input.numel() == 0:
        return input
    shape = tuple(input.shape[:2]) + (1,) * (input.dim() - 2)
    keep = torch.empty(shape, dtype=input.dtype, device=input.device).bernoulli_(1 - p)
    return _written(input * (keep if p == 1 else keep.div_(1 - p)), input, inplace)


def dropout1d(input, p=0.5, training=True, inplace=False):
    """Zeroes whole channels of (C, L) or (N, C, L)."""
    _check_probability(p)
    if input.dim() not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. Note that dropout1d exists to provide "
            "channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional batch dimension "
            "(i.e. 2D or 3D inputs)."
        )
    return _channel_dropout(input, p, training, inplace, input.dim() == 3)


def dropout2d(input, p=0.5, training=True, inplace=False):
    """Zeroes whole channels of (N, C, H, W)."""
    _check_probability(p)
    return _feature_dropout(input, p, training, inplace)


def dropout3d(input, p=0.5, training=True, inplace=False):
    """Zeroes whole channels of (C, D, H, W) or (N, C, D, H, W)."""
    _check_probability(p)
    return _channel_dropout(input, p, training, inplace, input.dim() != 4)


def _channel_dropout(input, p, training, inplace, batched):
    if batched:
        return _feature_dropout(input, p, training, inplace)
    return _written(_feature_dropout(input.unsqueeze(0), p, training, False).squeeze(0), input, inplace)


def _alpha_dropout(input, p, training, inplace, shape):
    if p == 0 or not training or input.numel() == 0:
        return input
    if p == 1:
        return _written(input * 0, input, inplace)
    alpha = 1.7580993408473766
    scale = 1.0 / ((alpha * alpha * p + 1) * (1 - p)) ** 0.5
    keep = torch.empty(shape, dtype=input.dtype, device=input.device).bernoulli_(1 - p)
    shift = (keep - 1) * (alpha * scale) + alpha * scale * p
    return _written(input * (keep * scale) + shift, input, inplace)


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Dropout that keeps the mean and variance of SELU activations."""
    _check_probability(p)
    return _alpha_dropout(input, p, training, inplace, tuple(input.shape))


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """`alpha_dropout` of whole channels."""
    _check_probability(p)
    return _alpha_dropout(input, p, training, inplace, tuple(input.shape[:2]) + (1,) * (input.dim() - 2))


# Embeddings


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    """The rows of `weight` at the indices `input`."""
    if padding_idx is None:
        padding_idx = -1
    else:
        rows = weight.size(0)
        if not -rows <= padding_idx < rows:
            raise AssertionError("Padding_idx must be within num_embeddings")
        if padding_idx < 0:
            padding_idx += rows
    if max_norm is not None:
        _renormalize(weight, input, max_norm, norm_type)
    return torch.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


def _renormalize(weight, indices, max_norm, norm_type):
    """Scales the rows of `weight` that are looked up and whose norm is above `max_norm` down to it."""
    with torch.no_grad():
        rows = indices.reshape(-1).unique()
        looked_up = weight[rows]
        norms = looked_up.norm(norm_type, 1, keepdim=True)
        weight[rows] = torch.where(norms > max_norm, looked_up * (max_norm / (norms + 1e-7)), looked_up)


# Normalization


def _check_batch(size):
    """Training on one value a channel would divide by a variance of zero."""
    count = size[0]
    for extent in size[2:]:
        count *= extent
    if count == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {size}")


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    """Normalizes each channel by the statistics of the batch, or by the running ones."""
    if training:
        _check_batch(input.size())
    return torch.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, True)


def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1,
                  eps=1e-5):
    """Normalizes each channel of each sample: batch norm with every channel of every sample as a channel."""
    batch, channels = input.size(0), input.size(1)
    spatial = tuple(input.shape[2:])
    if use_input_stats:
        count = 1
        for extent in spatial:
            count *= extent
        if count == 1:
            raise ValueError(f"Expected more than 1 spatial element when training, got input size {input.size()}")

    def repeated(tensor):
        return None if tensor is None else tensor.repeat(batch)

    mean, var = repeated(running_mean), repeated(running_var)
    result = torch.batch_norm(
        input.reshape((1, batch * channels) + spatial), repeated(weight), repeated(bias), mean, var, use_input_stats, momentum,
        eps, True,
    )
    if use_input_stats and running_mean is not None:
        running_mean.copy_(mean.view(batch, channels).mean(0))
        running_var.copy_(var.view(batch, channels).mean(0))
    return result.view(input.shape)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """Normalizes over the trailing dims `normalized_shape`, then scales and shifts."""
    return torch.layer_norm(input, normalized_shape, weight, bias, eps)


def rms_norm(input, normalized_shape, weight=None, eps=None):
    """Divides by the root of the mean square over the trailing dims `normalized_shape`, then scales."""
    return torch.rms_norm(input, normalized_shape, weight, eps)


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
    """Normalizes over groups of channels and all positions, then scales and shifts each channel."""
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    return torch.group_norm(input, num_groups, weight, bias, eps)


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


# Distances


def cosine_similarity(x1, x2, dim=1, eps=1e-8):
    """The cosine of the angle between vectors along `dim`."""
    x1, x2 = torch.broadcast_tensors(x1, x2)
    return ((x1 / x1.norm(2, dim, keepdim=True).clamp_min(eps)) * (x2 / x2.norm(2, dim, keepdim=True).clamp_min(eps))).sum(dim)


def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    """The p-norm of the difference of vectors in the last dim."""
    return (x1 - x2 + eps).norm(p, -1, keepdim=keepdim)


# Moving values


def pad(input, pad, mode="constant", value=None):
    """Pads the last dims by `pad`: left and right of the last one, then of the one before it."""
    return _nn.pad(input, pad, mode, value)


def pixel_shuffle(input, upscale_factor):
    """Makes an image larger by taking its pixels from channels."""
    factor = upscale_factor
    *lead, channels, height, width = input.shape
    x = input.reshape(-1, channels // factor**2, factor, factor, height, width)
    return x.permute(0, 1, 4, 2, 5, 3).reshape(*lead, channels // factor**2, height * factor, width * factor)


def pixel_unshuffle(input, downscale_factor):
    """The reverse of `pixel_shuffle`."""
    factor = downscale_factor
    *lead, channels, height, width = input.shape
    x = input.reshape(-1, channels, height // factor, factor, width // factor, factor)
    return x.permute(0, 1, 3, 5, 2, 4).reshape(*lead, channels * factor**2, height // factor, width // factor)


def channel_shuffle(input, groups):
    """Deals the channels of each group out over all groups."""
    batch, channels = input.size(0), input.size(1)
    x = input.reshape(batch, groups, channels // groups, *input.shape[2:])
    return x.transpose(1, 2).reshape(input.shape)


def _block_positions(size, kernel, dilation, padding, stride, device):
    """Where the blocks along one dim lie in the padded input: (blocks, kernel) indices."""
    blocks = (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
    starts = torch.arange(blocks, device=device).reshape(-1, 1) * stride
    return starts + torch.arange(kernel, device=device) * dilation


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """The sliding blocks of images: (N, C * kernel area, blocks)."""
    batched = input.dim() == 4
    x = input if batched else input.unsqueeze(0)
    kernel, dilation, padding, stride = _pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride)
    rows = _block_positions(x.size(2), kernel[0], dilation[0], padding[0], stride[0], x.device)
    columns = _block_positions(x.size(3), kernel[1], dilation[1], padding[1], stride[1], x.device)
    x = _nn.pad(x, [padding[1], padding[1], padding[0], padding[0]])
    x = x.index_select(2, rows.reshape(-1)).index_select(3, columns.reshape(-1))
    batch, channels = x.shape[:2]
    x = x.reshape(batch, channels, rows.size(0), kernel[0], columns.size(0), kernel[1]).permute(0, 1, 3, 5, 2, 4)
    x = x.reshape(batch, channels * kernel[0] * kernel[1], rows.size(0) * columns.size(0))
    return x if batched else x.squeeze(0)


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """Sums sliding blocks into images: the transpose of `unfold`."""
    batched = input.dim() == 3
    x = input if batched else input.unsqueeze(0)
    size, kernel = _pair(output_size), _pair(kernel_size)
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


def __getattr__(name):
    raise _C._missing("torch.nn.functional", name, list(globals()))
