"""RAdam: Adam that waits until its variance is known well enough."""

import torch
from torch.optim.optimizer import Optimizer, check, check_betas, check_rate_size, counted, number, zeros


class RAdam(Optimizer):
    """Rectified Adam."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, decoupled_weight_decay=False, *,
                 foreach=None, maximize=False, capturable=False, differentiable=False):
        check_rate_size(lr)
        check(learning_rate=lr, epsilon=eps)
        check_betas(betas)
        check(weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "decoupled_weight_decay": decoupled_weight_decay, "differentiable": differentiable,
        })

    def _update(self, param, grad, state, group):
        beta1, beta2 = group["betas"]
        lr = number(group["lr"])
        if not state:
            state["step"] = torch.tensor(0.0)
            state["exp_avg"] = zeros(param)
            state["exp_avg_sq"] = zeros(param)
        step = counted(state)
        if group["weight_decay"] != 0:
            if group["decoupled_weight_decay"]:
                param.mul_(1 - lr * group["weight_decay"])
            else:
                grad = grad.add(param, alpha=group["weight_decay"])
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        correction1, correction2 = 1 - beta1**step, 1 - beta2**step
        corrected = mean / correction1
        limit = 2 / (1 - beta2) - 1
        length = limit - 2 * step * (beta2**step) / correction2
        if length > 5.0:
            rectified = ((length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length)) ** 0.5
            adaptive = correction2**0.5 / square.sqrt().add_(group["eps"])
            param.add_(corrected * lr * adaptive * rectified, alpha=-1.0)
        else:
            param.add_(corrected * lr, alpha=-1.0)
