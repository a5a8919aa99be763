"""Values at the edges of types and shapes: integers where floats come out, powers that wrap around, clamps beyond the type, dims before the last."""

import torch


def show(value):
    print(value.dtype, tuple(value.shape), value.stride(), value.tolist())


small = torch.tensor([0, 1, 5, 7, 128, 255], dtype=torch.uint8)
show(small.logsumexp(0).round(decimals=4))
show(torch.tensor([[1, -1], [0, 5]]).logsumexp(0, keepdim=True).round(decimals=4))
show(torch.tensor([True, False]).logsumexp(0).round(decimals=4))
show(torch.pow(2, small))
show(torch.pow(3, small))
show(small.clamp(-1, 3))
show(small.clamp_min(-300))
show(torch.tensor([-5, 100], dtype=torch.int8).clamp_max(200))
show(torch.tensor([-5, 100], dtype=torch.int32).clamp(-(2**40), 2**40))
show(torch.tensor([float("inf"), float("-inf"), float("nan"), 1.5], dtype=torch.float16).nan_to_num())
show(torch.tensor([float("inf"), float("-inf"), float("nan"), 1.5], dtype=torch.bfloat16).nan_to_num())
show(torch.tensor([float("inf"), float("-inf"), float("nan"), 1.5]).nan_to_num())

cube = torch.arange(12.0).view(2, 3, 2)
show(torch.inner(cube, cube))
show(torch.inner(torch.arange(2.0), cube))
show(torch.inner(cube, torch.arange(2.0)))
show(torch.inner(torch.tensor(2.0), cube[0]))
show(torch.inner(torch.ones(2, 0), torch.ones(3, 1, 0)))

rows = torch.arange(6.0).view(2, 3)
show(torch.take_along_dim(rows, torch.tensor([[0]]), 0))
show(torch.take_along_dim(rows[:, :1], torch.tensor([[1, 0, 1]]), 0))
show(rows.index_fill(1, torch.tensor([-1]), 9))
show(rows.index_fill(0, torch.tensor(1), torch.tensor(7)))
show(torch.tensor(3.0).index_fill(0, torch.tensor([0]), 2))
show(torch.tensor(3.0).index_select(0, torch.tensor([0])))

infinity, nan = float("inf"), float("nan")
edges = [0.0, -0.0, infinity, -infinity, nan, 1.0, -1.0, 2.5]
for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
    x = torch.tensor(edges, dtype=dtype)
    for name in ("sin", "expm1", "relu", "digamma", "acosh"):
        print(name, getattr(torch, name)(x).tolist()[:4])
    print(x.clamp(0, 1).tolist(), x.clamp(min=-0.0).tolist(), x.clamp_max(0).tolist())
    print(torch.nn.functional.hardtanh(x, 0, 1).tolist(), torch.nn.functional.relu6(x).tolist())
    print(torch.nn.functional.softshrink(x[2:]).tolist(), torch.nn.functional.threshold(x, 0.0, 7.0).tolist())
    zeros = torch.tensor([0.0, -0.0], dtype=dtype).repeat(8)
    print(torch.maximum(zeros, zeros.neg()).tolist()[:2], torch.clamp_min(zeros, zeros.neg()).tolist()[:2])
    print(torch.fmax(zeros, zeros.neg()).tolist()[:2], torch.minimum(zeros, zeros.neg()).tolist()[:2])
    print(torch.copysign(torch.ones(4, dtype=dtype), x[:4]).tolist(), torch.signbit(x[:4]).tolist())
wide = torch.tensor([1e4, 1e-300, infinity], dtype=torch.float64)
for name in ("scaled_modified_bessel_k0", "scaled_modified_bessel_k1", "modified_bessel_k1", "spherical_bessel_j0", "i0e"):
    print(name, [f"{value:.6g}" for value in getattr(torch.special, name)(wide).tolist()])
for name in ("bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1"):
    print(name, getattr(torch.special, name)(wide[2:]).tolist())

rows = [(v, l, h) for v in (1.0, 2.0, 3.0) for l in (1.0, 2.0, 3.0) for h in (1.0, 2.0, 3.0)]
rows += [(nan, 1.0, 2.0), (1.0, nan, 2.0), (1.0, 2.0, nan), (3.0, nan, 1.0), (1.0, 1.0, nan)]
value, low, high = (torch.tensor(column, requires_grad=True) for column in zip(*rows))
value.clamp(low, high).sum().backward()
print(value.grad.tolist(), low.grad.tolist(), high.grad.tolist())
for name in ("clamp_min", "clamp_max"):
    value, low = torch.tensor([1.0, 2.0, nan, 3.0], requires_grad=True), torch.tensor([1.0, 3.0, 1.0, 1.0], requires_grad=True)
    getattr(value, name)(low).sum().backward()
    print(name, value.grad.tolist(), low.grad.tolist())

images = torch.arange(288.0).view(2, 4, 6, 6).contiguous(memory_format=torch.channels_last)
turned = torch.arange(48.0).view(2, 6, 4).transpose(1, 2)
index = torch.tensor([0, 1])
for result in (
    images[index], images[:, index], images[:, :, index], images[index, :, index], images[:, index[:, None], index],
    turned[index], turned[:, index], turned.index_fill(1, index, 1), turned.renorm(2, 0, 1.0),
    torch.index_put(turned, (index,), torch.tensor(1.0)),
    torch.nn.functional.avg_pool1d(turned, 2), torch.nn.functional.adaptive_avg_pool1d(turned, 2),
    torch.nn.functional.adaptive_max_pool1d(turned, 2), torch.nn.functional.rrelu(turned),
    torch.nn.functional.max_unpool2d(*torch.nn.functional.max_pool2d(images, 2, return_indices=True), 2),
    torch.nn.functional.interpolate(images, scale_factor=2, mode="bicubic"),
):
    print(tuple(result.shape), result.stride(), round(result.sum().item(), 1))

picture = torch.arange(210.0).view(2, 3, 5, 7).sin().requires_grad_()
for mode in ("bilinear", "bicubic", "lanczos"):
    for target in ({"size": (3, 4)}, {"scale_factor": (0.4, 2.0)}):
        small = torch.nn.functional.interpolate(picture, mode=mode, antialias=True, **target)
        (gradient,) = torch.autograd.grad((small * small.detach().cos()).sum(), picture)
        print(mode, tuple(small.shape), round(small.sum().item(), 3), round(gradient.square().sum().item(), 3))
for options in ({"mode": "nearest", "antialias": True}, {"mode": "lanczos"}, {"mode": "lanczos", "antialias": True, "align_corners": True}):
    try:
        torch.nn.functional.interpolate(picture, (3, 4), **options)
    except ValueError as error:
        print(error)
for dtype in (torch.float16, torch.bfloat16, torch.int64):
    try:
        torch.nn.functional.interpolate(picture.detach().to(dtype), (3, 4), mode="bilinear", antialias=True)
    except NotImplementedError as error:
        print(error)

base = torch.zeros(3)
view, apart = base[:2], base.detach()
base.requires_grad_()
print(view.requires_grad, view.is_leaf, view.grad_fn, apart.requires_grad, view)
base.requires_grad_(False)
print(view.requires_grad)
