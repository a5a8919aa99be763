"""The one process there is, and the contexts that would start others."""

import os
import queue
import threading

_METHODS = ("fork", "spawn", "forkserver")


class ProcessError(Exception):
    """Base of the errors of this package."""


class BufferTooShort(ProcessError):
    """A message is longer than the buffer for it."""


class AuthenticationError(ProcessError):
    """A peer has the wrong key."""


class TimeoutError(ProcessError):
    """Waiting took too long."""


class Process:
    """A process; it can be described, but not started."""

    def __init__(self, group=None, target=None, name=None, args=(), kwargs={}, *, daemon=None):
        if group is not None:
            raise AssertionError("group argument must be None for now")
        self.name = name if name is not None else "Process-1"
        self.daemon = bool(daemon)
        self.pid = None
        self.exitcode = None

    @property
    def ident(self):
        return self.pid

    def start(self):
        _refuse()

    run = start

    def is_alive(self):
        return self.pid is not None


class _MainProcess(Process):
    def __init__(self):
        super().__init__(name="MainProcess")
        self.pid = os.getpid()


_main = _MainProcess()


def current_process():
    """The process of the engine."""
    return _main


def parent_process():
    """No process of ours started this one."""
    return None


def _refuse(*args, **kwargs):
    raise OSError("this engine starts no processes")


class BaseContext:
    """How processes are started: not at all. What they would share is shared by threads."""

    Process = Process
    ProcessError = ProcessError
    BufferTooShort = BufferTooShort
    TimeoutError = TimeoutError
    AuthenticationError = AuthenticationError

    current_process = staticmethod(current_process)
    parent_process = staticmethod(parent_process)
    Array = Manager = Pipe = Pool = Value = staticmethod(_refuse)

    Barrier = staticmethod(threading.Barrier)
    BoundedSemaphore = staticmethod(threading.BoundedSemaphore)
    Condition = staticmethod(threading.Condition)
    Event = staticmethod(threading.Event)
    Lock = staticmethod(threading.Lock)
    RLock = staticmethod(threading.RLock)
    Semaphore = staticmethod(threading.Semaphore)
    JoinableQueue = Queue = staticmethod(queue.Queue)
    SimpleQueue = staticmethod(queue.SimpleQueue)

    def active_children(self):
        return []

    def cpu_count(self):
        return os.cpu_count() or 1

    def freeze_support(self):
        pass

    def get_all_start_methods(self):
        return list(_METHODS)

    def get_start_method(self, allow_none=False):
        return getattr(self, "_name", None) or _METHODS[0]

    def set_start_method(self, method, force=False):
        if method is not None and method not in _METHODS:
            raise ValueError(f"cannot find context for {method!r}")
        self._name = method

    def get_context(self, method=None):
        if method is None:
            return self
        if method not in _METHODS:
            raise ValueError(f"cannot find context for {method!r}")
        context = BaseContext()
        context._name = method
        return context


class DefaultContext(BaseContext):
    """The context behind the functions of the package."""
