"""Operators that are registered from Python: their schemas, and what a call of one does.

A call is not traced: a compiled function breaks at it, and it runs plainly.
"""

import torch
from torch._C._compiler import disable

# Every operator by namespace, name and overload ("" for the default one).
_operators = {}

# Fake forms of operators that are not defined yet, by the same key.
_early_fakes = {}

_KEYS = (
    "", "CPU", "CompositeExplicitAutograd", "CompositeImplicitAutograd", "CompositeExplicitAutogradNonFunctional", "Autograd", "AutogradCPU",
    "Meta",
)


class Argument:
    """A parameter of a schema."""

    def __init__(self, text, keyword_only):
        declared, _, default = text.partition("=")
        kind, _, self.name = declared.strip().rpartition(" ")
        if not kind or not self.name.isidentifier():
            raise RuntimeError(f"the schema has a parameter that is not 'Type name': {text.strip()!r}")
        self.keyword_only = keyword_only
        self.writes = "!" in kind
        self.optional = kind.endswith("?")
        # `Tensor(a!)[]?` without its alias and its question mark.
        before, found, rest = kind.partition("(")
        self.kind = (before + (rest.partition(")")[2] if found else "")).rstrip("?")
        self.has_default = "=" in text
        self.default = _value(default.strip()) if self.has_default else None

    def accepts(self, value):
        """Whether a call may give this value."""
        if value is None:
            return self.optional
        kind = self.kind
        if kind.endswith("]"):
            kind = kind.partition("[")[0].rstrip("?")
            return isinstance(value, (list, tuple)) and all(item is None or _KINDS.get(kind, _anything)(item) for item in value)
        return _KINDS.get(kind, _anything)(value)


def _anything(value):
    return True


def _is_int(value):
    return isinstance(value, int) and not isinstance(value, bool)


_KINDS = {
    "Tensor": lambda value: isinstance(value, torch.Tensor),
    "int": _is_int,
    "SymInt": _is_int,
    "float": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "bool": lambda value: isinstance(value, bool),
    "SymBool": lambda value: isinstance(value, bool),
    "str": lambda value: isinstance(value, str),
    "Scalar": lambda value: isinstance(value, (int, float)),
    "ScalarType": lambda value: isinstance(value, torch.dtype),
    "Device": lambda value: isinstance(value, (torch.device, str)),
}


def _value(text):
    """A default of a schema."""
    constants = {"None": None, "True": True, "False": False, "[]": []}
    if text in constants:
        return constants[text]
    if text[:1] in "\"'":
        return text[1:-1]
    if text[:1] == "[":
        return [_value(part.strip()) for part in text[1:-1].split(",")]
    try:
        return int(text)
    except ValueError:
        return float(text)


class Schema:
    """`name.overload(Tensor x, int n=1, *, float p=0.5) -> Tensor`."""

    def __init__(self, text):
        head, found, rest = text.partition("(")
        parameters, arrow, results = rest.rpartition("->")
        parameters = parameters.rstrip()
        if not found or not arrow or not parameters.endswith(")"):
            raise RuntimeError(f"the schema is not 'name(parameters) -> results': {text!r}")
        self.text = text.strip()
        self.name, _, self.overload = head.strip().partition(".")
        self.arguments = []
        keyword_only = False
        for part in _split(parameters[:-1]):
            if part == "*":
                keyword_only = True
            else:
                self.arguments.append(Argument(part, keyword_only))
        results = results.strip()
        inner = results[1:-1] if results.startswith("(") and results.endswith(")") else results
        self.returns = _split(inner)

    def bind(self, name, args, kwargs):
        """The value of each parameter, in order."""
        positional = [argument for argument in self.arguments if not argument.keyword_only]
        if len(args) > len(positional):
            raise RuntimeError(f"{name}() expected at most {len(positional)} argument(s) but received {len(args)} argument(s).")
        given = {argument.name: value for argument, value in zip(positional, args)}
        for key, value in kwargs.items():
            if key in given or all(argument.name != key for argument in self.arguments):
                raise RuntimeError(f"{name}(): Unknown keyword argument '{key}' for operator '{name}'. Schema: {self.text}")
            given[key] = value
        values = {}
        for argument in self.arguments:
            if argument.name not in given and not argument.has_default:
                raise RuntimeError(f"{name}() is missing value for argument '{argument.name}'. Declaration: {self.text}")
            value = given.get(argument.name, argument.default)
            if not argument.accepts(value):
                raise RuntimeError(
                    f"{name}() Expected a value of type '{argument.kind}' for argument '{argument.name}' but instead found type "
                    f"'{type(value).__name__}'."
                )
            values[argument.name] = value
        return values


def _split(text):
    """Parts between commas that are not within brackets."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]


class Operator:
    """One overload: `torch.ops.namespace.name.default`."""

    def __init__(self, namespace, schema, functional=False):
        self.namespace, self.schema = namespace, schema
        self.implementations = {}
        self.fake = None
        self.autograd = None
        # Whether results that share memory with arguments are refused.
        self.functional = functional
        self._function = None
        # The tracer doesn't step into a call.
        self._run_plainly = disable(self._run)

    @property
    def qualified_name(self):
        return f"{self.namespace}::{self.schema.name}"

    @property
    def _name(self):
        return self.qualified_name + ("." + self.schema.overload if self.schema.overload else "")

    @property
    def __name__(self):
        return f"{self.schema.name}.{self.schema.overload or 'default'}"

    @property
    def _schema(self):
        return f"{self.namespace}::{self.schema.text}"

    def name(self):
        """The name with its namespace."""
        return self._name

    def __repr__(self):
        return f"<OpOverload(op='{self.namespace}.{self.schema.name}', overload='{self.schema.overload or 'default'}')>"

    def __str__(self):
        return f"{self.namespace}.{self.__name__}"

    def __call__(self, *args, **kwargs):
        return self._run_plainly(args, kwargs)

    def implement(self, key, function):
        """Registers code for a dispatch key, in place of what was there."""
        if key not in _KEYS:
            raise NotImplementedError(f"torch.library: there is no dispatch key '{key}' here; code runs on 'CPU' only")
        self.implementations[key] = function

    def _kernel(self):
        for key in ("CPU", "CompositeExplicitAutograd", "CompositeImplicitAutograd", "", "CompositeExplicitAutogradNonFunctional"):
            if key in self.implementations:
                return key, self.implementations[key]
        raise NotImplementedError(
            f"Could not run '{self._name}' with arguments from the 'CPU' backend: no code is registered for it. Register it by "
            f"torch.library.impl('{self.qualified_name}', 'CPU')."
        )

    def _run(self, args, kwargs):
        values = self.schema.bind(self._name, args, kwargs)
        wants_grad = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in _tensors(values.values()))
        if not wants_grad:
            return self._compute(values)
        for key in ("Autograd", "AutogradCPU"):
            if key in self.implementations:
                return self._invoke(self.implementations[key], values)
        key, _ = self._kernel()
        if self.autograd is None and key in ("CompositeImplicitAutograd", ""):
            return self._compute(values)
        if any(isinstance(value, (list, tuple)) and any(tensor.requires_grad for tensor in _tensors(value)) for value in values.values()):
            raise NotImplementedError(f"{self}: gradients of operators from Python don't reach into lists of tensors yet")
        if self._function is None:
            self._function = _differentiated(self)
        result = self._function.apply(*values.values())
        # `apply` records the items of tuples.
        return list(result) if len(self.schema.returns) == 1 and self.schema.returns[0].endswith("[]") else result

    def _compute(self, values):
        _, function = self._kernel()
        result = self._invoke(function, values)
        if self.functional:
            self._check_fresh(values, result)
        return result

    def _invoke(self, function, values):
        positional = [values[argument.name] for argument in self.schema.arguments if not argument.keyword_only]
        return function(*positional, **{argument.name: values[argument.name] for argument in self.schema.arguments if argument.keyword_only})

    def _check_fresh(self, values, result):
        inputs = {tensor.untyped_storage() for tensor in _tensors(values.values()) if tensor.numel()}
        for tensor in _tensors(result if isinstance(result, (list, tuple)) else (result,)):
            if tensor.numel() and tensor.untyped_storage() in inputs:
                raise RuntimeError(
                    f"{self.qualified_name} (with implementation in {getattr(self._kernel()[1], '__module__', '?')}): The output of this custom "
                    "operator (1) must not also be an input to this custom operator and (2) may not alias any inputs to this custom operator "
                    "or other returns. The most common way to trigger this error is if we have y = custom_op(x) and y and x are the same "
                    "Tensor. Please instead return a clone of the offending output tensor(s) (e.g. return x.clone()) or refactor the custom "
                    "operator to not return y."
                )


def _tensors(values):
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)


def _differentiated(operator):
    """The `autograd.Function` through which an operator is called where gradients are wanted."""

    class Differentiated(torch.autograd.Function):
        @staticmethod
        def forward(ctx, *arguments):
            values = {argument.name: value for argument, value in zip(operator.schema.arguments, arguments)}
            result = operator._compute(values)
            result = tuple(result) if isinstance(result, list) else result
            written = [values[argument.name] for argument in operator.schema.arguments if argument.writes]
            if written:
                ctx.mark_dirty(*_tensors(written))
            if operator.autograd is not None and operator.autograd[1] is not None:
                keyword_only = {argument.name: values[argument.name] for argument in operator.schema.arguments if argument.keyword_only}
                positional = tuple(values[argument.name] for argument in operator.schema.arguments if not argument.keyword_only)
                if keyword_only:
                    operator.autograd[1](ctx=ctx, inputs=positional, keyword_only_inputs=keyword_only, output=result)
                else:
                    operator.autograd[1](ctx=ctx, inputs=positional, output=result)
            return result

        @staticmethod
        def backward(ctx, *gradients):
            if operator.autograd is None:
                raise RuntimeError(
                    f"Trying to backward through {operator} but no autograd formula was registered. If this is expected and you want to "
                    "compute gradients, please use register_autograd to register an autograd formula."
                )
            found = operator.autograd[0](ctx, *gradients)
            found = found if isinstance(found, tuple) else (found,)
            return found + (None,) * (len(operator.schema.arguments) - len(found))

    Differentiated.__name__ = Differentiated.__qualname__ = (
        f"GeneratedBackwardFor_{operator.namespace}_{operator.schema.name}_{operator.schema.overload or 'default'}"
    )
    return Differentiated


def define(namespace, text, functional=False):
    """Makes an operator by its schema."""
    schema = Schema(text)
    key = (namespace, schema.name, schema.overload)
    if namespace in ("aten", "prim", "prims"):
        raise NotImplementedError(f"torch.library: the namespace '{namespace}' is built in, and can't be added to here")
    if key in _operators:
        raise RuntimeError(f"Tried to register an operator ({namespace}::{text}) with the same name and overload name multiple times.")
    operator = _operators[key] = Operator(namespace, schema, functional)
    operator.fake = _early_fakes.pop(key, None)
    _forget(namespace, schema.name)
    return operator


def remove(operator):
    """Takes an operator out again."""
    _operators.pop((operator.namespace, operator.schema.name, operator.schema.overload), None)
    _forget(operator.namespace, operator.schema.name)


def _forget(namespace, name):
    """`torch.ops` looks the name up anew."""
    known = torch.ops.__dict__.get(namespace)
    if known is not None:
        known.__dict__.pop(name, None)


def keep_fake(name, function):
    """Keeps the fake form of an operator that isn't defined yet; whether there was none of that name."""
    if isinstance(name, Operator):
        return False
    key = _key(name)
    if key in _operators:
        return False
    _early_fakes[key] = function
    return True


def _key(name):
    namespace, found, rest = name.partition("::")
    if not found:
        raise ValueError(
            f"Expected `qualname` to be of the form \"namespace::name\" or `\"namespace::name.overload\"`, but got {name!r}"
        )
    base, _, overload = rest.partition(".")
    return namespace, base, "" if overload == "default" else overload


def find(name):
    """The operator of a name such as `mylib::f`, `mylib::f.overload` or `mylib.f.default`."""
    if isinstance(name, Operator):
        return name
    operator = _operators.get(_key(name))
    if operator is None:
        raise RuntimeError(f"Could not find operator {name}: register it by torch.library.define or torch.library.custom_op first")
    return operator


def overloads(namespace, name):
    """The overloads of a name, by overload name."""
    return {key[2]: operator for key, operator in _operators.items() if key[:2] == (namespace, name)}
