"""The module `marshal` without its door to unchecked byte code."""

version = 5


def _refuse(*args, **kwargs):
    raise ValueError("marshal is not available in this engine")


dump = dumps = load = loads = _refuse
