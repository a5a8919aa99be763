//! `torch._foreach_*`: one op over each tensor of a list, as optimisers write their steps.

use super::{
    args,
    call::{call, f, one, t},
    define::{composite, samples},
};
use taipan_ir::{
    Arg, Emitter, Op, OpError, Val,
    op::{Forms, Vals},
};

const FUNCTION: Forms = Forms::FUNCTION;

/// What stands beside each tensor of the list: one argument for all, or one of a list for each.
fn beside(a: &[Arg<Val>], k: usize, count: usize, index: usize) -> Result<Arg<Val>, OpError> {
    let apart = |other: usize| Err(OpError::runtime(format!("Tensor lists must have the same number of tensors, got {count} and {other}")));
    match &a[k] {
        Arg::Tensors(list) if list.len() != count => apart(list.len()),
        Arg::Tensors(list) => Ok(t(list[index])),
        Arg::Floats(list) if list.len() != count => apart(list.len()),
        Arg::Floats(list) => Ok(f(list[index])),
        other => Ok(other.clone()),
    }
}

/// Calls `name` for each tensor of argument 0 with what stands beside it.
fn each(e: &mut dyn Emitter, a: &[Arg<Val>], name: &str) -> Result<Vals, OpError> {
    let list = args::tensors(a, 0)?;
    if list.is_empty() {
        return Err(OpError::runtime("Tensor list must have at least one tensor."));
    }
    let mut out = Vals::new();
    for (index, value) in list.iter().enumerate() {
        let mut all = vec![t(*value)];
        for k in 1..a.len() {
            all.push(beside(a, k, list.len(), index)?);
        }
        out.push(one(e, name, &all)?);
    }
    Ok(out)
}

/// For each row the op over lists and the one that writes into them: name, overload, parameters behind the list, what each calls. A row
/// for one tensor stands before that for a list, which a lone tensor at the end of a call would be taken for.
macro_rules! pairs {
    ($($name:literal $overload:literal $params:literal $op:literal $write:literal;)*) => {
        &[$(
            composite(concat!("_foreach_", $name, $overload, "(Tensor[] self", $params, ") -> Tensor[]"), FUNCTION, |e, a| each(e, a, $op)),
            composite(concat!("_foreach_", $name, "_", $overload, "(Tensor[] self", $params, ") -> ()"), FUNCTION, |e, a| {
                each(e, a, $write).map(|_| Vals::new())
            }),
        )*]
    };
}

macro_rules! functions {
    ($($name:literal)*) => {
        &[$(
            composite(concat!("_foreach_", $name, "(Tensor[] self) -> Tensor[]"), FUNCTION, |e, a| each(e, a, $name)),
            composite(concat!("_foreach_", $name, "_(Tensor[] self) -> ()"), FUNCTION, |e, a| {
                each(e, a, concat!($name, "_")).map(|_| Vals::new())
            }),
        )*]
    };
}

/// Arithmetic.
pub static ARITHMETIC: &[Op] = pairs! {
    "add" ".Scalar" ", Scalar scalar" "add.Tensor" "add_.Tensor";
    "add" ".Tensor" ", Tensor other, *, Scalar alpha=1" "add.Tensor" "add_.Tensor";
    "add" ".List" ", Tensor[] other, *, Scalar alpha=1" "add.Tensor" "add_.Tensor";
    "add" ".ScalarList" ", Scalar[] scalars" "add.Tensor" "add_.Tensor";
    "sub" ".Scalar" ", Scalar scalar" "sub.Tensor" "sub_.Tensor";
    "sub" ".List" ", Tensor[] other, *, Scalar alpha=1" "sub.Tensor" "sub_.Tensor";
    "sub" ".ScalarList" ", Scalar[] scalars" "sub.Tensor" "sub_.Tensor";
    "mul" ".Scalar" ", Scalar scalar" "mul.Tensor" "mul_.Tensor";
    "mul" ".Tensor" ", Tensor other" "mul.Tensor" "mul_.Tensor";
    "mul" ".List" ", Tensor[] other" "mul.Tensor" "mul_.Tensor";
    "mul" ".ScalarList" ", Scalar[] scalars" "mul.Tensor" "mul_.Tensor";
    "div" ".Scalar" ", Scalar scalar" "div.Tensor" "div_.Tensor";
    "div" ".Tensor" ", Tensor other" "div.Tensor" "div_.Tensor";
    "div" ".List" ", Tensor[] other" "div.Tensor" "div_.Tensor";
    "div" ".ScalarList" ", Scalar[] scalars" "div.Tensor" "div_.Tensor";
    "clamp_max" ".Scalar" ", Scalar scalar" "clamp_max" "clamp_max_";
    "clamp_max" ".List" ", Tensor[] other" "clamp_max" "clamp_max_";
    "clamp_max" ".ScalarList" ", Scalar[] scalars" "clamp_max" "clamp_max_";
    "clamp_min" ".Scalar" ", Scalar scalar" "clamp_min" "clamp_min_";
    "clamp_min" ".List" ", Tensor[] other" "clamp_min" "clamp_min_";
    "clamp_min" ".ScalarList" ", Scalar[] scalars" "clamp_min" "clamp_min_";
    "maximum" ".Scalar" ", Scalar scalar" "clamp_min" "clamp_min_";
    "maximum" ".List" ", Tensor[] other" "clamp_min" "clamp_min_";
    "maximum" ".ScalarList" ", Scalar[] scalars" "clamp_min" "clamp_min_";
    "minimum" ".Scalar" ", Scalar scalar" "clamp_max" "clamp_max_";
    "minimum" ".List" ", Tensor[] other" "clamp_max" "clamp_max_";
    "minimum" ".ScalarList" ", Scalar[] scalars" "clamp_max" "clamp_max_";
    "pow" ".Scalar" ", Scalar exponent" "pow.Tensor_Tensor" "pow_.Tensor_Tensor";
    "pow" ".List" ", Tensor[] exponent" "pow.Tensor_Tensor" "pow_.Tensor_Tensor";
    "pow" ".ScalarList" ", Scalar[] exponent" "pow.Tensor_Tensor" "pow_.Tensor_Tensor";
    "lerp" ".List" ", Tensor[] tensors1, Tensor[] weights" "lerp.Tensor" "lerp_.Tensor";
    "lerp" ".Scalar" ", Tensor[] tensors1, Scalar weight" "lerp.Tensor" "lerp_.Tensor";
    "lerp" ".ScalarList" ", Tensor[] tensors1, Scalar[] weight" "lerp.Tensor" "lerp_.Tensor";
    "addcmul" ".Scalar" ", Tensor[] tensor1, Tensor[] tensor2, Scalar value=1" "addcmul" "addcmul_";
    "addcmul" ".ScalarList" ", Tensor[] tensor1, Tensor[] tensor2, Scalar[] scalars" "addcmul" "addcmul_";
    "addcdiv" ".Scalar" ", Tensor[] tensor1, Tensor[] tensor2, Scalar value=1" "addcdiv" "addcdiv_";
    "addcdiv" ".ScalarList" ", Tensor[] tensor1, Tensor[] tensor2, Scalar[] scalars" "addcdiv" "addcdiv_";
};

/// Functions of one element.
pub static FUNCTIONS: &[Op] = functions! {
    "abs" "acos" "asin" "atan" "ceil" "cos" "cosh" "erf" "erfc" "exp" "expm1" "floor" "frac" "lgamma" "log" "log10" "log1p" "log2" "neg"
    "reciprocal" "round" "rsqrt" "sigmoid" "sign" "sin" "sinh" "sqrt" "tan" "tanh" "trunc"
};

/// What has one form only, or another shape.
pub static OPS: &[Op] = &[
    samples(
        composite("_foreach_norm.Scalar(Tensor[] self, Scalar ord=2, ScalarType? dtype=None) -> Tensor[]", FUNCTION, |e, a| {
            let list = args::tensors(a, 0)?;
            list.iter().map(|v| one(e, "linalg_vector_norm", &[t(*v), a[1].clone(), Arg::Absent, Arg::Bool(false), a[2].clone()])).collect()
        }),
        &["[f32[2,3], f32[4]]", "[f32[2,3], f32[4]], 1"],
    ),
    samples(composite("_foreach_max(Tensor[] self) -> Tensor[]", FUNCTION, |e, a| each(e, a, "max")), &["[f32[2,3], f32[4]]"]),
    composite("_foreach_copy(Tensor[] self, Tensor[] src, bool non_blocking=False) -> Tensor[]", FUNCTION, |e, a| each(e, a, "copy")),
    composite("_foreach_copy_(Tensor[] self, Tensor[] src, bool non_blocking=False) -> ()", FUNCTION, |e, a| {
        each(e, a, "copy_").map(|_| Vals::new())
    }),
    composite("_foreach_zero_(Tensor[] self) -> ()", FUNCTION, |e, a| each(e, a, "zero_").map(|_| Vals::new())),
    composite("_foreach_pow.ScalarAndTensor(Scalar self, Tensor[] exponent) -> Tensor[]", FUNCTION, |e, a| {
        let list = args::tensors(a, 1)?;
        list.iter().map(|v| one(e, "pow.Scalar", &[a[0].clone(), t(*v)])).collect()
    }),
    composite("_foreach_addcmul_.Tensor(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Tensor scalars) -> ()", FUNCTION, |e, a| {
        scaled_by_tensor(e, a, "addcmul_")
    }),
    composite("_foreach_addcdiv_.Tensor(Tensor[] self, Tensor[] tensor1, Tensor[] tensor2, Tensor scalars) -> ()", FUNCTION, |e, a| {
        scaled_by_tensor(e, a, "addcdiv_")
    }),
];

/// `self + scalar * (tensor1 op tensor2)` with the scalars in a vector.
fn scaled_by_tensor(e: &mut dyn Emitter, a: &[Arg<Val>], name: &str) -> Result<Vals, OpError> {
    let scalars = call(e, "unbind.int", &a[3..4])?;
    let list = args::tensors(a, 0)?;
    for (index, value) in list.iter().enumerate() {
        let scalar = scalars.get(index).copied().ok_or_else(|| {
            OpError::runtime(format!(
                "Expected length of scalars to match input of length {} but got {} instead.",
                list.len(),
                scalars.len()
            ))
        })?;
        let (left, right) = (beside(a, 1, list.len(), index)?, beside(a, 2, list.len(), index)?);
        let left = one(e, "mul.Tensor", &[left, t(scalar)])?;
        one(e, name, &[t(*value), t(left), right])?;
    }
    Ok(Vals::new())
}
