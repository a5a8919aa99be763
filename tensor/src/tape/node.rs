//! Nodes: one per recorded op, per leaf that gathers a gradient, per function with a backward of its own.

use super::{
    saved::{Call, Pack},
    var::{AfterHook, Meta, Var},
};
use crate::{Tensor, ops::gradient::names::node_name, registry};
use smallvec::{SmallVec, smallvec};
use std::{
    cell::{Cell, OnceCell, RefCell},
    fmt,
    rc::{Rc, Weak},
};
use taipan_ir::{Arg, Dim, Facts, OpError, OpRef, gradient::Place};

/// Where a gradient goes: to one of the results of a node.
#[derive(Clone, Debug)]
pub struct Edge {
    /// The node.
    pub node: Rc<Node>,
    /// Which of its results.
    pub slot: usize,
}

/// Called with a gradient; what it answers replaces the gradient.
pub type Hook = Rc<dyn Fn(&Var) -> Result<Option<Var>, OpError>>;

/// Removes a hook again; calling it twice is no harm.
pub type Removal = Box<dyn Fn()>;

/// A backward that is not an op's: `autograd.Function`.
pub trait Custom {
    /// What messages call the node.
    fn name(&self) -> String;

    /// The gradients of its inputs from those of its outputs, `needed` being the inputs that need one.
    ///
    /// # Errors
    /// Whatever went wrong; the host knows more.
    fn backward(&self, grads: Vec<Option<Var>>, needed: &[Place]) -> Result<Vec<(Place, Var)>, OpError>;

    /// Drops what was kept for the backward.
    fn release(&self);
}

/// One step of the tape.
pub struct Node {
    /// Later nodes have larger numbers; those that gather gradients have the largest.
    pub(super) sequence: u64,
    pub(super) kind: Kind,
    pub(super) next: RefCell<SmallVec<[(Place, Edge); 2]>>,
    /// Facts of each result.
    pub(super) results: SmallVec<[Facts; 1]>,
    pub(super) hooks: RefCell<Vec<(usize, Rc<Hooks>)>>,
    pub(super) retained: RefCell<Vec<(usize, Weak<Meta>)>>,
    note: OnceCell<String>,
}

/// What a node does with the gradients of its results.
pub(super) enum Kind {
    /// Runs the gradient rule of an op.
    Op(OpRef, RefCell<Option<Rc<Call>>>),
    /// An op that wrote into a view: the gradient of the whole base goes in, that of the written part through the op's rule.
    Written {
        op: OpRef,
        call: RefCell<Option<Rc<Call>>>,
        /// The argument that was written to.
        target: Place,
        base: Box<Facts>,
        view: Box<Facts>,
    },
    /// Adds to the gradient of a leaf.
    Accumulate(Rc<Meta>, Tensor),
    /// Code of the host.
    Custom(Rc<dyn Custom>),
}

/// Hooks in the order in which they were added.
#[derive(Default)]
pub(super) struct Hooks {
    list: RefCell<Vec<(u64, Hook)>>,
    next: Cell<u64>,
}

impl Hooks {
    fn add(&self, hook: Hook) -> u64 {
        let id = self.next.get();
        self.next.set(id + 1);
        self.list.borrow_mut().push((id, hook));
        id
    }

    fn remove(&self, id: u64) {
        // Dropping a hook may run code of the host, so the list isn't borrowed then.
        let mut list = self.list.borrow_mut();
        let removed = list.iter().position(|(own, _)| *own == id).map(|at| list.remove(at));
        drop(list);
        drop(removed);
    }

    /// Runs them one after the other, each on what the one before left.
    pub(super) fn run(&self, mut grad: Var) -> Result<Var, OpError> {
        let hooks: Vec<Hook> = self.list.borrow().iter().map(|(_, hook)| hook.clone()).collect();
        for hook in hooks {
            if let Some(replaced) = hook(&grad)? {
                grad = replaced;
            }
        }
        Ok(grad)
    }
}

impl Node {
    pub(super) fn new(sequence: u64, kind: Kind, results: SmallVec<[Facts; 1]>, next: SmallVec<[(Place, Edge); 2]>) -> Rc<Node> {
        Rc::new(Node {
            sequence,
            kind,
            next: RefCell::new(next),
            results,
            hooks: RefCell::default(),
            retained: RefCell::default(),
            note: OnceCell::new(),
        })
    }

    /// The node that gathers the gradient of a leaf.
    pub(super) fn of_leaf(leaf: &Var) -> Rc<Node> {
        let kind = Kind::Accumulate(leaf.meta.clone(), leaf.data.clone());
        Node::new(u64::MAX, kind, smallvec![leaf.data.facts()], SmallVec::new())
    }

    /// The node of a host's function with these inputs.
    pub fn of_custom(sequence: u64, custom: Rc<dyn Custom>, inputs: &[(Place, Edge)], results: &[Tensor]) -> Rc<Node> {
        let results = results.iter().map(Tensor::facts).collect();
        Node::new(sequence, Kind::Custom(custom), results, inputs.into())
    }

    /// A view of `base`, whose gradient goes to `edge`, made anew after a write.
    pub(super) fn of_view(base: &Var, edge: Edge, view: &Tensor) -> Edge {
        // The table has the op: a test of the registry builds it.
        let Some(entry) = registry().find("as_strided") else { unreachable!("as_strided is an op") };
        let ints = |ns: &[i64]| Arg::Ints(ns.iter().map(|n| Dim::Is(*n)).collect());
        let args = [Arg::Tensor(base.clone()), ints(view.sizes()), ints(view.strides()), Arg::Int(Dim::Is(view.offset()))];
        let call = Call::of_view(entry.op, &args, view);
        let sequence = if edge.node.sequence == u64::MAX { 0 } else { edge.node.sequence };
        let kind = Kind::Op(entry.op, RefCell::new(Some(Rc::new(call))));
        let node = Node::new(sequence, kind, smallvec![view.facts()], smallvec![(Place::of(0), edge)]);
        Edge { node, slot: 0 }
    }

    /// What PyTorch calls it: `AddBackward0`.
    pub fn name(&self) -> String {
        match &self.kind {
            Kind::Op(op, _) => {
                let bias = self.next.borrow().iter().any(|(place, _)| place.param == 2);
                node_name(*op, self.results.first(), bias)
            }
            Kind::Written { .. } => "CopySlices".to_owned(),
            Kind::Accumulate(..) => "AccumulateGrad".to_owned(),
            Kind::Custom(custom) => custom.name(),
        }
    }

    /// As [`Node::name`], as PyTorch's messages about outputs write it: `Add`.
    pub fn op_name(&self) -> String {
        match &self.kind {
            Kind::Written { .. } => "torch::autograd::CopySlices".to_owned(),
            _ => self.name().trim_end_matches("Backward0").to_owned(),
        }
    }

    /// The nodes its gradients go to, in order of the arguments.
    pub fn next(&self) -> Vec<Edge> {
        self.next.borrow().iter().map(|(_, edge)| edge.clone()).collect()
    }

    /// The host's function, where it is one.
    pub fn custom(&self) -> Option<&Rc<dyn Custom>> {
        match &self.kind {
            Kind::Custom(custom) => Some(custom),
            _ => None,
        }
    }

    /// The leaf whose gradient it gathers.
    pub fn leaf(&self) -> Option<Var> {
        match &self.kind {
            Kind::Accumulate(meta, data) => Some(Var { data: data.clone(), meta: meta.clone() }),
            _ => None,
        }
    }

    /// Keeps what the node reads elsewhere; see [`Unpack`](super::Unpack). For a node just recorded.
    ///
    /// # Errors
    /// Those of `pack`.
    pub fn pack(self: &Rc<Node>, pack: &mut Pack<'_>) -> Result<(), OpError> {
        let (Kind::Op(_, call) | Kind::Written { call, .. }) = &self.kind else { return Ok(()) };
        // Nothing is borrowed while the host packs.
        let Some(mut own) = call.take() else { return Ok(()) };
        let packed = Rc::get_mut(&mut own).map_or(Ok(()), |own| own.pack(self, pack));
        *call.borrow_mut() = Some(own);
        packed
    }

    /// Where in the script the op was called, where that is recorded.
    pub fn note(&self) -> Option<&str> {
        self.note.get().map(String::as_str)
    }

    /// Sets [`Node::note`], once.
    pub fn set_note(&self, note: String) {
        let _ = self.note.set(note);
    }

    /// Runs the hooks of one result on its gradient.
    pub(super) fn run_hooks(&self, slot: usize, grad: Var) -> Result<Var, OpError> {
        let hooks = self.hooks.borrow().iter().find(|(own, _)| *own == slot).map(|(_, hooks)| hooks.clone());
        hooks.map_or(Ok(grad.clone()), |hooks| hooks.run(grad))
    }
}

/// The nodes that `results` came from and that were recorded after `sequence`.
pub fn recorded_since(results: &[Var], sequence: u64) -> Vec<Rc<Node>> {
    let newer = |node: &Rc<Node>| node.sequence > sequence && node.sequence != u64::MAX;
    let mut found: Vec<Rc<Node>> = vec![];
    let mut stack: Vec<Rc<Node>> = results.iter().filter_map(Var::edge).map(|edge| edge.node).filter(newer).collect();
    while let Some(node) = stack.pop() {
        if found.iter().all(|known| !Rc::ptr_eq(known, &node)) {
            stack.extend(node.next().into_iter().map(|edge| edge.node).filter(newer));
            found.push(node);
        }
    }
    found.sort_by_key(|node| node.sequence);
    found
}

impl Var {
    /// Calls `hook` with the gradient of this tensor whenever it is computed.
    pub fn add_hook(&self, hook: Hook) -> Removal {
        let Some(Edge { node, slot }) = self.edge() else {
            let id = self.meta.hooks.add(hook);
            let meta = Rc::downgrade(&self.meta);
            return Box::new(move || {
                if let Some(meta) = meta.upgrade() {
                    meta.hooks.remove(id);
                }
            });
        };
        let mut all = node.hooks.borrow_mut();
        if !all.iter().any(|(own, _)| *own == slot) {
            all.push((slot, Rc::default()));
        }
        let hooks = all.iter().find(|(own, _)| *own == slot).map(|(_, hooks)| hooks.clone()).unwrap_or_default();
        let id = hooks.add(hook);
        let hooks = Rc::downgrade(&hooks);
        Box::new(move || {
            if let Some(hooks) = hooks.upgrade() {
                hooks.remove(id);
            }
        })
    }

    /// Calls `hook` after a gradient was added to this leaf's.
    pub fn add_after_hook(&self, hook: AfterHook) -> Removal {
        let mut after = self.meta.after.borrow_mut();
        let id = after.last().map_or(0, |(id, _)| id + 1);
        after.push((id, hook));
        let meta = Rc::downgrade(&self.meta);
        Box::new(move || {
            let Some(meta) = meta.upgrade() else { return };
            let mut after = meta.after.borrow_mut();
            let removed = after.iter().position(|(own, _)| *own == id).map(|at| after.remove(at));
            drop(after);
            drop(removed);
        })
    }

    /// Keeps the gradient of a computed tensor as that of a leaf is kept.
    pub fn retain_grad(&self) {
        if let Some(edge) = self.edge()
            && !self.meta.retains_grad()
        {
            self.meta.set_retains_grad();
            edge.node.retained.borrow_mut().push((edge.slot, Rc::downgrade(&self.meta)));
        }
    }
}

impl Drop for Node {
    /// A long chain is dropped link by link, not by recursion.
    fn drop(&mut self) {
        let mut left: Vec<Rc<Node>> = vec![];
        self.take_nodes(&mut left);
        while let Some(node) = left.pop() {
            if let Ok(mut node) = Rc::try_unwrap(node) {
                node.take_nodes(&mut left);
            }
        }
    }
}

impl Node {
    fn take_nodes(&mut self, into: &mut Vec<Rc<Node>>) {
        into.extend(self.next.get_mut().drain(..).map(|(_, edge)| edge.node));
        if let Kind::Op(_, call) | Kind::Written { call, .. } = &mut self.kind
            && let Some(call) = call.get_mut().as_mut().and_then(Rc::get_mut)
        {
            call.take_nodes(into);
        }
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node").field("name", &self.name()).field("sequence", &self.sequence).finish_non_exhaustive()
    }
}
