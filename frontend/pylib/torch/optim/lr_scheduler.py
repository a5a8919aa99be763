"""Schedules of learning rates: what they share, and those that follow from the number of the step alone.

Each computes the next rate from the present one, so that several may act on one optimizer, and, where there is a closed form, the
rate of any step.
"""

import math

import torch
from torch.optim.optimizer import Optimizer

# Schedules with more state, by the file that has them.
_LATER = {
    "ChainedScheduler": "_lr_composed", "CosineAnnealingWarmRestarts": "_lr_cycles", "CyclicLR": "_lr_cycles",
    "OneCycleLR": "_lr_cycles", "ReduceLROnPlateau": "_lr_plateau", "SequentialLR": "_lr_composed",
}


class LRScheduler:
    """Sets the learning rate of every group at every step; subclasses define `get_lr`."""

    # Whether the step that the constructor makes is under way.
    _is_initial = False
    _get_lr_called_within_step = False

    def __init__(self, optimizer, last_epoch=-1):
        check_optimizer(optimizer)
        self.optimizer = optimizer
        if last_epoch == -1:
            for group in optimizer.param_groups:
                rate = group["lr"]
                group.setdefault("initial_lr", rate.clone() if isinstance(rate, torch.Tensor) else rate)
        else:
            for number, group in enumerate(optimizer.param_groups):
                if "initial_lr" not in group:
                    raise KeyError(
                        f"param 'initial_lr' is not specified in param_groups[{number}] when resuming scheduler with last_epoch >= 0.\n"
                        "This typically happens when:\n"
                        "1. You're trying to resume training from a checkpoint but haven't properly loaded the optimizer state\n"
                        "2. You're using last_epoch >= 0 for a fresh training run (not recommended)"
                    )
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        # From here on the optimizer notes that it stepped; `step` below asks.
        optimizer.__dict__.setdefault("_opt_called", False)
        self._initial_step()

    def _initial_step(self):
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def get_lr(self):
        """The learning rates of this step, one for each group."""
        raise NotImplementedError

    def get_last_lr(self):
        """The learning rates in force."""
        return self._last_lr

    def step(self, epoch=None):
        """Goes one step on, or to the step `epoch`."""
        import warnings

        if self._step_count == 1 and not self.optimizer.__dict__.get("_opt_called", True):
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should call them "
                "in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will result in PyTorch "
                "skipping the first value of the learning rate schedule. See more details at "
                "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate",
                UserWarning,
                stacklevel=2,
            )
        self._step_count += 1
        if epoch is not None:
            warn_of_epoch()
        self._update_lr(epoch)

    def _update_lr(self, epoch=None):
        """Sets the rates of the next step, or of the step `epoch`."""
        self._get_lr_called_within_step = True
        try:
            if epoch is None:
                self.last_epoch += 1
                rates = self.get_lr()
            else:
                self.last_epoch = epoch
                closed = getattr(self, "_get_closed_form_lr", None)
                rates = self.get_lr() if closed is None else closed()
        finally:
            self._get_lr_called_within_step = False
        self._set_rates(rates)

    def _set_rates(self, rates):
        for group, rate in zip(self.optimizer.param_groups, rates):
            set_setting(group, "lr", rate)
        self._last_lr = copied_rates(self.optimizer)

    def state_dict(self):
        """Everything but the optimizer."""
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict):
        """Takes over a `state_dict`."""
        self.__dict__.update(state_dict)

    def _current(self):
        return copied_rates(self.optimizer)

    def _warn_if_asked(self):
        """Says that `get_lr` is not the question to ask between steps."""
        if not self._get_lr_called_within_step:
            import warnings

            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.", UserWarning, stacklevel=3
            )


# The name it had at first.
_LRScheduler = LRScheduler


class _FunctionSchedule(LRScheduler):
    """A schedule by functions of the step, one for each group."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        check_optimizer(optimizer)
        # The functions come behind the rest in a state dict, so they are looked at here and kept where the class says.
        self.optimizer = optimizer
        groups = len(optimizer.param_groups)
        if isinstance(lr_lambda, (list, tuple)):
            if len(lr_lambda) != groups:
                raise ValueError(f"Expected {groups} lr_lambdas, but got {len(lr_lambda)}")
            self.lr_lambdas = list(lr_lambda)
        else:
            self.lr_lambdas = [lr_lambda] * groups
        super().__init__(optimizer, last_epoch)

    def state_dict(self):
        """Everything but the optimizer and functions; of callable objects their attributes."""
        state = {name: value for name, value in self.__dict__.items() if name not in ("optimizer", "lr_lambdas")}
        state["lr_lambdas"] = [None if _is_function(item) else item.__dict__.copy() for item in self.lr_lambdas]
        return state

    def load_state_dict(self, state_dict):
        """Takes over a `state_dict`; functions stay as they are."""
        self.__dict__.update({name: value for name, value in state_dict.items() if name != "lr_lambdas"})
        for item, saved in zip(self.lr_lambdas, state_dict["lr_lambdas"]):
            if saved is not None:
                item.__dict__.update(saved)


class LambdaLR(_FunctionSchedule):
    """The initial rate times a function of the step."""

    def get_lr(self):
        self._warn_if_asked()
        return [base * factor(self.last_epoch) for base, factor in zip(self.base_lrs, self.lr_lambdas)]


class MultiplicativeLR(_FunctionSchedule):
    """The rate times a function of the step, at every step."""

    def get_lr(self):
        self._warn_if_asked()
        if self._is_initial:
            return self._current()
        return [rate * factor(self.last_epoch) for rate, factor in zip(self._current(), self.lr_lambdas)]


class StepLR(LRScheduler):
    """The rate times gamma, every `step_size` steps."""

    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_if_asked()
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return self._current()
        return [rate * self.gamma for rate in self._current()]

    def _get_closed_form_lr(self):
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """The rate times gamma, at each of the milestones."""

    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        from collections import Counter

        self.milestones = Counter(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_if_asked()
        if self.last_epoch not in self.milestones:
            return self._current()
        return [rate * self.gamma ** self.milestones[self.last_epoch] for rate in self._current()]

    def _get_closed_form_lr(self):
        passed = sum(times for milestone, times in self.milestones.items() if milestone <= self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """A share of the rate for the first `total_iters` steps, then all of it."""

    def __init__(self, optimizer, factor=1.0 / 3, total_iters=5, last_epoch=-1):
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor = factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_if_asked()
        if self.last_epoch == 0:
            return [rate * self.factor for rate in self._current()]
        if self.last_epoch != self.total_iters:
            return self._current()
        return [rate * (1.0 / self.factor) for rate in self._current()]

    def _get_closed_form_lr(self):
        share = self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor)
        return [base * share for base in self.base_lrs]


class LinearLR(LRScheduler):
    """From one share of the initial rate to another, in equal steps."""

    def __init__(self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1):
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_if_asked()
        if self.last_epoch == 0:
            return [rate * self.start_factor for rate in self._current()]
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._current()
        rise = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (self.last_epoch - 1) * rise
        return [rate * (1.0 + rise / before) for rate in self._current()]

    def _get_closed_form_lr(self):
        done = min(self.total_iters, self.last_epoch)
        rise = self.end_factor - self.start_factor
        return [base * (self.start_factor + rise * done / self.total_iters) for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """The rate times gamma, at every step."""

    def __init__(self, optimizer, gamma, last_epoch=-1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_if_asked()
        if self._is_initial:
            return self._current()
        return [rate * self.gamma for rate in self._current()]

    def _get_closed_form_lr(self):
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """Down to zero in `total_iters` steps, along a power of what is left of them."""

    def __init__(self, optimizer, total_iters=5, power=1.0, last_epoch=-1):
        self.total_iters = total_iters
        self.power = power
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_if_asked()
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._current()
        left = 1.0 - self.last_epoch / self.total_iters
        before = 1.0 - (self.last_epoch - 1) / self.total_iters
        return [rate * (left / before) ** self.power for rate in self._current()]

    def _get_closed_form_lr(self):
        done = min(self.total_iters, self.last_epoch)
        return [base * (1.0 - done / self.total_iters) ** self.power for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """From the initial rate to `eta_min` and back, along a cosine of period 2 * T_max."""

    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self._warn_if_asked()
        if self._is_initial:
            return self._current()
        if self._step_count == 1 and self.last_epoch > 0:
            return self._get_closed_form_lr()
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            # The step before was at the bottom, from which no factor leads away.
            rise = (1 - math.cos(math.pi / self.T_max)) / 2
            return [rate + (base - self.eta_min) * rise for base, rate in zip(self.base_lrs, self._current())]
        now = 1 + math.cos(math.pi * self.last_epoch / self.T_max)
        before = 1 + math.cos(math.pi * (self.last_epoch - 1) / self.T_max)
        return [now / before * (rate - self.eta_min) + self.eta_min for rate in self._current()]

    def _get_closed_form_lr(self):
        share = 1 + math.cos(math.pi * self.last_epoch / self.T_max)
        return [self.eta_min + (base - self.eta_min) * share / 2 for base in self.base_lrs]


def check_optimizer(optimizer):
    """Raises TypeError for anything but an optimizer."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def warn_of_epoch():
    """Warns, as PyTorch does, of the argument `epoch`."""
    import warnings

    warnings.warn(
        "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use "
        "`scheduler.step()` to step the scheduler. During the deprecation, if epoch is different from None, the closed form is used "
        "instead of the new chainable form, where available. Please open an issue if you are unable to replicate your use case: "
        "https://github.com/pytorch/pytorch/issues/new/choose.",
        UserWarning,
        stacklevel=3,
    )


def set_setting(group, name, value):
    """Sets a setting of a group; one that is a tensor is written in place."""
    if isinstance(group[name], torch.Tensor):
        group[name].fill_(value.item() if isinstance(value, torch.Tensor) else value)
    else:
        group[name] = value


def copied_rates(optimizer):
    """The rates of all groups, none of them a tensor that a later step writes."""
    rates = [group["lr"] for group in optimizer.param_groups]
    return [rate.clone() if isinstance(rate, torch.Tensor) else rate for rate in rates]


def _is_function(value):
    return type(value) is type(_is_function)


def __getattr__(name):
    file = _LATER.get(name)
    if file is None:
        raise AttributeError(f"module 'torch.optim.lr_scheduler' has no attribute '{name}'")
    import importlib

    value = getattr(importlib.import_module("torch.optim." + file), name)
    globals()[name] = value
    return value
