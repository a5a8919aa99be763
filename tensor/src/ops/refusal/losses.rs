//! Losses: weights for the wrong classes, parameters out of range.

use super::{Checked, same};
use crate::ops::{args, rules};
use taipan_ir::{Arg, DType, Facts, OpError, op::RuleContext};

fn refused(text: impl Into<String>) -> Checked {
    Err(OpError::runtime(text))
}

/// The weights of classes, argument 2, beside the input, argument 0.
pub fn class_weights(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let x = *args::tensor(a, 0)?;
    let (Some(weight), Some(classes)) = (args::optional_tensor(a, 2), x.dims.get(usize::from(x.rank() > 1))) else { return Ok(()) };
    if weight.rank() != 1 || !same(cx, weight.dims[0], *classes)? {
        return refused(match x.rank() {
            1 | 2 => format!(
                "weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of shape: {}",
                rules::shown(&weight.dims)
            ),
            _ => "weight tensor should be defined either for all or no classes".to_owned(),
        });
    }
    if weight.dtype != x.dtype {
        return refused(format!("expected scalar type {} but found {}", x.dtype.scalar_name(), weight.dtype.scalar_name()));
    }
    Ok(())
}

/// `cross_entropy`.
pub fn cross_entropy(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let target = args::tensor(a, 1)?;
    let smoothing = args::float(a, 7, 0.0);
    if smoothing > 1.0 {
        return refused(format!("label_smoothing must be between 0.0 and 1.0. Got: {smoothing}"));
    }
    let by_probability = target.dtype.is_float() && target.rank() == args::tensor(a, 0)?.rank();
    if by_probability {
        if args::int(a, 4)? >= 0 {
            return refused("ignore_index is not supported for floating point target");
        }
        return Ok(());
    }
    class_weights(cx, a)
}

/// `smooth_l1_loss`.
pub fn smooth_l1(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    if args::float(a, 5, 1.0) < 0.0 {
        return refused("smooth_l1_loss does not support negative values for beta.");
    }
    Ok(())
}

/// `huber_loss`.
pub fn huber(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    if args::float(a, 3, 1.0) <= 0.0 {
        return refused("huber_loss does not support non-positive values for delta.");
    }
    Ok(())
}

/// `binary_cross_entropy` doesn't promote.
pub fn binary(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let (x, target) = (args::tensor(a, 0)?.dtype, args::tensor(a, 1)?.dtype);
    if x != target && matches!(target, DType::F16 | DType::BF16 | DType::F32 | DType::F64) {
        return refused(format!("Found dtype {} but expected {}", target.scalar_name(), x.scalar_name()));
    }
    Ok(())
}
