"""Hooks around a module's `forward`: registering them, which `Module` inherits, and calling through them."""

from torch._C import Tensor
from torch.utils.hooks import RemovableHandle

# Hooks that apply to every module: id -> (kind, hook, with_kwargs, always_call).  One dict, so that a call without any
# has one question to ask.
global_hooks = {}


def _register_global(kind, hook, with_kwargs=False, always_call=False):
    handle = RemovableHandle(global_hooks)
    global_hooks[handle.id] = (kind, hook, with_kwargs, always_call)
    return handle


def register_module_forward_pre_hook(hook):
    """Calls `hook(module, args)` before the forward of every module."""
    return _register_global("pre", hook)


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    """Calls `hook(module, args, output)` after the forward of every module."""
    return _register_global("post", hook, with_kwargs, always_call)


def register_module_full_backward_hook(hook):
    """Registers a backward hook for every module."""
    return _register_global("backward", hook)


def register_module_full_backward_pre_hook(hook):
    """Registers a backward pre-hook for every module."""
    return _register_global("backward-pre", hook)


class HookMethods:
    """The part of `Module` that deals with hooks.  Holds no state of its own."""

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """Calls `hook(module, args)` before `forward`; a result other than None replaces the arguments."""
        handle = RemovableHandle(self._forward_pre_hooks, extra_dict=self._forward_pre_hooks_with_kwargs)
        _insert(self._forward_pre_hooks, handle.id, hook, prepend)
        if with_kwargs:
            self._forward_pre_hooks_with_kwargs[handle.id] = True
        return handle

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """Calls `hook(module, args, output)` after `forward`; a result other than None replaces the output.

        With `always_call` the hook is called also when `forward` raises.
        """
        handle = RemovableHandle(
            self._forward_hooks, extra_dict=[self._forward_hooks_with_kwargs, self._forward_hooks_always_called]
        )
        _insert(self._forward_hooks, handle.id, hook, prepend)
        if with_kwargs:
            self._forward_hooks_with_kwargs[handle.id] = True
        if always_call:
            self._forward_hooks_always_called[handle.id] = True
        return handle

    def register_full_backward_pre_hook(self, hook, prepend=False):
        """Calls `hook(module, grad_output)` on the way back; a result other than None replaces the gradients of the outputs."""
        handle = RemovableHandle(self._backward_pre_hooks)
        _insert(self._backward_pre_hooks, handle.id, hook, prepend)
        return handle

    def register_full_backward_hook(self, hook, prepend=False):
        """Calls `hook(module, grad_input, grad_output)` on the way back; a result replaces the gradients of the inputs."""
        if self._is_full_backward_hook is False:
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. "
                "Please use only one of them."
            )
        self._is_full_backward_hook = True
        handle = RemovableHandle(self._backward_hooks)
        _insert(self._backward_hooks, handle.id, hook, prepend)
        return handle

    def register_backward_hook(self, hook):
        """The older form of `register_full_backward_hook`."""
        if self._is_full_backward_hook is True:
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. "
                "Please use only one of them."
            )
        raise NotImplementedError(
            "register_backward_hook, the older form, is not available here: register_full_backward_hook is"
        )

    def _call_with_hooks(self, args, kwargs):
        called = set()
        try:
            args, kwargs = self._run_pre_hooks(args, kwargs)
            backward_hooks = self._find_backward_hooks()
            if backward_hooks is not None:
                args = backward_hooks.wrap_inputs(args)
            result = self.forward(*args, **kwargs)
            for key, hook, with_kwargs, _ in self._post_hooks():
                called.add(key)
                replaced = hook(self, args, kwargs, result) if with_kwargs else hook(self, args, result)
                if replaced is not None:
                    result = replaced
            if backward_hooks is not None:
                if isinstance(result, (Tensor, tuple)):
                    result = backward_hooks.wrap_outputs(result)
                else:
                    import warnings

                    warnings.warn(
                        "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received "
                        f"{type(result)}",
                        stacklevel=2,
                    )
            return result
        except Exception:
            self._run_always_called(called, args, kwargs)
            raise

    def _find_backward_hooks(self):
        """The full backward hooks of this module and of all modules, for one call; None where there are none."""
        hooks = [hook for kind, hook, _, _ in global_hooks.values() if kind == "backward"]
        pre_hooks = [hook for kind, hook, _, _ in global_hooks.values() if kind == "backward-pre"]
        hooks += self._backward_hooks.values()
        pre_hooks += self._backward_pre_hooks.values()
        if not hooks and not pre_hooks:
            return None
        from torch.nn.modules._backward_hooks import BackwardHooks

        return BackwardHooks(self, hooks, pre_hooks)

    def _post_hooks(self):
        hooks = [(key, hook, with_kwargs, always) for key, (kind, hook, with_kwargs, always) in global_hooks.items()
                 if kind == "post"]
        for key, hook in self._forward_hooks.items():
            hooks.append((key, hook, key in self._forward_hooks_with_kwargs, key in self._forward_hooks_always_called))
        return hooks

    def _run_pre_hooks(self, args, kwargs):
        hooks = [(hook, False) for kind, hook, _, _ in global_hooks.values() if kind == "pre"]
        for key, hook in self._forward_pre_hooks.items():
            hooks.append((hook, key in self._forward_pre_hooks_with_kwargs))
        for hook, with_kwargs in hooks:
            if with_kwargs:
                replaced = hook(self, args, kwargs)
                if replaced is not None:
                    if not (isinstance(replaced, tuple) and len(replaced) == 2):
                        raise RuntimeError(
                            f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {replaced}."
                        )
                    args, kwargs = replaced
            else:
                replaced = hook(self, args)
                if replaced is not None:
                    args = replaced if isinstance(replaced, tuple) else (replaced,)
        return args, kwargs

    def _run_always_called(self, called, args, kwargs):
        """After `forward` or a hook raised: the `always_call` hooks that did not run yet; what they raise is a warning."""
        for key, hook, with_kwargs, always in self._post_hooks():
            if not always or key in called:
                continue
            try:
                hook(self, args, kwargs, None) if with_kwargs else hook(self, args, None)
            except Exception as error:
                import warnings

                warnings.warn(
                    "module forward hook with ``always_call=True`` raised an exception that was silenced as another error was "
                    f"raised in forward: {error}",
                    stacklevel=2,
                )


def _insert(hooks, key, hook, prepend):
    """Registers a hook last, or first with `prepend`: dicts keep insertion order, so the others are put back behind it."""
    others = list(hooks.items()) if prepend else ()
    if prepend:
        hooks.clear()
    hooks[key] = hook
    for other_key, other in others:
        hooks[other_key] = other
