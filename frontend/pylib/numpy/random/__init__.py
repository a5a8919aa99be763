"""NumPy's legacy random numbers: `RandomState`, and the functions of the one that belongs to this module.

The Mersenne Twister is torch's, so draws come in whole tensors; what was drawn too much for a rejection is put back.
"""

import builtins
import math

import torch
from numpy._array import _sizes, array, asarray, ndarray, over
from numpy._dtypes import FLOAT64, INT64, _dtype


class RandomState:
    """A stream of random numbers, the same as NumPy's for the same seed."""

    def __init__(self, seed=None):
        self._generator = torch.Generator()
        self.seed(seed)

    def seed(self, seed=None):
        """Starts the stream anew."""
        self._spare = None
        if seed is None:
            self._generator.seed()
            return
        if isinstance(seed, (list, tuple, ndarray)):
            raise NotImplementedError("Taipan's numpy seeds with a single number only")
        seed = builtins.int(seed)
        if not 0 <= seed < 2**32:
            raise ValueError("Seed must be between 0 and 2**32 - 1")
        self._generator.manual_seed(seed)

    # Draws as tensors.

    def _words(self, count):
        """Numbers of 32 bits."""
        return self._generator._bits(count)

    def _doubles(self, count):
        words = self._words(2 * count).reshape(count, 2)
        return ((words[:, 0] >> 5).double() * 67108864.0 + (words[:, 1] >> 6).double()) / 9007199254740992.0

    def _accepted(self, count, draw, width):
        """`count` accepted draws.  `draw(n)` gives n values and which are accepted, from `width` words each."""
        found = []
        missing = count
        while missing:
            state = self._generator.get_state()
            values, accepted = draw(missing + missing // 3 + 8)
            places = torch.nonzero(accepted).reshape(-1)
            if places.numel() >= missing:
                used = builtins.int(places[missing - 1]) + 1
                self._generator.set_state(state)
                self._words(used * width)
                places = places[:missing]
            found.append(values[places])
            missing -= places.numel()
        return torch.cat(found) if found else torch.empty(0, dtype=torch.int64)

    def _bounded(self, most, count):
        """Whole numbers from zero to `most`."""
        if most == 0:
            return torch.zeros(count, dtype=torch.int64)
        mask = (1 << most.bit_length()) - 1
        if most <= 0xFFFFFFFF:
            if most == 0xFFFFFFFF:
                return self._words(count)

            def draw(n):
                values = self._words(n) & mask
                return values, values <= most

            return self._accepted(count, draw, 1)

        def draw_wide(n):
            words = self._words(2 * n).reshape(n, 2)
            values = (words[:, 0] << 32 | words[:, 1]) & mask
            return values, (values <= most) & (values >= 0)

        return self._accepted(count, draw_wide, 2)

    def _normals(self, count):
        values = []
        if self._spare is not None and count:
            values.append(torch.tensor([self._spare], dtype=torch.float64))
            self._spare, count = None, count - 1
        pairs = (count + 1) // 2
        if pairs:
            def draw(n):
                points = 2.0 * self._doubles(2 * n).reshape(n, 2) - 1.0
                square = points[:, 0] * points[:, 0] + points[:, 1] * points[:, 1]
                return points, (square < 1.0) & (square != 0.0)

            points = self._accepted(pairs, draw, 4)
            square = points[:, 0] * points[:, 0] + points[:, 1] * points[:, 1]
            # By the system's logarithm, as NumPy's, which may differ from torch's in the last bit.
            factor = torch.tensor([math.sqrt(-2.0 * math.log(value) / value) for value in square.tolist()], dtype=torch.float64)
            both = torch.stack([factor * points[:, 1], factor * points[:, 0]], 1).reshape(-1)
            if count % 2:
                self._spare = both[-1].item()
            values.append(both[:count])
        return torch.cat(values) if values else torch.empty(0, dtype=torch.float64)

    @staticmethod
    def _shaped(draw, size, dtype=FLOAT64):
        if size is None:
            return dtype.type(draw(1)[0])
        sizes = _sizes(size)
        count = 1
        for length in sizes:
            count *= length
        return over(draw(count).reshape(sizes), dtype)

    # The distributions.

    def random_sample(self, size=None):
        """Uniform numbers in [0, 1)."""
        return self._plain(self._shaped(self._doubles, size), size)

    random = random_sample
    ranf = sample = random_sample

    @staticmethod
    def _plain(value, size):
        # Single draws are plain Python floats, as NumPy's are.
        return builtins.float(value) if size is None else value

    def rand(self, *sizes):
        """Uniform numbers in [0, 1), of these sizes."""
        return self.random_sample(sizes or None)

    def randn(self, *sizes):
        """Standard normal numbers, of these sizes."""
        return self.standard_normal(sizes or None)

    def standard_normal(self, size=None):
        """Standard normal numbers."""
        return self._plain(self._shaped(self._normals, size), size)

    def normal(self, loc=0.0, scale=1.0, size=None):
        """Normal numbers."""
        loc, scale, size = self._parameters(loc, scale, size)
        return self._plain(self._shaped(self._normals, size) * scale + loc, size)

    def uniform(self, low=0.0, high=1.0, size=None):
        """Uniform numbers between two bounds."""
        low, high, size = self._parameters(low, high, size)
        return self._plain(self._shaped(self._doubles, size) * (high - low) + low, size)

    @staticmethod
    def _parameters(first, second, size):
        if size is None and (asarray(first).ndim or asarray(second).ndim):
            size = (asarray(first) + asarray(second)).shape
        return first, second, size

    def randint(self, low, high=None, size=None, dtype=int):
        """Whole numbers from `low` up to but not including `high`; with one bound, from zero."""
        described = _dtype(dtype)
        if described.name not in ("int64", "int32", "uint32"):
            raise NotImplementedError(f"Taipan's numpy draws whole numbers as int64 or int32, not {described.name}")
        if high is None:
            low, high = 0, low
        low, high = builtins.int(low), builtins.int(high)
        if low >= high:
            raise ValueError("low >= high" if low else "high <= 0")
        draw = lambda count: (self._bounded(high - low - 1, count) + low).to(described._torch)
        result = self._shaped(draw, size, described)
        return builtins.int(result) if size is None and dtype is int else result

    def shuffle(self, x):
        """Puts the items of an array or list into random order, in place."""
        count = len(x)
        order = self._order(count)
        if isinstance(x, ndarray):
            x[...] = x[array(order)]
        else:
            x[:] = [x[place] for place in order]

    def permutation(self, x):
        """The items in random order; of a number, those of `arange`."""
        if isinstance(x, (builtins.int,)):
            return over(torch.tensor(self._order(builtins.int(x)), dtype=torch.int64), INT64)
        x = array(x)
        return x[over(torch.tensor(self._order(len(x)), dtype=torch.int64), INT64)]

    def _order(self, count):
        order = list(range(count))
        if count < 2:
            return order
        state = self._generator.get_state()
        words, at = self._words(2 * count + 16).tolist(), 0
        used = 0
        for last in range(count - 1, 0, -1):
            mask = (1 << last.bit_length()) - 1
            while True:
                if at == len(words):
                    words, at = self._words(count + 16).tolist(), 0
                value = words[at] & mask
                at, used = at + 1, used + 1
                if value <= last:
                    break
            order[last], order[value] = order[value], order[last]
        self._generator.set_state(state)
        self._words(used)
        return order

    def choice(self, a, size=None, replace=True, p=None):
        """Items drawn from an array, or from the numbers below one."""
        pool = None if isinstance(a, builtins.int) else asarray(a)
        count = builtins.int(a) if pool is None else len(pool)
        shape = () if size is None else _sizes(size)
        wanted = 1
        for length in shape:
            wanted *= length
        if count <= 0 and wanted:
            raise ValueError("a must be greater than 0 unless no samples are taken" if pool is None else "'a' cannot be empty unless no samples are taken")
        if not replace and wanted > count:
            raise ValueError("Cannot take a larger sample than population when 'replace=False'")
        if p is not None:
            found = self._weighted(asarray(p, FLOAT64), count, wanted, replace)
        elif replace:
            found = self._bounded(count - 1, wanted)
        else:
            found = torch.tensor(self._order(count)[:wanted], dtype=torch.int64)
        found = over(found.reshape(shape), INT64)
        if size is None:
            return builtins.int(found.item()) if pool is None else pool[builtins.int(found.item())]
        return found if pool is None else pool[found]

    def _weighted(self, p, count, wanted, replace):
        if p.ndim != 1:
            raise ValueError("'p' must be 1-dimensional")
        if p.size != count:
            raise ValueError("'a' and 'p' must have same size")
        weights = p._t.clone()
        if builtins.bool((weights < 0).any()):
            raise ValueError("probabilities are not non-negative")
        if builtins.abs(weights.sum().item() - 1.0) > 1.5e-8:
            raise ValueError("probabilities do not sum to 1")
        if replace:
            shares = torch.cumsum(weights, 0)
            return torch.searchsorted(shares / shares[-1], self._doubles(wanted), right=True)
        if builtins.int((weights > 0).sum()) < wanted:
            raise ValueError("Fewer non-zero entries in p than size")
        found = []
        while len(found) < wanted:
            draws = self._doubles(wanted - len(found))
            if found:
                weights[torch.tensor(found)] = 0.0
            shares = torch.cumsum(weights, 0)
            for place in torch.searchsorted(shares / shares[-1], draws, right=True).tolist():
                if place not in found:
                    found.append(place)
        return torch.tensor(found, dtype=torch.int64)


mtrand = None
_global = RandomState()
for _name in (
    "seed random_sample random ranf sample rand randn standard_normal normal uniform randint shuffle permutation choice".split()
):
    globals()[_name] = getattr(_global, _name)
del _name, mtrand


def __getattr__(name):
    from numpy import _lacking

    raise _lacking("numpy.random", name, list(globals()))
