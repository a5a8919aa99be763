"""`torch.distributions`: samples, and the logs of their probabilities; each distribution is loaded when it is first named."""

# Where each name lives.
_HOMES = {
    "bernoulli": "Bernoulli", "beta": "Beta", "categorical": "Categorical OneHotCategorical OneHotCategoricalStraightThrough",
    "cauchy": "Cauchy", "chi2": "Chi2", "dirichlet": "Dirichlet", "distribution": "Distribution", "exponential": "Exponential",
    "gamma": "Gamma", "geometric": "Geometric", "gumbel": "Gumbel", "half_normal": "HalfNormal", "independent": "Independent",
    "kl": "kl_divergence register_kl", "laplace": "Laplace", "log_normal": "LogNormal", "mixture_same_family": "MixtureSameFamily",
    "multivariate_normal": "MultivariateNormal", "normal": "Normal", "poisson": "Poisson",
    "relaxed_bernoulli": "LogitRelaxedBernoulli RelaxedBernoulli", "relaxed_categorical": "RelaxedOneHotCategorical",
    "studentT": "StudentT", "transformed_distribution": "TransformedDistribution",
    "transforms": "AbsTransform AffineTransform ComposeTransform ExpTransform PowerTransform SigmoidTransform SoftmaxTransform "
    "SoftplusTransform TanhTransform Transform identity_transform",
    "uniform": "Uniform",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_HOME_OF)


def __getattr__(name):
    import importlib

    if name in _HOME_OF:
        value = getattr(importlib.import_module("torch.distributions." + _HOME_OF[name]), name)
        globals()[name] = value
        return value
    if name in _HOMES or name == "constraints":
        return importlib.import_module("torch.distributions." + name)
    from torch import _C

    raise _C._missing("torch.distributions", name, list(_HOME_OF))
