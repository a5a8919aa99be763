"""What tests and tools ask of the compiler."""

import functools
from collections import Counter, defaultdict

import torch

# Counts of events by group, for programs that look at them.
counters = defaultdict(Counter)


def is_compile_supported(device_type):
    """Whether functions of such a device can be compiled."""
    return torch.device(device_type).type == "cpu"


def same(ref, res, fp64_ref=None, cos_similarity=False, tol=1e-4, equal_nan=False, exact_dtype=True, relax_numpy_equality=False,
         ignore_non_fp=False, log_error=None, use_larger_multiplier_for_smaller_tensor=False, force_max_multiplier=False):
    """Whether two nested results are equal, tensors and floats within `tol`."""
    def same_parts(a, b):
        return same(a, b, tol=tol, equal_nan=equal_nan, exact_dtype=exact_dtype, ignore_non_fp=ignore_non_fp)

    if isinstance(ref, torch.Tensor):
        if not isinstance(res, torch.Tensor) or ref.shape != res.shape:
            return False
        if exact_dtype and ref.dtype != res.dtype:
            return False
        if ref.dtype == torch.bool:
            return torch.equal(ref, res.to(torch.bool))
        if ignore_non_fp and not ref.dtype.is_floating_point:
            return True
        if not (ref.dtype.is_floating_point or ref.dtype.is_complex):
            return torch.equal(ref, res.to(ref.dtype))
        wide = torch.complex128 if ref.dtype.is_complex else torch.float64
        return torch.allclose(
            ref.detach().to(wide), res.detach().to(wide), atol=tol, rtol=tol, equal_nan=equal_nan
        )
    if isinstance(ref, (list, tuple)):
        return isinstance(res, (list, tuple)) and len(ref) == len(res) and all(
            same_parts(a, b) for a, b in zip(ref, res)
        )
    if isinstance(ref, dict):
        return isinstance(res, dict) and set(ref) == set(res) and all(same_parts(ref[key], res[key]) for key in ref)
    if isinstance(ref, float):
        if ref != ref or res != res:
            return equal_nan and ref != ref and res != res
        return abs(ref - res) <= tol * max(1.0, abs(ref), abs(res))
    if ref is None or isinstance(ref, (str, int, bool, set, frozenset, type, torch.dtype, torch.device, torch.Size)):
        return ref == res
    if type(ref) is type(res) and hasattr(ref, "__dict__"):
        return all(same_parts(value, getattr(res, name, None)) for name, value in ref.__dict__.items())
    return ref == res


def clone_input(x, *, dtype=None):
    """A copy of a tensor with its strides and whether it needs a gradient."""
    result = torch.empty_strided(x.size(), x.stride(), dtype=dtype or x.dtype, device=x.device)
    result.copy_(x.detach())
    return result.requires_grad_(x.requires_grad)


def clone_inputs(example_inputs):
    """`clone_input` of every tensor in a list or dict."""
    if isinstance(example_inputs, dict):
        return {key: clone_input(value) if isinstance(value, torch.Tensor) else value for key, value in example_inputs.items()}
    return [clone_input(value) if isinstance(value, torch.Tensor) else value for value in example_inputs]


class disable_cache_limit:
    """Lifts the limit on recompiles for a block."""

    def __enter__(self):
        config = torch._dynamo.config
        self.prior = config.recompile_limit, config.cache_size_limit
        config.recompile_limit = config.cache_size_limit = 2**31

    def __exit__(self, exc_type, exc_value, traceback):
        config = torch._dynamo.config
        config.recompile_limit, config.cache_size_limit = self.prior

    def __call__(self, function):
        @functools.wraps(function)
        def unlimited(*args, **kwargs):
            with disable_cache_limit():
                return function(*args, **kwargs)

        return unlimited


def is_compiling():
    """Whether the caller is being traced."""
    return torch.compiler.is_compiling()
