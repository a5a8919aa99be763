# What every layer is born with, and every function of nn.init: a digest of the values, and one of the generator's state behind them.
import hashlib

import torch
from torch import nn


def digest(values):
    return hashlib.md5(repr(values).encode()).hexdigest()[:8]


def show(name, make):
    torch.manual_seed(42)
    try:
        made = make()
    except Exception as error:
        print(name, type(error).__name__, str(error).split("\n")[0])
        return
    state = made.state_dict() if isinstance(made, nn.Module) else {"": made}
    values = [(key, list(value.shape), digest(value.reshape(-1).tolist())) for key, value in state.items()]
    print(name, values, digest(torch.get_rng_state().tolist()))


LAYERS = {
    "Linear": lambda: nn.Linear(7, 5),
    "Linear without bias": lambda: nn.Linear(3, 2, bias=False),
    "Linear f64": lambda: nn.Linear(7, 5, dtype=torch.float64),
    "Linear half": lambda: nn.Linear(7, 5, dtype=torch.bfloat16),
    "Bilinear": lambda: nn.Bilinear(3, 4, 5),
    "Conv1d": lambda: nn.Conv1d(4, 6, 3, groups=2),
    "Conv2d": lambda: nn.Conv2d(3, 8, 3),
    "Conv3d": lambda: nn.Conv3d(2, 3, 2),
    "ConvTranspose1d": lambda: nn.ConvTranspose1d(4, 6, 3, groups=2),
    "ConvTranspose2d": lambda: nn.ConvTranspose2d(3, 8, 3),
    "ConvTranspose3d": lambda: nn.ConvTranspose3d(2, 3, 2),
    "Embedding": lambda: nn.Embedding(11, 5),
    "Embedding with padding": lambda: nn.Embedding(11, 5, padding_idx=3),
    "EmbeddingBag": lambda: nn.EmbeddingBag(11, 5),
    "BatchNorm1d": lambda: nn.BatchNorm1d(5),
    "BatchNorm2d": lambda: nn.BatchNorm2d(5),
    "InstanceNorm2d": lambda: nn.InstanceNorm2d(5, affine=True),
    "LayerNorm": lambda: nn.LayerNorm((3, 4)),
    "RMSNorm": lambda: nn.RMSNorm(4),
    "GroupNorm": lambda: nn.GroupNorm(2, 4),
    "PReLU": lambda: nn.PReLU(3),
    "RNN": lambda: nn.RNN(4, 5, 2),
    "LSTM": lambda: nn.LSTM(4, 5, 2, bidirectional=True),
    "LSTM with projection": lambda: nn.LSTM(4, 5, proj_size=3),
    "GRU": lambda: nn.GRU(4, 5, bias=False),
    "RNNCell": lambda: nn.RNNCell(4, 5),
    "LSTMCell": lambda: nn.LSTMCell(4, 5),
    "GRUCell": lambda: nn.GRUCell(4, 5),
    "MultiheadAttention": lambda: nn.MultiheadAttention(8, 2),
    "MultiheadAttention apart": lambda: nn.MultiheadAttention(8, 2, kdim=4, vdim=6, add_bias_kv=True),
    "TransformerEncoderLayer": lambda: nn.TransformerEncoderLayer(8, 2, 16),
    "TransformerDecoderLayer": lambda: nn.TransformerDecoderLayer(8, 2, 16),
    "Transformer": lambda: nn.Transformer(8, 2, 1, 1, 16),
    "Sequential": lambda: nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2)),
}
for name, make in LAYERS.items():
    show(name, make)

init = nn.init
FILLS = {
    "uniform_": lambda x: init.uniform_(x, -1, 2),
    "normal_": lambda x: init.normal_(x, 1, 0.5),
    "trunc_normal_": lambda x: init.trunc_normal_(x),
    "trunc_normal_ std 0.02": lambda x: init.trunc_normal_(x, std=0.02),
    "trunc_normal_ narrow": lambda x: init.trunc_normal_(x, 0, 1, -0.2, 0.2),
    "trunc_normal_ tail": lambda x: init.trunc_normal_(x, 0, 1, 1.5, 2.5),
    "constant_": lambda x: init.constant_(x, 0.3),
    "ones_": init.ones_,
    "zeros_": init.zeros_,
    "eye_": init.eye_,
    "dirac_": init.dirac_,
    "xavier_uniform_": init.xavier_uniform_,
    "xavier_uniform_ gain": lambda x: init.xavier_uniform_(x, init.calculate_gain("relu")),
    "xavier_normal_": init.xavier_normal_,
    "kaiming_uniform_": init.kaiming_uniform_,
    "kaiming_uniform_ relu": lambda x: init.kaiming_uniform_(x, mode="fan_out", nonlinearity="relu"),
    "kaiming_normal_": init.kaiming_normal_,
    "kaiming_normal_ a": lambda x: init.kaiming_normal_(x, a=0.2),
    "sparse_": lambda x: init.sparse_(x, 0.3),
}
for name, fill in FILLS.items():
    for shape in ((5, 3), (4, 4), (6, 4, 3), (7,)):
        show(name + str(shape), lambda: fill(torch.zeros(shape)))
    show(name + " f64", lambda: fill(torch.zeros(5, 4, dtype=torch.float64)))
    show(name + " transposed", lambda: fill(torch.zeros(5, 4).t()))
    show(name + " generator", lambda: fill(torch.zeros(5, 4)))

generator = torch.Generator().manual_seed(5)
for name in ("uniform_", "normal_", "trunc_normal_", "xavier_uniform_", "xavier_normal_", "kaiming_uniform_", "kaiming_normal_"):
    show(name + " own generator", lambda: getattr(init, name)(torch.zeros(5, 4), generator=generator))

# Generators.
copy = generator.clone_state()
print(torch.rand(2, generator=copy).tolist() == torch.rand(2, generator=generator).tolist(), generator.initial_seed(), generator.device)
state = torch.get_rng_state()
print(state.dtype, state.shape)
with torch.random.fork_rng():
    torch.manual_seed(1)
    torch.rand(3)
print(torch.equal(state, torch.get_rng_state()))
torch.manual_seed(9)
torch.randn(3)
torch.default_generator.set_state(state)
print(torch.equal(state, torch.random.get_rng_state()), torch.initial_seed())
bytes_of_state = torch.manual_seed(3).get_state().tolist()
print(digest(bytes_of_state))
torch.randn(3)
print(digest(torch.get_rng_state().tolist()))
try:
    torch.set_rng_state(torch.zeros(7, dtype=torch.uint8))
except RuntimeError as error:
    print(error)
try:
    torch.set_rng_state(torch.zeros(5056))
except TypeError as error:
    print(error)
for seed in (0, 1, -1, 2**32, 2**63, 2**64 - 1, -(2**63)):
    torch.manual_seed(seed)
    print(seed, torch.initial_seed(), torch.rand(1).item())
for seed in (2**64, -(2**63) - 1, "a"):
    try:
        torch.manual_seed(seed)
    except Exception as error:
        print(type(error).__name__, error)
