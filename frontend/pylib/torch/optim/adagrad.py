"""Adagrad."""

import torch
from torch.optim.optimizer import Optimizer, check, check_fused, check_rate_size, counted, number


class Adagrad(Optimizer):
    """Steps by the gradient over the root of the sum of all its squares."""

    def __init__(self, params, lr=1e-2, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10, foreach=None, *,
                 maximize=False, differentiable=False, fused=None):
        check_rate_size(lr)
        check(learning_rate=lr, lr_decay=lr_decay, weight_decay=weight_decay,
              initial_accumulator_value=initial_accumulator_value, epsilon=eps)
        super().__init__(params, {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "fused": fused,
        })
        check_fused(fused, foreach, differentiable)
        for group in self.param_groups:
            for param in group["params"]:
                self.state[param] = {
                    "step": torch.tensor(0.0),
                    "sum": torch.full_like(param, initial_accumulator_value, memory_format=torch.preserve_format),
                }

    def _update(self, param, grad, state, group):
        step = counted(state)
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        total = state["sum"]
        total.addcmul_(grad, grad, value=1)
        rate = number(group["lr"]) / (1 + (step - 1) * group["lr_decay"])
        param.addcdiv_(grad, total.sqrt().add_(group["eps"]), value=-rate)
