//! Runs one op for a tensor object's sake: which result *is* an argument, and which primitive op each result came from.

use super::variable::{Origin, Variable};
use rustpython_vm::PyRef;
use taipan_ir::{
    Arg, DType, Dims, Emitter, Facts, Meaning, OpError, OpRef, Val,
    op::{CompositeRule, Vals},
};
use taipan_tensor::{Context, Tensor, run::EagerEmitter};

/// A result of an op.
pub(super) enum Computed {
    /// A tensor of its own, and the op that made it.
    New(Tensor, Origin),
    /// An argument, handed through as it was: `contiguous`, `to`, `dropout` in evaluation.
    Argument(PyRef<Variable>),
}

impl Computed {
    pub(super) fn data(self) -> Tensor {
        match self {
            Computed::New(data, _) => data,
            Computed::Argument(variable) => variable.data(),
        }
    }
}

/// Runs an op on the data of `args`.
pub(super) fn execute(context: &mut Context, op: OpRef, args: &[Arg<PyRef<Variable>>]) -> Result<Vec<Computed>, OpError> {
    if let Meaning::Composite(rule) = op.0.meaning {
        return composite(context, op, rule, args);
    }
    let args: Vec<Arg<Tensor>> = args.iter().map(|arg| arg.map(|variable| variable.data())).collect();
    let results = taipan_tensor::run(context, op, &args)?;
    Ok(results.into_iter().map(|data| Computed::New(data, Origin(op))).collect())
}

/// A composite's rule runs here, as only its values tell a result that is an argument from an equal view of it.
fn composite(context: &mut Context, op: OpRef, rule: CompositeRule, args: &[Arg<PyRef<Variable>>]) -> Result<Vec<Computed>, OpError> {
    let mut emitter = OriginEmitter { inner: EagerEmitter::new(context), made: Vec::new() };
    let mut given = Vec::new();
    let mut enter = |variable: &PyRef<Variable>| {
        let value = emitter.inner.value(variable.data());
        given.push((value, variable.clone()));
        value
    };
    let args: Vec<Arg<Val>> = args.iter().map(|arg| arg.map(&mut enter)).collect();
    let results = rule(&mut emitter, &args)?;
    let computed = |value: &Val| match given.iter().find(|(own, _)| own == value) {
        Some((_, variable)) => Computed::Argument(variable.clone()),
        None => Computed::New(emitter.inner.tensor(*value).clone(), Origin(emitter.maker(*value).unwrap_or(op))),
    };
    Ok(results.iter().map(computed).collect())
}

/// Runs ops as they come, composites by their parts, and remembers which op made which value.
struct OriginEmitter<'a> {
    inner: EagerEmitter<'a>,
    made: Vec<(Val, OpRef)>,
}

impl OriginEmitter<'_> {
    fn maker(&self, value: Val) -> Option<OpRef> {
        self.made.iter().rev().find(|(made, _)| *made == value).map(|(_, op)| *op)
    }
}

impl Emitter for OriginEmitter<'_> {
    fn dims(&mut self) -> &mut dyn Dims {
        self.inner.dims()
    }

    fn facts(&self, value: Val) -> &Facts {
        self.inner.facts(value)
    }

    fn emit(&mut self, op: OpRef, args: &[Arg<Val>]) -> Result<Vals, OpError> {
        if let Meaning::Composite(rule) = op.0.meaning {
            return rule(self, args);
        }
        let results = self.inner.emit(op, args)?;
        self.made.extend(results.iter().map(|value| (*value, op)));
        Ok(results)
    }

    fn default_float(&self) -> DType {
        self.inner.default_float()
    }
}
