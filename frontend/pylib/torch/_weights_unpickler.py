"""Reads pickles as data: a machine that knows containers, numbers, texts and tensors, and calls nothing that a file names.

A global of the pickle stands for an entry of a fixed table (and for what the program itself has declared safe); any other is
refused before anything is made of it.
"""

import struct
from collections import Counter, OrderedDict, defaultdict
from pickle import UnpicklingError

import torch

STORAGE_DTYPES = {
    "FloatStorage": torch.float32,
    "DoubleStorage": torch.float64,
    "HalfStorage": torch.float16,
    "BFloat16Storage": torch.bfloat16,
    "LongStorage": torch.int64,
    "IntStorage": torch.int32,
    "ShortStorage": torch.int16,
    "CharStorage": torch.int8,
    "ByteStorage": torch.uint8,
    "BoolStorage": torch.bool,
    "ComplexFloatStorage": torch.complex64,
    "ComplexDoubleStorage": torch.complex128,
    "UntypedStorage": torch.uint8,
}

_DTYPE_NAMES = (
    "float32", "float", "float64", "double", "float16", "half", "bfloat16", "int64", "long", "int32", "int", "int16", "short",
    "int8", "uint8", "bool",
)


class Storage:
    """A storage that the pickle names: the tensor over all of it, of the dtype it was saved with."""

    def __init__(self, tensor):
        self.tensor = tensor


def _rebuild_tensor(storage, offset, size, stride):
    if not isinstance(storage, Storage):
        raise UnpicklingError("a tensor is made from something that is no storage")
    if not isinstance(size, tuple) or not isinstance(stride, tuple):
        raise UnpicklingError("a tensor's size and stride must be tuples")
    return torch._C._over_memory(storage.tensor, offset, list(size), list(stride))


def _rebuild_tensor_v2(storage, offset, size, stride, requires_grad, backward_hooks, metadata=None):
    tensor = _rebuild_tensor(storage, offset, size, stride)
    tensor.requires_grad = requires_grad
    return tensor


def _rebuild_parameter(data, requires_grad, backward_hooks):
    return torch.nn.Parameter(data, requires_grad)


def _rebuild_parameter_with_state(data, requires_grad, backward_hooks, state):
    parameter = torch.nn.Parameter(data, requires_grad)
    if isinstance(state, dict):
        parameter.__dict__.update(state)
    return parameter


def _encode(text, encoding):
    if encoding not in ("latin1", "latin-1", "utf-8", "ascii"):
        raise UnpicklingError(f"bytes are encoded as {encoding!r}")
    return text.encode(encoding)


def _default_globals():
    table = {
        "collections.OrderedDict": OrderedDict,
        "collections.defaultdict": defaultdict,
        "collections.Counter": Counter,
        "torch.Size": torch.Size,
        "torch.device": torch.device,
        "torch.Tensor": torch.Tensor,
        "torch.nn.parameter.Parameter": torch.nn.Parameter,
        "torch._utils._rebuild_tensor": _rebuild_tensor,
        "torch._utils._rebuild_tensor_v2": _rebuild_tensor_v2,
        "torch._utils._rebuild_parameter": _rebuild_parameter,
        "torch._utils._rebuild_parameter_with_state": _rebuild_parameter_with_state,
        "_codecs.encode": _encode,
    }
    for module in ("builtins", "__builtin__"):
        for kind in (set, frozenset, bytearray, complex, list, dict, tuple, int, float):
            table[f"{module}.{kind.__name__}"] = kind
    for name, dtype in STORAGE_DTYPES.items():
        table["torch." + name] = dtype
    for name in _DTYPE_NAMES:
        table["torch." + name] = getattr(torch, name)
    return table


# What a pickle may call: constructors and functions that make data of data.
_CALLABLE = (
    OrderedDict, Counter, set, frozenset, bytearray, complex, torch.Size, torch.device, _rebuild_tensor, _rebuild_tensor_v2,
    _rebuild_parameter, _rebuild_parameter_with_state, _encode,
)


class Unpickler:
    """Reads one pickle.  `storage_of` answers for what it names as a persistent object; `safe` holds classes declared safe."""

    def __init__(self, data, storage_of, safe):
        self.data = bytes(data)
        self.at = 0
        self.stack = []
        self.marks = []
        self.memo = {}
        self.storage_of = storage_of
        self.globals = _default_globals()
        self.safe = safe

    def load(self):
        """The object."""
        try:
            return self._run()
        except (IndexError, KeyError, struct.error, UnicodeDecodeError) as error:
            raise UnpicklingError(f"the pickle is damaged at byte {self.at}: {error}") from None

    def _run(self):
        data, handlers = self.data, _HANDLERS
        while True:
            opcode = data[self.at]
            self.at += 1
            if opcode == 0x2E:  # STOP
                return self.stack.pop()
            handler = handlers.get(opcode)
            if handler is None:
                raise UnpicklingError(f"the pickle has an instruction that weights don't need: {opcode:#04x} at byte {self.at - 1}")
            handler(self)

    def _take(self, count):
        taken = self.data[self.at:self.at + count]
        if len(taken) != count:
            raise UnpicklingError(f"the pickle ends early: {count} bytes are wanted at byte {self.at}, {len(taken)} are left")
        self.at += count
        return taken

    def _number(self, form):
        return struct.unpack(form, self._take(struct.calcsize(form)))[0]

    def _line(self):
        end = self.data.index(b"\n", self.at) if b"\n" in self.data[self.at:] else -1
        if end < 0:
            raise UnpicklingError("the pickle ends within a name")
        text = self.data[self.at:end].decode()
        self.at = end + 1
        return text

    def _since_mark(self):
        start = self.marks.pop()
        items = self.stack[start:]
        del self.stack[start:]
        return items

    def _find(self, module, name):
        path = f"{module}.{name}"
        if path in self.globals:
            return self.globals[path]
        if path in self.safe:
            return self.safe[path]
        raise UnpicklingError(
            f"Unsupported global: GLOBAL {path} was not an allowed global by default. Checkpoints are read as data here, so only tensors "
            f"and plain containers are; `torch.serialization.add_safe_globals([{name}])` allows one more class."
        )

    def _call(self, function, arguments):
        if not isinstance(arguments, tuple):
            raise UnpicklingError("the pickle calls something with what is no tuple")
        if function is defaultdict:
            # The factory would be a callable of the file's choice.
            if arguments and arguments[0] not in (None, list, dict, set, int, float):
                raise UnpicklingError("the pickle has a defaultdict with a factory that is not allowed")
            return defaultdict(*arguments)
        if not any(function is known for known in _CALLABLE) and not any(function is known for known in self.safe.values()):
            raise UnpicklingError(f"the pickle calls {function!r}, which makes no data")
        try:
            return function(*arguments)
        except (TypeError, ValueError, RuntimeError, AttributeError) as error:
            raise UnpicklingError(f"the pickle calls {getattr(function, '__name__', function)} with wrong arguments: {error}") from None

    # Handlers of instructions.

    def _proto(self):
        version = self._number("<B")
        if not 2 <= version <= 5:
            raise UnpicklingError(f"pickle protocol {version} is not supported")

    def _frame(self):
        self._number("<Q")

    def _global(self):
        module = self._line()
        self.stack.append(self._find(module, self._line()))

    def _stack_global(self):
        name, module = self.stack.pop(), self.stack.pop()
        self.stack.append(self._find(module, name))

    def _push_mark(self):
        self.marks.append(len(self.stack))

    def _put(self, index):
        self.memo[index] = self.stack[-1]

    def _get(self, index):
        self.stack.append(self.memo[index])

    def _long1(self):
        self.stack.append(int.from_bytes(self._take(self._number("<B")), "little", signed=True))

    def _tuple_of(self, count):
        items = tuple(self.stack[len(self.stack) - count:])
        del self.stack[len(self.stack) - count:]
        self.stack.append(items)

    def _append_all(self, items):
        target = self.stack[-1]
        if not isinstance(target, list):
            raise UnpicklingError("the pickle appends to what is no list")
        target.extend(items)

    def _set_all(self, items):
        target = self.stack[-1]
        if not isinstance(target, dict):
            raise UnpicklingError("the pickle sets items of what is no dict")
        for key, value in zip(items[::2], items[1::2]):
            target[key] = value

    def _add_all(self, items):
        target = self.stack[-1]
        if not isinstance(target, set):
            raise UnpicklingError("the pickle adds to what is no set")
        target.update(items)

    def _set_item(self):
        value, key = self.stack.pop(), self.stack.pop()
        self._set_all([key, value])

    def _append(self):
        item = self.stack.pop()
        self._append_all([item])

    def _persistent(self):
        self.stack.append(self.storage_of(self.stack.pop()))

    def _reduce(self):
        arguments, function = self.stack.pop(), self.stack.pop()
        self.stack.append(self._call(function, arguments))

    def _new_object(self):
        arguments, kind = self.stack.pop(), self.stack.pop()
        if any(kind is known for known in self.safe.values()):
            self.stack.append(kind.__new__(kind, *arguments))
        elif kind in (OrderedDict, Counter, set, torch.Size):
            self.stack.append(kind(*arguments))
        else:
            raise UnpicklingError(f"the pickle makes an object of {kind!r}, which is not allowed")

    def _build(self):
        state, target = self.stack.pop(), self.stack[-1]
        if type(target) is OrderedDict:
            target.__dict__.update(state)
        elif any(type(target) is known for known in self.safe.values()):
            if hasattr(target, "__setstate__"):
                target.__setstate__(state)
            else:
                target.__dict__.update(state)
        else:
            raise UnpicklingError(f"the pickle gives state to an object of {type(target)}, which is not allowed")


def _push(make):
    return lambda self: self.stack.append(make(self))


_HANDLERS = {
    0x80: Unpickler._proto,
    0x95: Unpickler._frame,
    ord("c"): Unpickler._global,
    0x93: Unpickler._stack_global,
    ord("("): Unpickler._push_mark,
    ord("}"): _push(lambda self: {}),
    ord("]"): _push(lambda self: []),
    ord(")"): _push(lambda self: ()),
    0x8F: _push(lambda self: set()),
    ord("N"): _push(lambda self: None),
    0x88: _push(lambda self: True),
    0x89: _push(lambda self: False),
    ord("J"): _push(lambda self: self._number("<i")),
    ord("K"): _push(lambda self: self._number("<B")),
    ord("M"): _push(lambda self: self._number("<H")),
    ord("G"): _push(lambda self: self._number(">d")),
    0x8A: Unpickler._long1,
    ord("X"): _push(lambda self: self._take(self._number("<I")).decode("utf-8", "surrogatepass")),
    0x8C: _push(lambda self: self._take(self._number("<B")).decode("utf-8", "surrogatepass")),
    0x8D: _push(lambda self: self._take(self._number("<Q")).decode("utf-8", "surrogatepass")),
    ord("B"): _push(lambda self: self._take(self._number("<I"))),
    ord("C"): _push(lambda self: self._take(self._number("<B"))),
    0x8E: _push(lambda self: self._take(self._number("<Q"))),
    ord("T"): _push(lambda self: self._take(self._number("<I")).decode()),
    ord("U"): _push(lambda self: self._take(self._number("<B")).decode()),
    ord("q"): lambda self: self._put(self._number("<B")),
    ord("r"): lambda self: self._put(self._number("<I")),
    0x94: lambda self: self._put(len(self.memo)),
    ord("h"): lambda self: self._get(self._number("<B")),
    ord("j"): lambda self: self._get(self._number("<I")),
    ord("t"): _push(lambda self: tuple(self._since_mark())),
    0x85: lambda self: self._tuple_of(1),
    0x86: lambda self: self._tuple_of(2),
    0x87: lambda self: self._tuple_of(3),
    ord("a"): Unpickler._append,
    ord("e"): lambda self: self._append_all(self._since_mark()),
    ord("s"): Unpickler._set_item,
    ord("u"): lambda self: self._set_all(self._since_mark()),
    0x90: lambda self: self._add_all(self._since_mark()),
    ord("Q"): Unpickler._persistent,
    ord("R"): Unpickler._reduce,
    0x81: Unpickler._new_object,
    ord("b"): Unpickler._build,
}
