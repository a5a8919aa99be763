"""`torch.random`: the default generator."""

from torch._C import default_generator, get_rng_state, initial_seed, manual_seed, seed, set_rng_state


class fork_rng:
    """Restores the state of the default generator at the end of a block.

    Other devices have no generators here, so `devices` is accepted and means nothing.
    """

    def __init__(self, devices=None, enabled=True, _caller="fork_rng", _devices_kw="devices", device_type="cuda"):
        self.enabled = enabled

    def __enter__(self):
        if self.enabled:
            self.state = get_rng_state()

    def __exit__(self, exc_type, exc_value, traceback):
        if self.enabled:
            set_rng_state(self.state)
