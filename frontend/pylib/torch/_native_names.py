"""Names of `torch._C` that packages ask for and that need no native code: `torch/__init__` puts them there."""


def _log_api_usage_once(event):
    """Does nothing: no use is counted."""


def _get_tracing_state():
    """None: this is about `torch.jit.trace`, which does not exist here."""
    return None


def _are_functorch_transforms_active():
    """False: `torch.func` works without levels here."""
    return False


def _is_torch_function_mode_enabled():
    """False."""
    return False


class DispatchKey:
    """A row of the dispatch table that PyTorch finds its kernels by; there is no such table here."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"DispatchKey.{self.name}"


for _name in (
    "Undefined", "CPU", "CUDA", "XPU", "MPS", "Meta", "Autograd", "AutogradCPU", "AutogradCUDA", "AutocastCPU", "AutocastCUDA",
    "AutocastXPU", "AutocastMPS", "CompositeImplicitAutograd", "CompositeExplicitAutograd", "Functionalize", "Python",
):
    setattr(DispatchKey, _name, DispatchKey(_name))


class DispatchKeySet:
    """Some of the keys."""

    def __init__(self, *keys):
        self.keys = frozenset(keys)

    def __or__(self, other):
        return DispatchKeySet(*(self.keys | other.keys))

    def __and__(self, other):
        return DispatchKeySet(*(self.keys & other.keys))

    def __sub__(self, other):
        return DispatchKeySet(*(self.keys - other.keys))

    def has(self, key):
        """Whether a key is among them."""
        return key in self.keys


class _Guard:
    """Turns keys off for a block: there is nothing to turn off."""

    def __init__(self, keys=None):
        pass

    def __enter__(self):
        return None

    def __exit__(self, exc_type, exc_value, traceback):
        return False


def install(module):
    """Puts the names into `torch._C`."""
    for value in (
        DispatchKey, DispatchKeySet, _are_functorch_transforms_active, _get_tracing_state, _is_torch_function_mode_enabled,
        _log_api_usage_once,
    ):
        setattr(module, value.__name__, value)
    module._ExcludeDispatchKeyGuard = module._AutoDispatchBelowAutograd = _Guard
