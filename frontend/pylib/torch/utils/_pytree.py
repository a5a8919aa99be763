"""Nested lists, tuples and dicts of values, taken apart and put together."""

from torch._C import Size


class TreeSpec:
    """The shape of a nested value: its type, what that type needs beside its children, and their shapes."""

    def __init__(self, type, context, children_specs):
        self.type = type
        self.context = context
        self.children_specs = children_specs
        self.num_leaves = 1 if type is None else sum(child.num_leaves for child in children_specs)
        self.num_children = len(children_specs)

    def is_leaf(self):
        """Whether the value is not taken apart."""
        return self.type is None

    def unflatten(self, leaves):
        """The nested value of this shape with these leaves."""
        return tree_unflatten(leaves, self)

    def __eq__(self, other):
        return (
            isinstance(other, TreeSpec) and self.type is other.type and self.context == other.context
            and self.children_specs == other.children_specs
        )

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash((self.type, self.num_leaves, self.num_children))

    def __repr__(self):
        if self.type is None:
            return "*"
        return f"TreeSpec({self.type.__name__}, {self.context}, {self.children_specs})"


LeafSpec = TreeSpec


def _leaf():
    return TreeSpec(None, None, [])


# How types that a program registered are taken apart and put together: type -> (flatten, unflatten).
_registered = {}


def register_pytree_node(cls, flatten_fn, unflatten_fn, *, serialized_type_name=None, to_dumpable_context=None,
                         from_dumpable_context=None, flatten_with_keys_fn=None):
    """Makes a class a node: `flatten_fn(x)` gives children and context, `unflatten_fn(children, context)` the value."""
    if cls in _registered:
        raise ValueError(f"{cls} is already registered as pytree node.")
    _registered[cls] = (flatten_fn, unflatten_fn)


def _is_namedtuple(tree):
    return isinstance(tree, tuple) and hasattr(type(tree), "_fields")


def _children(tree):
    """(type, context, children) of a node, or None for a leaf."""
    kind = type(tree)
    registered = _registered.get(kind)
    if registered is not None:
        children, context = registered[0](tree)
        return kind, context, list(children)
    if kind is list or kind is tuple or kind is Size:
        return kind, None, list(tree)
    if kind is dict or kind.__name__ in ("OrderedDict", "defaultdict") and isinstance(tree, dict):
        keys = list(tree)
        context = [getattr(tree, "default_factory", None), keys] if kind.__name__ == "defaultdict" else keys
        return kind, context, [tree[key] for key in keys]
    if kind.__name__ == "deque" and kind.__module__ == "collections":
        return kind, tree.maxlen, list(tree)
    if _is_namedtuple(tree):
        return kind, kind, list(tree)
    return None


def _build(spec, children):
    kind, context = spec.type, spec.context
    registered = _registered.get(kind)
    if registered is not None:
        return registered[1](children, context)
    if kind is list:
        return children
    if kind is tuple or kind is Size:
        return kind(children)
    if issubclass(kind, dict):
        if kind.__name__ == "defaultdict":
            result = kind(context[0])
            result.update(zip(context[1], children))
            return result
        return kind(zip(context, children))
    if issubclass(kind, tuple):
        return kind(*children)
    return kind(children, context)


def tree_flatten(tree, is_leaf=None):
    """The leaves of a nested value, in order, and its shape."""
    leaves = []

    def walk(node):
        parts = None if is_leaf is not None and is_leaf(node) else _children(node)
        if parts is None:
            leaves.append(node)
            return _leaf()
        kind, context, children = parts
        return TreeSpec(kind, context, [walk(child) for child in children])

    spec = walk(tree)
    return leaves, spec


def tree_unflatten(leaves, treespec):
    """The nested value of this shape with these leaves."""
    leaves = list(leaves)
    if len(leaves) != treespec.num_leaves:
        raise ValueError(
            f"treespec.unflatten(leaves): `leaves` has length {len(leaves)} but the spec refers to a pytree that holds "
            f"{treespec.num_leaves} items ({treespec})."
        )
    position = iter(leaves)

    def walk(spec):
        if spec.type is None:
            return next(position)
        return _build(spec, [walk(child) for child in spec.children_specs])

    return walk(treespec)


def tree_leaves(tree, is_leaf=None):
    """The leaves of a nested value, in order."""
    return tree_flatten(tree, is_leaf)[0]


def tree_iter(tree, is_leaf=None):
    """An iterator over the leaves."""
    return iter(tree_leaves(tree, is_leaf))


def tree_structure(tree, is_leaf=None):
    """The shape of a nested value."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func, tree, *rests, is_leaf=None):
    """The nested value with `func` of each leaf, and of the leaves at its place in `rests`."""
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [tree_flatten(rest, is_leaf)[0] for rest in rests]
    return tree_unflatten([func(*values) for values in zip(leaves, *others)], spec)


def tree_map_(func, tree, *rests, is_leaf=None):
    """Calls `func` on each leaf; returns `tree`."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def tree_map_only(type_or_types, func, tree=None, is_leaf=None):
    """`tree_map` for the leaves of some types."""
    return tree_map(lambda leaf: func(leaf) if isinstance(leaf, type_or_types) else leaf, tree, is_leaf=is_leaf)


def tree_all(pred, tree, is_leaf=None):
    """Whether `pred` holds for every leaf."""
    return all(pred(leaf) for leaf in tree_leaves(tree, is_leaf))


def tree_any(pred, tree, is_leaf=None):
    """Whether `pred` holds for some leaf."""
    return any(pred(leaf) for leaf in tree_leaves(tree, is_leaf))
