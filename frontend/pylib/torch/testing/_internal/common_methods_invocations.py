"""Samples of arguments."""


class SampleInput:
    """The arguments of one call."""

    def __init__(self, input, *args, **kwargs):
        self.input = input
        self.args = args
        self.kwargs = kwargs
