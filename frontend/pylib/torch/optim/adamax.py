"""Adamax."""

import torch
from torch.optim.optimizer import Optimizer, check, check_betas, check_rate_size, counted, number, zeros


class Adamax(Optimizer):
    """Adam with the largest gradient in place of the mean square."""

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, foreach=None, *, maximize=False,
                 differentiable=False, capturable=False):
        check_rate_size(lr)
        check(learning_rate=lr, epsilon=eps)
        check_betas(betas)
        check(weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable,
        })

    def _update(self, param, grad, state, group):
        beta1, beta2 = group["betas"]
        if not state:
            state["step"] = torch.tensor(0.0)
            state["exp_avg"] = zeros(param)
            state["exp_inf"] = zeros(param)
        step = counted(state)
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        mean, largest = state["exp_avg"], state["exp_inf"]
        mean.lerp_(grad, 1 - beta1)
        largest.copy_(torch.maximum(largest.mul_(beta2), grad.abs().add_(group["eps"])))
        param.addcdiv_(mean, largest, value=-number(group["lr"]) / (1 - beta1**step))
