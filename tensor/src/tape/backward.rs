//! Walking back along the tape.
//!
//! Nodes run latest first, each once, when all gradients of its results have arrived. Between nodes nothing is borrowed, so that hooks and
//! functions of the host may run anything, a walk of their own included.

use super::{
    node::{Edge, Kind, Node},
    record::TapeEmitter,
    saved::Call,
    var::{Meta, Var},
};
use crate::{
    Context, Tensor, layout,
    ops::{
        call::{add, cast, copied},
        gradient::{part_of_base, sum_to, with_part, zero},
    },
    write,
};
use std::{
    cell::RefCell,
    collections::{BinaryHeap, HashMap, HashSet},
    rc::Rc,
    sync::Arc,
};
use taipan_ir::{
    Arg, Facts, Gradient, OpError, OpRef, Val, complex,
    gradient::{Backward, Place},
};

/// Who owns the context that ops run in, and lends it out for one step at a time.
pub trait Host {
    /// Runs `work` in the context.
    ///
    /// # Errors
    /// Those of `work`.
    fn step(&self, work: &mut dyn FnMut(&mut Context) -> Result<(), OpError>) -> Result<(), OpError>;

    /// Whether a gradient that is not a number is an error.
    fn refuses_nan(&self) -> bool {
        false
    }

    /// Is told of the node whose gradients could not be computed.
    fn failed_at(&self, _node: &Node) {}
}

/// A walk that is asked for.
pub struct Request {
    /// Where it starts, each with the gradient of that result.
    pub roots: Vec<(Edge, Var)>,
    /// Whether what the nodes keep is still needed afterwards.
    pub keep_graph: bool,
    /// Whether the walk is recorded itself.
    pub create_graph: bool,
    /// The gradients to answer with, and no other is then gathered; without it those of all leaves are gathered.
    pub inputs: Option<Vec<Edge>>,
}

/// Walks back, and answers with the gradients of the inputs asked for; `None` for one that nothing depends on.
///
/// # Errors
/// Those of the rules, of hooks and of the host's functions; and PyTorch's where what a node has kept is gone or has been written to.
pub fn backward(host: &dyn Host, request: Request) -> Result<Vec<Option<Var>>, OpError> {
    let mut walk = Walk::new(host, &request);
    for (edge, grad) in request.roots {
        walk.arrive(&edge, grad)?;
    }
    walk.run()?;
    let captured = |edge: &Edge| walk.captured.get(&key_of(edge)).cloned();
    Ok(request.inputs.iter().flatten().map(captured).collect())
}

type Key = (*const Node, usize);

fn key_of(edge: &Edge) -> Key {
    (Rc::as_ptr(&edge.node), edge.slot)
}

struct Walk<'a> {
    host: &'a dyn Host,
    keep_graph: bool,
    create_graph: bool,
    /// Nodes to run; all that can be reached where no inputs are asked for.
    needed: HashSet<*const Node>,
    /// Gradients that are answered.
    wanted: Option<HashSet<Key>>,
    captured: HashMap<Key, Var>,
    /// How many gradients a node still waits for.
    waiting: HashMap<*const Node, usize>,
    arrived: HashMap<*const Node, (Rc<Node>, Vec<Option<Var>>)>,
    ready: BinaryHeap<Ready>,
    queued: HashSet<*const Node>,
}

/// A node in the order of the walk: the latest first, and those recorded at the same time in the order in which they became ready.
struct Ready {
    sequence: u64,
    arrival: u64,
    node: *const Node,
}

impl Ready {
    fn key(&self) -> (u64, std::cmp::Reverse<u64>) {
        (self.sequence, std::cmp::Reverse(self.arrival))
    }
}

impl PartialEq for Ready {
    fn eq(&self, other: &Ready) -> bool {
        self.key() == other.key()
    }
}
impl Eq for Ready {}
impl PartialOrd for Ready {
    fn partial_cmp(&self, other: &Ready) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Ready {
    fn cmp(&self, other: &Ready) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl<'a> Walk<'a> {
    fn new(host: &'a dyn Host, request: &Request) -> Walk<'a> {
        let wanted: Option<HashSet<Key>> = request.inputs.as_ref().map(|inputs| inputs.iter().map(key_of).collect());
        let mut walk = Walk {
            host,
            keep_graph: request.keep_graph,
            create_graph: request.create_graph,
            needed: HashSet::new(),
            wanted,
            captured: HashMap::new(),
            waiting: HashMap::new(),
            arrived: HashMap::new(),
            ready: BinaryHeap::new(),
            queued: HashSet::new(),
        };
        let order = reachable(request.roots.iter().map(|(edge, _)| edge.node.clone()));
        // The order has every node behind those its gradients go to.
        for node in &order {
            let next = node.next.borrow();
            let own = Rc::as_ptr(node);
            let leads_on = |edge: &Edge| walk.needed.contains(&Rc::as_ptr(&edge.node)) || walk.is_wanted(edge);
            if walk.wanted.is_none() || next.iter().any(|(_, edge)| leads_on(edge)) {
                walk.needed.insert(own);
            }
        }
        for node in order.iter().filter(|node| walk.needed.contains(&Rc::as_ptr(node))) {
            for (_, edge) in node.next.borrow().iter() {
                *walk.waiting.entry(Rc::as_ptr(&edge.node)).or_default() += 1;
            }
        }
        walk
    }

    fn is_wanted(&self, edge: &Edge) -> bool {
        self.wanted.as_ref().is_some_and(|wanted| wanted.contains(&key_of(edge)))
    }

    /// Adds a gradient to those of a result.
    fn arrive(&mut self, edge: &Edge, grad: Var) -> Result<(), OpError> {
        let own = Rc::as_ptr(&edge.node);
        let (_, grads) = self.arrived.entry(own).or_insert_with(|| (edge.node.clone(), vec![None; edge.node.results.len()]));
        let slot = grads.get_mut(edge.slot).ok_or_else(|| OpError::runtime("a gradient for a result that the node doesn't have"))?;
        match slot.take() {
            None => *slot = Some(grad),
            Some(sum) => {
                let recording = self.create_graph;
                let mut total = None;
                self.host.step(&mut |cx| {
                    let mut emitter = TapeEmitter::new(cx, recording);
                    let (left, right) = (emitter.value(sum.clone()), emitter.value(grad.clone()));
                    let value = add(&mut emitter, left, Arg::Tensor(right))?;
                    total = Some(emitter.var(value).clone());
                    Ok(())
                })?;
                *slot = total;
            }
        }
        if self.waiting.get(&own).copied().unwrap_or(0) == 0 {
            self.queue(&edge.node);
        }
        Ok(())
    }

    /// Counts a gradient of a node as arrived, whether there was one or not.
    fn settle(&mut self, node: &Rc<Node>) {
        let own = Rc::as_ptr(node);
        if let Some(waiting) = self.waiting.get_mut(&own) {
            *waiting = waiting.saturating_sub(1);
            if *waiting == 0 {
                self.queue(node);
            }
        }
    }

    fn queue(&mut self, node: &Rc<Node>) {
        let own = Rc::as_ptr(node);
        if self.queued.insert(own) {
            self.arrived.entry(own).or_insert_with(|| (node.clone(), vec![None; node.results.len()]));
            let arrival = self.queued.len() as u64;
            self.ready.push(Ready { sequence: node.sequence, arrival, node: own });
        }
    }

    fn run(&mut self) -> Result<(), OpError> {
        while let Some(ready) = self.ready.pop() {
            let Some((node, grads)) = self.arrived.remove(&ready.node) else { continue };
            self.visit(&node, grads)?;
        }
        Ok(())
    }

    fn visit(&mut self, node: &Rc<Node>, mut grads: Vec<Option<Var>>) -> Result<(), OpError> {
        for (slot, place) in grads.iter_mut().enumerate() {
            if let Some(grad) = place.take() {
                let mut grad = node.run_hooks(slot, grad)?;
                if let Kind::Accumulate(meta, _) = &node.kind {
                    grad = meta.hooks.run(grad)?;
                }
                *place = Some(grad);
            }
        }
        for (slot, meta) in node.retained.borrow().iter() {
            if let (Some(meta), Some(grad)) = (meta.upgrade(), grads.get(*slot).cloned().flatten()) {
                let like = grad.data.clone();
                gather(self.host, &meta, &like, grad, self.create_graph)?;
            }
        }
        for (slot, grad) in grads.iter().enumerate() {
            let edge = Edge { node: node.clone(), slot };
            if let (Some(grad), true) = (grad, self.is_wanted(&edge)) {
                self.captured.insert(key_of(&edge), grad.clone());
            }
        }
        let next: Vec<(Place, Edge)> = node.next.borrow().to_vec();
        if !self.needed.contains(&Rc::as_ptr(node)) {
            return Ok(());
        }
        let needed: Vec<Place> = match &self.wanted {
            None => next.iter().map(|(place, _)| *place).collect(),
            Some(_) => next
                .iter()
                .filter(|(_, edge)| self.needed.contains(&Rc::as_ptr(&edge.node)) || self.is_wanted(edge))
                .map(|(place, _)| *place)
                .collect(),
        };
        let mut given = match grads.iter().any(Option::is_some) {
            true => self
                .differentiate(node, grads, &needed)
                .and_then(|given| self.checked(node, given))
                .inspect_err(|_| self.host.failed_at(node))?,
            false => vec![],
        };
        for (place, edge) in &next {
            let at = given.iter().position(|(own, _)| own == place);
            if let Some(at) = at {
                let (_, grad) = given.swap_remove(at);
                let grad = self.fitted(node, edge, grad)?;
                // The count goes down behind it, so that the node isn't queued before its last gradient is in.
                self.arrive_counted(edge, grad)?;
            }
            self.settle(&edge.node);
        }
        Ok(())
    }

    /// Fails on a gradient that is not a number, where the host wants that.
    fn checked(&self, node: &Node, given: Vec<(Place, Var)>) -> Result<Vec<(Place, Var)>, OpError> {
        if self.host.refuses_nan() {
            for (place, grad) in &given {
                if grad.data.numbers()?.iter().any(|number| number.is_nan()) {
                    return Err(OpError::runtime(format!(
                        "Function '{}' returned nan values in its {}th output.",
                        node.name(),
                        place.param
                    )));
                }
            }
        }
        Ok(given)
    }

    fn arrive_counted(&mut self, edge: &Edge, grad: Var) -> Result<(), OpError> {
        if self.wanted.is_some() && !self.needed.contains(&Rc::as_ptr(&edge.node)) && !self.leads_to_wanted(edge) {
            return Ok(());
        }
        self.arrive(edge, grad)
    }

    fn leads_to_wanted(&self, edge: &Edge) -> bool {
        (0..edge.node.results.len()).any(|slot| self.is_wanted(&Edge { node: edge.node.clone(), slot }))
    }

    /// The gradients of a node's inputs from those of its results.
    fn differentiate(&self, node: &Rc<Node>, grads: Vec<Option<Var>>, needed: &[Place]) -> Result<Vec<(Place, Var)>, OpError> {
        match &node.kind {
            Kind::Accumulate(meta, leaf) => {
                if self.wanted.is_none()
                    && let Some(grad) = grads.into_iter().next().flatten()
                {
                    gather(self.host, meta, leaf, grad, self.create_graph)?;
                    run_after(meta)?;
                }
                Ok(vec![])
            }
            Kind::Custom(custom) => {
                let given = custom.backward(grads, needed)?;
                if !self.keep_graph {
                    custom.release();
                }
                Ok(given)
            }
            Kind::Op(op, call) => {
                let given = self.by_rule(node, *op, call, grads, needed, None)?;
                self.release(call);
                Ok(given)
            }
            Kind::Written { op, call, target, base, view } => {
                let given = self.by_rule(node, *op, call, grads, needed, Some((*target, base, view)))?;
                self.release(call);
                Ok(given)
            }
        }
    }

    fn release(&self, call: &RefCell<Option<Rc<Call>>>) {
        let keeps = call.borrow().as_ref().is_some_and(|call| call.keeps_data());
        if !self.keep_graph && keeps {
            let old = call.take();
            drop(old);
        }
    }

    /// Runs the rule of an op; `written` for one that wrote into a view of a base.
    fn by_rule(
        &self,
        node: &Rc<Node>,
        op: OpRef,
        call: &RefCell<Option<Rc<Call>>>,
        grads: Vec<Option<Var>>,
        needed: &[Place],
        written: Option<(Place, &Facts, &Facts)>,
    ) -> Result<Vec<(Place, Var)>, OpError> {
        let (op, rule, args, results) = {
            // What is kept elsewhere may come back by code of the host, so nothing is borrowed.
            let call = call.borrow().clone().ok_or_else(second_time)?;
            let rule = match call.op.0.gradient {
                Gradient::Rule { rule, .. } => rule,
                // What was written depends on nothing: the history of the place it was written to ends here.
                Gradient::Constant => zero,
                Gradient::Parts | Gradient::Missing => {
                    return Err(OpError::not_implemented(format!("the derivative for '{}' is not implemented.", op.name())));
                }
            };
            (call.op, rule, call.args()?, call.results(node)?)
        };
        let mut complex = grads.iter().flatten().any(|grad| grad.data.dtype().is_complex());
        args.iter().for_each(|arg| arg.for_each(|var| complex |= var.data.dtype().is_complex()));
        if complex && !complex::differentiable(op) {
            return Err(OpError::not_implemented(format!("the derivative of {} at complex arguments is not implemented", op.name())));
        }
        let recording = self.create_graph;
        let mut answer = vec![];
        self.host.step(&mut |cx| {
            let mut emitter = TapeEmitter::new(cx, recording);
            let args: Vec<Arg<Val>> = args.iter().map(|arg| arg.map(|var| emitter.value(var.clone()))).collect();
            let results: Vec<Val> = results.iter().map(|var| emitter.value(var.clone())).collect();
            let mut incoming: Vec<Option<Val>> = grads.iter().map(|grad| grad.clone().map(|var| emitter.value(var))).collect();
            let whole = incoming.first().copied().flatten();
            if let (Some((_, base, view)), Some(whole)) = (written, whole) {
                incoming = vec![Some(part_of_base(&mut emitter, whole, base, view)?)];
            }
            let mut backward = Backward::new(&mut emitter, op, &args, &results, &incoming, needed);
            rule(&mut backward).map_err(|error| in_node(error, node))?;
            let mut given = backward.finish();
            if let (Some((target, base, view)), Some(whole)) = (written, whole)
                && needed.contains(&target)
            {
                let part = given.iter().position(|(place, _)| *place == target).map(|at| given.remove(at).1);
                given.push((target, with_part(&mut emitter, whole, part, base, view)?));
            }
            answer = given.into_iter().map(|(place, value)| (place, emitter.var(value).clone())).collect();
            Ok(())
        })?;
        Ok(answer)
    }

    /// The gradient with the sizes and the dtype of what it is the gradient of.
    fn fitted(&self, node: &Node, edge: &Edge, grad: Var) -> Result<Var, OpError> {
        let Some(facts) = edge.node.results.get(edge.slot) else { return Ok(grad) };
        let own = grad.data.facts();
        if own.dims == facts.dims && own.dtype == facts.dtype {
            return Ok(grad);
        }
        let recording = self.create_graph;
        let mut fitted = None;
        self.host.step(&mut |cx| {
            let mut emitter = TapeEmitter::new(cx, recording);
            let value = emitter.value(grad.clone());
            let value = sum_to(&mut emitter, value, facts).map_err(|_| {
                OpError::runtime(format!(
                    "Function {} returned an invalid gradient at index 0 - got {} but expected shape compatible with {}",
                    node.name(),
                    taipan_ir::text::sizes_text(&own.dims),
                    taipan_ir::text::sizes_text(&facts.dims),
                ))
            })?;
            let value = cast(&mut emitter, value, facts.dtype)?;
            fitted = Some(emitter.var(value).clone());
            Ok(())
        })?;
        Ok(fitted.unwrap_or(grad))
    }
}

/// All nodes that can be reached, each behind those its gradients go to.
fn reachable(roots: impl Iterator<Item = Rc<Node>>) -> Vec<Rc<Node>> {
    let mut order = vec![];
    let mut seen: HashSet<*const Node> = HashSet::new();
    let mut stack: Vec<(Rc<Node>, bool)> = roots.map(|node| (node, false)).collect();
    while let Some((node, done)) = stack.pop() {
        if done {
            order.push(node);
        } else if seen.insert(Rc::as_ptr(&node)) {
            stack.push((node.clone(), true));
            stack.extend(node.next.borrow().iter().map(|(_, edge)| (edge.node.clone(), false)));
        }
    }
    order
}

/// The error where what nodes keep is asked for after it was let go of.
pub fn second_time() -> OpError {
    OpError::runtime(
        "Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). Saved \
         intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to \
         backward through the graph a second time or if you need to access saved tensors after calling backward.",
    )
}

/// An error inside a rule, with the name of the node it happened in where it is ours.
fn in_node(error: OpError, node: &Node) -> OpError {
    match error {
        OpError::DataDependent => OpError::runtime(format!("{}: a size is only known at run time", node.name())),
        other => other,
    }
}

/// Adds a gradient to that of a leaf, or of a computed tensor that keeps its gradient.
///
/// # Errors
/// Those of the addition.
pub fn accumulate(host: &dyn Host, var: &Var, grad: Var, create_graph: bool) -> Result<(), OpError> {
    gather(host, &var.meta, &var.data, grad, create_graph)?;
    run_after(&var.meta)
}

/// Calls the hooks that wait for the gradient of a leaf.
fn run_after(meta: &Meta) -> Result<(), OpError> {
    let after: Vec<_> = meta.after.borrow().iter().map(|(_, hook)| hook.clone()).collect();
    after.iter().try_for_each(|hook| hook())
}

fn gather(host: &dyn Host, meta: &Meta, leaf: &Tensor, grad: Var, create_graph: bool) -> Result<(), OpError> {
    let old = meta.grad();
    host.step(&mut |cx| {
        let sum = match &old {
            None if create_graph => {
                let mut emitter = TapeEmitter::new(cx, true);
                let value = emitter.value(grad.clone());
                let value = copied(&mut emitter, value)?;
                emitter.var(value).clone()
            }
            None => Var::new(own_copy(cx, leaf, &grad.data)?),
            Some(old) if !create_graph => {
                let mut emitter = TapeEmitter::new(cx, false);
                let (left, right) = (emitter.value(old.clone()), emitter.value(grad.clone()));
                let value = add(&mut emitter, left, Arg::Tensor(right))?;
                let sum = emitter.var(value).data.clone();
                write::write_into(cx, &old.data, &sum)?;
                old.clone()
            }
            Some(old) => {
                let mut emitter = TapeEmitter::new(cx, true);
                let (left, right) = (emitter.value(old.clone()), emitter.value(grad.clone()));
                let value = add(&mut emitter, left, Arg::Tensor(right))?;
                emitter.var(value).clone()
            }
        };
        meta.set_grad(Some(sum));
        Ok(())
    })
}

/// The gradient as a tensor that nobody else has, laid out like the leaf.
fn own_copy(cx: &mut Context, leaf: &Tensor, grad: &Tensor) -> Result<Tensor, OpError> {
    let alike = leaf.sizes() == grad.sizes() && layout::is_dense(leaf.sizes(), leaf.strides());
    let strides = if alike { leaf.strides().into() } else { layout::row_major(grad.sizes()) };
    if Arc::strong_count(grad.storage()) == 1 && grad.strides() == strides.as_slice() {
        return Ok(grad.clone());
    }
    let copy = Tensor::zeros(grad.dtype(), grad.sizes()).with_layout(grad.dtype(), grad.sizes(), &strides, 0);
    write::fill_new(cx, &copy, grad)?;
    Ok(copy)
}
