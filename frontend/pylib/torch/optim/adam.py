"""Adam, and Adam with decoupled weight decay."""

import torch
from torch.optim.optimizer import Optimizer, check, check_betas, check_fused, check_rate_size, counted, number, zeros


class Adam(Optimizer):
    """Steps by running means of the gradient and of its square."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False, *, foreach=None,
                 maximize=False, capturable=False, differentiable=False, fused=None, decoupled_weight_decay=False):
        if isinstance(lr, torch.Tensor) and foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        check_rate_size(lr)
        check(learning_rate=lr, epsilon=eps)
        check_betas(betas)
        check(weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad, "maximize": maximize,
            "foreach": foreach, "capturable": capturable, "differentiable": differentiable, "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        })
        check_fused(fused, foreach, differentiable)

    def _update(self, param, grad, state, group):
        beta1, beta2 = group["betas"]
        lr = number(group["lr"])
        if not state:
            state["step"] = torch.tensor(0.0)
            state["exp_avg"] = zeros(param)
            state["exp_avg_sq"] = zeros(param)
            if group["amsgrad"]:
                state["max_exp_avg_sq"] = zeros(param)
        step = counted(state)
        if group["weight_decay"] != 0:
            if group["decoupled_weight_decay"]:
                param.mul_(1 - lr * group["weight_decay"])
            else:
                grad = grad.add(param, alpha=group["weight_decay"])
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        if group["amsgrad"]:
            torch.maximum(state["max_exp_avg_sq"], square, out=state["max_exp_avg_sq"])
            square = state["max_exp_avg_sq"]
        denominator = (square.sqrt() / (1 - beta2**step) ** 0.5).add_(group["eps"])
        param.addcdiv_(mean, denominator, value=-lr / (1 - beta1**step))


class AdamW(Adam):
    """Adam whose weight decay is a step of its own."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2, amsgrad=False, *, maximize=False,
                 foreach=None, capturable=False, differentiable=False, fused=None):
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize, capturable=capturable,
            differentiable=differentiable, fused=fused, decoupled_weight_decay=True,
        )
