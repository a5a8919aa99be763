"""`torch.nn.utils`: gradients, weights and sequences. What few programs use is loaded when it is named."""

from torch.nn.utils.clip_grad import clip_grad_norm, clip_grad_norm_, clip_grad_value_, clip_grads_with_norm_, get_total_norm
from torch.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters
from torch.nn.utils import rnn
# These two functions hide the modules of the same names, so they are bound here, behind the loading of those.
from torch.nn.utils.spectral_norm import remove_spectral_norm, spectral_norm
from torch.nn.utils.weight_norm import remove_weight_norm, weight_norm

_MODULES = ("fusion", "init", "memory_format", "parametrizations", "parametrize", "prune", "stateless")

# Functions by the module that has them.
_FUNCTIONS = {
    "convert_conv2d_weight_memory_format": "memory_format", "convert_conv3d_weight_memory_format": "memory_format",
    "fuse_conv_bn_eval": "fusion", "fuse_conv_bn_weights": "fusion", "fuse_linear_bn_eval": "fusion",
    "fuse_linear_bn_weights": "fusion", "skip_init": "init",
}


def __getattr__(name):
    import importlib

    home = _FUNCTIONS.get(name)
    if home is not None:
        value = getattr(importlib.import_module("torch.nn.utils." + home), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return importlib.import_module("torch.nn.utils." + name)
    raise AttributeError(f"module 'torch.nn.utils' has no attribute '{name}'")
