"""Divergences of distributions, transforms, what is made of a constraint, and what distributions refuse."""

import torch
import torch.distributions as D
from torch.distributions import constraints, transforms

T = torch.tensor


def digits(tensor):
    return tuple(tensor.shape), [float(f"{x:.4g}") for x in tensor.flatten().tolist()]


def show(label, call):
    try:
        value = call()
    except Exception as error:
        print(label, type(error).__name__, error)
        return
    print(label, *(digits(value) if isinstance(value, torch.Tensor) else [value]))


a, b = T([0.5, 2.0]), T([1.5, 0.7])
PAIRS = [
    (D.Bernoulli(T([0.3, 1.0])), D.Bernoulli(T([0.6, 0.2]))),
    (D.Bernoulli(T([0.3, 1.0])), D.Poisson(a)),
    (D.Beta(a, b), D.Beta(b, a)),
    (D.Beta(a, b), D.Uniform(T(-1.0), T(2.0))),
    (D.Beta(a, b), D.Normal(b, a)),
    (D.Binomial(7, T([0.3, 0.8])), D.Binomial(7, T([0.6, 0.2]))),
    (D.Binomial(7, T([0.3, 0.8])), D.Binomial(9, T([0.6, 0.2]))),
    (D.Categorical(T([0.2, 0.8, 0.0])), D.Categorical(T([0.5, 0.3, 0.2]))),
    (D.Categorical(T([0.2, 0.8, 0.1])), D.Categorical(T([0.5, 0.5, 0.0]))),
    (D.Cauchy(a, b), D.Cauchy(b, a)),
    (D.Dirichlet(T([0.5, 1.0, 2.0])), D.Dirichlet(T([1.5, 3.0, 2.0]))),
    (D.Exponential(a), D.Exponential(b)),
    (D.Exponential(a), D.Gamma(b, a)),
    (D.Exponential(a), D.Normal(b, a)),
    (D.Exponential(a), D.Uniform(a, a + b)),
    (D.Gamma(a, b), D.Gamma(b, a)),
    (D.Gamma(a, b), D.Exponential(a)),
    (D.Gamma(a, b), D.Normal(b, a)),
    (D.Geometric(T([0.3, 0.8])), D.Geometric(T([0.6, 0.2]))),
    (D.Gumbel(a, b), D.Gumbel(b, a)),
    (D.Gumbel(a, b), D.Normal(b, a)),
    (D.HalfNormal(a), D.HalfNormal(b)),
    (D.Laplace(a, b), D.Laplace(b, a)),
    (D.Laplace(a, b), D.Normal(b, a)),
    (D.LogNormal(a, b), D.LogNormal(b, a)),
    (D.Normal(a, b), D.Normal(b, a)),
    (D.Normal(a, b), D.Laplace(b, a)),
    (D.Normal(a, b), D.Gamma(b, a)),
    (D.OneHotCategorical(T([0.2, 0.8])), D.OneHotCategorical(T([0.5, 0.5]))),
    (D.Pareto(b, a), D.Pareto(a.clamp(max=1), b)),
    (D.Poisson(a), D.Poisson(b)),
    (D.Uniform(a, a + b), D.Uniform(0.0, 3.0)),
    (D.Uniform(a, a + b), D.Uniform(0.0, 2.5)),
    (D.Uniform(a, a + b), D.Normal(b, a)),
    (D.Independent(D.Normal(a, b), 1), D.Independent(D.Normal(b, a), 1)),
    (D.Normal(a, b), D.Cauchy(b, a)),
]
full = D.MultivariateNormal(T([0.0, 1.0]), T([[2.0, 0.5], [0.5, 1.0]]))
other = D.MultivariateNormal(torch.zeros(3, 2), scale_tril=T([[1.0, 0.0], [0.3, 2.0]]))
low = D.LowRankMultivariateNormal(T([0.5, 1.0]), T([[1.0], [0.5]]), T([0.5, 2.0]))
PAIRS += [(full, other), (other, full), (full, low), (low, full)]
other_low = D.LowRankMultivariateNormal(T([0.0, 1.0]), T([[0.5], [2.0]]), T([1.5, 1.0]))
PAIRS.append((low, other_low))
for p, q in PAIRS:
    show(f"{type(p).__name__} {type(q).__name__}", lambda: D.kl_divergence(p, q))
show("covariance", lambda: low.covariance_matrix)
show("precision", lambda: low.precision_matrix)
show("factor", lambda: low.scale_tril)
show("precision", lambda: full.precision_matrix)


class Mine(D.Normal):
    """A type of a script's own."""


@D.register_kl(Mine, Mine)
def mine(p, q):
    return T(42.0)


show("own", lambda: D.kl_divergence(Mine(0.0, 1.0), Mine(0.0, 1.0)))
show("own", lambda: D.kl_divergence(Mine(0.0, 1.0), D.Normal(0.0, 2.0)))

x = T([[0.2, 0.7, 0.4], [0.1, 0.5, 0.3]])
for t in (
    transforms.AffineTransform(1.0, T([2.0, -3.0, 1.0])), transforms.AffineTransform(1.0, -2.0, event_dim=1), transforms.ExpTransform(),
    transforms.PowerTransform(2.0), transforms.SigmoidTransform(), transforms.SoftplusTransform(), transforms.TanhTransform(),
    transforms.ComposeTransform([transforms.ExpTransform(), transforms.AffineTransform(0.5, 2.0)]),
    transforms.IndependentTransform(transforms.ExpTransform(), 1), transforms.StickBreakingTransform(),
    transforms.ReshapeTransform((3,), (3, 1)), transforms.CorrCholeskyTransform(), transforms.SoftmaxTransform(),
    transforms.CatTransform([transforms.ExpTransform(), transforms.TanhTransform()], -1, [1, 2]),
    transforms.StackTransform([transforms.ExpTransform(), transforms.SigmoidTransform(), transforms.TanhTransform()], 1),
    transforms.CumulativeDistributionTransform(D.Normal(0.0, 1.0)), transforms.AbsTransform(),
):
    print(t, t.inv, t.domain, t.codomain, t.bijective, t.forward_shape((2, 3)), t.inv.inv is t)
    y = t(x)
    show("image", lambda: y)
    show("back", lambda: t.inv(y))
    show("stretch", lambda: t.log_abs_det_jacobian(x, y))
    show("of the inverse", lambda: t.inv.log_abs_det_jacobian(y, x))
    show("sign", lambda: t.sign)
cached = transforms.ExpTransform(cache_size=1)
print(cached.inv(cached(x)) is x, cached == transforms.ExpTransform(), cached == transforms.TanhTransform())
matrix = T([[0.5, 0.0], [0.3, -1.0]])
for t in (transforms.LowerCholeskyTransform(), transforms.PositiveDefiniteTransform()):
    show("matrix", lambda: t(matrix))
    show("back", lambda: t.inv(t(matrix)))

for name in ("real", "positive", "nonnegative", "unit_interval", "simplex", "real_vector", "corr_cholesky", "boolean", "lower_cholesky",
             "positive_definite"):
    constraint = getattr(constraints, name)
    show(name, lambda: D.biject_to(constraint))
    show(name, lambda: D.transform_to(constraint))
show("interval", lambda: D.biject_to(constraints.interval(1.0, 3.0))(x))
show("less", lambda: D.biject_to(constraints.less_than(1.0))(x))
for name, value in (("boolean", x), ("positive", x - 0.3), ("simplex", x / x.sum(-1, True)), ("real_vector", x),
                    ("lower_triangular", x[:, :2]), ("symmetric", torch.eye(2)), ("positive_definite", torch.eye(2)),
                    ("positive_semidefinite", -torch.eye(2)), ("one_hot", torch.eye(2)), ("nonnegative_integer", x * 10),
                    ("corr_cholesky", torch.eye(2)), ("square", x)):
    print(name, getattr(constraints, name), getattr(constraints, name).check(value).tolist())

torch.manual_seed(9)
mixture = D.MixtureSameFamily(D.Categorical(T([0.3, 0.7])), D.Normal(T([-1.0, 2.0]), T([0.5, 1.0])))
vectors = D.MixtureSameFamily(D.Categorical(T([0.3, 0.7])), D.Independent(D.Normal(torch.zeros(2, 3), T([[1.0], [2.0]])), 1))
moved = D.TransformedDistribution(D.Normal(T([0.0, 1.0]), 1.0), [transforms.AffineTransform(1.0, -2.0), transforms.SigmoidTransform()])
for d, value in ((mixture, T([0.1, 0.5])), (vectors, x), (moved, x[:, :2])):
    print(d, d.batch_shape, d.event_shape, d.support, d.expand((2, 2)).batch_shape if d is mixture else None)
    show("log", lambda: d.log_prob(value))
    show("cdf", lambda: d.cdf(value))
    show("mean", lambda: d.mean)
    show("variance", lambda: d.variance)
    show("samples", lambda: d.sample((2, 2)))
    show("icdf", lambda: d.icdf(x[:, :2]))

show("", lambda: D.Normal(0.0, -1.0))
show("", lambda: D.Normal(0.0, 1.0).log_prob("a"))
show("", lambda: D.Normal("a", 1))
show("", lambda: D.Gamma(1.0, 1.0).log_prob(T(-1.0)))
show("", lambda: D.Normal(T([0.0, 1.0]), 1.0).log_prob(torch.ones(3)))
show("", lambda: full.log_prob(torch.ones(3)))
show("", lambda: full.log_prob(T(1.0)))
show("", lambda: D.MultivariateNormal(torch.zeros(2)))
show("", lambda: D.MultivariateNormal(T(0.0), torch.eye(2)))
show("", lambda: D.MultivariateNormal(torch.zeros(2), torch.zeros(2)))
show("", lambda: D.MultivariateNormal(torch.zeros(2), scale_tril=torch.zeros(2)))
show("", lambda: D.MultivariateNormal(torch.zeros(2), -torch.eye(2)))
show("", lambda: D.Dirichlet(T(1.0)))
show("", lambda: D.Multinomial(T(1.0)))
show("", lambda: D.Uniform(1.0, 0.0))
show("", lambda: D.Uniform(0.0, 1.0).log_prob(T(2.0)))
show("", lambda: D.Bernoulli(0.5).log_prob(T(0.5)))
show("", lambda: D.Binomial(5))
show("", lambda: D.Geometric(T([0.0, 0.5])))
show("", lambda: D.Categorical(T([-1.0, 2.0])))
show("", lambda: D.Categorical(torch.ones(2)).log_prob(T(2)))
show("", lambda: D.Independent(D.Normal(0.0, 1.0), 1))
show("", lambda: D.MixtureSameFamily(D.Normal(0.0, 1.0), D.Normal(0.0, 1.0)))
show("", lambda: D.MixtureSameFamily(D.Categorical(torch.ones(2)), 1))
show("", lambda: D.MixtureSameFamily(D.Categorical(torch.ones(2)), D.Normal(torch.zeros(3), 1.0)))
show("", lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), [1]))
show("", lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), 1))
show("", lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), transforms.StickBreakingTransform()))
show("", lambda: D.Distribution.set_default_validate_args(3))
show("", lambda: transforms.ExpTransform(cache_size=2))
show("unchecked", lambda: D.Normal(0.0, -1.0, validate_args=False))
show("unchecked", lambda: D.Exponential(1.0, validate_args=False).log_prob(T(-1.0)))
D.Distribution.set_default_validate_args(False)
show("unchecked", lambda: D.Normal(0.0, -1.0))
D.Distribution.set_default_validate_args(True)
