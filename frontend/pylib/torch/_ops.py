"""`torch.ops`: operators by namespace and name, as `torch.ops.aten.relu.default`."""

from torch import _C


class CustomPacket:
    """An operator registered from Python; its overloads are attributes."""

    def __init__(self, namespace, name, overloads):
        self._namespace = namespace
        self.__name__ = name
        self.__module__ = "torch._ops." + namespace
        self._overloads = overloads
        for overload, operator in overloads.items():
            self.__dict__[overload or "default"] = operator
        self._qualified_op_name = f"{namespace}::{name}"

    def overloads(self):
        """The names of the overloads."""
        return [overload or "default" for overload in self._overloads]

    def __call__(self, *args, **kwargs):
        operators = list(self._overloads.values())
        for operator in operators[:-1]:
            try:
                operator.schema.bind(operator._name, args, kwargs)
            except RuntimeError:
                continue
            return operator(*args, **kwargs)
        return operators[-1](*args, **kwargs)

    def __getattr__(self, overload):
        raise AttributeError(f"The underlying op of '{self._namespace}.{self.__name__}' has no overload name '{overload}'")

    def __repr__(self):
        return f"<OpOverloadPacket(op='{self._namespace}.{self.__name__}')>"

    def __str__(self):
        return f"{self._namespace}.{self.__name__}"


class OpOverloadPacket:
    """An operator; each overload, such as `default`, is the operator itself, which picks by its arguments."""

    def __init__(self, namespace, name, function):
        self._namespace = namespace
        self.__name__ = name
        self.__module__ = "torch._ops." + namespace
        self._function = function

    def __call__(self, *args, **kwargs):
        return self._function(*args, **kwargs)

    def __getattr__(self, overload):
        if overload[:1] == "_":
            raise AttributeError(overload)
        return self

    def __repr__(self):
        return f"<OpOverloadPacket(op='{self._namespace}.{self.__name__}')>"


class _Namespace:
    def __init__(self, name):
        self.name = name

    def __getattr__(self, name):
        if self.name != "aten" and name[:2] != "__":
            from torch import _custom_ops

            overloads = _custom_ops.overloads(self.name, name)
            if overloads:
                packet = CustomPacket(self.name, name, overloads)
                self.__dict__[name] = packet
                return packet
        function = None
        for place in (_C, _C._nn, _C.Tensor):
            function = place.__dict__.get(name)
            if function is not None:
                break
        if function is None or self.name != "aten":
            raise AttributeError(f"'_OpNamespace' '{self.name}' object has no attribute '{name}'")
        packet = OpOverloadPacket(self.name, name, function)
        self.__dict__[name] = packet
        return packet


class _Ops:
    """All namespaces."""

    loaded_libraries = frozenset()

    def load_library(self, path):
        """An error: no library of compiled operators can be loaded."""
        raise OSError(f"{path}: this engine loads no libraries")

    load_library_if_exists = load_library

    def __getattr__(self, name):
        if name[:2] == "__":
            raise AttributeError(name)
        namespace = _Namespace(name)
        self.__dict__[name] = namespace
        return namespace


ops = _Ops()
