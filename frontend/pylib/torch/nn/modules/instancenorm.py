"""Instance normalization."""

from torch.nn import functional as F
from torch.nn.modules.batchnorm import _NormBase


class _InstanceNorm(_NormBase):
    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=False, track_running_stats=False, device=None, dtype=None,
                 *, bias=True):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _batched_dims(self):
        raise NotImplementedError

    def forward(self, input):
        batched = self._batched_dims()
        if input.dim() not in (batched, batched - 1):
            raise ValueError(f"expected {batched - 1}D or {batched}D input (got {input.dim()}D input)")
        channel_dim = input.dim() - batched + 1
        channels = input.shape[channel_dim]
        if channels != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={channel_dim} to match num_features ({self.num_features}), "
                    f"but got: {channels}."
                )
            import warnings

            warnings.warn(
                f"input's size at dim={channel_dim} does not match num_features. You can silence this warning by "
                "not passing in num_features, which is not used because affine=False",
                stacklevel=2,
            )
        if input.dim() == batched - 1:
            return self._norm(input.unsqueeze(0)).squeeze(0)
        return self._norm(input)

    def _norm(self, input):
        return F.instance_norm(
            input, self.running_mean, self.running_var, self.weight, self.bias,
            self.training or not self.track_running_stats, self.momentum if self.momentum is not None else 0.0, self.eps,
        )


class InstanceNorm1d(_InstanceNorm):
    """Normalizes each channel of each sequence."""

    def _batched_dims(self):
        return 3


class InstanceNorm2d(_InstanceNorm):
    """Normalizes each channel of each image."""

    def _batched_dims(self):
        return 4


class InstanceNorm3d(_InstanceNorm):
    """Normalizes each channel of each volume."""

    def _batched_dims(self):
        return 5
