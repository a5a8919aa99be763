"""A module that runs a graph: what a backend written in Python is given."""

from torch._C import Tensor
from torch.fx.interpreter import Interpreter
from torch.nn.modules.module import Module
from torch.nn.parameter import Parameter


# The metadata that keeps a module's own attributes when it is copied.
_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"


def _copy_attr(from_module, to_module, target):
    """Puts what `from_module` has under a dotted name into `to_module` under the same name."""
    _assign(to_module, target, _resolve(from_module, target))


class _CodeOnlyModule(Module):
    """A module made of another's attributes: PyTorch copies graphs by it."""

    def __init__(self, body):
        super().__init__()
        self.__dict__ = body


class GraphModule(Module):
    """A graph that can be called, printed and walked.

    `root` is the module, or the dict of dotted names, that `get_attr` and `call_module` nodes refer to.  `runner` is a native
    function that runs the graph as it was traced; once the graph is changed and `recompile` called, it is interpreted instead.
    """

    def __init__(self, root, graph, class_name="GraphModule", runner=None):
        super().__init__()
        members = root if isinstance(root, dict) else {
            node.target: _resolve(root, node.target) for node in graph.nodes if node.op in ("get_attr", "call_module")
        }
        for path, member in members.items():
            _assign(self, path, member)
        if not isinstance(root, dict):
            self.training = root.training
        self.meta = {}
        self._class_name = class_name
        self._graph = graph
        self._runner = runner
        graph.owning_module = self

    @property
    def graph(self):
        return self._graph

    @graph.setter
    def graph(self, graph):
        self._graph = graph
        graph.owning_module = self
        self.recompile()

    @property
    def code(self):
        return "\n\n\n" + self._graph.python_code("self").src

    def _get_name(self):
        return self._class_name

    def forward(self, *args):
        if self._runner is not None:
            return self._runner(*args)
        return Interpreter(self).run(*args)

    def recompile(self):
        """Makes calls run the graph as it is now."""
        self._runner = None
        return self._graph.python_code("self")

    def delete_all_unused_submodules(self):
        """Removes the modules that no node calls."""
        used = {node.target for node in self._graph.nodes if node.op == "call_module"}
        for name in [name for name, _ in self.named_modules() if name]:
            if not any(target == name or target.startswith(name + ".") or name.startswith(target + ".") for target in used):
                path, _, last = name.rpartition(".")
                delattr(self.get_submodule(path), last)

    def print_readable(self, print_output=True, include_stride=False, include_device=False, colored=False, **settings):
        """Prints, and returns, the graph as a class with a `forward` method."""
        body = self._graph.python_code("self").src.replace("\n", "\n    ").rstrip(" ")
        text = f"class {self._get_name()}(torch.nn.Module):\n    {body}"
        if print_output:
            print(text)
        return text

    def __str__(self):
        return super().__repr__() + self.code + "\n# To see more debug info, please use `graph_module.print_readable()`"

    def __deepcopy__(self, memo):
        import copy

        graph = type(self._graph)()
        graph.output(graph.graph_copy(self._graph, {}))
        members = {
            node.target: copy.deepcopy(_resolve(self, node.target), memo)
            for node in graph.nodes if node.op in ("get_attr", "call_module")
        }
        return GraphModule(members, graph, self._get_name(), self._runner)


def _resolve(root, path):
    value = root
    for name in path.split("."):
        value = getattr(value, name)
    return value


def _assign(module, path, value):
    """Puts `value` at a dotted path below `module`, with modules in between; tensors become buffers."""
    *parents, last = path.split(".")
    for name in parents:
        if not hasattr(module, name):
            module.add_module(name, Module())
        module = getattr(module, name)
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        module.register_buffer(last, value)
    else:
        setattr(module, last, value)
