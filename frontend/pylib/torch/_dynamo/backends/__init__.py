"""Backends that are Python callables."""
