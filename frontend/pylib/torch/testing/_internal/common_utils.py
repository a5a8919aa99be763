"""The test case of PyTorch's own tests: `assertEqual` compares tensors."""

import unittest

import torch
from torch.testing._comparison import assert_close

TEST_WITH_ROCM = False
TEST_CUDA = False
IS_WINDOWS = False


class TestCase(unittest.TestCase):
    def assertEqual(self, x, y, msg=None, *, atol=None, rtol=None, equal_nan=True, exact_dtype=True, exact_device=False, **settings):
        if isinstance(x, torch.Tensor) != isinstance(y, torch.Tensor):
            x = x.tolist() if isinstance(x, torch.Tensor) else x
            y = y.tolist() if isinstance(y, torch.Tensor) else y
        try:
            assert_close(x, y, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=exact_dtype, check_device=exact_device)
        except AssertionError as error:
            raise self.failureException(msg or str(error)) from None
        except TypeError:
            super().assertEqual(x, y, msg)


def run_tests(argv=None):
    """Runs the tests of the main module."""
    unittest.main(argv=argv)
