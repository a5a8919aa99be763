"""`torch.cuda.memory`: of no device is any memory in use."""

from torch.cuda import (
    empty_cache, max_memory_allocated, max_memory_reserved, mem_get_info, memory_allocated, memory_reserved, memory_snapshot,
    memory_stats, memory_summary, reset_peak_memory_stats,
)
