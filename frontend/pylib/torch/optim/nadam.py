"""NAdam: Adam with Nesterov momentum."""

import torch
from torch.optim.optimizer import Optimizer, check, check_betas, check_rate_size, counted, number, zeros


class NAdam(Optimizer):
    """Adam that looks one step ahead."""

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, momentum_decay=4e-3,
                 decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False, differentiable=False):
        check_rate_size(lr)
        check(learning_rate=lr, epsilon=eps)
        check_betas(betas)
        check(weight_decay=weight_decay, momentum_decay=momentum_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable,
        })

    def _update(self, param, grad, state, group):
        beta1, beta2 = group["betas"]
        lr, decay = number(group["lr"]), group["momentum_decay"]
        if not state:
            state["step"] = torch.tensor(0.0)
            state["mu_product"] = torch.ones(())
            state["exp_avg"] = zeros(param)
            state["exp_avg_sq"] = zeros(param)
        step = counted(state)
        if group["weight_decay"] != 0:
            if group["decoupled_weight_decay"]:
                param.mul_(1 - lr * group["weight_decay"])
            else:
                grad = grad.add(param, alpha=group["weight_decay"])
        mu = beta1 * (1.0 - 0.5 * (0.96 ** (step * decay)))
        mu_next = beta1 * (1.0 - 0.5 * (0.96 ** ((step + 1) * decay)))
        state["mu_product"] *= mu
        product = state["mu_product"].item()
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        denominator = square.div(1 - beta2**step).sqrt().add_(group["eps"])
        param.addcdiv_(grad, denominator, value=-lr * (1.0 - mu) / (1.0 - product))
        param.addcdiv_(mean, denominator, value=-lr * mu_next / (1.0 - product * mu_next))
