"""`torch.save` and `torch.load`."""


def save(obj, f, pickle_module=None, pickle_protocol=2, _use_new_zipfile_serialization=True):
    """Not available: checkpoints are written as safetensors."""
    raise NotImplementedError("torch.save is not available yet; write safetensors")


def load(f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **pickle_load_args):
    """Not available: checkpoints are read as safetensors."""
    raise NotImplementedError("torch.load is not available yet; read safetensors")
