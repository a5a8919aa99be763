"""Arrays and scalars as text, in NumPy's layout."""

import struct

_WIDTH, _PRECISION, _THRESHOLD, _EDGE = 75, 8, 1000, 3
_FORMS = {2: "<e", 4: "<f"}
# From these on, numbers have exponents: scalars, and elements of arrays.
_LARGE_SCALARS = {2: 1e3, 4: 1e6, 8: 1e16}
_LARGE_ELEMENTS = {2: 1e3, 4: 1e6, 8: 1e8}


def shortest(value, itemsize):
    """The shortest decimal that reads back as the same number of this size: digits and exponent, as in `1.5e+00`."""
    if itemsize == 8:
        text = repr(value)
        return f"{value:.{max(len(text.replace('-', '').replace('.', '').split('e')[0].strip('0')) - 1, 0)}e}"
    form = _FORMS[itemsize]
    for digits in range(0, 10):
        text = f"{value:.{digits}e}"
        try:
            if struct.unpack(form, struct.pack(form, float(text)))[0] == value:
                return text
        except OverflowError:
            continue
    return f"{value:.9e}"


def _positional(value, itemsize, precision=None):
    """In plain digits: whole part and decimals, the latter without trailing zeros."""
    text = shortest(value, itemsize)
    mantissa, exponent = text.split("e")
    digits, exponent = mantissa.lstrip("-").replace(".", ""), int(exponent)
    if exponent >= len(digits) - 1:
        whole, decimals = digits + "0" * (exponent - len(digits) + 1), ""
    elif exponent >= 0:
        whole, decimals = digits[:exponent + 1], digits[exponent + 1:]
    else:
        whole, decimals = "0", "0" * (-exponent - 1) + digits
    if precision is not None and len(decimals) > precision:
        rounded = f"{float(text):.{precision}f}".lstrip("-")
        whole, _, decimals = rounded.partition(".")
    sign = "-" if text[0] == "-" else ""
    return sign + whole, decimals.rstrip("0")


def _scientific(value, itemsize):
    """With an exponent: whole digit, decimals (at most the precision), exponent."""
    text = shortest(value, itemsize)
    mantissa, exponent = text.split("e")
    if len(mantissa.partition(".")[2]) > _PRECISION:
        mantissa, exponent = f"{value:.{_PRECISION}e}".split("e")
    whole, _, decimals = mantissa.partition(".")
    return whole, decimals.rstrip("0"), exponent


def scalar_text(dtype, value):
    """`str` of a scalar."""
    if dtype.kind != "f" or value != value or value in (float("inf"), float("-inf")):
        return str(value)
    if value == 0 or 1e-4 <= abs(value) < _LARGE_SCALARS[dtype.itemsize]:
        whole, decimals = _positional(value, dtype.itemsize)
        return f"{whole}.{decimals or '0'}"
    text = shortest(value, dtype.itemsize)
    mantissa, exponent = text.split("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}e{exponent}"


def _float_formatter(values, itemsize):
    finite = [value for value in values if value == value and abs(value) != float("inf")]
    special = [value for value in values if not (value == value and abs(value) != float("inf"))]
    sizes = [abs(value) for value in finite if value != 0]
    high, low = max(sizes, default=0), min(sizes, default=0)
    exponents = bool(sizes) and (high >= _LARGE_ELEMENTS[itemsize] or low < 1e-4 or high / low > 1000.0)
    special_width = max((len(_special(value)) for value in special), default=0)
    if exponents:
        parts = [_scientific(value, itemsize) for value in finite]
        left = max((len(whole) for whole, _, _ in parts), default=1)
        right = max((len(decimals) for _, decimals, _ in parts), default=0)
        width = max(left + 1 + right + max((len(part[2]) + 1 for part in parts), default=0), special_width)

        def number(value):
            whole, decimals, exponent = _scientific(value, itemsize)
            return f"{whole:>{left}}.{decimals:0<{right}}e{exponent}"
    else:
        parts = [_positional(value, itemsize, _PRECISION) for value in finite]
        left = max((len(whole) for whole, _ in parts), default=1)
        right = max((len(decimals) for _, decimals in parts), default=0)
        left = max(left, special_width - right - 1)
        width = left + 1 + right

        def number(value):
            whole, decimals = _positional(value, itemsize, _PRECISION)
            return f"{whole:>{left}}.{decimals:<{right}}"

    def entry(value):
        if value == value and abs(value) != float("inf"):
            return f"{number(value):>{width}}"
        return f"{_special(value):>{width}}"

    return entry


def _special(value):
    return "nan" if value != value else ("inf" if value > 0 else "-inf")


def _formatter(dtype, values):
    if dtype.kind == "f":
        return _float_formatter(values, dtype.itemsize)
    texts = [str(value) for value in values]
    width = 5 if dtype.kind == "b" else max((len(text) for text in texts), default=0)
    return lambda value: f"{value!s:>{width}}"


def _corners(tensor, shortened):
    """The elements that are shown."""
    if not shortened:
        return tensor
    import torch

    for dim in range(tensor.dim()):
        if tensor.shape[dim] > 2 * _EDGE:
            last = tensor.shape[dim]
            tensor = torch.cat([tensor.narrow(dim, 0, _EDGE), tensor.narrow(dim, last - _EDGE, _EDGE)], dim)
    return tensor


def array_text(array, separator, prefix):
    """The text within the brackets of `array(...)`, lines after the first indented by the prefix's length."""
    tensor = array._t
    shortened = tensor.numel() > _THRESHOLD
    entry = _formatter(array.dtype, _corners(tensor, shortened).reshape(-1).tolist())
    if tensor.dim() == 0:
        return entry(tensor.item()).strip() if array.dtype.kind != "f" else entry(tensor.item())
    return _block(tensor, entry, separator, shortened, " " * len(prefix), _WIDTH)


def _block(tensor, entry, separator, shortened, indent, width):
    """One dim and all below it."""
    indent += " "
    width -= 1
    count = tensor.shape[0]
    short = shortened and count > 2 * _EDGE
    indices = [*range(_EDGE), None, *range(count - _EDGE, count)] if short else range(count)
    if tensor.dim() == 1:
        values = tensor.tolist()
        lines, line = [], indent
        words = ["..." if index is None else entry(values[index]) for index in indices]
        for position, word in enumerate(words):
            last = position == len(words) - 1
            room = width + 1 - (1 if last else len(separator.rstrip()))
            if len(line) + len(word) > room and len(line) > len(indent):
                lines.append(line.rstrip())
                line = indent
            line += word + ("" if last else separator)
        lines.append(line)
        return "[" + "\n".join(lines)[len(indent):] + "]"
    blocks = ["..." if index is None else _block(tensor[index], entry, separator, shortened, indent, width) for index in indices]
    gap = separator.rstrip() + "\n" * (tensor.dim() - 1) + indent
    return "[" + gap.join(blocks) + "]"


def array_repr(array):
    """`repr` of an array."""
    prefix = "array("
    body = array_text(array, ", ", prefix) if array.size else _empty(array)
    shown = []
    if array.size == 0 and array.shape != (0,):
        shown.append(f"shape={array.shape}")
    if array.dtype.name not in ("int64", "float64", "bool") or array.size == 0:
        shown.append(f"dtype={array.dtype.name}")
    text = prefix + body
    if array.size > _THRESHOLD:
        shown.insert(0, f"shape={array.shape}")
    if not shown:
        return text + ")"
    extra = ", ".join(shown)
    last = len(text) - (text.rfind("\n") + 1)
    joint = ", " if last + len(extra) + 3 <= _WIDTH + 1 else ",\n" + " " * len(prefix)
    return f"{text}{joint}{extra})"


def _empty(array):
    return "[]"


def array_str(array):
    """`str` of an array."""
    if array.ndim == 0:
        return str(array[()])
    return array_text(array, " ", "") if array.size else "[]"
