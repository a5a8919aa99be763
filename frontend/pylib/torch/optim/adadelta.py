"""Adadelta."""

import torch
from torch.optim.optimizer import Optimizer, check, check_rate_size, counted, number, zeros


class Adadelta(Optimizer):
    """Steps by the gradient scaled with running roots of past steps over past gradients."""

    def __init__(self, params, lr=1.0, rho=0.9, eps=1e-6, weight_decay=0, foreach=None, *, capturable=False, maximize=False,
                 differentiable=False):
        check_rate_size(lr)
        check(learning_rate=lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check(epsilon=eps, weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize, "capturable": capturable,
            "foreach": foreach, "differentiable": differentiable,
        })

    def _update(self, param, grad, state, group):
        rho, eps = group["rho"], group["eps"]
        if not state:
            state["step"] = torch.tensor(0.0)
            state["square_avg"] = zeros(param)
            state["acc_delta"] = zeros(param)
        counted(state)
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        square, steps = state["square_avg"], state["acc_delta"]
        square.mul_(rho).addcmul_(grad, grad, value=1 - rho)
        delta = steps.add(eps).sqrt_().div_(square.add(eps).sqrt_()).mul_(grad)
        steps.mul_(rho).addcmul_(delta, delta, value=1 - rho)
        param.add_(delta, alpha=-number(group["lr"]))
