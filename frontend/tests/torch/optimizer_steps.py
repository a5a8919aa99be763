"""Twenty steps of every optimizer, over gradients set by hand: parameters and state.

PyTorch's last bits depend on how wide its vectors are; five digits don't.
"""

import torch
from torch import nn, optim

STEPS = 20


def parameters():
    return [
        nn.Parameter(torch.arange(12.0).reshape(3, 4) / 7 - 0.8),
        nn.Parameter(torch.tensor([0.5, -0.25, 2.0])),
        nn.Parameter(torch.tensor([0.5, -0.25, 2.0], dtype=torch.float64)),
    ]


def gradient(p, step, number):
    """A gradient that changes its sign, from integers only: every build computes the same."""
    index = torch.arange(p.numel()).reshape(p.shape) * 7 + step * 13 + number * 5
    return ((index * index) % 23 - 11).to(p.dtype) / 16


def show(values, digits):
    numbers = [x for value in values for x in value.detach().double().flatten().tolist()]
    return " ".join(f"{x:.{digits}g}" for x in numbers)


def run(kind, digits=5, only=None, **settings):
    params = parameters()[:only]
    optimizer = kind(params, **settings)
    for step in range(STEPS):
        for number, p in enumerate(params):
            p.grad = gradient(p, step, number)
        optimizer.step()
        if step in (0, 9):
            print("  ", step, show(params[:1], digits))
    print(kind.__name__, settings)
    print("  ", show(params, digits))
    for number, state in optimizer.state_dict()["state"].items():
        for name, value in state.items():
            print("    ", number, name, value.dtype, show([value], digits))


run(optim.SGD)
run(optim.SGD, lr=0.1, momentum=0.9)
run(optim.SGD, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.1)
run(optim.SGD, lr=0.1, momentum=0.5, dampening=0.25, maximize=True)
run(optim.SGD, lr=torch.tensor(0.1), foreach=False)
run(optim.Adam)
run(optim.Adam, amsgrad=True, weight_decay=0.1, lr=0.1)
run(optim.Adam, lr=torch.tensor(0.01), betas=(0.8, 0.95), maximize=True, foreach=False)
run(optim.AdamW)
run(optim.AdamW, lr=0.1, betas=(0.8, 0.9), amsgrad=True)
run(optim.Adamax)
run(optim.Adamax, weight_decay=0.1, lr=0.1)
run(optim.Adagrad)
run(optim.Adagrad, lr_decay=0.1, initial_accumulator_value=0.1, weight_decay=0.01)
run(optim.Adadelta)
run(optim.Adadelta, weight_decay=0.1, rho=0.8, lr=0.5)
run(optim.RMSprop)
run(optim.RMSprop, centered=True, momentum=0.9, weight_decay=0.1)
run(optim.NAdam)
run(optim.NAdam, weight_decay=0.1, decoupled_weight_decay=True, lr=0.05)
run(optim.RAdam)
run(optim.RAdam, lr=0.1, weight_decay=0.1, betas=(0.7, 0.8))
run(optim.RAdam, lr=0.1, weight_decay=0.1, decoupled_weight_decay=True)
run(optim.ASGD, lr=0.1)
run(optim.ASGD, t0=5, lr=0.1, weight_decay=0.01)
run(optim.Rprop)
run(optim.Rprop, etas=(0.4, 1.5), step_sizes=(1e-3, 0.1))
run(optim.Adafactor)
run(optim.Adafactor, lr=0.1, weight_decay=0.1, d=2.0)
# Computed in bfloat16, with matrix products whose order of sums differs.
run(optim.Muon, digits=2, only=1)
run(optim.Muon, digits=2, only=1, nesterov=False, adjust_lr_fn="match_rms_adamw", weight_decay=0.0, lr=0.01)
