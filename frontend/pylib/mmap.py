"""`mmap` in an engine, which maps no files: the numbers that other modules ask for when they are imported."""

ACCESS_DEFAULT, ACCESS_READ, ACCESS_WRITE, ACCESS_COPY = 0, 1, 2, 3
MAP_SHARED, MAP_PRIVATE, PROT_READ, PROT_WRITE = 1, 2, 1, 2
PAGESIZE = ALLOCATIONGRANULARITY = 4096


class mmap:
    """A mapped file: none can be made."""

    def __init__(self, *args, **kwargs):
        raise OSError("this engine maps no files: read them instead")
