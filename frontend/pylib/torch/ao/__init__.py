"""`torch.ao`: tools that make models smaller; of them only what float models carry with them."""


def __getattr__(name):
    if name == "quantization":
        import importlib

        return importlib.import_module("torch.ao.quantization")
    raise AttributeError(f"module 'torch.ao' has no attribute '{name}'")
