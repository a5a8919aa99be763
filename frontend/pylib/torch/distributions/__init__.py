"""`torch.distributions`: distributions, the constraints of their parameters, and transforms. What is named is loaded when it is named."""

from importlib import import_module

from torch.distributions.bernoulli import Bernoulli
from torch.distributions.categorical import Categorical
from torch.distributions.distribution import Distribution
from torch.distributions.normal import Normal
from torch.distributions.uniform import Uniform

_NAMES = {
    "beta": "Beta",
    "binomial": "Binomial",
    "cauchy": "Cauchy",
    "chi2": "Chi2",
    "constraint_registry": "biject_to transform_to",
    "dirichlet": "Dirichlet",
    "exponential": "Exponential",
    "fishersnedecor": "FisherSnedecor",
    "gamma": "Gamma",
    "geometric": "Geometric",
    "gumbel": "Gumbel",
    "half_cauchy": "HalfCauchy",
    "half_normal": "HalfNormal",
    "independent": "Independent",
    "inverse_gamma": "InverseGamma",
    "kl": "kl_divergence register_kl",
    "kumaraswamy": "Kumaraswamy",
    "laplace": "Laplace",
    "log_normal": "LogNormal",
    "logistic_normal": "LogisticNormal",
    "lowrank_multivariate_normal": "LowRankMultivariateNormal",
    "mixture_same_family": "MixtureSameFamily",
    "multinomial": "Multinomial",
    "multivariate_normal": "MultivariateNormal",
    "negative_binomial": "NegativeBinomial",
    "one_hot_categorical": "OneHotCategorical OneHotCategoricalStraightThrough",
    "pareto": "Pareto",
    "poisson": "Poisson",
    "relaxed_bernoulli": "RelaxedBernoulli",
    "relaxed_categorical": "RelaxedOneHotCategorical",
    "studentT": "StudentT",
    "transformed_distribution": "TransformedDistribution",
    "transforms": (
        "AbsTransform AffineTransform CatTransform ComposeTransform CorrCholeskyTransform CumulativeDistributionTransform "
        "ExpTransform IndependentTransform LowerCholeskyTransform PositiveDefiniteTransform PowerTransform ReshapeTransform "
        "SigmoidTransform SoftmaxTransform SoftplusTransform StackTransform StickBreakingTransform TanhTransform Transform "
        "identity_transform"
    ),
    "weibull": "Weibull",
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = ["Bernoulli", "Categorical", "Distribution", "Normal", "Uniform", *_MODULES]


def __getattr__(name):
    if name in _MODULES:
        value = getattr(import_module(f"torch.distributions.{_MODULES[name]}"), name)
        globals()[name] = value
        return value
    if name in _NAMES:
        return import_module(f"torch.distributions.{name}")
    from torch import _C

    raise _C._missing("torch.distributions", name, [*globals(), *_MODULES])
