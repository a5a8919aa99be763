"""Workers of loaders: there are none."""


def get_worker_info():
    """None: every loader works in the thread that asks it for batches."""
    return None
