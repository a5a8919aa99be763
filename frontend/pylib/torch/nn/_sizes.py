"""Tuples of sizes: one number stands for the same number in every dim."""


def _ntuple(n, name="parse"):
    def parse(x):
        if hasattr(x, "__iter__"):
            return tuple(x)
        return (x,) * n

    parse.__name__ = name
    return parse


_single = _ntuple(1, "_single")
_pair = _ntuple(2, "_pair")
_triple = _ntuple(3, "_triple")
_quadruple = _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(t, n):
    """The elements from the last to the first, each `n` times."""
    return tuple(x for x in reversed(t) for _ in range(n))


def _list_with_default(out_size, defaults):
    """`out_size` where None takes the size of the input: the last of `defaults`."""
    if isinstance(out_size, (int,)):
        return out_size
    if len(defaults) <= len(out_size):
        raise ValueError(f"Input dimension should be at least {len(out_size) + 1}")
    return [size if size is not None else default for size, default in zip(out_size, defaults[-len(out_size):])]
