"""`torch.nn.attention`: choosing how attention is computed.  There is one way here, so the choice changes nothing."""


class SDPBackend:
    """The ways PyTorch knows."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


class sdpa_kernel:
    """Restricts the ways for a block."""

    def __init__(self, backends, set_priority=False):
        self.backends = backends

    def __enter__(self):
        return None

    def __exit__(self, exc_type, exc_value, traceback):
        return None
