//! Runs one op for a tensor object's sake, and says which result *is* an argument.

use super::variable::Variable;
use rustpython_vm::PyRef;
use taipan_ir::{Arg, Gradient, Meaning, OpError, OpRef, Val, emit::decompose, op::CompositeRule};
use taipan_tensor::{
    Context,
    tape::{TapeEmitter, Var},
};

/// A result of an op.
pub(super) enum Computed {
    /// A tensor of its own.
    New(Var),
    /// An argument, handed through as it was: `contiguous`, `to`, `dropout` in evaluation.
    Argument(PyRef<Variable>),
}

impl Computed {
    pub(super) fn as_var(&self) -> Var {
        match self {
            Computed::New(var) => var.clone(),
            Computed::Argument(variable) => variable.var(),
        }
    }

    pub(super) fn var(self) -> Var {
        match self {
            Computed::New(var) => var,
            Computed::Argument(variable) => variable.var(),
        }
    }
}

/// Runs an op on `args`, and puts it on the tape where `recording`.
pub(super) fn execute(context: &mut Context, recording: bool, op: OpRef, args: &[Arg<PyRef<Variable>>]) -> Result<Vec<Computed>, OpError> {
    if let (Meaning::Composite(rule), Gradient::Parts) = (op.0.meaning, op.0.gradient) {
        return composite(context, recording, op, rule, args);
    }
    let args: Vec<Arg<Var>> = args.iter().map(|arg| arg.map(|variable| variable.var())).collect();
    let results = taipan_tensor::tape::run(context, recording, op, &args)?;
    Ok(results.into_iter().map(Computed::New).collect())
}

/// A composite's rule runs here, as only its values tell a result that is an argument from an equal view of it.
fn composite(
    context: &mut Context,
    recording: bool,
    op: OpRef,
    rule: CompositeRule,
    args: &[Arg<PyRef<Variable>>],
) -> Result<Vec<Computed>, OpError> {
    let mut emitter = TapeEmitter::new(context, recording);
    let mut given = Vec::new();
    let mut enter = |variable: &PyRef<Variable>| {
        let value = emitter.value(variable.var());
        given.push((value, variable.clone()));
        value
    };
    let args: Vec<Arg<Val>> = args.iter().map(|arg| arg.map(&mut enter)).collect();
    let results = decompose(op, rule, &mut emitter, &args)?;
    let computed = |value: &Val| match given.iter().find(|(own, _)| own == value) {
        Some((_, variable)) => Computed::Argument(variable.clone()),
        None => Computed::New(emitter.var(*value).clone()),
    };
    Ok(results.iter().map(computed).collect())
}
