"""Comparing two models."""

import torch
from torch._dynamo.utils import clone_inputs, same


def same_two_models(gm, opt_gm, example_inputs, only_fwd=False, *, require_fp64=False, ignore_non_fp=False):
    """Whether two models give the same result on copies of the same inputs."""
    with torch.no_grad():
        return same(gm(*clone_inputs(example_inputs)), opt_gm(*clone_inputs(example_inputs)), equal_nan=True)
