"""Loss functions."""

import math

import torch
from torch._C import Tensor, _nn

_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def _named(size_average, reduce, reduction):
    """The reduction that the two older settings mean, where they are given."""
    if size_average is None and reduce is None:
        return reduction
    import warnings

    if reduce is False:
        replacement = "none"
    else:
        replacement = "sum" if size_average is False else "mean"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{replacement}' instead.", stacklevel=3
    )
    return replacement


def _number(size_average, reduce, reduction):
    """The reduction as the native ops number it."""
    number = _REDUCTIONS.get(_named(size_average, reduce, reduction))
    if number is None:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return number


def _reduce(loss, size_average, reduce, reduction):
    number = _number(size_average, reduce, reduction)
    if number == 0:
        return loss
    return loss.mean() if number == 1 else loss.sum()


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """log(1 + exp(-y x))"""
    return _reduce(torch.log1p(torch.exp(-target * input)), size_average, reduce, reduction)


def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"):
    """x where the target is 1, max(0, margin - x) where it is -1"""
    zeros = torch.zeros_like(input)
    apart = torch.where(target != 1, (margin - input).clamp_min(0), zeros)
    together = torch.where(target != -1, input, zeros)
    return _reduce(apart + together, size_average, reduce, reduction)


def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """max(0, margin - y (x1 - x2))"""
    if input1.dim() != input2.dim() or input1.dim() != target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    return _reduce((-target * (input1 - input2) + margin).clamp_min(0), size_average, reduce, reduction)


def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"):
    """One minus the cosine where the target is 1, the cosine above the margin where it is -1."""
    from torch.nn.functional import cosine_similarity

    cosine = cosine_similarity(input1, input2, target.dim())
    zeros = torch.zeros_like(cosine)
    loss = torch.where(target == 1, 1 - cosine, zeros) + torch.where(target == -1, (cosine - margin).clamp_min(0), zeros)
    return _reduce(loss, size_average, reduce, reduction)


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None, reduce=None,
                        reduction="mean"):
    """max(0, margin + d(anchor, positive) - d(anchor, negative)) with the p-norm as distance"""
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")

    def distance(a, b):
        return (a - b + eps).norm(p, -1)

    return _triplet(anchor, positive, negative, distance, margin, swap, _named(size_average, reduce, reduction))


def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False,
                                      reduction="mean"):
    """`triplet_margin_loss` with any distance."""
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if distance_function is None:
        from torch.nn.functional import pairwise_distance as distance_function
    return _triplet(anchor, positive, negative, distance_function, margin, swap, reduction)


def _triplet(anchor, positive, negative, distance, margin, swap, reduction):
    near = distance(anchor, positive)
    far = distance(anchor, negative)
    if swap:
        far = torch.minimum(far, distance(positive, negative))
    return _reduce((margin + near - far).clamp_min(0), None, None, reduction)


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """The negative log-likelihood of normal distributions with means `input` and variances `var`."""
    if not isinstance(var, Tensor):
        var = torch.full_like(input, var)
    if torch.any(var < 0):
        raise ValueError("var has negative entry/entries")
    if var.size() != input.size():
        if input.size()[:-1] == var.size():
            var = var.unsqueeze(-1)
        elif not (input.size()[:-1] == var.size()[:-1] and var.size(-1) == 1):
            raise ValueError("var is of incorrect size")
    if reduction not in _REDUCTIONS:
        raise ValueError(reduction + " is not valid")
    var = torch.clamp(var, min=eps)
    loss = 0.5 * (torch.log(var) + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return _reduce(loss, None, None, reduction)


def poisson_nll_loss(input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None, reduction="mean"):
    """The negative log-likelihood of Poisson distributions with (log-)rates `input`."""
    if log_input:
        loss = torch.exp(input) - target * input
    else:
        loss = input - target * torch.log(input + eps)
    if full:
        stirling = target * torch.log(target) - target + 0.5 * torch.log(2 * math.pi * target)
        loss = loss + stirling.masked_fill(target <= 1, 0)
    return _reduce(loss, size_average, reduce, reduction)


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction="mean"):
    """Binary cross entropy of logits, averaged over classes."""
    loss = -(target * _nn.logsigmoid(input) + (1 - target) * _nn.logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    return _reduce(loss.mean(-1), size_average, reduce, reduction)


def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"):
    """The mean over the other classes of max(0, margin - x[target] + x)^p."""
    if p != 1 and p != 2:
        raise ValueError("only p == 1 and p == 2 supported")
    scores = input if input.dim() == 2 else input.unsqueeze(0)
    index = target.reshape(-1, 1)
    loss = (margin - scores.gather(1, index) + scores).clamp_min(0) ** p
    if weight is not None:
        loss = loss * weight[index]
    loss = loss.scatter(1, index, 0.0).sum(1) / scores.size(1)
    return _reduce(loss if input.dim() == 2 else loss.squeeze(0), size_average, reduce, reduction)


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """The mean over pairs of a target class (those before the first -1) and another of max(0, 1 - x[target] + x[other])."""
    scores = input if input.dim() == 2 else input.unsqueeze(0)
    targets = target if target.dim() == 2 else target.unsqueeze(0)
    classes = scores.size(1)
    listed = (targets >= 0).to(torch.int64).cumprod(1).to(torch.bool)
    index = targets.clamp_min(0)
    is_target = torch.zeros_like(scores, dtype=torch.int64).scatter_add(1, index, listed.to(torch.int64)) > 0
    margins = (1 - scores.gather(1, index).unsqueeze(2) + scores.unsqueeze(1)).clamp_min(0)
    counted = listed.unsqueeze(2) & ~is_target.unsqueeze(1)
    loss = torch.where(counted, margins, torch.zeros_like(margins)).sum((1, 2)) / classes
    return _reduce(loss if input.dim() == 2 else loss.squeeze(0), size_average, reduce, reduction)


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """The loss of connectionist temporal classification."""
    return torch.ctc_loss(
        log_probs, targets, input_lengths, target_lengths, blank, _number(None, None, reduction), zero_infinity
    )
