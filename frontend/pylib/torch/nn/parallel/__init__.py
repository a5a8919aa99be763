"""`torch.nn.parallel`: there is one process and one device, so these hand everything to the module they wrap."""

from torch.nn.modules.module import Module


class DataParallel(Module):
    """Calls `module`."""

    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        self.module = module

    def forward(self, *inputs, **kwargs):
        return self.module(*inputs, **kwargs)


class DistributedDataParallel(DataParallel):
    """Calls `module`."""

    def __init__(self, module, device_ids=None, output_device=None, dim=0, **settings):
        super().__init__(module)


def __getattr__(name):
    if name == "distributed":
        import importlib

        return importlib.import_module("torch.nn.parallel.distributed")
    raise AttributeError(f"module 'torch.nn.parallel' has no attribute '{name}'")
