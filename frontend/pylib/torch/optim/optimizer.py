"""What all optimizers share: groups of parameters, state for each parameter, and the step around the rule of one parameter."""

import torch
from torch._C import Tensor
from torch._typename import typename

# `params` stands for a setting without a default.
required = object()


class Optimizer:
    """Updates parameters by their gradients.

    Subclasses define `_update(param, grad, state, group)`, the rule of one parameter, and name their settings in `defaults`.
    """

    def __init__(self, params, defaults):
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got " + typename(params)
            )
        self.defaults = defaults
        self.state = {}
        self.param_groups = []
        self._step_pre_hooks = {}
        self._step_post_hooks = {}
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(dict(group))

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
        if params and isinstance(params[0], tuple):
            param_group["param_names"] = [name for name, _ in params]
            params = [param for _, param in params]
        for param in params:
            if not isinstance(param, Tensor):
                raise TypeError("optimizer can only optimize Tensors, but one of the params is " + typename(param))
            if not (param.is_leaf or getattr(param, "retains_grad", False)):
                raise ValueError("can't optimize a non-leaf Tensor")
        param_group["params"] = params
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        known = {id(param) for group in self.param_groups for param in group["params"]}
        if any(id(param) in known for param in params):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def zero_grad(self, set_to_none=True):
        """Forgets, or zeroes, the gradients."""
        for group in self.param_groups:
            for param in group["params"]:
                if param.grad is not None:
                    if set_to_none:
                        param.grad = None
                    else:
                        param.grad = torch.zeros_like(param.grad)

    def step(self, closure=None):
        """Updates every parameter that has a gradient; `closure` computes the loss and the gradients first."""
        for hook in list(self._step_pre_hooks.values()):
            hook(self, (), {"closure": closure} if closure is not None else {})
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        with torch.no_grad():
            for group in self.param_groups:
                for param in group["params"]:
                    if param.grad is not None:
                        state = self.state.get(param, {})
                        grad = -param.grad if group.get("maximize", False) else param.grad
                        self._update(param, grad, state, group)
                        if state:
                            self.state[param] = state
        for hook in list(self._step_post_hooks.values()):
            hook(self, (), {})
        return loss

    def _update(self, param, grad, state, group):
        raise NotImplementedError

    def register_step_pre_hook(self, hook):
        """Calls `hook(optimizer, args, kwargs)` before each step."""
        return self._register(self._step_pre_hooks, hook)

    def register_step_post_hook(self, hook):
        """Calls `hook(optimizer, args, kwargs)` after each step."""
        return self._register(self._step_post_hooks, hook)

    def _register(self, hooks, hook):
        from torch.utils.hooks import RemovableHandle

        handle = RemovableHandle(hooks)
        hooks[handle.id] = hook
        return handle

    def state_dict(self):
        """State and settings, parameters by number."""
        numbers = {}
        groups = []
        for group in self.param_groups:
            for param in group["params"]:
                numbers.setdefault(id(param), len(numbers))
            packed = {name: value for name, value in group.items() if name != "params"}
            packed["params"] = [numbers[id(param)] for param in group["params"]]
            groups.append(packed)
        state = {numbers[id(param)]: values for param, values in self.state.items()}
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict):
        """Takes over the state and settings of a `state_dict` of an optimizer over parameters in the same order."""
        saved = state_dict["param_groups"]
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        for ours, theirs in zip(self.param_groups, saved):
            if len(ours["params"]) != len(theirs["params"]):
                raise ValueError(
                    "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
                )
        by_number = {}
        for ours, theirs in zip(self.param_groups, saved):
            by_number.update(zip(theirs["params"], ours["params"]))
            ours.update({name: value for name, value in theirs.items() if name != "params"})
        self.state = {}
        for number, values in state_dict["state"].items():
            param = by_number[number]
            self.state[param] = {
                name: value.detach().clone() if isinstance(value, Tensor) else value for name, value in values.items()
            }

    def __repr__(self):
        lines = [type(self).__name__ + " ("]
        for number, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {number}")
            lines += [f"    {name}: {group[name]}" for name in sorted(group) if name != "params"]
        return "\n".join(lines) + "\n)"


def check(**values):
    """Raises ValueError for the first setting that is negative; names are as messages write them, with `_` for a space."""
    for name, value in values.items():
        if not value >= 0.0:
            raise ValueError(f"Invalid {name.replace('_', ' ')}: {value}" if name == "learning_rate" else f"Invalid {name} value: {value}")


def check_betas(betas):
    """Raises ValueError unless both are in [0, 1)."""
    for index, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {index}: {beta}")


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
