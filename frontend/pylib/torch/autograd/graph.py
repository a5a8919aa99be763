"""`torch.autograd.graph`: nodes of the tape, and hooks on what they keep."""

from torch import _C
from torch._C import _Node as Node


class saved_tensors_hooks:
    """Within the block, tensors kept for the backward are handed to `pack_hook`; `unpack_hook` gives them back when they are needed."""

    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self):
        _C._push_saved_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *args):
        _C._pop_saved_hooks()


class save_on_cpu(saved_tensors_hooks):
    """Keeps copies of what the backward needs on the host, which is where everything lives here."""

    def __init__(self, pin_memory=False, device_type="cuda"):
        saved_tensors_hooks.__init__(self, lambda tensor: tensor.clone(), lambda tensor: tensor)


class GradientEdge(tuple):
    """Where a gradient goes: a node, and which of its results."""

    __slots__ = ()

    def __new__(cls, node, output_nr):
        return tuple.__new__(cls, (node, output_nr))

    @property
    def node(self):
        return self[0]

    @property
    def output_nr(self):
        return self[1]


def get_gradient_edge(tensor):
    """Where the gradient of a tensor goes."""
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    node = tensor.grad_fn
    if node is None:
        node = tensor.view_as(tensor).grad_fn.next_functions[0][0]
    return GradientEdge(node, tensor.output_nr)
