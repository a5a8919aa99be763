//! Bridges: leaving a running function after any instruction and going on there later.
//!
//! A frame outside the VM is a [`FrameState`]; a *chain* is a call stack of them, outermost first, every frame but the last
//! stopped inside its call. A chain goes on by running a generated code object, the bridge, in place of each frame: it
//! restores slots and stack, runs exactly one instruction at its own source location, and *parks* at whichever successor
//! the instruction takes, the entry of its exception handler included. A caller's bridge runs the rest of the chain in
//! place of its call, so `try`, `with`, `finally`, tracebacks and the recursion limit are the VM's own; when the callee
//! parks, the callers park behind it. Native stack use doesn't grow with the number of breaks.
//!
//! What must hold:
//! - NULLs and unbound slots are kept as `None`, never replaced: popping a NULL that became a value, or the reverse, is
//!   undefined behaviour in the VM.
//! - All bridges of a code object contain its whole body at the same offsets, so `lasti` numbers on a stack stay valid.
//! - A frame whose object somebody holds (`sys._getframe`) stays where it is and is finished plainly, with everything
//!   under it.
//! - The frame's handled exception is set before a bridge runs and the caller's after, so handlers are ordinary places.
//! - Bodies of generators and coroutines are not stepped; a suspended one is rebuilt by [`suspended`].
//! - A state fits its place ([`CodeInfo::shapes`]); one that doesn't is refused with a `SystemError`.
//! - Code constants of a bridge hold natives and numbers only: the garbage collector doesn't look into code objects.
//!
//! Known differences from a plain run: the frame object of a *caught* exception shows no locals once its frame has parked,
//! since values move out to die in time; `f_code` is a copy of the function's code; a deadline that strikes while a bridge
//! restores its frame passes the `finally` blocks of that frame by.

mod build;
mod enter;
mod escape;
mod generator;
mod layout;
mod natives;
mod run;

pub use enter::{enter, follow};
pub use generator::{generator_start, suspended};
pub use run::{finish, step};

pub(crate) use layout::CodeBridges;

use crate::{code::CodeInfo, thread};
use natives::Natives;
use run::Running;
use rustpython_vm::{
    PyObjectRef,
    builtins::{PyBaseExceptionRef, PyDictRef},
};
use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

/// The longest chain that is parked as a whole. Every break re-parks all callers, so a deeper chain leaves its outer
/// frames live on the native stack and goes on below them.
pub const CHAIN_CAP: usize = 32;

/// One frame, outside the VM.
#[derive(Clone, Debug)]
pub struct FrameState {
    /// Its code.
    pub info: Rc<CodeInfo>,
    /// Its module's namespace.
    pub globals: PyDictRef,
    /// Index of the next instruction in the expanded program; of the running call, if `in_call`.
    pub pc: usize,
    /// Localsplus: `None` is unbound; cells are cell objects.
    pub slots: Vec<Option<PyObjectRef>>,
    /// The value stack, bottom first: `None` is NULL. The operands of a running call are gone from it.
    pub stack: Vec<Option<PyObjectRef>>,
    /// What `sys.exc_info()` shows in this frame.
    pub handled: Option<PyBaseExceptionRef>,
    /// Whether the instruction at `pc` is running: its callee is the next frame of the chain.
    pub in_call: bool,
    /// For a call of a class: the new object, the result in place of its `__init__`'s `None`.
    pub post: Option<PyObjectRef>,
}

/// What running one instruction came to. An exception that leaves the outermost frame is the error of [`step`].
#[derive(Debug)]
pub enum Stepped {
    /// The chain stands before its next instruction.
    Parked(Vec<FrameState>),
    /// The outermost frame returned.
    Returned(PyObjectRef),
}

/// Checks every new bridge with the verifier from now on (or no more): a failure is a `SystemError`.
pub fn set_verify(on: bool) {
    thread::with(|t| t.bridges.verify.set(on));
}

/// Bridges built on this thread so far.
pub fn built() -> u64 {
    thread::with(|t| t.bridges.built.get())
}

/// How far a frame goes in its bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Mode {
    /// One instruction, then park.
    Step,
    /// To the frame's end.
    Finish,
}

/// The bridges' part of the thread state.
#[derive(Default)]
pub(crate) struct BridgeState {
    natives: RefCell<Option<Natives>>,
    /// Bridges being run, innermost last.
    running: RefCell<Vec<Running>>,
    own_references: Cell<Option<escape::OwnReferences>>,
    verify: Cell<bool>,
    built: Cell<u64>,
}

impl BridgeState {
    pub(crate) fn release(&self) {
        let natives = self.natives.take();
        drop(natives);
    }
}
