"""`torch.utils`: pytrees, hooks, checkpointing, data; each part is loaded when it is first named."""


def __getattr__(name):
    if name in ("_pytree", "checkpoint", "data", "hooks", "model_zoo"):
        import importlib

        return importlib.import_module("torch.utils." + name)
    raise AttributeError(f"module 'torch.utils' has no attribute '{name}'")
