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
    batched = log_probs.dim() == 3
    scores = log_probs if batched else log_probs.unsqueeze(1)
    steps, batch = scores.size(0), scores.size(1)
    lengths, counts = _lengths(input_lengths, batch, "input"), _lengths(target_lengths, batch, "target")
    if not 0 <= blank < scores.size(2):
        raise RuntimeError("blank must be in label range")
    if max(lengths) > steps:
        raise RuntimeError(
            f"Expected input_lengths to have value at most {steps}, but got value {max(lengths)} (while checking arguments for "
            "ctc_loss_allocate_outputs)"
        )
    rows = _target_rows(targets if targets.dim() == 2 or batched else targets.reshape(1, -1), counts)
    losses = torch.stack([
        _ctc_of_one(scores[:length, index], row, blank) for index, (length, row) in enumerate(zip(lengths, rows))
    ])
    if zero_infinity:
        losses = torch.where(losses == math.inf, torch.zeros_like(losses), losses)
    if reduction == "mean":
        return (losses / torch.tensor([max(count, 1) for count in counts], dtype=losses.dtype, device=losses.device)).mean()
    if reduction == "sum":
        return losses.sum()
    if reduction != "none":
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return losses if batched else losses.squeeze(0)


def _lengths(lengths, batch, name):
    """Lengths as a list, one for each sample of the batch."""
    if isinstance(lengths, torch.Tensor):
        lengths = lengths.reshape(-1).tolist()
    elif isinstance(lengths, int):
        lengths = [lengths]
    lengths = list(lengths)
    if len(lengths) != batch:
        raise RuntimeError(f"{name}_lengths must be of size batch_size")
    return lengths


def _target_rows(targets, counts):
    """The labels of each sample, from rows that may be longer or from all samples behind each other."""
    if targets.dim() == 2:
        return [row[:count] for row, count in zip(targets, counts)]
    if targets.numel() != sum(counts):
        raise RuntimeError(
            f"Expected tensor to have size {sum(counts)} at dimension 0, but got size {targets.numel()} for argument #2 'targets' "
            "(while checking arguments for ctc_loss_allocate_outputs)"
        )
    return list(targets.split(counts))


def _ctc_of_one(scores, labels, blank):
    """Minus the log of the probability of all ways to write `labels` over the steps, with blanks between and repeats."""
    count = labels.numel()
    if scores.size(0) == 0:
        return scores.new_zeros(()) if count == 0 else scores.new_full((), math.inf)
    marks = torch.full((2 * count + 1,), blank, dtype=torch.int64, device=scores.device)
    marks[1::2] = labels.to(torch.int64)
    # A label may follow the one before without a blank between if it is another one.
    skips = torch.zeros(2 * count + 1, dtype=torch.bool, device=scores.device)
    skips[3::2] = marks[3::2] != marks[1:-2:2]
    never = scores.new_full((1,), -math.inf)
    emitted = scores[:, marks]
    reach = torch.cat([emitted[0, :2], never.expand(max(2 * count - 1, 0))]) if count else emitted[0, :1]
    for step in range(1, scores.size(0)):
        one = torch.cat([never, reach[:-1]])
        two = torch.where(skips, torch.cat([never, one[:-1]]), never)
        reach = _log_sum(torch.stack([reach, one, two])) + emitted[step]
    return _log_softmax_gradient(scores) - _log_sum(reach[-2:])


def _log_softmax_gradient(scores):
    """Zero, with the probabilities as its gradient.

    PyTorch's gradient is that of the scores before the log-softmax they come from; going through it changes nothing more.
    """
    present = torch.where(scores.detach() == -math.inf, torch.zeros_like(scores), scores)
    return (scores.detach().exp() * (present - present.detach())).sum()


def _log_sum(values):
    """`logsumexp` over the first dim, with no NaN in its gradient where all values are minus infinity."""
    largest = values.detach().amax(0)
    largest = torch.where(largest == -math.inf, torch.zeros_like(largest), largest)
    total = (values - largest).exp().sum(0)
    reached = total > 0
    logs = torch.where(reached, total, torch.ones_like(total)).log() + largest
    return torch.where(reached, logs, torch.full_like(total, -math.inf))
