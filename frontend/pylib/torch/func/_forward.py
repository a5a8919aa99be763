"""Derivatives in the direction of tangents.

The tape only walks back. The gradient of a function for a weight of its result is linear in that weight, so a second walk through the
first gives the derivative in a direction.
"""

import torch
from torch._C import Tensor
from torch.func._derivatives import _Level, _split_aux
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

_NAME = "jvp(f, primals, tangents)"


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """The result of `func` at `primals`, and its derivative in the direction of `tangents`."""
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{_NAME}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    leaves, structure = tree_flatten(primals)
    directions, other = tree_flatten(tangents)
    if structure != other:
        raise RuntimeError(
            f"{_NAME}: Expected primals and tangents to have the same python structure. For example, if primals is a tuple of 3 "
            f"tensors, tangents also must be. Got primals with structure {structure} and tangents with structure {other}"
        )
    if not leaves:
        raise RuntimeError(f"{_NAME}: Expected primals to contain at least one Tensor.")
    for leaf, direction in zip(leaves, directions):
        if leaf.shape != direction.shape:
            raise RuntimeError(
                "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not supported. "
                f"Tensor is of size {list(leaf.shape)} while the given forward gradient is of size {list(direction.shape)}."
            )
    with _Level() as level:
        inputs = tuple(tree_map(level.stand_in, primal) for primal in primals)
        output, aux = _split_aux(func(*inputs), has_aux)
        derivative = _along(level, output, tree_flatten(inputs)[0], directions)
    result = (level.result(output), level.result(derivative))
    return (*result, aux if aux is None else level.result(aux)) if has_aux else result


def _along(level, output, inputs, directions):
    """The derivatives of outputs where inputs move in these directions."""
    outputs, structure = tree_flatten(output)
    for one in outputs:
        if not isinstance(one, Tensor):
            raise RuntimeError(f"{_NAME}: expected f(*primals) to return only tensors, got unsupported type {type(one)}")
    weights = [level.stand_in(torch.zeros_like(one)) for one in outputs]
    reached = [(one, weight) for one, weight in zip(outputs, weights) if one.requires_grad]
    found = [None] * len(weights)
    if reached:
        total = sum((one * weight).sum() for one, weight in reached)
        grads = torch.autograd.grad(total, inputs, create_graph=True, allow_unused=True)
        steps = [(grad * direction).sum() for grad, direction in zip(grads, directions) if grad is not None and grad.requires_grad]
        if steps:
            found = torch.autograd.grad(sum(steps), weights, create_graph=True, allow_unused=True)
    return tree_unflatten([torch.zeros_like(one) if step is None else step for one, step in zip(outputs, found)], structure)


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    """A function that gives the Jacobian of `func`, column by column: the shapes of each output and argument, one behind the other."""

    def wrapper(*args):
        places = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        chosen = tuple(args[place] for place in places)
        leaves, structure = tree_flatten(chosen)

        def of_chosen(*moved):
            replaced = list(args)
            for place, value in zip(places, moved):
                replaced[place] = value
            return func(*replaced)

        aux, columns = None, []
        for k, leaf in enumerate(leaves):
            steps = []
            for at in range(leaf.numel()):
                unit = torch.zeros_like(leaf)
                unit.view(-1)[at] = 1
                direction = [unit if k == other else torch.zeros_like(one) for other, one in enumerate(leaves)]
                output, step, *rest = jvp(of_chosen, chosen, tree_unflatten(direction, structure), has_aux=has_aux)
                aux = rest[0] if rest else None
                steps.append(step)
            columns.append((leaf, steps))

        outputs, output_structure = tree_flatten(output)
        rows = []
        for k, one in enumerate(outputs):
            parts = []
            for leaf, steps in columns:
                moved = [tree_flatten(step)[0][k] for step in steps]
                parts.append(torch.stack(moved, -1).reshape(one.shape + leaf.shape))
            jacobian = tree_unflatten(parts, structure)
            rows.append(jacobian[0] if isinstance(argnums, int) else jacobian)
        result = tree_unflatten(rows, output_structure)
        return (result, aux) if has_aux else result

    return wrapper
