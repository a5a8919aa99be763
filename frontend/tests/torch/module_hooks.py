"""Hooks of modules on the way back, with those on the way forward: who is called, when, with what."""

import torch
from torch import nn
from torch.nn.modules import module as module_functions


def attempt(label, call):
    try:
        call()
        print(label, "fine")
    except Exception as error:
        print(label, type(error).__name__, error)


def seen(grads):
    return [None if grad is None else [round(x, 4) for x in grad.flatten().tolist()] for grad in grads]


class Pair(nn.Module):
    def forward(self, x, y, flag=None):
        return x * y, y + 1


def fill(module):
    with torch.no_grad():
        for number, p in enumerate(module.parameters()):
            p.copy_((torch.arange(p.numel()).reshape(p.shape) + number) / 4)
    return module


linear = fill(nn.Linear(2, 2))
handle = linear.register_full_backward_hook(lambda m, gi, go: print("backward", type(m).__name__, seen(gi), seen(go)))
before = linear.register_full_backward_pre_hook(lambda m, go: print("before", seen(go)))
x = torch.tensor([[1.0, 2.0]], requires_grad=True)
out = linear(x)
print(out.grad_fn is not None, out.requires_grad)
out.sum().backward()
print(x.grad, linear.weight.grad)

print("replacing")
linear.zero_grad()
x.grad = None
doubling = linear.register_full_backward_hook(lambda m, gi, go: tuple(grad * 2 for grad in gi))
halving = linear.register_full_backward_pre_hook(lambda m, go: tuple(grad / 2 for grad in go), prepend=True)
linear(x).sum().backward()
print(x.grad, linear.weight.grad)
doubling.remove()
halving.remove()

print("inputs without gradients")
linear.zero_grad()
linear(torch.ones(1, 2)).sum().backward()
print(linear.weight.grad)
handle.remove()
before.remove()
bad = linear.register_full_backward_hook(lambda m, gi, go: (torch.ones(1),))
attempt("no gradients", lambda: linear(torch.ones(1, 2)).sum().backward())
bad.remove()
bad = linear.register_full_backward_hook(lambda m, gi, go: (gi[0], gi[0]))
attempt("too many", lambda: linear(x).sum().backward())
bad.remove()
bad = linear.register_full_backward_pre_hook(lambda m, go: (go[0], go[0]))
attempt("too many", lambda: linear(x).sum().backward())
bad.remove()

print("several inputs and outputs")
pair = Pair()
pair.register_full_backward_hook(lambda m, gi, go: print("backward", seen(gi), seen(go)))
y = torch.tensor([3.0, 4.0], requires_grad=True)
first, second = pair(torch.tensor([1.0, 2.0]), y, flag="a")
(first.sum() + 2 * second.sum()).backward()
print(y.grad)
y.grad = None
first, second = pair(torch.tensor([1.0, 2.0]), y)
first.sum().backward()
print(y.grad)

print("order")
model = fill(nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1)))
for name, child in model.named_children():
    child.register_forward_pre_hook(lambda m, args, name=name: print("pre", name))
    child.register_forward_hook(lambda m, args, out, name=name: print("forward", name))
    child.register_full_backward_pre_hook(lambda m, go, name=name: print("backward pre", name, seen(go)))
    child.register_full_backward_hook(lambda m, gi, go, name=name: print("backward", name, seen(gi), seen(go)))
model(torch.tensor([[1.0, -1.0]], requires_grad=True)).sum().backward()
with torch.no_grad():
    model(torch.ones(1, 2))

print("global")
calls = []
handles = [
    module_functions.register_module_full_backward_hook(lambda m, gi, go: calls.append(type(m).__name__)),
    module_functions.register_module_full_backward_pre_hook(lambda m, go: calls.append("pre " + type(m).__name__)),
]
nn.Sequential(nn.Tanh(), nn.Linear(2, 1))(torch.ones(1, 2, requires_grad=True)).sum().backward()
print(calls)
for handle in handles:
    handle.remove()
