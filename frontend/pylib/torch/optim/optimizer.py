"""What all optimizers share: groups of parameters, state for each parameter, and the step around the rule of one parameter."""

from collections import OrderedDict, defaultdict

import torch
from torch._C import Tensor
from torch._typename import typename
from torch.utils.hooks import RemovableHandle

# `params` stands for a setting without a default.
required = object()

# Hooks around the step of every optimizer.
_global_pre_hooks = OrderedDict()
_global_post_hooks = OrderedDict()


def register_optimizer_step_pre_hook(hook):
    """Calls `hook(optimizer, args, kwargs)` before each step of every optimizer."""
    return _register(_global_pre_hooks, hook)


def register_optimizer_step_post_hook(hook):
    """Calls `hook(optimizer, args, kwargs)` after each step of every optimizer."""
    return _register(_global_post_hooks, hook)


def _with_hooks(step):
    """`step` with the hooks around it; a step that is called from within another's runs none."""

    def hooked(self, *args, **kwargs):
        attributes = self.__dict__
        if attributes.get("_is_stepping", False):
            return step(self, *args, **kwargs)
        for hook in [*_global_pre_hooks.values(), *self._optimizer_step_pre_hooks.values()]:
            replaced = hook(self, (self, *args), kwargs)
            if replaced is not None:
                if not (isinstance(replaced, tuple) and len(replaced) == 2):
                    raise RuntimeError(f"{step} must return None or a tuple of (new_args, new_kwargs), but got {replaced}.")
                given, kwargs = replaced
                args = given[1:]
        attributes["_is_stepping"] = True
        try:
            result = step(self, *args, **kwargs)
        finally:
            del attributes["_is_stepping"]
        attributes["_opt_called"] = True
        for hook in [*self._optimizer_step_post_hooks.values(), *_global_post_hooks.values()]:
            hook(self, (self, *args), kwargs)
        return result

    hooked.__name__ = step.__name__
    hooked.__qualname__ = step.__qualname__
    hooked.__doc__ = step.__doc__
    hooked.__wrapped__ = step
    return hooked


class Optimizer:
    """Updates parameters by their gradients.

    Subclasses name their settings in `defaults`, and define either `_update(param, grad, state, group)`, the rule of one parameter,
    or `step`. A rule that holds for complex parameters too says so by `_takes_complex`.
    """

    _takes_complex = False

    def __init__(self, params, defaults):
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got " + typename(params)
            )
        self.defaults = defaults
        self._make_hooks()
        self.state = defaultdict(dict)
        self.param_groups = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(dict(group) if isinstance(group, dict) else group)

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = _with_hooks(cls.__dict__["step"])

    def _make_hooks(self):
        self._optimizer_step_pre_hooks = OrderedDict()
        self._optimizer_step_post_hooks = OrderedDict()
        self._optimizer_state_dict_pre_hooks = OrderedDict()
        self._optimizer_state_dict_post_hooks = OrderedDict()
        self._optimizer_load_state_dict_pre_hooks = OrderedDict()
        self._optimizer_load_state_dict_post_hooks = OrderedDict()

    def __getstate__(self):
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state):
        self.__dict__.update(state)
        if "_optimizer_step_pre_hooks" not in self.__dict__:
            self._make_hooks()
        self.defaults.setdefault("differentiable", False)

    def add_param_group(self, param_group):
        """Adds parameters with settings of their own; those they lack are the defaults."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, Tensor):
            params = [params]
        elif isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets will change "
                "between runs. Please use a list instead."
            )
        else:
            params = list(params)
        named = [param for param in params if isinstance(param, tuple)]
        if named:
            if len(named) != len(params):
                raise ValueError("all optimizer params should be with/without names. Some param names are missing")
            param_group["param_names"] = [name for name, _ in params]
            params = [param for _, param in params]
        param_group["params"] = params
        for param in params:
            if not isinstance(param, Tensor):
                raise TypeError("optimizer can only optimize Tensors, but one of the params is " + typename(param))
            if not self.defaults.get("differentiable", None) and not (param.is_leaf or getattr(param, "retains_grad", False)):
                raise ValueError("can't optimize a non-leaf Tensor")
            if param.is_complex() and hasattr(self, "_update") and not self._takes_complex:
                raise NotImplementedError(f"{type(self).__name__} of complex parameters is not implemented")
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        self._check_distinct(params)
        if self.param_groups and ("param_names" in param_group) != ("param_names" in self.param_groups[0]):
            which = "with" if "param_names" in param_group else "without"
            raise ValueError(
                f"all optimizer param groups should be with/without names. cannot add param group {which} names to the optimizer"
            )
        self.param_groups.append(param_group)

    def _check_distinct(self, params):
        if len({id(param) for param in params}) != len(params):
            import warnings

            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; see "
                "github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=3,
            )
        known = {id(param) for group in self.param_groups for param in group["params"]}
        if any(id(param) in known for param in params):
            raise ValueError("some parameters appear in more than one parameter group")

    def zero_grad(self, set_to_none=True):
        """Forgets, or zeroes, the gradients."""
        for group in self.param_groups:
            for param in group["params"]:
                clear_grad(param, set_to_none)

    def step(self, closure=None):
        """Updates every parameter that has a gradient; `closure` computes the loss and the gradients first."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        with torch.no_grad():
            for group in self.param_groups:
                for param in group["params"]:
                    if param.grad is not None:
                        self._update_one(param, group)
        return loss

    step = _with_hooks(step)

    def _update_one(self, param, group):
        # SGD without momentum keeps nothing, and then has no entry.
        state = self.state.get(param)
        if state is None:
            state = {}
        grad = -param.grad if group.get("maximize", False) else param.grad
        self._update(param, grad, state, group)
        if state:
            self.state[param] = state

    def _update(self, param, grad, state, group):
        raise NotImplementedError

    # Hooks

    def register_step_pre_hook(self, hook):
        """Calls `hook(optimizer, args, kwargs)` before each step; what it returns replaces both."""
        return _register(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook):
        """Calls `hook(optimizer, args, kwargs)` after each step."""
        return _register(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook, prepend=False):
        """Calls `hook(optimizer)` before a state dict is made."""
        return _register(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook, prepend=False):
        """Calls `hook(optimizer, state_dict)` with each state dict; what it returns replaces that."""
        return _register(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend=False):
        """Calls `hook(optimizer, state_dict)` before a state dict is loaded; what it returns is loaded in its place."""
        return _register(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook, prepend=False):
        """Calls `hook(optimizer)` after a state dict was loaded."""
        return _register(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    # State dicts

    def state_dict(self):
        """State and settings, parameters by number."""
        for hook in list(self._optimizer_state_dict_pre_hooks.values()):
            hook(self)
        numbers = {}
        groups = []
        for group in self.param_groups:
            for param in group["params"]:
                numbers.setdefault(id(param), len(numbers))
            packed = {name: value for name, value in group.items() if name != "params"}
            packed["params"] = [numbers[id(param)] for param in group["params"]]
            groups.append(packed)
        # State may also be kept under other keys than parameters.
        state = {(numbers[id(key)] if isinstance(key, Tensor) else key): values for key, values in self.state.items()}
        result = {"state": state, "param_groups": groups}
        for hook in list(self._optimizer_state_dict_post_hooks.values()):
            replaced = hook(self, result)
            if replaced is not None:
                result = replaced
        return result

    def load_state_dict(self, state_dict):
        """Takes over the state and settings of a `state_dict` of an optimizer over parameters in the same order."""
        state_dict = state_dict.copy()
        for hook in list(self._optimizer_load_state_dict_pre_hooks.values()):
            replaced = hook(self, state_dict)
            if replaced is not None:
                state_dict = replaced
        saved = state_dict["param_groups"]
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(ours["params"]) != len(theirs["params"]) for ours, theirs in zip(self.param_groups, saved)):
            raise ValueError("loaded state dict contains a parameter group that doesn't match the size of optimizer's group")
        from copy import deepcopy

        by_number = {}
        groups = []
        for ours, theirs in zip(self.param_groups, saved):
            by_number.update(zip(theirs["params"], ours["params"]))
            group = {name: deepcopy(value) for name, value in theirs.items() if name != "params"}
            group["params"] = ours["params"]
            if "param_names" in ours and "param_names" not in group:
                group["param_names"] = ours["param_names"]
            groups.append(group)
        state = defaultdict(dict)
        for number, values in state_dict["state"].items():
            if number in by_number:
                param = by_number[number]
                state[param] = _fitted(param, values)
            else:
                state[number] = values
        self.__setstate__({"state": state, "param_groups": groups})
        for hook in list(self._optimizer_load_state_dict_post_hooks.values()):
            hook(self)

    def __repr__(self):
        lines = [type(self).__name__ + " ("]
        for number, group in enumerate(self.param_groups):
            if number:
                lines.append("")
            lines.append(f"Parameter Group {number}")
            lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
        return "\n".join(lines) + "\n)"


def clear_grad(param, set_to_none):
    """Forgets the gradient of a parameter, or makes it zero, cut off from what it was computed by."""
    grad = param.grad
    if grad is None:
        return
    if set_to_none:
        param.grad = None
        return
    if grad.grad_fn is not None:
        grad.detach_()
    else:
        grad.requires_grad_(False)
    with torch.no_grad():
        grad.zero_()


def _fitted(param, value, key=None):
    """Loaded state for `param`: tensors but counts of steps in the parameter's dtype and on its device."""
    if isinstance(value, Tensor):
        if key == "step":
            return value
        if param.is_floating_point():
            return value.to(dtype=param.dtype, device=param.device)
        return value.to(device=param.device)
    if isinstance(value, dict):
        return {name: _fitted(param, item, key=name) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_fitted(param, item) for item in value)
    return value


def _register(hooks, hook, prepend=False):
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    if prepend:
        hooks.move_to_end(handle.id, last=False)
    return handle


def check(**values):
    """Raises ValueError for the first setting that is negative; the keywords are the names in the messages."""
    for name, value in values.items():
        if not 0.0 <= value:
            if name == "learning_rate":
                raise ValueError(f"Invalid learning rate: {value}")
            raise ValueError(f"Invalid {name} value: {value}")


def check_rate_size(lr):
    """Raises ValueError for a learning rate that is a tensor of more than one element."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")


def check_betas(betas):
    """Raises ValueError unless both are in [0, 1)."""
    for index, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {index}: {beta}")


def check_fused(fused, foreach, differentiable):
    """Raises RuntimeError for ways of stepping that exclude each other; otherwise how a step is done makes no difference."""
    if fused:
        if differentiable:
            raise RuntimeError("`fused` does not support `differentiable`")
        if foreach:
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


def number(value):
    """A setting that may be a tensor of one element, as a number."""
    return value.item() if isinstance(value, Tensor) else value


def zeros(param):
    """State that starts as zeros."""
    return torch.zeros_like(param, memory_format=torch.preserve_format)


def counted(state):
    """The number of this step, from 1, kept in the state as a float tensor."""
    step = state.get("step")
    if step is None:
        step = state["step"] = torch.tensor(0.0)
    step += 1
    return step.item()


def _default_to_fused_or_foreach(params, differentiable, use_fused=False):
    """Whether a fused step, or one over lists of parameters, is the default: neither is on the CPU."""
    return False, False


def __getattr__(name):
    if name == "ParamsT":
        from collections.abc import Iterable
        from typing import Any, Union

        return Union[Iterable[Tensor], Iterable[dict[str, Any]], Iterable[tuple[str, Tensor]]]
    raise AttributeError(f"module 'torch.optim.optimizer' has no attribute '{name}'")
