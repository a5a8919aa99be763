"""The test case of TorchScript's tests."""

from torch.testing._internal.common_utils import TestCase


class JitTestCase(TestCase):
    """A test case."""
