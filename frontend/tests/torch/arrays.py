# The small numpy: types, promotion, indexing, reductions, printing, errors, random numbers, memory shared with tensors.
import numpy as np
import torch


def show(*values):
    print(*[repr(value) for value in values])


def fails(call):
    try:
        call()
    except Exception as error:
        print(type(error).__name__, str(error).split("\n")[0])
        return
    print("no error")


# Making.
show(np.array([1, 2, 3]), np.array([[1.5, 2], [3, 4]]), np.array([True, False]), np.array(5), np.array([]), np.array([[]]))
show(np.zeros((2, 3)), np.ones(3, dtype=np.int32), np.full((2, 2), 7), np.full(2, 1.5, dtype=np.float16), np.empty((0, 4)))
show(np.arange(5), np.arange(2, 10, 3), np.arange(0, 1, 0.25), np.arange(5, 0, -2), np.arange(3, dtype=np.float32))
show(np.linspace(0, 1, 5), np.linspace(1, 10, 4, endpoint=False), np.linspace(0, 1, 3, dtype=np.float32))
show(np.eye(2), np.eye(2, 3, 1), np.identity(2, dtype=int), np.tri(3), np.zeros_like(np.arange(3)), np.ones_like(np.arange(2.0), dtype=int))
show(np.array([[1, 2], [3, 4]], dtype="float32"), np.array([1, 2], dtype="i1"), np.array([300], dtype=np.uint16))
show(np.array([1, 2.5, True]), np.array([np.float32(1), 2]), np.array((1, 2)), np.array(range(3)), np.asarray([1])[0])

# Types.
show(np.dtype("float32"), np.dtype(np.int64), np.dtype(float).name, np.float32, np.arange(3).dtype == np.int64, np.arange(3).dtype == "int64")
show(np.float32(1.5), np.int64(3), np.bool_(True), np.float64(0.1), np.float16(0.1), np.float32(0.1), str(np.float32(0.1)), np.uint8(200))
show(np.float32(1) + 1, np.float32(1) + np.float64(1), np.int64(3) / 2, np.int32(7) // 2, np.float32(3) * np.arange(3), -np.float32(2))
show(np.float64(3) == 3, np.int64(3) < 4, bool(np.bool_(False)), float(np.float32(2.5)), int(np.int64(7)), np.float32(1.25).item())
show(np.finfo(np.float32).eps, np.finfo(np.float64).max, np.iinfo(np.int32).max, np.issubdtype(np.float32, np.floating), np.issubdtype(np.int8, np.integer))

# Promotion.
kinds = [np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.float16, np.float32, np.float64]
for first in kinds:
    print(first.__name__, [np.promote_types(first, second).name for second in kinds])
for kind in kinds:
    a = np.ones(2, dtype=kind)
    print(kind.__name__, (a + 1).dtype, (a + 1.5).dtype, (a * True).dtype, (a / a).dtype, np.sqrt(a).dtype, (a + np.float32(1)).dtype, (a == 1).dtype)
show(np.array([250, 255], np.uint8) + np.uint8(10), np.array([100], np.int8) * np.int8(2), np.array([65535], np.uint16) + np.uint16(2))
fails(lambda: np.ones(2, np.uint8) + 300)
fails(lambda: np.array([300], dtype=np.uint8))
show(np.array([1.7, -1.7]).astype(int), np.array([0, 2]).astype(bool), np.array([300]).astype(np.uint8), np.array([-1]).astype(np.uint16))

# Arithmetic.
a, b = np.array([1, -2, 7]), np.array([2, 3, -2])
show(a + b, a - b, a * b, a / b, a // b, a % b, a**2, 2**b[:2], a & b, a | b, a ^ b, a << 1, ~a, -a, abs(a))
show(a > b, a == b, a != 1, a >= 1, np.maximum(a, b), np.minimum(a, 0), np.clip(a, -1, 2), np.sign(a), np.square(a))
x = np.array([0.5, 1.0, 2.0])
show(np.exp(x)[1] > 2.7, np.log(x)[1], np.sqrt(x), np.floor(-x), np.ceil(x), np.round(np.array([0.5, 1.5, 2.345]), 2), np.rint(x), np.trunc(-x))
show(np.isnan(np.array([1.0, np.nan])), np.isinf(np.array([np.inf, 1])), np.isfinite(np.array([np.inf, 1])), np.hypot(3.0, 4.0))
show(np.logical_and([True, False], True), np.logical_not([1, 0]), np.where(x > 0.7, x, 0), np.where([True, False], 1, 2.0))
show(np.array([True, False]) + np.array([True, True]), np.array([True, False]) * 3, np.add(1, 2), np.multiply([1, 2], 3))
fails(lambda: np.array([True]) - np.array([True]))
fails(lambda: -np.array([True]))
fails(lambda: np.array([2]) ** -1)
fails(lambda: np.ones(2) + np.ones(3))
fails(lambda: np.ones((2, 3)) + np.ones((3, 2)))
c = np.arange(3)
c += 2
show(c)
fails(lambda: c.__iadd__(0.5))
fails(lambda: bool(np.arange(2)))
show(np.allclose([1.0], [1.0 + 1e-9]), np.isclose([1.0, 2.0], [1.0, 2.1]), np.array_equal([1, 2], [1, 2]), np.array_equal([1], [1, 2]))

# Indexing.
m = np.arange(12).reshape(3, 4)
show(m[0], m[1, 2], m[-1, -1], m[:, 1], m[1:, ::2], m[..., 0], m[None].shape, m[[0, 2]], m[[0, 1], [1, 2]], m[m > 6], m[m[:, 0] > 3])
show(m[::-1], m[:, ::-2], m[np.array([True, False, True])], m[np.array([1, 0])], m[np.int64(1)], m[1][2], m[2, 1:3], m[()].shape)
m[0, 0] = 100
m[1] = [9, 8, 7, 6]
m[:, 3] = -1
m[m == 9] = 0
m[[0, 2], [1, 1]] = 55
show(m)
view = m[1:]
view[0, 0] = 77
show(m[1, 0], m.T[0, 1], m.ravel()[:3])
d = np.arange(5)
d[::-1] = np.array([1, 2, 3, 4, 5])
show(d)
fails(lambda: m[5])
fails(lambda: m[0, 0, 0])
fails(lambda: m[1.5])
fails(lambda: np.arange(3)["a"])

# Reductions.
r = np.array([[1.0, 5, 2], [4, 0, 3]])
show(r.sum(), r.sum(0), r.sum(axis=1), r.sum(axis=(0, 1)), r.sum(1, keepdims=True), r.mean(), r.mean(0), r.max(), r.max(1), r.min(0), r.prod())
show(r.std(), r.var(ddof=1), r.argmax(), r.argmax(1), r.argmin(0), r.cumsum(), r.cumsum(1), r.any(), r.all(1), np.median(r), np.median(r, 0), np.ptp(r))
show(np.arange(4, dtype=np.int8).sum(), np.array([True, True]).sum(), np.arange(3, dtype=np.float32).mean(), np.arange(3).mean(), np.float32(2).sum())
fails(lambda: np.array([]).max())
fails(lambda: r.sum(2))
fails(lambda: np.array([]).argmax())
show(np.sum([[1, 2], [3, 4]], axis=0), np.mean([1, 2]), np.any([0, 1]), np.all([[1, 0]]), np.count_nonzero([1, 0, 2]), np.max([3, 1]), np.cumprod([1, 2, 3]))

# Shapes.
s = np.arange(6)
show(s.reshape(2, 3), s.reshape(-1, 2), s.reshape((3, 2)).T, np.transpose(s.reshape(1, 2, 3), (2, 0, 1)).shape, s.reshape(2, 3).flatten(), s.shape, s.ndim, s.size)
show(np.concatenate([s, [9]]), np.concatenate([r, r], axis=1), np.stack([s, s]).shape, np.stack([s, s], 1).shape, np.vstack([s, s]), np.hstack([s, s]), np.concatenate(([1], [2.5])))
show(np.split(s, 3), np.split(s, [2, 5]), np.array_split(s, 4), np.expand_dims(s, 0).shape, np.squeeze(s[None]).shape, np.tile(s[:2], 2), np.repeat(s[:2], 2))
show(np.flip(s), np.roll(s, 1), np.take(s, [0, 2]), np.diag([1, 2]), np.tril(np.ones((2, 2))), np.triu(np.ones((2, 2)), 1), np.outer([1, 2], [3, 4]), np.pad(s[:2], 1))
show(np.sort([3, 1, 2]), np.argsort([3, 1, 2]), np.unique([3, 1, 3]), np.unique([3, 1, 3], return_counts=True), np.searchsorted([1, 2, 3], 2), np.diff([1, 4, 9]), np.nonzero([0, 1, 1]), np.bincount([0, 1, 1]))
show(r @ r.T, np.dot([1, 2], [3, 4]), np.matmul(r, np.ones(3)), np.einsum("ij,ij->i", r, r), np.swapaxes(r, 0, 1).shape, np.moveaxis(np.ones((1, 2, 3)), 0, 2).shape)
show(np.broadcast_to(np.arange(2), (2, 2)), np.meshgrid([1, 2], [3, 4])[0], np.atleast_2d(1).shape, np.ravel([[1], [2]]), r.strides, r.nbytes, r.itemsize)
fails(lambda: s.reshape(4, 2))
fails(lambda: np.concatenate([np.ones((2, 2)), np.ones((3, 3))]))
fails(lambda: r @ r)
fails(lambda: np.array([[1, 2], [3]]))
fails(lambda: np.broadcast_to(np.arange(2), (2, 2)).__setitem__(0, 1))
fails(lambda: np.stack([np.ones(2), np.ones(3)]))

# Printing.
show(np.array([1.0, 10.5, -3.25]), np.array([1e-5, 1.0]), np.array([1e10, 1.0]), np.array([np.nan, 1, np.inf]), np.array([1e-10]), np.array([123456.789]))
show(np.array([0.1, 0.2], dtype=np.float32), np.array([1 / 3]), np.array([1 / 3], dtype=np.float32), np.array([1e8, 2e8]), np.array([0.00012]), np.array([-0.0, 0.0]))
show(np.array(2.5), np.array(3), np.array(True), np.float64(1e20), np.float64(1e-7), np.float32(1e10), np.float64(123456789.123), np.float16(65504))
show(np.arange(30), np.arange(30) * 1.5, np.arange(24).reshape(2, 3, 4), np.zeros((2, 2, 2), dtype=bool))
show(np.arange(2000), np.arange(2000).reshape(40, 50), np.arange(2000.0).reshape(2, 1000), np.zeros((0, 3)), np.zeros((2, 0), dtype=np.float32))
print(np.arange(3), np.array([[1.5, 2], [3, 4]]), np.array(["1", 2][1]), np.arange(2000), np.array([True, False]), np.float32(0.1), np.array(7))
print(f"{np.float32(0.123456):.3f} {np.float64(2):g} {np.int64(5):03d} {np.arange(2)}")
show(np.array([[1e-8, 1.0], [2.0, 3.0]]), np.array([1.123456789012, 2.1]), np.array([100000000.0]), np.array([12345678.0]), np.array([0.1 + 0.2]))

# Random numbers.
np.random.seed(42)
show(np.random.rand(3), np.random.randn(4), np.random.randint(0, 10, 5), np.random.randint(100), np.random.permutation(6), np.random.choice(5, 3), np.random.random())
show(np.random.choice([10, 20, 30], 4, p=[0.2, 0.3, 0.5]), np.random.choice(10, 4, replace=False), np.random.uniform(-1, 1, 2), np.random.normal(5, 2, (2, 2)), np.random.randn())
show(np.random.choice(6, 3, replace=False, p=[0.1, 0.2, 0.3, 0.2, 0.1, 0.1]), np.random.randint(2**40, size=3), np.random.randint(-5, 5, (2, 2)), np.random.permutation(np.arange(4) * 2))
state = np.random.RandomState(7)
show(state.rand(2, 2), state.randn(3), state.randn(2), state.random_sample(2), state.randint(1000, size=50).sum(), state.standard_normal(1000).sum().round(6))
items = [1, 2, 3, 4, 5]
state.shuffle(items)
show(items, state.randint(0, 2**32, 2), state.uniform(size=3), state.choice(3), state.normal())
fails(lambda: np.random.seed(-1))
fails(lambda: np.random.randint(3, 3))
fails(lambda: np.random.choice(3, 5, replace=False))
fails(lambda: np.random.choice(3, 5, p=[0.5, 0.5, 0.5]))

# Memory shared with tensors.
t = torch.arange(4.0)
n = t.numpy()
n[0] = 9
t[1] = 8
show(n, t, torch.from_numpy(n)[0], torch.from_numpy(np.arange(3)), torch.tensor(np.arange(2.0)), torch.as_tensor(np.ones(2, dtype=np.float32)))
source = np.zeros(3)
shared = torch.from_numpy(source)
shared += 1
show(source, torch.tensor(source).dtype, torch.tensor(np.float64(1.5)), torch.tensor([np.float64(1.5)]), torch.tensor(np.float32(1.5)).dtype, torch.tensor(np.int64(2)))
show(torch.ones(2, 3).numpy(), torch.ones(2, 3).t().numpy().strides, torch.tensor(3).numpy(), torch.tensor([True]).numpy(), np.array(torch.ones(2)), np.asarray(t) is t)
fails(lambda: torch.ones(2, requires_grad=True).numpy())
fails(lambda: torch.ones(2, dtype=torch.bfloat16).numpy())
fails(lambda: torch.from_numpy([1]))
show(torch.ones(2, requires_grad=True).detach().numpy(), np.ones(2, dtype=np.float16).tolist(), torch.from_numpy(np.ones((2, 2)).T).stride(), torch.ones(2).numpy().sum())

# Bytes.
show(np.frombuffer(b"\x01\x00\x02\x00", dtype=np.uint16), np.array([1, 258], dtype=np.uint16).tobytes(), np.arange(3, dtype=np.int32).tobytes(), np.array([1.0]).tobytes())
fails(lambda: np.frombuffer(b"\x01\x00\x02", dtype=np.uint16))
