"""Resilient backpropagation."""

import torch
from torch.optim.optimizer import Optimizer, check, check_rate_size, counted, number, zeros


class Rprop(Optimizer):
    """Steps by signs of gradients, with a step size for each element."""

    def __init__(self, params, lr=1e-2, etas=(0.5, 1.2), step_sizes=(1e-6, 50), *, capturable=False, foreach=None, maximize=False,
                 differentiable=False):
        check_rate_size(lr)
        check(learning_rate=lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(params, {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable,
        })

    def _update(self, param, grad, state, group):
        shrink, grow = group["etas"]
        smallest, largest = group["step_sizes"]
        if not state:
            state["step"] = torch.tensor(0.0)
            state["prev"] = zeros(param)
            state["step_size"] = torch.full_like(grad, float(number(group["lr"])))
        counted(state)
        agreement = grad.mul(state["prev"]).sign()
        factor = torch.where(agreement > 0, grow, torch.where(agreement < 0, shrink, torch.ones_like(agreement)))
        state["step_size"].mul_(factor).clamp_(smallest, largest)
        grad = torch.where(agreement < 0, torch.zeros_like(grad), grad)
        param.addcmul_(grad.sign(), state["step_size"], value=-1)
        state["prev"].copy_(grad)
