"""Parameters as one vector."""

import torch


def parameters_to_vector(parameters):
    """All parameters behind each other."""
    return torch.cat([parameter.reshape(-1) for parameter in parameters])


def vector_to_parameters(vec, parameters):
    """Cuts a vector into the parameters, which then have its data."""
    start = 0
    for parameter in parameters:
        count = parameter.numel()
        parameter.data = vec[start : start + count].view_as(parameter).data
        start += count
