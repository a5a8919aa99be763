"""Tensors from memory and lists, slopes of samples, and windows."""

import torch


def attempt(label, call):
    try:
        print(label, call())
    except Exception as error:
        print(label, type(error).__name__, error)


def show(label, tensors):
    for tensor in tensors:
        print(label, tuple(tensor.shape), [round(x, 4) + 0.0 for x in tensor.flatten().tolist()])


x = torch.tensor([1.0, 2.0])
print(torch.asarray([1, 2.0]), torch.asarray(3), torch.asarray(x) is x, torch.asarray(x, dtype=torch.float64))
print(torch.asarray(x, copy=True).data_ptr() == x.data_ptr(), torch.asarray(x).data_ptr() == x.data_ptr())
attempt("no copy of a list", lambda: torch.asarray([1], copy=False))
attempt("no copy to another type", lambda: torch.asarray(x, dtype=torch.int32, copy=False))
raw = bytearray(range(16))
print(torch.frombuffer(raw, dtype=torch.int32), torch.frombuffer(raw, dtype=torch.uint8, count=3, offset=2))
attempt("too many", lambda: torch.frombuffer(raw, dtype=torch.int64, count=3))
attempt("behind the end", lambda: torch.frombuffer(raw, dtype=torch.uint8, offset=16))
attempt("no multiple", lambda: torch.frombuffer(raw, dtype=torch.int32, offset=1))
attempt("empty", lambda: torch.frombuffer(bytearray(), dtype=torch.int32))

line = torch.tensor([1.0, 4.0, 9.0, 16.0, 30.0])
grid = torch.arange(12.0).reshape(3, 4) ** 2
places = torch.tensor([0.0, 1.0, 3.0, 7.0, 8.0])
show("slopes", torch.gradient(line))
show("of a grid", torch.gradient(grid))
show("along a dim", torch.gradient(grid, dim=1, spacing=2.0))
show("by parabolas", torch.gradient(line, edge_order=2))
show("at places", torch.gradient(line, spacing=(places,)))
show("at places, by parabolas", torch.gradient(line, spacing=(places,), edge_order=2))
attempt("too few", lambda: torch.gradient(torch.ones(1)))
attempt("edges", lambda: torch.gradient(line, edge_order=3))
show("kaiser", [torch.kaiser_window(5), torch.kaiser_window(6, periodic=False, beta=4.0), torch.kaiser_window(1)])
