"""`torch._dynamo`: the compiler as programs written for TorchDynamo know it."""

from torch._C._compiler import graph_break, is_compiling, reset
from torch._dynamo import config, exc
from torch._dynamo.backends.registry import list_backends, lookup_backend, register_backend
from torch._dynamo.decorators import (
    allow_in_graph,
    assume_constant_result,
    disable,
    disallow_in_graph,
    forbid_in_graph,
    mark_dynamic,
    mark_static,
    mark_static_address,
    maybe_mark_dynamic,
    run,
    set_stance,
    skip,
)
from torch._dynamo.eval_frame import (
    OptimizedModule,
    OptimizeContext,
    explain,
    is_dynamo_supported,
    optimize,
    optimize_assert,
)


def __getattr__(name):
    if name in ("debug_utils", "mutation_guard", "test_case", "testing", "utils"):
        import importlib

        return importlib.import_module("torch._dynamo." + name)
    raise AttributeError(f"module 'torch._dynamo' has no attribute '{name}'")
