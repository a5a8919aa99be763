"""`DataLoader`."""

from torch.utils.data._utils.collate import default_collate, default_convert
from torch.utils.data._utils.worker import get_worker_info
from torch.utils.data.dataset import Dataset, IterableDataset
from torch.utils.data.sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, drawn_seed

# What stays as it was when the loader was made.
_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class _InfiniteConstantSampler(Sampler):
    """Stands for the indices of a dataset that has none."""

    def __iter__(self):
        while True:
            yield None


class DataLoader:
    """Batches of a dataset, in order, shuffled, or as a sampler says.

    Loads in the caller's thread; `num_workers` is accepted, and makes no difference to what comes out unless the dataset draws
    random numbers.
    """

    def __init__(self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0, collate_fn=None,
                 pin_memory=False, drop_last=False, timeout=0, worker_init_fn=None, multiprocessing_context=None, generator=None, *,
                 prefetch_factor=None, persistent_workers=False, pin_memory_device="", in_order=True):
        if num_workers < 0:
            raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
        if timeout < 0:
            raise ValueError("timeout option should be non-negative")
        if num_workers == 0 and prefetch_factor is not None:
            raise ValueError(
                "prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable multiprocessing, "
                "otherwise set prefetch_factor to None."
            )
        if persistent_workers and num_workers == 0:
            raise ValueError("persistent_workers option needs num_workers > 0")
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        self._iterates = isinstance(dataset, IterableDataset)
        if self._iterates:
            _check_iterable(shuffle, sampler, batch_sampler)
        shuffle = bool(shuffle)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last")
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None:
            if self._iterates:
                sampler = _InfiniteConstantSampler()
            elif shuffle:
                sampler = RandomSampler(dataset, generator=generator)
            else:
                sampler = SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.generator = generator
        if collate_fn is None:
            collate_fn = default_convert if batch_sampler is None else default_collate
        self.collate_fn = collate_fn
        self.persistent_workers = persistent_workers
        self._is_made = True

    def __class_getitem__(cls, item):
        return cls

    def __setattr__(self, name, value):
        if name in _FIXED and self.__dict__.get("_is_made", False):
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    def __iter__(self):
        return _Iterator(self)

    @property
    def _index_sampler(self):
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def __len__(self):
        if not self._iterates:
            return len(self._index_sampler)
        count = len(self.dataset)
        if self.batch_size is None:
            return count
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)


class _Iterator:
    """One pass over the batches of a loader."""

    def __init__(self, loader):
        self._dataset = loader.dataset
        self._collate_fn = loader.collate_fn
        self._drop_last = loader.drop_last
        self._is_batched = loader.batch_sampler is not None
        self._index_sampler = loader._index_sampler
        self._indices = iter(self._index_sampler)
        self._items = iter(loader.dataset) if loader._iterates else None
        self._is_at_end = False
        # The seed that PyTorch's workers would start from: drawn in any case, so that what is drawn later is the same.
        self._base_seed = drawn_seed(loader.generator)

    def __iter__(self):
        return self

    def __len__(self):
        return len(self._index_sampler)

    def __next__(self):
        index = next(self._indices)
        return self._collate_fn(self._fetch(index) if self._items is None else self._fetch_next(index))

    def _fetch(self, index):
        dataset = self._dataset
        if not self._is_batched:
            return dataset[index]
        many = getattr(dataset, "__getitems__", None)
        return many(index) if many else [dataset[place] for place in index]

    def _fetch_next(self, places):
        """The next items of an iterable dataset: as many as `places`, a batch of stand-ins for indices."""
        if self._is_at_end:
            raise StopIteration
        if not self._is_batched:
            return next(self._items)
        items = []
        for _ in places:
            try:
                items.append(next(self._items))
            except StopIteration:
                self._is_at_end = True
                break
        if not items or (self._drop_last and len(items) < len(places)):
            raise StopIteration
        return items


def _check_iterable(shuffle, sampler, batch_sampler):
    """Raises ValueError for options that an iterable dataset has no use for."""
    if shuffle not in (False, None):
        raise ValueError(f"DataLoader with IterableDataset: expected unspecified shuffle option, but got shuffle={shuffle}")
    if sampler is not None:
        raise ValueError(f"DataLoader with IterableDataset: expected unspecified sampler option, but got sampler={sampler}")
    if batch_sampler is not None:
        raise ValueError(
            f"DataLoader with IterableDataset: expected unspecified batch_sampler option, but got batch_sampler={batch_sampler}"
        )
