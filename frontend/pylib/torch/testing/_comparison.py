"""`assert_close`: compares nested results, with tolerances that follow from the dtype."""

import torch

_TOLERANCES = {
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex64: (1.3e-6, 1e-5),
    torch.complex128: (1e-7, 1e-7),
}


def _tolerances(dtypes, rtol, atol):
    """The given tolerances, or the widest of the defaults of these dtypes; integers are compared exactly."""
    if (rtol is None) != (atol is None):
        missing = "rtol" if rtol is None else "atol"
        raise ValueError(f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}.")
    if rtol is not None:
        return rtol, atol
    defaults = [_TOLERANCES.get(dtype, (0.0, 0.0)) for dtype in dtypes]
    return max(pair[0] for pair in defaults), max(pair[1] for pair in defaults)


class _Comparison:
    def __init__(self, rtol, atol, equal_nan, check_device, check_dtype, check_stride):
        self.rtol = rtol
        self.atol = atol
        self.equal_nan = equal_nan
        self.check_device = check_device
        self.check_dtype = check_dtype
        self.check_stride = check_stride

    def compare(self, actual, expected, place):
        """None, or why the two differ; `place` is a list of keys and indices."""
        if isinstance(actual, torch.Tensor) and isinstance(expected, torch.Tensor):
            return self._tensors(actual, expected)
        if isinstance(actual, (bool, int, float, complex)) and isinstance(expected, (bool, int, float, complex)):
            return self._numbers(actual, expected)
        if isinstance(actual, dict) and isinstance(expected, dict):
            missing = set(expected) ^ set(actual)
            if missing:
                return f"The keys of the mappings do not match:\n{sorted(missing, key=repr)} are in only one of them."
            return self._items(actual, expected, sorted(actual, key=repr), place)
        if isinstance(actual, (list, tuple)) and isinstance(expected, (list, tuple)):
            if len(actual) != len(expected):
                return f"The length of the sequences mismatch: {len(actual)} != {len(expected)}"
            return self._items(actual, expected, range(len(actual)), place)
        if actual is None and expected is None:
            return None
        raise TypeError(
            f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}."
        )

    def _items(self, actual, expected, keys, place):
        for key in keys:
            place.append(key)
            reason = self.compare(actual[key], expected[key], place)
            if reason is not None:
                return reason
            place.pop()
        return None

    def _numbers(self, actual, expected):
        if self.check_dtype and type(actual) is not type(expected):
            return f"The (d)types do not match: {type(actual)} != {type(expected)}."
        exact = isinstance(expected, (bool, int))
        rtol, atol = _tolerances([torch.int64 if exact else torch.float64], self.rtol, self.atol)
        difference = abs(actual - expected)
        if difference <= atol + rtol * abs(expected) or actual == expected:
            return None
        if self.equal_nan and actual != actual and expected != expected:
            return None
        return (
            f"Scalars are not {_closeness(rtol, atol)}!\n\nExpected {expected} but got {actual}.\n"
            f"Absolute difference: {difference}{_limit(atol, rtol, atol)}\n"
            f"Relative difference: {difference / abs(expected) if expected else float('inf')}{_limit(rtol, rtol, atol)}"
        )

    def _tensors(self, actual, expected):
        if actual.shape != expected.shape:
            return f"The values for attribute 'shape' do not match: {actual.shape} != {expected.shape}."
        if self.check_device and actual.device != expected.device:
            return f"The values for attribute 'device' do not match: {actual.device} != {expected.device}."
        if self.check_dtype and actual.dtype != expected.dtype:
            return f"The values for attribute 'dtype' do not match: {actual.dtype} != {expected.dtype}."
        if self.check_stride and actual.stride() != expected.stride():
            return f"The values for attribute 'stride()' do not match: {actual.stride()} != {expected.stride()}."
        rtol, atol = _tolerances([actual.dtype, expected.dtype], self.rtol, self.atol)
        common = torch.promote_types(actual.dtype, expected.dtype)
        actual, expected = actual.detach().to(common), expected.detach().to(common)
        if rtol == 0 and atol == 0 and not common.is_floating_point:
            matches = actual == expected
        else:
            matches = torch.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=self.equal_nan)
        if bool(matches.all()):
            return None
        return self._tensor_report(actual, expected, matches, rtol, atol)

    def _tensor_report(self, actual, expected, matches, rtol, atol):
        total = matches.numel()
        wrong = total - int(matches.sum())
        if not (actual.dtype.is_floating_point or actual.dtype.is_complex):
            actual, expected = actual.to(torch.int64), expected.to(torch.int64)
        difference = (actual - expected).abs()
        difference = torch.where(matches, torch.zeros_like(difference), difference)
        relative = difference / expected.abs()
        relative = torch.where(matches, torch.zeros_like(relative), relative)
        if actual.dim() == 0:
            return (
                f"Scalars are not {_closeness(rtol, atol)}!\n\nExpected {expected.item()} but got {actual.item()}.\n"
                f"Absolute difference: {difference.item()}{_limit(atol, rtol, atol)}\n"
                f"Relative difference: {relative.item()}{_limit(rtol, rtol, atol)}"
            )
        return (
            f"Tensor-likes are not {_closeness(rtol, atol)}!\n\n"
            f"Mismatched elements: {wrong} / {total} ({wrong / total:.1%})\n"
            f"Greatest absolute difference: {_greatest(difference)}{_limit(atol, rtol, atol)}\n"
            f"Greatest relative difference: {_greatest(relative)}{_limit(rtol, rtol, atol)}"
        )


def _closeness(rtol, atol):
    return "equal" if rtol == 0 and atol == 0 else "close"


def _limit(tolerance, rtol, atol):
    return "" if rtol == 0 and atol == 0 else f" (up to {tolerance} allowed)"


def _greatest(tensor):
    flat = int(tensor.reshape(-1).argmax())
    place = []
    for size in reversed(tensor.shape):
        place.append(flat % size)
        flat //= size
    place = tuple(reversed(place))
    return f"{tensor[place].item()} at index {place}"


def assert_close(actual, expected, *, allow_subclasses=True, rtol=None, atol=None, equal_nan=False, check_device=True,
                 check_dtype=True, check_layout=True, check_stride=False, msg=None):
    """Raises AssertionError unless `actual` and `expected` are close, and alike in dtype and shape."""
    comparison = _Comparison(rtol, atol, equal_nan, check_device, check_dtype, check_stride)
    place = []
    reason = comparison.compare(actual, expected, place)
    if reason is None:
        return
    if place:
        reason += "\n\nThe failure occurred for item " + "".join(f"[{key!r}]" for key in place)
    if msg is not None:
        reason = msg(reason) if callable(msg) else msg
    raise AssertionError(reason)


def assert_allclose(actual, expected, rtol=None, atol=None, equal_nan=True, msg=""):
    """`assert_close` that does not look at dtypes."""
    assert_close(
        actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=True, check_dtype=False, msg=msg or None
    )
