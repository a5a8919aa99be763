"""Ways of writing an attribute or an item: after each, the guard that read it is dirty.

Each way is tried on a key that a fresh memo watches: plain statements, the object's dict in every disguise, `__dict__`
and `__class__`, the mappings of a module, classes with their own `__setattr__`. Warmed sites are tried again, since the
VM specialises them.
"""

import collections
import functools
import gc
import operator
import types

from watch_compare import KEY, ModuleBase, WatchedDict, arm, check, dirty, fresh, new, raises, report, way, Module as M

m = fresh()


# Attribute writes
def store():
    m.x = new()


way("m.x = v", store, m)


def store_often():
    for i in range(10000):
        m.x = new()


store_often()
way("m.x = v, 10000 times, warmed (adaptive STORE_ATTR)", store_often, m)
way("... once more from the warmed site", store_often, m)
way('setattr(m, "x", v)', lambda: setattr(m, "x", new()), m)
way("setattr(m, non-interned name, v)", lambda: setattr(m, "".join(["", "x"]), new()), m)


class Name(str):
    pass


way("setattr(m, str-subclass, v)", lambda: setattr(m, Name("x"), new()), m)
way("del m.x", lambda: delattr(m, "x"), m)
m.x = new()
way('object.__setattr__(m, "x", v)', lambda: object.__setattr__(m, "x", new()), m)
way('object.__delattr__(m, "x")', lambda: object.__delattr__(m, "x"), m)
m.x = new()
way('type(m).__setattr__(m, "x", v)', lambda: type(m).__setattr__(m, "x", new()), m)
way('ModuleBase.__setattr__(m, "x", v)', lambda: ModuleBase.__setattr__(m, "x", new()), m)
way('m.__setattr__("x", v) (method-wrapper)', lambda: m.__setattr__("x", new()), m)
way('object.__setattr__.__get__(m)("x", v)', lambda: object.__setattr__.__get__(m)("x", new()), m)
way('functools.partial(setattr, m)("x", v)', lambda: functools.partial(setattr, m)("x", new()), m)


def base_setattr_often():
    f = object.__setattr__
    for i in range(10000):
        f(m, "x", new())


base_setattr_often()
way("object.__setattr__ store_often loop", base_setattr_often, m)
# Through the dict
way('m.__dict__["x"] = v', lambda: m.__dict__.__setitem__("x", new()), m)


def store_in_dict():
    m.__dict__["x"] = new()


for _ in range(100):
    store_in_dict()
way('m.__dict__["x"] = v (STORE_SUBSCR warmed)', store_in_dict, m)
kept = m.__dict__


def store_in_kept():
    kept["x"] = new()


for _ in range(100):
    store_in_kept()
way('d = m.__dict__ kept; d["x"] = v', store_in_kept, m)
way('vars(m)["x"] = v', lambda: vars(m).__setitem__("x", new()), m)
way("m.__dict__.update(x=v)", lambda: m.__dict__.update(x=new()), m)
way("m.__dict__.update({..})", lambda: m.__dict__.update({"x": new()}), m)
way("m.__dict__.update([(k, v)])", lambda: m.__dict__.update([("x", new())]), m)
way("m.__dict__ |= {..}", lambda: operator.ior(m.__dict__, {"x": new()}), m)
way('m.__dict__.pop("x")', lambda: m.__dict__.pop("x"), m)
m.x = new()
way("m.__dict__.clear()", lambda: m.__dict__.clear(), m)
m = fresh()
way(
    'object.__getattribute__(m, "__dict__")["x"] = v',
    lambda: object.__getattribute__(m, "__dict__").__setitem__("x", new()),
    m,
)
way('dict.__setitem__(m.__dict__, "x", v)', lambda: dict.__setitem__(m.__dict__, "x", new()), m)
way("dict.update(m.__dict__, x=v)", lambda: dict.update(m.__dict__, x=new()), m)


class Plain:
    pass


p = Plain()
p.__dict__ = m.__dict__


def store_plain():
    p.x = new()


way("p.__dict__ = m.__dict__; p.x = v (plain object)", store_plain, m)
for _ in range(100):
    store_plain()
way("... the same, warmed site", store_plain, m)
way('exec("x = v", {}, m.__dict__)', lambda: exec("x = new()", {"new": new}, m.__dict__), m)
m.__dict__["new"] = new
way('exec("x = v", m.__dict__)', lambda: exec("x = new()", m.__dict__), m)
way('exec("global x; x = v", m.__dict__)', lambda: exec("global x\nx = new()", m.__dict__), m)


def global_store():
    global x
    x = new()


foreign_global_store = types.FunctionType(global_store.__code__, m.__dict__)
way("function whose __globals__ is m.__dict__, STORE_GLOBAL", foreign_global_store, m)
for _ in range(100):
    foreign_global_store()
way("... warmed", foreign_global_store, m)
way(
    "gc.get_referents(m) -> dict -> [k] = v",
    lambda: [d for d in gc.get_referents(m) if isinstance(d, dict)][0].__setitem__("x", new()),
    m,
)


class Prepared(type):
    def __prepare__(*a, **k):
        return m.__dict__


def class_body():

    class Q(metaclass=Prepared):
        x = new()


way("class body with __prepare__ = m.__dict__", class_body, m)
way(
    '_collections._count_elements(m.__dict__, ["x"])',
    lambda: (
        m.__dict__.__setitem__("x", 1),
        arm(m, "x"),
        __import__("_collections")._count_elements(m.__dict__, ["x"]),
    ),
    m,
)
# __dict__ and __class__ replaced
m = fresh()
way("m.__dict__ = {...}", lambda: setattr(m, "__dict__", {"x": new(), "other": 1}), m)
way("m.x = v afterwards", store, m)
m = fresh()
way('object.__setattr__(m, "__dict__", {..})', lambda: object.__setattr__(m, "__dict__", {"x": new()}), m)


class Mixin:
    pass


class MixedModule(Mixin, M):
    pass


mixed = fresh(MixedModule)
check("a mixin first: made by object.__new__", type(mixed.__dict__) is dict)
mixed = fresh(MixedModule)
way("mixin before base: mixed.x = v", lambda: setattr(mixed, "x", new()), mixed)
way(
    "Mix.__dict__['__dict__'].__get__(mixed)['x'] = v",
    lambda: Mixin.__dict__["__dict__"].__get__(mixed).__setitem__("x", new()),
    mixed,
)
way(
    "Mix.__dict__['__dict__'].__set__(mixed, {..})",
    lambda: Mixin.__dict__["__dict__"].__set__(mixed, {"x": new()}),
    mixed,
)


class OtherModule(M):
    x = property(lambda self: new())


def change_class():
    m.__class__ = OtherModule


m = fresh()
way("m.__class__ = C", change_class, m, read=lambda: type(m))
m = fresh()
way(
    'object.__setattr__(m, "__class__", C)',
    lambda: object.__setattr__(m, "__class__", OtherModule),
    m,
    read=lambda: type(m),
)
m = fresh()
way(
    "object.__dict__['__class__'].__set__(m, C)",
    lambda: object.__dict__["__class__"].__set__(m, OtherModule),
    m,
    read=lambda: type(m),
)
m = fresh()
parameters_of_m = m._parameters
check("a watched dict stays one", raises(TypeError, lambda: setattr(parameters_of_m, "__class__", dict)))


class PlainObject:
    pass


def plain_object():
    o = PlainObject()
    o.x = new()
    o.other = 1
    return o


o = plain_object()


def store_in_plain():
    o.x = new()


for _ in range(1000):
    store_in_plain()
way("plain object (dict adopted): o.x = v at a warmed site", store_in_plain, o)
way("plain object: object.__setattr__", lambda: object.__setattr__(o, "x", new()), o)
way('plain object: vars(o)["x"]', lambda: vars(o).__setitem__("x", new()), o)
way("plain object: o.__dict__ = {..}", lambda: setattr(o, "__dict__", {"x": new(), "other": 1}), o)
way("   ... again (the unshared new dict is adopted)", store_in_plain, o)
keep = o.__dict__
way("plain object: o.__dict__ = {..}, old dict kept alive", lambda: setattr(o, "__dict__", {"x": new()}), o)
o = plain_object()
way("plain object: o.__class__ = C", lambda: setattr(o, "__class__", Mixin), o, read=lambda: type(o))
h = {"x": 1}
o.__dict__ = h
check("an object whose dict somebody holds is open", not arm(o, "x"))
# _parameters / _buffers / _modules
m = fresh()
parameters = m._parameters
way("m._parameters = {..} (whole mapping)", lambda: setattr(m, "_parameters", {"x": new()}), m, "_parameters")
m = fresh()
parameters = m._parameters


def store_parameter():
    m._parameters["x"] = new()


way('m._parameters["x"] = v', store_parameter, parameters)
for _ in range(1000):
    store_parameter()
way("... warmed", store_parameter, parameters)
way('del m._buffers["x"]', lambda: m._buffers.__delitem__("x"), m._buffers)


def delete_buffer():
    del m._buffers["y"]


way("del statement", delete_buffer, m._buffers, "y")
for what, f in (
    ("update(x=v)", lambda d: d.update(x=new())),
    ("update(dict)", lambda d: d.update({"x": new()})),
    ("pop", lambda d: d.pop("x")),
    ("clear", lambda d: d.clear()),
    ("setdefault (absent)", lambda d: d.setdefault("x", new())),
    ("|=", lambda d: operator.ior(d, {"x": new()})),
    ("popitem", lambda d: d.popitem()),
    ("__init__(x=v)", lambda d: d.__init__(x=new())),
    ("dict.__setitem__", lambda d: dict.__setitem__(d, "x", new())),
    ("dict.__delitem__", lambda d: dict.__delitem__(d, "x")),
    ("dict.update", lambda d: dict.update(d, x=new())),
    ("dict.update(*a)", lambda d: dict.update(*[d], **{"x": new()})),
    ("dict.pop", lambda d: dict.pop(d, "x")),
    ("dict.clear", lambda d: dict.clear(d)),
    ("dict.setdefault (absent)", lambda d: (dict.pop(d, "x", 0), arm(d, "x"), dict.setdefault(d, "x", new()))),
    ("dict.popitem", lambda d: dict.popitem(d)),
    ("dict.__ior__", lambda d: dict.__ior__(d, {"x": new()})),
    ("dict.__init__", lambda d: dict.__init__(d, x=new())),
    ("super(WatchedDict, d).update", lambda d: super(WatchedDict, d).update(x=new())),
    ("f = super(..).update; f()", lambda d: (lambda f: f(x=new()))(super(WatchedDict, d).update)),
    ("dict.update.__get__(d)", lambda d: dict.update.__get__(d)(x=new())),
    ("dict.__setitem__.__get__(d)", lambda d: dict.__setitem__.__get__(d)("x", new())),
    ("dict.update.__call__(d, ..)", lambda d: dict.update.__call__(d, x=new())),
    ("dict.__setitem__.__call__(d, ..)", lambda d: dict.__setitem__.__call__(d, "x", new())),
    ("types.MethodType(dict.update, d)()", lambda d: types.MethodType(dict.update, d)(x=new())),
    ("partial(dict.update, d)()", lambda d: functools.partial(dict.update, d)(x=new())),
    ("type(dict.update).__get__(dict.update, d)", lambda d: type(dict.update).__get__(dict.update, d)(x=new())),
    ("type(dict.update).__call__(dict.update, d)", lambda d: type(dict.update).__call__(dict.update, d, x=new())),
    ("super(WatchedDict, d).__setitem__", lambda d: super(WatchedDict, d).__setitem__("x", new())),
    ("list(map(dict.__setitem__, ..))", lambda d: list(map(dict.__setitem__, [d], ["x"], [new()]))),
    ("operator.setitem", lambda d: operator.setitem(d, "x", new())),
    ('operator.methodcaller("update")', lambda d: operator.methodcaller("update", x=new())(d)),
    ('for-target  for d["x"] in ..', lambda d: exec('for d["x"] in [new()]: pass', {"d": d, "new": new})),
):
    d = WatchedDict()
    d["x"] = new()
    if "absent" in what:
        d.pop("x")
    way("_modules " + what, (lambda d, f: lambda: f(d))(d, f), d)
d = WatchedDict()
d["x"] = new()
d["y"] = 1


def every(what, f):
    arm(d, None)
    f()
    check(what, KEY in dirty())


every("move_to_end, iteration order watched", lambda: d.move_to_end("x"))
every("new key, iteration watched", lambda: d.__setitem__("z", 1))
every("non-interned new key, iteration watched", lambda: d.__setitem__("".join(["q", "w", str(len(d))]), 1))


# Overrides in python subclasses
class SuperSetattr(M):
    def __setattr__(self, n, v):
        super().__setattr__(n, v)


m = fresh(SuperSetattr)
way("super().__setattr__ in a Python __setattr__", store, m)
store_often()
way("... hot", store_often, m)


class BaseSetattr(M):
    def __setattr__(self, n, v):
        object.__setattr__(self, n, v)


m = fresh(BaseSetattr)
way("object.__setattr__ in a Python __setattr__", store, m)
store_often()
way("... hot", store_often, m)


class DictSetattr(M):
    def __setattr__(self, n, v):
        self.__dict__[n] = v


m = fresh(DictSetattr)
way("self.__dict__[n] = v in a Python __setattr__", store, m)
store_often()
way("... hot", store_often, m)


class Getattr(M):
    def __getattr__(self, n):
        if n == "x":
            return new.__name__
        raise AttributeError(n)


m = fresh(Getattr)
way("class with __getattr__", store, m)
delattr(m, "x")
check("__getattr__ is reached", m.x == "new")


class Slots(M):
    __slots__ = ("k",)

    def __init__(self):
        pass


m = fresh(Slots)
m.k = 1


def store_slot():
    m.k = new()


way("__slots__ member m.k = v", store_slot, m, "k")
for _ in range(1000):
    store_slot()
way("... warmed (STORE_ATTR_SLOT)", store_slot, m, "k")
way("O5.k.__set__(m, v)", lambda: Slots.k.__set__(m, new()), m, "k")
way("O5.k.__delete__(m)", lambda: Slots.k.__delete__(m), m, "k")
m.k = 1
way('object.__setattr__(m, "k", v)', lambda: object.__setattr__(m, "k", new()), m, "k")


class ObjectSetattr(M):
    __setattr__ = object.__setattr__


m = fresh(ObjectSetattr)
way("class with __setattr__ = object.__setattr__", store, m)
store_often()
way("... store_often (does STORE_ATTR specialise?)", store_often, m)

report(431)
