"""Items as one batch."""

import torch


def default_convert(data):
    """The item itself, with containers rebuilt: what a loader without batches gives."""
    if isinstance(data, (torch.Tensor, str, bytes)):
        return data
    return _in_containers(default_convert, data)


def _in_containers(convert, data):
    if _is_mapping(data):
        converted = {key: convert(data[key]) for key in data}
        return converted if type(data) is dict else _like(data, converted)
    if isinstance(data, tuple):
        items = [convert(item) for item in data]
        return type(data)(*items) if hasattr(data, "_fields") else items
    if isinstance(data, list):
        return _like(data, [convert(item) for item in data])
    return data


def collate(batch, *, collate_fn_map=None):
    """Items as one: tensors are stacked, numbers become tensors, containers are collated place by place.

    `collate_fn_map` maps types to functions `(batch, *, collate_fn_map)` that know better.
    """
    first = batch[0]
    if collate_fn_map is not None:
        for kind, function in collate_fn_map.items():
            if isinstance(first, kind):
                return function(batch, collate_fn_map=collate_fn_map)

    def below(items):
        return collate(items, collate_fn_map=collate_fn_map)

    if _is_mapping(first):
        columns = {key: below([item[key] for item in batch]) for key in first}
        return columns if type(first) is dict else _like(first, columns)
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(below(column) for column in zip(*batch)))
    if isinstance(first, (list, tuple)):
        if any(len(item) != len(first) for item in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = [below(column) for column in zip(*batch)]
        return columns if isinstance(first, tuple) else _like(first, columns)
    raise TypeError(
        f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {type(first)}"
    )


def _is_mapping(value):
    return isinstance(value, dict) or (hasattr(value, "keys") and hasattr(value, "__getitem__"))


def _like(container, items):
    """`items` in a container of the same type, or as they are where that type can't be made of them."""
    try:
        return type(container)(items)
    except TypeError:
        return items


def collate_tensor_fn(batch, *, collate_fn_map=None):
    """Stacks tensors."""
    return torch.stack(list(batch), 0)


def collate_float_fn(batch, *, collate_fn_map=None):
    """A float64 tensor of floats."""
    return torch.tensor(list(batch), dtype=torch.float64)


def collate_int_fn(batch, *, collate_fn_map=None):
    """A tensor of integers, or of bools."""
    return torch.tensor(list(batch))


def collate_str_fn(batch, *, collate_fn_map=None):
    """Strings stay as they are."""
    return batch


default_collate_fn_map = {
    torch.Tensor: collate_tensor_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}


def default_collate(batch):
    """`collate` as loaders do it."""
    return collate(batch, collate_fn_map=default_collate_fn_map)
