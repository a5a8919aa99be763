"""`asyncio` in an engine, which has no event loop: what other modules ask for when they are imported.

Coroutines can be told from functions and nothing is running; what would run one raises `RuntimeError`.
"""

import inspect


class CancelledError(BaseException):
    """A task was cancelled."""


class InvalidStateError(Exception):
    """A future isn't in the state that was asked for."""


TimeoutError = TimeoutError


class AbstractEventLoop:
    """What an event loop would be."""


class Future:
    """What a future would be; there is no loop to make one for."""

    def __init__(self, *, loop=None):
        _refuse()


class Task(Future):
    """What a task would be."""

    def __init__(self, coro, *, loop=None, name=None, context=None, eager_start=False):
        coro.close()
        super().__init__(loop=loop)


def _refuse(*args, **kwargs):
    for value in args:
        if inspect.iscoroutine(value):
            value.close()
    raise RuntimeError("this engine has no event loop")


def get_running_loop():
    """There is none."""
    raise RuntimeError("no running event loop")


def current_task(loop=None):
    """There is none, and no loop it could run in."""
    if loop is None:
        get_running_loop()
    return None


def iscoroutine(obj):
    """Whether it is a coroutine."""
    return inspect.iscoroutine(obj)


def iscoroutinefunction(func):
    """Whether calling it makes a coroutine."""
    return inspect.iscoroutinefunction(func)


def isfuture(obj):
    """Whether it is a future."""
    return isinstance(obj, Future)


create_task = ensure_future = gather = get_event_loop = new_event_loop = run = run_coroutine_threadsafe = set_event_loop = shield = _refuse
sleep = to_thread = wait = wait_for = _refuse
