"""Files of an engine: `FileIO`, `open` and the table of file descriptors, over the policy's `host`."""

import _io
from _taipan import host

DEFAULT_BUFFER_SIZE = 8192
_EBADF = 9

# Descriptors are numbers of this table; they mean nothing to the operating system.
_descriptors = {}
_next_descriptor = 100


def open_descriptor(path, flags):
    """Opens `path` by the flags of `os.open` and returns a new descriptor."""
    global _next_descriptor
    access = flags & 3
    file = host.open(
        path,
        access != 1,
        access != 0,
        bool(flags & 64),
        bool(flags & 128),
        bool(flags & 512),
        bool(flags & 1024),
    )
    descriptor = _next_descriptor
    _next_descriptor += 1
    _descriptors[descriptor] = file
    return descriptor


def descriptor_file(descriptor):
    """The open file behind a descriptor."""
    try:
        return _descriptors[descriptor]
    except KeyError:
        raise OSError(_EBADF, "Bad file descriptor") from None


def close_descriptor(descriptor):
    descriptor_file(descriptor).close()
    del _descriptors[descriptor]


def _parse_mode(mode):
    kinds = [letter for letter in mode if letter in "rwax"]
    if len(kinds) != 1 or any(letter not in "rwaxbt+" for letter in mode) or len(set(mode)) != len(mode):
        raise ValueError("invalid mode: %r" % mode)
    return kinds[0], "+" in mode


class FileIO(_io._RawIOBase):
    """A raw file."""

    def __init__(self, file, mode="r", closefd=True, opener=None):
        kind, plus = _parse_mode(mode)
        self.name = file
        self.closefd = closefd
        self._readable = kind == "r" or plus
        self._writable = kind != "r" or plus
        self.mode = {"r": "rb", "w": "wb", "a": "ab", "x": "xb"}[kind] + ("+" if plus else "")
        self._descriptor = None
        if opener is not None:
            flags = 2 if plus else int(kind != "r")
            flags |= {"r": 0, "w": 64 | 512, "a": 64 | 1024, "x": 64 | 128}[kind]
            file = opener(file, flags)
            if not isinstance(file, int):
                raise TypeError("expected integer from opener")
        if isinstance(file, int):
            self._file = descriptor_file(file)
            self._descriptor = file
            return
        self._file = host.open(
            host.path(file),
            self._readable,
            self._writable,
            kind != "r",
            kind == "x",
            kind == "w",
            kind == "a",
        )

    def _check(self):
        if self.closed:
            raise ValueError("I/O operation on closed file")

    def readable(self):
        self._check()
        return self._readable

    def writable(self):
        self._check()
        return self._writable

    def seekable(self):
        self._check()
        return True

    def fileno(self):
        self._check()
        if self._descriptor is None:
            raise _io.UnsupportedOperation("this file has no descriptor")
        return self._descriptor

    def isatty(self):
        self._check()
        return False

    def readinto(self, buffer):
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def read(self, size=-1):
        self._check()
        if not self._readable:
            raise _io.UnsupportedOperation("File not open for reading")
        return self._file.read(-1 if size is None else size)

    def readall(self):
        return self.read(-1)

    def write(self, data):
        self._check()
        if not self._writable:
            raise _io.UnsupportedOperation("File not open for writing")
        return self._file.write(data)

    def seek(self, offset, whence=0):
        self._check()
        return self._file.seek(offset, whence)

    def tell(self):
        return self.seek(0, 1)

    def truncate(self, size=None):
        self._check()
        if not self._writable:
            raise _io.UnsupportedOperation("File not open for writing")
        return self._file.truncate(self.tell() if size is None else size)

    def close(self):
        if self.closed:
            return
        super().close()
        if self._descriptor is None:
            self._file.close()
        elif self.closefd:
            close_descriptor(self._descriptor)

    def __repr__(self):
        return "<_io.FileIO name=%r mode=%r>" % (self.name, self.mode)


FileIO.__module__ = "_io"


def open(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None):
    """Opens a file and returns a stream. Raises OSError when it can't, PermissionError when it may not."""
    if not isinstance(mode, str):
        raise TypeError("open() argument 'mode' must be str, not %s" % type(mode).__name__)
    if not isinstance(file, int):
        file = host.path(file)
    kind, plus = _parse_mode(mode)
    binary = "b" in mode
    if binary and "t" in mode:
        raise ValueError("can't have text and binary mode at once")
    if binary and encoding is not None:
        raise ValueError("binary mode doesn't take an encoding argument")
    if binary and errors is not None:
        raise ValueError("binary mode doesn't take an errors argument")
    if binary and newline is not None:
        raise ValueError("binary mode doesn't take a newline argument")
    raw = FileIO(file, kind + ("+" if plus else ""), closefd, opener)
    if buffering == 0:
        if not binary:
            raw.close()
            raise ValueError("can't have unbuffered text I/O")
        return raw
    size = buffering if buffering > 1 else DEFAULT_BUFFER_SIZE
    if plus:
        buffer = _io.BufferedRandom(raw, size)
    elif kind == "r":
        buffer = _io.BufferedReader(raw, size)
    else:
        buffer = _io.BufferedWriter(raw, size)
    if binary:
        return buffer
    text = _io.TextIOWrapper(buffer, encoding or "utf-8", errors, newline, buffering == 1)
    text.mode = mode
    return text


class StandardStream(_io._RawIOBase):
    """The raw end of `sys.stdin`, `sys.stdout` or `sys.stderr`."""

    def __init__(self, descriptor, name):
        self._descriptor = descriptor
        self.name = name
        self.mode = "rb" if descriptor == 0 else "wb"

    def readable(self):
        return self._descriptor == 0

    def writable(self):
        return self._descriptor != 0

    def isatty(self):
        return host.is_terminal(self._descriptor)

    def fileno(self):
        return self._descriptor

    def readinto(self, buffer):
        data = host.read_input(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def write(self, data):
        return host.write_output(self._descriptor, data)

    def close(self):
        pass


def standard_stream(descriptor, name):
    """The text stream over a standard descriptor."""
    raw = StandardStream(descriptor, name)
    buffer = _io.BufferedReader(raw) if descriptor == 0 else _io.BufferedWriter(raw)
    errors = "backslashreplace" if descriptor == 2 else "strict"
    # The script's error output must not lag behind what the program itself prints there.
    live = descriptor == 2 or raw.isatty()
    stream = _io.TextIOWrapper(buffer, "utf-8", errors, "\n", live, descriptor == 2)
    stream.mode = "r" if descriptor == 0 else "w"
    return stream
