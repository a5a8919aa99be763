//! How gradients flow backwards through one op: the part of an op's record that differentiates it.
//!
//! A rule speaks through an [`Emitter`] like every other rule, so the same text computes gradients now, records their computation
//! for a second derivative, or appends it to a graph. It sees every argument, but the *elements* only of what its op block says it
//! saves: of all others just the facts are kept.

use crate::{
    Facts, OpError,
    op::{Arg, Emitter, Op, OpRef, Val},
};
use smallvec::SmallVec;

/// How the gradients of an op's arguments follow from those of its results.
#[derive(Clone, Copy, Debug)]
pub enum Gradient {
    /// Its results never require grad: comparisons, indices, draws.
    Constant,
    /// By the ops a composite is made of.
    Parts,
    /// By a rule of its own.
    Rule {
        /// What the rule reads elements of, by name: parameters, named results, or `result`, separated by commas. `a: b, result; b: a`
        /// says which are read for whose gradient.
        saves: &'static str,
        /// The rule.
        rule: GradientRule,
    },
    /// PyTorch differentiates it, but no rule is written: asking for its gradient is an error that names it.
    Missing,
}

impl Gradient {
    /// Whether a result requires grad where an argument does.
    pub const fn differentiable(self) -> bool {
        !matches!(self, Gradient::Constant)
    }
}

/// Gives the gradients of the arguments that need one.
pub type GradientRule = fn(&mut Backward<'_>) -> Result<(), OpError>;

/// A tensor among an op's arguments: the number of the parameter, and the place in its list.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Place {
    /// Number of the schema parameter.
    pub param: u16,
    /// Place in the parameter's list; 0 for a single tensor.
    pub item: u16,
}

impl Place {
    /// A single tensor.
    pub const fn of(param: usize) -> Place {
        Place { param: param as u16, item: 0 }
    }
}

/// A gradient rule at work: what it is given, and what it has answered.
pub struct Backward<'a> {
    /// Where the rule puts its ops.
    pub emitter: &'a mut dyn Emitter,
    op: OpRef,
    args: &'a [Arg<Val>],
    results: &'a [Val],
    grads: &'a [Option<Val>],
    needed: &'a [Place],
    given: SmallVec<[(Place, Val); 2]>,
}

impl<'a> Backward<'a> {
    /// A rule about to run. `grads` has one gradient per result, absent where nothing depends on that result; `needed` are the
    /// arguments whose gradients are asked for.
    pub fn new(
        emitter: &'a mut dyn Emitter,
        op: OpRef,
        args: &'a [Arg<Val>],
        results: &'a [Val],
        grads: &'a [Option<Val>],
        needed: &'a [Place],
    ) -> Backward<'a> {
        Backward { emitter, op, args, results, grads, needed, given: SmallVec::new() }
    }

    /// The record of the op whose gradient this is.
    pub fn record(&self) -> &'static Op {
        self.op.0
    }

    /// The arguments of the op, one per parameter.
    pub fn args(&self) -> &'a [Arg<Val>] {
        self.args
    }

    /// The tensor at a parameter.
    ///
    /// # Errors
    /// Where the argument is no tensor.
    pub fn tensor(&self, param: usize) -> Result<Val, OpError> {
        match self.args.get(param) {
            Some(Arg::Tensor(value)) => Ok(*value),
            _ => Err(OpError::type_error(format!("argument {} must be Tensor", param + 1))),
        }
    }

    /// The facts of the tensor at a parameter.
    ///
    /// # Errors
    /// Where the argument is no tensor.
    pub fn facts(&self, param: usize) -> Result<Facts, OpError> {
        Ok(self.emitter.facts(self.tensor(param)?).clone())
    }

    /// A result of the op.
    ///
    /// # Errors
    /// Where there is none of this number.
    pub fn result(&self, index: usize) -> Result<Val, OpError> {
        self.results.get(index).copied().ok_or_else(|| OpError::runtime(format!("the op has no result {index}")))
    }

    /// The gradient of the only result, or of the first of several.
    ///
    /// # Errors
    /// Where nothing depends on that result.
    pub fn grad(&self) -> Result<Val, OpError> {
        self.grad_of(0).ok_or_else(|| OpError::runtime("the result has no gradient"))
    }

    /// The gradient of a result, where anything depends on it.
    pub fn grad_of(&self, index: usize) -> Option<Val> {
        self.grads.get(index).copied().flatten()
    }

    /// How many results there are.
    pub fn results(&self) -> usize {
        self.grads.len()
    }

    /// Whether the gradient of the tensor at a parameter is asked for.
    pub fn needs(&self, param: usize) -> bool {
        self.needs_item(param, 0)
    }

    /// Whether the gradient of a tensor in a list is asked for.
    pub fn needs_item(&self, param: usize, item: usize) -> bool {
        self.needed.contains(&Place { param: param as u16, item: item as u16 })
    }

    /// Answers the gradient of the tensor at a parameter. It may have the sizes of the result where the argument was broadcast, and another
    /// floating dtype: whoever runs the rule sums and converts.
    pub fn give(&mut self, param: usize, grad: Val) {
        self.give_item(param, 0, grad);
    }

    /// Answers the gradient of a tensor in a list.
    pub fn give_item(&mut self, param: usize, item: usize, grad: Val) {
        self.given.push((Place { param: param as u16, item: item as u16 }, grad));
    }

    /// What was answered. An argument without an answer has no gradient: nothing depends on it.
    pub fn finish(self) -> SmallVec<[(Place, Val); 2]> {
        self.given
    }
}
