"""What a module is: what it registers, what it refuses, its state dict, hooks, modes, copies, and its containers."""

import copy
from collections import OrderedDict

import torch
from torch import nn


def attempt(call, *args, **kwargs):
    """Prints the exception of a call, or that there was none."""
    try:
        call(*args, **kwargs)
        print("fine")
    except Exception as error:
        print(type(error).__name__, error)


class Tied(nn.Module):
    """Two names for one child, a parameter, buffers that are saved and not, and a plain attribute."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 3)
        self.register_buffer("kept", torch.zeros(2))
        self.register_buffer("dropped", torch.zeros(2), persistent=False)
        self.b = self.a
        self.p = nn.Parameter(torch.ones(4))
        self.rest = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
        self.plain = 5

    def forward(self, x, scale=1):
        return self.a(x) * scale


class Empty(nn.Module):
    pass


class Early(nn.Module):
    """Assigns before the base class has made its mappings."""

    def __init__(self, value):
        self.value = value


class Mixin:
    pass


class Mixed(Mixin, nn.Linear):
    pass


# Registering, and its refusals.
for value in (nn.Parameter(torch.ones(1)), nn.Linear(1, 1), nn.Buffer(torch.ones(1))):
    attempt(Early, value)
attempt(Empty(), torch.ones(1))
attempt(Empty, 3)
attempt(Empty, a=3)
m = Tied()
print(list(m.__dict__))
print([name for name, _ in m.named_parameters()])
print([name for name, _ in m.named_parameters(remove_duplicate=False)])
print([name for name, _ in m.named_parameters(recurse=False)], [name for name, _ in m.named_buffers()])
print([name for name, _ in m.named_modules()], [name for name, _ in m.named_children()])
for value in (torch.ones(4), 3, None):
    attempt(setattr, m, "p", value)
for name in ("a", "kept"):
    attempt(setattr, m, name, 3)
attempt(setattr, m, "kept", None)
m.a = None
print(m.p, m.kept, m.a, list(m._modules))
m = Tied()
for name in ("plain", "a.b", "", 3):
    attempt(m.register_parameter, name, None)
    attempt(m.register_buffer, name, None)
    attempt(m.add_module, name, nn.ReLU())
attempt(m.register_parameter, "q", torch.ones(1))
attempt(m.register_parameter, "q", 5)
attempt(m.register_buffer, "q", 5)
attempt(m.add_module, "q", 5)
attempt(getattr, m, "nope")
attempt(delattr, m, "nope")
attempt(m.train, "x")
for path in ("rest.0", "rest.5", "plain"):
    attempt(m.get_submodule, path)
for path in ("rest.0.weight", "plain"):
    attempt(m.get_parameter, path)
for path in ("rest.1.running_mean", "p", "zz"):
    attempt(m.get_buffer, path)
del m.p, m.kept, m.rest
print(list(m._parameters), list(m._buffers), list(m._modules))
m.p = 7
m.p = nn.Parameter(torch.ones(1))
print("p" in m.__dict__, list(m._parameters))
n = Empty()
n.b = nn.Buffer(torch.ones(2))
n.c = nn.Buffer(torch.ones(1), persistent=False)
print(list(n._buffers), type(n.b).__name__, list(n.state_dict()))
print(Mixed(2, 3), isinstance(Mixed(1, 1), Mixin))

# State dicts.
m = Tied()
state = m.state_dict()
print(list(state), dict(state._metadata), type(state).__name__)
print(m.load_state_dict(state))
bad = OrderedDict(state)
del bad["p"]
bad.update({"zz": torch.ones(1), "a.weight": torch.ones(5, 5), "a.bias": 3, "rest.9.w": torch.ones(1)})
attempt(m.load_state_dict, bad)
attempt(m.load_state_dict, bad, strict=False)
attempt(m.load_state_dict, 5)
less = OrderedDict(state)
del less["p"]
less["zz"] = torch.ones(1)
print(m.load_state_dict(less, strict=False))
other = Tied()
print(other.load_state_dict(state, assign=True), other.p.data_ptr() == m.p.data_ptr(), type(other.p).__name__)
print(m.load_state_dict({name: value for name, value in state.items() if "num_batches" not in name}))

# Hooks.
log = []
x = torch.ones(1, 2)
with torch.no_grad():
    m.a.weight.fill_(0.5)
    m.a.bias.fill_(0.25)
first = m.register_forward_pre_hook(lambda module, args: log.append("pre") or (args[0] + 1,))
named = m.register_forward_pre_hook(lambda module, args, kwargs: (args, {"scale": 3}), with_kwargs=True, prepend=True)
last = m.register_forward_hook(lambda module, args, output: log.append("post") or output * 2)
print(m(x), log)
first.remove()
named.remove()
print(m(x), log)
last.remove()
print(m(x), log)
wrong = m.register_forward_pre_hook(lambda module, args, kwargs: 5, with_kwargs=True)
attempt(m, x)
wrong.remove()


def fail(module, args, output):
    raise ValueError("from the hook")


always = m.register_forward_hook(lambda module, args, output: log.append("always"), always_call=True)
failing = m.register_forward_hook(fail, prepend=True)
attempt(m, x)
print(log)
always.remove()
failing.remove()
with m.register_forward_hook(lambda module, args, output: 1):
    print(m(x))

# Modes, dtypes, copies.
print(m.train().training, m.eval().rest[1].training, m.double().a.weight.dtype, m.to(torch.float16).kept.dtype)
print(m.half().rest[1].num_batches_tracked.dtype, m.float().p.dtype)
attempt(m.to, torch.int32)
m.requires_grad_(False)
print([p.requires_grad for p in m.parameters()])
c = copy.deepcopy(m)
print(type(c.p).__name__, c.p is m.p, c.a is c.b, torch.equal(c.p, m.p), c.p.requires_grad, copy.copy(m)._modules is m._modules)
print(m.apply(lambda module: None) is m)
lazy = nn.LazyLinear(3)
print(lazy(torch.ones(2, 5)).shape, lazy, type(lazy).__name__)

# Containers.
s = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Tanh())
print(s[0], s[-1], s[0:2], len(s))
attempt(lambda: s[5])
s.append(nn.Sigmoid())
s.insert(0, nn.Identity())
del s[1]
s.extend([nn.ReLU()])
s[0] = nn.GELU()
print(s, list(s._modules), s.pop(0), s + nn.Sequential(nn.ReLU()), nn.Sequential(nn.ReLU()) * 2)
attempt(lambda: s * 0)
attempt(lambda: s + 3)
attempt(nn.Sequential, {"a": nn.ReLU()})
attempt(s.insert, 99, nn.ReLU())
items = nn.ModuleList([nn.Linear(1, 1), nn.ReLU()])
items.insert(1, nn.Tanh())
items += [nn.ReLU()]
print(items, items[1:], items[-1], len(items), items.pop(-1))
attempt(lambda: items[9])
attempt(items.extend, 3)
attempt(items, 1)
attempt(items.append, 3)
table = nn.ModuleDict([["a", nn.ReLU()], ("b", nn.Tanh())])
print(table, list(table), "a" in table, list(table.items()), table.pop("a"), list(table.keys()))
attempt(lambda: table["zz"])
attempt(nn.ModuleDict, 3)
attempt(table.update, [(1, 2, 3)])
attempt(table.update, {"keys": nn.ReLU()})
values = nn.ParameterList([torch.ones(1), nn.Parameter(torch.zeros(2))])
values.append(torch.ones(3))
print(len(values), values[-1].shape, [type(p).__name__ for p in values], [name for name, _ in values.named_parameters()])
attempt(lambda: values[7])
attempt(values, 3)
named = nn.ParameterDict({"a": torch.ones(1)})
named["b"] = 3
print(named.get("z"), "a" in named, named.pop("b"), len(named), list(named.keys()))
attempt(lambda: named[3])

# Arguments that modules refuse.
attempt(nn.Dropout, 3)
attempt(nn.GroupNorm, 3, 4)
attempt(nn.Conv2d, 3, 4, 2, groups=2)
attempt(nn.Conv2d, 4, 3, 3, groups=2)
attempt(nn.Conv2d, 3, 3, 3, padding="same", stride=2)
attempt(nn.ConvTranspose2d, 3, 3, 3, padding_mode="reflect")
attempt(nn.BatchNorm1d(3), torch.ones(2))
attempt(nn.BatchNorm2d(3), torch.ones(2))
attempt(nn.InstanceNorm2d(3), torch.ones(2))
attempt(nn.MultiheadAttention, 3, 2)
attempt(nn.Embedding, 3, 2, padding_idx=7)
attempt(nn.LSTM, 3, 0)
attempt(nn.LSTM, 3, 4, dropout=3)
attempt(nn.LSTM(3, 4), torch.ones(2))
attempt(nn.LSTM(3, 4), torch.ones(2, 2, 2))
attempt(nn.RNN, 3, 4, nonlinearity="foo")
attempt(nn.Hardtanh, 3, 2)
attempt(nn.Unflatten, 1, (2, "a"))
attempt(nn.TransformerEncoderLayer, 8, 2, activation="foo")
