"""Generations of modules, which older programs ask about; guards here follow attributes, not generations."""


class GenerationTracker:
    """Counts generations; there is only one."""

    generation = 0

    @staticmethod
    def tag(obj):
        """Does nothing."""

    @staticmethod
    def mark_class_dynamic(cls):
        """Does nothing."""

    @classmethod
    def get_generation_value(cls, obj):
        """The generation of `obj`."""
        return cls.generation

    @classmethod
    def check(cls, obj):
        """Whether `obj` is of the current generation."""
        return True


def is_dynamic_nn_module(obj, is_export=False):
    """False: all modules are treated alike."""
    return False
