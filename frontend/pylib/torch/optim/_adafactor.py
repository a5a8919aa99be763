"""Adafactor: squares of gradients kept as a row and a column."""

import torch
from torch.optim.optimizer import Optimizer, check_rate_size, counted, number


class Adafactor(Optimizer):
    """Steps by the gradient over the root of an estimate of its square, which for matrices is a product of two vectors."""

    def __init__(self, params, lr=1e-2, beta2_decay=-0.8, eps=(None, 1e-3), d=1.0, weight_decay=0.0, *, foreach=None,
                 maximize=False):
        check_rate_size(lr)
        if not 0.0 <= lr:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if not 0.0 >= beta2_decay:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None and not 0.0 <= eps[0]:
            raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
        if not 0.0 <= eps[1]:
            raise ValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
        if not 1.0 <= d:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if not 0.0 <= weight_decay:
            raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
        super().__init__(params, {
            "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize,
        })

    def _update(self, param, grad, state, group):
        lr = number(group["lr"])
        floor, scale_floor = group["eps"]
        if floor is None:
            floor = torch.finfo(param.dtype).eps
        if not state:
            state["step"] = torch.tensor(0.0)
            if grad.dim() > 1:
                state["row_var"] = grad.new_zeros(grad.shape[:-1] + (1,))
                state["col_var"] = grad.new_zeros(grad.shape[:-2] + (1, grad.shape[-1]))
            else:
                state["variance"] = torch.zeros_like(grad, memory_format=torch.preserve_format)
        step = counted(state)
        share = step ** group["beta2_decay"]
        rate = min(lr, 1 / step**0.5)
        rate *= max(scale_floor, param.norm(2).item() / param.numel() ** 0.5)
        if group["weight_decay"] != 0:
            param.mul_(1 - lr * group["weight_decay"])
        if grad.dim() > 1:
            rows, columns = state["row_var"], state["col_var"]
            rows.lerp_(grad.norm(dim=-1, keepdim=True).square_().div_(grad.size(-1)), share)
            columns.lerp_(grad.norm(dim=-2, keepdim=True).square_().div_(grad.size(-2)), share)
            estimate = (rows @ columns).div_(rows.mean(dim=-2, keepdim=True).clamp_(min=floor))
        else:
            state["variance"].lerp_(grad * grad, share)
            estimate = state["variance"].clone()
        update = estimate.clamp_(min=floor * floor).rsqrt_().mul_(grad)
        excess = max(1.0, update.norm(2).item() / (update.numel() ** 0.5 * group["d"]))
        param.add_(update, alpha=-rate / excess)
