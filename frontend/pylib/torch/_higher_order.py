"""Control flow on tensors as functions."""


def cond(pred, true_fn, false_fn, operands=()):
    """`true_fn(*operands)` where `pred` is true, else `false_fn(*operands)`."""
    return true_fn(*operands) if bool(pred) else false_fn(*operands)
