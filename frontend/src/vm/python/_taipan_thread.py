"""`threading.local` for an engine, which has one thread."""

import _thread


class local:
    """Attributes of the one thread there is; subclasses need not call `__init__`."""

    def __new__(cls, /, *args, **kwargs):
        if (args or kwargs) and cls.__init__ is object.__init__:
            raise TypeError("Initialization arguments are not supported")
        return object.__new__(cls)


local.__module__ = "_thread"
local.__qualname__ = local.__name__ = "_local"
_thread._local = local
