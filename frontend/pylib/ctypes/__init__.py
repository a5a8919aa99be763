"""`ctypes` in an engine, which calls no foreign code: the sizes of the C types, and numbers that keep to them.

Whatever would load a library or look into memory is an error that says so.
"""

import sys


def _refuse(*args, **kwargs):
    """An error: no foreign code is called here."""
    raise OSError("this engine loads no libraries and looks into no memory: ctypes is not available")


class _Simple:
    """A C number: integers wrap around at their size."""

    _size = 8
    _signed = True
    _float = False

    def __init__(self, value=0):
        self.value = value

    @property
    def value(self):
        return self._value

    @value.setter
    def value(self, value):
        if self._float:
            self._value = float(value)
            return
        bits = 8 * self._size
        value = int(value) & ((1 << bits) - 1)
        self._value = value - (1 << bits) if self._signed and value >> (bits - 1) else value

    def __repr__(self):
        return f"{type(self).__name__}({self.value})"


def _make(name, size, signed=True, floating=False):
    return type(name, (_Simple,), {"_size": size, "_signed": signed, "_float": floating, "__module__": "ctypes"})


c_byte, c_ubyte = _make("c_byte", 1), _make("c_ubyte", 1, False)
c_short, c_ushort = _make("c_short", 2), _make("c_ushort", 2, False)
c_int, c_uint = _make("c_int", 4), _make("c_uint", 4, False)
c_long, c_ulong = _make("c_long", 8), _make("c_ulong", 8, False)
c_float, c_double = _make("c_float", 4, floating=True), _make("c_double", 8, floating=True)
c_int8, c_uint8, c_int16, c_uint16, c_int32, c_uint32, c_int64, c_uint64 = (
    c_byte, c_ubyte, c_short, c_ushort, c_int, c_uint, c_long, c_ulong,
)
c_longlong, c_ulonglong, c_size_t, c_ssize_t = c_long, c_ulong, c_ulong, c_long


class c_bool(_Simple):
    """A C truth."""

    _size = 1

    @property
    def value(self):
        return self._value

    @value.setter
    def value(self, value):
        self._value = bool(value)


class c_char(_Simple):
    """A C character: it can be named, but none made."""

    _size = 1
    __init__ = _refuse


class c_void_p(_Simple):
    """An address: it can be named, but none made."""

    __init__ = _refuse


class c_char_p(c_void_p):
    """The address of a text: it can be named, but none made."""


class c_wchar_p(c_void_p):
    """The address of a text: it can be named, but none made."""


class py_object(c_void_p):
    """An object of Python: it can be named, but none made."""


class Structure:
    """A C structure: its fields can be declared, but none made."""

    __init__ = _refuse


class Union:
    """A C union: its fields can be declared, but none made."""

    __init__ = _refuse


class ArgumentError(Exception):
    """A foreign function was given what it can't take."""


def sizeof(obj_or_type):
    """The bytes of a number, or of a type of numbers."""
    size = getattr(obj_or_type, "_size", None)
    if size is None:
        raise TypeError("this type has no size")
    return size


class CDLL:
    """A library: none can be loaded."""

    __init__ = _refuse


class _Libraries:
    """Where libraries would be found by name."""

    LoadLibrary = staticmethod(_refuse)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        _refuse()


PyDLL = CDLL
cdll = pydll = pythonapi = _Libraries()
CFUNCTYPE = POINTER = PYFUNCTYPE = addressof = byref = cast = create_string_buffer = create_unicode_buffer = memmove = memset = _refuse
pointer = string_at = _refuse


def _find_library(name):
    """None: no library is ever found."""
    return None


util = type(sys)("ctypes.util", "`ctypes.util`: no library is ever found.")
util.find_library = _find_library
sys.modules["ctypes.util"] = util
