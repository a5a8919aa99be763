//! Zeros and ones by chance: `bernoulli`, and dropout, which multiplies by them.

use super::{
    args,
    call::{self, call, f, n, one, t},
    define::{composite, gradient, mutate, random, samples},
    gradient::zero,
    random_fill::{drawn, in_memory_order, plain_text, stream},
    rules,
};
use crate::{Context, KernelFn, Tensor, layout, write};
use smallvec::smallvec;
use taipan_ir::{
    Arg, DType, Dim, Emitter, Facts, Op, OpError, Val,
    op::{Forms, Kernel, Vals},
};

const NN: Forms = Forms::NN;
const FUNCTION: Forms = Forms::FUNCTION;
const METHOD: Forms = Forms::METHOD;

/// The op tables of this file.
pub static OPS: &[Op] = &[
    gradient(
        random(
            "bernoulli(Tensor self, *, Generator? generator=None) -> Tensor",
            Forms::BOTH,
            |cx, a| {
                let like = *args::tensor(a, 0)?;
                check_probabilities(like.dtype)?;
                rules::like_first(cx, a)
            },
            Kernel(&(bernoulli as KernelFn)),
        ),
        "",
        zero,
    ),
    gradient(
        random(
            "bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor",
            Forms::BOTH,
            |cx, a| {
                check_probability(args::float(a, 1, 0.5))?;
                rules::like_first(cx, a)
            },
            Kernel(&(bernoulli_p as KernelFn)),
        ),
        "",
        zero,
    ),
    random(
        "bernoulli_fill(Tensor self, float p=0.5, *, Generator? generator=None) -> Tensor",
        Forms::INTERNAL,
        |cx, a| {
            check_probability(args::float(a, 1, 0.5))?;
            in_memory_order(cx, a)
        },
        Kernel(&(bernoulli_p as KernelFn)),
    ),
    gradient(
        random(
            "bernoulli.Tensor(Tensor self, Tensor p, *, Generator? generator=None) -> Tensor",
            Forms::INTERNAL,
            |cx, a| {
                let (like, p) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
                check_probabilities(p.dtype)?;
                if rules::broadcast_pair(cx.dims, &like.dims, &p.dims).ok().as_ref() != Some(&like.dims) {
                    return Err(OpError::runtime(format!(
                        "The expanded size of the tensor {} doesn't match {}",
                        rules::shown(&like.dims),
                        rules::shown(&p.dims)
                    )));
                }
                in_memory_order(cx, a)
            },
            Kernel(&(bernoulli_of_tensor as KernelFn)),
        ),
        "",
        zero,
    ),
    mutate("bernoulli_.Tensor(Tensor(a!) self, Tensor p, *, Generator? generator=None) -> Tensor(a!)", METHOD, "bernoulli.Tensor"),
    mutate("bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> Tensor(a!)", METHOD, "bernoulli_fill"),
    samples(
        composite("dropout.nn(Tensor(a) input, float p=0.5, bool training=True, bool inplace=False) -> Tensor(a)", NN, |e, a| {
            Dropout::checked(a, Noise::Elements)?.apply(e, a, args::flag(a, 3))
        }),
        &["f32[2,3], 0.5, False"],
    ),
    composite("dropout1d(Tensor(a) input, float p=0.5, bool training=True, bool inplace=False) -> Tensor(a)", NN, |e, a| {
        let unbatched = e.facts(*args::tensor(a, 0)?).rank() == 2;
        channel_dropout(e, a, unbatched)
    }),
    composite("dropout2d(Tensor(a) input, float p=0.5, bool training=True, bool inplace=False) -> Tensor(a)", NN, |e, a| {
        channel_dropout(e, a, false)
    }),
    composite("dropout3d(Tensor(a) input, float p=0.5, bool training=True, bool inplace=False) -> Tensor(a)", NN, |e, a| {
        let unbatched = e.facts(*args::tensor(a, 0)?).rank() == 4;
        channel_dropout(e, a, unbatched)
    }),
    composite("alpha_dropout.nn(Tensor(a) input, float p=0.5, bool training=False, bool inplace=False) -> Tensor(a)", NN, |e, a| {
        Dropout::checked(a, Noise::Alpha)?.apply(e, a, args::flag(a, 3))
    }),
    composite(
        "feature_alpha_dropout.nn(Tensor(a) input, float p=0.5, bool training=False, bool inplace=False) -> Tensor(a)",
        NN,
        |e, a| Dropout::checked(a, Noise::AlphaChannels)?.apply(e, a, args::flag(a, 3)),
    ),
    composite("dropout(Tensor(a) input, float p, bool train) -> Tensor(a)", FUNCTION, |e, a| {
        Dropout::of(a, Noise::Elements)?.apply(e, a, false)
    }),
    composite("feature_dropout(Tensor(a) input, float p, bool train) -> Tensor(a)", FUNCTION, |e, a| {
        Dropout::of(a, Noise::Channels)?.apply(e, a, false)
    }),
    composite("alpha_dropout(Tensor(a) input, float p, bool train) -> Tensor(a)", FUNCTION, |e, a| {
        Dropout::of(a, Noise::Alpha)?.apply(e, a, false)
    }),
    composite("feature_alpha_dropout(Tensor(a) input, float p, bool train) -> Tensor(a)", FUNCTION, |e, a| {
        Dropout::of(a, Noise::AlphaChannels)?.apply(e, a, false)
    }),
    composite("dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)", FUNCTION, |e, a| {
        Dropout::of(a, Noise::Elements)?.apply(e, a, true)
    }),
    composite("feature_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)", FUNCTION, |e, a| {
        Dropout::of(a, Noise::Channels)?.apply(e, a, true)
    }),
    composite("alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)", FUNCTION, |e, a| {
        Dropout::of(a, Noise::Alpha)?.apply(e, a, true)
    }),
    composite("feature_alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)", FUNCTION, |e, a| {
        Dropout::of(a, Noise::AlphaChannels)?.apply(e, a, true)
    }),
    composite("native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)", FUNCTION, |e, a| {
        let (value, p) = (*args::tensor(a, 0)?, args::float(a, 1, 0.5));
        if !(args::flag(a, 2) || a[2].is_absent()) {
            let mask = one(e, "ones_like", &[t(value), Arg::DType(DType::Bool)])?;
            return Ok(smallvec![value, mask]);
        }
        let like = one(e, "empty_like", &[t(value), Arg::DType(DType::Bool)])?;
        let mask = one(e, "bernoulli_fill", &[t(like), f(1.0 - p)])?;
        let kept = call::mul(e, value, t(mask))?;
        let scale = if p < 1.0 { 1.0 / (1.0 - p) } else { 0.0 };
        Ok(smallvec![call::mul(e, kept, f(scale))?, mask])
    }),
];

fn check_probability(p: f64) -> Result<(), OpError> {
    if (0.0..=1.0).contains(&p) {
        return Ok(());
    }
    Err(OpError::runtime(format!("bernoulli_ expects p to be in [0, 1], but got p={}", plain_text(p))))
}

fn check_probabilities(dtype: DType) -> Result<(), OpError> {
    if dtype.is_float() {
        return Ok(());
    }
    Err(OpError::not_implemented(format!("\"bernoulli_tensor_cpu_p_\" not implemented for '{}'", dtype.scalar_name())))
}

fn bernoulli_p(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let p = args::float(a, 1, 0.5);
    let generator = stream(cx, a, 2)?;
    Ok(vec![drawn(&facts[0], || f64::from(u8::from(generator.uniform_f64() < p)))?])
}

fn bernoulli(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let probabilities = args::tensor(a, 0)?.clone();
    masked(cx, a, &probabilities, 1, &facts[0])
}

fn bernoulli_of_tensor(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let probabilities = args::tensor(a, 1)?.clone();
    masked(cx, a, &probabilities, 2, &facts[0])
}

/// Ones with these probabilities, drawn in the order of the result's memory.
fn masked(cx: &mut Context, a: &[Arg<Tensor>], probabilities: &Tensor, at: usize, facts: &Facts) -> Result<Vec<Tensor>, OpError> {
    let double = probabilities.dtype() == DType::F64;
    let wide = write::cast(cx, probabilities, DType::F64)?;
    let known = |dims: &[Dim]| -> Result<Vec<i64>, OpError> { dims.iter().map(|d| d.known().ok_or(OpError::DataDependent)).collect() };
    let (sizes, strides) = (known(&facts.dims)?, known(&facts.strides)?);
    let wide = wide.broadcast_to(&sizes);
    // The dims of the result from the outermost in memory to the innermost.
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|d| (std::cmp::Reverse(strides[*d]), sizes[*d] == 1));
    let wide = wide.permuted(&order);
    let mut chances = vec![0.0; layout::numel(&sizes)];
    layout::gather(&wide.read::<f64>()?, wide.sizes(), wide.strides(), wide.offset(), &mut chances);
    if chances.iter().any(|p| !(0.0..=1.0).contains(p)) {
        return Err(OpError::runtime(
            "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  If so, please report an enhancement request to PyTorch.)",
        ));
    }
    let generator = stream(cx, a, at)?;
    let mut chances = chances.into_iter();
    let out = drawn(facts, || {
        let p = chances.next().unwrap_or(0.0);
        let draw = if double { generator.uniform_f64() } else { f64::from(generator.uniform_f32()) };
        f64::from(u8::from(draw < p))
    })?;
    Ok(vec![out])
}

/// What is dropped together, and what becomes of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Noise {
    /// Single elements become zero.
    Elements,
    /// Whole channels become zero.
    Channels,
    /// Single elements become the value SELU has at minus infinity.
    Alpha,
    /// The same for whole channels.
    AlphaChannels,
}

/// One dropout, with the arguments `input, p, training` of its op.
struct Dropout {
    noise: Noise,
    p: f64,
    training: bool,
}

impl Dropout {
    /// As `torch.dropout` checks it.
    fn of(a: &[Arg<Val>], noise: Noise) -> Result<Dropout, OpError> {
        let p = args::float(a, 1, 0.5);
        if (0.0..=1.0).contains(&p) {
            return Ok(Dropout { noise, p, training: args::flag(a, 2) });
        }
        Err(OpError::runtime(format!("dropout probability has to be between 0 and 1, but got {}", plain_text(p))))
    }

    /// As `torch.nn.functional` checks it.
    fn checked(a: &[Arg<Val>], noise: Noise) -> Result<Dropout, OpError> {
        Dropout::of(a, noise).map_err(|_| {
            let p = taipan_ir::number::Number::Float(args::float(a, 1, 0.5));
            OpError::value(format!("dropout probability has to be between 0 and 1, but got {p}"))
        })
    }

    /// The value itself where nothing is dropped, or where it is written in place.
    fn apply(&self, e: &mut dyn Emitter, a: &[Arg<Val>], inplace: bool) -> Result<Vals, OpError> {
        let (value, p) = (*args::tensor(a, 0)?, self.p);
        if !self.training || p == 0.0 || is_empty(e, value)? {
            return Ok(smallvec![value]);
        }
        let dtype = e.facts(value).dtype;
        if p < 1.0 && !dtype.has_gradients() {
            return Err(OpError::runtime(format!("result type Float can't be cast to the desired output type {}", dtype.scalar_name())));
        }
        let multiply = |e: &mut dyn Emitter, factor: Val| match inplace {
            true => call(e, "mul_.Tensor", &[t(value), t(factor)]).map(|_| value),
            false => call::mul(e, value, t(factor)),
        };
        if p == 1.0 {
            let nothing = one(e, "new_zeros", &[t(value), call::ints([])])?;
            return Ok(smallvec![multiply(e, nothing)?]);
        }
        let noise = self.draw(e, value)?;
        if matches!(self.noise, Noise::Elements | Noise::Channels) {
            let scaled = call::div(e, noise, f(1.0 - p))?;
            return Ok(smallvec![multiply(e, scaled)?]);
        }
        const ALPHA: f64 = 1.758_099_340_847_376_6;
        let scale = 1.0 / ((ALPHA * ALPHA * p + 1.0) * (1.0 - p)).sqrt();
        let shift = call::add(e, noise, n(-1))?;
        let shift = call::mul(e, shift, f(ALPHA * scale))?;
        let shift = call::add(e, shift, f(ALPHA * scale * p))?;
        let scaled = call::mul(e, noise, f(scale))?;
        let product = multiply(e, scaled)?;
        if inplace {
            call(e, "add_.Tensor", &[t(value), t(shift)])?;
            return Ok(smallvec![value]);
        }
        Ok(smallvec![call::add(e, product, t(shift))?])
    }

    /// Ones for what is kept.
    fn draw(&self, e: &mut dyn Emitter, value: Val) -> Result<Val, OpError> {
        // Complex numbers are kept or dropped whole.
        let real = match e.facts(value).dtype {
            dtype if dtype.is_complex() => Arg::DType(dtype.real()),
            _ => Arg::Absent,
        };
        let like = match self.noise {
            Noise::Elements | Noise::Alpha => one(e, "empty_like", &[t(value), real])?,
            Noise::Channels | Noise::AlphaChannels => {
                let facts = e.facts(value).clone();
                if facts.rank() < 2 {
                    return Err(OpError::runtime("Feature dropout requires at least 2 dimensions in the input"));
                }
                let shape = facts.dims.iter().enumerate().map(|(k, d)| if k < 2 { *d } else { Dim::Is(1) });
                one(e, "new_empty", &[t(value), call::dims(shape), real])?
            }
        };
        one(e, "bernoulli_fill", &[t(like), f(1.0 - self.p)])
    }
}

fn is_empty(e: &mut dyn Emitter, value: Val) -> Result<bool, OpError> {
    for dim in e.facts(value).dims.clone() {
        if e.dims().decide(taipan_ir::dims::Rel::Eq, dim, Dim::Is(0))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Dropout of whole channels; an input without a batch is given one for the time being.
fn channel_dropout(e: &mut dyn Emitter, a: &[Arg<Val>], unbatched: bool) -> Result<Vals, OpError> {
    let dropout = Dropout::checked(a, Noise::Channels)?;
    let inplace = args::flag(a, 3);
    if !unbatched {
        return dropout.apply(e, a, inplace);
    }
    let mut batched = a.to_vec();
    batched[0] = t(one(e, "unsqueeze", &[a[0].clone(), call::i(0)])?);
    let dropped = dropout.apply(e, &batched, inplace)?;
    if inplace {
        return Ok(smallvec![*args::tensor(a, 0)?]);
    }
    call(e, "squeeze.dim", &[t(dropped[0]), call::i(0)])
}
