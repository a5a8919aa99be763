//! Normalizations: element types of parameters, groups of one value.

use super::{Checked, dtypes};
use crate::ops::{args, rules};
use taipan_ir::{Arg, DType, Facts, OpError, op::RuleContext};

/// Parameters have the input's dtype; beside half types they may all be floats.
fn parameters(x: DType, given: &[Option<&&Facts>]) -> Checked {
    let mut dtypes = given.iter().flatten().map(|f| f.dtype);
    let mixed = given.iter().flatten().any(|f| f.dtype != x);
    if !mixed {
        return Ok(());
    }
    let all_floats = dtypes.all(|d| d == DType::F32);
    match (x.is_half(), all_floats) {
        (true, true) => Ok(()),
        (false, true) => Err(OpError::runtime("mixed dtype (CPU): all inputs must share same datatype.")),
        _ => Err(OpError::runtime("mixed dtype (CPU): expect parameter to have scalar type of Float")),
    }
}

/// `layer_norm`: weight and bias are arguments 2 and 3.
pub fn layer(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    parameters(args::tensor(a, 0)?.dtype, &[args::optional_tensor(a, 2), args::optional_tensor(a, 3)])
}

/// `group_norm`.
pub fn group(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    let x = *args::tensor(a, 0)?;
    if let (Some(groups), [_, channels, rest @ ..]) = (args::optional_dim(a, 1), &x.dims[..])
        && groups == *channels
        && rest.iter().all(|d| d.known() == Some(1))
        && x.dims[0].known() == Some(1)
    {
        return Err(one_value(x));
    }
    layer(cx, a)
}

/// The refusal to normalize over one value.
pub fn one_value(x: &Facts) -> OpError {
    OpError::value(format!("Expected more than 1 value per channel when training, got input size {}", rules::shown(&x.dims)))
}

/// `batch_norm`: running statistics, weight and bias are arguments 1 to 4.
pub fn batch(_: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Checked {
    dtypes::floats(a, "batch_norm")?;
    let given: [Option<&&Facts>; 4] = std::array::from_fn(|k| args::optional_tensor(a, k + 1));
    parameters(args::tensor(a, 0)?.dtype, &given)
}
