"""Functions of `torch` that are methods or other functions under an older or a second name."""

from torch import _C


def detach_(input):
    """`input.detach_()`."""
    return input.detach_()


def is_inference(input):
    """Whether a tensor was made in inference mode."""
    return input.is_inference()


def is_signed(input):
    """Whether the elements of a tensor can be negative."""
    return input.is_signed()


def resize_as_(input, the_template):
    """`input.resize_as_(the_template)`."""
    return input.resize_as_(the_template)


def unsafe_chunk(input, chunks, dim=0):
    """`torch.chunk`."""
    return input.chunk(chunks, dim)


def unsafe_split(input, split_size, dim=0):
    """`torch.split`."""
    return input.split(split_size, dim)


def unsafe_split_with_sizes(input, split_sizes, dim=0):
    """`torch.split` with a list of sizes."""
    return input.split(split_sizes, dim)


def range(start=0, end=None, step=1, *, dtype=None, device=None, requires_grad=False):
    """Numbers from `start` to `end`, the end among them; of the default float type."""
    if end is None:
        start, end = 0, start
    if step == 0 or (end - start) / step < 0:
        raise RuntimeError(
            "step must be nonzero" if step == 0 else "upper bound and lower bound inconsistent with step sign"
        )
    count = int((end - start) / step) + 1
    dtype = dtype or _C.get_default_dtype()
    numbers = _C.arange(count, dtype=dtype, device=device).mul(step).add(start)
    return numbers.requires_grad_(requires_grad)


def norm_except_dim(v, pow=2, dim=0):
    """The norms of the slices along a dim."""
    from torch.nn.utils.weight_norm import norm_except_dim

    if pow != 2:
        raise NotImplementedError("norm_except_dim() of another norm than 2")
    return norm_except_dim(v, dim)
