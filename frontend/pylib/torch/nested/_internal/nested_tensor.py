"""`NestedTensor`: pieces that differ in the size of one dim, packed along it into one tensor of values.

The packed tensor has all dims but the batch: piece `i` is `values.narrow(ragged - 1, offsets[i], length)`.  A nested tensor is
no native tensor, so an op that isn't written for it (`torch.nested._internal.ops`) can only fail, never take the values for
a dense tensor.
"""

import torch
from torch import _C
from torch._C import Tensor
from torch.nested._internal.nested_int import ragged_size


class NestedTensor(Tensor):
    """The class that nested tensors say they are of: `isinstance(x, torch.Tensor)` is true of them."""

    def __new__(cls, values, offsets, lengths=None, _ragged_idx=1, _metadata_cache=None):
        return Jagged(values, offsets, lengths, _ragged_idx, _metadata_cache)


class Jagged:
    """A nested tensor.

    `values` is the packed tensor, `offsets` where pieces start and the last one ends; with `lengths` there may be holes behind
    the pieces.  `ragged` is the dim, counted with the batch, whose size differs.
    """

    layout = torch.jagged
    is_nested = True
    is_cuda = is_sparse = is_quantized = is_meta = is_mkldnn = is_xpu = is_mps = False

    def __init__(self, values, offsets, lengths=None, ragged=1, limits=None):
        self._values = values
        self._offsets = offsets
        self._lengths = lengths
        self._ragged_idx = ragged
        self._ragged_size = ragged_size(offsets if lengths is None else lengths)
        self._limits = limits or {}

    @property
    def __class__(self):
        return NestedTensor

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        from torch.nested._internal.ops import call

        return call(func, args, kwargs or {})

    def __getattr__(self, name):
        from torch.nested._internal.ops import method

        return method(self, name)

    def _with(self, values, ragged=None):
        """Other values of the same pieces, perhaps with the ragged dim elsewhere."""
        return Jagged(values, self._offsets, self._lengths, self._ragged_idx if ragged is None else ragged, self._limits)

    # What it is

    @property
    def shape(self):
        sizes = list(self._values.shape)
        sizes[self._ragged_idx - 1] = self._ragged_size
        return torch.Size([self._offsets.size(0) - 1, *sizes])

    def size(self, dim=None):
        """The sizes, or that of one dim; that of the ragged dim is a `torch.SymInt`."""
        return self.shape if dim is None else self.shape[self._dim(dim)]

    @property
    def _size(self):
        return tuple(self.shape)

    @property
    def ndim(self):
        return self._values.dim() + 1

    def dim(self):
        """The number of dims, the batch among them."""
        return self.ndim

    ndimension = dim

    def stride(self):
        """The strides of the packed tensor, and for the batch a multiple of the ragged size."""
        strides = self._values.stride()
        if strides[self._ragged_idx - 1] != max(strides):
            raise NotImplementedError("stride(): not supported for NestedTensor whose pieces are not packed along the outermost dim")
        return (strides[self._ragged_idx - 1] * self._ragged_size, *strides)

    def numel(self):
        """The number of elements of the packed tensor."""
        return self._values.numel()

    nelement = numel

    def __len__(self):
        return self._offsets.size(0) - 1

    dtype = property(lambda self: self._values.dtype)
    device = property(lambda self: self._values.device)
    itemsize = property(lambda self: self._values.itemsize)
    nbytes = property(lambda self: self._values.nbytes)
    is_cpu = property(lambda self: self._values.is_cpu)
    requires_grad = property(lambda self: self._values.requires_grad, lambda self, flag: self._values.requires_grad_(flag))
    is_leaf = property(lambda self: self._values.is_leaf)
    grad_fn = property(lambda self: self._values.grad_fn)

    def is_floating_point(self):
        return self._values.is_floating_point()

    def element_size(self):
        return self._values.element_size()

    def is_contiguous(self, memory_format=torch.contiguous_format):
        """Whether the packed tensor is, and has no holes."""
        return self._lengths is None and self._values.is_contiguous(memory_format=memory_format)

    def values(self):
        """The packed tensor, as a view."""
        return self._values.view_as(self._values)

    def offsets(self):
        """Where the pieces start along the packed dim, and where the last one ends."""
        return self._offsets

    def lengths(self):
        """The lengths of the pieces if there are holes behind them, else None."""
        return self._lengths

    def _piece_lengths(self):
        return (self._offsets.diff() if self._lengths is None else self._lengths).tolist()

    def _get_max_seqlen(self):
        if "max_seqlen" not in self._limits:
            self._limits["max_seqlen"] = max(self._piece_lengths())
        return self._limits["max_seqlen"]

    def _get_min_seqlen(self):
        if "min_seqlen" not in self._limits:
            self._limits["min_seqlen"] = min(self._piece_lengths())
        return self._limits["min_seqlen"]

    _max_seqlen = property(_get_max_seqlen)
    _min_seqlen = property(_get_min_seqlen)

    def _dim(self, dim):
        """A dim counted from the front."""
        rank = self.ndim
        if not -rank <= dim < rank:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")
        return dim % rank

    def __repr__(self):
        grad = f", grad_fn={self.grad_fn}" if self.grad_fn is not None else ", requires_grad=True" if self.requires_grad else ""
        return f"NestedTensor(size={self._size}, offsets={self._offsets}{grad}, contiguous={self.is_contiguous()})"

    # Pieces

    def unbind(self, dim=0):
        """The pieces."""
        if self._dim(dim) != 0:
            raise RuntimeError("unbind(): only supported for NestedTensor on dim=0")
        packed = self._ragged_idx - 1
        if self._lengths is None:
            return self._values.split(self._offsets.diff().tolist(), packed)
        starts = self._offsets.tolist()
        return tuple([self._values.narrow(packed, start, length) for start, length in zip(starts, self._lengths.tolist())])

    def __iter__(self):
        return iter(self.unbind())

    def __getitem__(self, index):
        rest = ()
        if isinstance(index, tuple) and index:
            index, rest = index[0], index[1:]
        if isinstance(index, int):
            piece = self.unbind()[index]
            return piece[rest] if rest else piece
        if index is Ellipsis and len(rest) == 1 and isinstance(rest[0], int):
            return self.select(-1, rest[0])
        raise NotImplementedError("index(): only supported for NestedTensor with the number of a piece")

    def __setitem__(self, index, value):
        self[index].copy_(value)

    def to_padded_tensor(self, padding, output_size=None):
        """A dense tensor of the pieces, filled up with `padding` to the longest, or to `output_size`."""
        if self._lengths is not None:
            raise RuntimeError("to_padded_tensor(): not supported for nested tensors with holes")
        longest = self._get_max_seqlen() if output_size is None else output_size[self._ragged_idx]
        behind = [0, 0] * (self._values.dim() - self._ragged_idx)
        pieces = []
        for piece in self.unbind():
            length = piece.size(self._ragged_idx - 1)
            piece = piece.narrow(self._ragged_idx - 1, 0, min(length, longest))
            pieces.append(torch.nn.functional.pad(piece, [*behind, 0, max(longest - length, 0)], value=float(padding)))
        return torch.stack(pieces)

    # Gradients

    @property
    def grad(self):
        grad = self._values.grad
        return None if grad is None else self._with(grad)

    @grad.setter
    def grad(self, grad):
        self._values.grad = None if grad is None else grad._values

    @property
    def data(self):
        return self._with(self._values.data)

    def requires_grad_(self, requires_grad=True):
        self._values.requires_grad_(requires_grad)
        return self

    def retain_grad(self):
        self._values.retain_grad()

    def register_hook(self, hook):
        """Calls `hook` with the gradient, a nested tensor; it may give another."""
        def on_values(grad):
            changed = hook(self._with(grad))
            return None if changed is None else changed._values

        return self._values.register_hook(on_values)

    def backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
        if isinstance(gradient, NestedTensor):
            gradient = gradient._values
        if inputs is not None:
            inputs = [each._values if isinstance(each, NestedTensor) else each for each in inputs]
        self._values.backward(gradient, retain_graph, create_graph, inputs)

    # Copies

    def __copy__(self):
        return self._with(self._values)

    def __deepcopy__(self, memo):
        import copy

        copied = Jagged(copy.deepcopy(self._values, memo), self._offsets, self._lengths, self._ragged_idx, dict(self._limits))
        memo[id(self)] = copied
        return copied

    def __reduce_ex__(self, protocol):
        return NestedTensor, (self._values, self._offsets, self._lengths, self._ragged_idx, self._limits)

    __hash__ = object.__hash__

    def __bool__(self):
        return bool(self._values)

    def __reversed__(self):
        raise NotImplementedError("flip(): not supported for NestedTensor")

    def __contains__(self, item):
        return bool((self == item).any())


Jagged.__name__ = Jagged.__qualname__ = "NestedTensor"


def _operator(name, function):
    """Puts an operator into the class: what `function` gives is what the op of that name gives."""
    setattr(Jagged, name, function)


def _install_operators():
    swapped = {"add": _C.add, "mul": _C.mul, "sub": _C.rsub, "and": _C.bitwise_and, "or": _C.bitwise_or, "xor": _C.bitwise_xor}
    plain = {
        "add": _C.add, "sub": _C.sub, "mul": _C.mul, "truediv": _C.div, "floordiv": _C.floor_divide, "mod": _C.remainder,
        "pow": _C.pow, "matmul": _C.matmul, "and": _C.bitwise_and, "or": _C.bitwise_or, "xor": _C.bitwise_xor, "lt": _C.lt,
        "le": _C.le, "gt": _C.gt, "ge": _C.ge, "eq": _C.eq, "ne": _C.ne,
    }
    for name, op in plain.items():
        _operator(f"__{name}__", lambda self, other, op=op: op(self, other))
    for name, op in swapped.items():
        _operator(f"__r{name}__", lambda self, other, op=op: op(self, other))
    for name in ("truediv", "floordiv", "mod", "pow", "matmul"):
        _operator(f"__r{name}__", lambda self, other, op=plain[name]: op(other, self))
    for name, op in (("neg", _C.neg), ("abs", _C.abs), ("invert", _C.bitwise_not)):
        _operator(f"__{name}__", lambda self, op=op: op(self))
    for name in ("add", "sub", "mul"):
        _operator(f"__i{name}__", lambda self, other, op=name + "_": getattr(self, op)(other))
    _operator("__itruediv__", lambda self, other: self.div_(other))


_install_operators()
