//! Counts, covariances and distances.

use super::{
    args,
    call::{self, call, cast, f, i, ints, n, one, t, widened},
    define::{ALL, close, composite, constant, kernel, no_complex, refusing, samples},
    refusal::{dtypes, shapes},
    rules::{self, wrap_dim},
};
use crate::{Context, KernelFn, Tensor, with_comparable, with_real, write};
use smallvec::smallvec;
use taipan_ir::{
    Arg, DType, Dim, DimOp, Emitter, Facts, Number, Op, OpError, Rel, Val,
    op::{FactsList, Family, Forms, Kernel, RuleContext, Vals},
};

const BOTH: Forms = Forms::BOTH;

/// The op tables of this file.
pub static OPS: &[Op] = &[
    samples(
        constant(kernel(
            "bincount(Tensor self, Tensor? weights=None, int minlength=0) -> Tensor",
            BOTH,
            Family::Other,
            bincount_rule,
            Kernel(&(bincount as KernelFn)),
        )),
        &["i64[6]+", "i64[6]+, f32[6]", "i64[6]+, minlength=9", "i64[6]", "f32[3]", "i64[0]"],
    ),
    samples(
        constant(kernel(
            "histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",
            BOTH,
            Family::Other,
            |cx, a| {
                let x = *args::tensor(a, 0)?;
                if args::int(a, 1)? <= 0 {
                    return Err(OpError::runtime("torch.histc(): bins must be > 0"));
                }
                if !x.dtype.is_float() {
                    return Err(OpError::not_implemented(format!("\"histogram_cpu\" not implemented for '{}'", x.dtype.scalar_name())));
                }
                rules::fresh(cx, x, x.dtype, smallvec![args::dim(a, 1)?])
            },
            Kernel(&(histc as KernelFn)),
        )),
        &["f32[9], 4", "f32[9], 4, -1, 1", "f64[3,4], 5, min=0, max=2"],
    ),
    close(samples(
        constant(refusing(
            kernel(
                "histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor bin_edges)",
                BOTH,
                Family::Other,
                |cx, a| {
                    let x = *args::tensor(a, 0)?;
                    let bins = args::dim(a, 1)?;
                    let mut out = rules::fresh(cx, x, x.dtype, smallvec![bins])?;
                    let edges = cx.dims.calc(DimOp::Add, bins, Dim::Is(1));
                    out.extend(rules::fresh(cx, x, x.dtype, smallvec![edges])?);
                    Ok(out)
                },
                Kernel(&(histogram_of_count as KernelFn)),
            ),
            shapes::histogram::<99, 3>,
        )),
        &["f32[9], 4", "f32[9], 4, range=[-1.0,1.0]", "f32[9], 4, weight=f32[9]+", "f32[9], 4, density=True"],
    )),
    samples(
        constant(refusing(
            kernel(
                "histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor bin_edges)",
                BOTH,
                Family::Other,
                |cx, a| {
                    let (x, edges) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
                    let count = cx.dims.calc(DimOp::Add, edges.dims.first().copied().unwrap_or(Dim::Is(1)), Dim::Is(-1));
                    let mut out = rules::fresh(cx, x, x.dtype, smallvec![count])?;
                    out.extend(rules::fresh(cx, x, x.dtype, edges.dims.clone())?);
                    Ok(out)
                },
                Kernel(&(histogram_of_edges as KernelFn)),
            ),
            shapes::histogram::<1, 2>,
        )),
        &[],
    ),
    samples(
        constant(kernel(
            "isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False) -> Tensor",
            Forms::FUNCTION,
            Family::Other,
            |cx, a| {
                let x = *args::tensor(a, 0)?;
                rules::fresh(cx, x, DType::Bool, x.dims.clone())
            },
            Kernel(&(isin as KernelFn)),
        )),
        &["i64[2,3], i64[2]", "i64[5], i64[2], invert=True", "f32[4], f32[4]"],
    ),
    constant(composite(
        "isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool invert=False) -> Tensor",
        Forms::FUNCTION,
        |e, a| call(e, if args::flag(a, 3) { "ne.Tensor" } else { "eq.Tensor" }, &a[..2]),
    )),
    no_complex(
        samples(
            refusing(
                composite(
                    "nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
                    BOTH,
                    |e, a| {
                        let nan = one(e, "isnan", &a[..1])?;
                        let ordinary = one(e, "logical_not", &[t(nan)])?;
                        let count = one(e, "sum.dim_IntList", &[t(ordinary), a[1].clone(), a[2].clone()])?;
                        let total = one(e, "nansum", a)?;
                        Ok(smallvec![call::div(e, total, t(count))?])
                    },
                ),
                dtypes::nanmean,
            ),
            &["f32[2,3]", "f32[2,3], [1]", "f32[2,3], [0], True"],
        ),
        "nansum on CPU does not support complex inputs",
    ),
    no_complex(
        samples(
            refusing(
                composite("cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor", BOTH, cov),
                shapes::cov,
            ),
            &["f32[3,5]", "f32[6]", "f32[3,5], correction=0", "f32[2,4], aweights=f32[4]+"],
        ),
        "cov of '{}' is not supported",
    ),
    no_complex(
        samples(
            composite("corrcoef(Tensor self) -> Tensor", BOTH, |e, a| {
                let covariance = one(e, "cov", &a[..1])?;
                if e.facts(covariance).rank() == 0 {
                    return Ok(smallvec![call::div(e, covariance, t(covariance))?]);
                }
                let variance = one(e, "diagonal", &[t(covariance)])?;
                let deviation = call::unary(e, "sqrt", variance)?;
                let column = one(e, "unsqueeze", &[t(deviation), i(1)])?;
                let row = one(e, "unsqueeze", &[t(deviation), i(0)])?;
                let scaled = call::div(e, covariance, t(column))?;
                let scaled = call::div(e, scaled, t(row))?;
                call(e, "clamp", &[t(scaled), n(-1), n(1)])
            }),
            &["f32[3,5]"],
        ),
        "corrcoef of '{}' is not supported",
    ),
    close(samples(
        composite("cdist(Tensor x1, Tensor x2, float p=2, int? compute_mode=None) -> Tensor", Forms::FUNCTION, cdist),
        &["f32[3,4], f32[2,4]", "f32[2,3,4], f32[2,2,4], 1.0", "f32[3,4], f32[2,4], inf", "f32[30,4], f32[26,4]"],
    )),
    no_complex(
        samples(
            refusing(
                composite("pdist(Tensor self, float p=2) -> Tensor", Forms::FUNCTION.or(Forms::NN), |e, a| {
                    let x = *args::tensor(a, 0)?;
                    let facts = e.facts(x).clone();
                    if facts.rank() != 2 {
                        return Err(OpError::runtime(format!("pdist only supports 2D tensors, got: {}D", facts.rank())));
                    }
                    let count = facts.dims[0];
                    let places = one(e, "triu_indices", &[Arg::Int(count), Arg::Int(count), i(1)])?;
                    let pick = |e: &mut dyn Emitter, k: i64| {
                        let row = one(e, "select.int", &[t(places), i(0), i(k)])?;
                        one(e, "index_select", &[t(x), i(0), t(row)])
                    };
                    let (p, q) = (pick(e, 0)?, pick(e, 1)?);
                    let difference = call::sub(e, p, t(q))?;
                    call(e, "linalg_vector_norm", &[t(difference), f(args::float(a, 1, 2.0)), ints([-1])])
                }),
                shapes::pdist,
            ),
            &["f32[4,3]", "f32[4,3], 1.0"],
        ),
        "pdist only supports floating-point dtypes",
    ),
    samples(
        composite("dist(Tensor self, Tensor other, Scalar p=2) -> Tensor", BOTH, |e, a| {
            let difference = call::sub(e, *args::tensor(a, 0)?, a[1].clone())?;
            call(e, "linalg_vector_norm", &[t(difference), f(args::float(a, 2, 2.0))])
        }),
        &["f32[2,3], f32[2,3]", "f32[2,3], f32[3], 1"],
    ),
    samples(
        refusing(
            composite("renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor", ALL, |e, a| {
                let (x, own) = widened(e, *args::tensor(a, 0)?)?;
                let rank = e.facts(x).rank();
                if rank < 2 {
                    return Err(OpError::runtime(format!("renorm: input needs at least 2 dimensions, got {rank} dimensions")));
                }
                let d = wrap_dim(args::int(a, 2)?, rank)?;
                let others = ints((0..rank as i64).filter(|k| *k != d as i64));
                let most = args::float(a, 3, 0.0);
                let norm = one(e, "linalg_vector_norm", &[t(x), f(args::float(a, 1, 2.0)), others, Arg::Bool(true)])?;
                let above = one(e, "gt.Tensor", &[t(norm), f(most)])?;
                let shifted = call::add(e, norm, f(1e-7))?;
                let inverse = call::unary(e, "reciprocal", shifted)?;
                let factor = call::mul(e, inverse, f(most))?;
                let factor = one(e, "where.self", &[t(above), t(factor), f(1.0)])?;
                let out = call::mul(e, x, t(factor))?;
                let out = cast(e, out, own)?;
                call::call(e, "contiguous", &[t(out)])
            }),
            shapes::renorm,
        ),
        &["f32[3,4], 2, 0, 1.5", "f32[2,3,4], 1, 1, 3"],
    ),
    samples(
        composite("cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor", Forms::FUNCTION, |e, a| {
            let middle = neighbour_sums(e, *args::tensor(a, 0)?, args::int(a, 2)?)?;
            let sums = one(e, "cumsum", &[t(middle), a[2].clone()])?;
            Ok(smallvec![call::mul(e, sums, f(args::float(a, 1, 1.0) / 2.0))?])
        }),
        &["f32[5]", "f32[2,5], dx=0.5, dim=0"],
    ),
    samples(
        composite("cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", Forms::FUNCTION, |e, a| {
            let (y, x, d) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?, args::int(a, 2)?);
            let steps = if e.facts(x).rank() == 1 {
                let rank = e.facts(y).rank();
                let steps = one(e, "diff", &[t(x)])?;
                let mut shape = vec![Dim::Is(1); rank];
                shape[wrap_dim(d, rank)?] = e.facts(steps).dims[0];
                one(e, "view", &[t(steps), call::dims(shape)])?
            } else {
                one(e, "diff", &[t(x), i(1), i(d)])?
            };
            let middle = neighbour_sums(e, y, d)?;
            let areas = call::mul(e, steps, t(middle))?;
            let sums = one(e, "cumsum", &[t(areas), i(d)])?;
            Ok(smallvec![call::div(e, sums, f(2.0))?])
        }),
        &["f32[5], f32[5]"],
    ),
];

/// Sums of neighbours along a dim.
fn neighbour_sums(e: &mut dyn Emitter, y: Val, d: i64) -> Result<Val, OpError> {
    let rank = e.facts(y).rank();
    let size = e.facts(y).dims[wrap_dim(d, rank)?];
    let less = e.dims().calc(DimOp::Add, size, Dim::Is(-1));
    let right = one(e, "narrow", &[t(y), i(d), i(1), Arg::Int(less)])?;
    let left = one(e, "narrow", &[t(y), i(d), i(0), Arg::Int(less)])?;
    call::add(e, right, t(left))
}

fn bincount_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let x = *args::tensor(a, 0)?;
    if x.dtype.is_float() || x.dtype == DType::Bool {
        return Err(OpError::not_implemented(format!("\"bincount_cpu\" not implemented for '{}'", x.dtype.scalar_name())));
    }
    if x.rank() != 1 {
        return Err(OpError::runtime("bincount only supports 1-d non-negative integral inputs."));
    }
    let dtype = match args::optional_tensor(a, 1).map(|w| w.dtype) {
        None => DType::I64,
        Some(DType::F32) => DType::F32,
        Some(_) => DType::F64,
    };
    let count = cx.dims.fresh(0);
    rules::fresh(cx, x, dtype, smallvec![count])
}

fn bincount(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = write::cast(cx, args::tensor(a, 0)?, DType::I64)?;
    let least = args::int(a, 2)?;
    if least < 0 {
        return Err(OpError::runtime("minlength should be >= 0"));
    }
    let values = x.elements::<i64>()?;
    if values.iter().any(|v| *v < 0) {
        return Err(OpError::runtime("bincount only supports 1-d non-negative integral inputs."));
    }
    let bins = values.iter().max().map_or(0, |m| m + 1).max(least) as usize;
    let Some(weights) = args::optional_tensor(a, 1) else {
        let mut counts = vec![0i64; bins];
        values.iter().for_each(|v| counts[*v as usize] += 1);
        return Ok(vec![Tensor::from_slice(&counts, &[bins as i64])?]);
    };
    if weights.sizes() != x.sizes() {
        return Err(OpError::runtime("weights should be 1-d and have the same length as input"));
    }
    let weights = write::cast(cx, weights, facts[0].dtype)?;
    with_real!(facts[0].dtype, T => {
        let mut sums = vec![0 as T; bins];
        values.iter().zip(weights.elements::<T>()?.iter()).for_each(|(v, w)| sums[*v as usize] += w);
        Ok(vec![Tensor::from_slice(&sums, &[bins as i64])?])
    })
}

/// The ends of the range that bins cover: those given, else those of the elements.
fn ends(low: f64, high: f64, values: &[f64], name: &str) -> Result<(f64, f64), OpError> {
    let (mut low, mut high) = (low, high);
    if low == high && !values.is_empty() {
        low = values.iter().copied().fold(f64::INFINITY, f64::min);
        high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    }
    if low == high {
        low -= 1.0;
        high += 1.0;
    }
    if !low.is_finite() || !high.is_finite() {
        return Err(OpError::runtime(format!("{name}: range of [{low}, {high}] is not finite")));
    }
    if low > high {
        return Err(OpError::runtime(format!("{name}: max must be larger than min")));
    }
    Ok((low, high))
}

/// How much falls into each of the equal bins between two ends; an element is put where its own rounding puts it.
fn binned(values: &[f64], weights: Option<&[f64]>, edges: &[f64], even: bool) -> Vec<f64> {
    let mut sums = vec![0.0; edges.len().saturating_sub(1)];
    let (Some(low), Some(high), bins) = (edges.first(), edges.last(), sums.len()) else { return sums };
    for (k, v) in values.iter().enumerate().filter(|(_, v)| **v >= *low && **v <= *high) {
        let mut at = if even {
            (((v - low) / (high - low) * bins as f64) as usize).min(bins - 1)
        } else {
            edges.partition_point(|edge| edge <= v).saturating_sub(1).min(bins - 1)
        };
        if even {
            // The division may have rounded across an edge.
            while at > 0 && *v < edges[at] {
                at -= 1;
            }
            while at + 1 < bins && *v >= edges[at + 1] {
                at += 1;
            }
        }
        sums[at] += weights.map_or(1.0, |w| w[k]);
    }
    sums
}

fn even_edges(low: f64, high: f64, bins: usize) -> Vec<f64> {
    let step = (high - low) / bins as f64;
    (0..=bins).map(|k| if k < bins.div_ceil(2) { low + step * k as f64 } else { high - step * (bins - k) as f64 }).collect()
}

fn doubles(cx: &mut Context, x: &Tensor) -> Result<Vec<f64>, OpError> {
    write::cast(cx, x, DType::F64)?.to_vec::<f64>()
}

fn rounded(cx: &mut Context, values: &[f64], dtype: DType) -> Result<Tensor, OpError> {
    let wide = Tensor::from_slice(values, &[values.len() as i64])?;
    write::cast(cx, &wide, dtype)
}

fn histc(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let values = doubles(cx, args::tensor(a, 0)?)?;
    let (low, high) = ends(args::float(a, 2, 0.0), args::float(a, 3, 0.0), &values, "torch.histc")?;
    let edges = even_edges(low, high, args::int(a, 1)? as usize);
    let counts = binned(&values, None, &edges, true);
    Ok(vec![rounded(cx, &counts, facts[0].dtype)?])
}

fn histogram(
    cx: &mut Context,
    x: &Tensor,
    edges: &[f64],
    even: bool,
    weight: Option<&Tensor>,
    density: bool,
) -> Result<Vec<Tensor>, OpError> {
    let values = doubles(cx, x)?;
    let weights = weight.map(|w| doubles(cx, w)).transpose()?;
    let mut sums = binned(&values, weights.as_deref(), edges, even);
    if density {
        let total: f64 = sums.iter().sum();
        sums.iter_mut().zip(edges.windows(2)).for_each(|(s, w)| *s /= total * (w[1] - w[0]));
    }
    Ok(vec![rounded(cx, &sums, x.dtype())?, rounded(cx, edges, x.dtype())?])
}

fn histogram_of_count(cx: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let bins = args::int(a, 1)?;
    if bins <= 0 {
        return Err(OpError::runtime(format!("torch.histogram(): bins must be > 0, but got {bins} for dimension 0")));
    }
    let values = doubles(cx, x)?;
    let (low, high) = match &a[2] {
        Arg::Floats(range) if range.len() == 2 => (range[0], range[1]),
        _ => (0.0, 0.0),
    };
    let (low, high) = ends(low, high, &values, "torch.histogram()")?;
    let edges = even_edges(low, high, bins as usize);
    histogram(cx, x, &edges, true, args::optional_tensor(a, 3), args::flag(a, 4))
}

fn histogram_of_edges(cx: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let edges = doubles(cx, args::tensor(a, 1)?)?;
    histogram(cx, args::tensor(a, 0)?, &edges, false, args::optional_tensor(a, 2), args::flag(a, 3))
}

fn isin(cx: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let (x, list) = (args::tensor(a, 0)?, args::tensor(a, 1)?);
    let common = if x.dtype() == list.dtype() { x.dtype() } else { x.dtype().promote(list.dtype()) };
    let (x, list) = (write::cast(cx, x, common)?, write::cast(cx, list, common)?);
    let (x, list) = (write::comparable(cx, &x)?, write::comparable(cx, &list)?);
    let invert = args::flag(a, 3);
    with_comparable!(x.dtype(), T => {
        let mut sorted: Vec<T> = list.elements::<T>()?.iter().copied().filter(|v| !crate::element::Arithmetic::is_nan(*v)).collect();
        sorted.sort_by(|p, q| p.partial_cmp(q).unwrap_or(std::cmp::Ordering::Equal));
        let found: Vec<bool> = x
            .elements::<T>()?
            .iter()
            .map(|v| sorted.binary_search_by(|s| s.partial_cmp(v).unwrap_or(std::cmp::Ordering::Less)).is_ok() != invert)
            .collect();
        Ok(vec![Tensor::from_slice(&found, x.sizes())?])
    })
}

fn cov(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let mut x = *args::tensor(a, 0)?;
    let rank = e.facts(x).rank();
    if rank > 2 {
        return Err(OpError::runtime(format!(
            "cov(): expected input to have two or fewer dimensions but got an input with {rank} dimensions"
        )));
    }
    if e.facts(x).dtype == DType::Bool {
        return Err(OpError::runtime("cov(): bool dtype is not supported for input"));
    }
    if rank < 2 {
        let numel = e.facts(x).clone().numel(e.dims());
        x = one(e, "view", &[t(x), call::dims([Dim::Is(1), numel])])?;
    }
    let observations = e.facts(x).dims[1];
    let mut weights: Option<Val> = None;
    for k in [2, 3] {
        if let Some(w) = args::optional_tensor(a, k) {
            weights = Some(match weights {
                Some(other) => call::mul(e, other, t(*w))?,
                None => *w,
            });
        }
    }
    let correction = args::int(a, 1)?;
    let (mean, norm) = match weights {
        None => {
            let total = one(e, "sum.dim_IntList", &[t(x), ints([1]), Arg::Bool(true)])?;
            let count = e.dims().number(observations)?;
            (call::div(e, total, n(count))?, Err((count - correction).max(0)))
        }
        Some(w) => {
            let sum = one(e, "sum", &[t(w)])?;
            let weighted = call::mul(e, x, t(w))?;
            let total = one(e, "sum.dim_IntList", &[t(weighted), ints([1]), Arg::Bool(true)])?;
            let mean = call::div(e, total, t(sum))?;
            let norm = match args::optional_tensor(a, 3) {
                Some(analytic) if correction != 0 => {
                    let squares = call::mul(e, w, t(*analytic))?;
                    let squares = one(e, "sum", &[t(squares)])?;
                    let part = call::div(e, squares, t(sum))?;
                    let part = call::mul(e, part, n(correction))?;
                    call::sub(e, sum, t(part))?
                }
                _ => call::sub(e, sum, n(correction))?,
            };
            (mean, Ok(one(e, "clamp_min", &[t(norm), n(0)])?))
        }
    };
    let centered = call::sub(e, x, t(mean))?;
    let right = match weights {
        Some(w) => call::mul(e, centered, t(w))?,
        None => centered,
    };
    let right = one(e, "t", &[t(right)])?;
    let product = one(e, "mm", &[t(centered), t(right)])?;
    let out = match norm {
        Ok(norm) => call::div(e, product, t(norm))?,
        Err(norm) => call::div(e, product, n(norm))?,
    };
    Ok(smallvec![if rank < 2 { one(e, "squeeze", &[t(out)])? } else { out }])
}

/// Distances between all rows of two batches of matrices. Euclidean ones of many rows are taken by way of a matrix product, as in PyTorch.
fn cdist(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let (x, y) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
    let (p_facts, q_facts) = (e.facts(x).clone(), e.facts(y).clone());
    for (facts, name) in [(&p_facts, "X1"), (&q_facts, "X2")] {
        if !facts.dtype.is_float() {
            return Err(OpError::runtime(format!("cdist only supports floating-point dtypes, {name} got: {}", facts.dtype.scalar_name())));
        }
        if facts.rank() < 2 {
            return Err(OpError::runtime(format!("cdist only supports at least 2D tensors, {name} got: {}D", facts.rank())));
        }
    }
    let (m, k) = (p_facts.dims[p_facts.rank() - 1], q_facts.dims[q_facts.rank() - 1]);
    if m != k && !e.dims().decide(Rel::Eq, m, k)? {
        return Err(OpError::runtime(format!("X1 and X2 must have the same number of columns. X1: {m} X2: {k}")));
    }
    let p = args::float(a, 2, 2.0);
    if p < 0.0 {
        return Err(OpError::runtime("cdist only supports non-negative p values"));
    }
    if p_facts.dtype != q_facts.dtype {
        let (expected, found) = (p_facts.dtype.scalar_name(), q_facts.dtype.scalar_name());
        return Err(OpError::runtime(format!("expected scalar type {expected} but found {found}")));
    }
    let rows = |facts: &Facts| facts.dims[facts.rank() - 2];
    let mode = args::optional_int(a, 3)?.unwrap_or(0);
    let many = e.dims().decide(Rel::Lt, Dim::Is(25), rows(&p_facts))? || e.dims().decide(Rel::Lt, Dim::Is(25), rows(&q_facts))?;
    if p == 2.0 && (mode == 1 || (mode == 0 && many)) {
        return euclidean_by_product(e, x, y);
    }
    let left = one(e, "unsqueeze", &[t(x), i(-2)])?;
    let right = one(e, "unsqueeze", &[t(y), i(-3)])?;
    let difference = call::sub(e, left, t(right))?;
    call(e, "linalg_vector_norm", &[t(difference), f(p), ints([-1])])
}

/// `√(|x|² - 2 x·y + |y|²)`
fn euclidean_by_product(e: &mut dyn Emitter, x: Val, y: Val) -> Result<Vals, OpError> {
    let lengths = |e: &mut dyn Emitter, v: Val| {
        let square = call::mul(e, v, t(v))?;
        let sum = one(e, "sum.dim_IntList", &[t(square), ints([-1]), Arg::Bool(true)])?;
        let ones = one(e, "full_like", &[t(sum), Arg::Number(Number::Int(1))])?;
        Ok::<_, OpError>((sum, ones))
    };
    let ((p, p_one), (q, q_one)) = (lengths(e, x)?, lengths(e, y)?);
    let minus = call::mul(e, x, n(-2))?;
    let left = one(e, "cat", &[Arg::Tensors(vec![minus, p, p_one]), i(-1)])?;
    let right = one(e, "cat", &[Arg::Tensors(vec![y, q_one, q]), i(-1)])?;
    let right = one(e, "transpose.int", &[t(right), i(-2), i(-1)])?;
    let squares = one(e, "matmul", &[t(left), t(right)])?;
    let squares = one(e, "clamp_min", &[t(squares), n(0)])?;
    call(e, "sqrt", &[t(squares)])
}
