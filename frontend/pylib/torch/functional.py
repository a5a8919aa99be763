"""Functions of `torch` that are written in Python over the ops."""

from torch import _C
from torch._C import Tensor


def einsum(*args):
    """The sum of products that an equation such as "ij,jk->ik" describes.

    Takes the equation and the operands, also as one list.
    """
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its subscripts list"
        )
    equation = args[0]
    if isinstance(equation, Tensor):
        return _einsum_of_lists(args)
    operands = args[1:]
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = operands[0]
    return _C.einsum(equation, list(operands))


def _einsum_of_lists(args):
    """`einsum(a, [0, 1], b, [1, 2], [0, 2])`: subscripts as numbers from 0 to 51, `...` for the ellipsis."""
    def letters(subscripts):
        return "".join("..." if s is Ellipsis else chr(ord("A") + s if s < 26 else ord("a") + s - 26) for s in subscripts)

    operands = list(args[0 : len(args) // 2 * 2 : 2])
    equation = ",".join(letters(subscripts) for subscripts in args[1::2])
    if len(args) % 2 == 1:
        equation += "->" + letters(args[-1])
    return _C.einsum(equation, operands)


def split(tensor, split_size_or_sections, dim=0):
    """Parts of a size, or of the sizes in a list, along `dim`."""
    return tensor.split(split_size_or_sections, dim)


def equal(input, other):
    """Whether two tensors have the same sizes and elements."""
    if input.shape != other.shape:
        return False
    return bool((input == other).all())


def allclose(input, other, rtol=1e-5, atol=1e-8, equal_nan=False):
    """Whether all elements are close: see `torch.isclose`."""
    return bool(_C.isclose(input, other, rtol=rtol, atol=atol, equal_nan=equal_nan).all())


def is_nonzero(input):
    """Whether a tensor of one element is not zero."""
    if input.numel() != 1:
        raise RuntimeError("Boolean value of Tensor with {} is ambiguous".format(
            "no values" if input.numel() == 0 else "more than one value"
        ))
    return bool(input)


def is_same_size(input, other):
    """Whether two tensors have the same sizes."""
    return input.shape == other.shape


def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The elements that differ, and on demand where each element is among them and how often it occurs."""
    if dim is not None:
        values, inverse, counts = _C.unique_dim(input, dim, sorted, return_inverse, return_counts)
        return _chosen(values, inverse, counts, return_inverse, return_counts)
    values, inverse, counts = _C._unique2(input, sorted, return_inverse, return_counts)
    return _chosen(values, inverse, counts, return_inverse, return_counts)


def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    """The elements that differ from the one before, and on demand where each is among them and how often it repeats."""
    if dim is not None:
        values, inverse, counts = _C.unique_dim_consecutive(input, dim, return_inverse, return_counts)
        return _chosen(values, inverse, counts, return_inverse, return_counts)
    values, inverse, counts = _C.unique_consecutive(input, return_inverse, return_counts)
    return _chosen(values, inverse, counts, return_inverse, return_counts)


def _chosen(values, inverse, counts, return_inverse, return_counts):
    if return_inverse and return_counts:
        return values, inverse, counts
    if return_inverse:
        return values, inverse
    return (values, counts) if return_counts else values


def tensordot(a, b, dims=2, out=None):
    """Products summed over the last `dims` dims of `a` and the first of `b`, or over the two lists in `dims`."""
    if isinstance(dims, Tensor):
        dims = dims.tolist()
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        of_a, of_b = list(range(-dims, 0)), list(range(dims))
    else:
        of_a, of_b = [[part] if isinstance(part, int) else list(part) for part in dims]
    result = _C.tensordot(a, b, of_a, of_b)
    return result if out is None else out.copy_(result)


def cartesian_prod(*tensors):
    """All combinations of one element of each vector, as rows."""
    if len(tensors) == 1:
        return tensors[0]
    return _C.stack([grid.reshape(-1) for grid in _C.meshgrid(list(tensors), indexing="ij")], -1)


def unravel_index(indices, shape):
    """The coordinates, one tensor for each dim of `shape`, of places counted row by row."""
    shape = [shape] if isinstance(shape, int) else list(shape)
    count = 1
    for size in shape:
        count *= size
    if indices.numel() > 0 and (bool((indices < 0).any()) or bool((indices >= count).any())):
        raise ValueError(f"indices are out of bounds for shape {tuple(shape)}")
    coordinates = []
    for size in reversed(shape):
        coordinates.append(indices % size)
        indices = indices.div(size, rounding_mode="floor")
    return tuple(reversed(coordinates))


def trapezoid(y, x=None, *, dx=1.0, dim=-1):
    """The integral of samples `y` along `dim` by the trapezoidal rule, at places `x` or `dx` apart."""
    size = y.size(dim)
    middle = y.narrow(dim, 1, size - 1) + y.narrow(dim, 0, size - 1)
    if x is None:
        return middle.sum(dim) * dx / 2.0
    steps = x.diff() if x.dim() == 1 else x.diff(dim=dim)
    if x.dim() == 1:
        steps = steps.reshape([-1 if d == dim % y.dim() else 1 for d in range(y.dim())])
    return (middle * steps).sum(dim) / 2.0


trapz = trapezoid


def gradient(input, *, spacing=1, dim=None, edge_order=1):
    """The slopes of samples along each dim of `dim`: by differences around each sample, and one-sided ones at the ends."""
    dims = list(range(input.dim())) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    if isinstance(spacing, (int, float)):
        spacing = [spacing] * len(dims)
    elif len(spacing) != len(dims):
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to 'input.dim() if dim is None, "
            f"otherwise len(dim)', but got a list of length {len(spacing)}"
        )
    for along in dims:
        if input.size(along) < edge_order + 1:
            raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    return tuple([_slopes(input, places, along, edge_order) for places, along in zip(spacing, dims)])


def _slopes(values, places, dim, edge_order):
    size = values.size(dim)

    def part(start, length):
        return values.narrow(dim, start, length)

    if isinstance(places, Tensor):
        steps = places.diff().reshape([-1 if d == dim % values.dim() else 1 for d in range(values.dim())])
        before, after = steps.narrow(dim, 0, size - 2), steps.narrow(dim, 1, size - 2)
        inner = (
            -after / (before * (before + after)) * part(0, size - 2) + (after - before) / (before * after) * part(1, size - 2)
            + before / (after * (before + after)) * part(2, size - 2)
        )
        first, second = steps.narrow(dim, 0, 1), steps.narrow(dim, min(1, size - 2), 1)
        last, previous = steps.narrow(dim, size - 2, 1), steps.narrow(dim, max(size - 3, 0), 1)
    else:
        inner = (part(2, size - 2) - part(0, size - 2)) / (2.0 * places)
        first = second = last = previous = places
    if edge_order == 1:
        start = (part(1, 1) - part(0, 1)) / first
        end = (part(size - 1, 1) - part(size - 2, 1)) / last
    else:
        start = _one_sided(part(0, 1), part(1, 1), part(2, 1), first, second)
        end = -_one_sided(part(size - 1, 1), part(size - 2, 1), part(size - 3, 1), last, previous)
    return _C.cat([start, inner, end], dim)


def _one_sided(at, near, far, step, next_step):
    """The slope at the first of three samples, from a parabola through them."""
    reach = step + next_step
    return -(step + reach) / (step * reach) * at + reach / (step * next_step) * near - step / (next_step * reach) * far


def hann_window(window_length, periodic=True, *, dtype=None, device=None, requires_grad=False, **settings):
    """sin² from 0 to π, over `window_length` points; a periodic one leaves out the last of one point more."""
    if window_length == 1:
        return _C.ones(1, dtype=dtype, device=device, requires_grad=requires_grad)
    count = window_length + 1 if periodic else window_length
    points = _C.arange(count, dtype=dtype or _C.get_default_dtype(), device=device)
    window = points.mul(2.0 * 3.141592653589793 / (count - 1)).cos().mul(-0.5).add(0.5)[:window_length]
    return window.requires_grad_(requires_grad)


def broadcast_shapes(*shapes):
    """The sizes that tensors of these sizes have together."""
    shapes = [(shape,) if isinstance(shape, int) else tuple(shape) for shape in shapes]
    result = [1] * max([len(shape) for shape in shapes], default=0)
    for index, shape in enumerate(shapes):
        for at in range(-1, -1 - len(shape), -1):
            size = shape[at]
            if size < 0:
                raise ValueError("Attempting to broadcast a dimension with negative length!")
            if size != 1 and size != result[at]:
                if result[at] != 1:
                    raise RuntimeError(
                        f"Attempting to broadcast a dimension of length {size} at {at}! Mismatching argument at index {index} "
                        f"had {shape}; but expected shape should be broadcastable to {result}"
                    )
                result[at] = size
    return _C.Size(result)


def _where(self, condition, other):
    """`torch.where(condition, self, other)`."""
    return _C.where(condition, self, other)


def _stft(self, *args, **options):
    """`torch.stft` of this signal."""
    from torch._spectral import stft

    return stft(self, *args, **options)


def _istft(self, *args, **options):
    """`torch.istft` of these spectra."""
    from torch._spectral import istft

    return istft(self, *args, **options)


def _apply_(self, function):
    """Replaces each element by what a function of Python makes of it."""
    if self.requires_grad:
        raise RuntimeError("Can't call apply_() on Variable that requires grad. Use var.detach().apply_() instead.")
    return _filled(self, [function(value) for value in self.reshape(-1).tolist()])


def _map_(self, other, function):
    """Replaces each element by what a function of Python makes of it and of the element of another tensor."""
    if self.requires_grad or other.requires_grad:
        raise RuntimeError("Can't call map_() on Variable that requires grad. Use var.detach().map_() instead.")
    if other.dtype != self.dtype:
        raise TypeError(f"map_: expected {self.type()} for 'other' (got {other.type()})")
    pairs = zip(self.reshape(-1).tolist(), other.expand(self.shape).reshape(-1).tolist())
    return _filled(self, [function(own, value) for own, value in pairs])


def _filled(tensor, values):
    for value in values:
        if not isinstance(value, (int, float, complex)):
            raise TypeError(f"must be real number, not {type(value).__name__}")
    return tensor.copy_(_C.tensor(values, dtype=tensor.dtype).view(tensor.shape))


def _as_strided_(self, size, stride, storage_offset=None):
    """Makes this tensor another view of its memory."""
    return self.set_(self, self.storage_offset() if storage_offset is None else storage_offset, size, stride)


def _to_dense(self, dtype=None, *, masked_grad=None):
    """A tensor that isn't sparse: all are."""
    return self if dtype is None else self.to(dtype)


def _isreal(self):
    """`torch.isreal(self)`."""
    return _C.isreal(self)


def _new_empty_strided(self, size, stride, dtype=None, **settings):
    """An uninitialized tensor of this one's dtype with these strides."""
    return _C.empty_strided(size, stride, dtype=dtype or self.dtype, **settings)


Tensor.apply_ = _apply_
Tensor.map_ = _map_
Tensor.as_strided_ = _as_strided_
Tensor.to_dense = _to_dense
Tensor.new_empty_strided = _new_empty_strided
Tensor.isreal = _isreal
Tensor.where = _where
Tensor.stft = _stft
Tensor.istft = _istft

# The functions that PyTorch has as methods too.
for _function in (is_nonzero, is_same_size, unique, unique_consecutive):
    setattr(Tensor, _function.__name__, _function)
