"""Reflections that make matrices triangular: `geqrf`, and the orthogonal matrices that they multiply to."""

import torch
from _taipan_tensors import result_type

_Factored = result_type("geqrf", ("a", "tau"))


def geqrf(input, *, out=None):
    """Reflections that turn a matrix into an upper triangle: the triangle with the reflections' vectors below it, and factors."""
    if input.dim() < 2:
        raise RuntimeError("torch.geqrf: input must have at least 2 dimensions.")
    if not input.is_floating_point():
        raise NotImplementedError(f'"geqrf_cpu" not implemented for \'{input.type()[6:-6]}\'')
    if input.requires_grad and torch.is_grad_enabled():
        raise NotImplementedError("the derivative for 'geqrf' is not implemented.")
    if out is not None:
        raise NotImplementedError("geqrf(): out= is not available")
    a = input.clone(memory_format=torch.contiguous_format)
    rows, columns = a.shape[-2:]
    factors = []
    for step in range(min(rows, columns)):
        head, rest = a[..., step, step].clone(), a[..., step + 1 :, step]
        tail = rest.norm(dim=-1)
        reflects = tail != 0
        # The new head, of the sign that doesn't cancel; a column that is done already is left as it is.
        to = torch.where(reflects, -torch.copysign(torch.hypot(head, tail), head), head)
        factor = torch.where(reflects, (to - head) / torch.where(reflects, to, torch.ones_like(to)), torch.zeros_like(to))
        scale = torch.where(reflects, head - to, torch.ones_like(to))
        vector = torch.where(reflects.unsqueeze(-1), rest / scale.unsqueeze(-1), torch.zeros_like(rest))
        if step + 1 < columns:
            right = a[..., step:, step + 1 :]
            whole = torch.cat([torch.ones_like(head).unsqueeze(-1), vector], -1).unsqueeze(-1)
            right.sub_(factor[..., None, None] * whole * (whole.mT @ right))
        a[..., step, step] = to
        a[..., step + 1 :, step] = vector
        factors.append(factor)
    tau = torch.stack(factors, -1) if factors else a.new_zeros(a.shape[:-2] + (0,))
    return _Factored((a, tau))


def householder_product(input, tau, *, out=None):
    """The first columns of the product of reflections, whose vectors stand below the diagonal of `input`."""
    name = "torch.linalg.householder_product"
    if input.dim() < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if input.size(-2) < input.size(-1):
        raise RuntimeError(f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]")
    if input.size(-1) < tau.size(-1):
        raise RuntimeError(f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    if input.dim() - tau.dim() != 1:
        raise RuntimeError(
            f"{name}: Expected tau to have one dimension less than input, but got tau.ndim equal to {tau.dim()} and input.ndim is "
            f"equal to {input.dim()}"
        )
    if input.shape[:-2] != tau.shape[:-1]:
        raise RuntimeError(
            f"{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got {list(tau.shape[:-1])}"
        )
    if tau.dtype != input.dtype:
        raise RuntimeError(f"{name}: tau dtype {tau.type()[6:-6]} does not match input dtype {input.type()[6:-6]}")
    rows, columns = input.shape[-2:]
    product = torch.eye(rows, columns, dtype=input.dtype, device=input.device).expand(input.shape)
    below = input.tril(-1) + torch.eye(rows, columns, dtype=input.dtype, device=input.device)
    for step in reversed(range(tau.size(-1))):
        vector = below[..., step : step + 1]
        product = product - tau[..., step, None, None] * vector * (vector.mT @ product)
    return product if out is None else out.copy_(product)


orgqr = householder_product
