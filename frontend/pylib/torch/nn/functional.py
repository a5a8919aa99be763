"""`torch.nn.functional`: the native functions, and those that are compositions of others.

What the native module has under a name of its own is used as it is (the import at the end wins): the compositions here are
for names it does not have.
"""

import math

import torch
from torch import Tensor


def _reduce(loss, reduction):
    if reduction == "mean":
        return loss.mean()
    if reduction == "sum":
        return loss.sum()
    if reduction == "none":
        return loss
    raise ValueError(f"{reduction} is not a valid value for reduction")


def _legacy_reduction(size_average, reduce, reduction):
    """The reduction that the two older settings mean, where they are given."""
    if size_average is None and reduce is None:
        return reduction
    if reduce is False:
        return "none"
    return "sum" if size_average is False else "mean"


# Activations


def tanhshrink(input):
    """x - tanh(x)"""
    return input - input.tanh()


def softsign(input):
    """x / (1 + |x|)"""
    return input / (input.abs() + 1)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """softmax(-x)"""
    return softmax(-input, dim, dtype=dtype)


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """A sample of the Gumbel-softmax distribution; with `hard` it is one-hot, with the gradient of the soft one."""
    noise = -torch.empty_like(logits, memory_format=torch.legacy_contiguous_format).exponential_().log()
    soft = ((logits + noise) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    one_hot = torch.zeros_like(logits, memory_format=torch.legacy_contiguous_format).scatter_(dim, index, 1.0)
    return one_hot - soft.detach() + soft


# Norms


def normalize(input, p=2.0, dim=1, eps=1e-12, out=None):
    """Divides by the p-norm over `dim`, or by `eps` where the norm is smaller."""
    norm = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    if out is None:
        return input / norm
    return torch.div(input, norm, out=out)


def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """Divides by a power of the mean of squares over `size` neighbouring channels."""
    if input.dim() < 3:
        raise ValueError(f"Expected 3D or higher dimensionality                          input (got {input.dim()} dimensions)")
    squares = input.mul(input).unsqueeze(1)
    flat = squares.flatten(3) if input.dim() > 3 else squares
    padded = pad(flat.unsqueeze(-1), [0, 0, 0, 0, size // 2, (size - 1) // 2])
    mean = padded.squeeze(1).unfold(1, size, 1).mean(-1).reshape(input.shape)
    return input / mean.mul(alpha).add(k).pow(beta)


# Losses


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """log(1 + exp(-y x))"""
    loss = torch.log1p(torch.exp(-target * input))
    return _reduce(loss, _legacy_reduction(size_average, reduce, reduction))


def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    """x where the target is 1, max(0, margin - x) where it is -1"""
    zeros = torch.zeros_like(input)
    apart = torch.where(target != 1, (margin - input).clamp_min(0), zeros)
    together = torch.where(target != -1, input, zeros)
    return _reduce(apart + together, _legacy_reduction(size_average, reduce, reduction))


def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """max(0, margin - y (x1 - x2))"""
    loss = (-target * (input1 - input2) + margin).clamp_min(0)
    return _reduce(loss, _legacy_reduction(size_average, reduce, reduction))


def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """One minus the cosine where the target is 1, the cosine above the margin where it is -1."""
    cosine = cosine_similarity(input1, input2, target.dim())
    zeros = torch.zeros_like(cosine)
    loss = torch.where(target == 1, 1 - cosine, zeros) + torch.where(target == -1, (cosine - margin).clamp_min(0), zeros)
    return _reduce(loss, _legacy_reduction(size_average, reduce, reduction))


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None, reduce=None,
                        reduction="mean"):
    """max(0, margin + d(anchor, positive) - d(anchor, negative)) with the p-norm as distance"""
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = torch.minimum(far, pairwise_distance(positive, negative, p, eps))
    return _reduce((margin + near - far).clamp_min(0), _legacy_reduction(size_average, reduce, reduction))


def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False,
                                      reduction="mean"):
    """`triplet_margin_loss` with any distance."""
    distance = pairwise_distance if distance_function is None else distance_function
    near = distance(anchor, positive)
    far = distance(anchor, negative)
    if swap:
        far = torch.minimum(far, distance(positive, negative))
    return _reduce((margin + near - far).clamp_min(0), reduction)


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """The negative log-likelihood of normal distributions with means `input` and variances `var`."""
    if not isinstance(var, Tensor):
        var = torch.full_like(input, var)
    if torch.any(var < 0):
        raise ValueError("var has negative entry/entries")
    var = var.clamp(min=eps)
    loss = 0.5 * (torch.log(var) + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return _reduce(loss, reduction)


def poisson_nll_loss(input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean"):
    """The negative log-likelihood of Poisson distributions with (log-)rates `input`."""
    if log_input:
        loss = torch.exp(input) - target * input
    else:
        loss = input - target * torch.log(input + eps)
    if full:
        stirling = target * torch.log(target) - target + 0.5 * torch.log(2 * math.pi * target)
        loss = loss + stirling.masked_fill(target <= 1, 0)
    return _reduce(loss, _legacy_reduction(size_average, reduce, reduction))


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """Binary cross entropy of logits, averaged over classes."""
    loss = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    return _reduce(loss.mean(-1), _legacy_reduction(size_average, reduce, reduction))


def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    """The mean over the other classes of max(0, margin - x[target] + x)^p."""
    scores = input if input.dim() == 2 else input.unsqueeze(0)
    index = target.reshape(-1, 1)
    loss = (margin - scores.gather(1, index) + scores).clamp_min(0) ** p
    if weight is not None:
        loss = loss * weight[index]
    loss = loss.scatter(1, index, 0.0).sum(1) / scores.size(1)
    return _reduce(loss if input.dim() == 2 else loss.squeeze(0), _legacy_reduction(size_average, reduce, reduction))


# Pooling


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The p-norm of each window of a sequence."""
    size = kernel_size if isinstance(kernel_size, int) else kernel_size[0]
    mean = avg_pool1d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    return (torch.sign(mean) * torch.relu(torch.abs(mean))).mul(size).pow(1.0 / norm_type)


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """The p-norm of each window of an image."""
    height, width = (kernel_size, kernel_size) if isinstance(kernel_size, int) else kernel_size
    mean = avg_pool2d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    return (torch.sign(mean) * torch.relu(torch.abs(mean))).mul(height * width).pow(1.0 / norm_type)


# Attention


def _masked(attn_mask, key_padding_mask, dtype, batch, heads, length):
    """The two masks as one that is added to the scores of shape (batch, heads, target, source); None without any."""
    def additive(mask):
        if mask.dtype == torch.bool:
            return torch.zeros_like(mask, dtype=dtype).masked_fill_(mask, float("-inf"))
        return mask

    if attn_mask is not None:
        attn_mask = additive(attn_mask)
        if attn_mask.dim() == 3:
            attn_mask = attn_mask.view(batch, heads, attn_mask.size(1), attn_mask.size(2))
    if key_padding_mask is None:
        return attn_mask
    padding = additive(key_padding_mask).view(batch, 1, 1, length)
    return padding if attn_mask is None else attn_mask + padding


def multi_head_attention_forward(query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v,
                                 add_zero_attn, dropout_p, out_proj_weight, out_proj_bias, training=True,
                                 key_padding_mask=None, need_weights=True, attn_mask=None, use_separate_proj_weight=False,
                                 q_proj_weight=None, k_proj_weight=None, v_proj_weight=None, static_k=None, static_v=None,
                                 average_attn_weights=True, is_causal=False):
    """What `MultiheadAttention` computes, on (length, batch, feature) or (length, feature) inputs."""
    batched = query.dim() == 3
    if not batched:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    length, batch, width = query.shape
    if width != embed_dim_to_check:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {width}")
    head_dim = width // num_heads
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")

    bias_q, bias_key, bias_value = (None, None, None) if in_proj_bias is None else in_proj_bias.chunk(3)
    if not use_separate_proj_weight:
        q_proj_weight, k_proj_weight, v_proj_weight = in_proj_weight.chunk(3)
    q = linear(query, q_proj_weight, bias_q)
    k = linear(key, k_proj_weight, bias_key)
    v = linear(value, v_proj_weight, bias_value)
    extra = 0
    if bias_k is not None and bias_v is not None:
        k = torch.cat([k, bias_k.repeat(1, batch, 1)])
        v = torch.cat([v, bias_v.repeat(1, batch, 1)])
        extra += 1
    q = q.view(length, batch, num_heads, head_dim).permute(1, 2, 0, 3)
    k = k.view(k.shape[0], batch, num_heads, head_dim).permute(1, 2, 0, 3)
    v = v.view(v.shape[0], batch, num_heads, head_dim).permute(1, 2, 0, 3)
    if add_zero_attn:
        zeros = (batch, num_heads, 1, head_dim)
        k = torch.cat([k, torch.zeros(zeros, dtype=k.dtype, device=k.device)], dim=2)
        v = torch.cat([v, torch.zeros(zeros, dtype=v.dtype, device=v.device)], dim=2)
        extra += 1
    if extra and attn_mask is not None:
        attn_mask = pad(attn_mask, (0, extra))
    if extra and key_padding_mask is not None:
        key_padding_mask = pad(key_padding_mask, (0, extra))
    mask = _masked(attn_mask, key_padding_mask, q.dtype, batch, num_heads, k.size(2))
    if not training:
        dropout_p = 0.0

    weights = None
    if need_weights:
        scores = (q * math.sqrt(1.0 / head_dim)) @ k.transpose(-2, -1)
        if mask is not None:
            scores = scores + mask
        weights = softmax(scores, dim=-1)
        if dropout_p > 0.0:
            weights = dropout(weights, p=dropout_p)
        output = weights @ v
        if average_attn_weights:
            weights = weights.mean(dim=1)
        if not batched:
            weights = weights.squeeze(0)
    else:
        output = scaled_dot_product_attention(q, k, v, mask, dropout_p)
    output = output.permute(2, 0, 1, 3).contiguous().view(length, batch, width)
    output = linear(output, out_proj_weight, out_proj_bias)
    return (output if batched else output.squeeze(1)), weights


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """`interpolate` under its older name."""
    return interpolate(input, size, scale_factor, mode, align_corners)


from torch._C._nn import *
