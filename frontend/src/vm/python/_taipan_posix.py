"""The module `posix` of an engine: what models need of the operating system, over the policy's `host`.

Nothing here starts a process, changes the process's environment or reaches a network.
"""

from _taipan import host
import _taipan_files

error = OSError
environ = host.environ()
_have_functions = []

F_OK, R_OK, W_OK, X_OK = 0, 4, 2, 1
O_RDONLY, O_WRONLY, O_RDWR = 0, 1, 2
O_CREAT, O_EXCL, O_TRUNC, O_APPEND = 64, 128, 512, 1024
O_NOFOLLOW, O_CLOEXEC = 131072, 524288


class _Record(tuple):
    """A tuple whose first items also have names."""

    _fields = ()

    def __getattr__(self, name):
        try:
            return self[type(self)._fields.index(name)]
        except (ValueError, IndexError):
            raise AttributeError("%r object has no attribute %r" % (type(self).__name__, name)) from None

    def __repr__(self):
        pairs = ("%s=%r" % pair for pair in zip(type(self)._fields, self))
        return "os.%s(%s)" % (type(self).__name__, ", ".join(pairs))


class stat_result(_Record):
    _fields = (
        "st_mode", "st_ino", "st_dev", "st_nlink", "st_uid", "st_gid", "st_size",
        "st_atime", "st_mtime", "st_ctime", "st_atime_ns", "st_mtime_ns", "st_ctime_ns",
    )  # fmt: skip


class terminal_size(_Record):
    _fields = ("columns", "lines")


class times_result(_Record):
    _fields = ("user", "system", "children_user", "children_system", "elapsed")


class uname_result(_Record):
    _fields = ("sysname", "nodename", "release", "version", "machine")


def fspath(path):
    if isinstance(path, (str, bytes)):
        return path
    try:
        convert = type(path).__fspath__
    except AttributeError:
        raise TypeError(
            "expected str, bytes or os.PathLike object, not " + type(path).__name__
        ) from None
    return convert(path)


def _stat(facts):
    seconds = tuple(time / 1e9 for time in facts[7:10])
    return stat_result(facts[:7] + seconds + facts[7:10])


def stat(path, *, dir_fd=None, follow_symlinks=True):
    if isinstance(path, int):
        return fstat(path)
    return _stat(host.stat(host.path(path), follow_symlinks))


def lstat(path, *, dir_fd=None):
    return stat(path, follow_symlinks=False)


def fstat(fd):
    return _stat(_taipan_files.descriptor_file(fd).stat())


def access(path, mode, *, dir_fd=None, effective_ids=False, follow_symlinks=True):
    try:
        host.stat(host.path(path), True)
    except OSError:
        return False
    return True


def listdir(path="."):
    return [entry[0] for entry in host.scan(host.path(path))]


class DirEntry:
    __slots__ = ("name", "path", "_kind")

    def __init__(self, folder, name, kind):
        self.name = name
        self.path = folder + name if folder.endswith("/") else folder + "/" + name
        self._kind = kind

    def is_dir(self, *, follow_symlinks=True):
        return self._is("dir", 0o040000, follow_symlinks)

    def is_file(self, *, follow_symlinks=True):
        return self._is("file", 0o100000, follow_symlinks)

    def _is(self, kind, mode, follow_symlinks):
        if self._kind != "link" or not follow_symlinks:
            return self._kind == kind
        try:
            return self.stat().st_mode & 0o170000 == mode
        except FileNotFoundError:
            return False

    def is_symlink(self):
        return self._kind == "link"

    def is_junction(self):
        return False

    def stat(self, *, follow_symlinks=True):
        return stat(self.path, follow_symlinks=follow_symlinks)

    def inode(self):
        return self.stat(follow_symlinks=False).st_ino

    def __fspath__(self):
        return self.path

    def __repr__(self):
        return "<DirEntry %r>" % self.name


class _Scan:
    def __init__(self, entries):
        self._entries = iter(entries)

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._entries)

    def close(self):
        self._entries = iter(())

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


def scandir(path="."):
    folder = host.path(path)
    return _Scan([DirEntry(folder, name, kind) for name, kind in host.scan(folder)])


def readlink(path, *, dir_fd=None):
    return host.readlink(host.path(path))


def mkdir(path, mode=0o777, *, dir_fd=None):
    host.mkdir(host.path(path))


def rmdir(path, *, dir_fd=None):
    host.rmdir(host.path(path))


def remove(path, *, dir_fd=None):
    host.remove(host.path(path))


unlink = remove


def rename(src, dst, *, src_dir_fd=None, dst_dir_fd=None):
    host.rename(host.path(src), host.path(dst))


replace = rename


def getcwd():
    return host.getcwd()


def getcwdb():
    return host.getcwd().encode()


def open(path, flags, mode=0o777, *, dir_fd=None):
    return _taipan_files.open_descriptor(host.path(path), flags)


def close(fd):
    _taipan_files.close_descriptor(fd)


def read(fd, length):
    return _taipan_files.descriptor_file(fd).read(length)


def write(fd, data):
    if fd in (1, 2):
        return host.write_output(fd, data)
    return _taipan_files.descriptor_file(fd).write(data)


def lseek(fd, offset, whence):
    return _taipan_files.descriptor_file(fd).seek(offset, whence)


def isatty(fd):
    return host.is_terminal(fd)


def putenv(name, value):
    """`os.environ` is the script's own: the process's environment stays as it is."""


unsetenv = putenv


def umask(mask):
    return 0o022


def chmod(path, mode, *, dir_fd=None, follow_symlinks=True):
    host.stat(host.path(path), True)


def utime(path, times=None, *, ns=None, dir_fd=None, follow_symlinks=True):
    host.stat(host.path(path), True)


def getpid():
    return host.process_id()


def urandom(size):
    return host.random_bytes(size)


def cpu_count():
    return host.cpu_count()


def get_terminal_size(fd=1):
    raise OSError(25, "Inappropriate ioctl for device")


def strerror(code):
    return host.error_text(code)


def register_at_fork(*, before=None, after_in_parent=None, after_in_child=None):
    """No process is ever forked, so nothing registered is ever called."""


def _exit(status):
    raise SystemExit(status)


def uname():
    system, machine = host.platform()
    return uname_result((system, "localhost", "", "", machine))
