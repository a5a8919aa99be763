"""`select` in an engine, which waits for no files."""

error = OSError


def select(rlist, wlist, xlist, timeout=None):
    """An error: there is nothing to wait for."""
    raise OSError("this engine waits for no files")
