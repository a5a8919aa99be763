"""`torch.fx`: the graphs that backends written in Python receive."""

from torch.fx.graph import Graph
from torch.fx.graph_module import GraphModule
from torch.fx.interpreter import Interpreter
from torch.fx.node import Node, map_arg


def symbolic_trace(root, concrete_args=None):
    """Not available: `torch.compile` traces, from bytecode."""
    raise NotImplementedError("torch.fx.symbolic_trace does not exist here; use torch.compile with a Python backend")


def wrap(fn_or_name):
    """Returns its argument: nothing is traced by proxies here."""
    return fn_or_name


class Proxy:
    """No value is ever of this class: nothing is traced by proxies here."""


class Tracer:
    """No tracer of this kind exists here."""
