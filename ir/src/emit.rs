//! Facts of any op, and the emitter that computes nothing but facts.

use crate::{
    DType, Dims, Facts, OpError, Rel, complex,
    dtype::Category,
    facts::Bracketed,
    gradient::Gradient,
    op::{Arg, CompositeRule, Emitter, FactsList, FactsRule, Meaning, OpRef, Registry, RuleContext, Val, Vals},
};

/// Fails where the op refuses these arguments.
fn check(op: OpRef, cx: &mut RuleContext<'_>, args: &[Arg<&Facts>]) -> Result<(), OpError> {
    complex::check(op, args)?;
    op.0.refuses.map_or(Ok(()), |refuses| refuses(cx, args))
}

/// What an op's `rule` says of its results, where the op doesn't refuse these arguments.
pub fn checked_facts(op: OpRef, rule: FactsRule, cx: &mut RuleContext<'_>, args: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    check(op, cx, args)?;
    let results = rule(cx, args)?;
    complex::check_results(op, args, &results)?;
    Ok(results)
}

/// What a composite comes to: `rule` over these values, where the op doesn't refuse them.
pub fn decompose(op: OpRef, rule: CompositeRule, emitter: &mut dyn Emitter, args: &[Arg<Val>]) -> Result<Vals, OpError> {
    complex::check_composite(op, args, |value| emitter.facts(*value).clone())?;
    if let Some(refuses) = op.0.refuses {
        let facts: Vec<Arg<Facts>> = args.iter().map(|arg| arg.map(|value| emitter.facts(*value).clone())).collect();
        let facts: Vec<Arg<&Facts>> = facts.iter().map(Arg::borrowed).collect();
        let default_float = emitter.default_float();
        refuses(&mut RuleContext { dims: emitter.dims(), default_float }, &facts)?;
    }
    rule(emitter, args)
}

/// The facts of an op's results: its rule's, its parts' for a composite, its target's for a write.
pub fn facts_of(registry: &Registry, cx: &mut RuleContext<'_>, op: OpRef, args: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    complex::check(op, args)?;
    if let Some(rule) = op.0.facts {
        return checked_facts(op, rule, cx, args);
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
            let results = decompose(op, rule, &mut emitter, &args)?;
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
        (Category::Integer, Category::Bool) | (Category::Float | Category::Complex, _) => false,
        _ => true,
    }
}

fn unknown_op(name: &str) -> OpError {
    OpError::not_implemented(format!("no op is called `{name}`"))
}

/// An [`Emitter`] that computes facts, and follows whose memory is written and which values require grad.
pub struct FactsEmitter<'a> {
    registry: &'a Registry,
    dims: &'a mut dyn Dims,
    default_float: DType,
    values: Vec<Followed>,
    written: Vec<Val>,
}

/// A value as far as it is followed.
struct Followed {
    facts: Facts,
    /// The value whose memory it looks at: itself, unless it is a view.
    memory: Val,
    requires_grad: bool,
}

impl<'a> FactsEmitter<'a> {
    /// An emitter without values.
    pub fn new(registry: &'a Registry, dims: &'a mut dyn Dims, default_float: DType) -> FactsEmitter<'a> {
        FactsEmitter { registry, dims, default_float, values: vec![], written: vec![] }
    }

    /// The values whose memory was written, also through views of them.
    pub fn written(&self) -> &[Val] {
        &self.written
    }

    /// A value with these facts and memory of its own.
    pub fn value(&mut self, facts: Facts) -> Val {
        let memory = Val(self.values.len() as u32);
        self.values.push(Followed { facts, memory, requires_grad: false });
        memory
    }

    /// Says that a value requires grad.
    pub fn require_grad(&mut self, value: Val) {
        self.values[value.0 as usize].requires_grad = true;
    }

    /// Whether a value requires grad, where grad mode is on.
    pub fn requires_grad(&self, value: Val) -> bool {
        self.values[value.0 as usize].requires_grad
    }

    /// Notes that the memory of a value was written; where the write is differentiated, all that look at it require grad.
    fn write(&mut self, target: Val, differentiated: bool) {
        let memory = self.values[target.0 as usize].memory;
        self.written.push(memory);
        if differentiated {
            self.values.iter_mut().filter(|value| value.memory == memory).for_each(|value| value.requires_grad = true);
        }
    }

    /// The op whose gradient an op has: the pure op behind one that writes.
    fn pure_of(&self, op: OpRef) -> Result<OpRef, OpError> {
        match op.0.meaning {
            Meaning::Mutate { pure, .. } => Ok(self.registry.find(pure).ok_or_else(|| unknown_op(pure))?.op),
            _ => Ok(op),
        }
    }
}

impl Emitter for FactsEmitter<'_> {
    fn dims(&mut self) -> &mut dyn Dims {
        self.dims
    }

    fn facts(&self, value: Val) -> &Facts {
        &self.values[value.0 as usize].facts
    }

    fn emit(&mut self, op: OpRef, args: &[Arg<Val>]) -> Result<Vals, OpError> {
        // Run over these very values, so that a result which is an argument, and a write into one, can be seen.
        if let Meaning::Composite(rule) = op.0.meaning
            && (op.0.facts.is_none() || matches!(op.0.gradient, Gradient::Parts))
        {
            return decompose(op, rule, self, args);
        }
        let mut requires_grad = false;
        args.iter().for_each(|arg| arg.for_each(|value| requires_grad |= self.requires_grad(*value)));
        let differentiated = requires_grad && self.pure_of(op)?.0.gradient.differentiable();
        let facts: Vec<Arg<&Facts>> = args.iter().map(|a| a.map(|v| &self.values[v.0 as usize].facts)).collect();
        let mut cx = RuleContext { dims: self.dims, default_float: self.default_float };
        let results = facts_of(self.registry, &mut cx, op, &facts)?;
        let schema = self.registry.entry(op).map(|entry| &entry.schema);
        let aliased = |param: usize| match args.get(param) {
            Some(Arg::Tensor(value)) => Some(*value),
            _ => None,
        };
        if let Meaning::Mutate { writes, .. } = op.0.meaning
            && let Some(target) = aliased(writes)
        {
            let float = self.facts(target).dtype.has_gradients();
            self.write(target, differentiated && float);
            return Ok(Vals::from_elem(target, 1));
        }
        for param in schema.iter().flat_map(|schema| schema.written()) {
            if let Some(target) = aliased(param) {
                self.write(target, differentiated);
            }
        }
        let mut made = Vals::new();
        for (index, facts) in results.into_iter().enumerate() {
            let float = facts.dtype.has_gradients();
            let value = self.value(facts);
            if differentiated && float {
                self.require_grad(value);
            }
            if let Some(base) = schema.and_then(|schema| schema.aliased_by(index)).and_then(aliased) {
                self.values[value.0 as usize].memory = self.values[base.0 as usize].memory;
            }
            made.push(value);
        }
        Ok(made)
    }

    fn default_float(&self) -> DType {
        self.default_float
    }
}
