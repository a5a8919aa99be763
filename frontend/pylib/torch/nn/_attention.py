"""Multi-head attention as one function."""

import math

import torch
from torch._C import _nn


def _joined_mask(attn_mask, key_padding_mask, dtype, batch, heads, length):
    """The two masks as one that is added to the scores of shape (batch, heads, target, source); None without any."""
    def additive(mask):
        if mask.dtype == torch.bool:
            return torch.zeros_like(mask, dtype=dtype).masked_fill(mask, float("-inf"))
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
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    head_dim = width // num_heads

    bias_of_q, bias_of_k, bias_of_v = (None, None, None) if in_proj_bias is None else in_proj_bias.chunk(3)
    if not use_separate_proj_weight:
        q_proj_weight, k_proj_weight, v_proj_weight = in_proj_weight.chunk(3)
    q = _nn.linear(query, q_proj_weight, bias_of_q)
    k = _nn.linear(key, k_proj_weight, bias_of_k)
    v = _nn.linear(value, v_proj_weight, bias_of_v)
    added = 0
    if bias_k is not None and bias_v is not None:
        k = torch.cat([k, bias_k.repeat(1, batch, 1)])
        v = torch.cat([v, bias_v.repeat(1, batch, 1)])
        added += 1
    q = q.view(length, batch, num_heads, head_dim).permute(1, 2, 0, 3)
    k = k.view(k.shape[0], batch, num_heads, head_dim).permute(1, 2, 0, 3)
    v = v.view(v.shape[0], batch, num_heads, head_dim).permute(1, 2, 0, 3)
    if add_zero_attn:
        zeros = torch.zeros(batch, num_heads, 1, head_dim, dtype=k.dtype, device=k.device)
        k = torch.cat([k, zeros], dim=2)
        v = torch.cat([v, zeros], dim=2)
        added += 1
    if added and attn_mask is not None:
        attn_mask = _nn.pad(attn_mask, [0, added])
    if added and key_padding_mask is not None:
        key_padding_mask = _nn.pad(key_padding_mask, [0, added])
    mask = _joined_mask(attn_mask, key_padding_mask, q.dtype, batch, num_heads, k.size(2))
    if not training:
        dropout_p = 0.0

    weights = None
    if need_weights:
        scores = (q * math.sqrt(1.0 / head_dim)) @ k.transpose(-2, -1)
        if mask is not None:
            scores = scores + mask
        weights = scores.softmax(-1)
        if dropout_p > 0.0:
            weights = torch.dropout(weights, dropout_p, True)
        output = weights @ v
        if average_attn_weights:
            weights = weights.mean(dim=1)
        if not batched:
            weights = weights.squeeze(0)
    else:
        output = _nn.scaled_dot_product_attention(q, k, v, mask, dropout_p)
    output = output.permute(2, 0, 1, 3).reshape(length, batch, width)
    output = _nn.linear(output, out_proj_weight, out_proj_bias)
    return (output if batched else output.squeeze(1)), weights
