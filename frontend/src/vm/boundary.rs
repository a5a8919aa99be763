//! Where native code is entered from Python: panics stop here, and threads get the stack the VM needs.

use rustpython_vm::{PyResult, VirtualMachine};
use std::{
    any::Any,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    thread::{Builder, JoinHandle},
};

/// Stack of a thread that runs a VM, in bytes: deep enough for the clamped recursion limit.
pub const STACK_BYTES: usize = 64 << 20;

/// Runs `body` and turns a panic in it into a `RuntimeError` that names `what`.
///
/// A panic that crosses the VM leaves its frame chain damaged, so every native function that runs more
/// than a few lines of its own is called through this.
pub fn guarded<R>(vm: &VirtualMachine, what: &str, body: impl FnOnce() -> PyResult<R>) -> PyResult<R> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|panic| {
        Err(vm.new_runtime_error(format!("internal error in {what}: {} (this is a bug in Taipan)", panic_text(&*panic))))
    })
}

/// The message of a caught panic.
pub fn panic_text(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("panic without a message")
}

/// Whether a VM can run on this thread. `Err` is how much stack is left, in bytes.
pub fn stack_suffices() -> Result<(), usize> {
    // What the callers use already is little.
    match stacker::remaining_stack() {
        Some(left) if left < STACK_BYTES - STACK_BYTES / 8 => Err(left),
        _ => Ok(()),
    }
}

/// Starts a thread on which a VM can run.
pub fn spawn_engine_thread<R: Send + 'static>(name: &str, body: impl FnOnce() -> R + Send + 'static) -> io::Result<JoinHandle<R>> {
    Builder::new().name(name.to_owned()).stack_size(STACK_BYTES).spawn(body)
}
