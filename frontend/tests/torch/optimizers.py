"""Optimizers and schedules, on gradients set by hand."""

import torch
from torch import nn, optim
from torch.optim import lr_scheduler


def attempt(call, *args, **kwargs):
    try:
        call(*args, **kwargs)
        print("fine")
    except Exception as error:
        print(type(error).__name__, error)


def run(kind, **settings):
    """Seven steps on two parameters."""
    parameters = [nn.Parameter(torch.arange(4.0) / 4 - 0.3), nn.Parameter(torch.ones(2, 2))]
    optimizer = kind(parameters, **settings)
    for step in range(7):
        for number, p in enumerate(parameters):
            p.grad = p.detach() * 2 + torch.sin(torch.arange(p.numel()).reshape(p.shape) + step + number)
        optimizer.step()
    print(kind.__name__, settings, [f"{x:.5f}" for p in parameters for x in p.flatten().tolist()])
    print("  ", sorted(optimizer.state_dict()["state"].get(0, {})))


run(optim.SGD)
run(optim.SGD, lr=0.1, momentum=0.9)
run(optim.SGD, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.1)
run(optim.SGD, maximize=True)
run(optim.Adam)
run(optim.Adam, amsgrad=True, weight_decay=0.1, lr=0.1)
run(optim.AdamW)
run(optim.AdamW, lr=0.1, betas=(0.8, 0.9))
run(optim.Adamax, weight_decay=0.1)
run(optim.Adagrad, lr_decay=0.1, initial_accumulator_value=0.1)
run(optim.Adadelta, weight_decay=0.1)
run(optim.RMSprop)
run(optim.RMSprop, centered=True, momentum=0.9)
run(optim.NAdam, weight_decay=0.1, decoupled_weight_decay=True)
run(optim.RAdam, lr=0.1, weight_decay=0.1)
run(optim.ASGD, t0=2, lr=0.1)
run(optim.Rprop)

p = nn.Parameter(torch.ones(2))
print(optim.SGD([p], lr=0.1))
print(optim.AdamW([{"params": [p], "lr": 0.5}], lr=0.1))
attempt(optim.SGD, [])
attempt(optim.SGD, p)
attempt(optim.SGD, [3])
attempt(optim.SGD, {p})
attempt(optim.SGD, [p * 2])
attempt(optim.SGD, [{"params": [p]}, {"params": [p]}])
attempt(optim.SGD, [p], lr=-1)
attempt(optim.SGD, [p], nesterov=True)
attempt(optim.Adam, [p], betas=(1, 2))
attempt(optim.Adam, [p], eps=-1)
attempt(optim.Adadelta, [p], rho=3)
attempt(optim.Rprop, [p], etas=(2, 3))

SCHEDULES = (
    lambda o: lr_scheduler.StepLR(o, 2),
    lambda o: lr_scheduler.MultiStepLR(o, [2, 3, 3]),
    lambda o: lr_scheduler.ExponentialLR(o, 0.5),
    lambda o: lr_scheduler.LinearLR(o, total_iters=3),
    lambda o: lr_scheduler.CosineAnnealingLR(o, 4, 0.01),
    lambda o: lr_scheduler.LambdaLR(o, lambda epoch: 0.9**epoch),
)
for make in SCHEDULES:
    optimizer = optim.SGD([p], lr=1.0)
    schedule = make(optimizer)
    rates = []
    for _ in range(6):
        rates.append(f"{optimizer.param_groups[0]['lr']:.5f}")
        optimizer.step()
        schedule.step()
    print(rates, schedule.get_last_lr() == [optimizer.param_groups[0]["lr"]])

optimizer = optim.Adam([p])
p.grad = torch.ones(2)
optimizer.step()
again = optim.Adam([p])
again.load_state_dict(optimizer.state_dict())
print(sorted(again.state[p]), list(optimizer.state_dict()["param_groups"][0]))
optimizer.zero_grad()
print(p.grad, optimizer.step(lambda: 5))
