"""`torch.profiler`: its ranges and schedules run; nothing is measured here (see `taipan profile`)."""

from torch.utils._contextlib import DecoratorContextManager


class record_function(DecoratorContextManager):
    """Names a block."""

    def __init__(self, name, args=None):
        self.name = name
        self.args = args

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        return None

    def clone(self):
        return record_function(self.name, self.args)


class ProfilerActivity:
    """What could be measured."""

    CPU = 0
    CUDA = 1


class profile:
    """A block that is not measured."""

    def __init__(self, *args, **kwargs):
        self.step_num = 0

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        return None

    def step(self):
        """Counts steps."""
        self.step_num += 1

    def key_averages(self, *args, **kwargs):
        """Nothing."""
        return []


def schedule(**kwargs):
    """A schedule that never records."""
    return lambda step: 0
