"""RMSprop."""

import torch
from torch.optim.optimizer import Optimizer, check, check_rate_size, counted, number, zeros


class RMSprop(Optimizer):
    """Steps by the gradient over the root of the running mean of its square."""

    def __init__(self, params, lr=1e-2, alpha=0.99, eps=1e-8, weight_decay=0, momentum=0, centered=False, capturable=False,
                 foreach=None, maximize=False, differentiable=False):
        check_rate_size(lr)
        check(learning_rate=lr, epsilon=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered, "weight_decay": weight_decay,
            "capturable": capturable, "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
        })

    def _update(self, param, grad, state, group):
        alpha = group["alpha"]
        if not state:
            state["step"] = torch.tensor(0.0)
            state["square_avg"] = zeros(param)
            if group["momentum"] > 0:
                state["momentum_buffer"] = zeros(param)
            if group["centered"]:
                state["grad_avg"] = zeros(param)
        counted(state)
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        square = state["square_avg"]
        square.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        if group["centered"]:
            mean = state["grad_avg"]
            mean.lerp_(grad, 1 - alpha)
            average = square.addcmul(mean, mean, value=-1).sqrt_()
        else:
            average = square.sqrt()
        average = average.add_(group["eps"])
        if group["momentum"] > 0:
            buffer = state["momentum_buffer"]
            buffer.mul_(group["momentum"]).addcdiv_(grad, average)
            param.add_(buffer, alpha=-number(group["lr"]))
        else:
            param.addcdiv_(grad, average, value=-number(group["lr"]))
