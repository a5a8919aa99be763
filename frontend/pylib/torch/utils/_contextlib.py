"""Context managers that also decorate functions."""

_GENERATOR = 0x20  # CO_GENERATOR: calling the function makes a generator


def wraps(wrapped):
    """Gives a wrapper the name, module, documentation and attributes of `wrapped`."""
    def decorate(wrapper):
        for name in ("__module__", "__name__", "__qualname__", "__doc__"):
            value = getattr(wrapped, name, None)
            if value is not None:
                setattr(wrapper, name, value)
        wrapper.__dict__.update(getattr(wrapped, "__dict__", {}))
        wrapper.__wrapped__ = wrapped
        return wrapper

    return decorate


def context_decorator(make, function):
    """`function` run inside the context manager that `make()` returns, a new one for each call.

    A generator function runs inside it whenever it is resumed, so the code around the generator is not affected.
    """
    code = getattr(function, "__code__", None)
    if code is not None and code.co_flags & _GENERATOR:
        return _generator_in_context(make, function)

    @wraps(function)
    def decorated(*args, **kwargs):
        with make():
            return function(*args, **kwargs)

    return decorated


def _generator_in_context(make, function):
    @wraps(function)
    def decorated(*args, **kwargs):
        generator = function(*args, **kwargs)
        resume, value = generator.send, None
        try:
            while True:
                with make():
                    result = resume(value)
                try:
                    value = yield result
                    resume = generator.send
                except GeneratorExit:
                    with make():
                        generator.close()
                    raise
                except BaseException as error:
                    resume, value = generator.throw, error
        except StopIteration as stop:
            return stop.value

    return decorated


class DecoratorContextManager:
    """A context manager whose instances decorate functions; `clone` makes the instance that each call enters."""

    def __call__(self, function):
        return context_decorator(self.clone, function)

    def clone(self):
        """A fresh context manager with the settings of this one."""
        return type(self)()
