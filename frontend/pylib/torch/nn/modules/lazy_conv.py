"""Convolutions and instance norms that find their number of channels at the first call."""

from torch.nn.modules import conv
from torch.nn.modules.batchnorm import _LazyNormBase
from torch.nn.modules.instancenorm import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from torch.nn.modules.lazy import LazyModuleMixin
from torch.nn.parameter import UninitializedParameter


class _LazyConv(LazyModuleMixin):
    """The lazy part; comes before the convolution among the bases."""

    def __init__(self, out_channels, kernel_size, *args, groups=1, bias=True, device=None, dtype=None, **settings):
        # Without channels and bias at first: the shapes of the parameters aren't known.
        super().__init__(0, 0, kernel_size, *args, groups=groups, bias=False, device=device, dtype=dtype, **settings)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self):
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()

    def initialize_parameters(self, input, *args, **kwargs):
        """Gives the parameters the shapes that `input` asks for."""
        if not self.has_uninitialized_params():
            return
        self.in_channels = self._channels(input)
        if self.in_channels % self.groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        first, second = self.out_channels, self.in_channels
        if self.transposed:
            first, second = second, first
        self.weight.materialize((first, second // self.groups, *self.kernel_size))
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()

    def _channels(self, input):
        spatial = len(self.kernel_size)
        if input.dim() not in (spatial + 1, spatial + 2):
            raise RuntimeError(
                f"Expected {spatial + 1}D (unbatched) or {spatial + 2}D (batched) input to {type(self).__name__}, but got input of "
                f"size: {input.shape}"
            )
        return input.shape[1] if input.dim() == spatial + 2 else input.shape[0]


class LazyConv1d(_LazyConv, conv.Conv1d):
    """A `Conv1d` that finds `in_channels` at its first call."""

    cls_to_become = conv.Conv1d


class LazyConv2d(_LazyConv, conv.Conv2d):
    """A `Conv2d` that finds `in_channels` at its first call."""

    cls_to_become = conv.Conv2d


class LazyConv3d(_LazyConv, conv.Conv3d):
    """A `Conv3d` that finds `in_channels` at its first call."""

    cls_to_become = conv.Conv3d


class LazyConvTranspose1d(_LazyConv, conv.ConvTranspose1d):
    """A `ConvTranspose1d` that finds `in_channels` at its first call."""

    cls_to_become = conv.ConvTranspose1d


class LazyConvTranspose2d(_LazyConv, conv.ConvTranspose2d):
    """A `ConvTranspose2d` that finds `in_channels` at its first call."""

    cls_to_become = conv.ConvTranspose2d


class LazyConvTranspose3d(_LazyConv, conv.ConvTranspose3d):
    """A `ConvTranspose3d` that finds `in_channels` at its first call."""

    cls_to_become = conv.ConvTranspose3d


class LazyInstanceNorm1d(_LazyNormBase, InstanceNorm1d):
    """An `InstanceNorm1d` that finds `num_features` at its first call."""

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyNormBase, InstanceNorm2d):
    """An `InstanceNorm2d` that finds `num_features` at its first call."""

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyNormBase, InstanceNorm3d):
    """An `InstanceNorm3d` that finds `num_features` at its first call."""

    cls_to_become = InstanceNorm3d
