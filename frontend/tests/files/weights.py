# Safetensors files both ways, in the API of the package of that name.
import os

import safetensors
import torch
from safetensors import safe_open
from safetensors.torch import load, load_file, save, save_model
from torch import nn

here = os.path.dirname(os.path.abspath(__file__))


def fails(name, call):
    try:
        call()
    except Exception as error:
        print(name, "-", type(error).__name__)
        return
    print(name, "- no error")


model = nn.Sequential(nn.Conv1d(2, 4, 3), nn.BatchNorm1d(4), nn.GELU(), nn.Flatten(), nn.Linear(24, 3))
file = os.path.join(here, "model.safetensors")
state = load_file(file)
print(sorted(state), state["1.num_batches_tracked"])
model.load_state_dict(state)
model.eval()
with torch.no_grad():
    print([[round(value, 4) for value in row] for row in model(torch.linspace(-1, 1, 32).reshape(2, 2, 8)).tolist()])
with safe_open(file, framework="pt") as opened:
    print(sorted(opened.keys()) == sorted(state), opened.metadata(), opened.get_slice("4.weight").get_shape(), opened.get_slice("4.weight")[:1].shape)
tensors = {str(dtype): torch.tensor([0, 1, 2]).to(dtype) for dtype in (torch.float16, torch.bfloat16, torch.float64, torch.int8, torch.bool)}
back = load(save(tensors, {"a": "b"}))
print(all(torch.equal(back[name], tensor) and back[name].dtype == tensor.dtype for name, tensor in tensors.items()), len(back))
print(load(save({"scalar": torch.tensor(1.5), "empty": torch.empty(0, 2)})))
data = open(file, "rb").read()
for length in (0, 4, 8, 50, len(data) - 1):
    fails(f"cut to {length}", lambda: load(data[:length]))
fails("header too long", lambda: load(b"\xff" * 8 + data[8:]))
fails("no JSON", lambda: load(b"\x02" + b"\0" * 7 + b"[]"))
fails("shared", lambda: save({"a": state["4.bias"], "b": state["4.bias"]}))
fails("not contiguous", lambda: save({"a": torch.ones(2, 3).t()}))
fails("no tensor", lambda: save({"a": 1}))
