//! `torch.nn.functional` forms whose signatures differ from those of the ops they stand for.

use super::{
    args,
    call::{self, call, f, i, one, t},
    define::{composite, samples},
    rules::wrap_dim,
};
use smallvec::smallvec;
use taipan_ir::{
    Arg, Emitter, Op, OpError, Val,
    op::{Forms, Vals},
};

const NN: Forms = Forms::NN;

/// Applies `name` to the arguments, or its writing form where `inplace`; the result is the argument itself then.
fn in_place(e: &mut dyn Emitter, name: &str, a: &[Arg<Val>], inplace: &Arg<Val>) -> Result<Vals, OpError> {
    if matches!(inplace, Arg::Bool(true)) {
        call(e, &format!("{name}_"), a)?;
        return Ok(smallvec![*args::tensor(a, 0)?]);
    }
    call(e, name, a)
}

macro_rules! with_inplace {
    ($($name:literal ($($before:literal)?) $sample:literal;)*) => {
        &[$(
            samples(
                composite(
                    concat!($name, ".nn(Tensor(a) input, ", $($before, ", ",)? "bool inplace=False) -> Tensor(a)"),
                    NN,
                    |e, a| {
                        let last = a.len() - 1;
                        in_place(e, $name, &a[..last], &a[last])
                    },
                ),
                &[$sample],
            ),
        )*]
    };
}

/// Activations that take `inplace`.
pub static ACTIVATIONS: &[Op] = with_inplace! {
    "relu" () "f32[2,3]";
    "relu6" () "f32[2,3]";
    "silu" () "f32[2,3]";
    "mish" () "f32[2,3]";
    "selu" () "f32[2,3]";
    "elu" ("Scalar alpha=1.0") "f32[2,3]";
    "celu" ("Scalar alpha=1.0") "f32[2,3]";
    "leaky_relu" ("Scalar negative_slope=0.01") "f32[2,3], 0.2";
    "hardtanh" ("Scalar min_val=-1.0, Scalar max_val=1.0") "f32[2,3]";
    "hardsigmoid" () "f32[2,3]";
    "hardswish" () "f32[2,3]";
    "threshold" ("Scalar threshold, Scalar value") "f32[2,3], 0.1, 20";
};

/// The op tables of this file.
pub static OPS: &[Op] = &[
    samples(
        composite("softmax.nn(Tensor input, int? dim=None, int _stacklevel=3, ScalarType? dtype=None) -> Tensor", NN, |e, a| {
            let d = implicit_dim(e, a)?;
            call(e, "softmax.int", &[a[0].clone(), i(d), a[3].clone()])
        }),
        &["f32[2,3], -1", "f32[2,3]"],
    ),
    samples(
        composite("log_softmax.nn(Tensor input, int? dim=None, int _stacklevel=3, ScalarType? dtype=None) -> Tensor", NN, |e, a| {
            let d = implicit_dim(e, a)?;
            call(e, "log_softmax.int", &[a[0].clone(), i(d), a[3].clone()])
        }),
        &["f32[2,3], -1"],
    ),
    samples(composite("tanh.nn(Tensor input) -> Tensor", NN, |e, a| call(e, "tanh", a)), &["f32[2,3]"]),
    samples(composite("sigmoid.nn(Tensor input) -> Tensor", NN, |e, a| call(e, "sigmoid", a)), &["f32[2,3]"]),
    samples(
        composite(
            "embedding.nn(Tensor input, Tensor weight, int? padding_idx=None, float? max_norm=None, float norm_type=2.0, bool scale_grad_by_freq=False, bool sparse=False) -> Tensor",
            NN,
            |e, a| {
                if !a[3].is_absent() {
                    return Err(OpError::not_implemented("embedding with max_norm"));
                }
                let padding = match args::optional_int(a, 2)? {
                    None => -1,
                    Some(k) => {
                        let rows = e.facts(*args::tensor(a, 1)?).dims.first().copied().unwrap_or(taipan_ir::Dim::Is(0));
                        let rows = e.dims().number(rows)?;
                        if k >= rows || k < -rows {
                            return Err(OpError::assertion("Padding_idx must be within num_embeddings"));
                        }
                        if k < 0 { k + rows } else { k }
                    }
                };
                call(e, "embedding", &[a[1].clone(), a[0].clone(), i(padding), a[5].clone(), a[6].clone()])
            },
        ),
        &["i64[2,2]%5, f32[5,3]"],
    ),
    samples(
        composite("dropout.nn(Tensor(a) input, float p=0.5, bool training=True, bool inplace=False) -> Tensor(a)", NN, |e, a| {
            let p = args::float(a, 1, 0.5);
            check_probability(p)?;
            dropped(e, *args::tensor(a, 0)?, p, args::flag(a, 2), args::flag(a, 3))
        }),
        &["f32[2,3], 0.5, False"],
    ),
    composite("dropout(Tensor(a) input, float p, bool train) -> Tensor(a)", Forms::FUNCTION, |e, a| {
        let p = args::float(a, 1, 0.5);
        check_probability(p)?;
        dropped(e, *args::tensor(a, 0)?, p, args::flag(a, 2), false)
    }),
    composite("dropout1d(Tensor(a) input, float p=0.5, bool training=True, bool inplace=False) -> Tensor(a)", NN, feature_dropout),
    composite("dropout2d(Tensor(a) input, float p=0.5, bool training=True, bool inplace=False) -> Tensor(a)", NN, feature_dropout),
    composite("dropout3d(Tensor(a) input, float p=0.5, bool training=True, bool inplace=False) -> Tensor(a)", NN, feature_dropout),
];

fn check_probability(p: f64) -> Result<(), OpError> {
    if (0.0..=1.0).contains(&p) {
        return Ok(());
    }
    Err(OpError::value(format!("dropout probability has to be between 0 and 1, but got {}", taipan_ir::number::float_text(p))))
}

/// Elements kept with probability `1 - p` and scaled; the value itself where nothing is dropped.
fn dropped(e: &mut dyn Emitter, value: Val, p: f64, training: bool, inplace: bool) -> Result<Vals, OpError> {
    if !training || p == 0.0 {
        return Ok(smallvec![value]);
    }
    let like = one(e, "empty_like", &[t(value)])?;
    let noise = one(e, "bernoulli.p", &[t(like), f(1.0 - p)])?;
    scaled_noise(e, value, noise, p, inplace)
}

fn scaled_noise(e: &mut dyn Emitter, value: Val, noise: Val, p: f64, inplace: bool) -> Result<Vals, OpError> {
    let noise = if p < 1.0 { call::div(e, noise, f(1.0 - p))? } else { noise };
    if inplace {
        call(e, "mul_.Tensor", &[t(value), t(noise)])?;
        return Ok(smallvec![value]);
    }
    Ok(smallvec![call::mul(e, value, t(noise))?])
}

/// Dropout of whole channels.
fn feature_dropout(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let (value, p) = (*args::tensor(a, 0)?, args::float(a, 1, 0.5));
    check_probability(p)?;
    if !args::flag(a, 2) || p == 0.0 {
        return Ok(smallvec![value]);
    }
    let facts = e.facts(value).clone();
    let shape = facts.dims.iter().enumerate().map(|(k, d)| if k < 2 { *d } else { taipan_ir::Dim::Is(1) });
    let like = one(e, "new_empty", &[t(value), call::dims(shape)])?;
    let noise = one(e, "bernoulli.p", &[t(like), f(1.0 - p)])?;
    scaled_noise(e, value, noise, p, args::flag(a, 3))
}

/// The dim where none was given: PyTorch's old guess from the number of dims.
fn implicit_dim(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<i64, OpError> {
    let rank = e.facts(*args::tensor(a, 0)?).rank();
    let guess = i64::from(!matches!(rank, 0 | 1 | 3));
    let d = args::optional_int(a, 1)?.unwrap_or(guess);
    wrap_dim(d, rank)?;
    Ok(d)
}
