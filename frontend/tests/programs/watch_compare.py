"""What the watcher programs share: a module with watched keys, and the check that a write was seen."""

from watch_natives import ModuleBase, WatchedDict, arm, clean, dirty

# Numbers of the guards that `arm`, `arm_class` and `arm_function` register.
KEY, CLASS, FUNCTION = 0, 1, 2
FAILURES = []
CHECKED = [0]
VALUES = [0]


def new():
    """A value that is no other's."""
    VALUES[0] += 1
    return ("value", VALUES[0])


class Module(ModuleBase):
    def __init__(self):
        self.x = 0
        self.other = 1


def fresh(cls=Module):
    m = cls()
    m.x = new()
    m.other = 1
    for name in ("_parameters", "_buffers", "_modules"):
        d = WatchedDict()
        d["x"] = new()
        d["y"] = new()
        setattr(m, name, d)
    return m


def check(what, holds):
    CHECKED[0] += 1
    if not holds:
        FAILURES.append(what)


def raises(kind, call):
    try:
        call()
    except kind:
        return True
    return False


def way(what, write, o, key="x", read=None):
    """`write()` writes `key` of `o` (an item, if `o` is a dict); the guard that read it must be dirty afterwards."""
    get = read or (lambda: o.get(key) if isinstance(o, dict) else getattr(o, key, None))
    if not arm(o, key):
        return check(what + ": open", False)
    check(what + ": clean before", clean())
    before = get()
    write()
    check(what + ": written", get() is not before)
    check(what + ": seen", KEY in dirty())
    check(what + ": clean after", clean())


def report(at_least):
    assert not FAILURES, FAILURES
    assert CHECKED[0] >= at_least, CHECKED
