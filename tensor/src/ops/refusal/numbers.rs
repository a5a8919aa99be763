//! Numbers that don't fit the elements they are to become, compare with, or scale.

use super::{Checked, dtypes::scalar_type_name};
use crate::ops::args;
use taipan_ir::{
    Arg, DType, Facts, Number, OpError,
    op::{Promotion, RuleContext},
    promote::{self, compute_type},
};

/// The least and greatest value of an integer type; of others `None`.
pub const fn integer_range(dtype: DType) -> Option<(i64, i64)> {
    match dtype {
        DType::U8 => Some((0, 255)),
        DType::I8 => Some((i8::MIN as i64, i8::MAX as i64)),
        DType::I16 => Some((i16::MIN as i64, i16::MAX as i64)),
        DType::I32 => Some((i32::MIN as i64, i32::MAX as i64)),
        DType::I64 => Some((i64::MIN, i64::MAX)),
        _ => None,
    }
}

/// The greatest finite value of a float type; of others `None`.
pub const fn greatest_float(dtype: DType) -> Option<f64> {
    match dtype {
        DType::F16 => Some(65504.0),
        // 2^127 · (2 - 2^-7)
        DType::BF16 => Some(3.389_531_389_251_535_5e38),
        DType::F32 => Some(f32::MAX as f64),
        DType::F64 => Some(f64::MAX),
        _ => None,
    }
}

fn overflows(number: Number, dtype: DType) -> bool {
    if let Some((least, greatest)) = integer_range(dtype) {
        return match number {
            // Unsigned types take negative integers whose magnitude they hold, and wrap them around.
            Number::Int(n) if dtype == DType::U8 => n > greatest || n < -greatest,
            Number::Int(n) => n < least || n > greatest,
            // What is left of a fraction is what counts, but not below zero; NaN fits nothing.
            Number::Float(x) => !(x >= least as f64 && x.trunc() < greatest as f64 + 1.0),
            _ => false,
        };
    }
    let Some(greatest) = greatest_float(dtype) else { return false };
    match number {
        Number::Int(n) => (n as f64).abs() > greatest,
        Number::Float(x) => x.is_finite() && x.abs() > greatest,
        _ => false,
    }
}

/// Fails where `number` can't become an element of this type.
pub fn representable(number: Number, dtype: DType) -> Checked {
    if !overflows(number, dtype) {
        return Ok(());
    }
    let name = match dtype {
        DType::U8 => "uint8_t",
        DType::I8 => "int8_t",
        DType::I16 => "int16_t",
        DType::I32 => "int",
        DType::I64 => "int64_t",
        other => scalar_type_name(other),
    };
    Err(OpError::runtime(format!("value cannot be converted to type {name} without overflow")))
}

fn checked(a: &[Arg<&Facts>], i: usize, dtype: DType) -> Checked {
    match a.get(i) {
        Some(Arg::Tensor(_)) | None => Ok(()),
        Some(_) => args::number(a, i).map_or(Ok(()), |number| representable(number, dtype)),
    }
}

/// Argument `I` becomes an element of argument 0.
pub fn element<const I: usize>(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    checked(a, I, args::tensor(a, 0)?.dtype)
}

/// Argument `I` is computed with in the type in which elements of argument 0 are.
pub fn operand<const I: usize>(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    checked(a, I, compute_type(args::tensor(a, 0)?.dtype))
}

/// Argument `VALUE` becomes an element of the dtype that argument `DTYPE` says; where it says none, of that of argument 0, if that is a
/// tensor, or of the number itself.
pub fn filling<const VALUE: usize, const DTYPE: usize>(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let Some(number) = args::number(a, VALUE) else { return Ok(()) };
    let like = args::optional_tensor(a, 0).map(|f| f.dtype);
    representable(number, args::dtype(a, DTYPE).or(like).unwrap_or(number.dtype(cx.default_float)))
}

/// `scalar_tensor`: half types take anything, as infinity where need be.
pub fn lone(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    match args::dtype(a, 1).unwrap_or(cx.default_float) {
        dtype if dtype.is_half() => Ok(()),
        dtype => checked(a, 0, dtype),
    }
}

/// Argument 2 scales elements of the type to which the first two arguments promote.
pub fn alpha(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    checked(a, 2, promote::types(Promotion::Common, &a[..2], cx.default_float).result)
}

/// Argument 3 scales elements of the type to which the first three arguments promote.
pub fn value_of_three(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    checked(a, 3, compute_type(promote::types(Promotion::Common, &a[..3], cx.default_float).result))
}

/// The alternatives of `where`.
pub fn alternatives(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let dtype = compute_type(promote::types(Promotion::Select, a, cx.default_float).result);
    checked(a, 1, dtype)?;
    checked(a, 2, dtype)
}

/// The exponent of `pow`: integers and half types convert it.
pub fn exponent(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let dtype = promote::types(Promotion::Common, a, cx.default_float).result;
    match dtype {
        DType::F32 | DType::F64 => Ok(()),
        // The rule of the op says what is wrong with a negative power.
        _ if args::number(a, 1).is_some_and(|n| n.as_f64() < 0.0) => Ok(()),
        _ => checked(a, 1, dtype),
    }
}

/// Bounds of `clamp`: arguments `LOW` and `HIGH`, numbers or absent; 0 where the op has no such argument.
pub fn bounds<const LOW: usize, const HIGH: usize>(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let dtype = promote::types(Promotion::Common, a, cx.default_float).result;
    for (i, name) in [(LOW, "min"), (HIGH, "max")] {
        let number = if i == 0 { None } else { args::number(a, i) };
        match (number, integer_range(dtype)) {
            (Some(Number::Int(n)), Some((least, greatest))) => {
                if (name == "min" && n > greatest) || (name == "max" && n < least) {
                    return Err(OpError::runtime(format!(
                        "Clamp {name} value {n} is outside the representable range of {}",
                        dtype.scalar_name()
                    )));
                }
            }
            (Some(number), _) => representable(number, dtype)?,
            (None, _) => {}
        }
    }
    Ok(())
}

/// The value of `constant_pad_nd`, where there is anything to pad.
pub fn padding(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    if args::dims(a, 1)?.iter().all(|side| side.known() == Some(0)) {
        return Ok(());
    }
    element::<2>(cx, a)
}

/// `linspace`: both ends become elements.
pub fn ends(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let dtype = args::dtype(a, 3).unwrap_or(cx.default_float);
    checked(a, 0, dtype)?;
    checked(a, 1, dtype)
}

/// The bound of `softshrink`.
pub fn shrinkage(a: &[Arg<&Facts>]) -> Checked {
    let dtype = args::tensor(a, 0)?.dtype;
    let (Some(number), Some(greatest)) = (args::number(a, 1), greatest_float(dtype)) else { return Ok(()) };
    let bound = number.as_f64();
    if (0.0..=greatest).contains(&bound) {
        return Ok(());
    }
    let limit = match dtype {
        DType::F16 => "65504",
        DType::BF16 => "3.38953e+38",
        DType::F32 => "3.40282e+38",
        _ => "1.79769e+308",
    };
    Err(OpError::runtime(format!(
        "lambda must be in range [0, {limit}] for input dtype {}, but found {}",
        dtype.scalar_name(),
        short(bound)
    )))
}

/// A number with six significant digits, as C++ streams print it.
fn short(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return x.to_string().to_lowercase();
    }
    let scientific = format!("{x:.5e}");
    let (digits, power) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    let trimmed =
        |text: &str| if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text.to_owned() };
    if (-5..6).contains(&power) {
        return trimmed(&format!("{x:.*}", (5 - power).max(0) as usize));
    }
    format!("{}e{}{:02}", trimmed(digits), if power < 0 { '-' } else { '+' }, power.abs())
}
