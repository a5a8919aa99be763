"""Library code, every call followed, every instruction a break: real programs use what ours forgot."""

import argparse
import ast
import base64
import bisect
import calendar
import collections
import colorsys
import contextlib
import copy
import csv
import dataclasses
import datetime
import difflib
import enum
import fractions
import functools
import heapq
import html
import inspect
import io
import json
import pprint
import random
import re
import shlex
import statistics
import string
import textwrap
import tokenize
import types
import typing

from bridge_compare import compare, report
from bridge_functions import Base


def odd_opcodes(n):
    l = [1, 2, 3, 4]
    d = {"a": 1, "b": 2}
    o = Base(1)
    l[0] = n
    l[1:2] = [7, 8]
    del l[2]
    del d["a"]
    o.z = 3
    del o.z
    del l[0:1]

    def f(*a, **k):
        return (a, k)

    s = {*l, *d}
    t = l[1:3]
    u = l[slice(0, n)]
    global GX
    GX = 4
    del GX
    c = n

    def h():
        return c

    del c
    try:
        h()
    except NameError as e:
        d["e"] = str(e)
    return (
        f(*l, **d),
        f(1, *t, q=2, **{"r": 3}),
        -n,
        ~n,
        not n,
        +n,
        len(s),
        u,
        (lambda *, k=1: k)(k=4),
        f"{n:{n}}",
        sorted(s, key=str),
        n if n else 0,
        [*f(1)],
        n**2,
        n @ n if 0 else 1,
        l.__class__.__name__,
    )


def library_json():
    return (
        json.encoder.py_encode_basestring_ascii("aé\n😀"),
        json.JSONEncoder(indent=2, sort_keys=True).encode({"a": [1, 2.5, None, True, {"x": "y"}]}),
        json.decoder.py_scanstring('ab\\n\\u00e9"', 0),
    )


def library_text():
    return (
        textwrap.fill("The quick brown fox jumped over the lazy dog. " * 4, 30),
        textwrap.dedent("   a\n     b\n"),
        textwrap.shorten("hello  world " * 5, 20),
    )


def library_re():
    return (
        str(re._parser.parse("(?P<a>a+|b[^c-d]*?)(?=x)\\d{2,3}(?:y|z)?$")),
        re._compiler._code(re._parser.parse("ab*[c-x]"), 0),
    )


def library_reerr():
    re._parser.parse("(a")


def library_heap():
    h = []
    for x in [5, 3, 8, 1, 9, 2]:
        heapq.heappush(h, x)
    return ([heapq.heappop(h) for _ in range(6)], heapq.nsmallest(2, [4, 2, 6]), heapq.nlargest(2, [4, 2, 6]))


def library_stat():
    return (
        statistics.mean([1, 2, 3.5]),
        statistics.stdev([1, 2, 4]),
        statistics.median([3, 1, 2]),
        statistics.quantiles([1, 2, 3, 4]),
    )


def library_staterr():
    return statistics.mean([])


def library_frac():
    return (
        fractions.Fraction("3/4") + fractions.Fraction(1, 3) ** 2,
        fractions.Fraction(1.25),
        round(fractions.Fraction(7, 3), 2),
        fractions.Fraction(3, 4).limit_denominator(3),
    )


def library_tmpl():
    return (string.Template("$a ${b} $$").substitute(a=1, b=2), string.Formatter().format("{0!r:>5} {x[0]}", 1, x=[2]))


def library_tmplerr():
    return string.Template("$a").substitute()


def library_nt():
    P = collections.namedtuple("P", "x y", defaults=[3])
    p = P(1)
    return (
        p._replace(x=4),
        p._asdict(),
        collections.Counter("abca").most_common(1),
        collections.ChainMap({1: 2}, {3: 4})[3],
        collections.OrderedDict(a=1),
    )


def library_dc():
    D = dataclasses.make_dataclass(
        "D", [("a", int), ("b", list, dataclasses.field(default_factory=list))], frozen=True, order=True
    )
    d = D(1)
    return (repr(d), d < D(2), dataclasses.asdict(dataclasses.replace(d, a=5)))


def library_diff():
    return (
        list(difflib.unified_diff(list("abcd"), list("axcd"))),
        difflib.get_close_matches("appel", ["ape", "apple"]),
        difflib.SequenceMatcher(None, "abcd", "bcde").ratio(),
    )


def library_argp():
    p = argparse.ArgumentParser(prog="x")
    p.add_argument("-v", action="store_true")
    p.add_argument("n", type=int, nargs="+")
    p.add_argument("--k", default="d", choices=["d", "e"])
    return (vars(p.parse_args(["-v", "1", "2", "--k", "e"])), p.format_usage())


def library_copy():
    a = [1, {"x": (2, [3])}]
    a.append(a[1])
    b = copy.deepcopy(a)
    return (b, b[1] is b[2], copy.copy(a) == a)


def library_ft():

    @functools.lru_cache
    def f(n):
        return n if n < 2 else f(n - 1) + f(n - 2)

    @functools.singledispatch
    def s(x):
        return "o"

    s.register(int)(lambda x: "i")
    return (
        f(10),
        s(1),
        s("a"),
        functools.reduce(lambda a, b: a + b, [1, 2]),
        functools.cmp_to_key(lambda a, b: a - b)(1) < functools.cmp_to_key(lambda a, b: a - b)(2),
    )


def library_ctx():
    r = []

    @contextlib.contextmanager
    def cm(x):
        r.append(("in", x))
        try:
            yield x
        except ValueError as e:
            r.append(("exc", str(e)))
        finally:
            r.append(("out", x))

    with contextlib.ExitStack() as st:
        st.callback(r.append, "cb")
        st.enter_context(cm(1))
        with cm(2), contextlib.suppress(KeyError):
            raise ValueError("v")
        with contextlib.suppress(KeyError):
            {}[1]
        raise ValueError("w")
    return r


def library_rand():
    q = random.Random(3)
    a = list(range(6))
    q.shuffle(a)
    return (a, q.choice("abc"), q.sample(range(9), 3), q.gauss(0, 1), q.randint(1, 9))


def library_misc():
    return (
        shlex.split("a 'b c' \\d"),
        ast.literal_eval("[1, {'a': (2, -3)}]"),
        pprint.pformat({"a": list(range(30)), "b": {1: 2}}),
        bisect.bisect([1, 2, 3], 2),
        base64.b32encode(b"abc"),
        html.escape("<a>"),
        html.unescape("&lt;&#65;"),
        colorsys.rgb_to_hls(0.1, 0.2, 0.3),
        calendar.month(2024, 2),
    )


def library_enum():
    E = enum.Enum("E", "A B")
    F = enum.Flag("F", "X Y Z")
    return (list(E), E["A"].value, F.X | F.Z, E(2).name)


def library_insp():
    return (
        str(inspect.signature(library_insp)),
        str(inspect.signature(Base.__init__)),
        inspect.signature(lambda a, b=1, *c, d, **e: 0).bind(1, d=2).arguments,
        typing.get_type_hints(Base.m),
        typing.Optional[int] | str,
    )


def library_csv():
    o = io.StringIO()
    w = csv.DictWriter(o, ["a", "b"])
    w.writeheader()
    w.writerow({"a": 1, "b": "x,y"})
    return (o.getvalue(), list(csv.DictReader(io.StringIO(o.getvalue()))))


def library_dt():
    return (
        list(tokenize.generate_tokens(io.StringIO("a = b + (1)\n").readline))[:5],
        datetime.date(2024, 2, 29).isoformat(),
    )


FUNCTIONS = [
    library_json,
    library_text,
    library_re,
    library_reerr,
    library_heap,
    library_stat,
    library_staterr,
    library_frac,
    library_tmpl,
    library_tmplerr,
    library_nt,
    library_dc,
    library_diff,
    library_argp,
    library_copy,
    library_ft,
    library_ctx,
    library_rand,
    library_misc,
    library_enum,
    library_insp,
    library_csv,
    library_dt,
]

compare(odd_opcodes, (3,), {}, follow=True)
for function in FUNCTIONS:
    compare(function, (), {}, follow=True)
report(len(FUNCTIONS) + 1)
