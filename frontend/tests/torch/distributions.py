"""Distributions: samples, logs of probabilities, entropies, and what is refused."""

import torch
from torch.distributions import Bernoulli, Categorical, Normal, Uniform, kl_divergence


def attempt(label, call):
    try:
        print(label, call())
    except Exception as error:
        print(label, type(error).__name__, str(error).splitlines()[0][:50])


def show(label, tensor):
    print(label, tuple(tensor.shape), [round(x, 4) for x in tensor.flatten().tolist()])


torch.manual_seed(0)
normal = Normal(torch.tensor([0.0, 1.0]), torch.tensor([1.0, 2.0]))
show("sample", normal.sample())
show("samples", normal.sample((3,)))
show("log", normal.log_prob(torch.tensor([0.5, 0.5])))
show("cdf", normal.cdf(torch.tensor([0.5, 0.5])))
show("entropy", normal.entropy())
show("kl", kl_divergence(normal, Normal(0.5, 1.5)))
loc = torch.zeros(2, requires_grad=True)
drawn = Normal(loc, 1.0).rsample((2,))
drawn.sum().backward()
show("grad", loc.grad)
print(normal.batch_shape, normal.event_shape, Normal(0.0, 1.0), normal.stddev, normal.variance)
uniform = Uniform(0.0, torch.tensor([1.0, 2.0]))
show("uniform", uniform.sample((2,)))
show("log", uniform.log_prob(torch.tensor([0.5, 0.5])))
for bernoulli in (Bernoulli(torch.tensor([0.25, 0.9])), Bernoulli(logits=torch.tensor([0.25, 0.9]))):
    show("bernoulli", bernoulli.sample((3,)))
    show("log", bernoulli.log_prob(torch.tensor([1.0, 0.0])))
    show("entropy", bernoulli.entropy())
for categorical in (Categorical(torch.tensor([[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]])), Categorical(logits=torch.tensor([0.1, 0.2, 3.0]))):
    show("categorical", categorical.sample())
    show("samples", categorical.sample((2, 2)))
    show("log", categorical.log_prob(torch.tensor(1)))
    show("entropy", categorical.entropy())
    show("mode", categorical.mode)
attempt("scale", lambda: Normal(0.0, -1.0))
attempt("uniform", lambda: Uniform(1.0, 0.0))
attempt("both", lambda: Bernoulli(0.5, 0.5))
attempt("one", lambda: Categorical(torch.tensor(1.0)))
