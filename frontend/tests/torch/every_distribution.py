"""Every distribution: what it prints, its moments, densities, entropies, samples, gradients, and divergences."""

import torch
import torch.distributions as D

T = torch.tensor


def digits(tensor, count=4):
    return tuple(tensor.shape), [float(f"{x:.{count}g}") for x in tensor.flatten().tolist()]


def show(label, call):
    try:
        value = call()
    except Exception as error:
        print("   ", label, type(error).__name__, str(error).splitlines()[:1])
        return
    print("   ", label, *(digits(value) if isinstance(value, torch.Tensor) else [value]))


OF_GAMMA = {"Beta", "Gamma", "Chi2", "Dirichlet", "InverseGamma", "StudentT", "FisherSnedecor"}
TWO = T([0.5, 2.0])
CASES = [
    (D.Bernoulli, dict(probs=T([0.3, 0.9])), T([0.0, 1.0])),
    (D.Beta, dict(concentration1=TWO, concentration0=T([1.5, 3.0])), T([0.2, 0.7])),
    (D.Binomial, dict(total_count=20, probs=T([0.3, 0.9])), T([4.0, 18.0])),
    (D.Categorical, dict(logits=T([[0.1, 0.5, 1.0], [1.0, 0.0, 0.0]])), T([0, 2])),
    (D.Cauchy, dict(loc=T([0.0, 1.0]), scale=TWO), T([0.2, 0.7])),
    (D.Chi2, dict(df=T([1.0, 3.0])), T([0.2, 0.7])),
    (D.Dirichlet, dict(concentration=T([[0.5, 2.0, 1.0], [3.0, 2.0, 4.0]])), T([0.2, 0.3, 0.5])),
    (D.Exponential, dict(rate=TWO), T([0.2, 0.7])),
    (D.FisherSnedecor, dict(df1=T([3.0, 2.0]), df2=T([5.0, 3.0])), T([0.2, 0.7])),
    (D.Gamma, dict(concentration=TWO, rate=T([1.0, 0.5])), T([0.2, 0.7])),
    (D.Geometric, dict(probs=T([0.3, 0.9])), T([0.0, 3.0])),
    (D.Gumbel, dict(loc=T([0.0, 1.0]), scale=TWO), T([0.2, 0.7])),
    (D.HalfCauchy, dict(scale=TWO), T([0.2, 0.7])),
    (D.HalfNormal, dict(scale=TWO), T([0.2, 0.7])),
    (D.InverseGamma, dict(concentration=T([1.5, 3.0]), rate=TWO), T([0.2, 0.7])),
    (D.Kumaraswamy, dict(concentration1=T([1.5, 2.0]), concentration0=T([2.5, 3.0])), T([0.2, 0.7])),
    (D.Laplace, dict(loc=T([0.0, 1.0]), scale=TWO), T([0.2, 0.7])),
    (D.LogNormal, dict(loc=T([0.0, 1.0]), scale=TWO), T([0.2, 0.7])),
    (D.LogisticNormal, dict(loc=T([0.0, 1.0]), scale=TWO), T([0.2, 0.3, 0.5])),
    (D.LowRankMultivariateNormal, dict(loc=T([0.0, 1.0]), cov_factor=T([[1.0], [0.5]]), cov_diag=TWO), T([0.2, 0.7])),
    (D.Multinomial, dict(total_count=5, probs=T([0.2, 0.5, 0.3])), T([1.0, 2.0, 2.0])),
    (D.MultivariateNormal, dict(loc=T([0.0, 1.0]), covariance_matrix=T([[2.0, 0.5], [0.5, 1.0]])), T([0.2, 0.7])),
    (D.MultivariateNormal, dict(loc=T([0.0, 1.0]), precision_matrix=T([[2.0, 0.5], [0.5, 1.0]])), T([0.2, 0.7])),
    (D.MultivariateNormal, dict(loc=torch.zeros(3, 2), scale_tril=T([[2.0, 0.0], [0.5, 1.0]])), T([0.2, 0.7])),
    (D.NegativeBinomial, dict(total_count=T([3.0, 5.0]), probs=T([0.3, 0.6])), T([2.0, 7.0])),
    (D.Normal, dict(loc=T([0.0, 1.0]), scale=TWO), T([0.2, 0.7])),
    (D.OneHotCategorical, dict(probs=T([0.2, 0.5, 0.3])), T([0.0, 1.0, 0.0])),
    (D.OneHotCategoricalStraightThrough, dict(probs=T([0.2, 0.5, 0.3])), T([0.0, 1.0, 0.0])),
    (D.Pareto, dict(scale=T([0.1, 0.5]), alpha=T([1.5, 3.0])), T([0.2, 0.7])),
    (D.Poisson, dict(rate=T([1.0, 30.0])), T([2.0, 28.0])),
    (D.RelaxedBernoulli, dict(temperature=T(0.5), probs=T([0.3, 0.9])), T([0.2, 0.7])),
    (D.RelaxedOneHotCategorical, dict(temperature=T(0.5), probs=T([0.2, 0.5, 0.3])), T([0.2, 0.3, 0.5])),
    (D.StudentT, dict(df=T([1.5, 4.0]), loc=T([0.0, 1.0]), scale=TWO), T([0.2, 0.7])),
    (D.Uniform, dict(low=T([0.0, 0.5]), high=T([1.0, 2.0])), T([0.2, 0.7])),
    (D.Weibull, dict(scale=TWO, concentration=T([1.5, 3.0])), T([0.2, 0.7])),
]
for kind, parameters, value in CASES:
    torch.manual_seed(3)
    d = kind(**parameters)
    print(d, d.batch_shape, d.event_shape, d.has_rsample, d.has_enumerate_support)
    for name in ("mean", "mode", "variance", "stddev", "support"):
        show(name, lambda: getattr(d, name))
    show("log_prob", lambda: d.log_prob(value))
    show("cdf", lambda: d.cdf(value))
    show("icdf", lambda: d.icdf(T([0.25, 0.75])))
    show("entropy", lambda: d.entropy())
    show("sample", lambda: d.sample())
    show("samples", lambda: d.sample((3,)))
    show("enumerate", lambda: d.enumerate_support())
    show("expand", lambda: d.expand((2,) + d.batch_shape).log_prob(value))
    show("repr", lambda: d)
    if d.has_rsample:
        leaves = {name: p.clone().requires_grad_() for name, p in parameters.items()}
        drawn = kind(**leaves).rsample((2,))
        show("rsample", lambda: drawn)
        weights = torch.arange(1.0, 1 + drawn.numel()).reshape(drawn.shape)
        (drawn * weights).sum().backward()
        for name, leaf in leaves.items():
            if leaf.grad is not None:
                # How draws made of gamma numbers move is approximated by PyTorch to some three digits.
                show("grad of " + name, lambda: digits(leaf.grad, 2 if kind.__name__ in OF_GAMMA else 4))
