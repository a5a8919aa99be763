"""Classes and functions: any change that lookup or a call can see makes the guard dirty, nothing else does."""

import gc

from watch_compare import CLASS, FUNCTION, KEY, ModuleBase, WatchedDict, check, clean, dirty, fresh, report
from watch_natives import arm, arm_class, arm_function


class Mixin:
    pass


class Base(ModuleBase):
    k = 1

    def forward(self):
        return 1


class Middle(Base):
    pass


class Leaf(Middle):
    pass


class Other(ModuleBase):
    pass


def change(what, write, seen=True, cls=Leaf):
    arm_class(cls)
    check(what + ": clean before", clean())
    write()
    check(what, (CLASS in dirty()) == seen)
    check(what + ": clean after", clean())


change("method replaced on the class", lambda: setattr(Leaf, "forward", lambda self: 2))
change("method replaced on a base", lambda: setattr(Base, "forward", lambda self: 3))
change("replaced on a base again", lambda: setattr(Base, "forward", lambda self: 3))
change("class attribute deleted", lambda: delattr(Leaf, "forward"))
change("type.__setattr__", lambda: type.__setattr__(Leaf, "forward", lambda self: 4))
change("__bases__", lambda: setattr(Middle, "__bases__", (Base, Mixin)))
change("native base", lambda: setattr(ModuleBase, "patched", 1))
change("mixin", lambda: setattr(Mixin, "z", 1))
change("special method", lambda: setattr(Leaf, "__call__", lambda self: 4))
change("__setattr__ added later", lambda: setattr(Leaf, "__setattr__", lambda self, name, value: None))
change("__doc__", lambda: setattr(Leaf, "__doc__", "x"))
change("a class nobody watches", lambda: setattr(Other, "q", 1), seen=False)
change("the watched class", lambda: setattr(Other, "q", 2), cls=Other)
change("another watched class", lambda: setattr(Other, "q", 3), seen=False)
change("a subclass is made", lambda: type("Later", (Leaf,), {}), seen=False)
change("an instance is written", lambda: Middle().__dict__.update(a=1), seen=False)
change("a collection", gc.collect, seen=False)

# A guard hears of every change, not of the first only.
arm_class(Leaf)
for value in range(3):
    Base.k = value
    check("each change", CLASS in dirty())

check("the sentinel is hidden", [c.__name__ for c in Leaf.__subclasses__()] in ([], ["Later"]))


def change_function(what, write, seen=True):
    arm_function(Base.forward)
    check(what + ": clean before", clean())
    write()
    check(what, (FUNCTION in dirty()) == seen)


F = Base.forward


def defaults():
    F.__defaults__ = (2,)


change_function("__code__", lambda: setattr(F, "__code__", (lambda self: 9).__code__))
change_function("__defaults__", lambda: setattr(F, "__defaults__", (1,)))
change_function("__kwdefaults__", lambda: setattr(F, "__kwdefaults__", {"a": 1}))
for _ in range(1000):
    defaults()
change_function("__defaults__, warmed", defaults)
change_function("another function", lambda: setattr(change, "__defaults__", change.__defaults__), seen=False)
change_function("__name__", lambda: setattr(F, "__name__", "q"), seen=False)


class Shadowed(Base):
    pass


m = fresh(Shadowed)
arm(m, "k")
m.k = 5
check("a class attribute shadowed by the instance", KEY in dirty())
m._forward_hooks = WatchedDict()
arm(m._forward_hooks, None)
m._forward_hooks[1] = print
check("a key that is no string", KEY in dirty())

report(69)
