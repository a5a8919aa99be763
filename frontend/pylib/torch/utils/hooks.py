"""Handles of registered hooks."""

_next_id = 0


class RemovableHandle:
    """Removes a hook from the dict it was registered in; leaving a `with` block on it does the same."""

    def __init__(self, hooks_dict, *, extra_dict=None):
        global _next_id
        self.id = _next_id
        _next_id += 1
        self.hooks_dict = hooks_dict
        if extra_dict is None:
            self.extra_dicts = []
        elif isinstance(extra_dict, dict):
            self.extra_dicts = [extra_dict]
        else:
            self.extra_dicts = list(extra_dict)

    def remove(self):
        """Removes the hook; does nothing the second time."""
        self.hooks_dict.pop(self.id, None)
        for extra in self.extra_dicts:
            extra.pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        self.remove()
