"""What the standard library asks of asyncio outside event loops.

Scripts run without sockets and processes, so there is no event loop; `unittest.mock` and
`inspect`-like code only need to recognise coroutine functions.
"""

from inspect import iscoroutinefunction

from . import coroutines

__all__ = ["iscoroutinefunction", "run"]


def run(main, *, debug=None, loop_factory=None):
    raise RuntimeError("asyncio event loops are not available in this engine")
