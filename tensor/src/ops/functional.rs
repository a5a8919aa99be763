//! `torch.nn.functional` forms whose signatures differ from those of the ops they stand for.

use super::{
    args,
    call::{call, i},
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
];

/// The dim where none was given: PyTorch's old guess from the number of dims.
fn implicit_dim(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<i64, OpError> {
    let rank = e.facts(*args::tensor(a, 0)?).rank();
    let guess = i64::from(!matches!(rank, 0 | 1 | 3));
    let d = args::optional_int(a, 1)?.unwrap_or(guess);
    wrap_dim(d, rank)?;
    Ok(d)
}
