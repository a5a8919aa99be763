"""`Module`, the base class of everything in `torch.nn`."""

import torch
from torch._C import ModuleBase, Tensor, WatchedDict
from torch._typename import typename
from torch.nn.modules._hooks import (
    HookMethods,
    global_hooks,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
)
from torch.nn.modules._state import IncompatibleKeys as _IncompatibleKeys
from torch.nn.modules._state import StateDictMethods
from torch.nn.modules._tree import TreeMethods
from torch.nn.parameter import Parameter

# What a module holds apart from its own attributes, in the order of its `__dict__`: mappings of names, and of hook ids, to
# what is registered under them, and two that are not mappings.
_STATE = (
    ("_parameters", WatchedDict), ("_buffers", WatchedDict), ("_non_persistent_buffers_set", set),
    ("_backward_pre_hooks", WatchedDict), ("_backward_hooks", WatchedDict), ("_is_full_backward_hook", lambda: None),
    ("_forward_hooks", WatchedDict), ("_forward_hooks_with_kwargs", WatchedDict),
    ("_forward_hooks_always_called", WatchedDict), ("_forward_pre_hooks", WatchedDict),
    ("_forward_pre_hooks_with_kwargs", WatchedDict), ("_state_dict_hooks", WatchedDict),
    ("_state_dict_pre_hooks", WatchedDict), ("_load_state_dict_pre_hooks", WatchedDict),
    ("_load_state_dict_post_hooks", WatchedDict), ("_modules", WatchedDict),
)


def _forward_unimplemented(self, *input):
    """Stands for the `forward` a module lacks."""
    raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')


class Module(ModuleBase, TreeMethods, StateDictMethods, HookMethods):
    """A part of a network: parameters, buffers, child modules, and a `forward` that uses them."""

    dump_patches = False
    call_super_init = False
    _version = 1
    _compiled_call_impl = None

    forward = _forward_unimplemented

    def __new__(cls, *args, **kwargs):
        # A class with a plain class as its first base has that one's layout, and is made by `object`.
        base = cls
        while base is not None and base is not ModuleBase:
            base = base.__base__
        return object.__new__(cls) if base is None else ModuleBase.__new__(cls)

    def __init__(self, *args, **kwargs):
        if not self.call_super_init:
            if kwargs:
                raise TypeError(
                    f"{type(self).__name__}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'"
                )
            if args:
                raise TypeError(
                    f"{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} were given"
                )
        # Not through our own __setattr__, which looks into the mappings made here.
        attributes = self.__dict__
        attributes["training"] = True
        for name, make in _STATE:
            attributes[name] = make()
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def _wrapped_call_impl(self, *args, **kwargs):
        if self._compiled_call_impl is not None:
            return self._compiled_call_impl(*args, **kwargs)
        return self._call_impl(*args, **kwargs)

    def _call_impl(self, *args, **kwargs):
        if self._backward_hooks or self._backward_pre_hooks or self._forward_hooks or self._forward_pre_hooks or global_hooks:
            return self._call_with_hooks(args, kwargs)
        return self.forward(*args, **kwargs)

    __call__ = _wrapped_call_impl

    def compile(self, *args, **kwargs):
        """Compiles this module's call in place, with the arguments of `torch.compile`."""
        self.__dict__["_compiled_call_impl"] = torch.compile(self._call_impl, *args, **kwargs)

    # Attributes

    def __getattr__(self, name):
        attributes = self.__dict__
        for mapping in ("_parameters", "_buffers", "_modules"):
            members = attributes.get(mapping)
            if members is not None and name in members:
                return members[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name, value):
        attributes = self.__dict__
        params = attributes.get("_parameters")
        if isinstance(value, Parameter):
            if params is None:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            self._forget(name, attributes, self._buffers, self._modules)
            self.register_parameter(name, value)
            return
        if params is not None and name in params:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)"
                )
            self.register_parameter(name, value)
            return
        modules = attributes.get("_modules")
        if isinstance(value, Module):
            if modules is None:
                raise AttributeError("cannot assign module before Module.__init__() call")
            self._forget(name, attributes, params, self._buffers)
            modules[name] = value
            return
        if modules is not None and name in modules:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as child module '{name}' (torch.nn.Module or None expected)"
                )
            modules[name] = value
            return
        buffers = attributes.get("_buffers")
        is_tensor = isinstance(value, Tensor)
        is_buffer = is_tensor and getattr(value, "_is_buffer", False)
        if is_buffer or (buffers is not None and name in buffers):
            if value is not None and not is_tensor:
                raise TypeError(
                    f"cannot assign '{typename(value)}' as buffer '{name}' (torch.nn.Buffer, torch.Tensor or None expected)"
                )
            if is_buffer:
                if buffers is None:
                    raise AttributeError("cannot assign buffer before Module.__init__() call")
                self._forget(name, attributes, params, modules)
                self.register_buffer(name, value, value.persistent)
            else:
                buffers[name] = value
            return
        super().__setattr__(name, value)

    def __delattr__(self, name):
        if name in self._parameters:
            del self._parameters[name]
        elif name in self._buffers:
            del self._buffers[name]
            self._non_persistent_buffers_set.discard(name)
        elif name in self._modules:
            del self._modules[name]
        else:
            super().__delattr__(name)

    def _forget(self, name, *mappings):
        """Takes `name` out of the places where it must not be found before what is registered under it now."""
        for mapping in mappings:
            mapping.pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def __dir__(self):
        names = set(dir(type(self)))
        names.update(self.__dict__, self._parameters, self._modules, self._buffers)
        return sorted(name for name in names if not name[0].isdigit())

    def __getstate__(self):
        state = self.__dict__.copy()
        state.pop("_compiled_call_impl", None)
        return state

    def __setstate__(self, state):
        attributes = self.__dict__
        attributes.update(state)
        for name, make in _STATE:
            if name not in attributes:
                attributes[name] = make()

    # Registering

    def register_parameter(self, name, param):
        """Adds a parameter under `name`; None keeps the name without one."""
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        self._check_name("parameter", name, self._parameters)
        if param is None:
            self._parameters[name] = None
            return
        if not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{typename(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)"
            )
        if param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. To express "
                f"'{name}' as a function of another Tensor, compute the value in the forward() method."
            )
        self._parameters[name] = param

    def register_buffer(self, name, tensor, persistent=True):
        """Adds a tensor that is state but not a parameter; a `persistent` one is in the state dict."""
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        self._check_name("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def _check_name(self, kind, name, members):
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {typename(name)}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain "."')
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if hasattr(self, name) and name not in members:
            raise KeyError(f"attribute '{name}' already exists")

    # Modes, dtypes, devices

    def train(self, mode=True):
        """Sets training mode here and below."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        """Sets evaluation mode here and below."""
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        """Says of every parameter whether it needs a gradient."""
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        """Forgets, or zeroes, the gradients of the parameters."""
        for param in self.parameters():
            if param.grad is not None:
                if set_to_none:
                    param.grad = None
                else:
                    if param.grad.grad_fn is not None:
                        param.grad.detach_()
                    else:
                        param.grad.requires_grad_(False)
                    with torch.no_grad():
                        param.grad.zero_()

    def _apply(self, fn, recurse=True):
        """Replaces the data of every parameter, gradient and buffer by `fn` of it; the parameters keep their identity."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        for param in self._parameters.values():
            if param is None:
                continue
            with torch.no_grad():
                param.data = fn(param.data)
                if param.grad is not None:
                    param.grad.data = fn(param.grad.data)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args, **kwargs):
        """Moves the module to a device, or changes its floating-point dtype, or both, or its memory format.

        Takes `(device, dtype)`, `(dtype)`, `(tensor)`, and `memory_format=`.
        """
        device, dtype, memory_format = _to_arguments(*args, **kwargs)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
            )

        def convert(tensor):
            to_dtype = dtype if tensor.is_floating_point() or tensor.is_complex() else None
            if memory_format is not None and tensor.dim() in (4, 5):
                return tensor.to(device or tensor.device, to_dtype or tensor.dtype, memory_format=memory_format)
            return tensor.to(device or tensor.device, to_dtype or tensor.dtype)

        return self._apply(convert)

    def type(self, dst_type):
        """Changes the dtype of all parameters and buffers."""
        return self._apply(lambda tensor: tensor.type(dst_type))

    def float(self):
        """Makes the floating-point parameters and buffers float32."""
        return self._apply(lambda tensor: tensor.float() if tensor.is_floating_point() else tensor)

    def double(self):
        """Makes the floating-point parameters and buffers float64."""
        return self._apply(lambda tensor: tensor.double() if tensor.is_floating_point() else tensor)

    def half(self):
        """Makes the floating-point parameters and buffers float16."""
        return self._apply(lambda tensor: tensor.half() if tensor.is_floating_point() else tensor)

    def bfloat16(self):
        """Makes the floating-point parameters and buffers bfloat16."""
        return self._apply(lambda tensor: tensor.bfloat16() if tensor.is_floating_point() else tensor)

    def cpu(self):
        """Moves the parameters and buffers to the CPU."""
        return self._apply(lambda tensor: tensor.cpu())

    def cuda(self, device=None):
        """Moves the parameters and buffers to a CUDA device."""
        return self._apply(lambda tensor: tensor.cuda(device))

    def to_empty(self, *, device, recurse=True):
        """Moves to `device` without copying the values."""
        return self._apply(lambda tensor: torch.empty_like(tensor, device=device), recurse=recurse)

    def share_memory(self):
        """Returns the module: there are no other processes to share with."""
        return self

    # Text

    def _get_name(self):
        return type(self).__name__

    def extra_repr(self):
        """What `repr` prints between the parentheses, for modules to override."""
        return ""

    def __repr__(self):
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): " + _indent(repr(module)) for name, module in self._modules.items()]
        if not children and len(lines) <= 1:
            return f"{self._get_name()}({extra})"
        return f"{self._get_name()}(\n  " + "\n  ".join(lines + children) + "\n)"


def _indent(text):
    return text.replace("\n", "\n  ")


def _to_arguments(*args, **kwargs):
    """The device, dtype and memory format that the arguments of `Module.to` name; None for what they leave alone."""
    device = kwargs.pop("device", None)
    dtype = kwargs.pop("dtype", None)
    memory_format = kwargs.pop("memory_format", None)
    kwargs.pop("non_blocking", None)
    like = kwargs.pop("tensor", None)
    if kwargs:
        raise TypeError(f"to() received an unexpected keyword argument '{next(iter(kwargs))}'")
    for arg in args:
        if isinstance(arg, torch.dtype):
            dtype = arg
        elif isinstance(arg, Tensor):
            like = arg
        elif arg is not None and not isinstance(arg, bool):
            device = arg
    if like is not None:
        return like.device, like.dtype, memory_format
    return None if device is None else torch.device(device), dtype, memory_format
