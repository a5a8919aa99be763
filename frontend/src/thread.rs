//! The state of one VM thread that can't live anywhere else: the VM's slots are plain `fn` pointers without captures.
//!
//! An engine owns its thread, so this is the engine's state. It holds Python objects and must be emptied
//! before the interpreter goes. No other file of the project declares a `thread_local!`.

use crate::{
    bridge::BridgeState,
    code::{self, CodeTable},
    hook::{CallHook, CallSlots},
    torch::Compiler,
    vm::ThreadTurn,
    watch::WatchState,
};
use rustpython_vm::{PyObjectRef, VirtualMachine};
use std::{
    any::Any,
    cell::{Cell, RefCell},
    mem::ManuallyDrop,
    rc::Rc,
};

/// One field for each part of this crate that the VM calls back without an argument of ours.
#[derive(Default)]
pub(crate) struct ThreadState {
    /// The function type's own call slots, saved when ours went in.
    pub call_slots: Cell<Option<CallSlots>>,
    /// Who is asked about calls.
    pub hook: RefCell<Option<Rc<dyn CallHook>>>,
    /// Whether a compiled region is running, so that calls are to be asked about.
    pub hook_active: Cell<bool>,
    /// The compiler of this thread's engine.
    pub compiler: RefCell<Option<Rc<dyn Compiler>>>,
    /// See [`crate::inspect::tensor_epoch`].
    pub tensor_epoch: Cell<u64>,
    /// Decoded code objects.
    pub codes: RefCell<CodeTable>,
    /// Bridges under way.
    pub bridges: BridgeState,
    /// See [`keep`]. Not dropped with the thread: by then nothing of the interpreter is left.
    kept: RefCell<ManuallyDrop<Option<Rc<dyn Any>>>>,
    /// See [`empty_cell`].
    pub empty_cell: RefCell<Option<PyObjectRef>>,
    /// The descriptor hooks and the sentinel type.
    pub watch: WatchState,
    /// Whether this thread may run Python.
    pub turn: ThreadTurn,
}

thread_local! {
    static THREAD: ThreadState = ThreadState::default();
}

/// Looks at this thread's state. `look` must not run Python code while it holds a borrow of a field.
#[inline]
pub(crate) fn with<R>(look: impl FnOnce(&ThreadState) -> R) -> R {
    THREAD.with(look)
}

/// Keeps something for the engine that has taken this thread. `Err`: the thread is taken.
pub fn keep(engine: Rc<dyn Any>) -> Result<(), Rc<dyn Any>> {
    with(|t| match &mut **t.kept.borrow_mut() {
        Some(_) => Err(engine),
        free => {
            *free = Some(engine);
            Ok(())
        }
    })
}

/// What is kept on this thread.
pub fn kept() -> Option<Rc<dyn Any>> {
    with(|t| (**t.kept.borrow()).clone())
}

/// What was kept on this thread, which is free from now on.
pub fn release() -> Option<Rc<dyn Any>> {
    with(|t| t.kept.borrow_mut().take())
}

/// A cell with nothing in it, to compare others with.
pub(crate) fn empty_cell(vm: &VirtualMachine) -> Option<PyObjectRef> {
    if let Some(cell) = with(|t| t.empty_cell.borrow().clone()) {
        return Some(cell);
    }
    let cell = code::make_cell(None, vm).ok()?;
    with(|t| t.empty_cell.replace(Some(cell.clone())));
    Some(cell)
}

/// Lets go of every Python object held for this thread when it is dropped; the hooks in the VM's slots stay and pass
/// everything through. The interpreter's owner holds one and drops it before the interpreter.
pub(crate) struct ReleaseOnDrop;

impl Drop for ReleaseOnDrop {
    fn drop(&mut self) {
        let (hook, codes, compiler) = with(|t| (t.hook.take(), t.codes.take(), t.compiler.take()));
        drop(hook);
        drop(compiler);
        with(|t| t.bridges.release());
        drop(codes);
        let cell = with(|t| t.empty_cell.take());
        drop(cell);
    }
}
