"""`torch.nested`: tensors of pieces that differ in one size, in the jagged layout."""

import torch
from torch import Tensor, _C
from torch.nested._internal.nested_tensor import Jagged, NestedTensor

__all__ = ["as_nested_tensor", "masked_select", "narrow", "nested_tensor", "nested_tensor_from_jagged", "to_padded_tensor"]


def nested_tensor(tensor_list, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A nested tensor of copies of the pieces, a leaf; lists and numbers become tensors."""
    _check_layout(layout)
    pieces = [each.detach() if isinstance(each, Tensor) else torch.as_tensor(each) for each in tensor_list]
    made = _packed([piece.to(device=device, dtype=dtype) for piece in pieces])
    made._values = made._values.detach()
    return made.requires_grad_() if requires_grad else made


def as_nested_tensor(ts, dtype=None, device=None, layout=None):
    """A nested tensor of the pieces, through which gradients flow to them.

    Takes a list of tensors, or a tensor whose first dim counts pieces of one size.
    """
    if isinstance(ts, NestedTensor):
        return ts.to(device=device, dtype=dtype) if device is not None or dtype is not None else ts
    if not isinstance(ts, (Tensor, list, tuple)) or not all([isinstance(each, Tensor) for each in ts]):
        raise TypeError("as_nested_tensor(): Expected first argument to be a tensor or a list / tuple of tensors ")
    _check_layout(layout)
    if isinstance(ts, Tensor):
        if ts.dim() < 2:
            raise RuntimeError("as_nested_tensor(): Expected tensor argument to have dim() > 1")
        batch, length = ts.shape[:2]
        offsets = torch.arange(0, batch * length + 1, length)
        return Jagged(ts.to(device=device, dtype=dtype).flatten(0, 1), offsets)
    return _packed([each.to(device=device, dtype=dtype) for each in ts])


def nested_tensor_from_jagged(values, offsets=None, lengths=None, jagged_dim=None, min_seqlen=None, max_seqlen=None):
    """A nested tensor over packed values, given where the pieces start, or how long they are, or both."""
    if offsets is None:
        if lengths is None:
            raise RuntimeError("nested_tensor_from_jagged(): At least one of offsets or lengths is required.")
        # Without offsets the pieces lie next to each other.
        offsets, lengths = torch.nn.functional.pad(lengths.cumsum(0), (1, 0)), None
    limits = {name: limit for name, limit in (("min_seqlen", min_seqlen), ("max_seqlen", max_seqlen)) if limit is not None}
    return Jagged(values, offsets, lengths, 1 if jagged_dim is None else jagged_dim, limits)


def to_padded_tensor(input, padding, output_size=None, out=None):
    """A dense tensor of the pieces, filled up with `padding`."""
    if not isinstance(input, NestedTensor):
        raise RuntimeError("to_padded_tensor(): Expected a nested tensor")
    padded = input.to_padded_tensor(padding, output_size)
    return padded if out is None else out.copy_(padded)


def narrow(tensor, dim, start, length, layout=torch.strided):
    """From each row of a dense tensor the `length` elements from `start` on, both given for each row or for all."""
    _check_layout(layout)
    if dim != 1:
        raise RuntimeError("jagged layout only supports dim=1")
    batch, width = tensor.shape[:2]
    start, length = [
        torch.full((batch,), each, dtype=torch.int64) if isinstance(each, int) else each for each in (start, length)
    ]
    first = torch.arange(batch) * width + start
    offsets = torch.cat([first, (first[-1:] + length[-1:])])
    return Jagged(tensor.reshape(batch * width, *tensor.shape[2:]), offsets, length)


def masked_select(tensor, mask):
    """From each row of a dense tensor of two dims the elements where `mask` is true."""
    if tensor.dim() != 2 or mask.dim() != 2:
        raise NotImplementedError("torch.nested.masked_select of tensors that have not two dims")
    tensor, mask = torch.broadcast_tensors(tensor, mask)
    return Jagged(tensor.masked_select(mask), torch.nn.functional.pad(mask.sum(1).cumsum(0), (1, 0)))


def _check_layout(layout):
    if layout is torch.jagged:
        return
    if layout is None or layout is torch.strided:
        raise NotImplementedError("torch.nested only has nested tensors of layout=torch.jagged")
    raise RuntimeError(f"Specified layout is unsupported for nested tensors: {layout}")


def _packed(pieces):
    """Pieces that differ in one size, one behind the other."""
    if not pieces:
        raise RuntimeError("Cannot construct a nested tensor from an empty tensor list")
    for what in ("dim", "dtype", "device"):
        of_each = [piece.dim() if what == "dim" else getattr(piece, what) for piece in pieces]
        if any([each != of_each[0] for each in of_each]):
            raise RuntimeError(f"When constructing a nested tensor, all tensors in list must have the same {what}")
    if pieces[0].dim() == 0:
        raise RuntimeError("Cannot construct a nested tensor from a list of zero-dim tensors")
    ragged = [dim for dim in range(pieces[0].dim()) if any([piece.size(dim) != pieces[0].size(dim) for piece in pieces])]
    if len(ragged) > 1:
        raise RuntimeError(
            "Cannot represent given tensor list as a nested tensor with the jagged layout. Note that the jagged layout only "
            "allows for a single ragged dimension. For example: (B, *, D_0, D_1, ..., D_N), with ragged * dim."
        )
    dim = ragged[0] if ragged else 0
    sizes = [piece.size(dim) for piece in pieces]
    offsets = torch.nn.functional.pad(torch.tensor(sizes).cumsum(0), (1, 0))
    return Jagged(torch.cat(pieces, dim), offsets, None, dim + 1, {"min_seqlen": min(sizes), "max_seqlen": max(sizes)})


def __getattr__(name):
    raise _C._missing("torch.nested", name, list(globals()))
