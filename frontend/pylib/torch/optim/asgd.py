"""Averaged stochastic gradient descent."""

import torch
from torch.optim.optimizer import Optimizer, check, check_rate_size, counted, number, zeros


class ASGD(Optimizer):
    """Gradient descent that also keeps the average of the parameters, in the state as `ax`."""

    def __init__(self, params, lr=1e-2, lambd=1e-4, alpha=0.75, t0=1e6, weight_decay=0, foreach=None, maximize=False,
                 differentiable=False, capturable=False):
        check_rate_size(lr)
        check(learning_rate=lr, weight_decay=weight_decay, alpha=alpha)
        super().__init__(params, {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
        })

    def _update(self, param, grad, state, group):
        lr = number(group["lr"])
        if not state:
            state["step"] = torch.tensor(0.0)
            state["eta"] = torch.tensor(lr)
            state["mu"] = torch.ones(())
            state["ax"] = zeros(param)
        step = counted(state)
        eta, mu = state["eta"].item(), state["mu"].item()
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        param.mul_(1 - group["lambd"] * eta)
        param.add_(grad, alpha=-eta)
        if mu != 1:
            state["ax"].add_(param.sub(state["ax"]).mul_(mu))
        else:
            state["ax"].copy_(param)
        state["eta"].fill_(lr / (1 + group["lambd"] * lr * step) ** group["alpha"])
        state["mu"].fill_(1 / max(1, step - group["t0"]))
