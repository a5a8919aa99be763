//! Running chains: one instruction of the innermost frame, or all of them to their end.

use super::{CHAIN_CAP, FrameState, Mode, Stepped, build, escape, natives::natives};
use crate::{code::CodeInfo, hook, thread};
use rustpython_vm::{
    AsObject, PyObjectRef, PyResult, VirtualMachine,
    builtins::{PyBaseExceptionRef, PyDictRef},
    bytecode::Opcode,
};
use std::rc::Rc;

/// The frames still to be run, outermost first.
type Chain = std::vec::IntoIter<FrameState>;

/// The bridge of one frame while it runs.
pub(super) struct Running {
    pub info: Rc<CodeInfo>,
    pub globals: PyDictRef,
    pub pc: usize,
    pub in_call: bool,
    pub post: Option<PyObjectRef>,
    mode: Mode,
    /// The frames under this one.
    callee: Option<Chain>,
    /// Whether this frame stays live when its callee parks: the chain under it is at its cap.
    stays: bool,
    /// Frames that have left the VM, innermost first.
    pub parked: Vec<FrameState>,
    /// What a rebuilt generator handles.
    pub handled: Option<PyBaseExceptionRef>,
}

enum Ran {
    Returned(PyObjectRef),
    /// Innermost first.
    Parked(Vec<FrameState>),
}

/// Runs exactly one instruction of the innermost frame. Its exception goes to the handlers of the chain; one that no frame
/// handles is the error. Calls that the instruction makes pass the hook.
///
/// The instruction must not suspend the frame (see [`Instruction::suspends`](crate::code::Instruction::suspends)).
pub fn step(chain: Vec<FrameState>, vm: &VirtualMachine) -> PyResult<Stepped> {
    let next = chain.last().and_then(|frame| frame.info.program.instructions.get(frame.pc));
    if next.is_none_or(|instruction| instruction.suspends()) {
        return Err(vm.new_system_error("no instruction that can be run alone"));
    }
    match run(chain.into_iter(), Mode::Step, vm)? {
        Ran::Returned(value) => Ok(Stepped::Returned(value)),
        Ran::Parked(mut frames) => {
            frames.reverse();
            Ok(Stepped::Parked(frames))
        }
    }
}

/// Runs a chain plainly to its end.
pub fn finish(chain: Vec<FrameState>, vm: &VirtualMachine) -> PyResult {
    match run(chain.into_iter(), Mode::Finish, vm)? {
        Ran::Returned(value) => Ok(value),
        Ran::Parked(_) => Err(vm.new_system_error("a frame was parked while being finished")),
    }
}

fn run(mut chain: Chain, mode: Mode, vm: &VirtualMachine) -> PyResult<Ran> {
    let Some(frame) = chain.next() else {
        return Err(vm.new_system_error("an empty chain can't be run"));
    };
    let function = build::function(&frame, mode, vm)?;
    let args = arguments(frame.slots, frame.stack, vm);
    let stays = chain.len() >= CHAIN_CAP;
    let running = Running {
        info: frame.info,
        globals: frame.globals,
        pc: frame.pc,
        in_call: frame.in_call,
        post: frame.post,
        mode,
        callee: (chain.len() > 0).then_some(chain),
        stays,
        parked: Vec::new(),
        handled: None,
    };
    let mut entered = Entered::push(running, frame.handled, vm);
    let result = hook::run_original(&function, args.into(), vm);
    let parked = entered.pop();
    let value = result?;
    if value.is(&natives(vm)?.parked) { Ok(Ran::Parked(parked)) } else { Ok(Ran::Returned(value)) }
}

/// Arguments of a bridge: slots, then stack; `None` where the bridge puts a NULL anyway.
pub(super) fn arguments(slots: Vec<Option<PyObjectRef>>, stack: Vec<Option<PyObjectRef>>, vm: &VirtualMachine) -> Vec<PyObjectRef> {
    slots.into_iter().chain(stack).map(|value| value.unwrap_or_else(|| vm.ctx.none())).collect()
}

/// An entry of `running`, taken off on every way out. Functions share their callers' place for the handled exception: it
/// is set to the frame's here and put back with it.
pub(super) struct Entered<'vm> {
    outer: Option<PyBaseExceptionRef>,
    open: bool,
    vm: &'vm VirtualMachine,
}

impl<'vm> Entered<'vm> {
    fn push(running: Running, handled: Option<PyBaseExceptionRef>, vm: &'vm VirtualMachine) -> Self {
        let outer = vm.current_exception();
        vm.set_exception(handled);
        thread::with(|t| t.bridges.running.borrow_mut().push(running));
        Self { outer, open: true, vm }
    }

    /// For a generator being rebuilt: nothing parks, and its frame sets what it handles itself.
    pub(super) fn generator(frame: &mut FrameState, vm: &'vm VirtualMachine) -> Self {
        let running = Running {
            info: frame.info.clone(),
            globals: frame.globals.clone(),
            pc: frame.pc,
            in_call: false,
            post: None,
            mode: Mode::Finish,
            callee: None,
            stays: false,
            parked: Vec::new(),
            handled: frame.handled.take(),
        };
        Self::push(running, vm.current_exception(), vm)
    }

    fn pop(&mut self) -> Vec<FrameState> {
        if !std::mem::replace(&mut self.open, false) {
            return Vec::new();
        }
        let running = thread::with(|t| t.bridges.running.borrow_mut().pop());
        self.vm.set_exception(self.outer.take());
        running.map(|running| running.parked).unwrap_or_default()
    }
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.pop();
    }
}

/// What a caller's bridge calls in place of its call: runs the frames under it.
pub(super) fn run_callee(vm: &VirtualMachine) -> PyResult {
    let natives = natives(vm)?;
    let taken = thread::with(|t| {
        let mut running = t.bridges.running.borrow_mut();
        let running = running.last_mut()?;
        let instruction = running.info.program.instructions.get(running.pc);
        let iterates = instruction.is_some_and(|i| i.op == Opcode::ForIter);
        let chain = running.callee.take()?;
        Some((chain, running.mode, running.stays, running.post.clone(), iterates))
    });
    let Some((chain, mode, stays, post, iterates)) = taken else {
        return Err(vm.new_system_error("a callee can only be run by its caller's bridge"));
    };
    let result = match run(chain, mode, vm) {
        Ok(Ran::Parked(mut frames)) => {
            if escape::escaped(vm) {
                frames.reverse();
                finish(frames, vm)
            } else if stays {
                frames.reverse();
                resume(frames, vm)
            } else {
                thread::with(|t| {
                    if let Some(running) = t.bridges.running.borrow_mut().last_mut() {
                        running.parked = frames;
                    }
                });
                return Ok(natives.parked);
            }
        }
        Ok(Ran::Returned(value)) => Ok(value),
        Err(error) => Err(error),
    };
    match (result, post) {
        (Ok(value), Some(new)) if vm.is_none(&value) => Ok(new),
        (Ok(value), Some(_)) => Err(vm.new_type_error(format!("__init__() should return None, not '{}'", value.class().name()))),
        // StopIteration out of a `__next__` is the end of the loop, not an exception.
        (Err(error), _) if iterates && error.fast_isinstance(vm.ctx.exceptions.stop_iteration) => Ok(natives.null),
        (result, _) => result,
    }
}

fn resume(frames: Vec<FrameState>, vm: &VirtualMachine) -> PyResult {
    match thread::with(|t| t.hook.borrow().clone()) {
        Some(hook) => hook.resume(frames, vm),
        None => finish(frames, vm),
    }
}
