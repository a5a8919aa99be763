"""Adam for gradients that are sparse tensors."""

from torch.optim.optimizer import Optimizer, check_betas, check_rate_size


class SparseAdam(Optimizer):
    """Takes sparse gradients only; dense ones are the error they are in PyTorch, and there are no sparse ones here."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, maximize=False):
        check_rate_size(lr)
        if not 0.0 < lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not 0.0 < eps:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})

    def _update(self, param, grad, state, group):
        raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
