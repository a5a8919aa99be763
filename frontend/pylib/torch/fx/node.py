"""One step of a graph."""

OPS = ("placeholder", "call_function", "call_method", "call_module", "get_attr", "output")


def map_arg(argument, fn):
    """`argument` with every node in it, however deep, replaced by `fn` of it."""
    if isinstance(argument, Node):
        return fn(argument)
    if isinstance(argument, tuple):
        items = [map_arg(item, fn) for item in argument]
        # Named tuples and torch.Size keep their type where it can be made from the items.
        return type(argument)(*items) if hasattr(argument, "_fields") else tuple(items)
    if isinstance(argument, list):
        return [map_arg(item, fn) for item in argument]
    if isinstance(argument, dict):
        return {key: map_arg(value, fn) for key, value in argument.items()}
    if isinstance(argument, slice):
        return slice(map_arg(argument.start, fn), map_arg(argument.stop, fn), map_arg(argument.step, fn))
    return argument


map_aggregate = map_arg


class Node:
    """A step: an input, a call, an attribute, or the output.

    `op` is one of `OPS`; `target` is what is called, a function or a name; `args` and `kwargs` may hold other nodes; `users`
    has the nodes that use this one as keys.
    """

    def __init__(self, graph, name, op, target, args, kwargs, return_type=None):
        if op not in OPS:
            raise AssertionError(f"unknown kind of node: {op!r}")
        self.graph = graph
        self.name = name
        self.op = op
        self.target = target
        self.type = return_type
        self.users = {}
        self.meta = {}
        self._inputs = {}
        self._args = ()
        self._kwargs = {}
        self._erased = False
        self._set_arguments(args, kwargs)

    @property
    def args(self):
        return self._args

    @args.setter
    def args(self, args):
        self._set_arguments(args, self._kwargs)

    @property
    def kwargs(self):
        return self._kwargs

    @kwargs.setter
    def kwargs(self, kwargs):
        self._set_arguments(self._args, kwargs)

    def _set_arguments(self, args, kwargs):
        for node in self._inputs:
            node.users.pop(self, None)
        self._inputs = {}

        def use(node):
            self._inputs[node] = None
            node.users[self] = None
            return node

        self._args = map_arg(tuple(args), use)
        self._kwargs = map_arg(dict(kwargs), use)

    @property
    def all_input_nodes(self):
        return list(self._inputs)

    @property
    def next(self):
        return self.graph._neighbour(self, 1)

    @property
    def prev(self):
        return self.graph._neighbour(self, -1)

    @property
    def stack_trace(self):
        return self.meta.get("stack_trace")

    def update_arg(self, index, value):
        """Replaces one positional argument."""
        args = list(self._args)
        args[index] = value
        self.args = args

    def update_kwarg(self, key, value):
        """Replaces one keyword argument."""
        self.kwargs = {**self._kwargs, key: value}

    def replace_input_with(self, old_input, new_input):
        """Uses `new_input` wherever this node uses `old_input`."""
        def replace(node):
            return new_input if node is old_input else node

        self._set_arguments(map_arg(self._args, replace), map_arg(self._kwargs, replace))

    def replace_all_uses_with(self, replace_with, delete_user_cb=lambda user: True, *, propagate_meta=False):
        """Makes the users of this node use `replace_with`; returns those users."""
        if propagate_meta:
            replace_with.meta.update(self.meta)
        changed = [user for user in self.users if delete_user_cb(user)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    def append(self, node):
        """Moves `node` right behind this one."""
        self.graph._move(node, self, 1)

    def prepend(self, node):
        """Moves `node` right before this one."""
        self.graph._move(node, self, 0)

    def is_impure(self):
        """Whether the node must stay even when nothing uses it."""
        if self.op in ("placeholder", "output"):
            return True
        name = self.target if isinstance(self.target, str) else getattr(self.target, "__name__", "")
        return self.op != "get_attr" and (name.endswith("_") and not name.endswith("__") or name == "setitem")

    def format_node(self, placeholder_names=None, maybe_return_typename=None):
        """The node as a line of text."""
        if self.op == "placeholder":
            return f"%{self.name} : [num_users={len(self.users)}] = placeholder[target={self.target}]"
        if self.op == "get_attr":
            return f"%{self.name} : [num_users={len(self.users)}] = get_attr[target={self.target}]"
        if self.op == "output":
            return f"return {_text(self._args[0])}"
        return (
            f"%{self.name} : [num_users={len(self.users)}] = {self.op}[target={target_name(self.target)}]"
            f"(args = {_text(self._args)}, kwargs = {_text(self._kwargs)})"
        )

    def __repr__(self):
        return self.name


def _text(argument):
    """An argument as `format_node` writes it: nodes as %name."""
    if isinstance(argument, Node):
        return "%" + argument.name
    if isinstance(argument, tuple):
        inside = ", ".join(_text(item) for item in argument)
        return f"({inside},)" if len(argument) == 1 else f"({inside})"
    if isinstance(argument, list):
        return "[" + ", ".join(_text(item) for item in argument) + "]"
    if isinstance(argument, dict):
        return "{" + ", ".join(f"{key}: {_text(value)}" for key, value in argument.items()) + "}"
    return str(argument)


def target_name(target):
    """A target as code names it: `torch.relu`, `operator.add`; names stay as they are."""
    if isinstance(target, str):
        return target
    name = getattr(target, "__name__", None) or type(target).__name__
    module = getattr(target, "__module__", None) or ""
    if module == "_operator":
        return "operator." + name
    if module in ("", "torch._C"):
        # Functions of the native module have no module of their own.
        return "torch." + name
    return name if module == "builtins" else f"{module}.{name}"
