"""The safetensors format, by the names of the package that made it: `safetensors.torch` and `safe_open`."""

from torch import _C

__version__ = "0.7.0+taipan"


class SafetensorError(Exception):
    """A file is no readable safetensors file."""


def _parse(data):
    """The tensors and the metadata in a file's bytes."""
    try:
        return _C._read_safetensors(data)
    except ValueError as error:
        raise SafetensorError(str(error)) from None


def _check_device(device):
    import torch

    if torch.device(device).type != "cpu":
        raise RuntimeError(f"the device '{device}' is not available: this engine has only 'cpu'")


class safe_open:
    """An open file: `keys()`, `metadata()`, `get_tensor(name)` and `get_slice(name)`."""

    def __init__(self, filename, framework, device="cpu"):
        if framework not in ("pt", "torch", "pytorch"):
            raise SafetensorError(f"framework {framework!r} is not supported here: only 'pt' is")
        _check_device(device)
        with open(filename, "rb") as file:
            self._tensors, self._metadata = _parse(file.read())

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self._tensors = {}

    def keys(self):
        """The names of the tensors."""
        return list(self._tensors)

    offset_keys = keys

    def metadata(self):
        """What else the file says, or None."""
        return self._metadata or None

    def get_tensor(self, name):
        """A tensor by its name."""
        if name not in self._tensors:
            raise SafetensorError(f"File does not contain tensor {name}")
        return self._tensors[name]

    def get_slice(self, name):
        """A tensor of which a part is taken by indexing."""
        return _Slice(self.get_tensor(name))


class _Slice:
    def __init__(self, tensor):
        self._tensor = tensor

    def get_shape(self):
        """The sizes of the whole tensor."""
        return list(self._tensor.shape)

    def __getitem__(self, index):
        return self._tensor[index]
