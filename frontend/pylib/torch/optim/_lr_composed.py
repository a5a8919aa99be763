"""Schedules made of others: one after another, or all at once."""

from torch.optim._lr_plateau import ReduceLROnPlateau
from torch.optim.lr_scheduler import LRScheduler, copied_rates


class _Composed(LRScheduler):
    """What both share: the parts are saved with the whole."""

    def state_dict(self):
        """Everything but the optimizer, the parts by their state dicts."""
        state = {name: value for name, value in self.__dict__.items() if name not in ("optimizer", "_schedulers")}
        state["_schedulers"] = [part.state_dict() for part in self._schedulers]
        return state

    def load_state_dict(self, state_dict):
        """Takes over a `state_dict`."""
        self.__dict__.update({name: value for name, value in state_dict.items() if name != "_schedulers"})
        for part, saved in zip(self._schedulers, state_dict["_schedulers"]):
            part.load_state_dict(saved)

    def _check_same(self, schedulers, optimizer):
        name = type(self).__name__
        for index, part in enumerate(schedulers):
            if not hasattr(part, "optimizer"):
                raise TypeError(f"{name} at index {index} should have `optimizer` as its attribute.")
            if isinstance(part, ReduceLROnPlateau) and isinstance(self, SequentialLR):
                raise ValueError(
                    f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs to be specified when "
                    f"calling `step`, but got one at index {index} in the given schedulers sequence."
                )
            if optimizer is not part.optimizer:
                raise ValueError(
                    f"{name} expects all schedulers to belong to the same optimizer, but got scheduler {type(part).__name__} at "
                    f"index {index} has {part.optimizer}, which is different from {type(optimizer).__name__}."
                )


class SequentialLR(_Composed):
    """One schedule after another, the next from each milestone on."""

    def __init__(self, optimizer, schedulers, milestones, last_epoch=-1):
        if len(schedulers) < 1:
            raise ValueError("SequentialLR expects at least one scheduler, but got no scheduler.")
        self._check_same(schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of milestone points, but "
                f"got number of schedulers {len(schedulers)} and the number of milestones to be equal to {len(milestones)}"
            )
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        # Every part made its first step when it was made; only the first one's counts.
        for group in optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        _take_back(self)
        schedulers[0]._initial_step()
        self._last_lr = schedulers[0].get_last_lr()

    def step(self):
        """Goes one step on."""
        self.last_epoch += 1
        index = sum(milestone <= self.last_epoch for milestone in self._milestones)
        part = self._schedulers[index]
        if index > 0 and self._milestones[index - 1] == self.last_epoch:
            part._update_lr(0)
        else:
            part.step()
        self._last_lr = part.get_last_lr()


class ChainedScheduler(_Composed):
    """Several schedules of one optimizer, each step a step of all."""

    def __init__(self, schedulers, optimizer=None):
        if len(schedulers) < 1:
            raise ValueError("ChainedScheduler expects at least one scheduler to be chained, but got no scheduler.")
        optimizer = optimizer or schedulers[0].optimizer
        self._check_same(schedulers, optimizer)
        self._schedulers = schedulers
        self.optimizer = optimizer
        self._last_lr = copied_rates(optimizer)

    def step(self):
        """Goes one step on."""
        for part in self._schedulers:
            part.step()
        self._last_lr = copied_rates(self.optimizer)


def _take_back(schedule):
    """Takes back the first steps of the parts of a composed schedule."""
    for part in getattr(schedule, "_schedulers", ()):
        _take_back(part)
    if not isinstance(schedule, SequentialLR):
        schedule.last_epoch -= 1
