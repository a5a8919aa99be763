"""Every instruction a break, to the end or for the first n instructions with the rest run plainly."""

from bridge_compare import compare, outcome, report
from bridge_functions import CASES, make_captured
from bridge_natives import execute, statistics

for follow in (False, True):
    for function, args, keywords in CASES:
        compare(function, args, keywords, follow)
    compare(make_captured(), (5,), {}, follow, make=make_captured)

for follow in (False, True):
    for function, args, keywords in CASES:
        statistics()
        outcome(lambda: execute(function, args, keywords, follow, -1))
        steps = statistics()[0]
        for breaks in range(0, steps + 1, 1 if steps < 300 else 7):
            if not compare(function, args, keywords, follow, breaks):
                break

report(6000)
