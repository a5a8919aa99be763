"""Functions that together use every statement and most opcodes, with the calls to compare."""

import sys
import traceback

from bridge_compare import log


class Manager:
    def __init__(self, n, sup=False):
        self.n = n
        self.sup = sup

    def __enter__(self):
        log("enter", self.n)
        return self

    def __exit__(self, t, v, tb):
        log("exit", self.n, t, str(v))
        return self.sup


def signature(a, b=2, *c, d=4, **e):
    x = a + b
    y = [x, c, d, sorted(e)]
    return (y, f"{x!r:>5} {y}")


def nested_loops(n):
    s = 0
    for i in range(n):
        if i == 2:
            continue
        for j in [1, 2, 3]:
            if j == 3:
                break
            s += i * j
        else:
            s = -1
        log(i, s)
    else:
        s += 100
    while s > 0:
        s -= 37
    return s


def with_statements(n):
    r = []
    with Manager(1) as a, Manager(2):
        r.append(a.n)
        for i in range(n):
            with Manager(10 + i, True):
                r.append(i)
                if i == 1:
                    raise ValueError("x%d" % i)
            r.append("after")
        r.append("end")
    return r


def try_statements(n):
    out = []
    for i in range(n):
        try:
            out.append(i)
            if i == 1:
                raise KeyError(i)
            if i == 2:
                out[100]
            out.append("ok")
        except KeyError as e:
            out.append(("key", str(e)))
        except IndexError:
            out.append("idx")
        else:
            out.append("else")
        finally:
            out.append("fin")
    return out


def raise_through_finally(n):
    try:
        x = n + 1
        y = x / 0
        return y
    finally:
        log("finally", n)


def closures(n):
    k = n

    def inc():
        nonlocal k
        k += 1
        return k

    a = inc()
    k += 10
    b = inc()
    fs = [lambda q=q: q + k + n for q in range(3)]
    n = 7
    return (a, b, k, [f() for f in fs])


def captured_parameters(n, m):

    def g():
        return n * m

    n += 1
    a = g()
    m = 5
    b = g()
    del a
    return (b, n, m)


def comprehensions(n):
    x = 5
    a = [x * i for i in range(n) if i % 2 == 0]
    x = 6
    b = {i: [j for j in range(i)] for i in range(n)}
    c = {i for i in a}
    g = (i + x for i in range(n))
    x += 1
    return (a, b, sorted(c), list(g), x)


def match_statement(v):
    r = []
    for v in [v, [1, 2, 3], {"a": 1}, "s", None, (1, [2])]:
        match v:
            case int():
                r.append("int")
            case [a, *rest]:
                r.append((a, rest))
            case {"a": q}:
                r.append(q)
            case None:
                r.append("none")
            case _:
                r.append("other")
    return r


def conditions(a):
    b = a and a > 2 or "no"
    c = 1 if b else 2
    d = not a < 3 < 5
    e = (a is None, a is not None, a in (1, 2), a not in [3])
    x = y = (b, c)
    (p, q), z = (x, *y[:1])
    return (b, c, d, e, p, q, z, x[0:1], [*x, *y], {**{"a": 1}, "b": 2}, log(*x, k=None) if False else "z")


def twenty_locals(n):
    a0 = n
    a1 = a0 + 1
    a2 = a1 + 1
    a3 = a2 + 1
    a4 = a3 + 1
    a5 = a4 + 1
    a6 = a5 + 1
    a7 = a6 + 1
    a8 = a7 + 1
    a9 = a8 + 1
    b0 = a9
    b1 = b0 + 1
    b2 = b1 + 1
    b3 = b2 + 1
    b4 = b3 + 1
    b5 = b4 + 1
    b6 = b5 + 1
    b7 = b6 + 1
    b8 = b7 + 1
    b9 = b8 + 1
    for i in range(3):
        a0 += b9
        b1 += a0
    return (a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9)


def imports_and_globals(n):
    import math as m
    from os import path

    global GG
    GG = n
    assert n, "msg"
    return (m.floor(2.5), path.join("a", "b"), GG)


def outer():
    fv = [1]

    def captured(n):
        fv.append(n)
        z = sum(fv)
        fv.append(z)
        return list(fv)

    return (captured, fv)


def helper(n):
    if n == 2:
        raise KeyError("two")
    return n * 10


def deeper(n):
    try:
        return helper(n) + 1
    finally:
        log("deeper", n, sys.exc_info()[0])


def count(n):
    s = 0
    i = 0
    while i < n:
        s += i
        i += 1
    return s


def sum_of(it):
    s = 0
    for x in it:
        s += x
    return (s, list(it))


def nested_expression(n):
    d = {"k": n}
    return ([n + 1, (n, helper(n) + len(d) * (n - 1), f"{n!r:>4}")], max(n, helper(1), key=lambda q: -q))


def every_clause(n):
    out = []
    for i in range(n):
        try:
            try:
                with Manager(i, i == 3) as c:
                    out.append(i)
                    if i == 1:
                        raise ValueError("one")
                    out.append(helper(i))
                    if i == 3:
                        [][5]
            except ValueError as e:
                out.append(("v", str(e), sys.exc_info()[1] is e, e.__traceback__.tb_lineno))
                try:
                    {}["zz"]
                except KeyError as k:
                    out.append((type(k.__context__).__name__, k.__context__ is e, sys.exc_info()[1] is k))
                out.append(sys.exc_info()[1] is e)
            except KeyError:
                out.append(("k", sys.exc_info()[0].__name__, [t.name for t in traceback.extract_tb(sys.exc_info()[2])]))
                raise
            else:
                out.append("else")
            finally:
                out.append(("fin", sys.exc_info()[0]))
        except KeyError as k:
            out.append(
                ("outer", str(k), [(t.name, t.lineno) for t in traceback.extract_tb(k.__traceback__)], k.__context__)
            )
    out.append(sys.exc_info())
    return out


def reraise(n):
    try:
        deeper(n)
    except KeyError:
        log("handling", sys.exc_info()[0])
        raise


def raise_from(n):
    try:
        deeper(n)
    except KeyError as e:
        raise RuntimeError("wrapped") from e


def raise_in_handler(n):
    try:
        deeper(n)
    except KeyError:
        deeper(1)
        return 1 // (n - 2)


def raise_through_with(n):
    with Manager("a"):
        with Manager("b"):
            return deeper(n)


def callee_sees_handled(n):

    def inner():
        a = sys.exc_info()[0]
        try:
            raise
        except KeyError as e:
            return (a, type(e).__name__)

    try:
        helper(n)
    except KeyError:
        r = inner()
        log(sys.exc_info()[0])
        return r


def nonlocals(n):
    total = 0

    def add(x):
        nonlocal total, n
        total += x
        n -= 1
        return total

    r = []
    while n > 0:
        r.append(add(n))
    get = lambda: (total, n)
    total += 100
    return (r, get(), [(lambda: i + total)() for i in range(3)])


def unbound_names(n):
    try:
        if n:
            del n
        return n
    except UnboundLocalError as e:
        r = str(e)

    def g():
        return zz

    try:
        g()
    except NameError as e:
        r2 = str(e)
    try:
        zz
    except NameError as e:
        r3 = (str(e), type(e).__name__)
    if 0:
        zz = 1
    return (r, r2, r3, sorted(locals()))


class Base:
    def __init__(self, a):
        self.a = a

    def m(self, x):
        return self.a + x


class Derived(Base):
    def __init__(self, a):
        super().__init__(a + 1)
        self.b = a

    def m(self, x):
        return super().m(x) * 2 + self.b


def methods(n):
    o = Derived(n)
    p = Base(3)
    o.f = helper
    return (o.m(2), p.m(1), o.f(1), Derived.m(o, 5), "x".join(["a", "b"]), o.m.__self__ is o)


def recursion(n):
    if n == 0:
        raise ValueError("bottom")
    try:
        return recursion(n - 1)
    finally:
        log("up", n)


def generators_inside(n):

    def g():
        for i in range(n):
            try:
                yield i
            finally:
                log("g", i)

    return ([x for x in g()], sum(g()), list(map(lambda q: q + n, g())))


def exception_groups(n):
    try:
        raise ExceptionGroup("g", [ValueError(1), TypeError(2), KeyError(3)])
    except* ValueError as eg:
        log(repr(eg))
    except* TypeError as eg:
        log(repr(eg))


def own_frame(n):
    q = n + 1
    f = sys._getframe()
    q = deeper(1)
    return (
        f.f_code.co_name,
        f.f_lineno,
        sorted(f.f_locals.items())[1:],
        traceback.extract_stack()[-1].lineno,
        q,
        [z for z in range(n)],
    )


def frames_of_callers(n):

    def who():
        return ([(x.name, x.lineno) for x in traceback.extract_stack()[-2:]], sorted(sys._getframe(1).f_locals)[:1])

    try:
        a = [who(), 1, helper(n)]
    except KeyError as e:
        a = who()
    return a


class Countdown:
    def __init__(self, n, *, fail=-1):
        self.n = n
        self.fail = fail

    def __iter__(self):
        return self

    def __next__(self):
        self.n -= 1
        if self.n == self.fail:
            raise ValueError("it")
        if self.n < 0:
            raise StopIteration
        return self.n


def python_iterators(n):
    r = []
    for x in Countdown(n):
        for y in Countdown(x):
            r.append((x, y))
    else:
        r.append("else")
    try:
        for x in Countdown(n, fail=1):
            r.append(x)
    except ValueError as e:
        r.append([(q.name, q.lineno) for q in traceback.extract_tb(e.__traceback__)])
    for x in Countdown(n, fail=2):
        r.append(x)


class BadInit:
    def __init__(self):
        return 5


def init_returns_value(n):
    return BadInit()


def finalizers(n):
    r = []

    class D:
        def __del__(self):
            r.append(("del", sys.exc_info()[0]))

    d = D()
    d = None
    r.append(1)
    [D(), r.append(2)]
    try:
        d = D()
        helper(2)
    except KeyError:
        d = None
        r.append(3)
    r.append(4)
    return r


def make_captured():
    fv = [1]

    def captured(n):
        fv.append(n)
        z = sum(fv)
        fv.append(z)
        return list(fv)

    return captured


CASES = [
    (signature, (1,), {}),
    (signature, (1, 3, 4, 5), {"d": 9, "zz": 1}),
    (nested_loops, (5,), {}),
    (with_statements, (4,), {}),
    (try_statements, (4,), {}),
    (raise_through_finally, (3,), {}),
    (closures, (3,), {}),
    (captured_parameters, (3, 4), {}),
    (comprehensions, (5,), {}),
    (match_statement, (3,), {}),
    (conditions, (3,), {}),
    (conditions, (0,), {}),
    (twenty_locals, (1,), {}),
    (imports_and_globals, (1,), {}),
    (imports_and_globals, (0,), {}),
    (count, (50,), {}),
    (sum_of, ([1, 2, 3],), {}),
    (nested_expression, (3,), {}),
    (every_clause, (5,), {}),
    (reraise, (2,), {}),
    (reraise, (1,), {}),
    (raise_from, (2,), {}),
    (raise_in_handler, (2,), {}),
    (raise_in_handler, (1,), {}),
    (raise_through_with, (2,), {}),
    (raise_through_with, (1,), {}),
    (callee_sees_handled, (2,), {}),
    (nonlocals, (4,), {}),
    (unbound_names, (1,), {}),
    (unbound_names, (0,), {}),
    (methods, (4,), {}),
    (recursion, (6,), {}),
    (generators_inside, (3,), {}),
    (exception_groups, (1,), {}),
    (own_frame, (1,), {}),
    (frames_of_callers, (1,), {}),
    (frames_of_callers, (2,), {}),
    (python_iterators, (3,), {}),
    (init_returns_value, (1,), {}),
    (finalizers, (1,), {}),
]
