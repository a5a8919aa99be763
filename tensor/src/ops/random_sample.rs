//! Samples of discrete distributions, and noise that depends on the sign of the input.

use super::{
    args,
    call::{call, i, mul, one, t},
    define::{composite, gradient, random},
    gradient::zero,
    random_fill::{drawn, stream},
    rules,
};
use crate::{Context, KernelFn, Tensor, distribution, random::Twister, run::EagerEmitter, write};
use smallvec::smallvec;
use taipan_ir::{
    Arg, DType, Dim, Facts, Op, OpError,
    op::{FactsList, Forms, Kernel, RuleContext},
};

/// The op tables of this file.
pub static OPS: &[Op] = &[
    random(
        "multinomial(Tensor self, int num_samples, bool replacement=False, *, Generator? generator=None) -> Tensor",
        Forms::BOTH,
        multinomial_rule,
        Kernel(&(multinomial as KernelFn)),
    ),
    gradient(
        random(
            "poisson(Tensor self, Generator? generator=None) -> Tensor",
            Forms::FUNCTION,
            |cx, a| {
                let dtype = args::tensor(a, 0)?.dtype;
                if !dtype.is_float() {
                    return Err(OpError::not_implemented(format!("\"poisson_cpu\" not implemented for '{}'", dtype.scalar_name())));
                }
                rules::like_first(cx, a)
            },
            Kernel(&(poisson as KernelFn)),
        ),
        "",
        zero,
    ),
    random(
        "rrelu_noise(Tensor self, Scalar lower, Scalar upper, Generator? generator=None) -> Tensor",
        Forms::INTERNAL,
        rules::like_first,
        Kernel(&(rrelu_noise as KernelFn)),
    ),
    composite(
        "rrelu.nn(Tensor(a) input, float lower=0.125, float upper=0.3333333333333333, bool training=False, bool inplace=False) -> Tensor(a)",
        Forms::NN,
        |e, a| {
            let value = *args::tensor(a, 0)?;
            let inplace = args::flag(a, 4);
            if !args::flag(a, 3) {
                let slope = (args::float(a, 1, 0.0) + args::float(a, 2, 0.0)) / 2.0;
                let name = if inplace { "leaky_relu_" } else { "leaky_relu" };
                let result = call(e, name, &[t(value), super::call::f(slope)])?;
                return if inplace { Ok(smallvec![value]) } else { call(e, "contiguous", &[t(result[0])]) };
            }
            let noise = one(e, "rrelu_noise", &[t(value), a[1].clone(), a[2].clone()])?;
            if inplace {
                call(e, "mul_.Tensor", &[t(value), t(noise)])?;
                return Ok(smallvec![value]);
            }
            Ok(smallvec![mul(e, value, t(noise))?])
        },
    ),
];

fn multinomial_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let facts = *args::tensor(a, 0)?;
    let count = args::int(a, 1)?;
    let Some(classes) = facts.dims.last().copied().filter(|_| facts.rank() <= 2) else {
        return Err(OpError::runtime("prob_dist must be 1 or 2 dim"));
    };
    if !facts.dtype.is_float() {
        return Err(OpError::runtime(format!(
            "multinomial only supports floating-point dtypes for input, got: {}",
            facts.dtype.scalar_name()
        )));
    }
    if count <= 0 {
        return Err(OpError::runtime("cannot sample n_sample <= 0 samples"));
    }
    let classes = cx.dims.number(classes)?;
    if !args::flag(a, 2) && classes < count {
        return Err(OpError::runtime("cannot sample n_sample > prob_dist.size(-1) samples without replacement"));
    }
    if classes > 1 << 24 {
        return Err(OpError::runtime("number of categories cannot exceed 2^24"));
    }
    let mut dims = facts.dims.clone();
    if let Some(last) = dims.last_mut() {
        *last = Dim::Is(count);
    }
    rules::fresh(cx, facts, DType::I64, dims)
}

fn multinomial(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let weights = args::tensor(a, 0)?.clone();
    let count = args::int(a, 1)? as usize;
    let wide = write::cast(cx, &weights, DType::F64)?.contiguous()?;
    let wide = wide.elements::<f64>()?;
    let classes = *weights.sizes().last().unwrap_or(&0) as usize;
    let rows = wide.len().checked_div(classes).unwrap_or(0);
    if rows == 0 {
        return Ok(vec![Tensor::zeros(DType::I64, &known(&facts[0].dims)?)]);
    }
    if args::flag(a, 2) && count > 1 {
        let single = weights.dtype() != DType::F64;
        let generator = stream(cx, a, 3)?;
        let mut found = Vec::with_capacity(rows * count);
        for row in wide.chunks_exact(classes) {
            let sums = running_shares(row, single)?;
            found.extend((0..count).map(|_| place(&sums, generator)));
        }
        return Ok(vec![Tensor::from_slice(&found, &known(&facts[0].dims)?)?]);
    }
    if !wide.iter().all(|p| (0.0..f64::INFINITY).contains(p)) {
        return Err(OpError::runtime("probability tensor contains either `inf`, `nan` or element < 0"));
    }
    if wide.chunks_exact(classes).any(|row| row.iter().all(|p| *p == 0.0)) {
        return Err(OpError::runtime("invalid multinomial distribution (sum of probabilities <= 0)"));
    }
    drop(wide);
    // A race: each class arrives after a time that is exponential with its weight as the rate.
    let mut e = EagerEmitter::new(cx);
    let weights = e.value(weights);
    let times = one(&mut e, "empty_like", &[t(weights)])?;
    let times = one(&mut e, "exponential", &[t(times), super::call::f(1.0), a[3].without_tensors()])?;
    let race = one(&mut e, "div.Tensor", &[t(weights), t(times)])?;
    let winners = match count {
        1 => one(&mut e, "argmax", &[t(race), i(-1), Arg::Bool(true)])?,
        _ => call(&mut e, "topk", &[t(race), i(count as i64), i(-1)])?[1],
    };
    Ok(vec![e.tensor(winners).clone()])
}

fn known(dims: &[Dim]) -> Result<Vec<i64>, OpError> {
    dims.iter().map(|d| d.known().ok_or(OpError::DataDependent)).collect()
}

/// The share of the first 1, 2, … weights in the sum of all, added in single precision where `single`; the last is exactly 1.
fn running_shares(weights: &[f64], single: bool) -> Result<Vec<f64>, OpError> {
    let round = |x: f64| if single { f64::from(x as f32) } else { x };
    let mut sum = 0.0;
    let mut sums = Vec::with_capacity(weights.len());
    for weight in weights {
        if *weight < 0.0 {
            return Err(OpError::runtime("invalid multinomial distribution (encountering probability entry < 0)"));
        }
        if !weight.is_finite() {
            return Err(OpError::runtime("invalid multinomial distribution (encountering probability entry = infinity or NaN)"));
        }
        sum = round(sum + weight);
        sums.push(sum);
    }
    if sum <= 0.0 {
        return Err(OpError::runtime("invalid multinomial distribution (sum of probabilities <= 0)"));
    }
    sums.iter_mut().for_each(|x| *x = round(*x / sum));
    if let Some(last) = sums.last_mut() {
        *last = 1.0;
    }
    Ok(sums)
}

/// The class into whose share a uniform number falls.
fn place(sums: &[f64], generator: &mut Twister) -> i64 {
    let draw = generator.uniform_f64();
    sums.partition_point(|sum| *sum < draw) as i64
}

fn poisson(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let rates = write::cast(cx, args::tensor(a, 0)?, DType::F64)?.contiguous()?;
    let rates = rates.elements::<f64>()?;
    if rates.iter().any(|rate| *rate < 0.0 || rate.is_nan()) {
        return Err(OpError::runtime("invalid Poisson rate, expected rate to be non-negative"));
    }
    let generator = stream(cx, a, 1)?;
    let mut rates = rates.iter();
    Ok(vec![drawn(&facts[0], || rates.next().map_or(0.0, |rate| distribution::poisson(generator, *rate)))?])
}

/// One where the element is positive, else a slope between the bounds; nothing is drawn for the former.
fn rrelu_noise(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let single = facts[0].dtype != DType::F64;
    let bound = |k| if single { f64::from(args::float(a, k, 0.0) as f32) } else { args::float(a, k, 0.0) };
    let (lower, upper) = (bound(1), bound(2));
    let values = write::cast(cx, args::tensor(a, 0)?, DType::F64)?.contiguous()?;
    let values = values.elements::<f64>()?;
    let generator = stream(cx, a, 3)?;
    let mut values = values.iter();
    let noise = drawn(&facts[0], || match values.next() {
        Some(x) if *x <= 0.0 => generator.uniform_f64() * (upper - lower) + lower,
        _ => 1.0,
    })?;
    Ok(vec![noise])
}
