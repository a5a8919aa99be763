"""Initial values: the same draws as PyTorch's, and the arguments that are refused."""

import torch
from torch.nn import init


def attempt(call, *args, **kwargs):
    try:
        call(*args, **kwargs)
        print("fine")
    except Exception as error:
        print(type(error).__name__, error)


for name in ("uniform_", "normal_", "trunc_normal_", "ones_", "zeros_", "eye_", "xavier_uniform_", "xavier_normal_",
             "kaiming_uniform_", "kaiming_normal_"):
    torch.manual_seed(0)
    print(name, getattr(init, name)(torch.empty(5, 4)))
for settings in ({"std": 3}, {"std": 20}, {"mean": 1.0, "std": 2.0, "a": 1, "b": 1.5}):
    torch.manual_seed(0)
    print(settings, init.trunc_normal_(torch.empty(20), **settings))
torch.manual_seed(0)
print(init.kaiming_normal_(torch.empty(3, 4, 2, 2), a=0.1, mode="fan_out").sum())
print(init.dirac_(torch.empty(2, 2, 3)), init.dirac_(torch.empty(4, 2, 3), groups=2).sum(), init.constant_(torch.empty(2), 3.0))
print([init.calculate_gain(name) for name in ("relu", "tanh", "linear", "conv2d", "selu", "leaky_relu")])
print(init.calculate_gain("leaky_relu", 0.2))
attempt(init.calculate_gain, "foo")
attempt(init.calculate_gain, "leaky_relu", True)
attempt(init.kaiming_uniform_, torch.ones(3))
attempt(init.kaiming_uniform_, torch.ones(3, 3), mode="x")
attempt(init.eye_, torch.ones(3))
attempt(init.dirac_, torch.ones(3))
attempt(init.dirac_, torch.ones(3, 2, 2), groups=2)
attempt(init.sparse_, torch.ones(3), 0.1)
attempt(init.orthogonal_, torch.ones(3))

print("# older names")
import warnings

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    t = torch.empty(2, 3)
    print(init.constant(t, 2.0) is t, t, [(w.category.__name__, str(w.message)) for w in caught])
