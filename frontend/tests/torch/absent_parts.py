"""What programs ask about devices, processes and exporters that aren't there."""

import torch
import torch.distributed as dist
import torch.hub
import torch.utils.checkpoint
import torch.utils.model_zoo
from torch.jit.annotations import List
from torch.nn.parallel.distributed import DistributedDataParallel
from torch.utils.data import DataLoader


def attempt(label, call):
    try:
        print(label, call())
    except Exception as error:
        print(label, type(error).__name__)


print(torch.cuda.is_available(), torch.cuda.device_count(), torch.cuda.memory_reserved(), torch.cuda.get_rng_state_all())
print(torch.xpu.is_available(), torch.xpu.device_count(), torch.accelerator.is_available(), torch.accelerator.device_count())
print(torch.cuda.is_initialized(), torch.cuda._initialized)
with torch.cuda.stream(None):
    print("no stream")
attempt("xpu", torch.xpu.current_device)
attempt("cuda", torch.cuda.get_device_properties)
print(torch.utils.checkpoint.get_device_states(torch.ones(1)))
print(torch.get_autocast_dtype("cpu"), torch.get_autocast_dtype("cuda"), torch.is_autocast_enabled("cpu"))
print(dist.is_initialized(), dist.ReduceOp.SUM != dist.ReduceOp.MAX)
print(torch.onnx.is_in_onnx_export(), torch.jit.is_scripting(), torch.onnx.TrainingMode.EVAL.name)
print(torch.hub.HASH_REGEX.search("resnet-0a1b2c.pth").group(1), torch.utils.model_zoo.load_url is torch.hub.load_state_dict_from_url)
print(isinstance(torch.ones(1), torch.autograd.Variable), torch.autograd.Variable(torch.ones(1), requires_grad=True).requires_grad)
print(type(torch.ones(2).max(0)) is torch.return_types.max, type(torch.ones(2).topk(1)) is torch.return_types.topk)

attempt("assert", lambda: torch._assert(False, "no"))
attempt("check", lambda: torch._check(1 > 2, lambda: "no"))
attempt("check of a value", lambda: torch._check_value(False))
torch._check(True)

net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3), torch.nn.Sequential(torch.nn.BatchNorm2d(4, affine=False)))
converted = torch.nn.SyncBatchNorm.convert_sync_batchnorm(net.eval())
print([type(module).__name__ for module in converted.modules()], converted[1].training, list(converted.state_dict()))
parallel = torch.nn.DataParallel(torch.nn.Linear(2, 2))
print(list(parallel.state_dict()), parallel(torch.ones(1, 2)).shape)
