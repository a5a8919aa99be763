"""`torch.nn.utils`: clipping, packed sequences, normed and parametrized weights, fusion, lazy layers."""

import copy
import warnings

import torch
from torch import nn
from torch.nn.utils import parametrizations, parametrize, rnn

warnings.simplefilter("ignore")


def attempt(label, call):
    try:
        print(label, call())
    except Exception as error:
        print(label, type(error).__name__, error)


def show(label, tensor):
    print(label, tuple(tensor.shape), [f"{x:.3f}" for x in tensor.detach().flatten().tolist()])


print("clipping")


def with_grads():
    params = [nn.Parameter(torch.ones(2, 2)), nn.Parameter(torch.ones(3)), nn.Parameter(torch.ones(1))]
    params[0].grad = torch.arange(4.0).reshape(2, 2)
    params[1].grad = torch.tensor([-3.0, 0.5, 8.0])
    return params


for norm_type in (2, 1, float("inf"), 3.0, 0):
    params = with_grads()
    show(f"norm {norm_type}", nn.utils.clip_grad_norm_(params, 1.5, norm_type))
    show("clipped", torch.cat([p.grad.flatten() for p in params[:2]]))
params = with_grads()
show("one", nn.utils.clip_grad_norm_(params[0], 100.0))
nn.utils.clip_grad_value_(params, 0.75)
show("value", torch.cat([p.grad.flatten() for p in params[:2]]))
show("total", nn.utils.get_total_norm([p.grad for p in params[:2]]))
nn.utils.clip_grads_with_norm_(params, 0.1, torch.tensor(2.0))
show("with norm", params[1].grad)
show("none", nn.utils.clip_grad_norm_([params[2]], 1.0))
params[0].grad = torch.tensor([[float("nan"), 1.0], [1.0, 1.0]])
attempt("not finite", lambda: nn.utils.clip_grad_norm_(params, 1.0, error_if_nonfinite=True))
vector = nn.utils.parameters_to_vector(params[1:])
nn.utils.vector_to_parameters(vector * 2, params[1:])
show("vector", params[1])

print("sequences")
sequences = [torch.arange(3.0) + 1, torch.arange(5.0) + 10, torch.arange(2.0) + 20]
packed = rnn.pack_sequence(sequences, enforce_sorted=False)
print(packed)
print(rnn.pad_packed_sequence(packed), rnn.unpack_sequence(packed))
print(rnn.pad_packed_sequence(packed, batch_first=True, padding_value=-1.0, total_length=6))
print(rnn.pad_sequence(sequences, batch_first=True, padding_side="left"), rnn.pad_sequence(sequences, padding_value=7.0))
print(rnn.pack_padded_sequence(torch.arange(12.0).reshape(2, 3, 2), torch.tensor([3, 1]), batch_first=True))
print(rnn.invert_permutation(torch.tensor([2, 0, 1])), packed.double().data.dtype, packed.is_cuda)
attempt("unsorted", lambda: rnn.pack_sequence(sequences))
attempt("empty", lambda: rnn.pack_padded_sequence(torch.ones(2, 2), [1, 0]))
attempt("count", lambda: rnn.pack_padded_sequence(torch.ones(2, 2), [1]))
attempt("total", lambda: rnn.pad_packed_sequence(packed, total_length=2))
attempt("side", lambda: rnn.pad_sequence(sequences, padding_side="x"))
for kind in (nn.LSTM, nn.GRU, nn.RNN):
    torch.manual_seed(1)
    module = kind(2, 3, num_layers=2, bidirectional=True)
    inputs = rnn.pack_sequence([torch.ones(2, 2), torch.arange(8.0).reshape(4, 2) / 4, torch.ones(1, 2) / 2], enforce_sorted=False)
    output, state = module(inputs)
    show(kind.__name__, output.data)
    for part in state if isinstance(state, tuple) else (state,):
        show("state", part)
    start = torch.ones(4, 3, 3) / 5
    output, state = module(inputs, (start, start) if kind is nn.LSTM else start)
    show("padded", rnn.pad_packed_sequence(output)[0])

print("weight norm and spectral norm by hooks")
torch.manual_seed(2)
for dim in (0, 1, None):
    linear = nn.utils.weight_norm(nn.Linear(3, 2), dim=dim)
    print(list(linear.state_dict()), tuple(linear.weight_g.shape))
    with torch.no_grad():
        linear.weight_g.mul_(2)
    show("out", linear(torch.ones(1, 3)))
    print(nn.utils.remove_weight_norm(linear), list(linear.state_dict()))
attempt("again", lambda: nn.utils.weight_norm(nn.utils.weight_norm(nn.Linear(3, 2))))
attempt("missing", lambda: nn.utils.remove_weight_norm(nn.Linear(3, 2)))
conv = nn.utils.spectral_norm(nn.Conv1d(2, 3, 2))
print(list(conv.state_dict()))
show("out", conv(torch.ones(1, 2, 3)))
show("u", conv.weight_u)
conv.eval()
show("out", conv(torch.ones(1, 2, 3)))
print(nn.utils.remove_spectral_norm(conv), list(conv.state_dict()))
attempt("again", lambda: nn.utils.spectral_norm(nn.utils.spectral_norm(nn.Linear(3, 2))))
attempt("steps", lambda: nn.utils.spectral_norm(nn.Linear(3, 2), n_power_iterations=0))

print("parametrizations")


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).transpose(-1, -2)

    def right_inverse(self, x):
        return x.triu()


class Doubled(nn.Module):
    def forward(self, x):
        return x * 2


class Wrong(nn.Module):
    def __init__(self, result):
        super().__init__()
        self.result = result

    def forward(self, x):
        return self.result(x)


class WrongInverse(Wrong):
    def forward(self, x):
        return x

    def right_inverse(self, x):
        return self.result(x)


torch.manual_seed(3)
linear = nn.Linear(2, 2)
print(parametrize.register_parametrization(linear, "weight", Symmetric()))
print(list(linear.state_dict()), type(linear).__name__, parametrize.is_parametrized(linear, "weight"), parametrize.is_parametrized(linear, "bias"))
show("weight", linear.weight)
linear.weight = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
show("assigned", linear.weight)
show("original", linear.parametrizations.weight.original)
parametrize.register_parametrization(linear, "weight", Doubled())
show("two", linear.weight)
attempt("no inverse", lambda: setattr(linear, "weight", torch.ones(2, 2)))
with parametrize.cached():
    print(linear.weight is linear.weight)
print(linear.weight is linear.weight, parametrize.type_before_parametrizations(linear))
copied = copy.deepcopy(linear)
show("copied", copied.weight)
print(type(copied).__name__, copied.parametrizations.weight.original is linear.parametrizations.weight.original)
print(linear)
print(parametrize.remove_parametrizations(linear, "weight"), list(linear.state_dict()), type(linear).__name__)
show("left", linear.weight)
parametrize.register_parametrization(linear, "weight", Symmetric())
show("left", parametrize.remove_parametrizations(linear, "weight", leave_parametrized=False).weight)
attempt("name", lambda: parametrize.register_parametrization(nn.Linear(1, 1), "w", Doubled()))
attempt("remove", lambda: parametrize.remove_parametrizations(nn.Linear(1, 1), "weight"))
attempt("shape", lambda: parametrize.register_parametrization(nn.Linear(1, 1), "weight", Wrong(lambda x: x[0])))
attempt("dtype", lambda: parametrize.register_parametrization(nn.Linear(1, 1), "weight", Wrong(lambda x: x.double())))
attempt("type", lambda: parametrize.register_parametrization(nn.Linear(1, 1), "weight", Wrong(lambda x: 1)))
attempt("inverse type", lambda: parametrize.register_parametrization(nn.Linear(1, 1), "weight", WrongInverse(lambda x: 1)))
attempt("inverse dtype", lambda: parametrize.register_parametrization(nn.Linear(1, 1), "weight", WrongInverse(lambda x: x.double())))
attempt("inverse items", lambda: parametrize.register_parametrization(nn.Linear(1, 1), "weight", WrongInverse(lambda x: [x, 1])))
attempt("empty", lambda: parametrize.ParametrizationList([], torch.ones(1)))
shared = nn.Linear(2, 2)
shared.register_buffer("scale", torch.ones(2))
parametrize.register_parametrization(shared, "scale", Doubled())
print(shared.scale, list(dict(shared.named_buffers())), list(dict(shared.named_parameters())))
torch.manual_seed(4)
normed = parametrizations.weight_norm(nn.Linear(3, 2))
print(list(normed.state_dict()), normed)
with torch.no_grad():
    normed.parametrizations.weight.original0.mul_(2)
show("normed", normed(torch.ones(3)))
normed.weight = torch.ones(2, 3)
show("set", normed.parametrizations.weight.original0)
attempt("leave", lambda: parametrize.remove_parametrizations(normed, "weight", leave_parametrized=False))
print(parametrize.remove_parametrizations(normed, "weight"))
old = nn.utils.weight_norm(nn.Linear(3, 2)).state_dict()
print(parametrizations.weight_norm(nn.Linear(3, 2)).load_state_dict(old))
spectral = parametrizations.spectral_norm(nn.Linear(3, 4))
print(list(spectral.state_dict()))
show("spectral", spectral(torch.ones(1, 3)))
show("u", spectral.parametrizations.weight[0]._u)
spectral.eval()
show("spectral", spectral.weight)

print("fusion")
torch.manual_seed(5)
conv, norm = nn.Conv2d(2, 3, 2).eval(), nn.BatchNorm2d(3).eval()
with torch.no_grad():
    norm.running_mean.uniform_()
    norm.running_var.uniform_(0.5, 2)
    norm.weight.uniform_()
fused = nn.utils.fuse_conv_bn_eval(conv, norm)
show("conv", fused.weight)
show("bias", fused.bias)
linear, norm = nn.Linear(2, 3).eval(), nn.BatchNorm1d(3).eval()
show("linear", nn.utils.fuse_linear_bn_eval(linear, norm).weight)
attempt("training", lambda: nn.utils.fuse_conv_bn_eval(nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1)))

print("lazy layers")
for make, shape in (
    (lambda: nn.LazyLinear(2), (1, 3)),
    (lambda: nn.LazyConv1d(2, 2), (1, 3, 4)),
    (lambda: nn.LazyConv2d(2, 2, padding=1, bias=False), (1, 3, 4, 4)),
    (lambda: nn.LazyConv3d(2, 1, groups=2), (1, 4, 2, 2, 2)),
    (lambda: nn.LazyConvTranspose1d(2, 2), (1, 3, 4)),
    (lambda: nn.LazyConvTranspose2d(2, 2, stride=2), (1, 3, 2, 2)),
    (lambda: nn.LazyConvTranspose3d(2, 1), (1, 3, 2, 2, 2)),
    (lambda: nn.LazyBatchNorm1d(), (4, 3)),
    (lambda: nn.LazyInstanceNorm2d(affine=True, track_running_stats=True), (1, 3, 2, 2)),
):
    torch.manual_seed(6)
    module = make()
    print(module, [type(p).__name__ for p in module.parameters()])
    show("out", module(torch.arange(float(torch.Size(shape).numel())).reshape(shape) / 7))
    print(module, type(module).__name__, {name: tuple(value.shape) for name, value in module.state_dict().items()})
lazy = nn.LazyLinear(2)
attempt("shape", lambda: lazy.weight.shape)
print(lazy.load_state_dict(nn.Linear(4, 2).state_dict()), lazy.weight.shape)
