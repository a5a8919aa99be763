"""Zip archives as checkpoints use them: read whole, written uncompressed.  Nothing in one is trusted."""

import struct
import zlib

_LOCAL, _CENTRAL, _END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
_END_64, _LOCATOR_64 = b"PK\x06\x06", b"PK\x06\x07"
_STORED, _DEFLATED = 0, 8
_FULL = 0xFFFFFFFF
# Records start at multiples of this, so that a reader may map them.
_ALIGNMENT = 64


class Reader:
    """The records of an archive by name."""

    def __init__(self, data):
        self._data = memoryview(data)
        self._records = {}
        try:
            self._read_directory()
        except struct.error:
            raise RuntimeError("failed reading zip archive: it ends within a header") from None

    def names(self):
        """The names, in the order of the archive's directory."""
        return list(self._records)

    def __contains__(self, name):
        return name in self._records

    def read(self, name):
        """The bytes of a record, checked against its checksum."""
        if name not in self._records:
            raise RuntimeError(f"failed finding record {name!r} in zip archive")
        method, checksum, packed, size, at = self._records[name]
        if self._data[at:at + 4] != _LOCAL:
            raise RuntimeError(f"record {name!r} of the zip archive has no header")
        name_length, extra_length = struct.unpack_from("<HH", self._data, at + 26)
        start = at + 30 + name_length + extra_length
        content = self._data[start:start + packed]
        if len(content) != packed:
            raise RuntimeError(f"record {name!r} of the zip archive lies beyond its end")
        if method == _DEFLATED:
            content = _inflated(name, content, size)
        elif method != _STORED:
            raise RuntimeError(f"record {name!r} of the zip archive is compressed by method {method}, which is not supported")
        if len(content) != size or zlib.crc32(content) != checksum:
            raise RuntimeError(f"record {name!r} of the zip archive is damaged: its checksum is wrong")
        return content

    def _read_directory(self):
        data = self._data
        tail = bytes(data[max(0, len(data) - 65557):])
        found = tail.rfind(_END)
        if found < 0 or found + 22 > len(tail):
            raise RuntimeError("failed reading zip archive: failed finding central directory")
        end = len(data) - len(tail) + found
        count, _, at = struct.unpack_from("<HII", data, end + 10)
        if at == _FULL or count == 0xFFFF:
            count, at = self._read_end_64(end)
        for _ in range(count):
            if data[at:at + 4] != _CENTRAL:
                raise RuntimeError("failed reading zip archive: its directory is damaged")
            flags, method = struct.unpack_from("<HH", data, at + 8)
            checksum, packed, size = struct.unpack_from("<III", data, at + 16)
            name_length, extra_length, comment_length = struct.unpack_from("<HHH", data, at + 28)
            offset, = struct.unpack_from("<I", data, at + 42)
            name = str(data[at + 46:at + 46 + name_length], "utf-8", "replace")
            extra = data[at + 46 + name_length:at + 46 + name_length + extra_length]
            size, packed, offset = _wide_fields(extra, size, packed, offset)
            if flags & 1:
                raise RuntimeError(f"record {name!r} of the zip archive is encrypted")
            self._records[name] = (method, checksum, packed, size, offset)
            at += 46 + name_length + extra_length + comment_length

    def _read_end_64(self, end):
        data = self._data
        if data[end - 20:end - 16] != _LOCATOR_64:
            raise RuntimeError("failed reading zip archive: its directory is damaged")
        at, = struct.unpack_from("<Q", data, end - 12)
        if data[at:at + 4] != _END_64:
            raise RuntimeError("failed reading zip archive: its directory is damaged")
        count, _, start = struct.unpack_from("<QQQ", data, at + 32)
        return count, start


def _wide_fields(extra, size, packed, offset):
    """The fields that didn't fit 32 bits, from the record's extra fields."""
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, at)
        if kind == 1:
            values = iter(struct.unpack_from(f"<{length // 8}Q", extra, at + 4))
            size = next(values, size) if size == _FULL else size
            packed = next(values, packed) if packed == _FULL else packed
            offset = next(values, offset) if offset == _FULL else offset
        at += 4 + length
    return size, packed, offset


def _inflated(name, content, size):
    """The content unpacked, which must not be larger than the archive says."""
    stream = zlib.decompressobj(-15)
    try:
        unpacked = stream.decompress(bytes(content), size + 1)
    except zlib.error as error:
        raise RuntimeError(f"record {name!r} of the zip archive is damaged: {error}") from None
    if len(unpacked) != size:
        raise RuntimeError(f"record {name!r} of the zip archive is damaged: it has not the size it claims")
    return unpacked


class Writer:
    """Writes an archive record by record; `close` writes its directory."""

    def __init__(self, file):
        self._file = file
        self._at = 0
        self._directory = []

    def write(self, name, content):
        """Adds a record."""
        name, size, checksum = name.encode(), len(content), zlib.crc32(content)
        wide = struct.pack("<HHQQ", 1, 16, size, size) if size >= _FULL else b""
        padding = -(self._at + 30 + len(name) + len(wide) + 4) % _ALIGNMENT
        extra = wide + struct.pack("<HH", 0x4246, padding) + b"Z" * padding
        shown = min(size, _FULL)
        self._put(_LOCAL + struct.pack("<HHHHHIIIHH", 45 if wide else 0, 0x800, _STORED, 0, 0x21, checksum, shown, shown, len(name), len(extra)))
        self._directory.append((name, checksum, size, self._at - 30))
        self._put(name + extra)
        self._put(content)

    def close(self):
        """Writes the directory."""
        start = self._at
        for name, checksum, size, offset in self._directory:
            wide = b""
            if size >= _FULL:
                wide += struct.pack("<QQ", size, size)
            if offset >= _FULL:
                wide += struct.pack("<Q", offset)
            extra = struct.pack("<HH", 1, len(wide)) + wide if wide else b""
            shown = min(size, _FULL)
            header = struct.pack("<HHHHHHIIIHHHHHII", 45 if wide else 0, 45 if wide else 0, 0x800, _STORED, 0, 0x21, checksum, shown, shown,
                                 len(name), len(extra), 0, 0, 0, 0, min(offset, _FULL))
            self._put(_CENTRAL + header + name + extra)
        length, count = self._at - start, len(self._directory)
        if start >= _FULL or count >= 0xFFFF:
            at = self._at
            self._put(_END_64 + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, count, count, length, start))
            self._put(_LOCATOR_64 + struct.pack("<IQI", 0, at, 1))
        self._put(_END + struct.pack("<HHHHIIH", 0, 0, min(count, 0xFFFF), min(count, 0xFFFF), length, min(start, _FULL), 0))

    def _put(self, content):
        self._file.write(content)
        self._at += len(content)
