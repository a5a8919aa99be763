"""Subclasses of `Tensor`: results of their own class, and `__torch_function__`."""

import torch
import torch.nn.functional as F
from torch.overrides import has_torch_function, handle_torch_function


class Plain(torch.Tensor):
    pass


plain = torch.arange(4.0).as_subclass(Plain)
results = [
    plain + 1, 1 - plain, plain @ plain, -plain, plain[0], plain[1:], plain == plain, plain.sum(), torch.add(plain, plain),
    torch.cat([plain, torch.ones(1)]), F.relu(plain), plain.clone(), plain.to(torch.float64), torch.stack([plain]), torch.ones(4) * plain,
]
print([type(result).__name__ for result in results])
print([type(part).__name__ for part in plain.view(2, 2).max(0)], type(plain.view(2, 2).max(0)).__name__)
print([type(part).__name__ for part in plain.split(2)], type(torch.nn.Parameter(torch.ones(1)) * 2).__name__)
plain += 1
plain[0] = 7
print(type(plain).__name__, plain.tolist())


class Logged(torch.Tensor):
    seen = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        Logged.seen.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})


logged = torch.ones(3).as_subclass(Logged)
(logged * 2 + logged.sin()).sum()
F.relu(logged)
2 - logged, logged[1:], -logged, logged < 2, torch.stack([logged, logged])
logged[0] = 1
print(Logged.seen)


class Fixed(torch.Tensor):
    known = {torch.Tensor.add: "method", torch.add: "function", torch.mean: "mean"}

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func in cls.known:
            return cls.known[func], kwargs, [kind.__name__ for kind in types]
        return NotImplemented


fixed = torch.ones(2).as_subclass(Fixed)
print(fixed + 1, torch.add(fixed, 2, alpha=3), torch.mean(fixed, dim=0), torch.add(torch.ones(2), fixed))
try:
    torch.mul(fixed, 2)
except TypeError as error:
    print(str(error).split(":")[0][:60])


class Quiet(torch.Tensor):
    __torch_function__ = torch._C._disabled_torch_function_impl


class Inner(Logged):
    pass


print(type(torch.ones(2).as_subclass(Quiet) * 2).__name__, type(torch.ones(1).as_subclass(Inner) + logged[:1]).__name__)
with torch._C.DisableTorchFunctionSubclass():
    print(type(plain * 2).__name__)


def scaled(x, by):
    if has_torch_function((x,)):
        return handle_torch_function(scaled, (x,), x, by)
    return x * by


Logged.seen.clear()
print(type(scaled(logged, 3)).__name__, Logged.seen, has_torch_function((torch.ones(1), torch.nn.Parameter(torch.ones(1)))))
weights = torch.ones(2, requires_grad=True)
(weights.as_subclass(Plain) * 3).sum().backward()
print(weights.grad)
