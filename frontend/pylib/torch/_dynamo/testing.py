"""Backends that count, and the small tests that the compiler's own tests are written with."""

import torch
from torch._C._compiler import graph_break
from torch._dynamo.eval_frame import optimize_assert
from torch._dynamo.utils import same

three = 3


class CompileCounter:
    """A backend that counts graphs and their operations, and runs the graph."""

    def __init__(self):
        self.clear()

    def __call__(self, gm, example_inputs):
        self.frame_count += 1
        self.op_count += _count_calls(gm)
        return gm.forward

    def clear(self):
        """Starts counting anew."""
        self.frame_count = 0
        self.op_count = 0


class CompileCounterWithBackend:
    """A backend that counts and keeps graphs, and leaves them to another backend."""

    def __init__(self, backend):
        self.backend = backend
        self.clear()

    def __call__(self, gm, example_inputs):
        self.frame_count += 1
        self.op_count += _count_calls(gm)
        self.graphs.append(gm)
        from torch._dynamo.backends.registry import lookup_backend

        return lookup_backend(self.backend)(gm, example_inputs)

    def clear(self):
        """Starts counting anew."""
        self.frame_count = 0
        self.op_count = 0
        self.graphs = []


class EagerAndRecordGraphs:
    """A backend that keeps graphs and runs them."""

    def __init__(self):
        self.graphs = []

    def __call__(self, gm, example_inputs):
        self.graphs.append(gm)
        return gm.forward


def _count_calls(gm):
    return sum(1 for node in gm.graph.nodes if node.op.startswith("call"))


def unsupported(a, b):
    """`b`, behind a break."""
    graph_break()
    return b


def dummy_fx_compile(gm, example_inputs):
    """A backend that runs the graph."""
    return gm.forward


def debug_insert_nops(*args, **kwargs):
    """Not available: code objects are never rewritten here."""
    raise NotImplementedError("torch._dynamo.testing.debug_insert_nops")


def standard_test(self, fn, nargs, expected_ops=None, expected_ops_dynamic=None, expected_frame_count=1):
    """Compiles `fn` without breaks, compares it with plain runs, and checks the number of operations and graphs."""
    if not torch._dynamo.config.assume_static_by_default and expected_ops_dynamic is not None:
        expected_ops = expected_ops_dynamic
    counter = CompileCounter()
    first = [torch.randn(10, 10) for _ in range(nargs)]
    second = [torch.randn(10, 10) for _ in range(nargs)]
    expected = [fn(*first), fn(*second)]
    torch._dynamo.reset()
    compiled = optimize_assert(counter)(fn)
    results = [compiled(*first), compiled(*second), compiled(*first), compiled(*second)]
    torch._dynamo.reset()
    for result, wanted in zip(results, expected + expected):
        self.assertTrue(same(result, wanted))
    if expected_frame_count is not None:
        self.assertEqual(counter.frame_count, expected_frame_count)
    if expected_ops is not None:
        self.assertEqual(counter.op_count, expected_ops)


def requires_static_shapes(fn):
    """Skips a test where sizes are symbolic."""
    from torch.utils._contextlib import wraps

    @wraps(fn)
    def wrapper(*args, **kwargs):
        if not torch._dynamo.config.assume_static_by_default:
            import unittest

            raise unittest.SkipTest("requires static shapes")
        return fn(*args, **kwargs)

    return wrapper


def rand_strided(size, stride, dtype=torch.float32, device="cpu", extra_size=0):
    """A random tensor with these sizes and strides."""
    needed = 1 + sum((s - 1) * step for s, step in zip(size, stride)) + extra_size
    if dtype.is_floating_point or dtype.is_complex:
        buffer = torch.randn(needed, dtype=dtype, device=device)
    else:
        buffer = torch.randint(0, 2, [needed], dtype=torch.int64, device=device).to(dtype)
    return torch.as_strided(buffer, size, stride)


def reduce_to_scalar_loss(out):
    """A mean over everything in a nested result."""
    if isinstance(out, torch.Tensor):
        return out.sum() / out.numel()
    if isinstance(out, (list, tuple)):
        return sum(reduce_to_scalar_loss(x) for x in out) / len(out)
    if isinstance(out, dict):
        return sum(reduce_to_scalar_loss(value) for value in out.values()) / len(out)
    raise NotImplementedError("Don't know how to reduce", type(out))


def collect_results(model, prediction, loss, example_inputs):
    """The prediction, the loss, and the gradients and values of parameters and inputs."""
    grads = {}
    params = {}
    for name, param in model.named_parameters():
        grads[name + ".grad"] = torch.zeros_like(param) if param.grad is None else param.grad
        params[name] = param
    results = [prediction, loss, grads, params, dict(model.named_buffers())]
    for example in example_inputs:
        for value in example if isinstance(example, (list, tuple)) else [example]:
            if isinstance(value, torch.Tensor):
                results.append(value.grad)
    return results


def make_test_cls_with_patches(cls, cls_prefix, fn_suffix, *patches, xfail_prop=None, decorator=lambda x: x):
    """A copy of a test class whose tests run with configuration patched: `patches` are (config, name, value)."""
    made = type(f"{cls_prefix}{cls.__name__}", cls.__bases__, {"__module__": cls.__module__})
    for name in dir(cls):
        if not name.startswith("test_"):
            if not hasattr(made, name):
                setattr(made, name, getattr(cls, name))
            continue
        fn = getattr(cls, name)
        if not callable(fn):
            setattr(made, name, fn)
            continue
        for config, setting, value in patches:
            fn = config.patch(setting, value)(fn)
        fn.__name__ = name + fn_suffix
        setattr(made, fn.__name__, decorator(fn))
    return made
