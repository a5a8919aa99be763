"""Convolutions."""

import math

import torch
from torch.nn import functional as F
from torch.nn import init
from torch.nn.modules.module import Module
from torch.nn._sizes import _pair, _reverse_repeat_tuple, _single, _triple
from torch.nn.parameter import Parameter

_PADDING_MODES = ("circular", "reflect", "replicate", "zeros")


class _ConvNd(Module):
    """Settings and parameters of a convolution; the subclasses choose the number of dims."""

    __constants__ = ["stride", "padding", "dilation", "groups", "padding_mode", "output_padding", "in_channels", "out_channels",
                     "kernel_size"]

    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, dilation, transposed, output_padding, groups,
                 bias, padding_mode, device=None, dtype=None):
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups != 0:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(
                    f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}"
                )
            if padding == "same" and any(step != 1 for step in stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if padding_mode not in _PADDING_MODES:
            raise ValueError(
                f"padding_mode must be one of {{{', '.join(repr(m) for m in _PADDING_MODES)}}}, "
                f"but got padding_mode='{padding_mode}'"
            )
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = self._padding_for_pad()
        first, second = (in_channels, out_channels) if transposed else (out_channels, in_channels)
        self.weight = Parameter(torch.empty((first, second // groups, *kernel_size), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(torch.empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _padding_for_pad(self):
        """The padding in the order of `F.pad`: last dim first, left and right of each."""
        if not isinstance(self.padding, str):
            return list(_reverse_repeat_tuple(self.padding, 2))
        result = [0, 0] * len(self.kernel_size)
        if self.padding == "same":
            for index, (dilation, size) in enumerate(zip(reversed(self.dilation), reversed(self.kernel_size))):
                total = dilation * (size - 1)
                result[2 * index] = total // 2
                result[2 * index + 1] = total - total // 2
        return result

    def reset_parameters(self):
        """Fills weight and bias from the uniform distribution on ±1/√(fan in)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self):
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        zeros = (0,) * len(self.kernel_size)
        if self.padding != zeros:
            text += f", padding={self.padding}"
        if self.dilation != (1,) * len(self.dilation):
            text += f", dilation={self.dilation}"
        if self.output_padding != zeros:
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text

    def _padded(self, input):
        """The input with the padding that the convolution itself can't do, and the padding left for it."""
        if self.padding_mode == "zeros":
            return input, self.padding
        padded = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
        return padded, (0,) * len(self.kernel_size)


class Conv1d(_ConvNd):
    """Convolution over sequences: (N, C, L)."""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 padding_mode="zeros", device=None, dtype=None):
        super().__init__(
            in_channels, out_channels, _single(kernel_size), _single(stride),
            padding if isinstance(padding, str) else _single(padding), _single(dilation), False, _single(0), groups, bias,
            padding_mode, device, dtype,
        )

    def _conv_forward(self, input, weight, bias):
        input, padding = self._padded(input)
        return F.conv1d(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def forward(self, input):
        return self._conv_forward(input, self.weight, self.bias)


class Conv2d(_ConvNd):
    """Convolution over images: (N, C, H, W)."""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 padding_mode="zeros", device=None, dtype=None):
        super().__init__(
            in_channels, out_channels, _pair(kernel_size), _pair(stride),
            padding if isinstance(padding, str) else _pair(padding), _pair(dilation), False, _pair(0), groups, bias,
            padding_mode, device, dtype,
        )

    def _conv_forward(self, input, weight, bias):
        input, padding = self._padded(input)
        return F.conv2d(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def forward(self, input):
        return self._conv_forward(input, self.weight, self.bias)


class Conv3d(_ConvNd):
    """Convolution over volumes: (N, C, D, H, W)."""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True,
                 padding_mode="zeros", device=None, dtype=None):
        super().__init__(
            in_channels, out_channels, _triple(kernel_size), _triple(stride),
            padding if isinstance(padding, str) else _triple(padding), _triple(dilation), False, _triple(0), groups, bias,
            padding_mode, device, dtype,
        )

    def _conv_forward(self, input, weight, bias):
        input, padding = self._padded(input)
        return F.conv3d(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def forward(self, input):
        return self._conv_forward(input, self.weight, self.bias)


class _ConvTransposeNd(_ConvNd):
    def __init__(self, in_channels, out_channels, kernel_size, stride, padding, dilation, output_padding, groups, bias,
                 padding_mode, device, dtype):
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, True, output_padding, groups, bias,
            padding_mode, device, dtype,
        )

    def _output_padding(self, input, output_size):
        """What must be added behind the output for it to have `output_size`; None asks for the module's own setting."""
        if output_size is None:
            return self.output_padding
        dims = len(self.kernel_size)
        output_size = list(output_size)[-dims:]
        extents = input.size()[-dims:]
        smallest = [
            (extent - 1) * step - 2 * margin + dilation * (width - 1) + 1
            for extent, step, margin, dilation, width in zip(
                extents, self.stride, self.padding, self.dilation, self.kernel_size
            )
        ]
        largest = [least + step - 1 for least, step in zip(smallest, self.stride)]
        if not all(least <= wanted <= most for least, wanted, most in zip(smallest, output_size, largest)):
            raise ValueError(
                f"requested an output size of {output_size}, but valid sizes range from {smallest} to {largest} "
                f"(for an input of {extents})"
            )
        return [wanted - least for wanted, least in zip(output_size, smallest)]


class ConvTranspose1d(_ConvTransposeNd):
    """Transposed convolution over sequences: (N, C, L)."""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True,
                 dilation=1, padding_mode="zeros", device=None, dtype=None):
        super().__init__(
            in_channels, out_channels, _single(kernel_size), _single(stride), _single(padding), _single(dilation),
            _single(output_padding), groups, bias, padding_mode, device, dtype,
        )

    def forward(self, input, output_size=None):
        return F.conv_transpose1d(
            input, self.weight, self.bias, self.stride, self.padding, self._output_padding(input, output_size), self.groups,
            self.dilation,
        )


class ConvTranspose2d(_ConvTransposeNd):
    """Transposed convolution over images: (N, C, H, W)."""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True,
                 dilation=1, padding_mode="zeros", device=None, dtype=None):
        super().__init__(
            in_channels, out_channels, _pair(kernel_size), _pair(stride), _pair(padding), _pair(dilation),
            _pair(output_padding), groups, bias, padding_mode, device, dtype,
        )

    def forward(self, input, output_size=None):
        return F.conv_transpose2d(
            input, self.weight, self.bias, self.stride, self.padding, self._output_padding(input, output_size), self.groups,
            self.dilation,
        )


class ConvTranspose3d(_ConvTransposeNd):
    """Transposed convolution over volumes: (N, C, D, H, W)."""

    def __init__(self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0, groups=1, bias=True,
                 dilation=1, padding_mode="zeros", device=None, dtype=None):
        super().__init__(
            in_channels, out_channels, _triple(kernel_size), _triple(stride), _triple(padding), _triple(dilation),
            _triple(output_padding), groups, bias, padding_mode, device, dtype,
        )

    def forward(self, input, output_size=None):
        return F.conv_transpose3d(
            input, self.weight, self.bias, self.stride, self.padding, self._output_padding(input, output_size), self.groups,
            self.dilation,
        )
