"""Element types, scalars and promotion.

Each type is kept in a tensor of some torch dtype.  Unsigned types wider than a byte, which torch has not here, are kept in the next
wider signed one, and results are taken modulo their range.
"""

import torch


class generic:
    """A single value with an element type."""

    @property
    def _taipan_tensor(self):
        return torch.tensor(self.item(), dtype=self.dtype._torch)

    def item(self):
        """The value as a plain Python number."""
        return self._plain(self)

    def tolist(self):
        """As `item`."""
        return self._plain(self)

    def astype(self, dtype):
        """The value in another type."""
        return _dtype(dtype).type(self)

    @property
    def shape(self):
        return ()

    @property
    def ndim(self):
        return 0

    @property
    def size(self):
        return 1

    @property
    def itemsize(self):
        return self.dtype.itemsize

    def __repr__(self):
        if self.dtype.kind == "b":
            return "np.True_" if self else "np.False_"
        return f"np.{self.dtype._scalar_name}({self})"

    def __reduce__(self):
        return type(self), (self.item(),)

    def _array(self):
        from numpy._array import asarray

        return asarray(self)

    def __getattr__(self, name):
        # Methods of arrays work on scalars too: `x.sum()`, `x.round(2)`.
        if name[:1] == "_":
            raise AttributeError(name)
        return getattr(self._array(), name)


def _delegated(name):
    def method(self, *others):
        return getattr(self._array(), name)(*others)

    method.__name__ = name
    return method


for _name in (
    "add sub mul truediv floordiv mod pow and or xor lshift rshift".split()
):
    setattr(generic, f"__{_name}__", _delegated(f"__{_name}__"))
    setattr(generic, f"__r{_name}__", _delegated(f"__r{_name}__"))
for _name in "lt le gt ge eq ne neg pos abs invert".split():
    setattr(generic, f"__{_name}__", _delegated(f"__{_name}__"))


class number(generic):
    """A number."""


class integer(number):
    """A whole number."""


class signedinteger(integer):
    """A whole number with a sign."""


class unsignedinteger(integer):
    """A whole number without a sign."""


class inexact(number):
    """A number that may be rounded."""


class floating(inexact):
    """A floating-point number."""


class dtype:
    """An element type.  `dtype("float32")`, `dtype(float32)` and `dtype(float)` find it."""

    _by_name = {}

    def __new__(cls, spec, align=False, copy=False):
        return _dtype(spec)

    @classmethod
    def _make(cls, name, kind, itemsize, char, torch_dtype, bits=None):
        self = object.__new__(cls)
        self.name, self.kind, self.itemsize, self.char = name, kind, itemsize, char
        self._torch = torch_dtype
        # The range's size, where results must be taken modulo it.
        self._modulus = bits and 2**bits
        self._scalar_name = "bool" if kind == "b" else name
        return self

    @property
    def str(self):
        order = "|" if self.itemsize == 1 else "<"
        return f"{order}{self.kind}{self.itemsize}"

    descr = property(lambda self: [("", self.str)])
    byteorder = property(lambda self: "|" if self.itemsize == 1 else "=")
    fields = names = None
    subdtype = None
    shape = ()
    hasobject = False

    def __eq__(self, other):
        try:
            return self is _dtype(other)
        except TypeError:
            return False

    def __hash__(self):
        return hash(self.name)

    def __repr__(self):
        return f"dtype('{self.name}')"

    def __str__(self):
        return self.name

    def __reduce__(self):
        return _dtype, (self.name,)


_TABLE = (
    ("bool", "b", 1, "?", torch.bool, None, generic),
    ("int8", "i", 1, "b", torch.int8, None, signedinteger),
    ("uint8", "u", 1, "B", torch.uint8, None, unsignedinteger),
    ("int16", "i", 2, "h", torch.int16, None, signedinteger),
    ("uint16", "u", 2, "H", torch.int32, 16, unsignedinteger),
    ("int32", "i", 4, "i", torch.int32, None, signedinteger),
    ("uint32", "u", 4, "I", torch.int64, 32, unsignedinteger),
    ("int64", "i", 8, "l", torch.int64, None, signedinteger),
    ("float16", "f", 2, "e", torch.float16, None, floating),
    ("float32", "f", 4, "f", torch.float32, None, floating),
    ("float64", "f", 8, "d", torch.float64, None, floating),
)


def _scalar_class(described, base):
    kind = described.kind
    plain = {"b": lambda value: int.__int__(value) != 0, "f": float.__float__}.get(kind, int.__int__)
    parse = {"b": bool, "f": float}.get(kind, int)
    built_on = {"b": int, "f": float}.get(kind, int)

    def make(cls, value=0):
        value = getattr(value, "_taipan_tensor", value)
        if isinstance(value, torch.Tensor):
            if value.dim():
                from numpy._array import array

                return array(value, dtype=described)
            value = value.item()
        if kind == "b":
            return built_on.__new__(cls, bool(value))
        if isinstance(value, str):
            value = parse(value)
        if kind == "f":
            return built_on.__new__(cls, torch.tensor(float(value), dtype=torch.float64).to(described._torch).item())
        value = int(value)
        low, high = _bounds(described)
        if not low <= value <= high:
            raise OverflowError(f"Python integer {value} out of bounds for {described.name}")
        return built_on.__new__(cls, value)

    def text(self):
        from numpy._text import scalar_text

        return scalar_text(described, plain(self))

    names = {
        "__new__": make,
        "__str__": text,
        "__module__": "numpy",
        "__hash__": lambda self: hash(plain(self)),
        "__bool__": lambda self: plain(self) != 0,
        "__format__": lambda self, spec: format(plain(self), spec) if spec else text(self),
        "dtype": described,
        "_plain": staticmethod(plain),
    }
    if kind != "f":
        names["__index__"] = lambda self: int.__int__(self)
    return type("bool" if kind == "b" else described.name, (base, built_on), names)


def _bounds(described):
    if described.kind == "b":
        return 0, 1
    bits = 8 * described.itemsize
    return (0, 2**bits - 1) if described.kind == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


for _name, _kind, _size, _char, _torch_dtype, _bits, _base in _TABLE:
    _described = dtype._make(_name, _kind, _size, _char, _torch_dtype, _bits)
    _described.type = _scalar_class(_described, _base)
    for _key in (_name, _char, _described.str, _described.str[1:], _described.type):
        dtype._by_name[_key] = _described
    globals()["bool_" if _name == "bool" else _name] = _described.type

_named = dtype._by_name
for _key, _name in {
    float: "float64", int: "int64", bool: "bool", "float": "float64", "int": "int64", "bool_": "bool", "double": "float64",
    "single": "float32", "half": "float16", "long": "int64", "q": "int64", "b1": "bool", None: "float64", "<i1": "int8", "<u1": "uint8",
    "<b1": "bool", "|b1": "bool", "intp": "int64", "short": "int16", "byte": "int8", "ubyte": "uint8", "ushort": "uint16",
}.items():
    _named[_key] = _named[_name]
_named["i1"], _named["u1"] = _named["int8"], _named["uint8"]
_FROM_TORCH = {entry[4]: _named[entry[0]] for entry in _TABLE if entry[5] is None}

BOOL, INT64, FLOAT64 = _named["bool"], _named["int64"], _named["float64"]
FLOAT16, FLOAT32 = _named["float16"], _named["float32"]


def _dtype(spec):
    if isinstance(spec, dtype):
        return spec
    try:
        found = _named.get(spec)
    except TypeError:
        found = None
    if found is None and isinstance(spec, type) and issubclass(spec, generic):
        found = {floating: FLOAT64, inexact: FLOAT64, integer: INT64, signedinteger: INT64}.get(spec)
    if found is None and isinstance(spec, str) and spec[:1] == "=":
        found = _named.get("<" + spec[1:])
    if found is None:
        shown = spec.__name__ if isinstance(spec, type) else repr(spec)
        raise TypeError(f"data type {shown} not understood: Taipan's numpy has {', '.join(entry[0] for entry in _TABLE)}")
    return found


def of_torch(torch_dtype):
    """The type of arrays over tensors of a torch dtype."""
    if torch_dtype not in _FROM_TORCH:
        raise TypeError(f"Got unsupported ScalarType {str(torch_dtype).removeprefix('torch.').capitalize().replace('float', 'Float')}")
    return _FROM_TORCH[torch_dtype]


def promote(a, b):
    """The common type of arrays of two types."""
    if a is b:
        return a
    if a.kind == "b" or b.kind == "b":
        return b if a.kind == "b" else a
    if a.kind == "f" and b.kind == "f":
        return a if a.itemsize > b.itemsize else b
    if "f" in (a.kind, b.kind):
        real, whole = (a, b) if a.kind == "f" else (b, a)
        needed = {1: FLOAT16, 2: FLOAT32}.get(whole.itemsize, FLOAT64)
        return real if real.itemsize > needed.itemsize else needed
    if a.kind == b.kind:
        return a if a.itemsize > b.itemsize else b
    signed, unsigned = (a, b) if a.kind == "i" else (b, a)
    if signed.itemsize > unsigned.itemsize:
        return signed
    return _named[f"int{16 * unsigned.itemsize}"]


def promote_with_number(a, value):
    """The common type of an array and a Python number, which gives way to the array's unless it is of a higher kind."""
    if isinstance(value, bool):
        return a
    if isinstance(value, int):
        if a.kind == "b":
            return INT64
        if a.kind in "iu":
            low, high = _bounds(a)
            if not low <= value <= high:
                raise OverflowError(f"Python integer {value} out of bounds for {a.name}")
        return a
    return a if a.kind == "f" else FLOAT64


def as_float(a):
    """The type in which functions of real numbers answer for this one."""
    if a.kind == "f":
        return a
    return {1: FLOAT16, 2: FLOAT32}.get(a.itemsize, FLOAT64)


class finfo:
    """Limits of a floating-point type."""

    def __init__(self, spec):
        self.dtype = _dtype(spec if not hasattr(spec, "dtype") else spec.dtype)
        if self.dtype.kind != "f":
            raise ValueError(f"data type {spec!r} not inexact")
        limits = torch.finfo(self.dtype._torch)
        kind = self.dtype.type
        self.bits, self.eps, self.max, self.min = limits.bits, kind(limits.eps), kind(limits.max), kind(limits.min)
        self.tiny = self.smallest_normal = kind(limits.tiny)
        self.resolution = kind(limits.resolution)


class iinfo:
    """Limits of a type of integers."""

    def __init__(self, spec):
        self.dtype = _dtype(spec if not hasattr(spec, "dtype") else spec.dtype)
        if self.dtype.kind not in "iu":
            raise ValueError(f"Invalid integer data type {self.dtype.kind!r}.")
        self.bits = 8 * self.dtype.itemsize
        self.min, self.max = _bounds(self.dtype)
        self.kind = self.dtype.kind
