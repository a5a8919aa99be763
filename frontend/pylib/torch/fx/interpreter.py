"""Runs a graph node by node."""

from torch.fx.node import map_arg


class Interpreter:
    """Runs the graph of a module; subclasses override what a kind of node does."""

    def __init__(self, module, garbage_collect_values=True, graph=None):
        self.module = module
        self.graph = graph if graph is not None else module.graph
        self.env = {}

    def run(self, *args, initial_env=None, enable_io_processing=True):
        """The output for these inputs."""
        self.env = dict(initial_env or {})
        self._inputs = iter(args)
        for node in self.graph.nodes:
            self.env[node] = self.run_node(node)
            if node.op == "output":
                return self.env[node]
        return None

    def run_node(self, n):
        """The value of one node."""
        args = map_arg(n.args, self.env.__getitem__)
        kwargs = map_arg(n.kwargs, self.env.__getitem__)
        return getattr(self, n.op)(n.target, args, kwargs)

    def placeholder(self, target, args, kwargs):
        """The next input."""
        try:
            return next(self._inputs)
        except StopIteration:
            raise RuntimeError(f"Expected positional argument for parameter {target}, but one was not passed in!") from None

    def get_attr(self, target, args, kwargs):
        """The attribute at a dotted path."""
        value = self.module
        for name in target.split("."):
            value = getattr(value, name)
        return value

    def call_function(self, target, args, kwargs):
        """The result of a function."""
        return target(*args, **kwargs)

    def call_method(self, target, args, kwargs):
        """The result of a method of the first argument."""
        return getattr(args[0], target)(*args[1:], **kwargs)

    def call_module(self, target, args, kwargs):
        """The result of a module."""
        return self.get_attr(target, (), {})(*args, **kwargs)

    def output(self, target, args, kwargs):
        """The output."""
        return args[0]
