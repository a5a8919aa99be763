"""`torch.distributed`: there is one process; programs that ask are told so, and what would talk to others is refused."""

from enum import Enum


class ReduceOp(Enum):
    """How the values of processes are combined."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7


reduce_op = ReduceOp


class ProcessGroup:
    """A group of processes: there is none."""


class group:
    """The group of all processes: there is none."""

    WORLD = None


GroupMember = group


class Work:
    """What goes on between processes: nothing does."""


class P2POp:
    """A message from one process to another: none can be made."""

    def __init__(self, op, tensor, peer=None, group=None, tag=0, group_peer=None):
        _refuse()


def is_available():
    """False."""
    return False


is_initialized = is_nccl_available = is_gloo_available = is_mpi_available = is_ucc_available = is_torchelastic_launched = is_available


def get_rank(group=None):
    """Zero."""
    return 0


def get_world_size(group=None):
    """One."""
    return 1


def _refuse(*args, **kwargs):
    """An error: there is one process, and no group of processes."""
    raise RuntimeError("torch.distributed is not available")


init_process_group = init_device_mesh = new_group = get_backend = get_process_group_ranks = get_global_rank = _refuse
all_gather = all_gather_into_tensor = all_gather_object = all_reduce = all_to_all = all_to_all_single = _refuse
batch_isend_irecv = broadcast = broadcast_object_list = gather = gather_object = irecv = isend = monitored_barrier = _refuse
recv = reduce = reduce_scatter = reduce_scatter_tensor = scatter = scatter_object_list = send = _refuse


def destroy_process_group(group=None):
    """Does nothing."""


def barrier(*args, **kwargs):
    """Does nothing: there is nobody to wait for."""


def __getattr__(name):
    if name == "nn":
        import importlib

        return importlib.import_module("torch.distributed.nn")
    raise AttributeError(f"module 'torch.distributed' has no attribute '{name}': there is one process here")
