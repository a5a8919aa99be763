"""`torch.distributions`: the distributions that models draw from most."""

from torch.distributions.bernoulli import Bernoulli
from torch.distributions.categorical import Categorical
from torch.distributions.distribution import Distribution
from torch.distributions.normal import Normal, kl_divergence
from torch.distributions.uniform import Uniform


def __getattr__(name):
    from torch import _C

    raise _C._missing("torch.distributions", name, list(globals()))
