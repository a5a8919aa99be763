"""`torch.library`: registering operators from Python, which this version has not."""


def _missing(name):
    raise NotImplementedError(f"torch.library.{name}: operators can't be registered from Python yet")


def custom_op(name, fn=None, /, *, mutates_args=(), device_types=None, schema=None, tags=None):
    """Not available."""
    _missing("custom_op")


def register_fake(op, func=None, /, *, lib=None, _stacklevel=1, allow_override=False):
    """Not available."""
    _missing("register_fake")


def define(qualname, schema, *, lib=None, tags=()):
    """Not available."""
    _missing("define")


def impl(qualname, types, func=None, *, lib=None):
    """Not available."""
    _missing("impl")


class Library:
    """Not available."""

    def __init__(self, ns, kind, dispatch_key=""):
        _missing("Library")
