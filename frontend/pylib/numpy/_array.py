"""`ndarray`: an array over a tensor, whose memory it shares."""

import builtins

import torch
from numpy._dtypes import (
    BOOL, FLOAT64, INT64, _bounds, _dtype, generic, of_torch, promote, promote_with_number,
)


class ndarray:
    """An n-dimensional array.  `x.numpy()` and `torch.from_numpy` share its memory."""

    __slots__ = ("_t", "dtype", "_writeable", "__weakref__")
    __array_priority__ = 0.0

    def __new__(cls, shape, dtype=float):
        described = _dtype(dtype)
        return over(torch.empty(_sizes(shape), dtype=described._torch), described)

    @property
    def _taipan_tensor(self):
        if self.dtype._modulus:
            raise TypeError(f"can't convert np.ndarray of type numpy.{self.dtype.name}: this torch has no such dtype")
        return self._t

    # What it is.

    @property
    def shape(self):
        return tuple(self._t.shape)

    @shape.setter
    def shape(self, sizes):
        self._t = self._t.view(_sizes(sizes))

    @property
    def ndim(self):
        return self._t.dim()

    @property
    def size(self):
        return self._t.numel()

    @property
    def itemsize(self):
        return self.dtype.itemsize

    @property
    def nbytes(self):
        return self.size * self.dtype.itemsize

    @property
    def strides(self):
        return tuple(step * self.dtype.itemsize for step in self._t.stride())

    @property
    def T(self):
        return over(self._t.permute(*reversed(range(self.ndim))), self.dtype, self._writeable) if self.ndim > 1 else self

    @property
    def flat(self):
        return iter(self.ravel())

    @property
    def flags(self):
        return _Flags(self)

    @property
    def real(self):
        return self

    def __len__(self):
        if self.ndim == 0:
            raise TypeError("len() of unsized object")
        return self._t.shape[0]

    def __iter__(self):
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[index] for index in range(len(self)))

    def __contains__(self, value):
        return builtins.bool((self == value).any())

    def __bool__(self):
        if self.size == 1:
            return builtins.bool(self._t.item())
        if self.size == 0:
            raise ValueError("The truth value of an empty array is ambiguous. Use `array.size > 0` to check that an array is not empty.")
        raise ValueError("The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()")

    def _only(self):
        if self.size != 1:
            raise TypeError("only length-1 arrays can be converted to Python scalars")
        return self._t.item()

    def __float__(self):
        return builtins.float(self._only())

    def __int__(self):
        return builtins.int(self._only())

    def __index__(self):
        if self.ndim or self.dtype.kind not in "iu":
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return builtins.int(self._t.item())

    def __repr__(self):
        from numpy._text import array_repr

        return array_repr(self)

    def __str__(self):
        from numpy._text import array_str

        return array_str(self)

    def __format__(self, spec):
        return format(self._t.item(), spec) if self.ndim == 0 else format(builtins.str(self), spec)

    def __reduce__(self):
        return array, (self.tolist(), self.dtype)

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return self.copy()

    def __array__(self, dtype=None, copy=None):
        return self if dtype is None else self.astype(dtype)

    __hash__ = None

    # Elements.

    def __getitem__(self, index):
        index, steps_back = _index(index, self.ndim)
        tensor = self._t
        if steps_back:
            # A view that runs backwards doesn't exist here; what stands for it can't be written.
            index, tensor = _turned(tensor, index)
        try:
            found = tensor[index]
        except IndexError as error:
            raise IndexError(str(error).replace("for dimension", "for axis")) from None
        if found.dim() == 0 and Ellipsis not in _items(index):
            return self.dtype.type(found)
        return over(found, self.dtype, self._writeable and not steps_back)

    def __setitem__(self, index, value):
        if not self._writeable:
            raise ValueError("assignment destination is read-only")
        index, steps_back = _index(index, self.ndim)
        value = asarray(value).astype(self.dtype)._t
        if not steps_back:
            self._t[index] = value
            return
        if len(_items(index)) != 1:
            raise NotImplementedError("Taipan's numpy writes backwards slices in the first dim only")
        start, stop, step = _items(index)[0].indices(self._t.shape[0])
        self._t[torch.arange(start, stop, step)] = value

    def item(self, *index):
        """One element as a plain Python number."""
        if index:
            return self[index[0] if len(index) == 1 and not isinstance(index[0], tuple) and self.ndim == 1 else index].item()
        if self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return self._t.item()

    def tolist(self):
        """The elements as nested lists."""
        return self._t.tolist()

    def fill(self, value):
        """Sets every element."""
        self[...] = value

    def tobytes(self, order="C"):
        """The elements' bytes in row-major order."""
        from numpy._files import bytes_of

        return bytes_of(self)

    def tofile(self, file):
        """Writes the elements' bytes."""
        data = self.tobytes()
        if hasattr(file, "write"):
            file.write(data)
        else:
            with open(file, "wb") as opened:
                opened.write(data)

    # Copies and layouts.

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        """The array in another type."""
        described = _dtype(dtype)
        if described is self.dtype:
            return self.copy() if copy else self
        tensor = self._t
        if described._modulus:
            tensor = (tensor.to(torch.int64) % described._modulus).to(described._torch)
        return over(tensor.to(described._torch), described)

    def copy(self, order="C"):
        """A copy."""
        return over(self._t.clone(memory_format=torch.contiguous_format), self.dtype)

    def view(self, dtype=None):
        """The same memory, seen as another type."""
        if dtype is None or _dtype(dtype) is self.dtype:
            return over(self._t, self.dtype, self._writeable)
        described = _dtype(dtype)
        if described._modulus or self.dtype._modulus:
            raise NotImplementedError("Taipan's numpy can't view memory as unsigned integers wider than a byte")
        return over(self._t.view(described._torch), described, self._writeable)

    def reshape(self, *shape, order="C"):
        """Other sizes for the same elements."""
        shape = _sizes(shape[0] if len(shape) == 1 else shape)
        try:
            return over(self._t.reshape(shape), self.dtype, self._writeable)
        except RuntimeError:
            raise ValueError(f"cannot reshape array of size {self.size} into shape {_shown(shape)}") from None

    def ravel(self, order="C"):
        """One dim, a view where it can be."""
        return over(self._t.reshape(-1), self.dtype, self._writeable)

    def flatten(self, order="C"):
        """One dim, copied."""
        return over(self._t.flatten().clone(), self.dtype)

    def transpose(self, *axes):
        """The dims in another order."""
        axes = axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes
        if not axes or axes == (None,):
            return self.T
        return over(self._t.permute(*axes), self.dtype, self._writeable)

    def swapaxes(self, first, second):
        """Two dims exchanged."""
        return over(self._t.transpose(first, second), self.dtype, self._writeable)

    def squeeze(self, axis=None):
        """Without dims of one element."""
        axes = range(self.ndim) if axis is None else (axis if isinstance(axis, tuple) else (axis,))
        tensor = self._t
        for dim in sorted((dim % self.ndim for dim in axes), reverse=True):
            if tensor.shape[dim] != 1:
                if axis is not None:
                    raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
                continue
            tensor = tensor.squeeze(dim)
        return over(tensor, self.dtype, self._writeable)

    def repeat(self, repeats, axis=None):
        """Each element several times."""
        from numpy._shapes import repeat

        return repeat(self, repeats, axis)

    def take(self, indices, axis=None):
        """The elements at these places."""
        from numpy._shapes import take

        return take(self, indices, axis)

    def sort(self, axis=-1, kind=None):
        """Sorts in place."""
        self[...] = over(self._t.sort(dim=axis, stable=True)[0], self.dtype)

    # Arithmetic.

    def __iadd__(self, other):
        return _in_place("add", self, self + other)

    def __isub__(self, other):
        return _in_place("subtract", self, self - other)

    def __imul__(self, other):
        return _in_place("multiply", self, self * other)

    def __itruediv__(self, other):
        return _in_place("divide", self, self / other)

    def __ifloordiv__(self, other):
        return _in_place("floor_divide", self, self // other)

    def __imod__(self, other):
        return _in_place("remainder", self, self % other)

    def __ipow__(self, other):
        return _in_place("power", self, self**other)

    def __iand__(self, other):
        return _in_place("bitwise_and", self, self & other)

    def __ior__(self, other):
        return _in_place("bitwise_or", self, self | other)

    def __ixor__(self, other):
        return _in_place("bitwise_xor", self, self ^ other)

    def __pos__(self):
        return self.copy()


class _Flags:
    def __init__(self, array):
        self._array = array

    @property
    def writeable(self):
        return self._array._writeable

    @writeable.setter
    def writeable(self, flag):
        self._array._writeable = builtins.bool(flag)

    @property
    def c_contiguous(self):
        return self._array._t.is_contiguous()

    def __getitem__(self, name):
        return {"WRITEABLE": self.writeable, "C_CONTIGUOUS": self.c_contiguous}[name]


class UFuncTypeError(TypeError):
    """An operation's result has no place in the type it should be written into."""


def over(tensor, dtype, writeable=True):
    """An array over a tensor's memory."""
    array = object.__new__(ndarray)
    array._t, array.dtype, array._writeable = tensor, dtype, writeable
    return array


def answer(tensor, dtype):
    """What an operation gives: an array, or a scalar where there are no dims."""
    return dtype.type(tensor) if tensor.dim() == 0 else over(tensor, dtype)


def _in_place(name, target, result):
    if not target._writeable:
        raise ValueError("output array is read-only")
    if "biuf".index(result.dtype.kind) > "biuf".index(target.dtype.kind) and not (result.dtype.kind in "iu" and target.dtype.kind in "iu"):
        raise UFuncTypeError(
            f"Cannot cast ufunc '{name}' output from dtype('{result.dtype.name}') to dtype('{target.dtype.name}') with casting rule 'same_kind'"
        )
    if tuple(result.shape) != target.shape:
        raise ValueError(
            f"non-broadcastable output operand with shape {_shown(target.shape)} doesn't match the broadcast shape {_shown(result.shape)}"
        )
    target[...] = result
    return target


def _sizes(shape):
    if isinstance(shape, (tuple, list, ndarray)):
        return tuple(builtins.int(size) for size in shape)
    return (builtins.int(shape),)


def _shown(shape):
    sizes = ",".join(builtins.str(size) for size in shape)
    return f"({sizes},)" if len(shape) == 1 else f"({sizes})"


def _items(index):
    return index if isinstance(index, tuple) else (index,)


def _index(index, ndim):
    """An index as torch takes it, and whether a slice of it runs backwards."""
    backwards = False
    items = []
    for item in _items(index):
        if isinstance(item, ndarray):
            item = item._t.to(torch.int64) if item.dtype.kind in "iu" else item._t
            if item.dtype.is_floating_point:
                raise IndexError("arrays used as indices must be of integer (or boolean) type")
        elif isinstance(item, list):
            item = array(item)
            item = item._t if item.size else item._t.to(torch.int64)
        elif isinstance(item, slice):
            backwards = backwards or (item.step is not None and item.step < 0)
        elif isinstance(item, generic) and item.dtype.kind in "iu":
            item = builtins.int(item)
        elif isinstance(item, (builtins.float, str, bytes, dict)):
            raise IndexError(
                "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid indices"
            )
        items.append(item)
    counted = sum(1 for item in items if item is not None and item is not Ellipsis and not isinstance(item, torch.Tensor))
    if counted > ndim:
        raise IndexError(f"too many indices for array: array is {ndim}-dimensional, but {counted} were indexed")
    return (tuple(items) if isinstance(index, tuple) else items[0]), backwards


def _turned(tensor, index):
    """An index without backwards slices, and the tensor with those dims turned around."""
    items = list(_items(index))
    if any(isinstance(item, torch.Tensor) for item in items):
        raise NotImplementedError("Taipan's numpy has no backwards slices beside index arrays")
    given = sum(1 for item in items if item is not None and item is not Ellipsis)
    dim = 0
    for place, item in enumerate(items):
        if item is None:
            continue
        if item is Ellipsis:
            dim += tensor.dim() - given
            continue
        if isinstance(item, slice) and item.step is not None and item.step < 0:
            start, stop, step = item.indices(tensor.shape[dim])
            length = max(0, (start - stop - step - 1) // -step)
            last = tensor.shape[dim] - 1
            tensor = tensor.flip(dim)
            items[place] = slice(last - start, last - start + (length - 1) * -step + 1, -step) if length else slice(0, 0)
        dim += 1
    return (tuple(items) if isinstance(index, tuple) else items[0]), tensor


# Making arrays of other things.


def array(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0):
    """An array of nested sequences, a tensor or another array."""
    described = None if dtype is None else _dtype(dtype)
    if isinstance(object, ndarray):
        result = object if described is None or described is object.dtype else object.astype(described)
        result = result.copy() if copy and result is object else result
    elif isinstance(object, torch.Tensor):
        made = over(object.detach(), of_torch(object.dtype))
        result = made.copy() if copy else made
        result = result if described is None else result.astype(described, copy=False)
    elif isinstance(object, generic):
        described = described or object.dtype
        result = over(torch.tensor(object.item(), dtype=object.dtype._torch), object.dtype).astype(described, copy=False)
    else:
        result = _of_sequence(object, described)
    while result.ndim < ndmin:
        result = over(result._t.unsqueeze(0), result.dtype)
    return result


def asarray(a, dtype=None, order=None, *, copy=None):
    """As `array`, without a copy where none is needed."""
    return array(a, dtype, copy=builtins.bool(copy))


def _of_sequence(data, described):
    if isinstance(data, (str, bytes)):
        raise TypeError("Taipan's numpy has no arrays of text")
    if isinstance(data, range):
        data = list(data)
    if not isinstance(data, (list, tuple, builtins.bool, builtins.int, builtins.float)):
        if hasattr(data, "__array__"):
            return asarray(data.__array__(), described)
        if not hasattr(data, "__len__") or not hasattr(data, "__getitem__"):
            raise TypeError(f"Taipan's numpy has no arrays of objects such as {type(data).__name__}")
        data = list(data)
    shape = _shape_of(data)
    flat = []
    _collect(data, shape, 0, flat)
    if described is None:
        described = _common(flat)
    if described.kind == "f":
        values = [builtins.float(value) for value in flat]
        tensor = torch.tensor(values, dtype=torch.float64).to(described._torch)
    elif described.kind == "b":
        tensor = torch.tensor([builtins.bool(value) for value in flat], dtype=torch.bool)
    else:
        values = [builtins.int(value) for value in flat]
        low, high = _bounds(described)
        for value in values:
            if not low <= value <= high:
                raise OverflowError(f"Python integer {value} out of bounds for {described.name}")
        tensor = torch.tensor(values, dtype=torch.int64).to(described._torch)
    return over(tensor.reshape(shape), described)


def _sequence(item):
    return isinstance(item, (list, tuple, range)) or (isinstance(item, (ndarray, torch.Tensor)) and item.ndim > 0)


def _shape_of(data):
    shape = []
    while _sequence(data):
        shape.append(len(data))
        if not len(data):
            break
        data = data[0]
    return tuple(shape)


def _collect(item, shape, dim, flat):
    if dim == len(shape):
        if _sequence(item):
            raise ValueError(
                "setting an array element with a sequence. The requested array has an inhomogeneous shape after "
                f"{dim} dimensions. The detected shape was {shape} + inhomogeneous part."
            )
        if not isinstance(item, (builtins.bool, builtins.int, builtins.float, ndarray, torch.Tensor)):
            raise TypeError(f"Taipan's numpy has no arrays of objects such as {type(item).__name__}")
        flat.append(item)
        return
    if not _sequence(item) or len(item) != shape[dim]:
        raise ValueError(
            "setting an array element with a sequence. The requested array has an inhomogeneous shape after "
            f"{dim} dimensions. The detected shape was {shape[:dim]} + inhomogeneous part."
        )
    for part in item:
        _collect(part, shape, dim + 1, flat)


def _common(values):
    common = None
    for value in values:
        if isinstance(value, (generic, ndarray)):
            own = value.dtype
        elif isinstance(value, torch.Tensor):
            own = of_torch(value.dtype)
        elif isinstance(value, builtins.bool):
            own = BOOL
        else:
            own = INT64 if isinstance(value, builtins.int) else FLOAT64
        common = own if common is None else promote(common, own)
    return common or FLOAT64


def operands(*values):
    """Arrays of the values and their common type; Python numbers give way to arrays and scalars."""
    common, numbers = None, []
    for value in values:
        if isinstance(value, (ndarray, generic)):
            common = value.dtype if common is None else promote(common, value.dtype)
        elif type(value) in (builtins.bool, builtins.int, builtins.float):
            numbers.append(value)
        else:
            common = promote(common, asarray(value).dtype) if common else asarray(value).dtype
    if common is None:
        common = _common(numbers)
    for value in numbers:
        common = promote_with_number(common, value)
    return [asarray(value) for value in values], common


def broadcast_shapes(*shapes):
    """The shape that arrays of these shapes have together."""
    result = []
    for place in range(1, max((len(shape) for shape in shapes), default=0) + 1):
        sizes = {shape[-place] for shape in shapes if len(shape) >= place} - {1}
        if len(sizes) > 1:
            shown = " ".join(_shown(shape) for shape in shapes)
            raise ValueError(f"operands could not be broadcast together with shapes {shown} ")
        result.insert(0, sizes.pop() if sizes else 1)
    return tuple(result)


def in_type(array, dtype):
    """The array's tensor, of this type's torch dtype."""
    return array.astype(dtype, copy=False)._t
