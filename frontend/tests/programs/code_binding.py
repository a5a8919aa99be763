"""Binding a call's arguments: what a frame starts with, for every mix of parameters and arguments."""

import itertools

from code_natives import bind

captured = "free"

PARAMETERS = ["", "a", "a, b=2", "a, /", "a, /, b", "a, b=2, /, c=3", "*, k", "a, *, k=5", "a=1, *args", "*args, k=6"]
PARAMETERS += ["**kw", "a, **kw", "a, /, **kw", "a, b=2, *args, k, m=8, **kw", "a, /, b=2, *args, k=7, **kw"]
POSITIONAL = [(), (10,), (10, 20), (10, 20, 30), (10, 20, 30, 40)]
KEYWORDS = [{}, {"a": 11}, {"b": 21}, {"k": 31}, {"a": 11, "k": 31}, {"b": 21, "k": 31}, {"z": 41}, {"k": 31, "z": 41}]


def make(parameters):
    """A function whose locals are its arguments and one captured variable."""
    names = {}
    source = f"def outer(captured):\n def f({parameters}):\n  captured\n  return locals()\n return f\n"
    exec(source, names)
    return names["outer"]("free")


compared = ill_formed = 0
for parameters, args, keywords in itertools.product(PARAMETERS, POSITIONAL, KEYWORDS):
    f = make(parameters)
    try:
        expected = f(*args, **keywords)
    except TypeError:
        expected = None
        ill_formed += 1
    seen = bind(f, args, keywords)
    assert seen == expected, (parameters, args, keywords, seen, expected)
    compared += 1
assert compared == 600 and ill_formed == 506, (compared, ill_formed)
