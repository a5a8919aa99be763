"""`torch.backends`: switches of libraries that are not here.  They can be set; nothing reads them."""


class _Backend:
    """The switches of one library."""

    def __init__(self, name, **switches):
        self.__name__ = "torch.backends." + name
        self.__dict__.update(switches)

    def is_available(self):
        """False."""
        return False

    def is_built(self):
        """False."""
        return False


class _Flags:
    """A context manager that changes nothing."""

    def __enter__(self):
        return None

    def __exit__(self, exc_type, exc_value, traceback):
        return None


def _flags(*args, **kwargs):
    return _Flags()


cudnn = _Backend("cudnn", enabled=False, benchmark=False, deterministic=False, allow_tf32=True, flags=_flags, version=lambda: None)
mps = _Backend("mps")
mkl = _Backend("mkl")
mkldnn = _Backend("mkldnn", enabled=False, flags=_flags)
openmp = _Backend("openmp")
opt_einsum = _Backend("opt_einsum", enabled=False, strategy=None)
cpu = _Backend("cpu", get_cpu_capability=lambda: "DEFAULT")
cuda = _Backend(
    "cuda",
    matmul=_Backend("cuda.matmul", allow_tf32=False, allow_fp16_reduced_precision_reduction=True,
                    allow_bf16_reduced_precision_reduction=True),
    sdp_kernel=_flags,
    enable_flash_sdp=lambda enabled: None,
    enable_math_sdp=lambda enabled: None,
    enable_mem_efficient_sdp=lambda enabled: None,
    flash_sdp_enabled=lambda: False,
    math_sdp_enabled=lambda: True,
    mem_efficient_sdp_enabled=lambda: False,
)
