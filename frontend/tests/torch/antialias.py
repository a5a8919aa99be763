"""Resizing with antialiasing: smaller, larger, by sizes and by factors, both filters, gradients, refusals."""

import torch
import torch.nn.functional as F


def show(label, tensor):
    print(label, tuple(tensor.shape), [round(x, 3) + 0.0 for x in tensor.detach().flatten().tolist()])


def attempt(label, call):
    try:
        print(label, call())
    except Exception as error:
        print(label, type(error).__name__)


image = torch.sin(torch.arange(84.0, dtype=torch.float64).reshape(1, 2, 7, 6) ** 1.5)
for mode in ("bilinear", "bicubic"):
    for size in (3, (2, 9), (7, 3), (10, 10)):
        show(f"{mode} {size}", F.interpolate(image, size, mode=mode, antialias=True))
    show(f"{mode} by a factor", F.interpolate(image, scale_factor=0.45, mode=mode, antialias=True))
    show(f"{mode} by two", F.interpolate(image, scale_factor=(0.5, 1.7), mode=mode, antialias=True))
    show(f"{mode} again", F.interpolate(image, scale_factor=0.45, mode=mode, antialias=True, recompute_scale_factor=True))
    show(f"{mode} corners", F.interpolate(image, (4, 3), mode=mode, align_corners=True, antialias=True))
given = image.clone().requires_grad_()
(F.interpolate(given, (3, 4), mode="bicubic", antialias=True) * torch.arange(12.0).reshape(3, 4)).sum().backward()
show("gradient", given.grad[0, 0])
print(F.interpolate(image.float(), 3, mode="bilinear", antialias=True).dtype)
attempt("nearest", lambda: F.interpolate(image, 3, antialias=True))
attempt("no size", lambda: F.interpolate(image, mode="bilinear", antialias=True))
