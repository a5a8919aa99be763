//! Tensors with their place on the tape.

use super::node::{Edge, Hooks, Node};
use crate::Tensor;
use std::{
    cell::{Cell, OnceCell, RefCell},
    rc::{Rc, Weak},
    sync::Arc,
};

/// A tensor and its place on the tape. Cloning shares both.
#[derive(Clone, Debug)]
pub struct Var {
    /// The data.
    pub data: Tensor,
    /// The place on the tape.
    pub meta: Rc<Meta>,
}

/// What the tape knows of one tensor.
#[derive(Default)]
pub struct Meta {
    requires_grad: Cell<bool>,
    /// The node the tensor came from, and which of its results it is; none for a leaf.
    edge: RefCell<Option<Edge>>,
    /// The node that gathers the gradient of a leaf, while any graph leads to it.
    accumulator: RefCell<Weak<Node>>,
    view: OnceCell<View>,
    grad: RefCell<Option<Var>>,
    /// Other data that this tensor was given since vars of it were made, as `x.data = y` does.
    replaced: RefCell<Option<Tensor>>,
    /// Called with the gradient of a leaf before it is added.
    pub(super) hooks: Hooks,
    /// Called once the gradient of a leaf has been added.
    pub(super) after: RefCell<Vec<(u64, AfterHook)>>,
    retains_grad: Cell<bool>,
    inference: Cell<bool>,
}

/// Called when the gradient of a leaf has been added.
pub type AfterHook = Rc<dyn Fn() -> Result<(), taipan_ir::OpError>>;

/// What a view is a view of. The base is no view itself.
pub(super) struct View {
    pub(super) base: Var,
    pub(super) kind: ViewKind,
    /// The version of the storage for which the view's own edge is right.
    version: Cell<u64>,
}

/// How a view was made, by which writing into it is allowed or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ViewKind {
    /// One view, while ops were recorded.
    Single,
    /// One of several results of one op.
    OneOfSeveral,
    /// While ops weren't recorded.
    Unrecorded,
}

impl Var {
    /// A leaf that doesn't require grad.
    pub fn new(data: Tensor) -> Var {
        Var { data, meta: Rc::default() }
    }

    /// The result of a node.
    pub fn from_node(data: Tensor, edge: Edge) -> Var {
        Var { data, meta: Rc::new(Meta { edge: RefCell::new(Some(edge)), ..Meta::default() }) }
    }

    /// Makes a tensor that has no history the result of a node.
    pub fn come_from(&self, edge: Edge) {
        self.meta.set_edge(Some(edge));
    }

    /// Whether gradients flow to or through it.
    pub fn requires_grad(&self) -> bool {
        self.meta.requires_grad(&self.data)
    }

    /// Whether it wasn't computed from tensors that require grad.
    pub fn is_leaf(&self) -> bool {
        self.meta.is_leaf(&self.data)
    }

    /// The node it came from and which of its results it is; `None` for a leaf.
    ///
    /// A view whose storage was written to since comes from its base as the base is now.
    pub fn edge(&self) -> Option<Edge> {
        self.meta.edge(&self.data)
    }

    /// Where its gradient goes: to the node it came from, or for a leaf that requires grad to the node that gathers it.
    pub fn gradient_edge(&self) -> Option<Edge> {
        if let Some(edge) = self.edge() {
            return Some(edge);
        }
        if !self.meta.requires_grad.get() {
            return None;
        }
        if let Some(node) = self.meta.accumulator.borrow().upgrade() {
            return Some(Edge { node, slot: 0 });
        }
        let node = Node::of_leaf(self);
        *self.meta.accumulator.borrow_mut() = Rc::downgrade(&node);
        Some(Edge { node, slot: 0 })
    }

    /// Makes it a view of `source`, or of what that is a view of.
    pub(super) fn set_view_of(&self, source: &Var, kind: ViewKind) {
        let (base, kind) = match source.meta.view.get() {
            Some(view) => (view.base.clone(), if kind == ViewKind::Single { view.kind } else { kind }),
            None => (source.clone(), kind),
        };
        let view = View { base, kind, version: Cell::new(self.data.storage().version()) };
        // A tensor just made is no view yet.
        let _ = self.meta.view.set(view);
    }

    /// Makes a result computed without the tape a view of `source`, perhaps one of several views that one op made.
    pub fn note_view_of(&self, source: &Var, one_of_several: bool) {
        self.set_view_of(source, if one_of_several { ViewKind::OneOfSeveral } else { ViewKind::Single });
    }
}

impl Meta {
    pub(super) fn view(&self) -> Option<&View> {
        self.view.get()
    }

    /// See [`Var::edge`]; `data` is the tensor's.
    fn edge(&self, data: &Tensor) -> Option<Edge> {
        let Some(view) = self.view.get() else { return self.own_edge() };
        let version = data.storage().version();
        if view.version.get() == version || view.kind == ViewKind::Unrecorded || !same_storage(data, &view.base.data) {
            return self.own_edge();
        }
        let Some(base) = view.base.gradient_edge() else { return self.own_edge() };
        let edge = Node::of_view(&view.base, base, data);
        self.set_edge(Some(edge.clone()));
        view.version.set(version);
        Some(edge)
    }

    /// Whether the tensor, whose data is `data`, wasn't computed from tensors that require grad.
    pub fn is_leaf(&self, data: &Tensor) -> bool {
        if self.view.get().is_none() { self.edge.borrow().is_none() } else { self.edge(data).is_none() }
    }

    /// Whether gradients flow to or through the tensor, whose data is `data`. Views of a tensor that was told to require grad behind them
    /// say so too, though no gradient comes from them.
    pub fn requires_grad(&self, data: &Tensor) -> bool {
        self.requires_grad.get()
            || !self.is_leaf(data)
            || data.dtype().has_gradients() && self.view.get().is_some_and(|view| view.base.requires_grad())
    }

    /// Whether it was made a leaf that requires grad.
    pub fn asks_for_grad(&self) -> bool {
        self.requires_grad.get()
    }

    /// Makes a leaf require grad, or not.
    pub fn ask_for_grad(&self, flag: bool) {
        self.requires_grad.set(flag);
    }

    /// Whether it was made in inference mode, and so can't take part in what is recorded.
    pub fn is_inference(&self) -> bool {
        self.inference.get()
    }

    /// Marks a tensor just made in inference mode; views of other tensors stay ordinary ones.
    pub fn mark_inference(&self) {
        let ordinary = self.view.get().is_some_and(|view| !view.base.meta.inference.get());
        self.inference.set(!ordinary);
    }

    /// The gradient gathered so far, with the data it has now.
    pub fn grad(&self) -> Option<Var> {
        let grad = self.grad.borrow().clone()?;
        let replaced = grad.meta.replaced.borrow().clone();
        Some(match replaced {
            Some(data) => Var { data, meta: grad.meta },
            None => grad,
        })
    }

    /// Tells that the tensor has other data from now on.
    pub fn replace_data(&self, data: Tensor) {
        *self.replaced.borrow_mut() = Some(data);
    }

    /// Replaces the gradient gathered so far.
    pub fn set_grad(&self, grad: Option<Var>) {
        let old = self.grad.replace(grad);
        drop(old);
    }

    /// The node it came from, as far as it knows: a view may be out of date.
    pub(super) fn own_edge(&self) -> Option<Edge> {
        self.edge.borrow().clone()
    }

    /// Replaces the node it came from.
    pub(super) fn set_edge(&self, edge: Option<Edge>) {
        let old = self.edge.replace(edge);
        drop(old);
    }

    /// Cuts it off from where it came from: a leaf that doesn't require grad.
    pub fn detach(&self) {
        self.set_edge(None);
        self.requires_grad.set(false);
    }

    /// Whether the gradient of this computed tensor is kept.
    pub fn retains_grad(&self) -> bool {
        self.retains_grad.get()
    }

    pub(super) fn set_retains_grad(&self) {
        self.retains_grad.set(true);
    }

    /// The tensor it is a view of.
    pub fn base(&self) -> Option<&Var> {
        self.view.get().map(|view| &view.base)
    }

    /// Marks a view's edge as out of date, so that it is derived from its base again.
    pub(super) fn forget_edge(&self) {
        self.set_edge(None);
        if let Some(view) = self.view.get() {
            view.version.set(u64::MAX);
        }
    }
}

impl std::fmt::Debug for Meta {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let node = self.edge.borrow().as_ref().map(|edge| edge.node.name());
        f.debug_struct("Meta").field("requires_grad", &self.requires_grad.get()).field("from", &node).finish_non_exhaustive()
    }
}

fn same_storage(left: &Tensor, right: &Tensor) -> bool {
    Arc::ptr_eq(left.storage(), right.storage())
}
