# How tensors print: widths, precision, scientific form, summaries, suffixes.
import torch

inf, nan = float("inf"), float("nan")
VALUES = [
    [],
    [[]],
    0,
    3,
    -7,
    2.5,
    1e-5,
    nan,
    True,
    [1, -20, 300],
    [True, False],
    [1.0, 2.0, -3.0],
    [1.0, 2.5, -3.25],
    [0.0, 0.0],
    [-0.0, 1.5],
    [1e-5, 1.0],
    [1e-3, 1.0],
    [999.0, 1.5],
    [1000.0, 1.0],
    [1001.0, 1.0],
    [1e8, 1e8],
    [1.1e8, 2e8],
    [100000.5, 2.25],
    [inf, 1.0],
    [nan, 1.5, -inf],
    [nan, nan],
    [inf, 2.0, 0.0],
    [[1, 2, 3], [4, 5, 6]],
    [[1.5], [2.5]],
    [[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]],
    [[[[1, 2]]], [[[3, 4]]]],
    list(range(30)),
    [x / 7 for x in range(30)],
    [[x * y for x in range(25)] for y in range(4)],
]
for value in VALUES:
    print(torch.tensor(value))

for dtype in (torch.float64, torch.float16, torch.bfloat16, torch.int32, torch.uint8, torch.int8, torch.int16, torch.bool):
    print(torch.tensor([1, 0, 3], dtype=dtype))
print(torch.tensor([0.1, 0.7], dtype=torch.float16))
print(torch.tensor([0.1, 0.7], dtype=torch.bfloat16))
print(torch.tensor([], dtype=torch.int32), torch.tensor([[], []], dtype=torch.float64))
print(torch.tensor(1.5, dtype=torch.float64), torch.tensor(1, dtype=torch.uint8))

# Summaries show three at each end.
print(torch.tensor(list(range(1001))))
print(torch.tensor([x / 3 for x in range(1001)]))
print(torch.tensor([[x * 40 + y for y in range(40)] for x in range(40)]))
print(torch.tensor([[[x * 1.5 + y + z for z in range(11)] for y in range(11)] for x in range(11)]))
print(torch.tensor([[x] for x in range(2000)], dtype=torch.float64))

# Suffixes break onto a line of their own where they don't fit.
print(torch.tensor([1.5], requires_grad=True))
print(torch.tensor([x / 7 for x in range(8)], dtype=torch.float64, requires_grad=True))
print(torch.tensor([x / 7 for x in range(7)], dtype=torch.float64))
print(torch.tensor(2.0, requires_grad=True) * 3)

# What `str`, formats and options make of it.
x = torch.tensor([1 / 3, 2e5])
print(str(x), repr(x), f"{x}", f"{torch.tensor(2.0):.3f}", f"{torch.tensor(7):5d}|", format(torch.tensor(True)))
torch.set_printoptions(precision=2)
print(x)
torch.set_printoptions(sci_mode=False)
print(x)
torch.set_printoptions(sci_mode=True)
print(torch.tensor([1.0, 2.0]))
torch.set_printoptions(profile="full")
print(torch.tensor([1.0] * 1001).tolist() == [1.0] * 1001, len(str(torch.tensor([1] * 1001))))
torch.set_printoptions(profile="short")
print(torch.tensor(list(range(1001))), x)
torch.set_printoptions(profile="default", linewidth=40, edgeitems=2, threshold=5)
print(torch.tensor([x / 3 for x in range(10)]), torch.tensor(list(range(5))))
torch.set_printoptions(profile="default")
torch.set_default_dtype(torch.float64)
print(torch.tensor([0.5]), torch.tensor([0.5], dtype=torch.float32))
torch.set_default_dtype(torch.float32)


class Tagged(torch.Tensor):
    pass


print(torch.nn.Parameter(torch.tensor([1.0])), torch.tensor([1.0]).as_subclass(Tagged))
print(torch.float32, torch.bool, torch.device("cpu"), torch.strided, torch.contiguous_format, torch.Size([2, 3]), torch.Size([]))
print(torch.finfo(torch.float32), torch.finfo(torch.float16), torch.iinfo(torch.int16), sep="\n")
