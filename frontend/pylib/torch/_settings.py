"""Settings of the whole process that programs make at their start. What can't be had here is refused."""

import torch

_PRECISIONS = ("highest", "high", "medium")
_kept = {"mode": "default", "precision": "highest", "warn_always": False}
_MODES = ("default", "warn", "error")


def set_float32_matmul_precision(precision):
    """Lets matrix products be less precise than float32; none here is, so the setting is only kept."""
    if not isinstance(precision, str):
        raise RuntimeError(f"set_float32_matmul_precision expects a str, but got {type(precision).__name__}")
    if precision not in _PRECISIONS:
        import warnings

        return warnings.warn(f"{precision} is not one of 'highest', 'high', or 'medium': nothing is set", stacklevel=2)
    _kept["precision"] = precision


def get_float32_matmul_precision():
    """What `set_float32_matmul_precision` set."""
    return _kept["precision"]


def use_deterministic_algorithms(mode, *, warn_only=False):
    """Asks for results that don't change from run to run. Every op here has such, so nothing is ever refused for it."""
    _kept["mode"] = ("warn" if warn_only else "error") if mode else "default"


def are_deterministic_algorithms_enabled():
    """Whether `use_deterministic_algorithms` is in force."""
    return _kept["mode"] != "default"


def is_deterministic_algorithms_warn_only_enabled():
    """Whether it is in force with `warn_only`."""
    return _kept["mode"] == "warn"


def set_deterministic_debug_mode(debug_mode):
    """`use_deterministic_algorithms` by the words default, warn and error, or their numbers."""
    if isinstance(debug_mode, str):
        if debug_mode not in _MODES:
            raise RuntimeError(
                f"invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got {debug_mode}"
            )
        debug_mode = _MODES.index(debug_mode)
    if debug_mode not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}")
    _kept["mode"] = _MODES[debug_mode]


def get_deterministic_debug_mode():
    """The number of the mode: 0 default, 1 warn, 2 error."""
    return _MODES.index(_kept["mode"])


def set_warn_always(enabled):
    """Whether warnings are given each time; kept only."""
    _kept["warn_always"] = bool(enabled)


def is_warn_always_enabled():
    """What `set_warn_always` set."""
    return _kept["warn_always"]


def set_flush_denormal(mode):
    """Denormal numbers are always kept here: false, for not supported."""
    return not mode


def get_default_device():
    """The device on which tensors are made."""
    return torch.device("cpu")


def set_default_device(device):
    """Sets the device on which tensors are made; only 'cpu' exists."""
    if device is not None and torch.device(device).type != "cpu":
        raise RuntimeError(f"the device '{device}' is not available: this engine has only 'cpu'")


def set_default_tensor_type(t):
    """The older form of `torch.set_default_dtype`, by the type of a tensor."""
    name = t if isinstance(t, str) else f"torch.{t.__name__}"
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        if torch.empty(0, dtype=dtype).type() == name:
            return torch.set_default_dtype(dtype)
    raise TypeError("only floating-point types are supported as the default type")
