"""`torch.distributed.nn.functional`: each is refused, as there is one process."""

from torch.distributed import _refuse

all_gather = all_reduce = all_to_all = all_to_all_single = broadcast = gather = reduce = reduce_scatter = scatter = _refuse
