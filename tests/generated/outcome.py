"""Calls a generated function plainly and compiled, and says where what can be seen of the calls differs."""

import contextlib
import functools
import io
import sys
import traceback
import warnings

import torch
import torch.nn.functional as F

warnings.simplefilter("ignore")


class Thing:
    """What programs get as an object: attributes, methods, a property, a context manager, a call."""

    scale = 2

    def __init__(self):
        self.n = 1
        self.items = [1, 2]
        self.t = torch.ones(2, 3)
        self.ticks = 3

    def bump(self, k=1):
        self.n += k
        return self.n

    def tick(self):
        self.ticks -= 1
        return self.ticks >= 0

    @property
    def double(self):
        return self.n * 2

    @contextlib.contextmanager
    def held(self):
        self.n += 10
        try:
            yield self.n
        finally:
            self.n -= 10

    def __call__(self, x):
        return x * self.n


class Bigger(Thing):
    """A class of another shape."""

    scale = 3

    def bump(self, k=1):
        return super().bump(k * 2)


def helper(a, *rest, m=1):
    return a * m + sum(rest)


def number(value):
    """An integer whatever the value is: the VM adds in place what it has specialised for integers as if it were `+`."""
    return value if isinstance(value, int) else 5


def namespace(source, kind):
    """The globals of a program, which is defined in them."""
    names = {"torch": torch, "F": F, "functools": functools, "Bigger": Bigger, "helper": helper, "number": number, "COUNT": 3, "TABLE": {"a": 1}}
    exec(compile(source, f"<{kind}>", "exec"), names)
    return names


def program_arguments(turn):
    x, y = torch.randn(2, 3), torch.randn(2, 3)
    l, d, o, flag = [1, 2, 3], {1: 2, "k": 4}, Thing(), False
    if turn == 1:
        x.requires_grad_()
    elif turn == 2:
        x, flag = x.double(), True
    elif turn == 3:
        y, l = x, []
    elif turn == 4:
        x, o = torch.randn(3, 2).t(), Bigger()
    elif turn == 5:
        x, y, flag = torch.randint(-3, 4, (2, 3)), torch.randn(3, 3), None
    elif turn == 6:
        y, d = x[:, :], {1: [5], 2: 0}
    elif turn == 7:
        y = torch.randn(2, 3, requires_grad=True)
        x, l = y * 1, [y, 2, None]
        o.extra = y
    return [x, y, [1, 2, 0, 1, 3][turn % 5], [2, 2, 5, 0][turn % 4], l, d, o, flag]


def chain_arguments(turn):
    x, y = torch.randn(2, 3), torch.randn(2, 3)
    if turn == 1:
        x.requires_grad_()
    z = x[:, :2]
    if turn == 2:
        x, z = x.double(), y.t().contiguous().t()
        y.requires_grad_()
    elif turn == 3:
        x, z = torch.randn(3, 2).t(), y
    elif turn == 4:
        x, y = torch.randint(-3, 4, (2, 3)), torch.randint(1, 4, (2, 3))
    elif turn == 5:
        z = torch.randn(2, 3, requires_grad=True)
        x = y = z * 1
    return [x, y, z]


class Seen:
    """Everything that can be seen of values; objects and storages are numbered as they are met."""

    def __init__(self):
        self.objects = []
        self.storages = []

    def tensor(self, value):
        storage = value.untyped_storage()
        where = self.number(self.storages, storage.data_ptr()), value.storage_offset()
        layout = tuple(value.shape), value.stride(), value.dtype
        history = value.requires_grad, value.is_leaf, value.grad_fn is None, value._version
        return "tensor", where, layout, history, repr(value.tolist())

    def number(self, known, new):
        if new not in known:
            known.append(new)
        return known.index(new)

    def show(self, value):
        if value is None or isinstance(value, (bool, int, float, str)):
            return type(value).__name__, repr(value)
        for number, known in enumerate(self.objects):
            if known is value:
                return "met before", number
        self.objects.append(value)
        if isinstance(value, torch.Tensor):
            return self.tensor(value)
        if isinstance(value, (list, tuple)):
            return type(value).__name__, [self.show(item) for item in value]
        if isinstance(value, dict):
            return "dict", [(self.show(key), self.show(item)) for key, item in value.items()]
        if isinstance(value, Thing):
            return type(value).__name__, self.show(dict(value.__dict__))
        return type(value).__name__, repr(value)


def raised(error, kind):
    """An exception, its text, where it went through the program, and what it was raised from."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == f"<{kind}>"]
    context = error.__context__ and type(error.__context__).__name__
    # An addition in place that the VM has specialised calls itself `+`.
    return type(error).__name__, str(error).replace("for +=:", "for +:"), lines, context


def gradients(seen, values):
    """Goes backward from every float result, and tells the gradients of all leaves."""
    results = [value for value in values if isinstance(value, torch.Tensor) and value.requires_grad]
    if not results:
        return None
    try:
        sum((result.double() ** 2).sum() for result in results).backward()
    except Exception as error:
        return type(error).__name__, str(error)
    leaves = [value for value in seen.objects if isinstance(value, torch.Tensor) and value.is_leaf and value.grad is not None]
    return [(leaf.grad.stride(), repr(leaf.grad.tolist())) for leaf in leaves]


def outcome(function, names, turn, kind):
    """What a call came to."""
    torch.manual_seed(turn)
    arguments = program_arguments(turn) if kind == "programs" else chain_arguments(turn)
    printed, stdout = io.StringIO(), sys.stdout
    seen = Seen()
    sys.stdout = printed
    try:
        results = list(function(*arguments))
        shown = seen.show(results)
    except Exception as error:
        results, shown = [], raised(error, kind)
    finally:
        sys.stdout = stdout
    remembered = names.get("remembered")
    cached = remembered and tuple(remembered.cache_info())
    around = seen.show([arguments, names["COUNT"], names["TABLE"], sorted(names.get("NUMBERS", ())), cached])
    ambient = torch.is_grad_enabled(), int(torch.get_rng_state().sum())
    return {
        "result": shown,
        "arguments and globals": around,
        "printed": printed.getvalue(),
        "ambient": ambient,
        "gradients": gradients(seen, results),
    }


def difference(source, kind):
    """The first difference between plain and compiled calls, as text; empty where there is none."""
    try:
        plain, traced = namespace(source, kind), namespace(source, kind)
    except SyntaxError as error:
        # The VM's compiler loses the names of some comprehensions among lambdas.
        if "symbol table" in str(error):
            return ""
        raise
    torch._dynamo.reset()
    compiled = torch.compile(traced["program"])
    for turn in (0, 0, 1, 2, 0, 3, 4, 5, 6, 7, 1) if kind == "programs" else (0, 0, 1, 2, 3, 4, 5, 1):
        expected = outcome(plain["program"], plain, turn, kind)
        got = outcome(compiled, traced, turn, kind)
        for part in expected:
            if expected[part] != got[part]:
                return f"inputs {turn}, {part}:\n    plain     {expected[part]}\n    compiled  {got[part]}\n"
    return ""
