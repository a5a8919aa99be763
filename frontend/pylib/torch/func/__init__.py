"""`torch.func`: functions of functions: derivatives, maps over a dim, and calls of modules with other parameters."""

from torch.func._batching import vmap
from torch.func._call import functional_call, replace_all_batch_norm_modules_, stack_module_state
from torch.func._derivatives import grad, grad_and_value, hessian, jacrev, vjp
from torch.func._forward import jacfwd, jvp


def __getattr__(name):
    from torch import _C

    raise _C._missing("torch.func", name, list(globals()))
