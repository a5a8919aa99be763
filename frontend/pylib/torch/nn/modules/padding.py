"""Padding."""

from torch.nn import functional as F
from torch.nn.modules.module import Module
from torch.nn._sizes import _ntuple, _pair, _quadruple

_sextuple = _ntuple(6)


class _ConstantPadNd(Module):
    def __init__(self, padding, value):
        super().__init__()
        self.padding = padding
        self.value = value

    def forward(self, input):
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self):
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """Pads the last dim with `value`."""

    def __init__(self, padding, value):
        super().__init__(_pair(padding), value)


class ConstantPad2d(_ConstantPadNd):
    """Pads the last two dims with `value`."""

    def __init__(self, padding, value):
        super().__init__(_quadruple(padding), value)


class ConstantPad3d(_ConstantPadNd):
    """Pads the last three dims with `value`."""

    def __init__(self, padding, value):
        super().__init__(_sextuple(padding), value)


class ZeroPad1d(ConstantPad1d):
    """Pads the last dim with zeros."""

    def __init__(self, padding):
        super().__init__(padding, 0.0)

    def extra_repr(self):
        return f"{self.padding}"


class ZeroPad2d(ConstantPad2d):
    """Pads the last two dims with zeros."""

    def __init__(self, padding):
        super().__init__(padding, 0.0)

    def extra_repr(self):
        return f"{self.padding}"


class ZeroPad3d(ConstantPad3d):
    """Pads the last three dims with zeros."""

    def __init__(self, padding):
        super().__init__(padding, 0.0)

    def extra_repr(self):
        return f"{self.padding}"


class _PadNd(Module):
    """Padding with values of the input; the subclasses say how and over how many dims."""

    mode = None
    sides = None

    def __init__(self, padding):
        super().__init__()
        self.padding = self.sides(padding)

    def forward(self, input):
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self):
        return f"{self.padding}"


class ReflectionPad1d(_PadNd):
    """Pads the last dim with its mirror image."""

    mode, sides = "reflect", staticmethod(_pair)


class ReflectionPad2d(_PadNd):
    """Pads the last two dims with their mirror image."""

    mode, sides = "reflect", staticmethod(_quadruple)


class ReflectionPad3d(_PadNd):
    """Pads the last three dims with their mirror image."""

    mode, sides = "reflect", staticmethod(_sextuple)


class ReplicationPad1d(_PadNd):
    """Pads the last dim with its edge values."""

    mode, sides = "replicate", staticmethod(_pair)


class ReplicationPad2d(_PadNd):
    """Pads the last two dims with their edge values."""

    mode, sides = "replicate", staticmethod(_quadruple)


class ReplicationPad3d(_PadNd):
    """Pads the last three dims with their edge values."""

    mode, sides = "replicate", staticmethod(_sextuple)


class CircularPad1d(_PadNd):
    """Pads the last dim with its other end."""

    mode, sides = "circular", staticmethod(_pair)


class CircularPad2d(_PadNd):
    """Pads the last two dims with their other ends."""

    mode, sides = "circular", staticmethod(_quadruple)


class CircularPad3d(_PadNd):
    """Pads the last three dims with their other ends."""

    mode, sides = "circular", staticmethod(_sextuple)
