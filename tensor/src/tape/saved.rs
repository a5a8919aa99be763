//! What a node keeps of the call it was recorded for.

use super::{
    node::{Edge, Node},
    var::{Meta, Var},
};
use crate::{Storage, Tensor, storage::Bytes};
use smallvec::{SmallVec, smallvec};
use std::{
    rc::{Rc, Weak},
    sync::Arc,
};
use taipan_ir::{Arg, Facts, OpError, OpRef, op::Kept};

/// An op's arguments and results, as far as its gradient rule reads them.
pub(super) struct Call {
    pub(super) op: OpRef,
    args: Vec<Arg<SavedInput>>,
    /// Facts of the results, and the data of those that are read.
    results: SmallVec<[(Facts, Option<SavedData>); 1]>,
}

/// Gives back a tensor that was kept elsewhere than on the tape.
pub trait Unpack {
    /// The tensor.
    ///
    /// # Errors
    /// Whatever went wrong; the host knows more.
    fn unpack(&self) -> Result<Var, OpError>;
}

/// Keeps a tensor elsewhere.
pub type Pack<'a> = dyn FnMut(&Var) -> Result<Rc<dyn Unpack>, OpError> + 'a;

const INFERENCE_SAVED: &str = "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in \
                               computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use \
                               it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`.";

/// Data with the version it had.
struct SavedData {
    data: Tensor,
    version: u64,
    packed: Option<Rc<dyn Unpack>>,
}

/// A tensor argument: its elements where they are read, otherwise its facts alone.
#[derive(Clone)]
struct SavedInput {
    /// Without elements, a tensor over no memory.
    data: Tensor,
    version: Option<u64>,
    packed: Option<Rc<dyn Unpack>>,
    origin: Origin,
    /// The tensor itself, for what a message says of it.
    now: Weak<Meta>,
}

/// Where a saved tensor came from, as it was then: for derivatives of derivatives.
#[derive(Clone)]
enum Origin {
    Constant,
    Leaf(Rc<Meta>),
    Node(Edge),
}

impl Call {
    /// Keeps `args` and `results` as far as `kept` says; an error where that includes a tensor of inference mode. `own_copy` stands for argument 0 where the op has overwritten it.
    pub(super) fn new(op: OpRef, args: &[Arg<Var>], results: &[Tensor], kept: Kept, own_copy: Option<&Var>) -> Result<Call, OpError> {
        let read = args.iter().enumerate().filter(|(i, _)| kept.params >> i & 1 == 1);
        let mut inference = false;
        read.for_each(|(_, arg)| arg.for_each(|var| inference |= var.meta.is_inference()));
        if inference {
            return Err(OpError::runtime(INFERENCE_SAVED));
        }
        let keep = |param: usize, arg: &Arg<Var>| {
            let read = kept.params >> param & 1 == 1;
            arg.map(|var| SavedInput::new(own_copy.filter(|_| param == 0).unwrap_or(var), read))
        };
        let result = |(i, data): (usize, &Tensor)| {
            let read = kept.results >> i & 1 == 1;
            (data.facts(), read.then(|| SavedData { data: data.clone(), version: data.storage().version(), packed: None }))
        };
        Ok(Call {
            op,
            args: args.iter().enumerate().map(|(i, arg)| keep(i, arg)).collect(),
            results: results.iter().enumerate().map(result).collect(),
        })
    }

    /// A view's call, of which nothing is read.
    pub(super) fn of_view(op: OpRef, args: &[Arg<Var>], view: &Tensor) -> Call {
        let keep = |arg: &Arg<Var>| arg.map(|var| SavedInput::new(var, false));
        Call { op, args: args.iter().map(keep).collect(), results: smallvec![(view.facts(), None)] }
    }

    /// Facts of the results.
    pub(super) fn result_facts(&self) -> impl Iterator<Item = &Facts> {
        self.results.iter().map(|(facts, _)| facts)
    }

    /// Whether any elements are kept.
    pub(super) fn keeps_data(&self) -> bool {
        let mut any = self.results.iter().any(|(_, saved)| saved.is_some());
        self.args.iter().for_each(|arg| arg.for_each(|input| any |= input.version.is_some()));
        any
    }

    /// The arguments again.
    ///
    /// # Errors
    /// Where one whose elements are read has been written to since.
    pub(super) fn args(&self) -> Result<Vec<Arg<Var>>, OpError> {
        let mut failed = None;
        let args = self.args.iter().map(|arg| {
            arg.map(|input| {
                input.unpack().unwrap_or_else(|error| {
                    failed = Some(error);
                    Var::new(input.data.clone())
                })
            })
        });
        let args = args.collect();
        failed.map_or(Ok(args), Err)
    }

    /// The results again; those that aren't read have no elements.
    ///
    /// # Errors
    /// Where one whose elements are read has been written to since.
    pub(super) fn results(&self, node: &Rc<Node>) -> Result<Vec<Var>, OpError> {
        let one = |(slot, (facts, saved)): (usize, &(Facts, Option<SavedData>))| match saved {
            None => Ok(Var::new(shell_of(facts)?)),
            Some(SavedData { packed: Some(packed), .. }) => Ok(Var::from_node(packed.unpack()?.data, Edge { node: node.clone(), slot })),
            Some(saved) => {
                check_version(&saved.data, saved.version, Some((node, slot)))?;
                Ok(Var::from_node(saved.data.clone(), Edge { node: node.clone(), slot }))
            }
        };
        self.results.iter().enumerate().map(one).collect()
    }

    /// Hands every tensor whose elements are kept to `pack`, and keeps what that answers instead.
    ///
    /// # Errors
    /// Those of `pack`.
    pub(super) fn pack(&mut self, node: &Rc<Node>, pack: &mut Pack<'_>) -> Result<(), OpError> {
        let mut failed = Ok(());
        for arg in &mut self.args {
            *arg = arg.map(|input| {
                let mut input = input.clone();
                if input.version.is_some() && failed.is_ok() {
                    failed = input.unpack().and_then(|var| pack(&var)).map(|packed| input.pack(packed));
                }
                input
            });
        }
        failed?;
        for (slot, (_, saved)) in self.results.iter_mut().enumerate() {
            if let Some(saved) = saved {
                let var = Var::from_node(saved.data.clone(), Edge { node: node.clone(), slot });
                saved.packed = Some(pack(&var)?);
                saved.data = without_elements(&saved.data);
            }
        }
        Ok(())
    }

    /// The nodes that are kept alive by what is saved.
    pub(super) fn take_nodes(&mut self, into: &mut Vec<Rc<Node>>) {
        for arg in &self.args {
            arg.for_each(|input| {
                if let Origin::Node(edge) = &input.origin {
                    into.push(edge.node.clone());
                }
            });
        }
        self.args.clear();
    }
}

impl SavedInput {
    fn pack(&mut self, packed: Rc<dyn Unpack>) {
        self.packed = Some(packed);
        self.data = without_elements(&self.data);
    }

    fn new(var: &Var, read: bool) -> SavedInput {
        let origin = match (read, var.edge()) {
            (false, _) => Origin::Constant,
            (true, Some(edge)) => Origin::Node(edge),
            (true, None) if var.meta.asks_for_grad() => Origin::Leaf(var.meta.clone()),
            (true, None) => Origin::Constant,
        };
        let version = read.then(|| var.data.storage().version());
        let data = if read { var.data.clone() } else { without_elements(&var.data) };
        SavedInput { data, version, packed: None, origin, now: Rc::downgrade(&var.meta) }
    }

    fn unpack(&self) -> Result<Var, OpError> {
        let data = match &self.packed {
            Some(packed) => packed.unpack()?.data,
            None => self.data.clone(),
        };
        if let Some(version) = self.version.filter(|_| self.packed.is_none()) {
            let edge = self.now.upgrade().and_then(|meta| meta.own_edge());
            check_version(&self.data, version, edge.as_ref().map(|edge| (&edge.node, edge.slot)))?;
        }
        Ok(match &self.origin {
            Origin::Constant => Var::new(data),
            Origin::Leaf(meta) => Var { data, meta: meta.clone() },
            Origin::Node(edge) => Var::from_node(data, edge.clone()),
        })
    }
}

/// Fails where a tensor was written to since it had this version. `from` is the node it came from, for the message.
///
/// # Errors
/// PyTorch's.
pub fn check_version(data: &Tensor, expected: u64, from: Option<(&Rc<Node>, usize)>) -> Result<(), OpError> {
    let version = data.storage().version();
    if version == expected {
        return Ok(());
    }
    let from = from.map_or_else(String::new, |(node, slot)| format!(", which is output {slot} of {},", node.op_name()));
    Err(OpError::runtime(format!(
        "one of the variables needed for gradient computation has been modified by an inplace operation: [torch.{}Tensor {}]{from} is at \
         version {version}; expected version {expected} instead. Hint: enable anomaly detection to find the operation that failed to \
         compute its gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False).",
        data.dtype().scalar_name(),
        taipan_ir::text::sizes_text(&data.facts().dims),
    )))
}

/// The same layout over no memory: its facts can be asked, reading an element is an error.
fn without_elements(tensor: &Tensor) -> Tensor {
    tensor.with_storage(Arc::new(Storage::new(tensor.storage().device().clone(), Bytes::default())))
}

/// A tensor of these facts over no memory.
fn shell_of(facts: &Facts) -> Result<Tensor, OpError> {
    without_elements(&Tensor::zeros(facts.dtype, &[])).with_facts(facts)
}
