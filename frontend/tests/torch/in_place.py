# In-place operators write, whatever the operator has met before.
import torch


def add(a, b):
    a += b
    return a


class Counter:
    total = 0

    def count(self, value):
        self.total *= value
        return self.total


def nested():
    def inner(a, b):
        a -= b
        return a

    return inner


for step in range(300):
    add(step, 1)
    add("a", "b")
    nested()(1.5, 0.5)
    Counter().count(2)
inner = nested()
for step in range(300):
    inner(step, 1)
numbers = [1]
print(add(numbers, [2]) is numbers, numbers)
x = torch.ones(2)
print(add(x, 1) is x, x)
print(inner(x, 1) is x, x)
counter = Counter()
for step in range(300):
    counter.count(1)
counter.total = x
print(counter.count(2) is x, x)
try:
    add(x, "text")
except TypeError as error:
    print(str(error).split(":")[0])
