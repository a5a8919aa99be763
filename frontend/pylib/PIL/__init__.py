"""`PIL` where no images are read, made or changed: names that packages ask for when they are imported.

Tensors pass code that asks whether something is an image; whatever would make an image is an error that says so.
"""

__version__ = "13.0.0"


class UnidentifiedImageError(OSError):
    """A file is no image."""


def refuse(*args, **kwargs):
    """An error: there are no images here."""
    raise NotImplementedError("this engine has no images: PIL's functions are not available")


def refused_class(module, name):
    """A class of which no object can be made; it can be named, asked about and inherited from."""
    return type(name, (), {"__init__": refuse, "__module__": module, "__doc__": "None can be made."})


def __getattr__(name):
    if name.startswith("Image"):
        import importlib

        try:
            return importlib.import_module("PIL." + name)
        except ModuleNotFoundError:
            pass
    raise AttributeError(f"module 'PIL' has no attribute '{name}'")
