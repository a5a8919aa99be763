"""Datasets, samplers, collation and loaders: the same items in the same order, and the same draws, as under PyTorch."""

import collections
import warnings

import torch
from torch.utils import data
from torch.utils.data import (
    BatchSampler, ChainDataset, ConcatDataset, DataLoader, Dataset, IterableDataset, RandomSampler, Sampler, SequentialSampler,
    StackDataset, Subset, SubsetRandomSampler, TensorDataset, WeightedRandomSampler, default_collate, default_convert, random_split,
)

warnings.simplefilter("ignore")


def attempt(label, call):
    try:
        print(label, call())
    except Exception as error:
        print(label, type(error).__name__, str(error).split(" object at ")[0])


def drawn():
    """A number that shows how far the default generator has gone."""
    return torch.randint(1 << 30, (1,)).item()


class Squares(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return index * index


class Count(IterableDataset):
    def __init__(self, end):
        self.end = end

    def __iter__(self):
        return iter(range(self.end))


class SizedCount(Count):
    def __len__(self):
        return self.end - 2


class Many(Squares):
    def __getitems__(self, indices):
        return [("many", index) for index in indices]


rows = TensorDataset(torch.arange(10.0).reshape(5, 2), torch.arange(5))
print(len(rows), rows[1], rows[1:3])
attempt("sizes", lambda: TensorDataset(torch.ones(2), torch.ones(3)))
subset = Subset(rows, [4, 0])
print(len(subset), subset[0], subset.__getitems__([1, 0]))
both = ConcatDataset([Squares(3), Squares(2)])
print(len(both), [both[index] for index in range(-5, 5)], both.cumulative_sizes)
attempt("outside", lambda: both[-6])
attempt("none", lambda: ConcatDataset([]))
attempt("iterable", lambda: ConcatDataset([Count(2)]))
print(len(Squares(3) + Squares(4)), list(ChainDataset([Count(2), Count(3)])), list(Count(2) + Count(1)))
stacked = StackDataset(Squares(3), Squares(3))
print(len(stacked), stacked[2], StackDataset(a=Squares(2), b=Squares(2))[1], stacked.__getitems__([0, 1]))
attempt("stack", lambda: StackDataset(Squares(3), Squares(2)))
attempt("stack", lambda: StackDataset())
attempt("item", lambda: Dataset()[0])

torch.manual_seed(3)
for lengths in ([2, 3], [0.5, 0.5], [0.3, 0.3, 0.4], [0.9, 0.1]):
    print(lengths, [part.indices for part in random_split(range(5), lengths)])
print([part.indices for part in random_split(range(5), [1, 4], generator=torch.Generator().manual_seed(1))], drawn())
attempt("split", lambda: random_split(range(5), [2, 2]))
attempt("split", lambda: random_split(range(5), [0.5, 0.6]))
attempt("split", lambda: random_split(range(5), [0.5, -0.5, 1.0]))

torch.manual_seed(5)
print(list(RandomSampler(range(7))), drawn())
print(list(RandomSampler(range(7), num_samples=10)), drawn())
print(list(RandomSampler(range(7), num_samples=3)), drawn())
print(list(RandomSampler(range(5), replacement=True, num_samples=40)), drawn())
print(list(RandomSampler(range(5), generator=torch.Generator().manual_seed(2))), drawn())
generator = torch.Generator().manual_seed(2)
print(list(RandomSampler(range(5), generator=generator)), list(RandomSampler(range(5), num_samples=3, generator=generator)))
print(list(RandomSampler(range(5), True, 32, generator)), torch.rand(1, generator=generator))
print(list(SubsetRandomSampler([5, 3, 9])), drawn(), len(SubsetRandomSampler([5, 3, 9])))
print(list(WeightedRandomSampler([0.1, 0.9, 0.4], 8)), drawn())
print(list(WeightedRandomSampler([0.1, 0.9, 0.4], 2, replacement=False)), drawn())
print(list(BatchSampler(SequentialSampler(range(7)), 3, False)), len(BatchSampler(range(7), 3, False)))
print(list(BatchSampler(SequentialSampler(range(7)), 3, True)), len(BatchSampler(range(7), 3, True)))
attempt("sampler", lambda: RandomSampler(range(3), replacement=3))
attempt("sampler", lambda: RandomSampler(range(3), num_samples=0))
attempt("sampler", lambda: WeightedRandomSampler([1.0], 0))
attempt("sampler", lambda: WeightedRandomSampler([1.0], 2, replacement=1))
attempt("sampler", lambda: WeightedRandomSampler([[1.0]], 2))
attempt("sampler", lambda: BatchSampler(range(3), 0, False))
attempt("sampler", lambda: BatchSampler(range(3), 2, 1))

Pair = collections.namedtuple("Pair", "x y")
print(default_collate([1, 2, 3]), default_collate([1.0, 2.5]), default_collate(["a", "b"]), default_collate([b"a", b"b"]))
print(default_collate([True, False]), default_collate([torch.ones(2), torch.zeros(2)]))
print(default_collate([{"a": 1, "b": [1, 2]}, {"a": 3, "b": [3, 4]}]))
print(default_collate([Pair(1, 2.0), Pair(3, 4.0)]), default_collate([(1, "x"), (2, "y")]))
attempt("collate", lambda: default_collate([None, None]))
attempt("collate", lambda: default_collate([[1, 2], [1]]))
attempt("collate", lambda: default_collate([torch.ones(2), torch.ones(3)]))
print(default_convert({"a": [1, torch.ones(1)], "b": "c"}), default_convert(Pair(1, (2,))))

torch.manual_seed(7)
loader = DataLoader(rows, batch_size=2)
print(len(loader), list(loader), drawn())
loader = DataLoader(rows, batch_size=2, shuffle=True, drop_last=True)
print(len(loader), list(loader), drawn(), list(loader), drawn())
for kind in (
    lambda: DataLoader(Squares(7), 3, shuffle=True),
    lambda: DataLoader(Squares(7), 3, shuffle=True, generator=torch.Generator().manual_seed(4)),
    lambda: DataLoader(Squares(5), batch_size=None),
    lambda: DataLoader(Squares(5), batch_size=None, shuffle=True),
    lambda: DataLoader(Squares(5), sampler=[3, 1, 2], batch_size=2),
    lambda: DataLoader(Squares(5), batch_sampler=[[0, 1], [4]]),
    lambda: DataLoader(Squares(5), 2, collate_fn=lambda items: items),
    lambda: DataLoader(Many(5), 2, collate_fn=lambda items: items),
    lambda: DataLoader(SizedCount(5), 2),
    lambda: DataLoader(SizedCount(5), 2, drop_last=True),
    lambda: DataLoader([[1, 2], [3, 4]]),
    lambda: DataLoader(Squares(5), sampler=WeightedRandomSampler([1.0, 2.0, 3.0, 4.0, 5.0], 6), batch_size=4),
    lambda: DataLoader(Subset(Squares(6), [5, 4, 3]), 2),
):
    loader = kind()
    print(list(loader), len(loader), drawn(), type(loader.sampler).__name__, type(loader.batch_sampler).__name__, loader.batch_size)
print(list(DataLoader(Count(3), 2)))
attempt("length", lambda: len(DataLoader(Count(3), 2)))
iterator = iter(DataLoader(Squares(4), 2))
print(next(iterator), len(iterator), iterator is iter(iterator))
attempt("end", lambda: [next(iterator), next(iterator)])
attempt("loader", lambda: DataLoader(Squares(3), num_workers=-1))
attempt("loader", lambda: DataLoader(Squares(3), timeout=-1))
attempt("loader", lambda: DataLoader(Squares(3), prefetch_factor=2))
attempt("loader", lambda: DataLoader(Squares(3), persistent_workers=True))
attempt("loader", lambda: DataLoader(Squares(3), shuffle=True, sampler=[1]))
attempt("loader", lambda: DataLoader(Squares(3), batch_sampler=[[1]], batch_size=2))
attempt("loader", lambda: DataLoader(Squares(3), batch_size=None, drop_last=True))
attempt("loader", lambda: DataLoader(Count(3), shuffle=True))
attempt("loader", lambda: DataLoader(Count(3), sampler=[1]))
attempt("loader", lambda: DataLoader(Count(3), batch_sampler=[[1]]))
attempt("loader", lambda: DataLoader(Squares(3), batch_size=0))
attempt("loader", lambda: DataLoader([], shuffle=True))
attempt("loader", lambda: setattr(DataLoader(Squares(3)), "batch_size", 5))
print(data.get_worker_info())
