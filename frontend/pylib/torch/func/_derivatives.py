"""Derivatives of functions, computed on the tape.

Each call differentiates with respect to stand-ins for the arguments.  An argument that itself requires grad keeps its connection, so
that derivatives may be taken of derivatives.  What comes out of the outermost call is off the tape where it depends on nothing but
stand-ins.
"""

import torch
from torch._C import Tensor
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

# How many calls of this file are under way.
_depth = 0


class _Level:
    """One call: counts itself in, switches gradients on, and knows at which nodes of the tape the stand-ins are."""

    def __init__(self):
        self.stand_ins = set()

    def __enter__(self):
        global _depth
        self.is_outermost = _depth == 0
        _depth += 1
        self.mode = torch.enable_grad()
        self.mode.__enter__()
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        global _depth
        _depth -= 1
        self.mode.__exit__(exc_type, exc_value, traceback)

    def result(self, tree):
        """Results as they leave the call."""
        return tree_map(self._let_go, tree) if self.is_outermost else tree

    def _let_go(self, leaf):
        if isinstance(leaf, Tensor) and leaf.requires_grad and not self._reaches_others(leaf):
            return leaf.detach()
        return leaf

    def _reaches_others(self, tensor):
        """Whether the tape leads from a tensor to leaves other than stand-ins."""
        seen, waiting = set(self.stand_ins), [_node_of(tensor)]
        while waiting:
            node = waiting.pop()
            if node in seen:
                continue
            seen.add(node)
            below = [other for other, _ in node.next_functions if other is not None]
            if not below and hasattr(node, "variable"):
                return True
            waiting += below
        return False

    def stand_in(self, value):
        """A tensor with the value of another, to differentiate with respect to."""
        if not isinstance(value, Tensor):
            raise RuntimeError(f"Expected a tensor to differentiate with respect to, got {type(value)}")
        if value.requires_grad:
            return value.view_as(value)
        made = value.detach().requires_grad_()
        self.stand_ins.add(_node_of(made))
        return made


def _node_of(tensor):
    """The node of the tape that a tensor's gradient goes to; for a leaf the one that keeps it."""
    if tensor.grad_fn is not None:
        return tensor.grad_fn
    with torch.enable_grad():
        return tensor.view_as(tensor).grad_fn.next_functions[0][0]


def _with_stand_ins(level, args, argnums):
    """The arguments with stand-ins at `argnums`, and those stand-ins: one argument's, or a tuple of them."""
    places = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    replaced = list(args)
    for place in places:
        if not -len(args) <= place < len(args):
            raise RuntimeError(f"Got argnum={place}, but only {len(args)} positional inputs")
        replaced[place] = tree_map(level.stand_in, args[place])
    chosen = tuple(replaced[place] for place in places)
    return replaced, chosen[0] if isinstance(argnums, int) else chosen


def _gradients(output, inputs, weight=None):
    """The gradient of `output` for each leaf of `inputs`, zero where it doesn't depend on it."""
    leaves, structure = tree_flatten(inputs)
    if not output.requires_grad:
        return tree_unflatten([torch.zeros_like(leaf) for leaf in leaves], structure)
    found = torch.autograd.grad(output, leaves, weight, create_graph=True, allow_unused=True)
    return tree_unflatten(
        [torch.zeros_like(leaf) if grad is None else grad for grad, leaf in zip(found, leaves)], structure
    )


def _split_aux(output, has_aux):
    if not has_aux:
        return output, None
    if not (isinstance(output, tuple) and len(output) == 2):
        raise RuntimeError(
            "grad_and_value(f)(*args): output of function f should be a tuple: (output, aux) if has_aux is True"
        )
    return output


def grad_and_value(func, argnums=0, has_aux=False):
    """A function that gives the gradient of `func`, whose result is a scalar, and that result (with `aux` as a pair)."""

    def wrapper(*args, **kwargs):
        with _Level() as level:
            replaced, inputs = _with_stand_ins(level, args, argnums)
            output, aux = _split_aux(func(*replaced, **kwargs), has_aux)
            if not isinstance(output, Tensor):
                raise RuntimeError(f"grad_and_value(f)(*args): Expected f(*args) to return a tensor, got type {type(output)}")
            if output.dim() != 0:
                raise RuntimeError(
                    "grad_and_value(f)(*args): Expected f(*args) to return a scalar tensor, got tensor with "
                    f"{output.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
                )
            grads = _gradients(output, inputs)
        value = (output, aux) if has_aux else output
        return level.result(grads), level.result(value)

    return wrapper


def grad(func, argnums=0, has_aux=False):
    """A function that gives the gradient of `func`, whose result is a scalar; with `aux` as a pair."""
    both = grad_and_value(func, argnums, has_aux)

    def wrapper(*args, **kwargs):
        grads, value = both(*args, **kwargs)
        return (grads, value[1]) if has_aux else grads

    return wrapper


def vjp(func, *primals, has_aux=False):
    """The result of `func`, and a function from gradients of that to gradients of the arguments."""
    level = _Level()
    with level:
        inputs = tuple(tree_map(level.stand_in, primal) for primal in primals)
        output, aux = _split_aux(func(*inputs), has_aux)

    def backward(cotangents, retain_graph=True, create_graph=None):
        outputs, weights = tree_flatten(output)[0], tree_flatten(cotangents)[0]
        if len(outputs) != len(weights):
            raise RuntimeError(f"Expected a cotangent for each of the {len(outputs)} outputs, got {len(weights)}")
        with torch.enable_grad():
            total = None
            for one, weight in zip(outputs, weights):
                part = (one * weight).sum()
                total = part if total is None else total + part
            grads = _gradients(total, inputs)
        grads = level.result(grads)
        return grads if len(primals) > 1 else grads[0:1]

    values = level.result(output)
    return (values, backward, aux) if has_aux else (values, backward)


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None):
    """A function that gives the Jacobian of `func`: for each output and argument the shapes of both, one behind the other."""

    def wrapper(*args, **kwargs):
        with _Level() as level:
            replaced, inputs = _with_stand_ins(level, args, argnums)
            output, aux = _split_aux(func(*replaced, **kwargs), has_aux)
            jacobian = tree_map(lambda one: _jacobian_of(one, inputs), output)
        jacobian = level.result(jacobian)
        return (jacobian, aux) if has_aux else jacobian

    return wrapper


def _jacobian_of(output, inputs):
    rows = [_gradients(element, inputs) for element in output.reshape(-1).unbind()]
    leaves, structure = tree_flatten(inputs)
    columns = [torch.stack(parts) for parts in zip(*(tree_flatten(row)[0] for row in rows))]
    return tree_unflatten([column.reshape(output.shape + leaf.shape) for column, leaf in zip(columns, leaves)], structure)


def hessian(func, argnums=0):
    """A function that gives the second derivatives of `func`."""
    return jacrev(jacrev(func, argnums), argnums)
