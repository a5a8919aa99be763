"""`torch.hub`: nothing is ever downloaded here; programs that try are told so."""

import os
import re
from urllib.parse import urlparse

# The first digits of a file's digest, in its name.
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")

DEFAULT_CACHE_DIR = "~/.cache"
ENV_TORCH_HOME = "TORCH_HOME"
ENV_XDG_CACHE_HOME = "XDG_CACHE_HOME"

_hub_dir = None

try:
    from tqdm import tqdm
except ImportError:

    class tqdm:
        """A bar that shows progress; without the package of that name, none is shown."""

        def __init__(self, iterable=None, *args, **kwargs):
            self.iterable = iterable

        def __iter__(self):
            return iter(self.iterable)

        def __enter__(self):
            return self

        def __exit__(self, exc_type, exc_value, traceback):
            return False

        def update(self, n=1):
            """Does nothing."""

        close = update



def _get_torch_home():
    """The folder of files that PyTorch keeps for a user."""
    home = os.getenv(ENV_TORCH_HOME, os.path.join(os.getenv(ENV_XDG_CACHE_HOME, DEFAULT_CACHE_DIR), "torch"))
    return os.path.expanduser(home)


def get_dir():
    """The folder in which downloaded files would be kept."""
    return os.path.join(_get_torch_home(), "hub") if _hub_dir is None else _hub_dir


def set_dir(d):
    """Sets what `get_dir` answers."""
    global _hub_dir
    _hub_dir = os.path.expanduser(d)


def load_state_dict_from_url(
    url, model_dir=None, map_location=None, progress=True, check_hash=False, file_name=None, weights_only=False
):
    """The weights in the file of that name in `model_dir`, as far as it is there: it can't be downloaded."""
    import torch

    folder = os.path.join(get_dir(), "checkpoints") if model_dir is None else model_dir
    path = os.path.join(folder, file_name or os.path.basename(urlparse(url).path))
    if not os.path.exists(path):
        raise RuntimeError(f"{url} can't be downloaded: there is no network here; put the file at {path}")
    return torch.load(path, map_location=map_location, weights_only=True)


def download_url_to_file(url, dst, hash_prefix=None, progress=True):
    """An error: there is no network here."""
    raise RuntimeError(f"{url} can't be downloaded: there is no network here")


def _no_repositories(*args, **kwargs):
    """An error: there is no network here."""
    raise RuntimeError("torch.hub has no repositories: there is no network here")


load = list = help = _no_repositories
