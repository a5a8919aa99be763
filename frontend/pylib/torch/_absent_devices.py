"""What the modules of devices that are not here share: each answers that it has none, and refuses what would use one."""


class Absent:
    """The functions of one kind of device, none of which is here."""

    def __init__(self, kind, refusal, error=RuntimeError):
        self.kind = kind
        self.refusal = refusal
        self.error = error

    def refuse(self, *args, **kwargs):
        """An error: there is no such device."""
        raise self.error(self.refusal)

    def names(self):
        """The functions that every such module has, by name."""
        absent = self

        class device:
            """Chooses a device for a block: only none can be chosen."""

            def __init__(self, device):
                self.idx = device

            def __enter__(self):
                if self.idx is not None and self.idx != -1:
                    absent.refuse()

            def __exit__(self, exc_type, exc_value, traceback):
                return False

        class stream:
            """Chooses a stream for a block: only none can be chosen."""

            def __init__(self, stream):
                self.stream = stream

            def __enter__(self):
                if self.stream is not None:
                    absent.refuse()

            def __exit__(self, exc_type, exc_value, traceback):
                return False

        class Stream:
            """A queue of work on a device: none can be made."""

            def __init__(self, *args, **kwargs):
                absent.refuse()

        class Event:
            """A mark in a stream: none can be recorded."""

            def __init__(self, enable_timing=False, blocking=False, interprocess=False, external=False):
                self.enable_timing = enable_timing

            record = wait = query = elapsed_time = synchronize = absent.refuse

        found = {"device": device, "stream": stream, "Stream": Stream, "StreamContext": stream, "Event": Event}
        for name in ("is_available", "is_initialized", "is_bf16_supported", "_is_in_bad_fork"):
            found[name] = _no
        for name in (
            "device_count", "memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved",
            "current_allocated_memory", "driver_allocated_memory",
        ):
            found[name] = _zero
        for name in (
            "empty_cache", "manual_seed", "manual_seed_all", "seed", "seed_all", "reset_peak_memory_stats",
            "reset_accumulated_memory_stats", "reset_max_memory_allocated", "set_rng_state_all", "_lazy_call",
        ):
            found[name] = _nothing
        for name in (
            "current_device", "current_stream", "default_stream", "get_device_capability", "get_device_name",
            "get_device_properties", "get_rng_state", "init", "initial_seed", "ipc_collect", "is_current_stream_capturing",
            "mem_get_info", "memory_snapshot", "memory_summary", "set_device", "set_rng_state", "set_stream", "synchronize",
            "utilization",
        ):
            found[name] = self.refuse
        found["get_rng_state_all"] = lambda: []
        found["memory_stats"] = lambda device=None: {}
        found["_initialized"] = False
        found["default_generators"] = ()
        return found


def _no(*args, **kwargs):
    """False."""
    return False


def _zero(*args, **kwargs):
    """Zero."""
    return 0


def _nothing(*args, **kwargs):
    """Does nothing."""
