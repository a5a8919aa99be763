"""The packages that are part of the engine, as `importlib.metadata` describes what is installed."""

import importlib
from importlib.metadata import Distribution

_NAMES = ("torch", "numpy", "safetensors")


class EnginePackage(Distribution):
    """One of them: it has a name and a version, and no files."""

    def __init__(self, name):
        self._package = name

    def read_text(self, filename):
        if filename != "METADATA":
            return None
        version = importlib.import_module(self._package).__version__
        return f"Metadata-Version: 2.1\nName: {self._package}\nVersion: {version}\n"

    def locate_file(self, path):
        raise NotImplementedError("packages of the engine have no files")


def distributions(context):
    """Those that `context` asks for: one by its name, or all."""
    wanted = getattr(context, "name", None)
    return [EnginePackage(name) for name in _NAMES if wanted is None or wanted.lower() == name]
