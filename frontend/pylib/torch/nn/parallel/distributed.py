"""`torch.nn.parallel.distributed`: where PyTorch defines this class."""

from torch.nn.parallel import DistributedDataParallel
