"""Nested tensors in the jagged layout: what they print and hold, their ops, their gradients, and what is refused."""

import copy
import pickle
import warnings

import torch
import torch.nn.functional as F

warnings.simplefilter("ignore")

A = torch.arange(6.0).view(2, 3) / 4
B = torch.arange(9.0).view(3, 3).sin()


def nested(*pieces, **options):
    return torch.nested.nested_tensor(list(pieces), layout=torch.jagged, **options)


def text(value):
    """A value with the numbers of nested tensors, rounded; the names of ragged sizes count tensors made, so they are left out."""
    if isinstance(value, (tuple, list)) and not isinstance(value, torch.Size):
        return "(" + ", ".join([text(each) for each in value]) + ")"
    if not isinstance(value, torch.Tensor):
        return str(value)
    if value.is_nested:
        sizes = ["j" if isinstance(size, torch.SymInt) else size for size in value.shape]
        return f"nested {sizes} {value.offsets().tolist()} {value.is_contiguous()} {text(value.values())}"
    return f"{list(value.shape)} {[round(v, 4) + 0.0 for v in value.detach().double().flatten().tolist()]}"


n = nested(A, B)
j = n.size(1)
other = nested(A + 1, B + 1)
scaled = torch.nested.nested_tensor_from_jagged(n.values() * 2, n.offsets())
swapped = n.transpose(1, 2)
wide = nested(torch.arange(16.0).view(2, 8).cos(), torch.arange(32.0).view(4, 8).sin())
heads = wide.unflatten(-1, (2, 4)).transpose(1, 2)
holes = torch.nested.nested_tensor_from_jagged(torch.arange(10.0).view(5, 2), torch.tensor([0, 2, 5]), torch.tensor([1, 2]))
tokens = nested(torch.tensor([0, 1]), torch.tensor([2]))
torch.manual_seed(0)
linear, table = torch.nn.Linear(3, 2), torch.nn.Embedding(4, 2)
weight = torch.linspace(-1, 1, 6).view(2, 3)

print(n, repr(n.shape), n.dim(), n.layout, n.is_nested, n.dtype, n.requires_grad, n.is_leaf, type(n).__name__, n.stride(), n.numel())
print(isinstance(n, torch.Tensor), isinstance(n, torch.nested._internal.nested_tensor.NestedTensor), torch.is_tensor(n))
print(torch.nested.as_nested_tensor([A, B], layout=torch.jagged), n._max_seqlen, n._min_seqlen, n.lengths())

EXPRESSIONS = """
j == j; j == 3; j != 3; j >= 2; j < 2; j > 1; j < 5; 2 * j == j; (n + 1).shape == n.shape; other.shape == n.shape; n.size(3); bool(j)
n.unbind(); n[0]; n[-1]; n[1, 0]; n[..., 0]; list(n); len(n); n[2]; n.select(0, 1); n.select(-1, 0); n.select(1, 0)
n.to_padded_tensor(0.0); torch.nested.to_padded_tensor(swapped, -1.0); wide.to_padded_tensor(0.0, (2, 6, 8))
n + 1; 1 - n; 2 ** n; -n; abs(n); n / 2; 1 / (n + 3); n > 0.5; ~(n > 0.5); n == n; n * torch.ones(3); n + torch.arange(6.0).view(2, 1, 3)
n + torch.tensor(2.0); torch.ones(2, 1, 3) - n; n + n; n * scaled; n + other; n * torch.ones(3, 3); n + n.sum(-1, keepdim=True)
swapped * 2; swapped + swapped; holes + 1
torch.exp(n); n.sigmoid(); F.gelu(n); F.silu(n); F.relu(n); F.elu(n); F.softplus(n); F.leaky_relu(n); F.tanh(n); n.clamp(0, 1)
torch.maximum(n, scaled); torch.where(n > 0, n, 0.0); n.masked_fill(n > 0, 3.0); n.lerp(scaled, 0.5); n.pow(2); torch.square(n)
torch.zeros_like(n); torch.full_like(n, 2.0); n.double().dtype; n.to(torch.float64).dtype; n.half(); n.int(); n.clone(); n.detach()
n.transpose(1, 2); n.permute(0, 2, 1); n.mT; n.unsqueeze(-1); n.unsqueeze(1); n.unsqueeze(0); n.squeeze(-1)
n.unflatten(-1, (3, 1)); n.flatten(-2); heads.transpose(1, 2).flatten(-2); n.view(2, -1, 3, 1); n.view(-1)
n.reshape(2, -1, 1, 3); n.view(2, 5, 3); n.view(3, -1, 3); swapped.contiguous(); heads.contiguous(); n.expand(2, -1, 3)
n.narrow(-1, 0, 2); n.narrow(1, 0, 1); n.split(1, -1); n.chunk(2, -1); n.chunk(2, 1); torch.cat([n, scaled], -1); torch.cat([n, n], 0)
torch.cat([n, n], 1); torch.stack([n, n], -1); torch.stack([n, n]); n.sum(); n.sum(1); n.sum(-1); n.sum(0); n.sum((0, 1)); n.sum((1, 2))
n.sum(1, keepdim=True); n.mean(1); n.mean(-1); n.mean(); n.amax(1); n.amin(-1); n.max(1); n.argmax(-1); n.max(); n.any(-1); n.prod(1)
heads.sum(2); heads.sum(1); swapped.sum(-1); holes.sum(1); n.softmax(-1); n.softmax(1); n.softmax(0); n.log_softmax(-1); swapped.softmax(1)
linear(n); linear(swapped); F.linear(n, weight); F.layer_norm(n, (3,)); F.layer_norm(heads, (4,)); F.rms_norm(n, (3,)); F.rms_norm(n, (5, 3))
F.dropout(n, 0.5, False); F.dropout(n, 1.0); table(tokens); torch.nn.ReLU()(n); torch.nn.LayerNorm(3)(n)
n @ weight.T; n @ torch.ones(2, 3, 2); torch.bmm(n, torch.ones(2, 3, 2)); swapped @ n; n @ n; torch.matmul(n, torch.ones(3))
F.scaled_dot_product_attention(heads, heads, heads); F.scaled_dot_product_attention(heads, heads, torch.ones(2, 2, 2, 4))
F.scaled_dot_product_attention(heads, heads, heads, attn_mask=torch.ones(2, 2)); holes; holes.unbind(); holes.contiguous(); holes.lengths()
n.cumsum(1); torch.sort(n); n.var(1); n.flip(-1); n.roll(1); n.repeat(1, 1, 2); n.gather(-1, torch.tensor([0])); n[n > 0]; n.tril()
F.pad(n, (0, 1)); F.glu(n); F.avg_pool1d(n, 1); F.normalize(n, dim=-1); n.logsumexp(-1); torch.bernoulli(n); n.mm(B); reversed(n)
nested(); nested(torch.tensor(1.0)); nested(torch.ones(2, 3), torch.ones(3, 2)); nested(torch.ones(2), torch.ones(2, 3))
nested(A, B.double()); nested(A, B, dtype=torch.int32); nested([1, 2], [3]); nested(torch.ones(3, 2), torch.ones(3, 4))
torch.nested.as_nested_tensor(torch.ones(2, 3, 4), layout=torch.jagged); torch.nested.as_nested_tensor(3, layout=torch.jagged)
torch.nested.nested_tensor_from_jagged(torch.ones(5, 2), lengths=torch.tensor([2, 3]))
torch.nested.nested_tensor_from_jagged(torch.ones(5, 2))
torch.nested.narrow(torch.ones(2, 5, 3), 1, torch.tensor([0, 1]), torch.tensor([2, 3]), layout=torch.jagged).unbind()
torch.nested.masked_select(B, B > 0); copy.copy(n); copy.deepcopy(n); pickle.loads(pickle.dumps(n)); n.dropout; bool(n)
"""

for expression in EXPRESSIONS.replace("\n", ";").split(";"):
    expression = expression.strip()
    if expression:
        try:
            print(expression, "=>", text(eval(expression)))
        except NotImplementedError:
            print(expression, "is refused")
        except Exception as error:
            print(expression, "raises", type(error).__name__, str(error).replace("add.Tensor", "add").replace("mul.Tensor", "mul")[:60])

# In place: the tensor itself, whose values were written.
target = nested(A, B)
values = target.values()
print(target.add_(1) is target, target.mul_(2) is target, target.copy_(scaled) is target, text(values))
target[0] = 7.0
print(text(target), text(values))

# Gradients flow to the pieces, to parameters, and to a nested leaf.
a, b, exact = A.double().requires_grad_(), B.double().requires_grad_(), copy.deepcopy(linear).double()
made = torch.nested.as_nested_tensor([a, b], layout=torch.jagged)
out = F.gelu(exact(F.layer_norm(made, (3,)) * 3))
out = F.scaled_dot_product_attention(*[out.unflatten(-1, (2, 1)).transpose(1, 2)] * 3).transpose(1, 2).flatten(-2)
(out * out).sum().backward()
print(text([a.grad, b.grad, exact.weight.grad, exact.bias.grad]))
leaf = nested(A, B, requires_grad=True)
print(leaf.requires_grad, leaf.is_leaf, leaf.grad, nested(a, b).requires_grad)
(leaf * leaf + leaf * torch.ones(2, 1, 3)).sum().backward()
print(text(leaf.grad), leaf.values().is_leaf, leaf.detach().requires_grad)
try:
    leaf.backward()
except RuntimeError as error:
    print(error)
