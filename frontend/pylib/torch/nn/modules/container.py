"""Containers of modules and of parameters."""

import sys

from torch._C import Tensor
from torch._typename import typename
from torch.nn.modules.module import Module, _indent
from torch.nn.parameter import Parameter


def _position(index, length):
    """The non-negative form of an index into something of this length."""
    index = index.__index__()
    if not -length <= index < length:
        raise IndexError(f"index {index} is out of range")
    return index + length if index < 0 else index


def _is_ordered_dict(obj):
    """Whether `obj` is an OrderedDict, without loading `collections`, which nobody who has one needs."""
    collections = sys.modules.get("collections")
    return collections is not None and isinstance(obj, collections.OrderedDict)


class Sequential(Module):
    """Calls its modules one after the other, each with the result of the one before."""

    def __init__(self, *args):
        super().__init__()
        if len(args) == 1 and _is_ordered_dict(args[0]):
            for key, module in args[0].items():
                self.add_module(key, module)
        else:
            for index, module in enumerate(args):
                self.add_module(str(index), module)

    def forward(self, input):
        for module in self._modules.values():
            input = module(input)
        return input

    def _key(self, index):
        return list(self._modules)[_position(index, len(self))]

    def __getitem__(self, index):
        if isinstance(index, slice):
            from collections import OrderedDict

            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._key(index)]

    def __setitem__(self, index, module):
        setattr(self, self._key(index), module)

    def __delitem__(self, index):
        if isinstance(index, slice):
            for key in list(self._modules)[index]:
                delattr(self, key)
        else:
            delattr(self, self._key(index))
        self._renumber(list(self._modules.values()))

    def _renumber(self, modules):
        self._modules.clear()
        for index, module in enumerate(modules):
            self._modules[str(index)] = module

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __dir__(self):
        return [name for name in super().__dir__() if not name.isdigit()]

    def __add__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(
                f"add operator supports only objects of Sequential class, but {type(other)} is given."
            )
        return Sequential(*self, *other)

    def __iadd__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(
                f"add operator supports only objects of Sequential class, but {type(other)} is given."
            )
        return self.extend(other)

    def __mul__(self, other):
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")
        return Sequential(*(list(self) * other))

    __rmul__ = __mul__

    def __imul__(self, other):
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")
        return self.extend(list(self) * (other - 1))

    def append(self, module):
        """Adds a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index, module):
        """Adds a module before `index`."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        length = len(self)
        if not -length <= index <= length:
            raise IndexError(f"Index out of range: {index}")
        modules = list(self)
        modules.insert(index + length if index < 0 else index, module)
        self._renumber(modules)
        return self

    def extend(self, sequential):
        """Adds modules at the end."""
        for module in list(sequential):
            self.append(module)
        return self

    def pop(self, key):
        """Removes and returns the module at `key`."""
        module = self[key]
        del self[key]
        return module


class ModuleList(Module):
    """A list of modules."""

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self += modules

    def _key(self, index):
        return str(_position(index, len(self)))

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(list(self._modules.values())[index])
        return self._modules[self._key(index)]

    def __setitem__(self, index, module):
        setattr(self, self._key(index), module)

    def __delitem__(self, index):
        modules = list(self._modules.values())
        del modules[index]
        self._renumber(modules)

    def _renumber(self, modules):
        self._modules.clear()
        for index, module in enumerate(modules):
            self._modules[str(index)] = module

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __iadd__(self, modules):
        return self.extend(modules)

    def __add__(self, other):
        combined = ModuleList()
        for module in list(self) + list(other):
            combined.append(module)
        return combined

    def __dir__(self):
        return [name for name in super().__dir__() if not name.isdigit()]

    def __repr__(self):
        """Runs of equal modules are written once, with the range of their indices."""
        runs = []
        for index, module in enumerate(self):
            text = repr(module)
            if runs and runs[-1][2] == text:
                runs[-1][1] = index
            else:
                runs.append([index, index, text])
        if not runs:
            return self._get_name() + "()"
        lines = []
        for first, last, text in runs:
            if first == last:
                lines.append(f"({first}): " + _indent(text))
            else:
                lines.append(f"({first}-{last}): {last - first + 1} x " + _indent(text))
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"

    def append(self, module):
        """Adds a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index, module):
        """Adds a module before `index`."""
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)

    def extend(self, modules):
        """Adds modules at the end."""
        if not hasattr(modules, "__iter__"):
            raise TypeError(
                "ModuleList.extend should be called with an iterable, but got " + type(modules).__name__
            )
        for module in list(modules):
            self.append(module)
        return self

    def pop(self, key):
        """Removes and returns the module at `key`."""
        module = self[key]
        del self[key]
        return module


class ModuleDict(Module):
    """A dict of modules."""

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key):
        return self._modules[key]

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def __delitem__(self, key):
        del self._modules[key]

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def __contains__(self, key):
        return key in self._modules

    def clear(self):
        """Removes all modules."""
        self._modules.clear()

    def pop(self, key):
        """Removes and returns the module at `key`."""
        module = self[key]
        del self[key]
        return module

    def keys(self):
        """The names."""
        return self._modules.keys()

    def items(self):
        """Pairs of name and module."""
        return self._modules.items()

    def values(self):
        """The modules."""
        return self._modules.values()

    def update(self, modules):
        """Adds the modules of a mapping, or of an iterable of pairs."""
        if not hasattr(modules, "__iter__"):
            raise TypeError(
                "ModuleDict.update should be called with an iterable of key/value pairs, but got " + type(modules).__name__
            )
        pairs = modules.items() if hasattr(modules, "items") else modules
        for index, pair in enumerate(pairs):
            pair = tuple(pair)
            if len(pair) != 2:
                raise ValueError(
                    f"ModuleDict update sequence element #{index} has length {len(pair)}; 2 is required"
                )
            self[pair[0]] = pair[1]


class ParameterList(Module):
    """A list of parameters; tensors put into it become parameters, other values are kept as they are."""

    def __init__(self, values=None):
        super().__init__()
        self._size = 0
        if values is not None:
            self += values

    def __getitem__(self, index):
        if isinstance(index, slice):
            result = type(self)()
            for position in range(*index.indices(len(self))):
                result.append(self[position])
            return result
        return getattr(self, str(_position(index, len(self))))

    def __setitem__(self, index, value):
        setattr(self, str(_position(index, len(self))), _as_parameter(value))

    def __len__(self):
        return self._size

    def __iter__(self):
        return iter([self[index] for index in range(len(self))])

    def __iadd__(self, values):
        return self.extend(values)

    def __dir__(self):
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, value):
        """Adds a value at the end."""
        index = self._size
        self._size += 1
        self[index] = value
        return self

    def extend(self, values):
        """Adds values at the end."""
        if not hasattr(values, "__iter__") or isinstance(values, Tensor):
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}")
        for value in list(values):
            self.append(value)
        return self

    def pop(self):
        """Removes and returns the last value."""
        value = self[len(self) - 1]
        self._size -= 1
        delattr(self, str(self._size))
        return value

    def extra_repr(self):
        return "\n".join(_describe(str(index), value, lambda tensor: tensor.dtype) for index, value in enumerate(self))

    def __call__(self, *args, **kwargs):
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """A dict of parameters; tensors put into it become parameters, other values are kept as they are."""

    def __init__(self, parameters=None):
        super().__init__()
        self._keys = {}
        if parameters is not None:
            self.update(parameters)

    def _attribute(self, key):
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is not a string "
                f"(type is '{type(key).__name__}'). Open an issue on github if you need non-string keys."
            )
        return key

    def __getitem__(self, key):
        return getattr(self, self._attribute(key))

    def __setitem__(self, key, value):
        self._keys[key] = None
        setattr(self, self._attribute(key), _as_parameter(value))

    def __delitem__(self, key):
        del self._keys[key]
        delattr(self, self._attribute(key))

    def __len__(self):
        return len(self._keys)

    def __iter__(self):
        return iter(self._keys)

    def __reversed__(self):
        return reversed(list(self._keys))

    def __contains__(self, key):
        return key in self._keys

    def __or__(self, other):
        result = self.copy()
        result.update(other)
        return result

    def __ior__(self, other):
        self.update(other)
        return self

    def copy(self):
        """A dict with the same values."""
        return ParameterDict({key: self[key] for key in self._keys})

    def setdefault(self, key, default=None):
        """The value at `key`, which is first set to `default` where it is missing."""
        if key not in self._keys:
            self[key] = default
        return self[key]

    def clear(self):
        """Removes all values."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key):
        """Removes and returns the value at `key`."""
        value = self[key]
        del self[key]
        return value

    def popitem(self):
        """Removes and returns the pair added last."""
        key, _ = self._keys.popitem()
        value = self[key]
        delattr(self, self._attribute(key))
        return key, value

    def get(self, key, default=None):
        """The value at `key`, or `default`."""
        return self[key] if key in self else default

    def fromkeys(self, keys, default=None):
        """A dict that has `default` at each of `keys`."""
        return ParameterDict((key, default) for key in keys)

    def keys(self):
        """The names."""
        return self._keys.keys()

    def items(self):
        """Pairs of name and value."""
        return [(key, self[key]) for key in self._keys]

    def values(self):
        """The values."""
        return [self[key] for key in self._keys]

    def update(self, parameters):
        """Adds the values of a mapping, or of an iterable of pairs."""
        if not hasattr(parameters, "__iter__"):
            raise TypeError(
                "ParametersDict.update should be called with an iterable of key/value pairs, but got "
                + type(parameters).__name__
            )
        pairs = parameters.items() if hasattr(parameters, "items") else parameters
        for index, pair in enumerate(pairs):
            pair = tuple(pair)
            if len(pair) != 2:
                raise ValueError(
                    f"ParameterDict update sequence element #{index} has length {len(pair)}; 2 is required"
                )
            self[pair[0]] = pair[1]

    def extra_repr(self):
        return "\n".join(_describe(key, value, typename) for key, value in self.items())

    def __call__(self, *args, **kwargs):
        raise RuntimeError("ParameterDict should not be called.")


def _as_parameter(value):
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        return Parameter(value)
    return value


def _describe(name, value, type_of):
    """A line about a value; `type_of` says how the type of a tensor is named."""
    if isinstance(value, Tensor):
        size = "x".join(str(size) for size in value.size())
        kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
        return f"  ({name}): {kind} containing: [{type_of(value)} of size {size}]"
    return f"  ({name}): Object of type: {type(value).__name__}"
