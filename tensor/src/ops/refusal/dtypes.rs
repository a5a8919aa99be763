//! Element types that an op doesn't take.

use super::{Checked, numbers};
use crate::ops::args;
use taipan_ir::{
    Arg, DType, Facts, OpError,
    op::{Promotion, RuleContext},
    promote,
};

/// The name that texts about C++ types use: `long int` for [`DType::I64`].
pub const fn scalar_type_name(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::U8 => "unsigned char",
        DType::I8 => "signed char",
        DType::I16 => "short int",
        DType::I32 => "int",
        DType::I64 => "long int",
        DType::F16 => "c10::Half",
        DType::BF16 => "c10::BFloat16",
        DType::F32 => "float",
        DType::F64 => "double",
        DType::C64 => "c10::complex<float>",
        DType::C128 => "c10::complex<double>",
    }
}

fn integral(dtype: DType) -> bool {
    dtype == DType::Bool || numbers::integer_range(dtype).is_some()
}

/// The refusal of a kernel that has no code for a type.
pub fn not_implemented(kernel: &str, dtype: DType) -> OpError {
    OpError::not_implemented(format!("\"{kernel}\" not implemented for '{}'", dtype.scalar_name()))
}

/// Argument 0 must not be of integers or bools.
pub fn floats(a: &[Arg<&Facts>], kernel: &str) -> Checked {
    let dtype = args::tensor(a, 0)?.dtype;
    if integral(dtype) { Err(not_implemented(kernel, dtype)) } else { Ok(()) }
}

/// Argument 0 must not be of bools.
pub fn numbers_only(a: &[Arg<&Facts>], kernel: &str) -> Checked {
    no_bools(a, || not_implemented(kernel, DType::Bool))
}

/// As [`numbers_only`], with a text of its own.
pub fn no_bools(a: &[Arg<&Facts>], refusal: impl FnOnce() -> OpError) -> Checked {
    if args::tensor(a, 0)?.dtype == DType::Bool { Err(refusal()) } else { Ok(()) }
}

/// No bools for clamps between fixed bounds.
pub fn hardtanh(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    no_bools(a, || OpError::not_implemented("Bool inputs not supported for hardtanh"))?;
    if args::float(a, 1, -1.0) > args::float(a, 2, 1.0) {
        return Err(OpError::value("min_val cannot be greater than max_val"));
    }
    if integral(args::tensor(a, 0)?.dtype) {
        return Ok(());
    }
    numbers::element::<1>(cx, a)?;
    numbers::element::<2>(cx, a)
}

/// As [`hardtanh`], between 0 and 6.
pub fn hardtanh_fixed(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    no_bools(a, || OpError::not_implemented("Bool inputs not supported for hardtanh"))
}

/// `celu` divides by its alpha.
pub fn celu(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    if args::float(a, 1, 1.0) == 0.0 {
        return Err(OpError::runtime("ZeroDivisionError: alpha cannot be 0 for CELU"));
    }
    floats(a, "elu_cpu")?;
    numbers::operand::<1>(cx, a)
}

/// The approximation of `gelu` must be one there is.
pub fn gelu(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    if !matches!(args::text(a, 1), "none" | "tanh") {
        return Err(OpError::runtime("approximate argument must be either none or tanh."));
    }
    floats(a, "GeluKernelImpl")
}

/// `round` to decimals is one of floats.
pub fn round(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    match args::int(a, 1)? {
        0 => numbers_only(a, "round_vml_cpu"),
        _ => floats(a, "round_cpu"),
    }
}

/// `addcdiv` divides, so not integers.
pub fn addcdiv(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    if integral(args::tensor(a, 1)?.dtype) && integral(args::tensor(a, 2)?.dtype) {
        return Err(OpError::runtime(
            "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) for float inputs. The future addcdiv behavior is just the latter implementation: (input + value * tensor1 / tensor2), for all dtypes.",
        ));
    }
    numbers::value_of_three(cx, a)
}

/// The exponent of a power, and bools to bools, which have no power.
pub fn pow(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    if matches!(a[1], Arg::Tensor(_)) && promote::types(Promotion::Common, a, cx.default_float).result == DType::Bool {
        return Err(not_implemented("pow", DType::Bool));
    }
    numbers::exponent(cx, a)
}

/// `logaddexp` is one of floats.
pub fn logaddexp(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let dtype = promote::types(Promotion::Common, a, cx.default_float).result;
    if integral(dtype) { Err(not_implemented("logaddexp_cpu", dtype)) } else { Ok(()) }
}

/// `heaviside` doesn't promote.
pub fn heaviside(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    if args::tensor(a, 0)?.dtype != args::tensor(a, 1)?.dtype {
        return Err(OpError::runtime("heaviside is not yet implemented for tensors with different dtypes."));
    }
    Ok(())
}

/// The weight of `lerp`, where it is a tensor, has the dtype of what it weighs.
pub fn lerp(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let (start, end) = (args::tensor(a, 0)?.dtype, args::tensor(a, 1)?.dtype);
    let refused = |what: &str, dtype: DType| {
        OpError::runtime(format!("expected dtype {} for `{what}` but got dtype {}", scalar_type_name(start), scalar_type_name(dtype)))
    };
    if start != end {
        return Err(refused("end", end));
    }
    match a[2] {
        Arg::Tensor(weight) if weight.dtype != start => Err(refused("weight", weight.dtype)),
        _ => Ok(()),
    }
}

fn products(dtype: DType, other: DType, kernel: &str) -> Checked {
    if dtype == DType::Bool && other == DType::Bool { Err(not_implemented(kernel, DType::Bool)) } else { Ok(()) }
}

/// Products of matrices are none of bools.
pub fn matrices(a: &[Arg<&Facts>], kernel: &str) -> Checked {
    products(args::tensor(a, 0)?.dtype, args::tensor(a, 1)?.dtype, kernel)
}

/// As [`matrices`], by the product that `matmul` comes to.
pub fn matmul(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let (x, y) = (args::tensor(a, 0)?, args::tensor(a, 1)?);
    let kernel = match (x.rank(), y.rank()) {
        (1, 1) => "dot",
        (_, 1) | (1, 2) => "addmv_impl_cpu",
        (_, 2) => "addmm_impl_cpu_",
        _ => "bmm",
    };
    products(x.dtype, y.dtype, kernel)
}

/// `linear`: no bools, a bias of the same dtype and of no more dims than a product of matrices takes.
pub fn linear(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let (x, weight) = (args::tensor(a, 0)?, args::tensor(a, 1)?);
    products(x.dtype, weight.dtype, "addmm_impl_cpu_")?;
    let Some(bias) = args::optional_tensor(a, 2) else { return Ok(()) };
    if weight.rank() == 1 {
        return Err(OpError::runtime("addmm: mat2 must be a matrix, got 1-D tensor"));
    }
    if x.dtype == weight.dtype && bias.dtype != x.dtype { Err(mixed(bias.dtype, x.dtype)) } else { Ok(()) }
}

/// `nanmean` is one of floats.
pub fn nanmean(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let dtype = args::tensor(a, 0)?.dtype;
    if integral(dtype) {
        return Err(OpError::not_implemented(format!(
            "nanmean(): expected input to have floating point or complex dtype but got {}",
            dtype.scalar_name()
        )));
    }
    Ok(())
}

/// What a product is added to has the dtype of its factors, and they have one.
pub fn added_product(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let (own, first, second) = (args::tensor(a, 0)?.dtype, args::tensor(a, 1)?.dtype, args::tensor(a, 2)?.dtype);
    if first != second {
        return Err(OpError::runtime(format!(
            "mat1 and mat2 must have the same dtype, but got {} and {}",
            first.scalar_name(),
            second.scalar_name()
        )));
    }
    if own != first { Err(mixed(own, first)) } else { Ok(()) }
}

/// The refusal of a sum of matrices of two types.
pub fn mixed(own: DType, other: DType) -> OpError {
    OpError::runtime(format!("self and mat2 must have the same dtype, but got {} and {}", own.scalar_name(), other.scalar_name()))
}

/// As [`added_product`] for `addmv`.
pub fn added_vector(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let [own, matrix, vector] = [args::tensor(a, 0)?.dtype, args::tensor(a, 1)?.dtype, args::tensor(a, 2)?.dtype];
    if own != matrix || own != vector {
        return Err(OpError::runtime(format!(
            "addmv input tensors must have the same dtype, but got {}, {}, and {}",
            own.scalar_name(),
            matrix.scalar_name(),
            vector.scalar_name()
        )));
    }
    Ok(())
}
