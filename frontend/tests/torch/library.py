# torch.library: operators defined, implemented and differentiated from Python.
from typing import List, Optional, Sequence, Tuple

import torch
from torch import Tensor
from torch.library import Library, custom_op, infer_schema


def fails(name, call):
    try:
        call()
    except Exception as error:
        print(name, "-", type(error).__name__)
        return
    print(name, "- no error")


# Schemas by annotations.
def prototype(x: Tensor, y: Optional[Tensor], xs: List[Tensor], n: int, p: float = 0.5, flag: bool = True, *, name: str = "a", sizes: Sequence[int]) -> Tuple[Tensor, Tensor]:
    pass


print(infer_schema(prototype, mutates_args=()))
print(infer_schema(prototype, mutates_args=("x", "xs")))


@custom_op("tests::scale", mutates_args=())
def scale(x: Tensor, factor: float) -> Tensor:
    return x * factor


@scale.register_fake
def _(x, factor):
    return torch.empty_like(x)


x = torch.arange(3.0)
print(scale(x, 2.0), torch.ops.tests.scale(x, 0.5), torch.ops.tests.scale.default(x, factor=3.0), scale(factor=1.0, x=x))
print(torch.ops.tests.scale, torch.ops.tests.scale.default, torch.ops.tests.scale.overloads())
fails("wrong type", lambda: scale("a", 2.0))
fails("missing", lambda: scale(x))
fails("too many", lambda: scale(x, 1.0, 2.0))
fails("unknown keyword", lambda: scale(x, 1.0, other=1))
fails("no such op", lambda: torch.ops.tests.nothing)
fails("no such overload", lambda: torch.ops.tests.scale.other)
g = torch.ones(2, requires_grad=True)
fails("backward without a gradient", lambda: scale(g, 2.0).sum().backward())


# Gradients.
@custom_op("tests::cube", mutates_args=())
def cube(x: Tensor) -> Tensor:
    return x**3


def setup_context(ctx, inputs, output):
    ctx.save_for_backward(inputs[0])


def backward(ctx, grad):
    x, = ctx.saved_tensors
    return grad * 3 * x**2


cube.register_autograd(backward, setup_context=setup_context)
g = torch.tensor([1.0, 2.0], requires_grad=True)
cube(g).sum().backward()
print(g.grad, cube(g).requires_grad)
with torch.no_grad():
    print(cube(g).requires_grad)


@custom_op("tests::both", mutates_args=())
def both(x: Tensor, y: Tensor, n: int = 2) -> Tuple[Tensor, Tensor]:
    return x + y, x * y * n


both.register_autograd(
    lambda ctx, a, b: (a + b * ctx.y * ctx.n, a + b * ctx.x * ctx.n, None),
    setup_context=lambda ctx, inputs, output: ctx.__dict__.update(x=inputs[0], y=inputs[1], n=inputs[2]),
)
a, b = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
first, second = both(a, b)
(first + second).backward()
print(first, second, a.grad, b.grad)


# Writing into arguments, lists, strings, no result.
@custom_op("tests::add_into", mutates_args=("out",))
def add_into(x: Tensor, out: Tensor) -> None:
    out.add_(x)


out = torch.zeros(2)
print(add_into(torch.ones(2), out), out)


@custom_op("tests::joined", mutates_args=())
def joined(xs: List[Tensor], dim: int = 0, mode: str = "plain", scale: Optional[Tensor] = None) -> Tensor:
    result = torch.cat(xs, dim)
    return result if scale is None else result * scale


print(joined([torch.ones(1), torch.zeros(1)]), joined([torch.ones(1)], scale=torch.tensor(2.0)), joined([x, x], mode="other").shape)


@custom_op("tests::parts", mutates_args=())
def parts(x: Tensor) -> List[Tensor]:
    return [x + 1, x + 2]


print(parts(torch.zeros(1)))


@custom_op("tests::same", mutates_args=())
def same(x: Tensor) -> Tensor:
    return x


fails("an argument as the result", lambda: same(x))
fails("no annotation", lambda: custom_op("tests::bad", lambda x: x, mutates_args=()))
fails("no namespace", lambda: custom_op("bad", lambda x: x, mutates_args=()))

# Libraries.
library = Library("tests2", "DEF")
print(library.define("double(Tensor x) -> Tensor"), library.define("shift(Tensor x, int n=1, *, float by=0.5) -> Tensor"))
fails("not implemented", lambda: torch.ops.tests2.double(x))
library.impl("double", lambda x: x * 2, "CPU")
library.impl("shift", lambda x, n=1, by=0.5: x + n + by, "CompositeExplicitAutograd")
print(torch.ops.tests2.double(x), torch.ops.tests2.shift(x), torch.ops.tests2.shift(x, 2, by=0.25), torch.ops.tests2.double.default._schema)
fails("defined twice", lambda: library.define("double(Tensor x) -> Tensor"))
fails("implemented twice", lambda: library.impl("double", lambda x: x, "CPU"))

torch.library.define("tests3::square", "(Tensor x) -> Tensor")


@torch.library.impl("tests3::square", "default")
def square(x):
    return x * x


@torch.library.register_fake("tests3::square")
def square_fake(x):
    return torch.empty_like(x)


torch.library.register_autograd("tests3::square", lambda ctx, grad: grad * 2 * ctx.x, setup_context=lambda ctx, inputs, output: setattr(ctx, "x", inputs[0]))
s = torch.tensor([3.0], requires_grad=True)
torch.ops.tests3.square(s).backward()
print(torch.ops.tests3.square(x), s.grad)
torch.library.define("tests3::twice", "(Tensor x) -> Tensor")
torch.library.impl("tests3::twice", "CompositeImplicitAutograd", lambda x: x * 2)
t = torch.ones(2, requires_grad=True)
torch.ops.tests3.twice(t).sum().backward()
print(t.grad)
