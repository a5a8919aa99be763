"""Recognising coroutine functions."""

from inspect import iscoroutine, iscoroutinefunction

_is_coroutine = object()

__all__ = ["iscoroutine", "iscoroutinefunction"]
