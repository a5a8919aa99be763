"""The rarer distributions: samples, logs of probabilities, moments, divergences, functions of samples, texts."""

import torch
from torch.distributions import *
from torch.distributions import constraints, transforms
from torch.distributions.multivariate_normal import MultivariateNormal as Vectors


def show(label, tensor):
    print(label, tuple(tensor.shape), [round(x, 4) + 0.0 for x in tensor.detach().flatten().tolist()])


def attempt(label, call):
    try:
        print(label, call())
    except Exception as error:
        text = "" if isinstance(error, NotImplementedError) else str(error).splitlines()[0][:90]
        print(label, type(error).__name__, text)


torch.manual_seed(0)
two = torch.tensor([0.5, 1.5])
matrix = torch.tensor([[2.0, 0.5], [0.5, 1.0]])
cases = [
    Exponential(two), Laplace(torch.zeros(2), two), Cauchy(torch.zeros(2), two), Poisson(two), Gamma(two, 1.5), Gamma(torch.tensor([3.0, 7.5]), two),
    Chi2(two), StudentT(torch.tensor([3.0, 5.0]), 0.5, two), Dirichlet(torch.tensor([0.5, 1.0, 3.0])), Beta(two, 2.0), LogNormal(torch.zeros(2), two),
    HalfNormal(two), Gumbel(torch.zeros(2), two), Geometric(torch.tensor([0.25, 0.9])), MultivariateNormal(torch.zeros(2), matrix),
    MultivariateNormal(torch.zeros(2), precision_matrix=matrix), Vectors(torch.zeros(3, 2), scale_tril=torch.linalg.cholesky(matrix)),
    OneHotCategorical(torch.tensor([1.0, 2.0, 3.0])), Independent(Normal(torch.zeros(3, 2), 1.0), 1),
    TransformedDistribution(Normal(torch.zeros(2), two), [transforms.TanhTransform(cache_size=1)]),
    TransformedDistribution(Uniform(torch.zeros(2), 1.0), [transforms.SigmoidTransform().inv, transforms.AffineTransform(1.0, 2.0)]),
    RelaxedBernoulli(torch.tensor(0.5), torch.tensor([0.25, 0.9])), RelaxedOneHotCategorical(torch.tensor(0.5), logits=torch.tensor([0.1, 1.0, 2.0])),
    MixtureSameFamily(Categorical(two), Normal(torch.tensor([-1.0, 1.0]), two)),
    MixtureSameFamily(Categorical(two), Independent(Normal(torch.zeros(2, 3), 1.0), 1)),
]
for case in cases:
    print(case, case.batch_shape, case.event_shape, case.has_rsample)
    drawn = case.sample((2,))
    show("  sample", drawn)
    show("  log", case.log_prob(drawn))
    for name in ("mean", "variance", "mode", "stddev"):
        attempt("  " + name, lambda: [round(x, 4) + 0.0 for x in getattr(case, name).flatten().tolist()])
    attempt("  entropy", lambda: [round(x, 3) for x in case.entropy().flatten().tolist()])
    attempt("  cdf", lambda: [round(x, 4) for x in case.cdf(drawn).flatten().tolist()])

pairs = [
    (Normal(0.0, 1.0), Normal(1.0, 2.0)), (Bernoulli(two / 3), Bernoulli(two / 4)), (Categorical(two), Categorical(two.flip(0))),
    (Exponential(two), Exponential(1.0)), (Laplace(0.0, two), Laplace(1.0, 1.0)), (Gamma(two, 1.0), Gamma(1.0, two)),
    (Dirichlet(two), Dirichlet(two.flip(0))), (Beta(two, 1.0), Beta(1.0, two)), (Poisson(two), Poisson(1.0)), (Uniform(0.0, 1.0), Uniform(torch.tensor([-1.0, 0.5]), 2.0)),
    (MultivariateNormal(torch.zeros(2), matrix), MultivariateNormal(torch.ones(2), torch.eye(2))), (Geometric(two / 3), Geometric(two / 4)),
    (Independent(Normal(torch.zeros(3), 1.0), 1), Independent(Normal(torch.ones(3), 1.0), 1)), (LogNormal(0.0, 1.0), LogNormal(1.0, 2.0)),
]
for p, q in pairs:
    show("kl " + type(p).__name__, kl_divergence(p, q))
attempt("kl", lambda: kl_divergence(Normal(0.0, 1.0), Categorical(two)))

loc, scale = torch.zeros(2, requires_grad=True), torch.ones(2, requires_grad=True)
squashed = TransformedDistribution(Independent(Normal(loc, scale), 1), [transforms.TanhTransform(cache_size=1)])
action = squashed.rsample()
(squashed.log_prob(action) + action.sum()).backward()
show("grad", torch.stack([loc.grad, scale.grad]))
drawn = OneHotCategoricalStraightThrough(logits=loc).rsample()
print(drawn.requires_grad, Normal(0.0, 1.0).expand((3, 2)).sample().shape, Categorical(two).expand((4,)).sample().shape)
show("enumerate", Categorical(torch.ones(2, 3)).enumerate_support())
discrete = Categorical(logits=two)
print(discrete)
discrete.probs
print(discrete, Bernoulli(0.5), constraints.positive, constraints.simplex, constraints.real_vector, constraints.interval(0.0, 1.0))
attempt("rate", lambda: Exponential(-1.0))
attempt("value", lambda: Exponential(1.0).log_prob(torch.tensor(-1.0)))
attempt("not finite", lambda: Normal(0.0, 1.0).log_prob(torch.tensor(float("nan"))))
attempt("index", lambda: Categorical(torch.ones(3)).log_prob(torch.tensor(5)))
attempt("number", lambda: Normal(0.0, 1.0).log_prob(1))
attempt("shape", lambda: Normal(torch.zeros(2), 1.0).log_prob(torch.zeros(3)))
attempt("ends", lambda: Uniform(1.0, 0.0))
attempt("matrix", lambda: MultivariateNormal(torch.zeros(2), -torch.eye(2)))
print(Normal(0.0, -1.0, validate_args=False))
