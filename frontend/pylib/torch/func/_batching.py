"""`vmap`: a function of single items as one of batches."""

import torch
from torch._C import Tensor
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """A function over the dim `in_dims` of its arguments, whose results have the batch at `out_dims`.

    The items go through `func` one after the other.  With `randomness="different"` each draws numbers of its own.
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")

    def wrapper(*args, **kwargs):
        if not isinstance(in_dims, (int, tuple, list)):
            raise ValueError(
                f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` to be int or a (potentially nested) tuple "
                f"matching the structure of inputs, got: {type(in_dims)}."
            )
        leaves, structure = tree_flatten(args)
        dims = _spread(in_dims, args)
        sizes = {leaf.size(dim) for leaf, dim in zip(leaves, dims) if dim is not None}
        if not sizes:
            raise ValueError(
                f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): at least one input must have a dim to map over"
            )
        if len(sizes) > 1:
            found = [leaf.size(dim) for leaf, dim in zip(leaves, dims) if dim is not None]
            raise ValueError(
                "vmap: Expected all tensors to have the same size in the mapped dimension, "
                f"got sizes {found} for the mapped dimension"
            )
        results = []
        start = torch.get_rng_state()
        for index in range(sizes.pop()):
            if randomness == "same":
                torch.set_rng_state(start)
            item = [leaf if dim is None else leaf.select(dim, index) for leaf, dim in zip(leaves, dims)]
            results.append(func(*tree_unflatten(item, structure), **kwargs))
        if randomness == "error" and not torch.equal(start, torch.get_rng_state()):
            torch.set_rng_state(start)
            raise RuntimeError(
                "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' "
                "randomness flags on vmap or perform the randomness operation out of vmap"
            )
        return _joined(results, out_dims, func)

    return wrapper


def _name(func):
    return getattr(func, "__name__", repr(func))


def _spread(in_dims, args):
    """The dim to map over for each leaf of the arguments; None for those that stay as they are."""
    if isinstance(in_dims, int):
        in_dims = tuple(tree_map(lambda leaf: in_dims if isinstance(leaf, Tensor) else None, arg) for arg in args)
    dims = []
    for dim, arg in zip(in_dims, args):
        leaves, _ = tree_flatten(arg)
        given = [dim] * len(leaves) if dim is None or isinstance(dim, int) else _leaves_of(dim)
        for one, leaf in zip(given, leaves):
            if one is not None and not isinstance(leaf, Tensor):
                raise ValueError(
                    f"Got in_dim={one} for an input but the input is of type {type(leaf)}. We cannot vmap over non-Tensor arguments, "
                    "please use None as the respective in_dim"
                )
            dims.append(one)
    return dims


def _leaves_of(tree):
    """The numbers and Nones of nested dims, in the order of the leaves they belong to."""
    if isinstance(tree, dict):
        return [leaf for value in tree.values() for leaf in _leaves_of(value)]
    if isinstance(tree, (list, tuple)):
        return [leaf for value in tree for leaf in _leaves_of(value)]
    return [tree]


def _joined(results, out_dims, func):
    rows = [tree_flatten(result) for result in results]
    columns = []
    dims = out_dims if isinstance(out_dims, tuple) else (out_dims,) * len(rows[0][0])
    for dim, items in zip(dims, zip(*(leaves for leaves, _ in rows))):
        for item in items:
            if not isinstance(item, Tensor):
                raise ValueError(
                    f"vmap({_name(func)}, ...): `{_name(func)}` must only return Tensors, got type {type(item)}. Did you mean to set "
                    "out_dims= to None for output?"
                )
        columns.append(items[0] if dim is None else torch.stack(items, dim))
    return tree_unflatten(columns, rows[0][1])
