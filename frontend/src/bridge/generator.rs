//! Rebuilding a suspended generator from the state of its frame.

use super::{FrameState, Mode, build, run};
use crate::{code::FunctionView, hook};
use rustpython_vm::{Py, PyResult, VirtualMachine, builtins::PyFunction, bytecode::Opcode, function::FuncArgs};

/// The frame that a generator made by calling `function` starts with; `None` if the call is ill-formed.
pub fn generator_start(function: &Py<PyFunction>, args: &FuncArgs, vm: &VirtualMachine) -> PyResult<Option<FrameState>> {
    let view = FunctionView::new(function, vm)?;
    let frame = super::enter::start(&view, args, vm)?;
    // A generator handles nothing of its caller's.
    Ok(frame.map(|frame| FrameState { handled: None, ..frame }))
}

/// A generator in the middle of its life. `frame` stands at its YIELD_VALUE, the yielded value on top of the stack; that
/// value counts as delivered already. The bridge is a generator function whose prologue restores the frame; one `next`
/// brings it to the yield.
pub fn suspended(mut frame: FrameState, vm: &VirtualMachine) -> PyResult {
    let instruction = frame.info.program.instructions.get(frame.pc);
    if instruction.is_none_or(|i| i.op != Opcode::YieldValue) {
        return Err(vm.new_system_error("a generator can only be rebuilt at a yield"));
    }
    let function = build::function(&frame, Mode::Finish, vm)?;
    let _entered = run::Entered::generator(&mut frame, vm);
    let args = run::arguments(frame.slots, frame.stack, vm);
    let generator = hook::run_original(&function, args.into(), vm)?;
    vm.call_method(&generator, "__next__", ())?;
    Ok(generator)
}
