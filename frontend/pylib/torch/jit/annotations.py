"""`torch.jit.annotations`: types for annotations of scripted code."""

from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union


class _Broadcasting:
    """A list of so many items, or one item that stands for all."""

    def __class_getitem__(cls, item):
        return Any


BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = _Broadcasting
