"""`torch.library`: operators registered from Python."""

import torch
from torch import _custom_ops


def infer_schema(prototype_function, /, *, mutates_args, op_name=None):
    """The schema of a function by its annotations; `mutates_args` names the tensors it writes into."""
    import inspect

    signature = inspect.signature(prototype_function)
    if mutates_args == "unknown":
        raise NotImplementedError("torch.library: mutates_args='unknown' is not supported here: name the arguments that are written")
    names = getattr(prototype_function, "__globals__", {})
    parts, keyword_only = [], False
    for name, parameter in signature.parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise ValueError(f"infer_schema(func): We do not support positional-only args, varargs, or varkwargs. Got {parameter}")
        if parameter.kind == parameter.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            parts.append("*")
        if parameter.annotation is parameter.empty:
            raise ValueError(f"infer_schema(func): Parameter {name} must have a type annotation. Got func with signature {signature})")
        kind = _schema_type(parameter.annotation, names)
        if kind is None:
            raise ValueError(f"infer_schema(func): Parameter {name} has unsupported type {parameter.annotation}.")
        if name in mutates_args:
            if not kind.startswith("Tensor"):
                raise ValueError(f"infer_schema(func): Parameter {name} is in mutable_args but only Tensors or collections of Tensors can be mutated")
            kind = kind.replace("Tensor", f"Tensor(a{len(parts)}!)", 1)
        default = parameter.default
        shown = "" if default is parameter.empty else "=" + _schema_default(default)
        parts.append(f"{kind} {name}{shown}")
    unknown = [name for name in mutates_args if name not in signature.parameters]
    if unknown:
        raise ValueError(f"infer_schema(func): {unknown} in mutates_args were not found in the function's signature.")
    return f"{op_name or ''}({', '.join(parts)}) -> {_schema_results(signature.return_annotation, names)}"


_SIMPLE = {
    torch.Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool", str: "str", torch.dtype: "ScalarType", torch.device: "Device",
}


def _resolved(annotation, names):
    return eval(annotation, dict(names)) if isinstance(annotation, str) else annotation


def _schema_type(annotation, names):
    annotation = _resolved(annotation, names)
    try:
        if annotation in _SIMPLE:
            return _SIMPLE[annotation]
    except TypeError:
        return None
    arguments = getattr(annotation, "__args__", None)
    if not arguments:
        return "Scalar" if getattr(annotation, "__name__", "") == "Number" else None
    kinds = [argument for argument in arguments if argument is not type(None)]
    if len(kinds) < len(arguments):
        inner = _schema_type(kinds[0], names) if len(kinds) == 1 else None
        return inner and inner + "?"
    if getattr(annotation, "__origin__", None) is not None and len(kinds) == 1:
        inner = _schema_type(kinds[0], names)
        return inner and inner + "[]"
    if set(kinds) <= {int, float, bool}:
        return "Scalar"
    return None


def _schema_default(value):
    if isinstance(value, torch.dtype):
        raise ValueError("infer_schema(func): a dtype can't be a default here; give None and replace it in the function")
    return f'"{value}"' if isinstance(value, str) else str(value)


def _schema_results(annotation, names):
    import inspect

    annotation = _resolved(annotation, names)
    if annotation is inspect.Signature.empty:
        raise ValueError("infer_schema(func): No return type annotation was provided. Please add one.")
    if annotation is None:
        return "()"
    if getattr(annotation, "__origin__", None) is tuple:
        kinds = [_schema_type(argument, names) for argument in annotation.__args__]
        if None not in kinds:
            return f"({', '.join(kinds)})"
    kind = _schema_type(annotation, names)
    if kind is None:
        raise ValueError(f"infer_schema(func): Return has unsupported type {annotation}.")
    return kind


class CustomOpDef:
    """What `custom_op` gives: the operator, to be called and to be completed."""

    def __init__(self, operator, function):
        self._opoverload = operator
        self._init_fn = function
        self.__name__ = getattr(function, "__name__", operator.schema.name)
        self.__doc__ = getattr(function, "__doc__", None)

    @property
    def _qualname(self):
        return self._opoverload.qualified_name

    def __repr__(self):
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args, **kwargs):
        return self._opoverload(*args, **kwargs)

    def register_kernel(self, device_types, fn=None, /):
        """Code for a device type."""
        return register_kernel(self._opoverload, device_types, fn)

    def register_fake(self, fn, /):
        """The function that says what results look like."""
        return register_fake(self._opoverload, fn)

    def register_autograd(self, backward, /, *, setup_context=None):
        """The gradient."""
        register_autograd(self._opoverload, backward, setup_context=setup_context)


def custom_op(name, fn=None, /, *, mutates_args=(), device_types=None, schema=None, tags=None):
    """Makes an operator of a function, whose schema follows from its annotations unless one is given."""
    if fn is None:
        return lambda function: custom_op(name, function, mutates_args=mutates_args, device_types=device_types, schema=schema, tags=tags)
    namespace, found, base = name.partition("::")
    if not found or not namespace or not base:
        raise ValueError(f"Expected `qualname` to be of the form \"namespace::name\", but got {name!r}")
    if schema is None:
        schema = infer_schema(fn, mutates_args=mutates_args)
    known = _custom_ops.overloads(namespace, base).get("")
    if known is not None:
        _custom_ops.remove(known)
    operator = _custom_ops.define(namespace, base + schema[schema.index("("):], functional=True)
    _implement(operator, "CompositeExplicitAutograd" if device_types is None else device_types, fn)
    return CustomOpDef(operator, fn)


def _operator(op):
    return op._opoverload if isinstance(op, CustomOpDef) else _custom_ops.find(op)


def _implement(operator, types, function):
    for kind in (types,) if isinstance(types, str) else types or ("CompositeExplicitAutograd",):
        key = {"cpu": "CPU", "default": "CompositeExplicitAutograd"}.get(kind, kind)
        # Code for devices that aren't there is never asked for.
        if key not in ("cuda", "CUDA", "xpu", "XPU", "mps", "MPS", "hpu"):
            operator.implement(key, function)


def define(qualname, schema, *, lib=None, tags=()):
    """Makes an operator by its name and the rest of its schema; as a decorator, of a function that is its code."""
    if not isinstance(schema, str):
        raise ValueError(f"define(qualname, schema): expected schema to be instance of str, got {type(schema)}")
    namespace, found, name = qualname.partition("::")
    if not found:
        raise ValueError(f"Expected `qualname` to be of the form \"namespace::name\", but got {qualname!r}")
    _custom_ops.define(namespace, name + schema)


def impl(qualname, types, func=None, *, lib=None):
    """Code of an operator for device types such as "cpu", or "default" for all."""
    if isinstance(qualname, Library):
        return _library_impl(qualname, types, func)
    if func is None:
        return lambda function: impl(qualname, types, function, lib=lib) or function
    _implement(_operator(qualname), types, func)


def _library_impl(library, name, dispatch_key):
    def register(function):
        library.impl(name, function, dispatch_key or "")
        return function

    return register


def register_kernel(op, device_types, func=None, /, *, lib=None):
    """Code of an operator for device types; None is all of them."""
    if func is None:
        return lambda function: register_kernel(op, device_types, function, lib=lib) or function
    operator = _operator(op)
    for kind in (device_types,) if isinstance(device_types, str) or device_types is None else device_types:
        if kind in (None, "cpu"):
            operator.implementations.pop("CPU", None)
            operator.implement("CPU", func)


def register_fake(op, func=None, /, *, lib=None, _stacklevel=1, allow_override=False):
    """The function that says what an operator's results look like, without computing them."""
    if func is None:
        return lambda function: register_fake(op, function, lib=lib, allow_override=allow_override) or function
    if not isinstance(op, CustomOpDef) and _custom_ops.keep_fake(op, func):
        return func
    operator = _operator(op)
    if operator.fake is not None and not allow_override:
        raise RuntimeError(f"register_fake(...): the operator {operator.qualified_name} already has an fake impl registered")
    operator.fake = func
    return func


impl_abstract = register_fake


def register_autograd(op, backward, /, *, setup_context=None, lib=None):
    """The gradient of an operator: `backward(ctx, *grads)`, and `setup_context(ctx, inputs, output)`, which keeps what it needs."""
    operator = _operator(op)
    if any(argument.writes for argument in operator.schema.arguments):
        raise RuntimeError(
            f"Cannot register autograd formula for non-functional operator {operator} with schema {operator._schema}. Please create a "
            "functional operator and register an autograd formula for that."
        )
    operator.autograd = (backward, setup_context)
    operator._function = None


def get_ctx():
    """Within a fake function, the context that makes sizes known only at run time."""
    raise RuntimeError("get_ctx() can only be called inside of a fake impl")


class Library:
    """A set of operators of one namespace: `kind` is "DEF" for a namespace of its own, "FRAGMENT" or "IMPL" for an addition."""

    def __init__(self, ns, kind, dispatch_key=""):
        if kind not in ("DEF", "FRAGMENT", "IMPL"):
            raise ValueError("Unsupported kind: ", kind)
        if ns in ("prim", "prims"):
            raise ValueError(ns, " is a reserved namespace. Please try creating a library with another name.")
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self._defined = []

    def __repr__(self):
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def define(self, schema, alias_analysis="", *, tags=()):
        """Makes an operator; its name."""
        operator = _custom_ops.define(self.ns, schema)
        self._defined.append(operator)
        return operator._name.partition("::")[2]

    def impl(self, op_name, fn, dispatch_key="", *, with_keyset=False, allow_override=False):
        """Registers code of an operator."""
        if with_keyset:
            raise NotImplementedError("torch.library: code is not given dispatch keys here")
        if isinstance(op_name, str):
            if self.ns == "aten":
                raise NotImplementedError("torch.library: the code of built-in operators can't be replaced here")
            name = op_name if "::" in op_name else f"{self.ns}::{op_name}"
        else:
            name = op_name
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        _operator(name).implement(dispatch_key or self.dispatch_key, fn)

    def _destroy(self):
        for operator in self._defined:
            _custom_ops.remove(operator)
        self._defined.clear()


class _scoped_library:
    """A `Library` whose operators are gone at the end of the block."""

    def __init__(self, *args, **kwargs):
        self.library = Library(*args, **kwargs)

    def __enter__(self):
        return self.library

    def __exit__(self, exc_type, exc_value, traceback):
        self.library._destroy()
