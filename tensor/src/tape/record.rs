//! Running ops on vars, and recording them.

use super::{
    node::{Edge, Kind, Node},
    saved::Call,
    var::{Var, ViewKind},
};
use crate::{Context, Tensor, registry};
use smallvec::SmallVec;
use std::{cell::RefCell, rc::Rc};
use taipan_ir::{
    Arg, DType, Dims, Emitter, Facts, Gradient, Meaning, OpError, OpRef, Val,
    dims::NumberDims,
    emit::decompose,
    gradient::Place,
    op::{CompositeRule, Kept, Vals},
};

/// The results of one op.
pub type Vars = SmallVec<[Var; 2]>;

/// Runs one op. It is recorded where `recording`, some argument requires grad, and the op is differentiable; a composite without a rule of
/// its own by its parts. Where the op writes, its result is the var written to.
///
/// # Errors
/// The op's own; and PyTorch's where it writes into a leaf that requires grad, or into a view that must not be written to.
pub fn run(cx: &mut Context, recording: bool, op: OpRef, args: &[Arg<Var>]) -> Result<Vars, OpError> {
    match (op.0.meaning, op.0.gradient) {
        (Meaning::Composite(rule), Gradient::Parts) => composite(cx, recording, op, rule, args),
        (Meaning::Mutate { writes, .. }, _) => write(cx, recording, op, writes, args),
        _ => {
            let plain = data_of(args);
            let results = crate::run(cx, op, &plain)?;
            let edges = if recording && op.0.gradient.differentiable() { edges_of(args) } else { SmallVec::new() };
            let vars = match edges.is_empty() {
                true => results.into_iter().map(Var::new).collect(),
                false => recorded(cx, op, args, results, edges)?,
            };
            if matches!(op.0.meaning, Meaning::View)
                && op.0.gradient.differentiable()
                && let Some(Arg::Tensor(source)) = args.first()
            {
                let kind = match (recording, returns_list(op)) {
                    (false, _) => ViewKind::Unrecorded,
                    (true, true) => ViewKind::OneOfSeveral,
                    (true, false) => ViewKind::Single,
                };
                vars.iter().for_each(|var| var.set_view_of(source, kind));
            }
            Ok(vars)
        }
    }
}

fn composite(cx: &mut Context, recording: bool, op: OpRef, rule: CompositeRule, args: &[Arg<Var>]) -> Result<Vars, OpError> {
    let mut emitter = TapeEmitter::new(cx, recording);
    let args: SmallVec<[Arg<Val>; 8]> = args.iter().map(|arg| arg.map(|var| emitter.value(var.clone()))).collect();
    let results = decompose(op, rule, &mut emitter, &args)?;
    Ok(results.iter().map(|value| emitter.var(*value).clone()).collect())
}

/// The results of an op that ran, as results of a node whose gradients go to `edges`.
fn recorded(
    cx: &mut Context,
    op: OpRef,
    args: &[Arg<Var>],
    results: crate::Tensors,
    edges: SmallVec<[(Place, Edge); 2]>,
) -> Result<Vars, OpError> {
    let kept = kept_for(op, &edges)?;
    let call = Call::new(op, args, &results, kept, None)?;
    let facts = call.result_facts().cloned().collect();
    let node = Node::new(cx.next_sequence(), Kind::Op(op, RefCell::new(Some(Rc::new(call)))), facts, edges);
    let var = |(slot, data): (usize, Tensor)| match data.dtype().has_gradients() {
        true => Var::from_node(data, Edge { node: node.clone(), slot }),
        false => Var::new(data),
    };
    Ok(results.into_iter().enumerate().map(var).collect())
}

/// Runs an op that writes into one of its arguments, and gives that tensor a new history.
fn write(cx: &mut Context, recording: bool, op: OpRef, writes: usize, args: &[Arg<Var>]) -> Result<Vars, OpError> {
    let Some(Arg::Tensor(target)) = args.get(writes) else {
        return Err(OpError::type_error("the written argument must be a Tensor"));
    };
    let pure = pure_of(op)?;
    if matches!(pure.0.gradient, Gradient::Parts) && pure != op {
        return write_parts(cx, recording, pure, writes, args);
    }
    // Integers don't become part of the history of what is written into them.
    let mut edges = if recording && target.data.dtype().has_gradients() { edges_of(args) } else { SmallVec::new() };
    if recording {
        check_write(target, !edges.is_empty() && pure.0.gradient.differentiable())?;
    }
    // Where the pure op has no gradient the target's history ends here; other arguments don't give it one.
    if !pure.0.gradient.differentiable() && !edges.iter().any(|(place, _)| *place == Place::of(writes)) {
        edges.clear();
    }
    let kept = kept_for(pure, &edges)?;
    let own_copy = (!edges.is_empty() && kept.params >> writes & 1 == 1 && writes == 0).then(|| before_write(target)).transpose()?;
    crate::run(cx, op, &data_of(args))?;
    if edges.is_empty() {
        return Ok(SmallVec::from_elem(target.clone(), 1));
    }
    let data = std::slice::from_ref(&target.data);
    let call = RefCell::new(Some(Rc::new(Call::new(pure, args, data, kept, own_copy.as_ref())?)));
    let facts = target.data.facts();
    match target.meta.base().cloned() {
        None => {
            let node = Node::new(cx.next_sequence(), Kind::Op(op, call), SmallVec::from_elem(facts, 1), edges);
            target.meta.set_edge(Some(Edge { node, slot: 0 }));
        }
        Some(base) => {
            let written = Place::of(writes);
            edges.retain(|(place, _)| *place != written);
            if let Some(edge) = base.gradient_edge() {
                edges.insert(0, (written, edge));
            }
            let base_facts = base.data.facts();
            let kind = Kind::Written { op, call, target: written, base: Box::new(base_facts.clone()), view: Box::new(facts) };
            let node = Node::new(cx.next_sequence(), kind, SmallVec::from_elem(base_facts, 1), edges);
            base.meta.set_edge(Some(Edge { node, slot: 0 }));
            target.meta.forget_edge();
        }
    }
    Ok(SmallVec::from_elem(target.clone(), 1))
}

/// Runs a composite by its parts, and then writes its result into the argument `writes`.
fn write_parts(cx: &mut Context, recording: bool, pure: OpRef, writes: usize, args: &[Arg<Var>]) -> Result<Vars, OpError> {
    let Some(Arg::Tensor(target)) = args.get(writes) else {
        return Err(OpError::type_error("the written argument must be a Tensor"));
    };
    let edges = if recording { edges_of(args) } else { SmallVec::new() };
    if recording {
        check_write(target, !edges.is_empty())?;
    }
    let mut read = args.to_vec();
    if !edges.is_empty() {
        // The parts may keep what is about to be overwritten.
        read[writes] = Arg::Tensor(before_write(target)?);
    }
    let result = run(cx, recording, pure, &read)?;
    let result = result.first().ok_or_else(|| OpError::runtime("the op gave no result"))?;
    taipan_ir::emit::check_write(&mut NumberDims, &target.data.facts(), &result.data.facts())?;
    let copy = registry().find("copy_").ok_or_else(|| OpError::not_implemented("no op is called `copy_`"))?.op;
    run(cx, recording, copy, &[Arg::Tensor(target.clone()), Arg::Tensor(result.clone()), Arg::Bool(false)])
}

/// A copy of what a write is about to replace, with the history it has now.
fn before_write(target: &Var) -> Result<Var, OpError> {
    let data = target.data.copied()?;
    Ok(match target.edge() {
        Some(edge) => Var::from_node(data, edge),
        None => Var::new(data),
    })
}

/// Whether PyTorch lets a recorded op write into `target`; `gains_history` where the write makes it require grad.
///
/// # Errors
/// PyTorch's: for leaves that require grad, views of such, and views that must not be written to.
pub fn check_write(target: &Var, gains_history: bool) -> Result<(), OpError> {
    let leaf = |var: &Var| var.meta.asks_for_grad() && var.is_leaf();
    if leaf(target) {
        return Err(OpError::runtime("a leaf Variable that requires grad is being used in an in-place operation."));
    }
    let Some(view) = target.meta.view() else { return Ok(()) };
    if !gains_history && !target.requires_grad() && !view.base.requires_grad() {
        return Ok(());
    }
    match view.kind {
        ViewKind::Single if leaf(&view.base) => {
            Err(OpError::runtime("a view of a leaf Variable that requires grad is being used in an in-place operation."))
        }
        ViewKind::Single => Ok(()),
        ViewKind::OneOfSeveral => {
            let from = target.edge().map_or_else(String::new, |edge| format!("Output {} of {} is", edge.slot, edge.node.op_name()));
            let subject = if from.is_empty() { "This is" } else { &from };
            Err(OpError::runtime(format!(
                "{subject} a view and is being modified inplace. This view is the output of a function that returns multiple views. Such \
                 functions do not allow the output views to be modified inplace. You should replace the inplace operation by an \
                 out-of-place one."
            )))
        }
        ViewKind::Unrecorded => Err(OpError::runtime(
            "A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that this use case is \
             ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace either both \
             inside the no_grad block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to be \
             tracked).",
        )),
    }
}

fn data_of(args: &[Arg<Var>]) -> SmallVec<[Arg<Tensor>; 8]> {
    args.iter().map(|arg| arg.map(|var| var.data.clone())).collect()
}

/// The arguments that require grad, and where their gradients go.
fn edges_of(args: &[Arg<Var>]) -> SmallVec<[(Place, Edge); 2]> {
    let mut edges = SmallVec::new();
    let mut add = |param: usize, item: usize, var: &Var| {
        if var.data.dtype().has_gradients()
            && let Some(edge) = var.gradient_edge()
        {
            edges.push((Place { param: param as u16, item: item as u16 }, edge));
        }
    };
    for (param, arg) in args.iter().enumerate() {
        match arg {
            Arg::Tensor(var) => add(param, 0, var),
            Arg::Tensors(vars) => vars.iter().enumerate().for_each(|(item, var)| add(param, item, var)),
            Arg::OptionalTensors(vars) => {
                vars.iter().enumerate().for_each(|(item, var)| var.iter().for_each(|var| add(param, item, var)));
            }
            _ => {}
        }
    }
    edges
}

/// The op whose gradient an op has: the pure op behind one that writes.
fn pure_of(op: OpRef) -> Result<OpRef, OpError> {
    let Meaning::Mutate { pure, .. } = op.0.meaning else { return Ok(op) };
    let entry = registry().find(pure).ok_or_else(|| OpError::not_implemented(format!("no op is called `{pure}`")))?;
    Ok(entry.op)
}

/// What a node keeps whose gradients go to `edges`.
fn kept_for(op: OpRef, edges: &[(Place, Edge)]) -> Result<Kept, OpError> {
    let entry = registry().entry(op).ok_or_else(|| OpError::not_implemented(format!("{} is not registered", op.name())))?;
    Ok(entry.saves.needed(edges.iter().fold(0, |bits, (place, _)| bits | 1 << place.param)))
}

fn returns_list(op: OpRef) -> bool {
    registry().entry(op).is_some_and(|entry| entry.schema.returns.iter().any(|result| result.list))
}

/// An emitter that runs each op as it comes, and records it.
pub struct TapeEmitter<'a> {
    cx: &'a mut Context,
    recording: bool,
    dims: NumberDims,
    values: Vec<(Var, Facts)>,
}

impl<'a> TapeEmitter<'a> {
    /// An emitter without values.
    pub fn new(cx: &'a mut Context, recording: bool) -> TapeEmitter<'a> {
        TapeEmitter { cx, recording, dims: NumberDims, values: vec![] }
    }

    /// A value that is this var.
    pub fn value(&mut self, var: Var) -> Val {
        let facts = var.data.facts();
        self.values.push((var, facts));
        Val(self.values.len() as u32 - 1)
    }

    /// The var of a value.
    pub fn var(&self, value: Val) -> &Var {
        &self.values[value.0 as usize].0
    }
}

impl Emitter for TapeEmitter<'_> {
    fn dims(&mut self) -> &mut dyn Dims {
        &mut self.dims
    }

    fn facts(&self, value: Val) -> &Facts {
        &self.values[value.0 as usize].1
    }

    fn emit(&mut self, op: OpRef, args: &[Arg<Val>]) -> Result<Vals, OpError> {
        // Over these very values, so that a result which is an argument can be seen.
        if let (Meaning::Composite(rule), Gradient::Parts) = (op.0.meaning, op.0.gradient) {
            return decompose(op, rule, self, args);
        }
        let vars: SmallVec<[Arg<Var>; 8]> = args.iter().map(|arg| arg.map(|value| self.var(*value).clone())).collect();
        let results = run(self.cx, self.recording, op, &vars)?;
        Ok(results.into_iter().map(|var| self.value(var)).collect())
    }

    fn default_float(&self) -> DType {
        self.cx.default_float
    }
}
