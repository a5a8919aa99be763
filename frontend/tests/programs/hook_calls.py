"""Calls of every kind inside a compiled region reach the hook, at cold sites and at sites the VM has specialised."""

import functools
import sys

from hook_natives import in_region, tracing


def leaf(x, y=1):
    return x + y


class C:
    def __init__(self, v):
        self.v = v

    def __call__(self, k):
        return leaf(k)

    @property
    def p(self):
        return leaf(self.v)

    @staticmethod
    def s(x):
        return leaf(x)

    @classmethod
    def c(cls, x):
        return leaf(x)

    def __getattr__(self, name):
        if name == "dynamic":
            return leaf(1)
        raise AttributeError(name)

    def __getitem__(self, i):
        return leaf(i)

    def __len__(self):
        return leaf(1)

    def __add__(self, other):
        return leaf(1)

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 1

    def __contains__(self, item):
        return True

    def __bool__(self):
        return True

    def __enter__(self):
        return self

    def __exit__(self, *what):
        return None

    def m(self, x):
        return leaf(x)


class D(C):
    def __init__(self, v):
        super().__init__(v)

    def m(self, x):
        return super().m(x)


class Descriptor:
    def __get__(self, instance, owner):
        return leaf(2)

    def __set__(self, instance, value):
        leaf(3)


class E:
    d = Descriptor()


def generator(n):
    for i in range(n):
        yield leaf(i)


ONE = """
def one(c):
    leaf(1)
    leaf(1, y=2)
    leaf(*(1,))
    leaf(**{"x": 1})
    c.m(1)
    c.p
    c(1)
    c.s(1)
    c.c(1)
    c.dynamic
    c[0]
    len(c)
    c + c
    c == c
    bool(c)
    3 in c
    with c:
        pass
    C(1)
    D(2).m(3)
    e = E()
    e.d
    e.d = 1
    list(map(leaf, [1]))
    sorted([1, 2], key=leaf)
    max([1, 2], key=leaf)
    functools.reduce(leaf, [1, 2])
    functools.partial(leaf, 1)()
    for x in generator(2):
        pass
    list(generator(1))
    [leaf(z) for z in [1]]
    (lambda: 1)()
    sum(leaf(q) for q in [1])
    getattr(c, "p")
    c.__class__.m(c, 1)
    {c: 1}[c]
    b = c.m
    b(1)
    if not c:
        pass
"""


def make_one():
    """The same function with code of its own, whose sites nothing has specialised."""
    names = dict(globals())
    exec(ONE, names)
    return names["one"]


c = C(1)
cold = in_region(make_one(), c)
warm_one = make_one()
for _ in range(300):
    warm_one(c)
warm = in_region(warm_one, c)
assert len(cold) == 63, (len(cold), cold)
assert warm == cold, [(a, b) for a, b in zip(warm, cold) if a != b]
assert not tracing()


# What the hook answers is the result; what it declines runs, and its calls are offered too.
def answered():
    raise AssertionError("runs")


def asks():
    return answered()


results = []
assert in_region(lambda: results.append(asks())) == ["<lambda>", "asks", "answered"]
assert results == [42]


# A panic in the hook is an error of the script; afterwards everything goes on.
def panics():
    raise AssertionError("runs")


def survives():
    try:
        panics()
    except RuntimeError as error:
        results.append("internal error" in str(error))
    return leaf(1)


assert in_region(survives) == ["survives", "panics", "leaf"]
assert results == [42, True]


# A region ends when an exception leaves it.
def raises():
    assert tracing()
    raise KeyError("left")


try:
    in_region(raises)
    raise AssertionError("no error")
except KeyError:
    pass
assert not tracing()


# The hook's own work doesn't come back to it.
def pauses():
    return leaf(1)


assert in_region(pauses) == ["pauses"]

# Functions that the script traces are really called.
seen = []
sys.settrace(lambda frame, event, arg: seen.append(frame.f_code.co_name))
try:
    offered = in_region(lambda: leaf(2))
finally:
    sys.settrace(None)
assert "leaf" in seen and offered == [], (seen, offered)
assert not tracing()
