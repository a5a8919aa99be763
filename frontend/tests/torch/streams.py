# Random streams bit for bit: a digest of the values each call draws, the first of them, and a digest of the generator's state behind it.
import hashlib

import torch
import torch.nn.functional as F


def digest(values):
    return hashlib.md5(repr(values).encode()).hexdigest()[:8]


def flat(result):
    if isinstance(result, (tuple, list)):
        return [value for part in result for value in flat(part)]
    return result.reshape(-1).tolist()


def case(name, draw, *args):
    torch.manual_seed(1234567)
    try:
        values = flat(draw(*args))
    except Exception as error:
        print(name, args, type(error).__name__, str(error).split("\n")[0])
        return
    print(name, args, len(values), digest(values), values[:2], digest(torch.get_rng_state().tolist()))


FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
INTS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.bool)
LENGTHS = (0, 1, 2, 7, 15, 16, 17, 31, 32, 33, 100)

# %% Made by size, on both sides of sixteen elements, where normals are drawn in blocks.
for n in LENGTHS:
    for dtype in FLOATS:
        case("rand", lambda n, d: torch.rand(n, dtype=d), n, dtype)
        case("randn", lambda n, d: torch.randn(n, dtype=d), n, dtype)
        case("normal", lambda n, d: torch.normal(1.5, 0.3, (n,), dtype=d), n, dtype)
    case("randint", lambda n: torch.randint(10, (n,)), n)
    case("randperm", torch.randperm, n)
for size in ((4, 4), (3, 5), (2, 3, 4), (5, 1, 7), (0, 3), ()):
    case("rand", torch.rand, size)
    case("randn", torch.randn, size)
    case("randint", lambda s: torch.randint(-5, 1000, s), size)
case("rand", torch.rand, 5000)
case("randn", torch.randn, 5000)
case("randn f64", lambda: torch.randn(1000, dtype=torch.float64))
case("randperm", torch.randperm, 1000)
for dtype in (torch.int32, torch.int16, torch.uint8, torch.float32, torch.float16, torch.float64):
    case("randperm", lambda d: torch.randperm(100, dtype=d), dtype)

# %% Whole numbers of every range.
for low, high in ((0, 1), (0, 2), (-3, 3), (0, 2**16), (0, 2**31 - 1), (0, 2**32 - 1), (0, 2**32), (0, 2**32 + 1), (-(2**31), 2**31),
                  (0, 2**62), (-(2**62), 2**62), (0, 2**63 - 1), (0, 2**28), (0, 2**28 - 1)):
    case("randint", lambda a, b: torch.randint(a, b, (9,)), low, high)
    case("random_", lambda a, b: torch.empty(9, dtype=torch.int64).random_(a, b), low, high)
for dtype in FLOATS + INTS:
    case("randint", lambda d: torch.randint(0, 2, (20,), dtype=d), dtype)
    case("random_()", lambda d: torch.zeros(20, dtype=d).random_(), dtype)
    case("random_(to)", lambda d: torch.zeros(20, dtype=d).random_(2), dtype)
    case("random_(to=100)", lambda d: torch.zeros(20, dtype=d).random_(100), dtype)
    case("random_(from, to)", lambda d: torch.zeros(20, dtype=d).random_(-3, 5), dtype)
    case("random_(from, None)", lambda d: torch.zeros(20, dtype=d).random_(-3, None), dtype)
case("random_(from, None)", lambda: torch.zeros(20, dtype=torch.int64).random_(-(2**63), None))
case("random_ big float", lambda: torch.zeros(5).random_(0, 2**30))
case("random_ empty", lambda: torch.zeros(0).random_(3, 3))
case("random_ wrong", lambda: torch.zeros(3).random_(3, 3))
case("randint wrong", lambda: torch.randint(3, 3, (2,)))
case("randint wrong", lambda: torch.randint(0, (2,)))
case("randint over", lambda: torch.randint(0, 300, (2,), dtype=torch.uint8))
case("random_ over", lambda: torch.zeros(2, dtype=torch.int8).random_(0, 300))
case("random_ under", lambda: torch.zeros(2, dtype=torch.uint8).random_(-1, 3))
case("randperm wrong", lambda: torch.randperm(-1))
case("randperm small", lambda: torch.randperm(300, dtype=torch.uint8))
case("randint_like", lambda: torch.randint_like(torch.zeros(4, 5), 10))
case("randint_like", lambda: torch.randint_like(torch.zeros(4, 5, dtype=torch.int32), 3, 9))
case("randint_like", lambda: torch.randint_like(torch.zeros(4, 5), 3, 9, dtype=torch.int64))

# %% Written in place, into every layout.
LAYOUTS = {
    "dense": lambda n, d: torch.zeros(n, dtype=d),
    "columns": lambda n, d: torch.zeros(n, 3, dtype=d)[:, 1],
    "half columns": lambda n, d: torch.zeros(n, 4, dtype=d)[:, :2],
    "transposed": lambda n, d: torch.zeros(n, 3, dtype=d).t(),
    "permuted": lambda n, d: torch.zeros(2, n, 3, dtype=d).permute(2, 0, 1),
    "channels last": lambda n, d: torch.zeros(2, 3, 2, n, dtype=d).contiguous(memory_format=torch.channels_last),
    "offset": lambda n, d: torch.zeros(n + 1, dtype=d)[1:],
    "steps": lambda n, d: torch.zeros(2 * n, dtype=d)[::2],
    "scalar": lambda n, d: torch.zeros((), dtype=d),
}
FILLS = {
    "uniform_": lambda x: x.uniform_(),
    "uniform_(-2, 3)": lambda x: x.uniform_(-2, 3),
    "normal_": lambda x: x.normal_(),
    "normal_(2, 0.5)": lambda x: x.normal_(2, 0.5),
    "normal_(0, 0)": lambda x: x.normal_(0, 0),
    "exponential_": lambda x: x.exponential_(),
    "exponential_(2.5)": lambda x: x.exponential_(2.5),
    "geometric_": lambda x: x.geometric_(0.3),
    "cauchy_": lambda x: x.cauchy_(),
    "cauchy_(1, 2)": lambda x: x.cauchy_(1, 2),
    "log_normal_": lambda x: x.log_normal_(),
    "log_normal_(0.5, 0.25)": lambda x: x.log_normal_(0.5, 0.25),
    "random_": lambda x: x.random_(7),
    "bernoulli_": lambda x: x.bernoulli_(),
    "bernoulli_(0.2)": lambda x: x.bernoulli_(0.2),
}
for fill, draw in FILLS.items():
    for layout, make in LAYOUTS.items():
        for n in (5, 11, 17):
            case(fill, lambda layout, n: draw(make(n, torch.float32)), layout, n)
        case(fill, lambda layout: draw(make(9, torch.float64)), layout)
    for dtype in FLOATS + INTS:
        case(fill, lambda d: draw(torch.zeros(19, dtype=d)), dtype)
        case(fill, lambda d: draw(torch.zeros(3, dtype=d)), dtype)
case("uniform_ wrong", lambda: torch.zeros(3).uniform_(2, 1))
case("uniform_ wide", lambda: torch.zeros(3).uniform_(-3e38, 3e38))
case("normal_ wrong", lambda: torch.zeros(3).normal_(0, -1))
case("exponential_ wrong", lambda: torch.zeros(3).exponential_(0))
case("exponential_ wrong", lambda: torch.zeros(3).exponential_(-1.5))
case("geometric_ wrong", lambda: torch.zeros(3).geometric_(0))
case("geometric_ wrong", lambda: torch.zeros(3).geometric_(1.0))
case("cauchy_ wrong", lambda: torch.zeros(3).cauchy_(0, 0))
case("log_normal_ wrong", lambda: torch.zeros(3).log_normal_(0, 0))
case("bernoulli_ wrong", lambda: torch.zeros(3).bernoulli_(1.5))

# %% Normals of given means and spreads, whose second half of a pair the generator keeps.
case("pair", lambda: [torch.randn(3), torch.randn(1), torch.randn(20), torch.randn(2)])
case("pair f64", lambda: [torch.randn(3, dtype=torch.float64), torch.randn(1), torch.rand(1), torch.randn(2, dtype=torch.float64)])
case("spare log", lambda: [torch.zeros(3).log_normal_(), torch.randn(4), torch.zeros(20).log_normal_(), torch.randn(20)])
for n in (5, 20):
    mean, std = torch.arange(n) / 4.0, (torch.arange(n) / 8.0 + 0.5)
    case("normal(tensor, tensor)", lambda n: torch.normal(mean, std), n)
    case("normal(tensor, float)", lambda n: torch.normal(mean, 0.5), n)
    case("normal(tensor)", lambda n: torch.normal(mean), n)
    case("normal(float, tensor)", lambda n: torch.normal(0.25, std), n)
    case("normal(column, row)", lambda n: torch.normal(mean[:, None], std), n)
    case("normal(out)", lambda n: torch.normal(mean, std, out=torch.empty(n)), n)
    case("normal(f64)", lambda n: torch.normal(mean.double(), std.double()), n)
case("normal(sizes)", lambda: torch.normal(2, 3, size=(4, 6)))
case("normal wrong", lambda: torch.normal(torch.zeros(3), torch.tensor([1.0, -1.0, 1.0])))
case("normal wrong", lambda: torch.normal(torch.zeros(3), -1.0))
case("normal wrong", lambda: torch.normal(0.0, -1.0, (3,)))

# %% Like another tensor.
for layout, make in LAYOUTS.items():
    case("rand_like", lambda layout: torch.rand_like(make(9, torch.float32)), layout)
    case("randn_like", lambda layout: torch.randn_like(make(9, torch.float32)), layout)
    case("randn_like f64", lambda layout: torch.randn_like(make(3, torch.float32), dtype=torch.float64), layout)
    case("bernoulli", lambda layout: torch.bernoulli(make(9, torch.float32) + 0.4), layout)
    case("bernoulli(p)", lambda layout: torch.bernoulli(make(9, torch.float32), 0.3), layout)
    case("bernoulli_(tensor)", lambda layout: make(9, torch.float32).bernoulli_(make(9, torch.float32) + 0.4), layout)
    case("dropout", lambda layout: F.dropout(make(9, torch.float32) + 1, 0.3), layout)
    case("dropout_", lambda layout: F.dropout(make(9, torch.float32).fill_(1), 0.3, inplace=True), layout)
case("rand_like int", lambda: torch.rand_like(torch.zeros(3, dtype=torch.int64)))

# %% Masks.
for dtype in FLOATS:
    case("bernoulli", lambda d: torch.bernoulli((torch.arange(21) / 20.0).to(d)), dtype)
    case("bernoulli_(tensor)", lambda d: torch.zeros(21, dtype=d).bernoulli_((torch.arange(21) / 20.0)), dtype)
    case("bernoulli_(f64 tensor)", lambda d: torch.zeros(21, dtype=d).bernoulli_((torch.arange(21) / 20.0).double()), dtype)
    case("dropout", lambda d: F.dropout(torch.ones(21, dtype=d), 0.3), dtype)
    case("alpha_dropout", lambda d: F.alpha_dropout((torch.arange(-10, 11) / 10.0).to(d), 0.3, True), dtype)
case("bernoulli rows", lambda: torch.zeros(3, 4).bernoulli_(torch.tensor([0.1, 0.5, 0.9, 0.4])))
case("bernoulli ints", lambda: torch.zeros(9, dtype=torch.int64).bernoulli_(torch.full((9,), 0.5)))
case("bernoulli wrong", lambda: torch.bernoulli(torch.tensor([0.5, 1.5])))
case("bernoulli wrong", lambda: torch.bernoulli(torch.ones(3, dtype=torch.int64)))
image, volume, sequence = torch.ones(2, 3, 2, 2), torch.ones(2, 3, 2, 2, 2), torch.ones(2, 3, 4)
case("dropout1d", lambda: F.dropout1d(sequence, 0.4))
case("dropout1d", lambda: F.dropout1d(sequence[0], 0.4))
case("dropout2d", lambda: F.dropout2d(image, 0.4))
case("dropout2d", lambda: F.dropout2d(image, 0.4, inplace=True).mul_(0).add_(1))
case("dropout3d", lambda: F.dropout3d(volume, 0.4))
case("dropout3d", lambda: F.dropout3d(volume[0], 0.4))
case("feature_alpha_dropout", lambda: F.feature_alpha_dropout(image, 0.4, True))
case("torch.dropout", lambda: torch.dropout(torch.ones(30), 0.25, True))
case("torch.dropout_", lambda: torch.dropout_(torch.ones(30), 0.25, True))
case("torch.alpha_dropout", lambda: torch.alpha_dropout(torch.ones(30), 0.25, True))
case("torch.feature_dropout", lambda: torch.feature_dropout(image, 0.25, True))
case("torch.feature_alpha_dropout", lambda: torch.feature_alpha_dropout(image, 0.25, True))
case("native_dropout", lambda: torch.native_dropout(torch.ones(30), 0.25, True))
case("dropout all", lambda: F.dropout(torch.ones(5), 1.0))
case("dropout none", lambda: F.dropout(torch.ones(5), 0.0))
case("dropout evaluation", lambda: F.dropout(torch.ones(5), 0.5, False))
case("dropout wrong", lambda: F.dropout(torch.ones(5), 1.5))
case("rrelu", lambda: F.rrelu((torch.arange(-10, 11) / 5.0), training=True))
case("rrelu", lambda: F.rrelu((torch.arange(-10, 11) / 5.0).double(), 0.2, 0.4, training=True))
case("gumbel_softmax", lambda: F.gumbel_softmax(torch.zeros(3, 4), hard=True))

# %% Multinomial draws.
weights = torch.tensor([[1.0, 2, 3, 0, 4], [0, 0, 1, 1, 8], [5, 4, 3, 2, 1]])
for dtype in FLOATS:
    w = weights.to(dtype)
    case("multinomial", lambda d: torch.multinomial(w, 1), dtype)
    case("multinomial", lambda d: torch.multinomial(w, 2), dtype)
    case("multinomial", lambda d: torch.multinomial(w[0], 4), dtype)
    case("multinomial", lambda d: torch.multinomial(w, 1, True), dtype)
    case("multinomial", lambda d: torch.multinomial(w, 30, replacement=True), dtype)
    case("multinomial", lambda d: torch.multinomial(w[0], 30, replacement=True), dtype)
case("multinomial", lambda: torch.multinomial(torch.ones(200), 200))
case("multinomial", lambda: torch.multinomial(weights.t(), 30, True))
case("multinomial", lambda: torch.multinomial(weights.t(), 2))
case("multinomial wrong", lambda: torch.multinomial(weights, 6))
case("multinomial wrong", lambda: torch.multinomial(weights, 0))
case("multinomial wrong", lambda: torch.multinomial(torch.tensor([1.0, -1.0]), 1))
case("multinomial wrong", lambda: torch.multinomial(torch.tensor([1.0, -1.0]), 5, True))
case("multinomial wrong", lambda: torch.multinomial(torch.tensor([0.0, 0.0]), 1))
case("multinomial wrong", lambda: torch.multinomial(torch.tensor([0.0, 0.0]), 5, True))
case("multinomial wrong", lambda: torch.multinomial(torch.tensor([float("inf"), 0.0]), 5, True))
case("multinomial wrong", lambda: torch.multinomial(torch.ones(2, dtype=torch.int64), 5, True))
case("multinomial wrong", lambda: torch.multinomial(torch.ones(2, 2, 2), 5, True))

# %% Poisson and its like.
case("poisson", lambda: torch.poisson(torch.tensor([0.0, 0.5, 3.0, 9.9, 10.0, 50.0, 1000.0])))
case("poisson", lambda: torch.poisson(torch.full((30,), 12.0)))
case("poisson f64", lambda: torch.poisson(torch.full((30,), 4.0).double()))
