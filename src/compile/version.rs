//! Versions: a traced region, ready to run.

use super::backend::Callable;
use crate::report::{Break, VersionName};
use std::{cell::Cell, rc::Rc};
use taipan_frontend::{
    bridge::FrameState,
    inspect::{self, Object, Vm},
    torch::Ambient,
};
use taipan_guards::{Program, Roots};
use taipan_ir::graph::Graph;
use taipan_tensor::evaluate::Plan;
use taipan_tracer::{Exit, Recipe};

/// One traced region of an entry.
pub struct Version {
    /// Its name.
    pub name: VersionName,
    /// The ambient state it was traced under.
    pub ambient: Ambient,
    /// Its guards; they capture the graph's inputs first, then what the recipe needs.
    pub program: Program,
    /// Its graph.
    pub graph: Graph,
    /// The graph, planned; `None` where there is nothing to run.
    pub work: Option<Work>,
    /// How it ends.
    pub exit: Exit,
    /// The break it ends at, for reports.
    pub ends_at: Option<Break>,
    /// Instructions that were traced.
    pub instructions: usize,
    /// Times it ran.
    pub runs: Cell<u64>,
}

/// What runs a graph.
pub enum Work {
    /// The evaluator.
    Plan(Plan),
    /// A backend of the script's own.
    Python(Rc<Callable>),
}

impl Version {
    /// The recipe of its exit.
    pub fn recipe(&self) -> Option<&Recipe> {
        match &self.exit {
            Exit::Return { recipe, .. } | Exit::Break { recipe, .. } => Some(recipe),
            Exit::Stay { .. } => None,
        }
    }
}

/// The frames of an entry, as guards see them.
pub struct ChainRoots<'a> {
    /// The frames.
    pub chain: &'a [FrameState],
    /// The VM.
    pub vm: &'a Vm,
}

impl Roots for ChainRoots<'_> {
    fn slot(&self, frame: u16, index: u16) -> Option<&Object> {
        self.chain.get(frame as usize)?.slots.get(index as usize)?.as_ref()
    }

    fn stack(&self, frame: u16, depth: u16) -> Option<&Object> {
        self.chain.get(frame as usize)?.stack.get(depth as usize)?.as_ref()
    }

    fn globals(&self, frame: u16) -> Option<Object> {
        self.chain.get(frame as usize).map(|f| f.globals.clone().into())
    }

    fn builtins(&self, frame: u16) -> Option<Object> {
        self.chain.get(frame as usize).map(|f| inspect::builtins_of(&f.globals.clone().into(), self.vm))
    }

    fn handled(&self, frame: u16) -> Option<Object> {
        self.chain.get(frame as usize)?.handled.clone().map(Into::into)
    }

    fn post(&self, frame: u16) -> Option<Object> {
        self.chain.get(frame as usize)?.post.clone()
    }
}
