"""Optimizers as objects: groups, names, hooks, closures, state dicts, and what they refuse."""

import copy
import warnings

import torch
from torch import nn, optim
from torch.optim import lr_scheduler


def attempt(label, call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            print(label, "fine", type(call()).__name__)
        except Exception as error:
            print(label, type(error).__name__, error)
    for warning in caught:
        print("   warning", warning.category.__name__, warning.message)


p, m = nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(2, 2))
NAMES = "ASGD Adadelta Adafactor Adagrad Adam AdamW Adamax Muon NAdam RAdam RMSprop Rprop SGD SparseAdam".split()
BAD = {
    "lr": -1, "eps": -1, "weight_decay": -1, "momentum": -1, "alpha": -1, "rho": 3, "betas": (1, 2), "lr_decay": -1,
    "initial_accumulator_value": -1, "momentum_decay": -1, "etas": (2, 3), "nesterov": True, "d": -1, "beta2_decay": 1,
    "adjust_lr_fn": "x",
}
TAKEN = {
    "ASGD": "lr weight_decay alpha", "Adadelta": "lr eps weight_decay rho", "Adafactor": "lr weight_decay d beta2_decay",
    "Adagrad": "lr eps weight_decay lr_decay initial_accumulator_value", "Adam": "lr eps weight_decay betas",
    "AdamW": "lr eps weight_decay betas", "Adamax": "lr eps weight_decay betas", "Muon": "lr weight_decay momentum adjust_lr_fn",
    "NAdam": "lr eps weight_decay betas momentum_decay", "RAdam": "lr eps weight_decay betas",
    "RMSprop": "lr eps weight_decay momentum alpha", "Rprop": "lr etas", "SGD": "lr weight_decay momentum nesterov",
    "SparseAdam": "lr eps betas",
}
for name in NAMES:
    kind = getattr(optim, name)
    for setting in TAKEN[name].split():
        attempt(f"{name} {setting}", lambda: kind([m], **{setting: BAD[setting]}))
    attempt(f"{name} lr of two", lambda: kind([m], lr=torch.ones(2)))
    attempt(f"{name} foreach", lambda: kind([m], foreach=True))
    attempt(f"{name} both", lambda: kind([m], foreach=True, fused=True))
    optimizer = kind([m])
    print(list(optimizer.param_groups[0]), list(optimizer.defaults))
    m.grad = torch.ones(2, 2)
    attempt(f"{name} step", lambda: optimizer.step(lambda: torch.tensor(1.0)))
    print({key: (value.dtype, tuple(value.shape)) for key, value in optimizer.state_dict()["state"].get(0, {}).items()})
    print(optimizer)
    m.grad = None

attempt("Adam lr", lambda: optim.Adam([m], lr=torch.tensor(0.1), foreach=True))
attempt("Muon vector", lambda: optim.Muon([p]))
attempt("twice", lambda: optim.SGD([p, p]))
attempt("twice", lambda: optim.SGD([{"params": [p]}, {"params": [p]}]))
attempt("some named", lambda: optim.SGD([("a", p), m]))
attempt("some named", lambda: optim.SGD([p, ("a", m)]))
print(optim.SGD([("a", p), ("b", m)]).state_dict())
attempt("unnamed group", lambda: optim.SGD([("a", p)]).add_param_group({"params": [m]}))
attempt("named group", lambda: optim.SGD([p]).add_param_group({"params": [("b", m)]}))
attempt("group", lambda: optim.SGD([p]).add_param_group([m]))
attempt("empty", lambda: optim.SGD(iter([])))
attempt("generator", lambda: optim.SGD(x for x in [p]))
attempt("dict", lambda: optim.SGD({"params": p}))
attempt("str", lambda: optim.SGD("ab"))
attempt("None", lambda: optim.SGD(None))
attempt("set", lambda: optim.SGD([{"params": {p}}]))
attempt("lr None", lambda: optim.SGD([p], lr=None))
one, two, groups = optim.SGD([p]), optim.SGD([m, p]), optim.SGD([{"params": [m]}, {"params": [p]}])
attempt("other size", lambda: one.load_state_dict(two.state_dict()))
attempt("other count", lambda: one.load_state_dict(groups.state_dict()))
attempt("nothing", lambda: one.load_state_dict({}))
print(groups)

print("own steps and hooks")


class Own(optim.Optimizer):
    def __init__(self, params, lr=0.5):
        super().__init__(params, {"lr": lr})

    def step(self, closure=None):
        for group in self.param_groups:
            for param in group["params"]:
                self.state[param]["count"] = self.state[param].get("count", 0) + 1
                with torch.no_grad():
                    param.sub_(param.grad, alpha=group["lr"])
        return "stepped"


for kind in (Own, optim.SGD):
    q = nn.Parameter(torch.ones(2))
    q.grad = torch.ones(2)
    optimizer = kind([q], lr=0.5)
    handles = [
        optimizer.register_step_pre_hook(lambda o, args, kwargs: print("before", args == (o,), kwargs)),
        optimizer.register_step_post_hook(lambda o, args, kwargs: print("after", args == (o,), kwargs)),
    ]
    print(optimizer.step(), q)
    for handle in handles:
        handle.remove()
    handle = optimizer.register_step_pre_hook(lambda o, args, kwargs: (args, {"closure": lambda: 7}))
    print(optimizer.step())
    handle.remove()
    handle = optimizer.register_step_pre_hook(lambda o, args, kwargs: 3)
    try:
        optimizer.step()
    except RuntimeError as error:
        print(str(error).split(" must ")[1])
    print({key: value for key, value in optimizer.state_dict()["state"].items()})

optimizer = optim.Adam([p], lr=0.1)
p.grad = torch.tensor([1.0, -2.0])
optimizer.step()
optimizer.register_state_dict_pre_hook(lambda o: print("state dict"))
optimizer.register_state_dict_post_hook(lambda o, state: dict(state, extra=1))
print(list(optimizer.state_dict()))
again = optim.Adam([p], lr=0.2)
again.register_load_state_dict_pre_hook(lambda o, state: print("loading", list(state)))
again.register_load_state_dict_post_hook(lambda o: print("loaded", o.param_groups[0]["lr"]))
again.load_state_dict(optimizer.state_dict())
print(again.state[p], again.state_dict()["param_groups"])

double = nn.Parameter(torch.ones(2, dtype=torch.float64))
other = optim.Adam([double])
other.load_state_dict(again.state_dict())
print({name: value.dtype for name, value in other.state[double].items()})

copied = copy.deepcopy(again)
print(copied.param_groups[0]["params"][0] is p, copied.state[copied.param_groups[0]["params"][0]]["step"])

p.grad = kept = torch.ones(2)
again.zero_grad(set_to_none=False)
print(p.grad is kept, kept)
again.zero_grad()
print(p.grad)
print(again.step(lambda: 5), type(again.state).__name__, again.state.get(m))

print("schedules")
o = optim.SGD([{"params": [p]}, {"params": [m], "lr": 0.5}], lr=1.0)
attempt("not an optimizer", lambda: lr_scheduler.StepLR(3, 2))
attempt("resumed", lambda: lr_scheduler.StepLR(o, 2, last_epoch=3))
attempt("functions", lambda: lr_scheduler.LambdaLR(o, [lambda e: 1]))
attempt("constant", lambda: lr_scheduler.ConstantLR(o, factor=2))
attempt("linear", lambda: lr_scheduler.LinearLR(o, start_factor=0))
attempt("linear", lambda: lr_scheduler.LinearLR(o, end_factor=2))
attempt("restarts", lambda: lr_scheduler.CosineAnnealingWarmRestarts(o, 1.5))
attempt("restarts", lambda: lr_scheduler.CosineAnnealingWarmRestarts(o, 2, T_mult=0))
attempt("restarts", lambda: lr_scheduler.CosineAnnealingWarmRestarts(o, 2, eta_min="a"))
attempt("restarts", lambda: lr_scheduler.CosineAnnealingWarmRestarts(o, 2).step(-1))
attempt("one cycle", lambda: lr_scheduler.OneCycleLR(o, 1.0))
attempt("one cycle", lambda: lr_scheduler.OneCycleLR(o, 1.0, total_steps=-1))
attempt("one cycle", lambda: lr_scheduler.OneCycleLR(o, 1.0, epochs=1, steps_per_epoch=-1))
attempt("one cycle", lambda: lr_scheduler.OneCycleLR(o, 1.0, epochs=-1, steps_per_epoch=1))
attempt("one cycle", lambda: lr_scheduler.OneCycleLR(o, 1.0, total_steps=5, pct_start=2))
attempt("one cycle", lambda: lr_scheduler.OneCycleLR(o, 1.0, total_steps=5, anneal_strategy="x"))
attempt("one cycle", lambda: lr_scheduler.OneCycleLR(o, [1.0], total_steps=5))
attempt("one cycle", lambda: lr_scheduler.OneCycleLR(optim.Rprop([p]), 1.0, total_steps=5))
attempt("cyclic", lambda: lr_scheduler.CyclicLR(o, 0.1, 1.0, mode="x"))
attempt("cyclic", lambda: lr_scheduler.CyclicLR(o, [0.1], 1.0))
attempt("cyclic", lambda: lr_scheduler.CyclicLR(optim.Rprop([p]), 0.1, 1.0))
attempt("plateau", lambda: lr_scheduler.ReduceLROnPlateau(o, factor=1.0))
attempt("plateau", lambda: lr_scheduler.ReduceLROnPlateau(o, mode="x"))
attempt("plateau", lambda: lr_scheduler.ReduceLROnPlateau(o, threshold_mode="x"))
attempt("plateau", lambda: lr_scheduler.ReduceLROnPlateau(o, min_lr=[1]))
attempt("plateau", lambda: lr_scheduler.ReduceLROnPlateau(o).step())
attempt("sequence", lambda: lr_scheduler.SequentialLR(o, [lr_scheduler.StepLR(o, 2)], [1]))
attempt("sequence", lambda: lr_scheduler.SequentialLR(o, [], []))
attempt("sequence", lambda: lr_scheduler.SequentialLR(o, [lr_scheduler.StepLR(optim.SGD([p]), 2)], []))
attempt("sequence", lambda: lr_scheduler.SequentialLR(o, [lr_scheduler.StepLR(o, 2), lr_scheduler.ReduceLROnPlateau(o)], [1]))
attempt("sequence", lambda: lr_scheduler.SequentialLR(o, [3], []))
attempt("chain", lambda: lr_scheduler.ChainedScheduler([]))
attempt("chain", lambda: lr_scheduler.ChainedScheduler([lr_scheduler.StepLR(o, 2)], optimizer=optim.SGD([p])))
attempt("order", lambda: lr_scheduler.StepLR(optim.SGD([p]), 2).step())
attempt("epoch", lambda: lr_scheduler.StepLR(optim.SGD([p]), 2).step(3))
attempt("between", lambda: lr_scheduler.StepLR(o, 2).get_lr())
attempt("base", lambda: lr_scheduler.LRScheduler(o))
print(lr_scheduler.OneCycleLR(optim.SGD([p], momentum=0.9), 1.0, 10).state_dict())
print(lr_scheduler.CyclicLR(optim.SGD([p]), 0.1, 1.0, 3).state_dict())
print(lr_scheduler.ReduceLROnPlateau(o).state_dict())
parts = [lr_scheduler.ConstantLR(o), lr_scheduler.StepLR(o, 2)]
print(lr_scheduler.SequentialLR(o, parts, [2]).state_dict())
print(lr_scheduler.ChainedScheduler(parts).state_dict())
