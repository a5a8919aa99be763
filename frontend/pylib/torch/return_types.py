"""`torch.return_types`: the classes of the named results of ops."""

from torch import _C


def __getattr__(name):
    found = _results(name)
    if found is None:
        raise AttributeError(f"module 'torch.return_types' has no attribute '{name}'")
    globals()[name] = found
    return found


def _results(name):
    """The class of the results of the op `name`, learned from a call."""
    example = _C.ones(1, 1)
    calls = {"aminmax": example.aminmax, "kthvalue": lambda: example.kthvalue(1, 0), "topk": lambda: example.topk(1)}
    for of_dim in ("cummax", "cummin", "max", "median", "min", "mode", "nanmedian"):
        calls[of_dim] = lambda: getattr(example, name)(0)
    for plain in ("frexp", "slogdet", "sort"):
        calls[plain] = lambda: getattr(example, name)()
    make = calls.get(name)
    return None if make is None else type(make())
