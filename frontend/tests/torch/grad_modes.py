"""Gradient modes as blocks, decorators and calls."""

import torch


def state():
    return torch.is_grad_enabled(), torch.is_inference_mode_enabled()


with torch.no_grad():
    print(state())
    with torch.enable_grad():
        print(state())
        with torch.inference_mode():
            print(state())
        with torch.inference_mode(False):
            print(state())
    with torch.set_grad_enabled(True):
        print(state())
    print(state())


@torch.no_grad()
def with_parentheses():
    "A docstring."
    return state()


@torch.no_grad
def without_parentheses():
    return state()


@torch.inference_mode()
def inferring():
    return state()


@torch.set_grad_enabled(False)
def switched_off():
    return state()


@torch.enable_grad()
def failing():
    raise ValueError(state())


@torch.no_grad()
def counting():
    got = yield state()
    try:
        yield got, state()
    except KeyError as error:
        yield "caught", error.args, state()
    return "done"


print(with_parentheses(), with_parentheses.__name__, with_parentheses.__doc__)
print(without_parentheses(), inferring(), switched_off(), state())
with torch.no_grad():
    try:
        failing()
    except ValueError as error:
        print(error, state())
generator = counting()
print(next(generator), state())
print(generator.send(5), state())
print(generator.throw(KeyError("x")), state())
try:
    next(generator)
except StopIteration as stop:
    print(stop.value, state())
torch.set_grad_enabled(False)
print(state())
torch.set_grad_enabled(True)
print(state(), torch.set_grad_enabled(True))
