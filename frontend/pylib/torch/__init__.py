"""The `torch` package: everything native comes from `torch._C`, the rest is Python that the tracer steps into.

Importing this must stay cheap.  What most scripts touch is loaded here; every other part is loaded when its name is first
asked for (`_PARTS` and `_NAMES` below).
"""

from math import e, inf, nan, pi

from torch import _C
from torch._C import *
from torch._C import Tensor

__version__ = "2.15.0+taipan"

newaxis = None

from torch.autograd.grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from torch import autograd, compiler, jit
from torch._compile import compile
from torch._typename import typename
from torch.functional import (
    allclose, broadcast_shapes, cartesian_prod, einsum, equal, gradient, hann_window, is_nonzero, is_same_size, split, tensordot,
    trapezoid, trapz, unique, unique_consecutive, unravel_index,
)
from torch import _native_names, _subclasses, fft, linalg, nn, special

_native_names.install(_C)

# Submodules that `import torch` makes reachable as attributes, each loaded when it is first named.
_PARTS = frozenset((
    "__config__", "_dynamo", "_ops", "accelerator", "amp", "ao", "backends", "cpu", "cuda", "distributed", "distributions",
    "export", "func", "fx", "hub", "library", "mps", "multiprocessing", "nested", "onnx", "optim", "overrides", "profiler", "random",
    "return_types", "serialization", "testing", "types", "utils", "version", "xpu",
))

# Names of this module that live in a submodule: name -> submodule.
_NAMES = {
    "ops": "torch._ops",
    "save": "torch.serialization",
    "load": "torch.serialization",
    "fork_rng": "torch.random",
    "vmap": "torch.func",
    "cond": "torch._higher_order",
    "SymInt": "torch.nested._internal.nested_int",
    "geqrf": "torch._householder",
    "orgqr": "torch._householder",
}

# Names of this module that live in a submodule, by that submodule.
_LIVING_IN = {
    "torch._checks": "_assert _assert_async _check _check_index _check_is_size _check_not_implemented _check_tensor_all "
    "_check_tensor_all_with _check_type _check_value _check_with",
    "torch._conversions": "asarray frombuffer",
    "torch.amp": "autocast get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype is_autocast_cache_enabled "
    "is_autocast_cpu_enabled is_autocast_enabled",
    "torch._settings": "are_deterministic_algorithms_enabled get_default_device get_deterministic_debug_mode "
    "get_float32_matmul_precision is_deterministic_algorithms_warn_only_enabled is_warn_always_enabled set_default_device "
    "set_default_tensor_type set_deterministic_debug_mode set_float32_matmul_precision set_flush_denormal set_warn_always "
    "use_deterministic_algorithms",
    "torch._symbolic": "sym_float sym_int sym_ite sym_max sym_min sym_not sym_sqrt sym_sum",
    "torch._spectral": "istft stft",
    "torch._windows": "bartlett_window blackman_window hamming_window kaiser_window",
    "torch._older_names": "detach_ is_inference is_signed norm_except_dim range resize_as_ unsafe_chunk unsafe_split "
    "unsafe_split_with_sizes",
    "torch.nn._recurrent": "gru gru_cell lstm lstm_cell rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell",
    "torch.nn._embedding": "embedding_renorm_",
    "torch.nn.functional": "bilinear rrelu rrelu_",
}
_NAMES.update({name: home for home, names in _LIVING_IN.items() for name in names.split()})


def is_storage(obj):
    """Whether `obj` is a storage object; storages are not objects of their own here, so nothing is."""
    return False


def __getattr__(name):
    if name in _PARTS:
        return _load("torch." + name)
    home = _NAMES.get(name)
    if home is not None:
        value = getattr(_load(home), name)
        globals()[name] = value
        return value
    if name.startswith("_") and hasattr(_C, name):
        # Ops that only other parts of PyTorch are meant to call; `import *` leaves them out.
        return getattr(_C, name)
    raise _C._missing("torch", name, [*globals(), *_PARTS, *_NAMES])


def _load(path):
    import importlib

    return importlib.import_module(path)
