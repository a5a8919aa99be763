"""Watched objects through their lives: copies, collection, reentrancy, warmed reads; and what must not be disturbed."""

import collections
import copy
import functools
import gc
import json
import pickle
import sys
import types
import weakref

from watch_compare import KEY, WatchedDict, arm, check, clean, dirty, fresh, new, report, way, Module

# Copies
m = fresh()
c = copy.copy(m)
check("copy.copy shares the mappings", c._parameters is m._parameters)
way("a write to the copy", lambda: setattr(c, "x", new()), c)
way("a mapping written through the copy", lambda: c._parameters.__setitem__("x", new()), m._parameters)
c = copy.deepcopy(m)
check("deepcopy copies the mappings", type(c._parameters) is WatchedDict and c._parameters is not m._parameters)
way("a write to the deep copy", lambda: setattr(c, "x", new()), c)
way("a mapping of the deep copy", lambda: c._parameters.__setitem__("x", new()), c._parameters)
nested = WatchedDict()
nested["me"] = nested
c = copy.deepcopy(nested)
check("deepcopy of a cycle", c["me"] is c and c is not nested)
c = copy.copy(m._parameters)
check("copy.copy of a mapping", type(c) is WatchedDict and c == m._parameters)
c = pickle.loads(pickle.dumps(m._parameters))
check("a file holds a plain dict", type(c) is dict and c == m._parameters)

# Death and collection
m = fresh()
arm(m, "x")
del m
check("the root's death by reference count", KEY in dirty())
m = fresh()
m.me = m
arm(m, "x")
del m
gc.collect()
check("the root's death in a cycle", KEY in dirty())
m = fresh()
arm(m, "x")
gc.collect()
check("a collection leaves a live module clean", clean())


# Reentrancy
class Deleted:
    def __del__(self):
        global seen_in_del
        seen_in_del = (clean(), m.x)


m.x = Deleted()
arm(m, "x")
m.x = 5
check("__del__ of the old value sees the write", seen_in_del == (False, 5))


class Rearming:
    def keys(self):
        dirty()
        arm(m, "x")
        return ["x"]

    def __getitem__(self, key):
        return 77


m.__dict__.update(Rearming())
check("registered again inside update()", not clean() and m.x == 77)

# What disturbs nothing
m = fresh()
arm(m, "x")
m.other = 3
m.step = 1
m._parameters["x"] = 1
m.__dict__["y"] = 1
object.__setattr__(m, "z", 1)
setattr(m, "dynamic%d" % 7, 1)
check("writes of unwatched keys", clean())
arm(m, "other")
for _ in range(3):
    m.other = new()
    check("a guard stays registered when it fires", KEY in dirty())
check("and is listed once for each write", not dirty())


# More kinds of objects and writes
class Cached(Module):
    @functools.cached_property
    def value(self):
        return new()


m = fresh(Cached)
way("cached_property", lambda: m.value, m, "value", read=lambda: m.__dict__.get("value"))


class Getattribute(Module):
    def __getattribute__(self, name):
        return super().__getattribute__(name)


m = fresh(Getattribute)
way("a class with __getattribute__", lambda: setattr(m, "x", new()), m)


class Meta(type):
    def __setattr__(cls, name, value):
        type.__setattr__(cls, name, value)

    def __call__(cls, *args):
        return super().__call__(*args)


class WithMeta(Module, metaclass=Meta):
    pass


m = fresh(WithMeta)
way("a metaclass with __call__ and __setattr__", lambda: setattr(m, "x", new()), m)

m = fresh()
way("weakref.proxy", lambda: setattr(weakref.proxy(m), "x", new()), m)
way("ChainMap", lambda: collections.ChainMap(m.__dict__).__setitem__("x", new()), m)
way("update as __setstate__ does", lambda: m.__dict__.update(dict(m.__dict__, x=new())), m)


def frame_locals():
    exec('import sys; sys._getframe().f_locals["x"] = new()', {"new": new}, m.__dict__)


def failing_update():
    try:
        m.__dict__.update([("x", new()), 5])
    except TypeError:
        pass


way("f_locals where locals are the object's dict", frame_locals, m)
way("update that fails half-way", failing_update, m)
way("del m.__dict__", lambda: delattr(m, "__dict__"), m)
m.x = 1
check("the new dict is an exact one", type(m.__dict__) is dict)
way("and is adopted again", lambda: setattr(m, "x", new()), m)


# Warmed reads stay right after adoption
class Plain:
    pass


def plain():
    o = Plain()
    o.x = new()
    return o


for make in (fresh, plain):
    o = make()
    type(o).method = lambda self: "class"

    def read():
        return o.x

    def call():
        return o.method()

    for _ in range(1000):
        read()
        call()
    arm(o, "x")
    results = [read() is o.__dict__["x"]]
    o.x = 5
    results += [read() == 5, call() == "class"]
    o.method = lambda: "instance"
    results.append(call() == "instance")
    del o.method
    results.append(call() == "class")
    del o.x
    try:
        read()
        results.append(False)
    except AttributeError:
        pass
    check("warmed sites after adoption", all(results))

# It is a dict
m = fresh()
w = WatchedDict(a=1)
check("isinstance", isinstance(w, dict) and isinstance(m.__dict__, dict))
check("operators", w | {"b": 2} == {"a": 1, "b": 2} and {"b": 2} | w == {"b": 2, "a": 1} and w == {"a": 1})
check("text", repr(w) == "{'a': 1}" and json.dumps(w) == '{"a": 1}')
check("iteration", list(reversed(w)) == ["a"] and len(m.__dict__) == len(list(m.__dict__)) and {**m.__dict__})
check("copies", w.copy() == w and type(dict(w)) is dict)
w["b"] = 2
w.move_to_end("a")
check("move_to_end", list(w) == ["b", "a"])

report(80)
