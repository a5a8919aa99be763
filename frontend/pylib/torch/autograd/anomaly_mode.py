"""Anomaly detection: an error in the backward names the line of the script whose op it belongs to."""

from torch import _C


class detect_anomaly:
    """Within the block, ops remember where they were called, and a gradient that is not a number is an error."""

    def __init__(self, check_nan=True):
        self.check_nan = check_nan

    def __enter__(self):
        self.prev = _C._anomaly()
        _C._set_anomaly(True, self.check_nan)

    def __exit__(self, *args):
        _C._set_anomaly(*self.prev)


class set_detect_anomaly:
    """Switches anomaly detection on or off: at once when called, back at the end of a `with` block."""

    def __init__(self, mode, check_nan=True):
        self.prev = _C._anomaly()
        _C._set_anomaly(mode, check_nan)

    def __enter__(self):
        pass

    def __exit__(self, *args):
        _C._set_anomaly(*self.prev)
