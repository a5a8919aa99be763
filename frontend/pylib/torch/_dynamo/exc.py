"""The exceptions of the compiler."""


class TorchDynamoException(RuntimeError):
    """Base of what is raised for a program's use of the compiler."""


class InternalTorchDynamoError(TorchDynamoException):
    """A fault of the compiler itself."""


class RestartAnalysis(TorchDynamoException):
    """Never raised here; programs name it in `except` clauses."""


class SkipFrame(TorchDynamoException):
    """Never raised here; programs name it in `except` clauses."""


class TorchRuntimeError(TorchDynamoException):
    """An operation failed while it was traced."""


class InvalidBackend(TorchDynamoException):
    """No backend has this name."""

    def __init__(self, name):
        super().__init__(f"Invalid backend: {name!r}, see `torch._dynamo.list_backends()` for available backends.")


class ResetRequired(TorchDynamoException):
    """A setting was changed that compiled code depends on."""

    def __init__(self):
        super().__init__(
            "Must call `torch._dynamo.reset()` before changing backends. Detected two calls to `torch.compile()` with a "
            "different backend compiler arguments."
        )


class BackendCompilerFailed(TorchDynamoException):
    """A backend raised `inner_exception`."""

    def __init__(self, backend_fn, inner_exception):
        self.backend_name = getattr(backend_fn, "__name__", "?")
        self.inner_exception = inner_exception
        super().__init__(
            f"backend={self.backend_name!r} raised:\n{type(inner_exception).__name__}: {inner_exception}"
        )


class Unsupported(TorchDynamoException):
    """A break where none is allowed: the message names the reason and the line."""

    def __init__(self, msg="", *, case_name=None):
        super().__init__(msg)
        self.msg = msg
        self.case_name = case_name


class UserError(Unsupported):
    """A break that the program can avoid."""

    def __init__(self, error_type, msg, case_name=None):
        super().__init__(msg, case_name=case_name)
        self.error_type = error_type
        self.message = msg


class ArgsMismatchError(Unsupported):
    """A call with the wrong arguments."""


class UncapturedHigherOrderOpError(TorchDynamoException):
    """A higher-order operator whose body has a break."""


class RecompileError(TorchDynamoException):
    """A recompile where none is allowed."""


class RecompileLimitExceeded(Unsupported):
    """A function was compiled more often than the limit allows."""


FailOnRecompileLimitHit = RecompileLimitExceeded


class PackageError(TorchDynamoException):
    """A saved artifact can't be used."""
