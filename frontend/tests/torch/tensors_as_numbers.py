"""Tensors of no dims where numbers belong: sizes, dims, counts, rates."""

import torch
import torch.nn.functional as F

x = torch.ones(2)


def attempt(label, call):
    try:
        print(label, call())
    except Exception as error:
        print(label, type(error).__name__)


two, three, half = torch.tensor(2), torch.tensor(3), torch.tensor(0.5)
attempt("linspace", lambda: torch.linspace(0, 1, three))
attempt("linspace of a float", lambda: torch.linspace(0, 1, torch.tensor(3.0)))
attempt("view", lambda: x.view(two, 1).shape)
attempt("view behind", lambda: x.view(1, two).shape)
attempt("zeros", lambda: torch.zeros(two))
attempt("zeros of two", lambda: torch.zeros(two, 3).shape)
attempt("zeros of a list", lambda: torch.zeros((two, 2)).shape)
attempt("reshape", lambda: x.reshape([two]).shape)
attempt("arange", lambda: torch.arange(three))
attempt("arange of floats", lambda: torch.arange(0, torch.tensor(2.5), torch.tensor(1)))
attempt("sum", lambda: x.sum(torch.tensor(0)))
attempt("expand", lambda: x.expand(three, 2).shape)
attempt("repeat", lambda: x.repeat(two))
attempt("narrow", lambda: x.narrow(0, torch.tensor(1), 1))
attempt("topk", lambda: x.topk(torch.tensor(1)).indices)
attempt("split", lambda: len(x.split(torch.tensor(1))))
attempt("full", lambda: torch.full((two,), half))
attempt("add", lambda: x.add(1, alpha=two))
attempt("one_hot", lambda: F.one_hot(torch.tensor([1]), three))
attempt("pad", lambda: F.pad(x, (torch.tensor(1), 0)))
attempt("cat", lambda: torch.cat([x, x], torch.tensor(0)))
attempt("dropout", lambda: F.dropout(x, torch.tensor(0.0)))
attempt("layer_norm", lambda: F.layer_norm(x, (two,)))
attempt("new_full", lambda: x.new_full((2,), three))
attempt("a bool", lambda: x.unsqueeze(torch.tensor(True)).shape)
attempt("one with a gradient", lambda: torch.full((2,), torch.tensor(1.0, requires_grad=True)))
print(x.to(None) is x, x.to(None, torch.float64).dtype, x.to(device=None) is x, x.to("cpu", None) is x)
print(x.new(2, 3).shape, x.new([1, 2]), x.long().new([1, 2]), x.new().shape, x.double().new(2).dtype, x.new(torch.Size([3])).shape)
