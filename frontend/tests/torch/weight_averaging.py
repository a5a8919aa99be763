"""Averages of weights: the averaged model, its schedule, and batch norm statistics computed anew."""

import torch
from torch import nn, optim
from torch.optim import swa_utils


def attempt(label, call):
    try:
        call()
        print(label, "fine")
    except Exception as error:
        print(label, type(error).__name__, error)


def run(label, **settings):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    averaged = swa_utils.AveragedModel(model, **settings)
    for step in range(4):
        with torch.no_grad():
            for p in model.parameters():
                p.add_(step + 1)
            model(torch.arange(4.0).reshape(2, 2) * step)
        averaged.update_parameters(model)
    print(label, averaged.n_averaged, list(averaged.state_dict()))
    print([f"{x:.4f}" for value in averaged.state_dict().values() for x in value.double().flatten().tolist()])
    swa_utils.update_bn([torch.ones(2, 2), (torch.arange(4.0).reshape(2, 2), None)], averaged)
    print(averaged.module[1].running_mean, averaged.module[1].momentum, averaged.training)


run("plain")
run("buffers", use_buffers=True)
run("moving", multi_avg_fn=swa_utils.get_ema_multi_avg_fn(0.9))
run("moving, one by one", avg_fn=swa_utils.get_ema_avg_fn(0.9))
run("plain, one by one", avg_fn=swa_utils.get_swa_avg_fn())
attempt("decay", lambda: swa_utils.get_ema_multi_avg_fn(2))
attempt("both", lambda: swa_utils.AveragedModel(nn.Linear(1, 1), avg_fn=1, multi_avg_fn=2))

p = nn.Parameter(torch.ones(1))
for settings in ({}, {"anneal_epochs": 4}, {"anneal_epochs": 3, "anneal_strategy": "linear"}, {"anneal_epochs": 0}):
    optimizer = optim.SGD([p], lr=1.0)
    schedule = swa_utils.SWALR(optimizer, swa_lr=0.1, **settings)
    rates = []
    for _ in range(12):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    print(settings, rates)
attempt("rates", lambda: swa_utils.SWALR(optimizer, [0.1, 0.2]))
attempt("strategy", lambda: swa_utils.SWALR(optimizer, 0.1, anneal_strategy="x"))
attempt("epochs", lambda: swa_utils.SWALR(optimizer, 0.1, anneal_epochs=-1))
