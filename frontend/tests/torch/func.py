"""`torch.func`: gradients, Jacobians and maps of functions."""

import torch
from torch import nn
from torch.func import functional_call, grad, grad_and_value, hessian, jacrev, vjp, vmap


def attempt(label, call):
    try:
        print(label, call())
    except Exception as error:
        print(label, type(error).__name__)


def f(x):
    return (x**3).sum()


x = torch.tensor([1.0, 2.0, -3.0])
print(grad(f)(x), grad_and_value(f)(x), grad(f)(x).requires_grad)
print(grad(lambda x: grad(f)(x).sum())(x), grad(grad(lambda x: x**4))(torch.tensor(2.0)))
print(grad(lambda x, y: (x * y).sum(), argnums=(0, 1))(x, x + 1), grad(lambda x, y: (x * y).sum(), argnums=1)(x, 2 * x))
print(grad(lambda d: (d["a"] * d["b"]).sum())({"a": x, "b": x * 2}))
print(grad(lambda x: (x.sum(), x * 2), has_aux=True)(x), grad_and_value(lambda x: (x.sum(), x + 7), has_aux=True)(x))
print(grad(lambda x: torch.tensor(1.0))(x))
w = torch.tensor([2.0, 2.0, 2.0], requires_grad=True)
print(grad(lambda x: (x * w).sum())(x))
out = grad(lambda w: (w**2 * x).sum())(w)
print(out.requires_grad)
out.sum().backward()
print(w.grad)
for jacobian in (jacrev(lambda x: x**2)(x), *jacrev(lambda x, y: (x * y, y), argnums=(0, 1))(x, x), hessian(f)(x)):
    # Zeros may have either sign.
    print([part + 0.0 for part in jacobian] if isinstance(jacobian, tuple) else jacobian + 0.0)
value, back = vjp(lambda x: x * 2, x)
print(value, back(torch.ones(3)))
value, back = vjp(lambda x, y: (x * y, x + y), x, x + 1)
print(value, back((torch.ones(3), torch.ones(3) * 2)))

print(vmap(torch.dot)(torch.arange(6.0).reshape(2, 3), torch.ones(2, 3)))
print(vmap(lambda x, y: x + y, in_dims=(0, None))(torch.arange(3.0), torch.ones(2)))
print(vmap(lambda x: x * 2, in_dims=1, out_dims=1)(torch.arange(6.0).reshape(2, 3)))
print(vmap(lambda x: (x, x.sum()), out_dims=(1, 0))(torch.arange(6.0).reshape(2, 3)))
print(vmap(lambda d: d["a"] + d["b"], in_dims=({"a": 0, "b": None},))({"a": torch.arange(2.0), "b": torch.ones(2)}))
print(vmap(grad(f))(torch.arange(6.0).reshape(2, 3)), vmap(vmap(lambda x: x * 2))(torch.ones(2, 2)))
attempt("sizes", lambda: vmap(torch.add)(torch.ones(2), torch.ones(3)))
attempt("nothing", lambda: vmap(torch.sin, in_dims=None)(torch.ones(2)))
attempt("random", lambda: vmap(lambda x: x + torch.rand(()))(torch.ones(2)))
attempt("result", lambda: vmap(lambda x: 3)(torch.ones(2)))
attempt("scalar", lambda: grad(lambda x: x)(x))
attempt("tensor", lambda: grad(lambda x: 1)(x))
attempt("argnum", lambda: grad(f, argnums=2)(x))

linear = nn.Linear(2, 1)
params = {"weight": torch.ones(1, 2), "bias": torch.zeros(1)}
samples = torch.arange(6.0).reshape(3, 2)
print(functional_call(linear, params, samples))
per_sample = vmap(grad(lambda p, s: functional_call(linear, p, s).pow(2).sum()), in_dims=(None, 0))(params, samples)
print({name: value for name, value in per_sample.items()})


print("# directions")
from torch.func import jacfwd, jvp, stack_module_state

print(jvp(lambda x: x**3, (torch.tensor([1.0, 2.0]),), (torch.tensor([1.0, 0.5]),)))
print(jvp(lambda x, y: (x * y, x), (torch.tensor(1.0), torch.tensor(3.0)), (torch.tensor(1.0), torch.tensor(2.0)), has_aux=True))
print(jvp(lambda x, y: {"p": x * y, "q": torch.ones(2)}, (torch.tensor(1.0), torch.tensor(3.0)), (torch.tensor(1.0), torch.tensor(2.0))))
print(jacfwd(lambda x: x**2)(torch.tensor([1.0, 2.0])), jacfwd(lambda x: x.sum() ** 2)(torch.ones(2, 2)))
print(jacfwd(lambda x, y: (x * y).sum(), argnums=(0, 1))(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])))
print(jacfwd(jacfwd(lambda x: (x**3).sum()))(torch.tensor([1.0, 2.0])))
for work in [
    lambda: jvp(lambda x: x, torch.ones(1), (torch.ones(1),)),
    lambda: jvp(lambda x: x, (torch.ones(1),), (torch.ones(2),)),
    lambda: jvp(lambda x: 3, (torch.ones(1),), (torch.ones(1),)),
    lambda: jvp(lambda x: x, (), ()),
    lambda: stack_module_state([]),
    lambda: stack_module_state([torch.nn.Linear(1, 1), torch.nn.ReLU()]),
    lambda: stack_module_state([torch.nn.Linear(1, 1), torch.nn.Linear(1, 1).eval()]),
]:
    try:
        print(work())
    except Exception as error:
        print(type(error).__name__, error)
params, buffers = stack_module_state([torch.nn.BatchNorm1d(2) for _ in range(3)])
print({k: (tuple(v.shape), v.requires_grad, v.is_leaf) for k, v in params.items()}, {k: tuple(v.shape) for k, v in buffers.items()})
