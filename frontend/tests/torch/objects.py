# What belongs to the tensor object: identity, attributes, gradient state, copies, subclasses, the number protocol.
import copy
import pickle

import torch


def show(make):
    try:
        print(make())
    except Exception as error:
        print(type(error).__name__, error)


x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
y = torch.tensor([1, 2])
print(x.shape, x.dtype, x.device, x.layout, x.ndim, x.size(), x.size(-1), x.stride(), x.stride(0), x.numel(), x.nbytes, x.itemsize)
print(x.dim(), x.element_size(), x.storage_offset(), x.is_contiguous(), x.T.is_contiguous(), x.T.shape, x.mT.stride(), len(x))
print(x.is_floating_point(), y.is_floating_point(), x.is_cuda, x.is_leaf, x.requires_grad, x.grad, x.grad_fn, x._version)
show(lambda: x.size(5))
show(lambda: y.stride(-3))
show(lambda: len(torch.tensor(1)))
show(lambda: iter(torch.tensor(1)))
show(lambda: x.foo)
show(lambda: y.H)

print(x.shape + (1,), x.shape[0:1], x.shape * 2, x.shape.numel(), x.shape == (2, 3), type(x.shape).__name__, list(x.shape))
print(x.type(), y.type(), hash(x) == hash(x), x is x, x in [x], x != None, x == "a")
a, b = x
print(a, b, [row.tolist() for row in x])
print(bool(torch.tensor([1])), int(torch.tensor(2.7)), float(torch.tensor(2)), [1, 2, 3][torch.tensor(1)])
show(lambda: bool(y))
show(lambda: bool(torch.tensor([])))
show(lambda: float(y))
show(lambda: y.item())
show(lambda: [1, 2][torch.tensor(1.0)])
show(lambda: x + "a")
show(lambda: x + None)

# Gradient state.
w = torch.tensor([1.0, 2.0], requires_grad=True)
print(w.requires_grad, w.is_leaf, (w * 2).requires_grad, (w * 2).is_leaf, (w > 1).requires_grad, w.detach().requires_grad)
with torch.no_grad():
    print((w * 2).requires_grad, torch.is_grad_enabled())
print(torch.is_grad_enabled(), w.data.requires_grad)
show(lambda: y.requires_grad_())
show(lambda: setattr(w * 2, "requires_grad", False))
show(lambda: w.add_(1))
show(lambda: w.__setitem__(0, 1))
show(lambda: y.backward())
w.grad = torch.tensor([1.0, 1.0])
print(w.grad)
show(lambda: setattr(w, "grad", torch.tensor([1.0])))
show(lambda: setattr(w, "grad", 1))
w.grad = None
print(w.grad)

# Data may be swapped; versions count writes.
z = torch.tensor([1.0, 2.0])
before = id(z)
z.data = torch.tensor([[5.0]])
print(z, id(z) == before)
z += 1
z.mul_(2)
print(z, z._version)

# Copies.
p = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
p.note = "kept"
q = copy.deepcopy(p)
print(q, type(q).__name__, q.data_ptr() == p.data_ptr(), copy.copy(x).data_ptr() == x.data_ptr())
print(copy.deepcopy([x, x])[0] is not x, copy.deepcopy(torch.float32) is torch.float32)
t = copy.deepcopy(x)
t.tag = 3
print(copy.deepcopy(t).tag, pickle.loads(pickle.dumps(x)), pickle.loads(pickle.dumps(torch.float16)), pickle.loads(pickle.dumps(x.shape)))
show(lambda: copy.deepcopy(w * 2))


class Tagged(torch.Tensor):
    @property
    def doubled(self):
        return self.tolist() + self.tolist()


s = torch.tensor([1.0]).as_subclass(Tagged)
print(type(s).__name__, s.doubled, isinstance(s, torch.Tensor), torch.is_tensor(s))
torch.Tensor.shout = lambda self: "patched"
print(x.shout(), p.shout())
del torch.Tensor.shout

# Random streams.
g = torch.Generator()
print(g.manual_seed(2) is g, g.initial_seed(), torch.manual_seed(1) is torch.default_generator, torch.initial_seed(), g.device)
state = torch.get_rng_state()
print(state.shape, state.dtype, state[:24].tolist(), state[-16:].tolist())
torch.set_rng_state(state)
show(lambda: torch.manual_seed("a"))
show(lambda: torch.foo)

print("# elements by Python")
t = torch.arange(6.0).view(2, 3)
print(t.clone().apply_(lambda v: v * 2), t.clone().map_(t, lambda a, b: a + b), t.t().clone().apply_(lambda v: int(v)))
r = t.clone()
print(r.as_strided_((2, 2), (1, 1)) is r, r, torch.arange(3).apply_(lambda v: v + 1), t.new_empty_strided((2, 3), (1, 2)).stride(), t.isreal().all())
for work in [
    lambda: t.clone().requires_grad_().apply_(lambda v: v),
    lambda: t.apply_(3),
    lambda: t.clone().apply_(lambda v: "a"),
    lambda: t.map_(torch.ones(2), lambda a, b: a),
    lambda: torch.arange(3).map_(t, lambda a, b: a),
]:
    try:
        print(work())
    except Exception as error:
        print(type(error).__name__, error)

print("# set_")
u = torch.empty(0)
print(u.set_(t.untyped_storage(), 1, (2, 2), (2, 1)) is u, u, u.data_ptr() == t.data_ptr() + 4)
print(torch.empty(3).set_().shape, torch.empty(0).set_(t, 2, (3,)), torch.empty(0, dtype=torch.int32).set_(t.untyped_storage()).shape)
grown = torch.ones(2)
print(torch.empty(0).set_(grown.untyped_storage(), 0, (4,), (1,)).shape, grown.untyped_storage().nbytes(), torch.empty(0).set_(source=t) is t)
for work in [lambda: torch.empty(0, dtype=torch.int32).set_(t), lambda: torch.empty(0).set_(t.untyped_storage(), 0, (2,), (1, 1))]:
    try:
        print(work())
    except Exception as error:
        print(type(error).__name__, str(error).split("\n")[0])
