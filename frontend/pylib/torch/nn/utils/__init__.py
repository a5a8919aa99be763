"""`torch.nn.utils`: gradients, weights and sequences."""

from torch.nn.utils.clip_grad import clip_grad_norm, clip_grad_norm_, clip_grad_value_, get_total_norm
from torch.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters
from torch.nn.utils import rnn


def __getattr__(name):
    if name in ("parametrizations", "parametrize", "stateless"):
        import importlib

        return importlib.import_module("torch.nn.utils." + name)
    raise AttributeError(f"module 'torch.nn.utils' has no attribute '{name}'")
