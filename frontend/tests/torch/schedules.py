"""Twenty steps of every schedule of learning rates, to the last bit: from the start, resumed, and by the closed form."""

import warnings

import torch
from torch import nn, optim
from torch.optim import lr_scheduler

warnings.simplefilter("ignore")
STEPS = 20


def new_optimizer(kind=optim.SGD, **settings):
    first, second = nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(1))
    return kind([{"params": [first]}, {"params": [second], "lr": 0.5}], lr=1.0, **settings)


def follow(make, **settings):
    optimizer = new_optimizer(**settings)
    schedule = make(optimizer)
    print(type(schedule).__name__)
    for step in range(STEPS):
        group = optimizer.param_groups[0]
        momentum = group.get("momentum", group.get("betas"))
        print("  ", [group["lr"] for group in optimizer.param_groups], momentum)
        optimizer.step()
        if isinstance(schedule, lr_scheduler.ReduceLROnPlateau):
            schedule.step(abs(7 - step) / 4)
        else:
            schedule.step()
        if schedule.get_last_lr() != [group["lr"] for group in optimizer.param_groups]:
            print("   the last rates are not those in force")


MAKERS = {
    "step": lambda o, **k: lr_scheduler.StepLR(o, 3, **k),
    "milestones": lambda o, **k: lr_scheduler.MultiStepLR(o, [2, 5, 5, 11], gamma=0.5, **k),
    "constant": lambda o, **k: lr_scheduler.ConstantLR(o, factor=0.3, total_iters=4, **k),
    "linear": lambda o, **k: lr_scheduler.LinearLR(o, start_factor=0.2, end_factor=0.9, total_iters=7, **k),
    "exponential": lambda o, **k: lr_scheduler.ExponentialLR(o, 0.83, **k),
    "polynomial": lambda o, **k: lr_scheduler.PolynomialLR(o, total_iters=9, power=1.7, **k),
    "cosine": lambda o, **k: lr_scheduler.CosineAnnealingLR(o, 6, eta_min=0.01, **k),
    "lambda": lambda o, **k: lr_scheduler.LambdaLR(o, [lambda e: 0.9**e, lambda e: 1 / (1 + e)], **k),
    "multiplicative": lambda o, **k: lr_scheduler.MultiplicativeLR(o, lambda e: 1 - 1 / (e + 2), **k),
    "restarts": lambda o, **k: lr_scheduler.CosineAnnealingWarmRestarts(o, 3, T_mult=2, eta_min=0.001, **k),
    "restarts of one length": lambda o, **k: lr_scheduler.CosineAnnealingWarmRestarts(o, 5, **k),
}

for name, make in MAKERS.items():
    print(name)
    follow(make)

follow(lambda o: lr_scheduler.CyclicLR(o, 0.1, 1.0, step_size_up=4), momentum=0.9)
follow(lambda o: lr_scheduler.CyclicLR(o, [0.1, 0.2], [1.0, 3.0], 3, 2, mode="triangular2"), kind=optim.Adam)
follow(lambda o: lr_scheduler.CyclicLR(o, 0.1, 1.0, 4, mode="exp_range", gamma=0.9, cycle_momentum=False))
follow(lambda o: lr_scheduler.CyclicLR(o, 0.1, 1.0, 4, scale_fn=lambda x: 1 / x, cycle_momentum=False))
follow(lambda o: lr_scheduler.OneCycleLR(o, 0.7, total_steps=20), momentum=0.9)
follow(lambda o: lr_scheduler.OneCycleLR(o, [0.7, 0.3], epochs=5, steps_per_epoch=4, three_phase=True, anneal_strategy="linear"), kind=optim.AdamW)
follow(lambda o: lr_scheduler.OneCycleLR(o, 0.7, total_steps=20, cycle_momentum=False, div_factor=10, final_div_factor=5))
follow(lambda o: lr_scheduler.ReduceLROnPlateau(o, patience=2, factor=0.5))
follow(lambda o: lr_scheduler.ReduceLROnPlateau(o, mode="max", patience=1, cooldown=2, min_lr=[0.1, 0.2], threshold_mode="abs", threshold=0.3))
follow(lambda o: lr_scheduler.SequentialLR(
    o, [lr_scheduler.LinearLR(o, 0.1, total_iters=5), lr_scheduler.CosineAnnealingLR(o, 8), lr_scheduler.ExponentialLR(o, 0.9)], [5, 13]
))
follow(lambda o: lr_scheduler.SequentialLR(
    o, [lr_scheduler.ConstantLR(o, 0.1, total_iters=4), lr_scheduler.CosineAnnealingWarmRestarts(o, 4)], [4]
))
follow(lambda o: lr_scheduler.ChainedScheduler([lr_scheduler.ConstantLR(o, 0.1, total_iters=4), lr_scheduler.ExponentialLR(o, 0.9)]))

print("resumed, and by the closed form")
for name, make in MAKERS.items():
    optimizer = new_optimizer()
    for group in optimizer.param_groups:
        group["initial_lr"] = group["lr"]
        group["lr"] *= 0.25
    schedule = make(optimizer, last_epoch=4)
    rates = [schedule.get_last_lr()]
    for _ in range(3):
        optimizer.step()
        schedule.step()
        rates.append(schedule.get_last_lr())
    schedule.step(9)
    rates.append(schedule.get_last_lr())
    print(name, rates, schedule.last_epoch)

print("saved and loaded")
for name, make in MAKERS.items():
    optimizer, other = new_optimizer(), new_optimizer()
    schedule, again = make(optimizer), make(other)
    for _ in range(5):
        optimizer.step()
        schedule.step()
    again.load_state_dict(schedule.state_dict())
    other.load_state_dict(optimizer.state_dict())
    for one, its in ((optimizer, schedule), (other, again)):
        one.step()
        its.step()
    print(name, again.get_last_lr() == schedule.get_last_lr(), again.last_epoch)

optimizer = new_optimizer()
optimizer.param_groups[0]["lr"] = rate = torch.tensor(1.0)
schedule = lr_scheduler.ExponentialLR(optimizer, 0.5)
optimizer.step()
schedule.step()
print(rate, optimizer.param_groups[0]["lr"] is rate, schedule.get_last_lr(), optimizer.param_groups[0]["initial_lr"])
