//! Loss functions, with the signatures of `torch.nn.functional`.

use super::{
    args,
    call::{self, call, cast, f, i, n, one, t, widened},
    define::{composite, gradient, kernel, no_complex, refusing, samples},
    gradient::normalize::{of_bce, of_nll},
    refusal::losses,
    rules,
};
use crate::{
    Context, KernelFn, Tensor,
    element::{Additive, Arithmetic},
    layout::numel,
    with_real, write,
};
use smallvec::smallvec;
use taipan_ir::{
    Arg, DType, Dim, Emitter, Facts, Op, OpError, Rel, Shape, Val,
    op::{FactsList, Family, Forms, Kernel, RuleContext, Vals},
};

const NN: Forms = Forms::NN;

/// The op tables of this file.
pub static OPS: &[Op] = &[
    samples(
        refusing(
            composite(
                "cross_entropy(Tensor input, Tensor target, Tensor? weight=None, bool? size_average=None, int ignore_index=-100, bool? reduce=None, str reduction='mean', float label_smoothing=0.0) -> Tensor",
                NN,
                cross_entropy,
            ),
            losses::cross_entropy,
        ),
        &[
            "f32[3,4], i64[3]%4",
            "f32[3,4], i64[3]%4, f32[4]+",
            "f32[3,4], i64[3]%4, reduction='none'",
            "f32[3,4], f32[3,4]+",
            "f32[3,4], i64[3]%4, label_smoothing=0.1",
            "f32[2,3,4], i64[2,4]%3, reduction='sum'",
            "f32[3,4], i64[3]%4, ignore_index=1",
        ],
    ),
    samples(
        refusing(
            composite(
                "nll_loss(Tensor input, Tensor target, Tensor? weight=None, bool? size_average=None, int ignore_index=-100, bool? reduce=None, str reduction='mean') -> Tensor",
                NN,
                |e, a| nll(e, *args::tensor(a, 0)?, *args::tensor(a, 1)?, &a[2], args::int(a, 4)?, &reduction(a, 3, 5, 6)?),
            ),
            losses::class_weights,
        ),
        &["f32[3,4], i64[3]%4", "f32[3,4], i64[3]%4, f32[4]+", "f32[3,4], i64[3]%4, reduction='none'"],
    ),
    gradient(
        kernel(
            "_nll_picked(Tensor input, Tensor target, Tensor? weight, int ignore_index) -> (Tensor picked, Tensor factors)",
            Forms::INTERNAL,
            Family::Gather,
            picked_rule,
            Kernel(&(picked as KernelFn)),
        ),
        "target, factors",
        of_nll,
    ),
    no_complex(
        samples(
            composite(
                "mse_loss(Tensor input, Tensor target, bool? size_average=None, bool? reduce=None, str reduction='mean', Tensor? weight=None) -> Tensor",
                NN,
                |e, a| {
                    let difference = call::sub(e, *args::tensor(a, 0)?, a[1].clone())?;
                    let loss = call::mul(e, difference, t(difference))?;
                    weighted_mean(e, a, loss, &a[5], &reduction(a, 2, 3, 4)?)
                },
            ),
            &[
                "f32[2,3], f32[2,3]",
                "f32[2,3], f32[2,3], reduction='sum'",
                "f32[2,3], f32[2,3], reduction='none'",
                "f32[2,3], f32[2,3], weight=f32[2,3]+",
                "f32[2,3], f32[2,3], weight=f32[2,3]+, reduction='sum'",
                "f32[2,3], f32[2,3], weight=f32[3]+",
                "f32[2,3], f32[2,1], reduction='x'",
            ],
        ),
        "\"mse_cpu\" not implemented for '{}'",
    ),
    samples(
        composite(
            "l1_loss(Tensor input, Tensor target, bool? size_average=None, bool? reduce=None, str reduction='mean', Tensor? weight=None) -> Tensor",
            NN,
            |e, a| {
                let difference = call::sub(e, *args::tensor(a, 0)?, a[1].clone())?;
                let loss = call::unary(e, "abs", difference)?;
                weighted_mean(e, a, loss, &a[5], &reduction(a, 2, 3, 4)?)
            },
        ),
        &["f32[2,3], f32[2,3]", "f32[2,3], f32[2,3], weight=f32[2,3]+", "f32[3,2].t, f32[2,3], weight=f32[2,3]+, reduction='none'"],
    ),
    no_complex(
        samples(
            refusing(
                composite(
                    "smooth_l1_loss(Tensor input, Tensor target, bool? size_average=None, bool? reduce=None, str reduction='mean', float beta=1.0) -> Tensor",
                    NN,
                    |e, a| {
                        let beta = args::float(a, 5, 1.0);
                        let loss = bent(e, a, beta, 0.5 / beta, 1.0)?;
                        reduced(e, loss, &reduction(a, 2, 3, 4)?)
                    },
                ),
                losses::smooth_l1,
            ),
            &["f32[2,3], f32[2,3]", "f32[2,3], f32[2,3], beta=0.5"],
        ),
        "\"smooth_l1_cpu\" not implemented for '{}'",
    ),
    no_complex(
        samples(
            refusing(
                composite(
                    "huber_loss(Tensor input, Tensor target, str reduction='mean', float delta=1.0, Tensor? weight=None) -> Tensor",
                    NN,
                    |e, a| {
                        let delta = args::float(a, 3, 1.0);
                        let loss = bent(e, a, delta, 0.5, delta)?;
                        check_weight(e, a, &a[4])?;
                        let loss = weighted(e, loss, &a[4])?;
                        reduced(e, loss, args::text(a, 2))
                    },
                ),
                losses::huber,
            ),
            &["f32[2,3], f32[2,3]", "f32[2,3], f32[2,3], weight=f32[2,3]+", "f32[2,3], f32[2,3], weight=f32[3]"],
        ),
        "\"huber_cpu\" not implemented for '{}'",
    ),
    gradient(
        kernel("_bce(Tensor input, Tensor target) -> Tensor", Forms::INTERNAL, Family::Other, bce_rule, Kernel(&(bce as KernelFn))),
        "input: input, target; target: input",
        of_bce,
    ),
    samples(
        refusing(
            composite(
                "binary_cross_entropy(Tensor input, Tensor target, Tensor? weight=None, bool? size_average=None, bool? reduce=None, str reduction='mean') -> Tensor",
                NN,
                |e, a| {
                    let loss = one(e, "_bce", &a[..2])?;
                    let loss = weighted(e, loss, &a[2])?;
                    reduced(e, loss, &reduction(a, 3, 4, 5)?)
                },
            ),
            losses::binary,
        ),
        &["f32[2,3]+, f32[2,3]+"],
    ),
    samples(
        composite(
            "binary_cross_entropy_with_logits.nn(Tensor input, Tensor target, Tensor? weight=None, bool? size_average=None, bool? reduce=None, str reduction='mean', Tensor? pos_weight=None) -> Tensor",
            NN,
            |e, a| {
                let (x, target) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
                if !same_size(e, x, target)? {
                    return Err(OpError::value(format!(
                        "Target size (torch.Size({})) must be the same as input size (torch.Size({}))",
                        rules::shown(&e.facts(target).dims),
                        rules::shown(&e.facts(x).dims)
                    )));
                }
                let rest = one(e, "rsub.Tensor", &[t(target), n(1)])?;
                let first = call::mul(e, rest, t(x))?;
                let log = call::unary(e, "logsigmoid", x)?;
                let mut scaled = log;
                if let Arg::Tensor(positive) = a[6] {
                    let less = call::sub(e, positive, n(1))?;
                    let factor = call::mul(e, less, t(target))?;
                    let factor = call::add(e, factor, n(1))?;
                    scaled = call::mul(e, log, t(factor))?;
                }
                let loss = call::sub(e, first, t(scaled))?;
                let loss = weighted(e, loss, &a[2])?;
                reduced(e, loss, &reduction(a, 3, 4, 5)?)
            },
        ),
        &["f32[2,3], f32[2,3]+", "f32[2,3], f32[2,3]+, pos_weight=f32[3]+", "f32[2,3], f32[3]"],
    ),
    samples(
        composite(
            "kl_div.nn(Tensor input, Tensor target, bool? size_average=None, bool? reduce=None, str reduction='mean', bool log_target=False) -> Tensor",
            NN,
            |e, a| {
                let (x, target) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
                let loss = if args::flag(a, 5) {
                    let exp = call::unary(e, "exp", target)?;
                    let difference = call::sub(e, target, t(x))?;
                    call::mul(e, exp, t(difference))?
                } else {
                    let entropy = one(e, "xlogy.Tensor", &[t(target), t(target)])?;
                    let crossed = call::mul(e, target, t(x))?;
                    call::sub(e, entropy, t(crossed))?
                };
                let how = reduction(a, 2, 3, 4)?;
                if how == "batchmean" {
                    let batch = e.facts(x).dims.first().copied().unwrap_or(Dim::Is(1));
                    let batch = e.dims().number(batch)?;
                    let sum = one(e, "sum", &[t(loss)])?;
                    return Ok(smallvec![call::div(e, sum, n(batch))?]);
                }
                reduced(e, loss, &how)
            },
        ),
        &["f32[2,3], f32[2,3]+", "f32[2,3], f32[2,3]+, reduction='batchmean'"],
    ),
];

/// The reduction asked for, the two older settings considered.
fn reduction(a: &[Arg<Val>], size_average: usize, reduce: usize, how: usize) -> Result<String, OpError> {
    let given = |k: usize| match a.get(k) {
        Some(Arg::Bool(b)) => Some(*b),
        _ => None,
    };
    Ok(match (given(size_average), given(reduce)) {
        (None, None) => args::text(a, how).to_owned(),
        (_, Some(false)) => "none".to_owned(),
        (Some(false), _) => "sum".to_owned(),
        _ => "mean".to_owned(),
    })
}

fn reduced(e: &mut dyn Emitter, loss: Val, how: &str) -> Result<Vals, OpError> {
    match how {
        "none" => Ok(smallvec![loss]),
        "mean" => call(e, "mean", &[t(loss)]),
        "sum" => call(e, "sum", &[t(loss)]),
        other => Err(OpError::value(format!("{other} is not a valid value for reduction"))),
    }
}

fn weighted(e: &mut dyn Emitter, loss: Val, weight: &Arg<Val>) -> Result<Val, OpError> {
    match weight {
        Arg::Tensor(weight) => call::mul(e, loss, t(*weight)),
        _ => Ok(loss),
    }
}

fn same_size(e: &mut dyn Emitter, p: Val, q: Val) -> Result<bool, OpError> {
    let (p, q) = (e.facts(p).dims.clone(), e.facts(q).dims.clone());
    let mut same = p.len() == q.len();
    for (p, q) in p.iter().zip(&q) {
        same = same && (p == q || e.dims().decide(Rel::Eq, *p, *q)?);
    }
    Ok(same)
}

fn check_weight(e: &mut dyn Emitter, a: &[Arg<Val>], weight: &Arg<Val>) -> Result<(), OpError> {
    match weight {
        Arg::Tensor(weight) if !same_size(e, *weight, *args::tensor(a, 0)?)? => {
            Err(OpError::value("Weights and input must have the same size."))
        }
        _ => Ok(()),
    }
}

/// The losses times their weights, reduced; a mean is over the sum of the weights.
fn weighted_mean(e: &mut dyn Emitter, a: &[Arg<Val>], loss: Val, weight: &Arg<Val>, how: &str) -> Result<Vals, OpError> {
    check_weight(e, a, weight)?;
    let loss = weighted(e, loss, weight)?;
    match weight {
        Arg::Tensor(weight) if how == "mean" => {
            let total = one(e, "sum", &[t(loss)])?;
            let weights = one(e, "sum", &[t(*weight)])?;
            Ok(smallvec![call::div(e, total, t(weights))?])
        }
        _ => reduced(e, loss, how),
    }
}

/// `square * d²` within `edge` of zero, `slope * (|d| - edge / 2)` beyond.
fn bent(e: &mut dyn Emitter, a: &[Arg<Val>], edge: f64, square: f64, slope: f64) -> Result<Val, OpError> {
    let difference = call::sub(e, *args::tensor(a, 0)?, a[1].clone())?;
    let size = call::unary(e, "abs", difference)?;
    if edge == 0.0 {
        return Ok(size);
    }
    let near = call::mul(e, size, t(size))?;
    let near = call::mul(e, near, f(square))?;
    let far = call::sub(e, size, f(edge * 0.5))?;
    let far = call::mul(e, far, f(slope))?;
    let inside = one(e, "lt.Tensor", &[t(size), f(edge)])?;
    one(e, "where.self", &[t(inside), t(near), t(far)])
}

fn cross_entropy(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let (input, target) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
    let how = reduction(a, 3, 5, 6)?;
    let (wide, dtype) = widened(e, input)?;
    let smoothing = args::float(a, 7, 0.0);
    let facts = e.facts(wide).clone();
    let d = i64::from(facts.rank() > 1);
    let logs = one(e, "log_softmax.int", &[t(wide), i(d)])?;
    if e.facts(target).dtype.is_float() {
        let mut target = cast(e, target, facts.dtype)?;
        if smoothing > 0.0 {
            let classes = e.dims().number(facts.dims[d as usize])?;
            let kept = call::mul(e, target, f(1.0 - smoothing))?;
            target = call::add(e, kept, f(smoothing / classes as f64))?;
        }
        let mut product = call::mul(e, logs, t(target))?;
        if let Arg::Tensor(weight) = a[2] {
            let weight = along_classes(e, weight, &facts, d as usize)?;
            product = call::mul(e, product, t(weight))?;
        }
        let sum = one(e, "sum.dim_IntList", &[t(product), call::ints([d])])?;
        let loss = call::unary(e, "neg", sum)?;
        let out = match how.as_str() {
            "mean" => one(e, "mean", &[t(loss)])?,
            _ => reduced(e, loss, &how)?[0],
        };
        return Ok(smallvec![cast(e, out, dtype)?]);
    }
    let ignore = args::int(a, 4)?;
    let plain = nll(e, logs, target, &a[2], ignore, &how)?[0];
    if smoothing == 0.0 {
        return Ok(smallvec![cast(e, plain, dtype)?]);
    }
    let classes = e.dims().number(facts.dims[d as usize])?;
    let mut spread = logs;
    if let Arg::Tensor(weight) = a[2] {
        let weight = along_classes(e, weight, &facts, d as usize)?;
        spread = call::mul(e, logs, t(weight))?;
    }
    let sum = one(e, "sum.dim_IntList", &[t(spread), call::ints([d])])?;
    let smooth = call::unary(e, "neg", sum)?;
    let ignored = one(e, "eq.Tensor", &[t(target), n(ignore)])?;
    let smooth = one(e, "masked_fill.Scalar", &[t(smooth), t(ignored), n(0)])?;
    let smooth = match how.as_str() {
        "mean" => {
            let total = one(e, "sum", &[t(smooth)])?;
            let picked = call(e, "_nll_picked", &[t(logs), t(target), a[2].clone(), i(ignore)])?;
            let count = one(e, "sum", &[t(picked[1])])?;
            call::div(e, total, t(count))?
        }
        _ => reduced(e, smooth, &how)?[0],
    };
    let plain = call::mul(e, plain, f(1.0 - smoothing))?;
    let smooth = call::mul(e, smooth, f(smoothing / classes as f64))?;
    let out = call::add(e, plain, t(smooth))?;
    Ok(smallvec![cast(e, out, dtype)?])
}

fn along_classes(e: &mut dyn Emitter, weight: Val, facts: &Facts, d: usize) -> Result<Val, OpError> {
    let weight = cast(e, weight, facts.dtype)?;
    let mut shape = vec![Dim::Is(1); facts.rank()];
    shape[d] = facts.dims[d];
    one(e, "view", &[t(weight), call::dims(shape)])
}

fn nll(e: &mut dyn Emitter, logs: Val, target: Val, weight: &Arg<Val>, ignore: i64, how: &str) -> Result<Vals, OpError> {
    let (wide, dtype) = widened(e, logs)?;
    let picked = call(e, "_nll_picked", &[t(wide), t(target), weight.clone(), i(ignore)])?;
    let out = match how {
        "mean" => {
            let total = one(e, "sum", &[t(picked[0])])?;
            let count = one(e, "sum", &[t(picked[1])])?;
            call::div(e, total, t(count))?
        }
        _ => reduced(e, picked[0], how)?[0],
    };
    Ok(smallvec![cast(e, out, dtype)?])
}

fn picked_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let (x, target) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
    let batch = x.rank() > 1;
    if x.rank() == 0 {
        return Err(OpError::value("Expected 1 or more dimensions (got 0)"));
    }
    if batch && target.rank() > 0 && x.dims[0] != target.dims[0] && !cx.dims.decide(Rel::Eq, x.dims[0], target.dims[0])? {
        return Err(OpError::value(format!("Expected input batch_size ({}) to match target batch_size ({}).", x.dims[0], target.dims[0])));
    }
    if !matches!(target.dtype, DType::I64 | DType::U8) {
        return Err(OpError::runtime(format!("expected scalar type Long but found {}", target.dtype.scalar_name())));
    }
    let expected: Shape = if batch { std::iter::once(x.dims[0]).chain(x.dims[2..].iter().copied()).collect() } else { Shape::new() };
    let mut fits = expected.len() == target.rank();
    for (p, q) in expected.iter().zip(&target.dims) {
        fits = fits && (p == q || cx.dims.decide(Rel::Eq, *p, *q)?);
    }
    if !fits {
        return Err(OpError::runtime(format!("Expected target size {}, got {}", rules::shown(&expected), rules::shown(&target.dims))));
    }
    let mut out = rules::fresh(cx, x, x.dtype, expected.clone())?;
    out.extend(rules::fresh(cx, x, x.dtype, expected)?);
    Ok(out)
}

/// For each target: minus the input at the target's class times its weight, and the weight; zeros where the target is ignored.
fn picked(cx: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let (x, target) = (args::tensor(a, 0)?.contiguous()?, write::cast(cx, args::tensor(a, 1)?, DType::I64)?);
    let ignore = args::int(a, 3)?;
    let d = usize::from(x.rank() > 1);
    let (classes, inner) = (x.sizes()[d], numel(&x.sizes()[d + 1..]));
    let targets = target.elements::<i64>()?;
    if let Some(bad) = targets.iter().find(|c| **c != ignore && (**c < 0 || **c >= classes)) {
        return Err(OpError::index(format!("Target {bad} is out of bounds.")));
    }
    let weight = args::optional_tensor(a, 2).map(|w| write::cast(cx, w, x.dtype())).transpose()?;
    if !x.dtype().is_float() {
        return Err(OpError::not_implemented(format!("\"nll_loss_out_frame\" not implemented for '{}'", x.dtype().scalar_name())));
    }
    with_real!(x.dtype(), T => {
        let elements = x.elements::<T>()?;
        let weights = weight.as_ref().map(|w| w.elements::<T>()).transpose()?;
        let mut factors = vec![0 as T; targets.len()];
        let mut losses = vec![0 as T; targets.len()];
        for (k, class) in targets.iter().enumerate().filter(|(_, c)| **c != ignore) {
            let (outer, i) = (k / inner.max(1), k % inner.max(1));
            factors[k] = weights.as_ref().map_or(1.0, |w| w[*class as usize]);
            losses[k] = -elements[(outer * classes as usize + *class as usize) * inner + i] * factors[k];
        }
        Ok(vec![Tensor::from_slice(&losses, target.sizes())?, Tensor::from_slice(&factors, target.sizes())?])
    })
}

fn bce_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let (x, target) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
    let mut same = x.rank() == target.rank();
    for (p, q) in x.dims.iter().zip(&target.dims) {
        same = same && (p == q || cx.dims.decide(Rel::Eq, *p, *q)?);
    }
    if !same {
        return Err(OpError::value(format!(
            "Using a target size (torch.Size({})) that is different to the input size (torch.Size({})) is deprecated. Please ensure they have the same size.",
            rules::shown(&target.dims),
            rules::shown(&x.dims)
        )));
    }
    rules::fresh(cx, x, x.dtype, x.dims.clone())
}

/// `-(y log x + (1 - y) log(1 - x))`, logarithms kept above -100; both must be probabilities.
fn bce(cx: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let (wide, target) = (write::widened(cx, x)?, write::widened(cx, args::tensor(a, 1)?)?);
    let target = write::cast(cx, &target, wide.dtype())?;
    let out = with_real!(wide.dtype(), T => {
        let (inputs, targets) = (wide.elements::<T>()?, target.elements::<T>()?);
        for (elements, name) in [(&targets, "target"), (&inputs, "input")] {
            if elements.iter().any(|v| !(0.0..=1.0).contains(v)) {
                return Err(OpError::runtime(format!("all elements of {name} should be between 0 and 1")));
            }
        }
        let log = |v: T| T::from_f64(libm::log(v.as_f64())).max(-100.0);
        let losses: Vec<T> = inputs.iter().zip(targets.iter()).map(|(p, y)| (y - 1.0) * log(1.0 - p) - y * log(*p)).collect();
        Tensor::from_slice(&losses, x.sizes())?
    });
    Ok(vec![write::cast(cx, &out, x.dtype())?])
}
