"""`torch._dynamo.config`: the engine's settings under TorchDynamo's names.

Names that the engine has a setting for read and write that setting.  The others are kept here, so that programs which set
them run; nothing reads them.
"""

import sys

from torch._C import _compiler

_KEPT = {
    "accumulated_cache_size_limit": 256,
    "accumulated_recompile_limit": 256,
    "allow_ignore_mark_dynamic": False,
    "allow_rnn": False,
    "allow_unspec_int_on_nn_module": False,
    "assume_dunder_attributes_remain_unchanged": True,
    "assume_static_by_default": True,
    "automatic_dynamic_shapes": True,
    "cache_size_limit": 8,
    "caching_precompile": False,
    "capture_dynamic_output_shape_ops": False,
    "capture_func_transforms": True,
    "capture_scalar_outputs": False,
    "compiled_autograd": False,
    "dead_code_elimination": True,
    "disable": False,
    "do_not_emit_runtime_asserts": False,
    "dynamic_shapes": True,
    "enable_cpp_guard_manager": True,
    "enforce_cond_guards_match": True,
    "error_on_nested_fx_trace": True,
    "error_on_nested_jit_trace": True,
    "error_on_recompile": False,
    "fail_on_recompile_limit_hit": False,
    "fake_tensor_propagation": True,
    "force_nn_module_property_static_shapes": True,
    "force_parameter_static_shapes": True,
    "force_unspec_int_unbacked_size_like_on_torchrec_kjt": False,
    "guard_nn_modules": True,
    "guard_nn_modules_using_dict_tags": True,
    "inline_inbuilt_nn_modules": True,
    "install_free_tensors": False,
    "issue_3_13_0_warning": False,
    "log_compilation_metrics": True,
    "log_file_name": None,
    "log_level": 30,
    "minimum_call_count": 1,
    "nested_graph_breaks": True,
    "numpy_default_float": "float64",
    "optimize_ddp": True,
    "prepare_freezing": False,
    "prefer_deferred_runtime_asserts_over_guards": False,
    "raise_on_ctx_manager_usage": True,
    "raise_on_unsafe_aot_autograd": False,
    "recompile_limit": 8,
    "record_compile_time_instruction_count": False,
    "reorderable_logging_functions": set(),
    "replay_record_enabled": False,
    "repro_after": None,
    "repro_dir": None,
    "repro_forward_only": False,
    "repro_level": 2,
    "rewrite_assert_with_torch_assert": True,
    "run_gc_after_compile": True,
    "skip_nnmodule_hook_guards": True,
    "skip_fsdp_guards": True,
    "specialize_float": False,
    "specialize_int": False,
    "suppress_errors": False,
    "trace_numpy": True,
    "traceable_tensor_subclasses": set(),
    "track_nodes_for_deduplication": False,
    "use_graph_deduplication": False,
    "verbose": False,
    "verify_correctness": False,
}


class ConfigPatch:
    """Sets configuration values for a `with` block, or for the calls of a function it decorates."""

    def __init__(self, config, changes):
        self.config = config
        self.changes = changes
        self.prior = []

    def __enter__(self):
        self.prior.append([(name, getattr(self.config, name)) for name in self.changes])
        for name, value in self.changes.items():
            setattr(self.config, name, value)

    def __exit__(self, exc_type, exc_value, traceback):
        for name, value in self.prior.pop():
            setattr(self.config, name, value)

    def __call__(self, fn):
        from torch.utils._contextlib import context_decorator

        if isinstance(fn, type):
            for name in dir(fn):
                method = getattr(fn, name)
                if name.startswith("test") and callable(method):
                    setattr(fn, name, context_decorator(lambda: self, method))
            return fn
        return context_decorator(lambda: self, fn)


class Config:
    """A namespace of settings that stands where the module of this name would."""

    def __init__(self, name):
        attributes = self.__dict__
        attributes["__name__"] = name
        attributes["__doc__"] = __doc__
        attributes["__file__"] = __file__ if "__file__" in globals() else None
        attributes["__spec__"] = __spec__
        attributes["__path__"] = []
        # Names that were deleted: `unittest.mock` deletes what it patched, and sets it again if it is gone then.
        attributes["_deleted"] = set()

    def __getattr__(self, name):
        if name in self._deleted:
            raise AttributeError(f"torch._dynamo.config.{name} does not exist")
        try:
            return _compiler.settings_get(name)
        except (AttributeError, KeyError, ValueError):
            pass
        if name in _KEPT:
            return _KEPT[name]
        raise AttributeError(f"torch._dynamo.config.{name} does not exist")

    def __setattr__(self, name, value):
        self._deleted.discard(name)
        try:
            _compiler.settings_set(name, value)
            return
        except (AttributeError, KeyError):
            pass
        if name not in _KEPT:
            raise AttributeError(f"torch._dynamo.config.{name} does not exist")
        _KEPT[name] = value

    def __delattr__(self, name):
        getattr(self, name)
        self._deleted.add(name)

    def __dir__(self):
        return sorted(_KEPT)

    def __repr__(self):
        return f"<module '{self.__name__}'>"

    def patch(self, arg1=None, arg2=None, **kwargs):
        """`patch(name=value)`, `patch({name: value})` or `patch("name", value)`: values for a block or a function."""
        changes = dict(kwargs)
        if isinstance(arg1, dict):
            changes.update(arg1)
        elif arg1 is not None:
            changes[arg1] = arg2
        if not changes:
            raise AssertionError(f"expected settings to change, got {arg1!r}")
        for name in changes:
            getattr(self, name)
        return ConfigPatch(self, changes)

    def save_config_portable(self):
        """The values that are kept here, by name."""
        return dict(_KEPT)

    get_config_copy = shallow_copy_dict = to_dict = save_config_portable

    def load_config(self, values):
        """Sets the values of a dict."""
        for name, value in dict(values).items():
            setattr(self, name, value)


sys.modules[__name__] = Config(__name__)
