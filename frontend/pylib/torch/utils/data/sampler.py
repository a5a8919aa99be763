"""Samplers: in which order a loader takes the items of a dataset."""

import itertools

import torch


class Sampler:
    """Something that gives indices; subclasses define `__iter__`, and `__len__` where they can."""

    def __class_getitem__(cls, item):
        return cls

    def __iter__(self):
        raise NotImplementedError


class SequentialSampler(Sampler):
    """The items in order."""

    def __init__(self, data_source):
        self.data_source = data_source

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self):
        return len(self.data_source)


class RandomSampler(Sampler):
    """The items in random order, or drawn with replacement.

    Without a generator each pass seeds one of its own by a draw from the default generator.
    """

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        _check_count("num_samples", self.num_samples)

    @property
    def num_samples(self):
        """How many items a pass gives."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self):
        count = len(self.data_source)
        generator = self.generator
        if generator is None:
            generator = torch.Generator()
            generator.manual_seed(drawn_seed(None))
        if self.replacement:
            # Drawn in blocks, as they are in PyTorch: a generator's numbers depend on how many are asked for at once.
            for _ in range(self.num_samples // 32):
                yield from torch.randint(high=count, size=(32,), dtype=torch.int64, generator=generator).tolist()
            rest = self.num_samples % 32
            yield from torch.randint(high=count, size=(rest,), dtype=torch.int64, generator=generator).tolist()
        else:
            for _ in range(self.num_samples // count):
                yield from torch.randperm(count, generator=generator).tolist()
            yield from torch.randperm(count, generator=generator).tolist()[: self.num_samples % count]

    def __len__(self):
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """Given indices in random order."""

    def __init__(self, indices, generator=None):
        self.indices = indices
        self.generator = generator

    def __iter__(self):
        for place in torch.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[place]

    def __len__(self):
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """Indices drawn with given weights."""

    def __init__(self, weights, num_samples, replacement=True, generator=None):
        _check_count("num_samples", num_samples)
        _check_bool("replacement", replacement)
        weights = torch.as_tensor(weights, dtype=torch.double)
        if weights.dim() != 1:
            raise ValueError(f"weights should be a 1d sequence but given weights have shape {tuple(weights.shape)}")
        self.weights = weights
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self):
        drawn = torch.multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator)
        yield from iter(drawn.tolist())

    def __len__(self):
        return self.num_samples


class BatchSampler(Sampler):
    """The indices of another sampler in lists of `batch_size`."""

    def __init__(self, sampler, batch_size, drop_last):
        _check_count("batch_size", batch_size)
        _check_bool("drop_last", drop_last)
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self):
        indices = iter(self.sampler)
        while True:
            batch = list(itertools.islice(indices, self.batch_size))
            if len(batch) == self.batch_size:
                yield batch
                continue
            if batch and not self.drop_last:
                yield batch
            return

    def __len__(self):
        count = len(self.sampler)
        return count // self.batch_size if self.drop_last else (count + self.batch_size - 1) // self.batch_size


def drawn_seed(generator):
    """A seed drawn from `generator`, or from the default one."""
    # 64 bits without the highest, as `random_()` draws them.
    return torch.empty((), dtype=torch.int64).random_(-(2**63), 2**63 - 1, generator=generator).item() % 2**63


def _check_count(name, value):
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ValueError(f"{name} should be a positive integer value, but got {name}={value}")


def _check_bool(name, value):
    if not isinstance(value, bool):
        raise ValueError(f"{name} should be a boolean value, but got {name}={value}")
