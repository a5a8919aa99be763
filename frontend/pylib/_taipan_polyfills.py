"""Python bodies that stand for native functions which call back, where they are traced."""


def map(function, *iterables):
    for arguments in zip(*iterables):
        yield function(*arguments)


def enumerate(iterable, start=0):
    for item in iterable:
        yield start, item
        start += 1


def filter(function, iterable):
    for item in iterable:
        if (item if function is None else function(item)):
            yield item


def reduce(function, iterable, *initial):
    iterator = iter(iterable)
    if initial:
        result = initial[0]
    else:
        result = next(iterator)
    for item in iterator:
        result = function(result, item)
    return result


def over_iterators(_count, _function, *arguments, **keywords):
    iterators = []
    for iterable in arguments[:_count]:
        iterators.append(iter(iterable))
    return _function(*iterators, *arguments[_count:], **keywords)


def items_of(iterable):
    items = []
    for item in iterable:
        items.append(item)
    return items
