"""`torch.onnx`: nothing is exported here; code that registers forms of its own for exporting is let do so, to no effect."""

from enum import IntEnum


class OnnxExporterError(RuntimeError):
    """An export failed."""


class TrainingMode(IntEnum):
    """In which mode a module is exported."""

    EVAL = 0
    PRESERVE = 1
    TRAINING = 2


class OperatorExportTypes(IntEnum):
    """How operators are exported."""

    ONNX = 0
    ONNX_ATEN = 1
    ONNX_ATEN_FALLBACK = 2
    ONNX_FALLTHROUGH = 3


class TensorProtoDataType(IntEnum):
    """The numbers by which the format names element types."""

    UNDEFINED = 0
    FLOAT = 1
    UINT8 = 2
    INT8 = 3
    UINT16 = 4
    INT16 = 5
    INT32 = 6
    INT64 = 7
    STRING = 8
    BOOL = 9
    FLOAT16 = 10
    DOUBLE = 11
    UINT32 = 12
    UINT64 = 13
    COMPLEX64 = 14
    COMPLEX128 = 15
    BFLOAT16 = 16


class ONNXProgram:
    """No program is ever exported."""


def is_in_onnx_export():
    """False."""
    return False


def export(*args, **kwargs):
    """An error: there is no exporter."""
    raise OnnxExporterError("torch.onnx.export is not available: there is no exporter here")


dynamo_export = export


def register_custom_op_symbolic(symbolic_name, symbolic_fn, opset_version):
    """Does nothing: nothing is exported."""


def unregister_custom_op_symbolic(symbolic_name, opset_version):
    """Does nothing: nothing is exported."""


class _Opset:
    """The functions that describe the operators of one version of the format: all refuse, as nothing is exported."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return export


def __getattr__(name):
    if name in ("operators", "symbolic_helper"):
        import importlib

        return importlib.import_module("torch.onnx." + name)
    if name.startswith("symbolic_opset"):
        return _Opset()
    raise AttributeError(f"module 'torch.onnx' has no attribute '{name}'")
