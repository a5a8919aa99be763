# Checkpoints written by PyTorch are read, and what is written is read again; damaged and hostile files are refused.
import io
import os
import struct

import torch
from torch import nn

here = os.path.dirname(os.path.abspath(__file__))


def path(name):
    return os.path.join(here, name)


def fails(name, call):
    try:
        call()
    except Exception as error:
        print(name, "-", type(error).__name__)
        return
    print(name, "- no error")


def make():
    return nn.Sequential(nn.Conv1d(2, 4, 3), nn.BatchNorm1d(4), nn.GELU(), nn.Flatten(), nn.Linear(24, 3))


# A model's state.
model = make()
state = torch.load(path("model.pt"))
print(type(state).__name__, list(state), state._metadata["1"])
print(model.load_state_dict(state))
model.eval()
x = torch.linspace(-1, 1, 32).reshape(2, 2, 8)
with torch.no_grad():
    print([[round(value, 4) for value in row] for row in model(x).tolist()])

# Objects of every kind.
loaded = torch.load(path("objects.pt"))
for name, value in loaded["kinds"].items():
    print(name, value.dtype, value.tolist())
base, transposed, row = loaded["base"], loaded["transposed"], loaded["row"]
base[1, 0] = 100
print(transposed[0, 1].item(), row[0].item(), transposed.stride(), row.storage_offset(), row._is_view())
print(loaded["scalar"], loaded["empty"].shape, loaded["parameter"], loaded["frozen"].requires_grad, loaded["wants_grad"])
print(loaded["items"], loaded["items"] is loaded["again"], list(loaded["ordered"].items()), loaded["size"], loaded["dtype"], loaded["device"])
training = torch.load(path("training.pt"), map_location="cpu", weights_only=True)
print(training["step"], sorted(training["optimizer"]["state"][0]), training["optimizer"]["param_groups"][0]["lr"], training["rng"].shape)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.5)
optimizer.load_state_dict(training["optimizer"])
print(optimizer.param_groups[0]["lr"], optimizer.state_dict()["state"][0]["step"])

# There and back.
buffer = io.BytesIO()
torch.save(loaded, buffer)
buffer.seek(0)
back = torch.load(buffer)
print(sorted(back) == sorted(loaded), back["items"] == loaded["items"], back["items"] is back["again"], torch.equal(back["transposed"], transposed))
back["base"][0, 0] = -5
print(back["transposed"][0, 0].item(), type(back["parameter"]).__name__, back["kinds"]["torch.bfloat16"], back["empty"].shape)
buffer = io.BytesIO()
torch.save(model.state_dict(), buffer)
other = make()
other.load_state_dict(torch.load(io.BytesIO(buffer.getvalue()), map_location=torch.device("cpu")))
other.eval()
with torch.no_grad():
    print(torch.equal(other(x), model(x)))
for location in (None, "cpu", torch.device("cpu"), {"cpu": "cpu"}, lambda storage, place: storage):
    print(torch.load(path("model.pt"), map_location=location)["4.bias"].device)
fails("map to cuda", lambda: torch.load(path("model.pt"), map_location="cuda"))

# Refused.
whole = open(path("model.pt"), "rb").read()
for length in (0, 1, 3, 4, 30, 100, 500, len(whole) // 2, len(whole) - 200, len(whole) - 22, len(whole) - 1):
    fails(f"cut to {length}", lambda: torch.load(io.BytesIO(whole[:length])))
fails("text", lambda: torch.load(io.BytesIO(b"no checkpoint at all")))
fails("a class of the script", lambda: torch.load(path("other.pt")))
fails("no such file", lambda: torch.load(path("missing.pt")))
