"""`torch.compiler`: what a program says to the compiler."""

from torch._C import _compiler
from torch._C._compiler import disable, is_compiling, reset


def compile(*args, **kwargs):
    """`torch.compile`."""
    from torch._compile import compile

    return compile(*args, **kwargs)


def list_backends(exclude_tags=("debug", "experimental")):
    """The names of the backends there are."""
    return _compiler.list_backends()


def is_dynamo_compiling():
    """Whether the caller is being traced."""
    return is_compiling()


def is_exporting():
    """Whether the caller is being traced for export."""
    return False


def allow_in_graph(fn):
    """Lets `fn` stand in graphs as one call that tracing does not look into."""
    from torch._dynamo.decorators import allow_in_graph

    return allow_in_graph(fn)


def assume_constant_result(fn):
    """Declares that `fn` gives the same result at every call."""
    from torch._dynamo.decorators import assume_constant_result

    return assume_constant_result(fn)


def set_stance(*args, **kwargs):
    """Changes how compiled functions behave for a while."""
    from torch._dynamo.decorators import set_stance

    return set_stance(*args, **kwargs)


def cudagraph_mark_step_begin():
    """Does nothing: there are no CUDA graphs here."""
