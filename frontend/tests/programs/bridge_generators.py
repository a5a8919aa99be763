"""Generators rebuilt at each of their yields, then driven on in every way."""

import sys
import traceback

from bridge_compare import LOG, check, log, outcome, report
from bridge_functions import Manager, helper
from bridge_natives import rebuilt


def in_try(n):
    for i in range(n):
        try:
            x = yield i
            if x:
                log("sent", x)
        except ValueError as e:
            yield ("caught", str(e))
        finally:
            log("finally", i)
    return 99


def in_handlers(n):
    try:
        helper(2)
    except KeyError as e:
        for i in range(n):
            yield (i, sys.exc_info()[0], sys.exc_info()[1] is e)
        try:
            raise
        except KeyError as k:
            yield (k is e, k.__context__)
    yield sys.exc_info(), [i for i in range(n)]
    with Manager("m", True):
        yield from [7, 8]
        raise ValueError


def to_end(g):
    return list(g)


def by_send(g):
    out = []
    try:
        while 1:
            out.append(g.send("s"))
    except StopIteration as e:
        out.append(("stop", e.value))
    return out


def by_throw(g):
    out = []
    try:
        out.append(g.throw(ValueError("t")))
        for x in g:
            out.append(x)
    except BaseException as e:
        lines = [t.lineno for t in traceback.extract_tb(e.__traceback__)][1:]
        out.append((type(e).__name__, str(e), lines))
    return out


def by_close(g):
    g.close()
    return g.gi_frame is None


def by_look(g):
    names = sorted(map(str, g.gi_frame.f_locals))
    return (
        g.gi_frame.f_lineno,
        names,
        g.gi_running,
        g.__name__,
        g.__qualname__,
        g.gi_yieldfrom is None,
    )


def plain(function, yields):
    generator = function(4)
    for _ in range(yields):
        next(generator)
    return generator


def driven(make, drive):
    generator = make()
    LOG.clear()
    return drive(generator)


for function, last in ((in_try, 4), (in_handlers, 8)):
    for yields in range(1, last + 1):
        for drive in (to_end, by_send, by_throw, by_close, by_look):
            check(
                (function.__name__, yields, drive.__name__),
                outcome(lambda: driven(lambda: plain(function, yields), drive)),
                outcome(lambda: driven(lambda: rebuilt(function, (4,), yields), drive)),
            )
report(60)
