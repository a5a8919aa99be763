//! Facts of any op, and the emitter that computes nothing but facts.

use crate::{
    DType, Dims, Facts, OpError, Rel,
    dtype::Category,
    facts::Bracketed,
    op::{Arg, Emitter, FactsList, Meaning, OpRef, Registry, RuleContext, Val, Vals},
};

/// The facts of an op's results: its rule's, its parts' for a composite, its target's for a write.
pub fn facts_of(registry: &Registry, cx: &mut RuleContext<'_>, op: OpRef, args: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    if let Some(rule) = op.0.facts {
        return rule(cx, args);
    }
    match op.0.meaning {
        Meaning::Mutate { pure, writes } => {
            let pure = registry.find(pure).ok_or_else(|| unknown_op(pure))?.op;
            let result = facts_of(registry, cx, pure, args)?;
            let Arg::Tensor(target) = args[writes] else { return Err(OpError::type_error("the written argument must be a Tensor")) };
            check_write(cx.dims, target, &result[0])?;
            Ok(FactsList::from_elem(target.clone(), 1))
        }
        Meaning::Composite(rule) => {
            let mut emitter = FactsEmitter::new(registry, cx.dims, cx.default_float);
            let args: Vec<Arg<Val>> = args.iter().map(|a| a.map(|f| emitter.value((*f).clone()))).collect();
            let results = rule(&mut emitter, &args)?;
            Ok(results.iter().map(|v| emitter.facts(*v).clone()).collect())
        }
        _ => Err(OpError::not_implemented(format!("{}: no facts rule", op.name()))),
    }
}

/// Whether `value` may be written into `target`: same shape after broadcasting, and an allowed cast.
pub fn check_write(dims: &mut dyn Dims, target: &Facts, value: &Facts) -> Result<(), OpError> {
    if !can_cast(value.dtype, target.dtype) {
        return Err(OpError::runtime(format!(
            "result type {} can't be cast to the desired output type {}",
            value.dtype.scalar_name(),
            target.dtype.scalar_name()
        )));
    }
    let mut same = value.rank() == target.rank();
    for (a, b) in value.dims.iter().zip(&target.dims) {
        same = same && dims.decide(Rel::Eq, *a, *b)?;
    }
    if same {
        return Ok(());
    }
    let spaced = |f: &Facts| Bracketed(&f.dims).to_string().replace(',', ", ");
    Err(OpError::runtime(format!("output with shape {} doesn't match the broadcast shape {}", spaced(target), spaced(value))))
}

/// `torch.can_cast`: not to a lower category.
pub fn can_cast(from: DType, to: DType) -> bool {
    match (from.category(), to.category()) {
        (a, b) if a <= b => true,
        (Category::Integer, Category::Bool) | (Category::Float, _) => false,
        _ => true,
    }
}

fn unknown_op(name: &str) -> OpError {
    OpError::not_implemented(format!("no op is called `{name}`"))
}

/// An [`Emitter`] that computes facts only.
pub struct FactsEmitter<'a> {
    registry: &'a Registry,
    dims: &'a mut dyn Dims,
    default_float: DType,
    values: Vec<Facts>,
    written: Vec<Val>,
}

impl<'a> FactsEmitter<'a> {
    /// An emitter without values.
    pub fn new(registry: &'a Registry, dims: &'a mut dyn Dims, default_float: DType) -> FactsEmitter<'a> {
        FactsEmitter { registry, dims, default_float, values: vec![], written: vec![] }
    }

    /// The values that were written into.
    pub fn written(&self) -> &[Val] {
        &self.written
    }

    /// A value with these facts.
    pub fn value(&mut self, facts: Facts) -> Val {
        self.values.push(facts);
        Val(self.values.len() as u32 - 1)
    }
}

impl Emitter for FactsEmitter<'_> {
    fn dims(&mut self) -> &mut dyn Dims {
        self.dims
    }

    fn facts(&self, value: Val) -> &Facts {
        &self.values[value.0 as usize]
    }

    fn emit(&mut self, op: OpRef, args: &[Arg<Val>]) -> Result<Vals, OpError> {
        match op.0.meaning {
            // Run over these very values, so that a result which is an argument, and a write into one, can be seen.
            Meaning::Composite(rule) if op.0.facts.is_none() => return rule(self, args),
            Meaning::Mutate { writes, .. } => {
                if let Some(Arg::Tensor(target)) = args.get(writes) {
                    self.written.push(*target);
                }
            }
            _ => {}
        }
        let args: Vec<Arg<&Facts>> = args.iter().map(|a| a.map(|v| &self.values[v.0 as usize])).collect();
        let mut cx = RuleContext { dims: self.dims, default_float: self.default_float };
        let results = facts_of(self.registry, &mut cx, op, &args)?;
        Ok(results.into_iter().map(|f| self.value(f)).collect())
    }

    fn default_float(&self) -> DType {
        self.default_float
    }
}
