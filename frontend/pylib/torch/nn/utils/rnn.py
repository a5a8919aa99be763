"""Sequences of different lengths as one tensor: padded, or packed step by step."""

from collections import namedtuple

import torch


class PackedSequence(namedtuple("PackedSequence", "data batch_sizes sorted_indices unsorted_indices")):
    """The elements of sequences behind each other, step after step, and how many sequences each step has.

    The sequences stand in order of their lengths, the longest first; `sorted_indices` says which one stands where.
    """

    __slots__ = ()

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if batch_sizes is None:
            # Made from the pair of data and sizes that it was in old programs.
            if not isinstance(data, (list, tuple)) or len(data) != 2:
                raise AssertionError("PackedSequence needs data and batch_sizes")
            data, batch_sizes = data
        if batch_sizes.device.type != "cpu":
            raise ValueError(
                "batch_sizes should always be on CPU. Instances of PackedSequence should never be created manually. They should be "
                "instantiated by functions like pack_sequence and pack_padded_sequences in nn.utils.rnn. "
                "https://pytorch.org/docs/stable/nn.html#torch.nn.utils.rnn.pack_sequence"
            )
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args, **kwargs):
        """The data on another device or in another dtype."""
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else self._with(data)

    def _with(self, data):
        return type(self)(data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    def cpu(self, *args, **kwargs):
        """The data on the CPU."""
        return self.to("cpu")

    def cuda(self, *args, **kwargs):
        """The data on a CUDA device."""
        return self._with(self.data.cuda(*args, **kwargs))

    def float(self):
        """The data as float32."""
        return self.to(dtype=torch.float)

    def double(self):
        """The data as float64."""
        return self.to(dtype=torch.double)

    def half(self):
        """The data as float16."""
        return self.to(dtype=torch.half)

    def long(self):
        """The data as int64."""
        return self.to(dtype=torch.long)

    def int(self):
        """The data as int32."""
        return self.to(dtype=torch.int)

    def pin_memory(self):
        """The sequence: there is no memory to pin."""
        return self

    def is_pinned(self):
        """False."""
        return False

    @property
    def is_cuda(self):
        """Whether the data is on a CUDA device."""
        return self.data.is_cuda


def invert_permutation(permutation):
    """The permutation that undoes another; None stands for no change."""
    if permutation is None:
        return None
    inverse = torch.empty_like(permutation)
    inverse[permutation] = torch.arange(permutation.numel(), device=permutation.device)
    return inverse


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """Packs a padded batch of sequences of the given lengths."""
    lengths = torch.as_tensor(lengths, dtype=torch.int64, device="cpu")
    sorted_indices = None
    if not enforce_sorted:
        lengths, sorted_indices = torch.sort(lengths, descending=True)
        sorted_indices = sorted_indices.to(input.device)
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    if batch_first:
        input = input.transpose(0, 1)
    counts = lengths.tolist()
    if not counts or min(counts) <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if len(counts) != input.size(1):
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(counts)} (batch_size={input.size(1)})"
        )
    if any(before < after for before, after in zip(counts, counts[1:])):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass `enforce_sorted=False` "
            "to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not need ONNX exportability."
        )
    if counts[0] > input.size(0):
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {counts[0]} (batch_size={input.size(0)})"
        )
    sizes = [sum(count > step for count in counts) for step in range(counts[0])]
    data = torch.cat([input[step, :size] for step, size in enumerate(sizes)])
    return PackedSequence(data, torch.tensor(sizes), sorted_indices)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """The padded batch, and the lengths, of a packed sequence."""
    sizes = sequence.batch_sizes.tolist()
    steps = len(sizes)
    if total_length is not None:
        if total_length < steps:
            raise ValueError(
                f"Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {steps}"
            )
        steps = total_length
    batch = sizes[0]
    rows = []
    for part in sequence.data.split(sizes):
        missing = batch - part.size(0)
        if missing:
            part = torch.cat([part, part.new_full((missing,) + tuple(part.shape[1:]), padding_value)])
        rows.append(part)
    filler = sequence.data.new_full((batch,) + tuple(sequence.data.shape[1:]), padding_value)
    rows += [filler] * (steps - len(sizes))
    padded = torch.stack(rows)
    if batch_first:
        padded = padded.transpose(0, 1)
    lengths = torch.tensor([sum(size > place for size in sizes) for place in range(batch)])
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(0 if batch_first else 1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices.cpu()]
    return padded, lengths


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Stacks tensors that differ in their first size, filled up with `padding_value`."""
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    if isinstance(sequences, torch.Tensor):
        sequences = sequences.unbind(0)
    elif not (hasattr(sequences, "__iter__") or hasattr(sequences, "__getitem__")):
        raise RuntimeError(
            "pad_sequence: Expected iterable for input sequences, but got arg of type: " f"{type(sequences)}"
        )
    sequences = list(sequences)
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    longest = max(sequence.size(0) for sequence in sequences)
    rows = []
    for sequence in sequences:
        missing = longest - sequence.size(0)
        if missing:
            filler = sequence.new_full((missing,) + tuple(sequence.shape[1:]), padding_value)
            sequence = torch.cat([sequence, filler] if padding_side == "right" else [filler, sequence])
        rows.append(sequence)
    return torch.stack(rows, 0 if batch_first else 1)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """The tensors that `pad_sequence` stacked."""
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [sequence[: int(length)] for sequence, length in zip(padded_sequences, lengths)]


def pack_sequence(sequences, enforce_sorted=True):
    """Packs sequences of different lengths."""
    lengths = torch.as_tensor([sequence.size(0) for sequence in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    """The sequences of a packed one."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
