"""Writes the files that the scripts of this folder read, with real PyTorch (2.15), NumPy (2.4) and safetensors (0.7)."""

from collections import OrderedDict

import numpy as np
import safetensors.torch
import torch
from torch import nn

torch.manual_seed(5)
model = nn.Sequential(nn.Conv1d(2, 4, 3), nn.BatchNorm1d(4), nn.GELU(), nn.Flatten(), nn.Linear(24, 3))
model(torch.randn(6, 2, 8))
torch.save(model.state_dict(), "model.pt")
safetensors.torch.save_file(model.state_dict(), "model.safetensors", {"made_by": "PyTorch"})

base = torch.arange(12.0).reshape(3, 4)
kinds = {
    str(dtype): torch.tensor([0, 1, 2, 3]).to(dtype)
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool)
}
items = [1, 2.5, "text", None, True, 10**20, b"bytes", (1, (2, 3)), {"a": [1]}, {1, 2}, -1, 70000, 1 + 2j]
torch.save(
    {
        "kinds": kinds,
        "base": base,
        "transposed": base.t(),
        "row": base[1],
        "scalar": torch.tensor(2.5),
        "empty": torch.empty(0, 3),
        "parameter": nn.Parameter(torch.ones(2, 2)),
        "frozen": nn.Parameter(torch.ones(2), requires_grad=False),
        "wants_grad": torch.ones(2, requires_grad=True),
        "items": items,
        "again": items,
        "ordered": OrderedDict(b=1, a=2),
        "size": torch.Size([2, 3]),
        "dtype": torch.bfloat16,
        "device": torch.device("cpu"),
    },
    "objects.pt",
)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
model(torch.randn(2, 2, 8)).sum().backward()
optimizer.step()
torch.save({"optimizer": optimizer.state_dict(), "step": 1, "rng": torch.get_rng_state()}, "training.pt")
torch.save(model.state_dict(), "legacy.pt", _use_new_zipfile_serialization=False)


class Other:
    pass


torch.save({"other": Other()}, "other.pt")
np.save("array.npy", np.arange(6, dtype=np.float32).reshape(2, 3))
np.save("fortran.npy", np.asfortranarray(np.arange(6).reshape(2, 3)))
np.savez("arrays.npz", a=np.arange(3), b=np.eye(2), c=np.array([1, 65535], dtype=np.uint16))
np.savez_compressed("packed.npz", zeros=np.zeros((10, 10)), ones=np.ones(3, dtype=bool))
