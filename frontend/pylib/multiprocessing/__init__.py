"""`multiprocessing` in an engine, which starts no processes: what other modules ask for when they are imported.

Everything that would start a process raises `OSError`; locks, events and queues are those of `threading` and `queue`.
"""

from .context import (
    AuthenticationError,
    BaseContext,
    BufferTooShort,
    DefaultContext,
    Process,
    ProcessError,
    TimeoutError,
    current_process,
    parent_process,
)

_default = DefaultContext()

Array = _default.Array
Barrier = _default.Barrier
BoundedSemaphore = _default.BoundedSemaphore
Condition = _default.Condition
Event = _default.Event
JoinableQueue = _default.JoinableQueue
Lock = _default.Lock
Manager = _default.Manager
Pipe = _default.Pipe
Pool = _default.Pool
Queue = _default.Queue
RLock = _default.RLock
Semaphore = _default.Semaphore
SimpleQueue = _default.SimpleQueue
Value = _default.Value
active_children = _default.active_children
cpu_count = _default.cpu_count
freeze_support = _default.freeze_support
get_all_start_methods = _default.get_all_start_methods
get_context = _default.get_context
get_start_method = _default.get_start_method
set_start_method = _default.set_start_method

__all__ = [
    "Array", "AuthenticationError", "Barrier", "BaseContext", "BoundedSemaphore", "BufferTooShort", "Condition", "Event",
    "JoinableQueue", "Lock", "Manager", "Pipe", "Pool", "Process", "ProcessError", "Queue", "RLock", "Semaphore", "SimpleQueue",
    "TimeoutError", "Value", "active_children", "cpu_count", "current_process", "freeze_support", "get_all_start_methods",
    "get_context", "get_start_method", "parent_process", "set_start_method",
]  # fmt: skip
