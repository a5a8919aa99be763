"""Averages of a model's weights over training."""

import copy
import math

import torch
from torch.nn import Module
from torch.nn.modules.batchnorm import _BatchNorm
from torch.optim.lr_scheduler import LRScheduler


def get_ema_multi_avg_fn(decay=0.999):
    """A function for `AveragedModel` that keeps exponential moving averages."""
    _check_decay(decay)

    @torch.no_grad()
    def update(averaged, current, num_averaged):
        for old, new in zip(averaged, current):
            if old.is_floating_point() or old.is_complex():
                old.lerp_(new, 1 - decay)
            else:
                old.copy_(old * decay + new * (1 - decay))

    return update


def get_swa_multi_avg_fn():
    """A function for `AveragedModel` that keeps plain averages."""

    @torch.no_grad()
    def update(averaged, current, num_averaged):
        for old, new in zip(averaged, current):
            if old.is_floating_point() or old.is_complex():
                old.lerp_(new, 1 / (float(num_averaged) + 1))
            else:
                old.copy_(old + (new - old) / (num_averaged + 1))

    return update


def get_ema_avg_fn(decay=0.999):
    """The function of one tensor that keeps exponential moving averages."""
    _check_decay(decay)

    @torch.no_grad()
    def average(averaged, current, num_averaged):
        return decay * averaged + (1 - decay) * current

    return average


def get_swa_avg_fn():
    """The function of one tensor that keeps plain averages."""

    @torch.no_grad()
    def average(averaged, current, num_averaged):
        return averaged + (current - averaged) / (num_averaged + 1)

    return average


def _check_decay(decay):
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


class AveragedModel(Module):
    """A copy of a model, as `module`, whose parameters are averages over the calls of `update_parameters`."""

    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", torch.tensor(0, dtype=torch.long, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def update_parameters(self, model):
        """Takes the present parameters of `model` into the averages."""
        averaged, current = self._averaged(self.module), self._averaged(model)
        count = self.n_averaged
        with torch.no_grad():
            if count == 0:
                for old, new in zip(averaged, current):
                    old.copy_(new)
            elif self.avg_fn is not None:
                for old, new in zip(averaged, current):
                    old.copy_(self.avg_fn(old, new, count))
            else:
                update = get_swa_multi_avg_fn() if self.multi_avg_fn is None else self.multi_avg_fn
                update(averaged, current, count)
            if not self.use_buffers:
                for old, new in zip(self.module.buffers(), model.buffers()):
                    old.copy_(new)
        self.n_averaged += 1

    def _averaged(self, model):
        """The tensors of a model that are averaged, on our device."""
        tensors = list(model.parameters()) + (list(model.buffers()) if self.use_buffers else [])
        return [tensor.detach() for tensor in tensors]


@torch.no_grad()
def update_bn(loader, model, device=None):
    """Computes the statistics of batch norms anew, by one pass over the data."""
    norms = [module for module in model.modules() if isinstance(module, _BatchNorm)]
    if not norms:
        return
    momenta = [norm.momentum for norm in norms]
    was_training = model.training
    model.train()
    for norm in norms:
        norm.reset_running_stats()
        # Plain averages over all batches.
        norm.momentum = None
    for batch in loader:
        if isinstance(batch, (list, tuple)):
            batch = batch[0]
        model(batch if device is None else batch.to(device))
    for norm, momentum in zip(norms, momenta):
        norm.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """From the rate of the optimizer to a constant one within `anneal_epochs` steps."""

    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1):
        groups = len(optimizer.param_groups)
        rates = swa_lr if isinstance(swa_lr, (list, tuple)) else [swa_lr] * groups
        if len(rates) != groups:
            raise ValueError(
                "swa_lr must have the same length as optimizer.param_groups. "
                f"swa_lr has {len(rates)} values, param_groups has {groups}."
            )
        for rate, group in zip(rates, optimizer.param_groups):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _share(self, step):
        """How far the annealing has come after `step` steps, from 0 to 1."""
        share = max(0, min(1, step / max(1, self.anneal_epochs)))
        return share if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * share)) / 2

    def get_lr(self):
        self._warn_if_asked()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        rates = []
        for group in self.optimizer.param_groups:
            rate, target = group["lr"], group["swa_lr"]
            start = rate if before == 1 else (rate - target * before) / (1 - before)
            rates.append(target * now + start * (1 - now))
        return rates
