# Indexing: what `x[key]` and `x[key] = value` read and write, and which keys are refused.
import torch

x = torch.arange(24).reshape(2, 3, 4)
mask = torch.tensor([[True, False, True], [False, True, True]])
n = torch.tensor

READS = [
    "x[0]", "x[-1, 2]", "x[:, 1]", "x[..., 0]", "x[1:, :2, ::2]", "x[None]", "x[:, None, 0]", "x[None, ..., None]", "x[()]", "x[...]",
    "x[1:100:2]", "x[-100:1]", "x[2:1]", "x[True]", "x[False]", "x[0, True]", "x[n(1)]", "x[n(True)]", "x[0:n(1)]",
    "x[[0, 1]]", "x[[]]", "x[range(2)]", "x[[[0, 1], [1, 2]]]", "x[(0, [0, 1])]", "x[[slice(0, 1), 1]]", "x[[n(0), 1]]", "x[[None, 0]]",
    "x[:, n([0, 2]), :]", "x[n([0, 1]), :, n([1, 2])]", "x[n([[0], [1]]), n([0, 2])]", "x[:, [True, False, True]]", "x[0:1, ..., [0, 1]]",
    "x[x > 5]", "x[mask]", "x[mask, 1:2]", "x[mask, None]", "x[mask, 0]", "x[mask, ...]", "x[:, mask[0], 1:2]",
    "x[n([0, 1], dtype=torch.uint8)]", "n(5)[None]", "n(5)[...]",
    "x[5]", "x[-3]", "x[:, 5]", "x[None, :, 5]", "x[0, 0, 0, 0]", "x['a']", "x[1.0]", "x[{}]", "x[::0]", "x[::-1]", "x[n([5])]", "x[n([1.0])]",
    "x[..., mask]", "n(1)[0]", "x[0:1.5]",
]  # fmt: skip
for text in READS:
    try:
        result = eval(text)
        print(text, tuple(result.shape), result.flatten().tolist()[:8])
    except Exception as error:
        print(text, type(error).__name__, error)

WRITES = [
    "y[0] = 1", "y[0, 1] = 2.5", "y[:, 0] = n([1, 2])", "y[[0, 1], [0, 1]] = 5", "y[y == 0] = 3", "y[y == 0] = torch.arange(6.0)",
    "y[...] = torch.ones(1, 1, 2, 3)", "y[True] = 1", "y[1:] = 2", "y[None] = 4", "y[0, 0] = n([9])", "y[n([0, 1]), 1] = n([7.0, 8.0])",
    "y[:, [0, 2]] = n([[1.0], [2.0]])", "y[0] += 1", "y[:, 1:] *= 0", "y[mask] = -1",
    "y[5] = 1", "y[0] = torch.ones(2)", "y[0] = [1, 2, 3]", "y[0] = 'a'", "y[0] = None", "del y[0]", "y['a'] = 1",
    "y[[0]] = torch.ones(2, 2)", "y[n([0.5])] = 1", "y[n([0, 1]), 1] = n([7, 8])",
    "y[y == 0] = torch.ones(1, 1, 6)", "y[[0, 1]] = torch.ones(1, 1, 2, 3)", "y[[0]] = torch.ones(1, 1, 1, 1)", "y[[0, 1]] = torch.ones(2, 1, 3)",
    "y[[0]] = torch.ones(1, 1, 2)", "y.index_put_((n([0, 1]),), torch.ones(1, 2, 3))", "y[1:] = torch.ones(1, 1, 1, 3)",
]  # fmt: skip
for text in WRITES:
    y = torch.zeros(2, 3)
    try:
        exec(text)
        print(text, y.tolist(), y._version > 0)
    except Exception as error:
        print(text, type(error).__name__, error)

# Results of views know where they come from; those of tensor indices are copies.
print(x[0]._base is x, x[0][1]._base is x, x[:, 0]._is_view(), x[[0]]._base, x[...]._base is x, x[...] is x)
w = torch.ones(2, 3, requires_grad=True)
for text in ("w[0].add_(1)", "w.view(6).zero_()", "w.__setitem__(0, 1)"):
    try:
        print(eval(text))
    except Exception as error:
        print(type(error).__name__, error)
with torch.no_grad():
    w[0] = 5
print(w.tolist(), w[0].requires_grad, w[w > 1].requires_grad)
