"""`SymInt`: the size of a ragged dim, of which only the identity is known."""

import itertools

_numbers = itertools.count(1)


class SymInt:
    """A size that stands for the lengths of all pieces.

    It equals itself and no number; it is known to be at least 2.
    """

    __slots__ = ("_number", "_factor")

    def __init__(self, number=None, factor=1):
        self._number = next(_numbers) if number is None else number
        self._factor = factor

    def __eq__(self, other):
        if isinstance(other, SymInt):
            return self._number == other._number and self._factor == other._factor
        return False if isinstance(other, int) else NotImplemented

    def __hash__(self):
        return hash((self._number, self._factor))

    def __bool__(self):
        return True

    def __ge__(self, other):
        if isinstance(other, SymInt) and self._number == other._number:
            return self._factor >= other._factor
        if isinstance(other, int) and other <= 2:
            return True
        raise ValueError("ge: relation is indeterminate")

    def __gt__(self, other):
        if isinstance(other, SymInt) and self._number == other._number:
            return self._factor > other._factor
        return self >= other + 1 if isinstance(other, int) else self >= other

    def __lt__(self, other):
        return not self >= other

    def __le__(self, other):
        return not self > other

    def __mul__(self, factor):
        return SymInt(self._number, self._factor * factor) if isinstance(factor, int) else NotImplemented

    __rmul__ = __mul__

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        return f"j{self._number}" if self._factor == 1 else f"{self._factor}*j{self._number}"


SymInt.__module__ = "torch"


def ragged_size(lengths_or_offsets):
    """The size that belongs to a tensor of lengths or offsets: always the same for the same tensor."""
    size = getattr(lengths_or_offsets, "_ragged_size", None)
    if size is None:
        size = lengths_or_offsets._ragged_size = SymInt()
    return size
