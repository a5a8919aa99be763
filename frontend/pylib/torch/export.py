"""`torch.export`: nothing is exported here; programs that try are told so."""

import enum


class _DimHint(enum.Enum):
    AUTO = enum.auto()
    STATIC = enum.auto()
    DYNAMIC = enum.auto()


class Dim:
    """A size that may differ from call to call."""

    AUTO = _DimHint.AUTO
    STATIC = _DimHint.STATIC
    DYNAMIC = _DimHint.DYNAMIC

    def __init__(self, name, *, min=None, max=None):
        self.__name__ = name
        self.min = min
        self.max = max


class ExportedProgram:
    """No program is ever exported."""


def _refuse(*args, **kwargs):
    """An error: there is no exporter."""
    raise RuntimeError("torch.export is not available: there is no exporter here; use torch.compile")


export = export_for_training = load = save = draft_export = _refuse


def register_dataclass(cls, *, serialized_type_name=None):
    """Does nothing: nothing is exported."""
