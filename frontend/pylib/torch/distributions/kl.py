"""Kullback-Leibler divergences of pairs of distributions, which scripts may add to."""

import math
import warnings

import torch
from torch.distributions.bernoulli import Bernoulli
from torch.distributions.beta import Beta
from torch.distributions.binomial import Binomial
from torch.distributions.categorical import Categorical
from torch.distributions.cauchy import Cauchy
from torch.distributions.dirichlet import Dirichlet
from torch.distributions.distribution import Distribution
from torch.distributions.exponential import Exponential
from torch.distributions.gamma import Gamma
from torch.distributions.geometric import Geometric
from torch.distributions.gumbel import _EULER, Gumbel
from torch.distributions.half_normal import HalfNormal
from torch.distributions.independent import Independent
from torch.distributions.laplace import Laplace
from torch.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal
from torch.distributions.multivariate_normal import MultivariateNormal
from torch.distributions.normal import Normal
from torch.distributions.one_hot_categorical import OneHotCategorical
from torch.distributions.pareto import Pareto
from torch.distributions.poisson import Poisson
from torch.distributions.transformed_distribution import TransformedDistribution
from torch.distributions.uniform import Uniform
from torch.distributions.utils import sum_rightmost
from torch.nn import functional as F

_KL_REGISTRY = {}


def register_kl(type_p, type_q):
    """Makes the decorated function the divergence of a pair of types."""
    if not isinstance(type_p, type) and issubclass(type_p, Distribution):
        raise TypeError(f"Expected type_p to be a Distribution subclass but got {type_p}")
    if not isinstance(type_q, type) and issubclass(type_q, Distribution):
        raise TypeError(f"Expected type_q to be a Distribution subclass but got {type_q}")

    def decorator(fun):
        _KL_REGISTRY[type_p, type_q] = fun
        return fun

    return decorator


def _distance(kinds, pair):
    """How many bases each type is away from the registered one, p before q."""
    return tuple(kind.__mro__.index(base) for kind, base in zip(kinds, pair))


def _dispatch_kl(type_p, type_q):
    kinds = (type_p, type_q)
    matches = [pair for pair in _KL_REGISTRY if issubclass(type_p, pair[0]) and issubclass(type_q, pair[1])]
    if not matches:
        return NotImplemented
    by_p = min(matches, key=lambda pair: _distance(kinds, pair))
    by_q = min(matches, key=lambda pair: _distance(kinds, pair)[::-1])
    if _KL_REGISTRY[by_p] is not _KL_REGISTRY[by_q]:
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). "
            f"Please register_kl({by_p[0].__name__}, {by_q[1].__name__})",
            RuntimeWarning,
        )
    return _KL_REGISTRY[by_p]


def kl_divergence(p, q):
    """The Kullback-Leibler divergence of `p` from `q`."""
    function = _dispatch_kl(type(p), type(q))
    if function is NotImplemented:
        raise NotImplementedError(f"No KL(p || q) is implemented for p type {p.__class__.__name__} and q type {q.__class__.__name__}")
    return function(p, q)


def _infinite_like(tensor):
    return torch.full_like(tensor, torch.inf)



@register_kl(Bernoulli, Bernoulli)
def _bernoulli_bernoulli(p, q):
    ones = p.probs * (F.softplus(-q.logits) - F.softplus(-p.logits))
    ones = ones.masked_fill(q.probs == 0, torch.inf).masked_fill(p.probs == 0, 0)
    zeros = (1 - p.probs) * (F.softplus(q.logits) - F.softplus(p.logits))
    zeros = zeros.masked_fill(q.probs == 1, torch.inf).masked_fill(p.probs == 1, 0)
    return ones + zeros


@register_kl(Beta, Beta)
def _beta_beta(p, q):
    total_p, total_q = p.concentration1 + p.concentration0, q.concentration1 + q.concentration0
    volumes = q.concentration1.lgamma() + q.concentration0.lgamma() + total_p.lgamma()
    volumes = volumes - (p.concentration1.lgamma() + p.concentration0.lgamma() + total_q.lgamma())
    of_logs = (p.concentration1 - q.concentration1) * torch.digamma(p.concentration1)
    of_logs = of_logs + (p.concentration0 - q.concentration0) * torch.digamma(p.concentration0)
    return volumes + of_logs + (total_q - total_p) * torch.digamma(total_p)


@register_kl(Binomial, Binomial)
def _binomial_binomial(p, q):
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    divergence = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p())
    shape = torch.broadcast_shapes(p.total_count.shape, q.total_count.shape)
    more = p.total_count.expand(shape) > q.total_count.expand(shape)
    return torch.where(more, torch.inf, divergence)


@register_kl(Categorical, Categorical)
def _categorical_categorical(p, q):
    terms = p.probs * (p.logits - q.logits)
    terms = torch.where(q.probs == 0, torch.inf, terms)
    return torch.where(p.probs == 0, 0, terms).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot_one_hot(p, q):
    return _categorical_categorical(p._categorical, q._categorical)


@register_kl(Cauchy, Cauchy)
def _cauchy_cauchy(p, q):
    apart = ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log()
    return apart - (4 * p.scale * q.scale).log()


@register_kl(Dirichlet, Dirichlet)
def _dirichlet_dirichlet(p, q):
    total = p.concentration.sum(-1)
    volumes = total.lgamma() - q.concentration.sum(-1).lgamma()
    volumes = volumes - (p.concentration.lgamma() - q.concentration.lgamma()).sum(-1)
    of_logs = (p.concentration - q.concentration) * (p.concentration.digamma() - total.digamma().unsqueeze(-1))
    return volumes + of_logs.sum(-1)


@register_kl(Exponential, Exponential)
def _exponential_exponential(p, q):
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(Gamma, Gamma)
def _gamma_gamma(p, q):
    return (
        q.concentration * (p.rate / q.rate).log()
        + torch.lgamma(q.concentration)
        - torch.lgamma(p.concentration)
        + (p.concentration - q.concentration) * torch.digamma(p.concentration)
        + (q.rate - p.rate) * (p.concentration / p.rate)
    )


@register_kl(Gumbel, Gumbel)
def _gumbel_gumbel(p, q):
    ratio = p.scale / q.scale
    apart = p.loc / q.scale - q.loc / q.scale
    return ratio * _EULER + apart - ratio.log() + torch.exp(-apart + torch.lgamma(1 + ratio)) - (1 + _EULER)


@register_kl(Geometric, Geometric)
def _geometric_geometric(p, q):
    return -p.entropy() - torch.log1p(-q.probs) / p.probs - q.logits


@register_kl(HalfNormal, HalfNormal)
def _half_normal_half_normal(p, q):
    return _normal_normal(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _laplace_laplace(p, q):
    ratio = p.scale / q.scale
    distance = (p.loc - q.loc).abs()
    return -ratio.log() + distance / q.scale + ratio * torch.exp(-distance / p.scale) - 1


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p, q):
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with different event shapes cannot be computed"
        )
    return _of_covariances(p, q, q._half_log_det() - p._half_log_det(), p._unbroadcasted_scale_tril)


def _of_covariances(p, q, half_log_det, scale_p):
    """The divergence of normal vectors, given half the log of the quotient of determinants and p's factor."""
    count = p.event_shape[-1]
    scale_q = q.scale_tril
    batch = torch.broadcast_shapes(scale_q.shape[:-2], scale_p.shape[:-2], p.loc.shape[:-1])
    scale_q = scale_q.expand(batch + (count, count))
    scaled = torch.linalg.solve_triangular(scale_q, scale_p.expand(batch + scale_p.shape[-2:]), upper=False)
    apart = torch.linalg.solve_triangular(scale_q, (q.loc - p.loc).expand(batch + (count,)).unsqueeze(-1), upper=False)
    return half_log_det + 0.5 * (scaled.pow(2).sum((-2, -1)) + apart.pow(2).sum((-2, -1)) - count)


def _half_log_det(distribution):
    return distribution._half_log_det() if isinstance(distribution, MultivariateNormal) else 0.5 * distribution._log_det()


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _lowrank_multivariate_normal(p, q):
    if p.event_shape != q.event_shape:
        kinds = [kind.__name__.replace("MultivariateNormal", " Multivariate Normal").strip() for kind in (type(p), type(q))]
        raise ValueError(f"KL-divergence between {kinds[0]} and {kinds[1]} with different event shapes cannot be computed")
    return _of_covariances(p, q, _half_log_det(q) - _half_log_det(p), p.scale_tril)


@register_kl(Normal, Normal)
def _normal_normal(p, q):
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(Pareto, Pareto)
def _pareto_pareto(p, q):
    ratio = q.alpha / p.alpha
    divergence = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return torch.where(p.support.lower_bound < q.support.lower_bound, torch.inf, divergence)


@register_kl(Poisson, Poisson)
def _poisson_poisson(p, q):
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed_transformed(p, q):
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    divergence = kl_divergence(p.base_dist, q.base_dist)
    return sum_rightmost(divergence, len(p.event_shape) - len(p.base_dist.event_shape))


@register_kl(Uniform, Uniform)
def _uniform_uniform(p, q):
    divergence = ((q.high - q.low) / (p.high - p.low)).log()
    return torch.where((q.low > p.low) | (q.high < p.high), torch.inf, divergence)


@register_kl(Independent, Independent)
def _independent_independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p, q):
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(Uniform, Normal)
def _uniform_normal(p, q):
    width = p.high - p.low
    log_scale = (math.sqrt(math.pi * 2) * q.scale / width).log()
    middle = (p.high + p.low - 2 * q.loc) / 2
    return log_scale + 0.5 * (width.pow(2) / 12 + middle.pow(2)) / q.scale.pow(2)


@register_kl(Exponential, Gamma)
def _exponential_gamma(p, q):
    ratio = q.rate / p.rate
    return -q.concentration * ratio.log() + ratio + q.concentration.lgamma() + q.concentration * _EULER - (1 + _EULER)


@register_kl(Gamma, Exponential)
def _gamma_exponential(p, q):
    return -p.entropy() - q.rate.log() + q.rate * p.concentration / p.rate


@register_kl(Normal, Laplace)
def _normal_laplace(p, q):
    apart = p.loc - q.loc
    spread = apart / p.scale
    near = math.sqrt(2 / math.pi) * p.scale * torch.exp(-0.5 * spread.pow(2)) + apart * torch.erf(math.sqrt(0.5) * spread)
    return -p.entropy() + (2 * q.scale).log() + near / q.scale


@register_kl(Laplace, Normal)
def _laplace_normal(p, q):
    variance = q.scale.pow(2)
    ratio = p.scale.pow(2) / variance
    volumes = 0.5 * torch.log(2 * math.pi * variance) - (2 * p.scale).log() - 1
    return volumes + ratio + 0.5 * (p.loc - q.loc).pow(2) / variance


@register_kl(Beta, Uniform)
def _beta_uniform(p, q):
    divergence = -p.entropy() + (q.high - q.low).log()
    return torch.where((q.high < 1) | (q.low > 0), torch.inf, divergence)


@register_kl(Exponential, Normal)
def _exponential_normal(p, q):
    variance = q.scale.pow(2)
    square = p.rate.reciprocal().pow(2) + (p.rate.reciprocal() - q.loc).pow(2)
    return -p.entropy() + 0.5 * torch.log(variance * 2 * math.pi) + 0.5 * square / variance


@register_kl(Gamma, Normal)
def _gamma_normal(p, q):
    square = p.variance + (p.mean - q.loc).pow(2)
    return -p.entropy() + 0.5 * torch.log(q.scale.pow(2) * 2 * math.pi) + 0.5 * square / q.scale.pow(2)


@register_kl(Beta, Normal)
def _beta_normal(p, q):
    return _gamma_normal(p, q)


@register_kl(Gumbel, Normal)
def _gumbel_normal(p, q):
    return _gamma_normal(p, q)


def _unequal_supports(p, q):
    """The divergence of a distribution from one that is nowhere where the first one sometimes is."""
    return _infinite_like(p.mean)


for _pair in (
    (Exponential, Beta), (Exponential, Pareto), (Exponential, Uniform),
    (Gamma, Beta), (Gamma, Pareto), (Gamma, Uniform),
    (Gumbel, Beta), (Gumbel, Exponential), (Gumbel, Gamma), (Gumbel, Pareto), (Gumbel, Uniform),
    (Laplace, Beta), (Laplace, Exponential), (Laplace, Gamma), (Laplace, Pareto), (Laplace, Uniform),
    (Normal, Beta), (Normal, Exponential), (Normal, Gamma), (Normal, Pareto), (Normal, Uniform),
    (Pareto, Beta), (Pareto, Uniform), (Poisson, Bernoulli), (Poisson, Binomial), (Beta, Pareto),
):
    register_kl(*_pair)(_unequal_supports)
