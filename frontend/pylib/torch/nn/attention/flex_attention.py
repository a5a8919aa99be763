"""Attention whose scores a function changes, and whose mask is a function of positions."""

import torch


class BlockMask:
    """Which positions see which: `mask_mod(batch, head, query, key)` over ranges of these sizes; None is one for all."""

    def __init__(self, mask_mod, batch, heads, query_length, key_length):
        self.mask_mod = mask_mod
        self.shape = (batch, heads, query_length, key_length)

    def to_dense(self, device=None):
        """The mask as a tensor of bools, (batch, heads, query, key)."""
        return self.mask_mod(*_positions([size or 1 for size in self.shape], device))


def _positions(sizes, device):
    """The index along each of four dims, shaped to broadcast over the others."""
    return [
        torch.arange(size, device=device).reshape([-1 if d == dim else 1 for d in range(4)]) for dim, size in enumerate(sizes)
    ]


def create_block_mask(mask_mod, B, H, Q_LEN, KV_LEN, device=None, BLOCK_SIZE=128, _compile=False):
    """The mask that `mask_mod` describes."""
    return BlockMask(mask_mod, B, H, Q_LEN, KV_LEN)


def flex_attention(query, key, value, score_mod=None, block_mask=None, scale=None, enable_gqa=False, return_lse=False,
                   kernel_options=None):
    """Attention of (batch, heads, length, width) tensors.

    `score_mod(score, batch, head, query, key)` is applied to all scores at once, with indices that broadcast over them.
    """
    if enable_gqa:
        groups = query.size(1) // key.size(1)
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
    scores = query @ key.transpose(-2, -1) * (query.size(-1) ** -0.5 if scale is None else scale)
    positions = _positions(scores.shape, scores.device)
    if score_mod is not None:
        scores = score_mod(scores, *positions)
    if block_mask is not None:
        scores = scores.masked_fill(~block_mask.mask_mod(*positions), float("-inf"))
    # A row that sees nothing is zero, not NaN.
    weights = scores.softmax(-1).masked_fill((scores == float("-inf")).all(-1, keepdim=True), 0.0)
    output = weights @ value
    return (output, scores.logsumexp(-1)) if return_lse else output
