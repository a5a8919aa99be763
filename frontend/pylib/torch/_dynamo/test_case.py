"""A test case that starts each test with nothing compiled."""

import unittest

import torch


class TestCase(unittest.TestCase):
    def setUp(self):
        super().setUp()
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()

    def tearDown(self):
        torch._dynamo.reset()
        super().tearDown()


def run_tests(needs=()):
    """Runs the tests of the main module."""
    unittest.main()
