"""Parameters that are computed from others whenever they are read."""

import copy

import torch
from torch.nn.modules.container import ModuleDict, ModuleList
from torch.nn.modules.module import Module
from torch.nn.parameter import Parameter

# How many `cached` blocks are open, and what was computed within: (id of module, name) -> value.
_cache_depth = 0
_cache = {}


class cached:
    """A block in which a parametrized tensor is computed once, when it is first read."""

    def __enter__(self):
        global _cache_depth
        _cache_depth += 1

    def __exit__(self, exc_type, exc_value, traceback):
        global _cache_depth
        _cache_depth -= 1
        if not _cache_depth:
            _cache.clear()


class ParametrizationList(ModuleList):
    """The functions that one tensor goes through, and what they start from: `original`, or `original0`, `original1`, …

    There are several originals where the `right_inverse` of a function returns several tensors.
    """

    def __init__(self, modules, original, unsafe=False):
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        with torch.no_grad():
            new = original
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    try:
                        new = module.right_inverse(new)
                    except NotImplementedError:
                        # As if it had none: the tensor itself is what the function starts from.
                        pass
        if not isinstance(new, (torch.Tensor, list, tuple)):
            raise ValueError(
                f"'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got {type(new).__name__}"
            )
        self.is_tensor = isinstance(new, torch.Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            if original.dtype != new.dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {new.dtype}"
                )
            if new is not original:
                with torch.no_grad():
                    original.data = new.data
            _register(self, "original", original)
        else:
            for number, part in enumerate(new):
                if not isinstance(part, torch.Tensor):
                    raise ValueError(
                        "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
                        f"Got element {number} of the sequence with type {type(part).__name__}."
                    )
                if isinstance(original, Parameter):
                    part = Parameter(part, original.requires_grad)
                part.requires_grad_(original.requires_grad)
                _register(self, f"original{number}", part)
        if not unsafe:
            value = self()
            if not isinstance(value, torch.Tensor):
                raise ValueError(f"A parametrization must return a tensor. Got {type(value).__name__}.")
            if value.dtype != dtype:
                raise ValueError(
                    "Registering a parametrization may not change the dtype of the tensor, unless `unsafe` flag is enabled.\n"
                    f"unparametrized dtype: {dtype}\nparametrized dtype: {value.dtype}"
                )
            if value.shape != shape:
                raise ValueError(
                    "Registering a parametrization may not change the shape of the tensor, unless `unsafe` flag is enabled.\n"
                    f"unparametrized shape: {shape}\nparametrized shape: {value.shape}"
                )

    def right_inverse(self, value):
        """Sets the originals so that reading the parameter gives `value`."""
        with torch.no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            if self.is_tensor:
                if not isinstance(value, torch.Tensor):
                    raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
                if value.dtype != self.original.dtype:
                    raise ValueError(
                        f"The tensor returned by `right_inverse` has dtype {value.dtype} while `original` has dtype "
                        f"{self.original.dtype}"
                    )
                self.original.data = value.data
                return
            if not isinstance(value, (list, tuple)):
                raise ValueError(f"'right_inverse' must return a sequence of tensors. Got {type(value)}.")
            if len(value) != self.ntensors:
                raise ValueError(
                    "'right_inverse' must return a sequence of tensors of length "
                    f"{self.ntensors}. Got a sequence of length {len(value)}."
                )
            for number, part in enumerate(value):
                if not isinstance(part, torch.Tensor):
                    raise ValueError(
                        f"`right_inverse` must return a sequence of tensors. Got element {number} of type {type(part).__name__}"
                    )
                getattr(self, f"original{number}").data = part.data

    def forward(self):
        modules = list(self)
        if self.is_tensor:
            value = modules[0](self.original)
        else:
            value = modules[0](*(getattr(self, f"original{number}") for number in range(self.ntensors)))
        for module in modules[1:]:
            value = module(value)
        return value


def _register(module, name, tensor):
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _inject_class(module):
    """Gives the module a class of its own, on which properties can stand."""
    kind = type(module)

    def deep_copied(self, memo):
        # By way of the state alone: the class is made anew for the copy.
        known = memo.get(id(self))
        if known is not None:
            return known
        copied = self.__new__(type(self))
        memo[id(self)] = copied
        copied.__setstate__(copy.deepcopy(self.__getstate__(), memo))
        return copied

    def no_state(self):
        raise RuntimeError(
            "Serialization of parametrized modules is only supported through state_dict(). See:\n"
            "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
            "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
        )

    members = {"__module__": kind.__module__, "__reduce_ex__": lambda self, protocol: no_state(self)}
    if not hasattr(kind, "__deepcopy__"):
        members["__deepcopy__"] = deep_copied
    module.__class__ = type("Parametrized" + kind.__name__, (kind,), members)
    module.parametrizations = ModuleDict()


def _inject_property(module, name):
    """Makes `name` a property: reading computes it, assigning sets its originals."""

    def read(self):
        if not _cache_depth:
            return self.parametrizations[name]()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = self.parametrizations[name]()
        return _cache[key]

    def write(self, value):
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(read, write))


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    """Reads of `module.tensor_name` go through `parametrization` from now on, behind those that are there already.

    Unless `unsafe`, the result must have the shape and dtype that the tensor had.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_next(getattr(module, tensor_name), parametrization)
        module.parametrizations[tensor_name].append(parametrization)
        if unsafe:
            module.parametrizations[tensor_name].unsafe = True
        return module
    if tensor_name not in module._parameters and tensor_name not in module._buffers:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name '{tensor_name}'"
        )
    parametrizations = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe)
    delattr(module, tensor_name)
    if not is_parametrized(module):
        _inject_class(module)
    _inject_property(module, tensor_name)
    module.parametrizations[tensor_name] = parametrizations
    return module


def _check_next(value, parametrization):
    """Raises ValueError where a further parametrization changes what a tensor looks like."""
    result = parametrization(value)
    if not isinstance(result, torch.Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
    if result.dtype != value.dtype:
        raise ValueError(
            "Registering a parametrization may not change the dtype of the tensor, unless the `unsafe` flag is enabled.\n"
            f"module.{{tensor_name}}.dtype: {value.dtype}\nparametrization(module.{{tensor_name}}).dtype: {result.dtype}"
        )
    if result.shape != value.shape:
        raise ValueError(
            "Registering a parametrization may not change the shape of the tensor, unless the `unsafe` flag is enabled.\n"
            f"module.{{tensor_name}}.shape: {value.shape}\nparametrization(module.{{tensor_name}}).shape: {result.shape}"
        )


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
    if parametrizations.is_tensor:
        tensor = parametrizations.original
        if leave_parametrized:
            with torch.no_grad():
                tensor.data = getattr(module, tensor_name).data
    else:
        if not leave_parametrized:
            raise ValueError(
                "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a sequence of "
                "tensors."
            )
        value = getattr(module, tensor_name)
        tensor = Parameter(value.detach(), value.requires_grad) if value.requires_grad else value.detach()
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, tensor)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module):
    """The class the module had before its first parametrization."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module, to_module, tensor_name=None):
    """Gives `to_module` the parametrizations of `from_module`, or of one of its tensors, and their originals."""
    if not is_parametrized(from_module):
        return to_module
    if not isinstance(from_module.parametrizations, ModuleDict):
        raise AssertionError(
            f"from_module.parametrizations must be a ModuleDict, got {type(from_module.parametrizations).__name__}"
        )
    for name in from_module.parametrizations if tensor_name is None else [tensor_name]:
        source = from_module.parametrizations[name]
        if not hasattr(to_module, name):
            value = source.original if source.is_tensor else source.original0
            setattr(to_module, name, Parameter(value) if isinstance(value, Parameter) else value)
        for parametrization in source:
            register_parametrization(to_module, name, parametrization)
        target = to_module.parametrizations[name]
        if source.is_tensor:
            target.original = source.original
        else:
            for number in range(source.ntensors):
                setattr(target, f"original{number}", getattr(source, f"original{number}"))
    return to_module
