"""Parameters that are computed from others whenever they are read."""

import torch
from torch.nn.modules.container import ModuleDict, ModuleList
from torch.nn.parameter import Parameter


class ParametrizationList(ModuleList):
    """The functions that one tensor goes through, and the tensor they start from, `original`."""

    def __init__(self, modules, original, unsafe=False):
        super().__init__(modules)
        self.unsafe = unsafe
        with torch.no_grad():
            value = original
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    value = module.right_inverse(value)
        if isinstance(original, Parameter):
            if value is not original:
                original.data = value
            self.register_parameter("original", original)
        else:
            self.register_buffer("original", value)

    def right_inverse(self, value):
        """Sets `original` so that reading the parameter gives `value`."""
        with torch.no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement right_inverse."
                    )
                value = module.right_inverse(value)
            self.original.copy_(value)

    def forward(self):
        value = self.original
        for module in self:
            value = module(value)
        return value


def _inject(module, name):
    """Makes `name` a property of a class of this module's own."""
    if not hasattr(module, "parametrizations"):
        kind = type(module)
        module.__class__ = type("Parametrized" + kind.__name__, (kind,), {"__module__": kind.__module__})
        module.parametrizations = ModuleDict()

    def read(self):
        return self.parametrizations[name]()

    def write(self, value):
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(read, write))


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    """Reads of `module.tensor_name` go through `parametrization` from now on, behind those that are there already."""
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        module.parametrizations[tensor_name].append(parametrization)
        return module
    if tensor_name not in module._parameters and tensor_name not in module._buffers:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name '{tensor_name}'"
        )
    original = getattr(module, tensor_name)
    delattr(module, tensor_name)
    _inject(module, tensor_name)
    module.parametrizations[tensor_name] = ParametrizationList([parametrization], original, unsafe)
    return module


def is_parametrized(module, tensor_name=None):
    """Whether a tensor of the module, or any, is parametrized."""
    parametrizations = getattr(module, "parametrizations", None)
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    """Makes the tensor an ordinary one again: with its present value, or with that of `original`."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    parametrizations = module.parametrizations[tensor_name]
    original = parametrizations.original
    if leave_parametrized:
        with torch.no_grad():
            original.data = parametrizations().detach()
    del module.parametrizations[tensor_name]
    delattr(type(module), tensor_name)
    if isinstance(original, Parameter):
        module.register_parameter(tensor_name, original)
    else:
        module.register_buffer(tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


class cached:
    """A block in which values may be kept; here they are computed at each read."""

    def __enter__(self):
        return None

    def __exit__(self, exc_type, exc_value, traceback):
        return None
