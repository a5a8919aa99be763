"""Modules whose parameter shapes are found at the first call."""

from torch.nn.parameter import is_lazy


class LazyModuleMixin:
    """Comes before the module class among the bases; the class provides `initialize_parameters(*args)`.

    The first call makes the parameters, and turns the object into one of `cls_to_become`.
    """

    cls_to_become = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def initialize_parameters(self, *args, **kwargs):
        """Gives the parameters the shapes that these arguments of `forward` ask for."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self):
        """Whether a parameter or buffer still waits for its shape."""
        for member in list(self._parameters.values()) + list(self._buffers.values()):
            if is_lazy(member):
                return True
        return False

    def _lazy_load_hook(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        for name, member in list(self._parameters.items()) + list(self._buffers.items()):
            key = prefix + name
            if key in state_dict and is_lazy(member) and not is_lazy(state_dict[key]):
                member.materialize(state_dict[key].shape)

    @staticmethod
    def _infer_parameters(module, args, kwargs):
        module.initialize_parameters(*args, **kwargs)
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {module._get_name()} has not been fully initialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        delattr(module, "_initialize_hook")
        delattr(module, "_load_hook")
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become
