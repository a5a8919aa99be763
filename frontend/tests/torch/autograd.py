"""The tape: gradients, second derivatives, writes into views, hooks, functions of one's own, and what PyTorch refuses."""

import copy

import torch
import torch.nn.functional as F


def show(*values):
    print(*[value.tolist() if isinstance(value, torch.Tensor) else value for value in values])


def refused(title, act):
    try:
        act()
    except Exception as error:
        print(title, type(error).__name__, error)
    else:
        print(title, "was allowed")


def leaf(*values):
    return torch.tensor(values, requires_grad=True)


x = leaf(1.0, 2.0, 3.0)
y = x * x + torch.sin(x)
y.backward(torch.ones(3))
show("first", x.grad)
(x * 2).sum().backward()
show("added up", x.grad)

w = torch.tensor(2.0, requires_grad=True)
z = (w * 3) ** 2
show("grad", *torch.autograd.grad(z, w, retain_graph=True))
(first,) = torch.autograd.grad(z, w, create_graph=True)
show("second", *torch.autograd.grad(first, w))
cube = w**3
for _ in range(4):
    (cube,) = torch.autograd.grad(cube, w, create_graph=True) if cube.requires_grad else (cube,)
    show("again", cube, cube.requires_grad)

# Writes into views: the base gets a history, and the views' follow.
base = torch.zeros(4)
view = base[1:3]
factor = leaf(5.0, 6.0)
view.add_(1).mul_(factor)
show("written", base.requires_grad, view.grad_fn.name(), base.grad_fn.name())
view.add_(factor)
other = base.view(2, 2)
other[0] = factor * 10
(base * torch.arange(1.0, 5.0)).sum().backward()
show("through views", base.detach(), factor.grad)

square = torch.arange(6.0).reshape(2, 3).requires_grad_()
part = square * 1
part[:, 1] = square[:, 0] ** 2
part.t()[2].mul_(3)
part.masked_fill_(part > 8, 0.0)
part[0, part[0] < 1] = -1.0
part.sum().backward()
show("assigned", part.detach(), square.grad)

# Hooks run in order, may replace the gradient, and can be removed.
seen = []
a = leaf(1.0, 2.0)
b = a * 2
b.retain_grad()
b.register_hook(lambda grad: seen.append(("first", grad.tolist())))
second = b.register_hook(lambda grad: grad * 10)
b.register_hook(lambda grad: seen.append(("third", grad.tolist())))
a.register_hook(lambda grad: seen.append(("leaf", grad.tolist())))
added = a.register_post_accumulate_grad_hook(lambda tensor: seen.append(("added", tensor.grad.tolist())))
b.sum().backward(retain_graph=True)
second.remove()
added.remove()
b.sum().backward()
show(seen, a.grad, b.grad)


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value, factor, shift=None):
        ctx.save_for_backward(value)
        ctx.factor = factor
        return value * factor, value.detach() + 1

    @staticmethod
    def backward(ctx, grad, unused):
        (value,) = ctx.saved_tensors
        return grad * ctx.factor + 0 * value + unused * 0, None, None


class Sigmoid(torch.autograd.Function):
    @staticmethod
    def forward(value):
        return value.sigmoid()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad):
        (result,) = ctx.saved_tensors
        return grad * result * (1 - result)


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, left, right):
        return left + right

    @staticmethod
    def backward(ctx, grad):
        return grad


c = leaf(1.0, -2.0)
scaled, _ = Scale.apply(c, 3.0)
print(scaled)
scaled.sum().backward()
show("own backward", c.grad, [type(node).__name__ != "" for node, _ in scaled.grad_fn.next_functions])
out = Sigmoid.apply(c)
(gradient,) = torch.autograd.grad(out.sum(), c, create_graph=True)
show("own twice", gradient, *torch.autograd.grad(gradient.sum(), c))
refused("count", lambda: Wrong.apply(c, c).sum().backward())


def second_time():
    loss = (c.exp() * 2).sum()
    loss.backward()
    loss.backward()


def changed():
    value = c.exp()
    value.add_(1)
    value.sum().backward()


def changed_input():
    value = c * 1
    result = value * value
    value.add_(1)
    result.sum().backward()


refused("twice", second_time)
refused("changed result", changed)
refused("changed input", changed_input)
refused("leaf", lambda: c.add_(1))
refused("view of leaf", lambda: c[0].add_(1))
refused("several views", lambda: (c * 1).unbind(0)[0].mul_(2))
refused("not scalar", lambda: (c * 2).backward())
refused("no gradient", lambda: torch.ones(1).backward())
refused("unused", lambda: torch.autograd.grad((c * 2).sum(), w))
refused("shape", lambda: (c * 2).backward(torch.ones(3)))
refused("flag", lambda: (c * 2).requires_grad_(False))
refused("integers", lambda: torch.ones(2, dtype=torch.int64).requires_grad_())
refused("hook", lambda: torch.ones(1).register_hook(print))
refused("copy", lambda: copy.deepcopy(c * 2))
show("unused allowed", *torch.autograd.grad((c * 2).sum(), (c, w), allow_unused=True))
show("as zeros", *torch.autograd.grad((c * 2).sum(), (c, w), materialize_grads=True))

with torch.no_grad():
    quiet = (c * 1).view(2)
    kept = c * 1
loud = c * 1
with torch.no_grad():
    quiet = loud[:1]
refused("view without recording", lambda: quiet.mul_(2))
with torch.inference_mode():
    inference = torch.ones(2) * 2
show(inference.is_inference(), kept.requires_grad, inference.requires_grad)
refused("inference", lambda: (inference * c).sum())

# Gradients of inputs alone, and a graph that is kept.
d, e = leaf(1.0), leaf(2.0)
product = (d * e).sum()
product.backward(inputs=[d], retain_graph=True)
show(d.grad, e.grad)
product.backward(inputs=(e,))
show(d.grad, e.grad)
detached = (d * e).detach()
show(detached.requires_grad, (detached * e).requires_grad, (d * e).detach_().requires_grad)

# Broadcasting, promotion and half types.
wide = torch.ones(2, 3, requires_grad=True)
row = torch.ones(3, dtype=torch.float64, requires_grad=True)
half = torch.full((1,), 0.1, dtype=torch.float16, requires_grad=True)
(wide * row * 2 + half).sum().backward()
show(wide.grad, wide.grad.dtype, row.grad, row.grad.dtype, half.grad, half.grad.dtype)

show(torch.autograd.functional.jacobian(lambda value: value**2, torch.tensor([1.0, 2.0])))
show(torch.autograd.functional.hessian(lambda value: (value**3).sum(), torch.tensor([1.0, 2.0])))
show(*torch.autograd.functional.vjp(lambda value: value * 3, torch.ones(2), torch.tensor([1.0, 2.0])))
show(*torch.autograd.functional.jvp(lambda value: value**2, torch.ones(2), torch.tensor([1.0, 2.0])))
double = torch.tensor([0.3, -0.7], dtype=torch.float64, requires_grad=True)
show(torch.autograd.gradcheck(lambda value: value.sin() * value, (double,)))
show(torch.autograd.gradgradcheck(lambda value: value.exp() * value, (double,)))


class HandsOn(torch.autograd.Function):
    """Returns its input unchanged, and says that it has no gradient."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.mark_non_differentiable(x)
        return x, x * y

    @staticmethod
    def backward(ctx, grad_x, grad_product):
        show(grad_x, grad_product)
        return grad_product * 2, grad_product * 3


f, g = leaf(1.0), leaf(2.0)
same, product = HandsOn.apply(f, g)
show(same.requires_grad, same.is_leaf, same is f, same._is_view(), product.requires_grad, f.requires_grad)
product.sum().backward()
show(f.grad, g.grad)
same.add_(1)
show(f)

# Norms of nothing have no slope.
for name, function in {
    "norm": lambda x: x.norm(dim=-1), "kept": lambda x: x.norm(dim=-1, keepdim=True), "whole": lambda x: x[0].norm(), "one": lambda x: x.norm(p=1, dim=-1),
    "three": lambda x: x.norm(p=3, dim=-1), "largest": lambda x: x.norm(p=float("inf"), dim=-1), "linalg": lambda x: torch.linalg.norm(x, dim=-1),
    "clamped": lambda x: x / x.norm(dim=-1, keepdim=True).clamp(min=1.0), "normalize": lambda x: F.normalize(x, dim=-1, eps=0.5),
    "cdist": lambda x: torch.cdist(x, x), "dist": lambda x: torch.dist(x[0], x[0].detach()),
}.items():
    x = torch.tensor([[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]], requires_grad=True)
    function(x).sum().backward()
    print(name, [round(value, 4) + 0.0 for value in x.grad.flatten().tolist()])

y, x = torch.tensor([0.0, 1.0, -0.0], requires_grad=True), torch.tensor([0.0, -2.0, 1.0], requires_grad=True)
print(torch.autograd.grad(torch.atan2(y, x).sum(), (y, x)))
