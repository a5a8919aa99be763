"""`gradcheck`: gradients of the tape against finite differences."""

import torch


class GradcheckError(RuntimeError):
    """The gradients differ."""


def _outputs(func, inputs):
    out = func(*inputs)
    outs = (out,) if isinstance(out, torch.Tensor) else tuple(out)
    return tuple([one for one in outs if isinstance(one, torch.Tensor) and one.is_floating_point()])


def _numerical(func, inputs, place, eps):
    """The Jacobian of each output with respect to one input: rows by element of the input."""
    target = inputs[place]
    flat = target.detach().reshape(-1)
    columns = []
    for index in range(flat.numel()):
        shifted = []
        for step in (-eps, eps):
            moved = flat.clone()
            moved[index] += step
            args = list(inputs)
            args[place] = moved.view(target.shape).requires_grad_(True)
            with torch.no_grad():
                shifted.append([one.detach().clone().reshape(-1) for one in _outputs(func, args)])
        columns.append([(high - low) / (2 * eps) for low, high in zip(*shifted)])
    return columns


def gradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, nondet_tol=0.0, check_undefined_grad=True,
              check_grad_dtypes=False, check_batched_grad=False, check_batched_forward_grad=False, check_forward_ad=False,
              check_backward_ad=True, fast_mode=False, masked=None):
    """Whether the gradients of `func` agree with finite differences in every element."""
    inputs = (inputs,) if isinstance(inputs, torch.Tensor) else tuple(inputs)
    places = [index for index, one in enumerate(inputs) if isinstance(one, torch.Tensor) and one.requires_grad]
    if not places:
        raise ValueError("gradcheck expects at least one input tensor to require gradient, but none of the them have requires_grad=True.")
    outputs = _outputs(func, inputs)
    for place in places:
        numerical = _numerical(func, inputs, place, eps)
        for number, out in enumerate(outputs):
            for index in range(out.numel()):
                element = out.reshape(-1)[index]
                found = None
                if element.requires_grad:
                    found = torch.autograd.grad(element, inputs[place], retain_graph=True, allow_unused=True)[0]
                analytical = torch.zeros_like(inputs[place]) if found is None else found
                expected = torch.stack([column[number][index] for column in numerical]) if numerical else analytical.reshape(-1)
                if not torch.allclose(analytical.detach().reshape(-1), expected, rtol, atol):
                    if not raise_exception:
                        return False
                    raise GradcheckError(
                        f"Jacobian mismatch for output {number} with respect to input {place},\nnumerical:{expected}\n"
                        f"analytical:{analytical.detach().reshape(-1)}\n"
                    )
    return True


def gradgradcheck(func, inputs, grad_outputs=None, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, **kwargs):
    """`gradcheck` of the gradients."""
    inputs = (inputs,) if isinstance(inputs, torch.Tensor) else tuple(inputs)
    outputs = _outputs(func, inputs)
    if grad_outputs is None:
        grad_outputs = tuple([torch.randn_like(out).requires_grad_(True) for out in outputs])
    elif isinstance(grad_outputs, torch.Tensor):
        grad_outputs = (grad_outputs,)
    count = len(inputs)

    def first(*args):
        args, grads = args[:count], args[count:]
        tracked = tuple([one for one in args if isinstance(one, torch.Tensor) and one.requires_grad])
        with torch.enable_grad():
            outs = _outputs(func, args)
            return torch.autograd.grad(outs, tracked, grads, create_graph=True, allow_unused=True)

    return gradcheck(first, inputs + grad_outputs, eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception)
