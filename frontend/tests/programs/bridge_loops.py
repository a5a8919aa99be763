"""Many breaks: native stack, bridges built, lifetimes, iterators by identity, deep chains."""

import gc
import weakref

from bridge_functions import count, helper
from bridge_natives import broken, decode, decoded_lives, execute, statistics


class Fives:
    """A Python iterator, so that FOR_ITER calls a Python function."""

    def __init__(self):
        self.n = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.n += 1
        if self.n > 5:
            raise StopIteration
        return self.n


class Weak:
    pass


def collect(iterator):
    seen = []
    for value in iterator:
        seen.append(value)
    return seen


def two_deep(n):
    s = 0
    for i in range(n):
        s += helper(3)
    return s


def lifetimes(n):
    value = Weak()
    reference = weakref.ref(value)
    holder = [value, n]
    del value
    length = len(holder)
    del holder
    return reference() is None, length


def down(n):
    if n == 0:
        return []
    return [n] + down(n - 1)


# The native stack doesn't grow with the number of breaks.
for n in (200, 2000):
    statistics()
    assert execute(count, (n,), {}, False, -1) == count(n)
    breaks, built, spread = statistics()
    assert breaks > 13 * n, breaks
    assert spread == 0, spread
    assert execute(two_deep, (n,), {}, True, -1) == two_deep(n)
    spread = statistics()[2]
    assert spread < 64 * 1024, spread

# A place is built once: more turns of a loop build nothing.
execute(count, (50,), {}, False, -1)
statistics()
execute(count, (500,), {}, False, -1)
assert statistics()[1] == 0

# An iterator is the same object before and after.
iterator = iter(range(10))
next(iterator)
partly = execute(collect, (iterator,), {}, False, 20)
assert partly == list(range(1, 10)), partly
assert list(iterator) == []
fives = Fives()
assert execute(collect, (fives,), {}, True, -1) == [1, 2, 3, 4, 5]
assert fives.n == 6

# A value dies as early as it does in a plain run.
assert lifetimes(1) == execute(lifetimes, (1,), {}, False, -1) == (True, 2)

# Past the cap the outer frames stay on the native stack.
assert execute(down, (100,), {}, True, -1) == down(100)

# What is known about a code object goes with it, its bridges and the namespace they ran in included.
for source in ("def f(n): return n + 1", "f = lambda n: [n + i for i in range(3)]"):
    names = {"value": Weak()}
    reference = weakref.ref(names["value"])
    exec(source, names)
    execute(names["f"], (1,), {}, False, -1)
    decode(names["f"])
    assert decoded_lives()
    del names
    gc.collect()
    assert not decoded_lives()
    assert reference() is None


# A state that can't be is refused: in the VM it would be undefined behaviour.
def nothing():
    return 1


assert [broken(nothing, change) for change in range(5)] == ["none"] + ["SystemError"] * 4
