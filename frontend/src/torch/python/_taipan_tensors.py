"""The tuples that native code answers with: `torch.Size`, and the named results of ops like `max`."""


class Size(tuple):
    """The sizes of a tensor."""

    __slots__ = ()

    def numel(self):
        """Number of elements of a tensor of these sizes."""
        count = 1
        for size in self:
            count *= size
        return count

    def __getitem__(self, index):
        result = tuple.__getitem__(self, index)
        return Size(result) if isinstance(index, slice) else result

    def __add__(self, other):
        if not isinstance(other, tuple):
            return NotImplemented
        return Size(tuple.__add__(self, other))

    def __radd__(self, other):
        if not isinstance(other, tuple):
            return NotImplemented
        return Size(tuple.__add__(other, self))

    def __mul__(self, count):
        result = tuple.__mul__(self, count)
        return result if result is NotImplemented else Size(result)

    __rmul__ = __mul__

    def __repr__(self):
        return "torch.Size([" + ", ".join([repr(size) for size in self]) + "])"

    __str__ = __repr__

    def __reduce__(self):
        return Size, (tuple(self),)


Size.__module__ = "torch"
Size.__qualname__ = "Size"


class _Field:
    """A named item of a result tuple."""

    def __init__(self, index):
        self.index = index

    def __get__(self, instance, owner=None):
        return self if instance is None else instance[self.index]


def _repr(self):
    fields = ["%s=%r" % pair for pair in zip(self._fields, self)]
    return "torch.return_types.%s(\n%s)" % (type(self).__name__, ",\n".join(fields))


def _reduce(self):
    return tuple, (tuple(self),)


def result_type(name, fields):
    """The class of the results of the op `name`."""
    names = {field: _Field(index) for index, field in enumerate(fields)}
    names.update(__slots__=(), __module__="torch.return_types", __repr__=_repr, __reduce__=_reduce, _fields=fields)
    return type(name, (tuple,), names)
