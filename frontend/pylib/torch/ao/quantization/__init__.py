"""`torch.ao.quantization`: the modules that mark where a model would be quantized; nothing is quantized here."""

from torch.nn.modules.module import Module


class QuantStub(Module):
    """Where numbers would become small integers: hands on its input."""

    def __init__(self, qconfig=None):
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x):
        return x


class DeQuantStub(QuantStub):
    """Where small integers would become numbers again: hands on its input."""


class QConfig:
    """How a module would be quantized."""

    def __init__(self, activation, weight):
        self.activation, self.weight = activation, weight


def _refuse(*args, **kwargs):
    """An error: nothing is quantized here."""
    raise NotImplementedError("torch.ao.quantization is not available: models can't be quantized here")


convert = default_observer = default_per_channel_weight_observer = default_weight_observer = fuse_modules = fuse_modules_qat = _refuse
get_default_qat_qconfig = get_default_qconfig = prepare = prepare_qat = quantize = quantize_dynamic = _refuse
