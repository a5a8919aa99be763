"""Compares a call that runs plainly with the same call going through bridges.

What is compared: the result, the side effects noted in LOG, and of an exception its type, text, context and cause, each
with the traceback's names, lines and columns.
"""

import traceback

from bridge_natives import execute

LOG = []
FAILURES = []
COMPARED = [0]


def log(*what):
    LOG.append(what)


def describe(exception, depth=0):
    if exception is None or depth > 4:
        return None
    places = [
        (entry.name, entry.lineno, entry.end_lineno, entry.colno, entry.end_colno)
        for entry in traceback.extract_tb(exception.__traceback__)
    ]
    return (
        type(exception).__name__,
        str(exception),
        places,
        describe(exception.__context__, depth + 1),
        describe(exception.__cause__, depth + 1),
        exception.__suppress_context__,
    )


def outcome(call):
    """How a call ended; the traceback without this function and the lambda that calls."""
    LOG.clear()
    try:
        ended = ("returned", repr(call()))
    except BaseException as exception:
        kind, text, places, *rest = describe(exception)
        ended = ("raised", kind, text, places[2:], *rest)
    return ended, repr(LOG)


def plain(function, args, keywords):
    return function(*args, **keywords)


def compare(function, args, keywords, follow, breaks=-1, make=None):
    """`breaks`: after so many the rest runs plainly. `make`: makes the function anew for each of the two runs."""
    fresh = make or (lambda: function)
    expected = outcome(lambda: plain(fresh(), args, keywords))
    seen = outcome(lambda: execute(fresh(), args, keywords, follow, breaks))
    if expected[0][0] == "raised":
        # Without the frame of `plain`.
        kept = expected[0][:3] + (expected[0][3][1:],) + expected[0][4:]
        expected = (kept, expected[1])
    return check((function.__name__, args, follow, breaks), expected, seen)


def check(what, expected, seen):
    COMPARED[0] += 1
    if expected != seen:
        FAILURES.append((what, expected, seen))
    return expected == seen


def report(at_least):
    """Fails with the first differences."""
    for what, expected, seen in FAILURES[:5]:
        print("DIFFERENT", what, "\n  expected", expected, "\n  seen    ", seen)
    assert not FAILURES, f"{len(FAILURES)} of {COMPARED[0]} differ"
    assert COMPARED[0] >= at_least, f"only {COMPARED[0]} comparisons were made"
