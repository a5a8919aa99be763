//! The native functions that bridge code calls.
//!
//! They take what they need to know from the innermost entry of `running`, which is always the bridge that calls them:
//! whatever else runs meanwhile has pushed and popped its own.

use super::{FrameState, escape, run};
use crate::thread;
use rustpython_vm::{AsObject, PyObjectRef, PyResult, VirtualMachine, function::FuncArgs};

/// Constants of bridge code. One set for each thread.
#[derive(Clone)]
pub(super) struct Natives {
    /// The result of a bridge that parked.
    pub parked: PyObjectRef,
    /// Stands for NULL among arguments.
    pub null: PyObjectRef,
    /// `park(pc, *slots, *stack)` takes the frame's state away.
    pub park: PyObjectRef,
    /// Called as `[read_null, value or NULL] CALL 0`, the only way to look at a NULL from bytecode.
    pub read_null: PyObjectRef,
    /// Runs the rest of the chain in place of a call.
    pub run_callee: PyObjectRef,
    /// Whether the calling frame has to stay.
    pub escaped: PyObjectRef,
    /// Sets the handled exception of a rebuilt generator, whose frame has a place of its own for it.
    pub set_handled: PyObjectRef,
    /// Closures of bridges only need the right length.
    pub empty_cell: PyObjectRef,
}

/// This thread's natives, made on first use.
pub(super) fn natives(vm: &VirtualMachine) -> PyResult<Natives> {
    if let Some(natives) = thread::with(|t| t.bridges.natives.borrow().clone()) {
        return Ok(natives);
    }
    let object = vm.ctx.types.object_type.as_object();
    let natives = Natives {
        parked: object.call((), vm)?,
        null: object.call((), vm)?,
        park: vm.new_function("park", park).into(),
        read_null: vm.new_function("read_null", read_null).into(),
        run_callee: vm.new_function("run_callee", run::run_callee).into(),
        escaped: vm.new_function("escaped", escape::escaped).into(),
        set_handled: vm.new_function("set_handled", set_handled).into(),
        empty_cell: crate::code::make_cell(None, vm)?,
    };
    escape::calibrate(vm)?;
    thread::with(|t| t.bridges.natives.replace(Some(natives.clone())));
    Ok(natives)
}

fn park(args: FuncArgs, vm: &VirtualMachine) -> PyResult {
    let natives = natives(vm)?;
    let mut args = args.args.into_iter();
    let pc = args.next().and_then(|pc| pc.try_to_value::<usize>(vm).ok());
    let handled = vm.current_exception();
    let done = thread::with(|t| {
        let mut running = t.bridges.running.borrow_mut();
        let running = running.last_mut()?;
        let mut values = args.map(|value| (!value.is(&natives.null)).then_some(value));
        let count = running.info.slots.len();
        let slots: Vec<_> = values.by_ref().take(count).collect();
        let mut stack: Vec<_> = values.collect();
        let pc = pc?;
        let depth = running.info.shapes.get(pc)?.as_ref()?.stack.len();
        if slots.len() != count || stack.len() != depth {
            return None;
        }
        // The callee parked: so this frame is still in its call, whose result is not there yet.
        let result = stack.last().and_then(Option::as_ref);
        let in_call = running.in_call && result.is_some_and(|value| value.is(&natives.parked));
        if in_call {
            stack.pop();
        }
        running.parked.push(FrameState {
            info: running.info.clone(),
            globals: running.globals.clone(),
            pc: if in_call { running.pc } else { pc },
            slots,
            stack,
            handled,
            in_call,
            post: running.post.clone().filter(|_| in_call),
        });
        Some(())
    });
    match done {
        Some(()) => Ok(natives.parked),
        None => Err(vm.new_system_error("a frame can only be parked by its own bridge")),
    }
}

fn read_null(args: FuncArgs, vm: &VirtualMachine) -> PyResult {
    match args.args.into_iter().next() {
        Some(value) => Ok(value),
        None => Ok(natives(vm)?.null),
    }
}

fn set_handled(vm: &VirtualMachine) {
    let handled = thread::with(|t| {
        let mut running = t.bridges.running.borrow_mut();
        running.last_mut().and_then(|running| running.handled.take())
    });
    if handled.is_some() {
        vm.set_exception(handled);
    }
}
