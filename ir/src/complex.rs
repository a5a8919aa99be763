//! What ops do where they meet complex numbers.
//!
//! No op sees complex elements unless its block says what it does with them, so that none takes pairs of floats for something else.

use crate::{
    DType, ErrorKind, Facts, Number, OpError, OpRef,
    op::{Arg, Kernel, Meaning},
};

/// What an op does where a tensor or a number among its arguments is complex, or a dtype that it is given.
#[derive(Clone, Copy, Debug)]
pub enum Complex {
    /// Refuses. Views and composites don't: the former look at no elements, the latter do what their parts do.
    Refused,
    /// Refuses with a text of its own, in which `{}` stands for the dtype; a composite too.
    RefusedWith(ErrorKind, &'static str),
    /// Its own code serves complex elements too, and so does its gradient.
    Same,
    /// Other code.
    Kernel {
        /// The code.
        run: Kernel,
        /// Whether the gradient holds for complex numbers. It is that of PyTorch: with respect to the conjugate.
        gradient: bool,
    },
}

/// The complex dtype among the arguments, whose tensors have these dtypes; of a number the one it has by itself.
pub fn met<T>(args: &[Arg<T>], dtype: impl Fn(&T) -> DType) -> Option<DType> {
    let mut found = None;
    for arg in args {
        match arg {
            Arg::Number(Number::Complex(..)) => found = found.or(Some(DType::C64)),
            Arg::DType(dtype) if dtype.is_complex() => found = found.or(Some(*dtype)),
            other => other.for_each(|tensor| {
                let own = dtype(tensor);
                if own.is_complex() {
                    found = found.or(Some(own));
                }
            }),
        }
    }
    found
}

/// As [`check`] for a composite about to run by its parts, whose arguments have these facts.
///
/// # Errors
/// The composite's refusal.
pub fn check_composite<T>(op: OpRef, args: &[Arg<T>], facts: impl Fn(&T) -> Facts) -> Result<(), OpError> {
    match op.0.complex {
        Complex::RefusedWith(..) => {}
        // A composite may read a number as a real one, unless it says that it only hands it on.
        Complex::Refused if args.iter().any(|arg| matches!(arg, Arg::Number(Number::Complex(..)))) => {
            return Err(OpError::not_implemented(format!("{}() of a complex number is not implemented", op.name())));
        }
        _ => return Ok(()),
    }
    let owned: Vec<Arg<Facts>> = args.iter().map(|arg| arg.map(&facts)).collect();
    let borrowed: Vec<Arg<&Facts>> = owned.iter().map(Arg::borrowed).collect();
    check(op, &borrowed)
}

/// Fails where a complex number goes into a result that can't hold it.
///
/// # Errors
/// PyTorch's.
pub fn check_results(op: OpRef, args: &[Arg<&Facts>], results: &[Facts]) -> Result<(), OpError> {
    let moved = matches!(op.0.complex, Complex::Same) && args.iter().any(|arg| matches!(arg, Arg::Number(Number::Complex(..))));
    match results.iter().find(|facts| moved && !facts.dtype.is_complex()) {
        Some(facts) => Err(OpError::runtime(format!("value cannot be converted to type {} without overflow", facts.dtype.native_name()))),
        None => Ok(()),
    }
}

/// Whether the gradient of an op that met complex numbers can be computed.
pub fn differentiable(op: OpRef) -> bool {
    match op.0.complex {
        Complex::Kernel { gradient, .. } => gradient,
        Complex::Same => true,
        Complex::Refused | Complex::RefusedWith(..) => matches!(op.0.meaning, Meaning::View),
    }
}

/// Fails where the arguments hold complex numbers that the op doesn't serve.
///
/// # Errors
/// PyTorch's refusal. Also where the result would be of the complex half type, which doesn't exist here.
pub fn check(op: OpRef, args: &[Arg<&Facts>]) -> Result<(), OpError> {
    let Some(dtype) = met(args, |facts| facts.dtype) else { return Ok(()) };
    let refuse = |kind, text: &str| Err(OpError::Raised { kind, text: text.replace("{}", dtype.scalar_name()) });
    match (op.0.complex, op.0.meaning) {
        (Complex::RefusedWith(kind, text), _) => return refuse(kind, text),
        (Complex::Refused, Meaning::Pointwise { .. } | Meaning::Kernel { .. } | Meaning::Random { .. }) => {
            let base = op.name().split('.').next().unwrap_or_default();
            return refuse(ErrorKind::NotImplemented, &format!("\"{base}_cpu\" not implemented for '{{}}'"));
        }
        _ => {}
    }
    let low = |arg: &Arg<&Facts>| match arg {
        Arg::Number(Number::Complex(..)) => true,
        Arg::Tensor(facts) => facts.dtype.is_complex() && facts.dims.is_empty(),
        _ => false,
    };
    let half = |arg: &Arg<&Facts>| matches!(arg, Arg::Tensor(facts) if facts.dtype.is_half() && !facts.dims.is_empty());
    let full = |arg: &Arg<&Facts>| matches!(arg, Arg::Tensor(facts) if facts.dtype.is_complex() && !facts.dims.is_empty());
    if matches!(op.0.meaning, Meaning::Pointwise { .. }) && args.iter().any(low) && args.iter().any(half) && !args.iter().any(full) {
        return Err(OpError::not_implemented("the complex half type 'ComplexHalf' is not supported"));
    }
    Ok(())
}
