//! The hook: every call of a Python function made inside a compiled region is first offered to a [`CallHook`].
//!
//! The VM is entered in one place, the call slots of the `function` type. Specialised opcodes would pass them by, so a
//! [`Region`] holds `use_tracing` on, which every such opcode tests. No trace function is set by it: nothing reaches the
//! script. Outside a region the cost of the hook is one flag test on calls that come through the slots.

use crate::{bridge::FrameState, code, thread, vm::guarded};
use rustpython_vm::{
    AsObject, Py, PyObject, PyObjectRef, PyResult, VirtualMachine, builtins::PyFunction, bytecode::CodeFlags, function::FuncArgs,
};
use std::rc::Rc;

type VectorCall = fn(&PyObject, Vec<PyObjectRef>, usize, Option<&[PyObjectRef]>, &VirtualMachine) -> PyResult;
type Call = fn(&PyObject, FuncArgs, &VirtualMachine) -> PyResult;

/// The function type's own slots.
#[derive(Clone, Copy)]
pub(crate) struct CallSlots {
    vector_call: VectorCall,
    call: Call,
}

/// Who decides about calls inside compiled regions.
pub trait CallHook {
    /// A Python function is about to be called. A panic in here becomes a `RuntimeError` of the script.
    fn on_call(&self, function: &Py<PyFunction>, args: FuncArgs, vm: &VirtualMachine) -> Called;

    /// A chain of frames parked under a frame that has to stay where it is, since the chain is at its cap: run it to its
    /// end as a trampoline of its own.
    fn resume(&self, chain: Vec<FrameState>, vm: &VirtualMachine) -> PyResult {
        crate::bridge::finish(chain, vm)
    }
}

/// What a hook made of a call.
pub enum Called {
    /// The call is done.
    Done(PyResult),
    /// Not ours: run it plainly, with these arguments.
    Declined(FuncArgs),
}

/// Makes `hook` the one that is asked on this thread. The slots are replaced once for each thread: the type and its slots
/// outlive an interpreter, and a second replacement would take our own slots for the VM's.
pub fn install(hook: Rc<dyn CallHook>, vm: &VirtualMachine) -> PyResult<()> {
    if thread::with(|t| t.call_slots.get()).is_none() {
        let slots = vm.ctx.types.function_type.slots();
        let (Some(vector_call), Some(call)) = (slots.vectorcall.load(), slots.call.load()) else {
            return Err(vm.new_system_error("the function type has no call slots"));
        };
        thread::with(|t| t.call_slots.set(Some(CallSlots { vector_call, call })));
        slots.vectorcall.store(Some(hooked_vector_call));
        slots.call.store(Some(hooked_call));
    }
    let replaced = thread::with(|t| t.hook.replace(Some(hook)));
    drop(replaced);
    Ok(())
}

/// While it lives, calls are offered to the hook ([`Region::compiled`]) or not ([`Region::plain`]). Dropping it restores
/// what was before, so regions nest and end on every way out.
pub struct Region<'vm> {
    vm: &'vm VirtualMachine,
    was_active: bool,
    was_tracing: bool,
}

impl<'vm> Region<'vm> {
    /// A compiled region: calls pass the hook.
    pub fn compiled(vm: &'vm VirtualMachine) -> Self {
        Self::enter(true, vm)
    }

    /// A stretch inside a compiled region whose calls don't pass the hook: the tracer's own work.
    pub fn plain(vm: &'vm VirtualMachine) -> Self {
        Self::enter(false, vm)
    }

    fn enter(active: bool, vm: &'vm VirtualMachine) -> Self {
        let was_active = thread::with(|t| t.hook_active.replace(active));
        let was_tracing = vm.use_tracing.replace(active || script_traces(vm));
        Self { vm, was_active, was_tracing }
    }
}

impl Drop for Region<'_> {
    fn drop(&mut self) {
        thread::with(|t| t.hook_active.set(self.was_active));
        // The script may have set a trace function meanwhile.
        self.vm.use_tracing.set(self.was_tracing || script_traces(self.vm));
    }
}

/// Calls `function` without offering this call to the hook; calls it makes pass the hook as usual.
pub fn run_original(function: &Py<PyFunction>, args: FuncArgs, vm: &VirtualMachine) -> PyResult {
    if args.kwargs.is_empty() && !script_traces(vm) && takes_exactly(function, args.args.len(), vm) {
        return function.invoke_exact_args(args.args, vm);
    }
    match thread::with(|t| t.call_slots.get()) {
        Some(slots) => (slots.call)(function.as_object(), args, vm),
        None => function.as_object().call(args, vm),
    }
}

/// Whether the short way of calling is right: plain parameters only and as many arguments.
fn takes_exactly(function: &Py<PyFunction>, count: usize, vm: &VirtualMachine) -> bool {
    code::code_of(function, vm).is_ok_and(|code| {
        let raw = &code.code;
        raw.flags.contains(CodeFlags::OPTIMIZED | CodeFlags::NEWLOCALS)
            && !raw.flags.intersects(CodeFlags::VARARGS | CodeFlags::VARKEYWORDS)
            && raw.kwonlyarg_count == 0
            && raw.arg_count as usize == count
    })
}

/// Whether the script itself traces or profiles: then its functions must really be called, with frame objects.
fn script_traces(vm: &VirtualMachine) -> bool {
    !vm.is_none(&vm.trace_func.borrow()) || !vm.is_none(&vm.profile_func.borrow())
}

fn hooked_vector_call(
    callee: &PyObject,
    args: Vec<PyObjectRef>,
    positional: usize,
    keywords: Option<&[PyObjectRef]>,
    vm: &VirtualMachine,
) -> PyResult {
    if let Some((hook, function)) = asked(callee, vm) {
        let args = FuncArgs::from_vectorcall_owned(args, positional, keywords);
        return offer(&*hook, function, args, vm);
    }
    match thread::with(|t| t.call_slots.get()) {
        Some(slots) => (slots.vector_call)(callee, args, positional, keywords, vm),
        None => Err(vm.new_system_error("call hook without saved slots")),
    }
}

fn hooked_call(callee: &PyObject, args: FuncArgs, vm: &VirtualMachine) -> PyResult {
    if let Some((hook, function)) = asked(callee, vm) {
        return offer(&*hook, function, args, vm);
    }
    match thread::with(|t| t.call_slots.get()) {
        Some(slots) => (slots.call)(callee, args, vm),
        None => Err(vm.new_system_error("call hook without saved slots")),
    }
}

/// The hook, if this call is to be offered to it.
#[inline]
fn asked<'a>(callee: &'a PyObject, vm: &VirtualMachine) -> Option<(Rc<dyn CallHook>, &'a Py<PyFunction>)> {
    if !thread::with(|t| t.hook_active.get()) || script_traces(vm) {
        return None;
    }
    let hook = thread::with(|t| t.hook.borrow().clone())?;
    Some((hook, callee.downcast_ref::<PyFunction>()?))
}

fn offer(hook: &dyn CallHook, function: &Py<PyFunction>, args: FuncArgs, vm: &VirtualMachine) -> PyResult {
    let called = guarded(vm, "a compiled call", || Ok(hook.on_call(function, args, vm)))?;
    match called {
        Called::Done(result) => result,
        Called::Declined(args) => run_original(function, args, vm),
    }
}
