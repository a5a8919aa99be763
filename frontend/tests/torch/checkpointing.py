"""What the backward keeps: hooks on it, computing it again, and anomalies that name the line of the forward."""

import warnings

import torch
import torch.nn as nn
from torch.autograd.graph import saved_tensors_hooks
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Dropout(0.3), nn.Linear(8, 4))
with torch.no_grad():
    for parameter in net.parameters():
        parameter.copy_(torch.arange(parameter.numel()).reshape(parameter.shape) % 7 / 7 - 0.4)
x = (torch.arange(12.0).reshape(3, 4) / 12).requires_grad_()
calls = 0


def forward(value):
    global calls
    calls += 1
    return net(value)


for use_reentrant in (None, False, True):
    net.zero_grad()
    x.grad = None
    torch.manual_seed(5)
    out = forward(x) if use_reentrant is None else checkpoint(forward, x, use_reentrant=use_reentrant)
    out.sum().backward()
    print(use_reentrant, calls, "%.5f %.5f %.5f" % (x.grad.sum(), net[0].weight.grad.abs().sum(), torch.rand(1)))

# Parameters get gradients also where no input requires grad.
net.zero_grad()
torch.manual_seed(5)
checkpoint(forward, x.detach(), use_reentrant=False).sum().backward()
print("%.5f" % net[0].weight.grad.abs().sum())
torch.manual_seed(5)
print("%.5f" % checkpoint_sequential(net, 2, x, use_reentrant=False).sum())

packed = []
with saved_tensors_hooks(lambda tensor: packed.append(tuple(tensor.shape)) or tensor * 1, lambda tensor: tensor * 2):
    a = torch.ones(3, requires_grad=True)
    b = (a * a).exp()
b.sum().backward()
print(packed, a.grad)

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    with torch.autograd.set_detect_anomaly(True):
        zero = torch.zeros(1, requires_grad=True)
        root = torch.sqrt(zero) * 0
        try:
            root.backward()
        except RuntimeError as error:
            print(error)
for warning in caught:
    lines = str(warning.message).splitlines()
    print(lines[0], [line.strip() for line in lines if "sqrt" in line])
