"""`distutils.version`: version numbers that can be compared."""

import re

_PARTS = re.compile(r"(\d+|[a-z]+|\.)")


class LooseVersion:
    """A version number of any form: its numbers and words, in order."""

    def __init__(self, vstring=None):
        if vstring:
            self.parse(vstring)

    def parse(self, vstring):
        """Takes the parts out of a text."""
        self.vstring = vstring
        parts = [part for part in _PARTS.split(vstring) if part and part != "."]
        self.version = [int(part) if part.isdigit() else part for part in parts]

    def __str__(self):
        return self.vstring

    def __repr__(self):
        return f"LooseVersion ('{self}')"

    def _parts(self, other):
        if isinstance(other, str):
            other = LooseVersion(other)
        return other.version if isinstance(other, LooseVersion) else None

    def __eq__(self, other):
        parts = self._parts(other)
        return NotImplemented if parts is None else self.version == parts

    def __lt__(self, other):
        parts = self._parts(other)
        return NotImplemented if parts is None else self.version < parts

    def __le__(self, other):
        parts = self._parts(other)
        return NotImplemented if parts is None else self.version <= parts

    def __gt__(self, other):
        parts = self._parts(other)
        return NotImplemented if parts is None else self.version > parts

    def __ge__(self, other):
        parts = self._parts(other)
        return NotImplemented if parts is None else self.version >= parts


StrictVersion = LooseVersion
