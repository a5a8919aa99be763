"""The module `_signal` of an engine: names exist, no signal is ever delivered."""

SIG_DFL = 0
SIG_IGN = 1
NSIG = 65
SIGINT = 2
SIGABRT = 6
SIGFPE = 8
SIGILL = 4
SIGSEGV = 11
SIGTERM = 15


def default_int_handler(signum, frame):
    raise KeyboardInterrupt


_handlers = {SIGINT: default_int_handler}


def signal(signalnum, handler):
    previous = _handlers.get(signalnum, SIG_DFL)
    _handlers[signalnum] = handler
    return previous


def getsignal(signalnum):
    return _handlers.get(signalnum, SIG_DFL)


def raise_signal(signum):
    handler = getsignal(signum)
    if callable(handler):
        handler(signum, None)


def set_wakeup_fd(fd, *, warn_on_full_buffer=True):
    return -1


def strsignal(signalnum):
    return None


def valid_signals():
    return {SIGINT, SIGABRT, SIGFPE, SIGILL, SIGSEGV, SIGTERM}
