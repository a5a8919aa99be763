"""A graph: nodes in the order they run."""

import builtins

from torch.fx.node import Node, map_arg, target_name

_INFIX = {
    "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "truediv": "{} / {}", "floordiv": "{} // {}", "mod": "{} % {}",
    "pow": "{} ** {}", "matmul": "{} @ {}", "and_": "{} & {}", "or_": "{} | {}", "xor": "{} ^ {}", "lshift": "{} << {}",
    "rshift": "{} >> {}", "lt": "{} < {}", "le": "{} <= {}", "gt": "{} > {}", "ge": "{} >= {}", "eq": "{} == {}",
    "ne": "{} != {}", "neg": "-{}", "pos": "+{}", "invert": "~{}", "getitem": "{}[{}]",
}
_IN_PLACE = {
    "iadd": "+=", "isub": "-=", "imul": "*=", "itruediv": "/=", "ifloordiv": "//=", "imod": "%=", "ipow": "**=",
    "imatmul": "@=", "iand": "&=", "ior": "|=", "ixor": "^=",
}
_RESERVED = frozenset(dir(builtins)) | {
    "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except", "finally",
    "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try",
    "while", "with", "yield", "self", "torch", "operator", "inf", "nan", "device",
}


class _InsertPoint:
    """Where a graph puts new nodes, for a block or until it is changed."""

    def __init__(self, graph, position):
        self.graph = graph
        self.prior = graph._insert_at
        graph._insert_at = position

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.graph._insert_at = self.prior


class Graph:
    """Nodes in the order they run, from the placeholders to the output.

    New nodes are added at the end, or where `inserting_before` or `inserting_after` says.
    """

    def __init__(self, owning_module=None, tracer_cls=None, tracer_extras=None):
        self.owning_module = owning_module
        self._nodes = []
        self._names = set()
        # The node that new ones are put behind, after the others that were; None for the end.
        self._insert_at = None

    @property
    def nodes(self):
        return _NodeList(self)

    def __len__(self):
        return len(self._nodes)

    # Building

    def create_node(self, op, target, args=None, kwargs=None, name=None, type_expr=None):
        """Adds a node; its name is made unique."""
        node = Node(self, self._unique_name(name or _base_name(op, target)), op, target, args or (), kwargs or {}, type_expr)
        if self._insert_at is None:
            self._nodes.append(node)
        else:
            anchor, offset = self._insert_at
            self._nodes.insert(self._position(anchor) + offset, node)
            if offset == 1:
                self._insert_at = (node, 1)
        return node

    def placeholder(self, name, type_expr=None, default_value=None):
        """Adds an input."""
        return self.create_node("placeholder", name, type_expr=type_expr)

    def get_attr(self, qualified_name, type_expr=None):
        """Adds a read of an attribute of the owning module."""
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_function(self, the_function, args=None, kwargs=None, type_expr=None, name=None):
        """Adds a call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name, type_expr)

    def call_method(self, method_name, args=None, kwargs=None, type_expr=None):
        """Adds a call of a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_module(self, module_name, args=None, kwargs=None, type_expr=None):
        """Adds a call of a module below the owning module."""
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def output(self, result, type_expr=None):
        """Adds the output."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def node_copy(self, node, arg_transform=lambda node: node):
        """Adds a copy of a node of another graph."""
        args = map_arg(node.args, arg_transform)
        kwargs = map_arg(node.kwargs, arg_transform)
        copied = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        copied.meta = dict(node.meta)
        return copied

    def graph_copy(self, g, val_map, return_output_node=False):
        """Adds copies of all nodes of `g`; `val_map` maps nodes of `g` to ours.  Returns what `g` returns."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], lambda n: val_map[n])
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    def inserting_before(self, n=None):
        """Puts new nodes before `n`."""
        return _InsertPoint(self, (n, 0) if n is not None else (self._nodes[0], 0) if self._nodes else None)

    def inserting_after(self, n=None):
        """Puts new nodes behind `n`."""
        return _InsertPoint(self, None if n is None else (n, 1))

    def erase_node(self, to_erase):
        """Takes out a node that nothing uses."""
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the graph: {to_erase.users}!"
            )
        del self._nodes[self._position(to_erase)]
        to_erase._set_arguments((), {})
        to_erase._erased = True

    def eliminate_dead_code(self, is_impure_node=None):
        """Takes out the nodes that nothing uses and that have no effect; returns whether there were any."""
        impure = is_impure_node or (lambda node: node.is_impure())
        before = len(self._nodes)
        for node in reversed(list(self._nodes)):
            if not node.users and not impure(node):
                self.erase_node(node)
        return len(self._nodes) < before

    def _position(self, node):
        for index, other in enumerate(self._nodes):
            if other is node:
                return index
        raise RuntimeError(f"node {node} is not in this graph")

    def _neighbour(self, node, step):
        index = self._position(node) + step
        return self._nodes[index] if 0 <= index < len(self._nodes) else None

    def _move(self, node, anchor, offset):
        if node is not anchor:
            del self._nodes[self._position(node)]
            self._nodes.insert(self._position(anchor) + offset, node)

    def _unique_name(self, wanted):
        base = "".join(letter if letter.isalnum() or letter == "_" else "_" for letter in wanted) or "_"
        if base[0].isdigit():
            base = "_" + base
        name, number = base, 1
        while name in self._names or name in _RESERVED:
            name = f"{base}_{number}"
            number += 1
        self._names.add(name)
        return name

    # Looking

    def output_node(self):
        """The output."""
        return self._nodes[-1]

    def find_nodes(self, *, op, target=None, sort=True):
        """The nodes of a kind, and with a target if one is given."""
        return [node for node in self._nodes if node.op == op and (target is None or node.target == target)]

    def lint(self):
        """Checks that every node is used only behind its definition, and that names are unique."""
        seen = set()
        names = set()
        for node in self._nodes:
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            names.add(node.name)
            for used in node.all_input_nodes:
                if used.graph is not self:
                    raise RuntimeError(f"Argument '{used}' of Node '{node}' does not belong to this Graph")
                if used not in seen:
                    raise RuntimeError(f"Argument '{used}' of Node '{node}' was used before it has been defined!")
            seen.add(node)

    def python_code(self, root_module="self", verbose=False):
        """The graph as the text of a `forward` method."""
        return PythonCode(_source(self, root_module))

    def print_tabular(self):
        """Prints a table of the nodes."""
        header = ("opcode", "name", "target", "args", "kwargs")
        rows = [
            (node.op, node.name, target_name(node.target), str(node.args), str(node.kwargs)) for node in self._nodes
        ]
        widths = [max(len(row[column]) for row in [header] + rows) for column in range(len(header))]
        for row in [header, tuple("-" * width for width in widths)] + rows:
            print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())

    def __str__(self):
        return "\n".join(["graph():"] + ["    " + node.format_node() for node in self._nodes])


class PythonCode:
    """The text of a graph, `src`."""

    def __init__(self, src):
        self.src = src


class _NodeList:
    """The nodes of a graph, as they are when an iteration reaches them."""

    def __init__(self, graph):
        self.graph = graph

    def __len__(self):
        return len(self.graph._nodes)

    def __iter__(self):
        return iter(list(self.graph._nodes))

    def __reversed__(self):
        return reversed(list(self.graph._nodes))


def _base_name(op, target):
    if op == "placeholder":
        return target.lstrip("*")
    if op == "output":
        return "output"
    if isinstance(target, str):
        return target.replace(".", "_")
    return getattr(target, "__name__", type(target).__name__).lower()


def _value(argument):
    """An argument as code."""
    if isinstance(argument, Node):
        return argument.name
    if isinstance(argument, tuple):
        inside = ", ".join(_value(item) for item in argument)
        return f"({inside},)" if len(argument) == 1 else f"({inside})"
    if isinstance(argument, list):
        return "[" + ", ".join(_value(item) for item in argument) + "]"
    if isinstance(argument, dict):
        return "{" + ", ".join(f"{key!r}: {_value(value)}" for key, value in argument.items()) + "}"
    if isinstance(argument, slice):
        return f"slice({_value(argument.start)}, {_value(argument.stop)}, {_value(argument.step)})"
    if isinstance(argument, float) and (argument != argument or argument in (float("inf"), float("-inf"))):
        return f"float('{argument}')"
    return repr(argument)


def _call(node):
    """The expression of a node."""
    if node.op == "get_attr":
        return "self." + node.target
    positional = [_value(argument) for argument in node.args]
    arguments = ", ".join(positional + [f"{key} = {_value(value)}" for key, value in node.kwargs.items()])
    if node.op == "call_module":
        return f"self.{node.target}({arguments})"
    if node.op == "call_method":
        first, _, rest = arguments.partition(", ")
        return f"{first}.{node.target}({rest})"
    name = target_name(node.target)
    if name.startswith("operator.") and not node.kwargs:
        short = name[len("operator."):]
        if short in _INFIX:
            return _INFIX[short].format(*positional)
        if short == "setitem":
            return "{}[{}] = {}".format(*positional)
        if short in _IN_PLACE:
            return f"{positional[0]} {_IN_PLACE[short]} {positional[1]}"
    if name == "getattr" and len(node.args) == 2 and isinstance(node.args[1], str):
        return f"{positional[0]}.{node.args[1]}"
    return f"{name}({arguments})"


def _source(graph, root):
    """The text of a `forward` method; each value is forgotten in the line of its last use."""
    last_use = {}
    for node in graph._nodes:
        for used in node.all_input_nodes:
            last_use[used] = node
    inputs = [root] + [node.name for node in graph._nodes if node.op == "placeholder"]
    lines = [f"def forward({', '.join(inputs)}):"]
    for node in graph._nodes:
        done = [used.name for used in node.all_input_nodes if last_use[used] is node]
        forget = f";  {' = '.join(done)} = None" if done else ""
        if node.op == "placeholder":
            if node.name != node.target:
                lines.append(f"    # {node.name} is the input {node.target}")
        elif node.op == "output":
            lines.append(f"    return {_value(node.args[0])}")
        elif node.op == "call_function" and target_name(node.target) == "operator.setitem":
            lines.append(f"    {_call(node)}{forget}")
        else:
            expression = _call(node)
            if node.op == "call_function" and target_name(node.target)[len("operator."):] in _IN_PLACE:
                lines.append(f"    {expression};  {node.name} = {_value(node.args[0])}{forget}")
            else:
                lines.append(f"    {node.name} = {expression}{forget}")
    return "\n".join(lines) + "\n"
