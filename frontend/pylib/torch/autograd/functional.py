"""`torch.autograd.functional`: derivatives of functions as functions."""

import torch


def _as_tuple(value, name, function):
    if isinstance(value, torch.Tensor):
        return (value,), True
    values = tuple(value)
    for index, one in enumerate(values):
        if not isinstance(one, torch.Tensor):
            raise TypeError(
                f"The {name} given to {function} must be either a Tensor or a tuple of Tensors but the value at index {index} has type "
                f"{type(one)}."
            )
    return values, False


def _leaves(inputs, create_graph):
    """Inputs that can be differentiated; with `create_graph` still connected to what they came from."""
    return tuple([one.view_as(one) if create_graph and one.requires_grad else one.detach().requires_grad_() for one in inputs])


def _gradients(outputs, inputs, grads, create_graph, strict=False):
    found = torch.autograd.grad(
        outputs, inputs, grads, retain_graph=True, create_graph=create_graph, allow_unused=True
    )
    if strict and any([one is None for one in found]):
        raise RuntimeError("The output of the user-provided function is independent of an input. This is not allowed in strict mode.")
    return tuple([torch.zeros_like(of) if one is None else one for one, of in zip(found, inputs)])


def _done(values, create_graph):
    return values if create_graph else tuple([one.detach() for one in values])


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """The outputs, and the product of `v` with the Jacobian."""
    with torch.enable_grad():
        inputs, single = _as_tuple(inputs, "inputs", "vjp")
        inputs = _leaves(inputs, create_graph)
        outputs, single_output = _as_tuple(func(*inputs), "outputs of the user-provided function", "vjp")
        if v is None:
            if len(outputs) != 1 or outputs[0].numel() != 1:
                raise RuntimeError(
                    "The vector v can only be None if the user-provided function returns a single Tensor with a single element."
                )
            v = (torch.ones_like(outputs[0]),)
        else:
            v, _ = _as_tuple(v, "v", "vjp")
        tracked = [(out, one) for out, one in zip(outputs, v) if out.requires_grad]
        if tracked:
            found = _gradients([out for out, _ in tracked], inputs, [one for _, one in tracked], create_graph, strict)
        else:
            found = tuple([torch.zeros_like(one) for one in inputs])
    outputs, found = _done(outputs, create_graph), _done(found, create_graph)
    return outputs[0] if single_output else outputs, found[0] if single else found


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """The outputs, and the product of the Jacobian with `v`: by differentiating twice."""
    with torch.enable_grad():
        inputs, single = _as_tuple(inputs, "inputs", "jvp")
        inputs = _leaves(inputs, create_graph)
        if v is None:
            if len(inputs) != 1 or inputs[0].numel() != 1:
                raise RuntimeError(
                    "The vector v can only be None if the input to the user-provided function is a single Tensor with a single element."
                )
            v = (torch.ones_like(inputs[0]),)
        else:
            v, _ = _as_tuple(v, "v", "jvp")
        outputs, single_output = _as_tuple(func(*inputs), "outputs of the user-provided function", "jvp")
        dual = tuple([torch.zeros_like(out, requires_grad=True) for out in outputs])
        back = _gradients(outputs, inputs, dual, True, strict)
        tracked = [(one, of) for one, of in zip(back, v) if one.requires_grad]
        if tracked:
            found = _gradients([one for one, _ in tracked], dual, [of for _, of in tracked], create_graph)
        else:
            found = tuple([torch.zeros_like(out) for out in outputs])
    outputs, found = _done(outputs, create_graph), _done(found, create_graph)
    return outputs[0] if single_output else outputs, found[0] if single_output else found


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    """The derivatives of each element of the outputs with respect to each of the inputs."""
    with torch.enable_grad():
        inputs, single = _as_tuple(inputs, "inputs", "jacobian")
        inputs = _leaves(inputs, create_graph)
        outputs, single_output = _as_tuple(func(*inputs), "outputs of the user-provided function", "jacobian")
        jacobians = []
        for out in outputs:
            rows = [[] for _ in inputs]
            for index in range(out.numel()):
                element = out.reshape(-1)[index]
                if element.requires_grad:
                    found = _gradients([element], inputs, None, create_graph, strict)
                else:
                    found = tuple([torch.zeros_like(one) for one in inputs])
                for row, one in zip(rows, found):
                    row.append(one)
            jacobians.append(
                tuple(
                    [
                        torch.stack(row).view(out.shape + one.shape) if row else torch.zeros(out.shape + one.shape)
                        for row, one in zip(rows, inputs)
                    ]
                )
            )
    jacobians = [_done(row, create_graph) for row in jacobians]
    if single:
        jacobians = [row[0] for row in jacobians]
    return jacobians[0] if single_output else tuple(jacobians)


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    """The second derivatives of a function of one output of one element."""
    inputs, single = _as_tuple(inputs, "inputs", "hessian")

    def first(*inputs):
        out = func(*inputs)
        if not isinstance(out, torch.Tensor) or out.numel() != 1:
            raise RuntimeError("The Tensor returned by the function given to hessian should contain a single element")
        return jacobian(lambda *inputs: func(*inputs).reshape(()), inputs, create_graph=True)

    found = jacobian(first, inputs, create_graph=create_graph, strict=strict)
    return found[0][0] if single else found


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """The output, and the product of `v` with the second derivatives."""
    with torch.enable_grad():
        inputs, single = _as_tuple(inputs, "inputs", "vhp")
        inputs = _leaves(inputs, create_graph)
        v = (torch.ones_like(inputs[0]),) if v is None else _as_tuple(v, "v", "vhp")[0]
        output = func(*inputs)
        first = _gradients([output], inputs, None, True, strict)
        tracked = [(one, of) for one, of in zip(first, v) if one.requires_grad]
        if tracked:
            found = _gradients([one for one, _ in tracked], inputs, [of for _, of in tracked], create_graph)
        else:
            found = tuple([torch.zeros_like(one) for one in inputs])
    found = _done(found, create_graph)
    return output if create_graph else output.detach(), found[0] if single else found


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """The output, and the product of the second derivatives, which are symmetric, with `v`."""
    return vhp(func, inputs, v, create_graph, strict)
