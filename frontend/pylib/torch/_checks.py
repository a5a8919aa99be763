"""Checks that code written for exporting makes: each raises unless its condition holds."""

_TEXT = (
    "Expected cond to be True, but got False. (Could this error message be improved? If so, please report an enhancement request to "
    "PyTorch.)"
)


def _assert(condition, message):
    """`assert condition, message`."""
    assert condition, message


def _check_with(error_type, cond, message=None):
    """Raises `error_type` unless `cond`; `message` is a function that gives the text."""
    if cond:
        return
    raise error_type(_TEXT if message is None else str(message()))


def _check(cond, message=None):
    """Raises RuntimeError unless `cond`."""
    _check_with(RuntimeError, cond, message)


def _check_index(cond, message=None):
    """Raises IndexError unless `cond`."""
    _check_with(IndexError, cond, message)


def _check_value(cond, message=None):
    """Raises ValueError unless `cond`."""
    _check_with(ValueError, cond, message)


def _check_type(cond, message=None):
    """Raises TypeError unless `cond`."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond, message=None):
    """Raises NotImplementedError unless `cond`."""
    _check_with(NotImplementedError, cond, message)


def _check_is_size(i, message=None, *, max=None):
    """Raises RuntimeError unless `i` can be a size."""
    _check(i >= 0, message)
    if max is not None:
        _check(i <= max, message)


def _check_tensor_all_with(error_type, cond, message=None):
    """Raises `error_type` unless every element of `cond` holds."""
    _check_with(error_type, bool(cond.all()), message)


def _check_tensor_all(cond, message=None):
    """Raises RuntimeError unless every element of `cond` holds."""
    _check_tensor_all_with(RuntimeError, cond, message)


def _assert_async(input, assert_msg=None):
    """Raises RuntimeError unless the one element of `input` is not zero."""
    if not bool(input):
        raise RuntimeError(assert_msg or "Expected Tensor with single nonzero value, but got zero")
