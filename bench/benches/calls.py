"""What the benchmarks call: each `loop_…` does one thing `count` times, so that the program's own cost is spread thin."""

import torch


def plain(x):
    return x


@torch.compile
def hit(x):
    return x


@torch.compile
def fifty_ops(x):
    for _ in range(25):
        x = x * 0.5 + 1.0
    return x


def fifty_ops_plain(x):
    for _ in range(25):
        x = x * 0.5 + 1.0
    return x


class Deep(torch.nn.Module):
    """Sixty-four modules in a row: every one is guarded, and none does anything."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(*[torch.nn.Identity() for _ in range(64)])

    def forward(self, x):
        return self.layers(x)


deep = torch.compile(Deep())


def breaking(x):
    torch._dynamo.graph_break()
    return x


one_break = torch.compile(breaking)


@torch.compile
def miss(x, n):
    return x


def callee(x):
    return x


def calls_another(x, n):
    """Past its limit: runs plainly, and so does what it calls."""
    return callee(x)


one_call = torch.compile(calls_another)


def iterates(x, iterator):
    """Can't be traced further than its first step, and calls a function that can."""
    for _ in iterator:
        callee(x)


calls_inside = torch.compile(iterates)
x = torch.ones(1)


def loop_plain(count):
    for _ in range(count):
        plain(x)


def loop_hit(count):
    for _ in range(count):
        hit(x)


def loop_break(count):
    for _ in range(count):
        one_break(x)


def loop_miss(count):
    # As many versions as there may be: from then on their guards are asked, and the call runs plainly.
    for number in range(10):
        miss(x, number)
    for _ in range(count):
        miss(x, -1)


def loop_miss_call(count):
    for number in range(10):
        one_call(x, number)
    for _ in range(count):
        one_call(x, -1)


def loop_inside(count):
    calls_inside(x, iter(range(count)))


def loop_deep(count):
    for _ in range(count):
        deep(x)


def loop_fifty_ops(count):
    for _ in range(count):
        fifty_ops(x)


def loop_fifty_ops_plain(count):
    for _ in range(count):
        fifty_ops_plain(x)
