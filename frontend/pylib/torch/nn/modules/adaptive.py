"""A softmax over many classes that spends little on the rare ones."""

from collections import namedtuple

import torch
from torch.nn import functional as F
from torch.nn.modules.container import ModuleList, Sequential
from torch.nn.modules.linear import Linear
from torch.nn.modules.module import Module

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-probabilities of classes ordered from frequent to rare.

    `cutoffs` split the classes: those below the first are in the head, which also has an entry for each further cluster; a cluster
    has a tail, whose inner size falls by `div_value` from one to the next.
    """

    def __init__(self, in_features, n_classes, cutoffs, div_value=4.0, head_bias=False, device=None, dtype=None):
        super().__init__()
        cutoffs = list(cutoffs)
        if len(cutoffs) == 0:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        ordered = all([low < high for low, high in zip(cutoffs, cutoffs[1:])])
        if not ordered or cutoffs[0] <= 0 or cutoffs[-1] > n_classes - 1 or any([int(c) != c for c in cutoffs]):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each value is "
                "between 1 and n_classes-1"
            )
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = cutoffs + [n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        options = {"device": device, "dtype": dtype}
        self.head = Linear(in_features, self.head_size, bias=head_bias, **options)
        self.tail = ModuleList()
        for number, (low, high) in enumerate(zip(self.cutoffs, self.cutoffs[1:])):
            inner = int(in_features // div_value ** (number + 1))
            self.tail.append(Sequential(
                Linear(in_features, inner, bias=False, **options), Linear(inner, high - low, bias=False, **options)
            ))

    def reset_parameters(self):
        """Draws all weights anew."""
        self.head.reset_parameters()
        for reduce, expand in self.tail:
            reduce.reset_parameters()
            expand.reset_parameters()

    def forward(self, input, target):
        batched = target.dim() > 0
        if target.dim() > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
        if not batched:
            input, target = input.unsqueeze(0), target.unsqueeze(0)
        if input.shape[0] != target.shape[0]:
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if target.numel() > 0 and (target.min() < 0 or target.max() >= self.n_classes):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range [{target.min().item()}, "
                f"{target.max().item()}] were found. "
            )
        # In the head each class of a cluster stands as that cluster.
        in_head = target
        output = input.new_zeros(target.size(0))
        for number in range(self.n_clusters):
            low, high = self.cutoffs[number], self.cutoffs[number + 1]
            rows = ((target >= low) & (target < high)).nonzero().squeeze(1)
            if rows.numel() == 0:
                continue
            in_head = in_head.index_fill(0, rows, self.shortlist_size + number)
            of_cluster = F.log_softmax(self.tail[number](input.index_select(0, rows)), dim=1)
            places = (target.index_select(0, rows) - low).unsqueeze(1)
            output = output.index_copy(0, rows, of_cluster.gather(1, places).squeeze(1))
        head = F.log_softmax(self.head(input), dim=1)
        output = output + head.gather(1, in_head.unsqueeze(1)).squeeze()
        loss = (-output).mean()
        return _ASMoutput(output if batched else output.squeeze(0), loss)

    def _get_full_log_prob(self, input, head_output):
        """The log-probabilities of all classes, given the output of the head."""
        head = F.log_softmax(head_output, dim=1)
        parts = [head[:, : self.shortlist_size]]
        for number, tail in enumerate(self.tail):
            of_cluster = head[:, self.shortlist_size + number].unsqueeze(1)
            parts.append(F.log_softmax(tail(input), dim=1) + of_cluster)
        return torch.cat(parts, dim=1)

    def log_prob(self, input):
        """The log-probabilities of all classes."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input):
        """The most probable class of each row; the tails are only computed where the head's best is a cluster."""
        head = self.head(input)
        best = torch.argmax(head, dim=1)
        rows = (best >= self.shortlist_size).nonzero().squeeze(1)
        if rows.numel() == 0:
            return best
        full = self._get_full_log_prob(input.index_select(0, rows), head.index_select(0, rows))
        return best.index_copy(0, rows, torch.argmax(full, dim=1))
