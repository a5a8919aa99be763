//! Building the bridge of one frame: its own suffix behind the body shared by all bridges of the code object.

use super::{
    FrameState, Mode,
    layout::{BridgeKey, Layout, PREFIX},
    natives::{Natives, natives},
};
use crate::{
    code::{self, CodeInfo, ExceptionRange, Instruction, Location, Program},
    thread,
};
use rustpython_vm::{
    AsObject, PyObjectRef, PyRef, PyResult, VirtualMachine,
    builtins::{PyCode, PyFunction},
    bytecode::{CodeFlags, Opcode},
    function::{FuncArgs, KwArgs},
};

/// The function that runs `frame` in `mode`. Its code is kept with the code object; the function is new each time, since
/// one that is kept would keep the namespace of its module alive.
pub(super) fn function(frame: &FrameState, mode: Mode, vm: &VirtualMachine) -> PyResult<PyRef<PyFunction>> {
    let code = bridge_code(frame, mode, vm)?;
    let mut args = FuncArgs::from(vec![code.into(), frame.globals.clone().into()]);
    let free = frame.info.meta.free_variables.len();
    if free > 0 {
        let cells = vm.ctx.new_tuple(vec![natives(vm)?.empty_cell; free]);
        args.kwargs = KwArgs::from_iter([("closure", cells.into())]);
    }
    let function = vm.ctx.types.function_type.as_object().call(args, vm)?;
    function.try_downcast(vm)
}

fn bridge_code(frame: &FrameState, mode: Mode, vm: &VirtualMachine) -> PyResult<PyRef<PyCode>> {
    let key = BridgeKey { pc: frame.pc, in_call: frame.in_call, mode, nulls: null_mask(frame) };
    let made = &frame.info.bridges.made;
    if let Some(code) = made.borrow().get(&key) {
        return Ok(code.clone());
    }
    let code = build(frame, mode, vm)?;
    if thread::with(|t| t.bridges.verify.get()) {
        code::verify(&code).map_err(|error| vm.new_system_error(format!("bridge of {:?} at {}: {error}", frame.info, frame.pc)))?;
    }
    thread::with(|t| t.bridges.built.set(t.bridges.built.get() + 1));
    made.borrow_mut().insert(key, code.clone());
    Ok(code)
}

fn null_mask(frame: &FrameState) -> Vec<u64> {
    let count = frame.slots.len() + frame.stack.len();
    let mut mask = vec![0; count.div_ceil(64)];
    for (index, value) in frame.slots.iter().chain(&frame.stack).enumerate() {
        mask[index / 64] |= u64::from(value.is_none()) << (index % 64);
    }
    mask
}

fn build(frame: &FrameState, mode: Mode, vm: &VirtualMachine) -> PyResult<PyRef<PyCode>> {
    let info = &*frame.info;
    let Some(instruction) = info.program.instructions.get(frame.pc).filter(|_| fits(frame)) else {
        let place = frame.info.program.instructions.get(frame.pc).map(|i| i.op);
        let shape = frame.info.shapes.get(frame.pc + usize::from(frame.in_call)).and_then(Option::as_ref);
        let text = format!(
            "the state of a frame doesn't fit its code: {:?} at {} ({place:?}), in a call: {}, stack {:?} for {:?}, slots {:?} for {:?}",
            frame.info,
            frame.pc,
            frame.in_call,
            frame.stack.iter().map(Option::is_some).collect::<Vec<_>>(),
            shape.map(|s| &s.stack),
            frame.slots.iter().map(Option::is_some).collect::<Vec<_>>(),
            shape.map(|s| &s.slots),
        );
        return Err(vm.new_system_error(text));
    };
    let mut suffix = Suffix {
        program: Program::default(),
        base: info.bridges.body.len(),
        constants: info.meta.constants.clone(),
        info,
        layout: info.bridges.layout,
        location: instruction.location,
        natives: natives(vm)?,
        vm,
    };
    suffix.restore(frame);
    match mode {
        Mode::Step => suffix.step(frame, instruction)?,
        Mode::Finish => suffix.finish(frame, instruction),
    }
    let Suffix { program, constants, .. } = suffix;
    let mut code = info.bridges.body.clone();
    code.append(&program).map_err(|error| vm.new_system_error(error.to_string()))?;
    let depth = program.stack_depth_from(info.bridges.body.len()).max(info.stack_depth as u32);
    let mut meta = info.meta.clone();
    meta.constants = constants;
    meta.variables.extend(&info.bridges.extra_names);
    meta.positional = (info.slots.len() + frame.stack.len()) as u32;
    (meta.positional_only, meta.keyword_only) = (0, 0);
    meta.flags -= CodeFlags::VARARGS | CodeFlags::VARKEYWORDS;
    if mode == Mode::Step {
        meta.flags -= CodeFlags::GENERATOR | CodeFlags::COROUTINE | CodeFlags::ASYNC_GENERATOR;
    }
    Ok(code.into_code(meta, depth, vm))
}

/// Whether the frame can be in this state at its place: the stack is as deep, and nothing is NULL or unbound that never is.
/// A state that doesn't fit would be undefined behaviour in the VM.
fn fits(frame: &FrameState) -> bool {
    let shapes = &frame.info.shapes;
    // During a call the stack is that behind it, without the result.
    let place = frame.pc + usize::from(frame.in_call);
    let Some(shape) = shapes.get(place).and_then(Option::as_ref) else {
        return false;
    };
    let depth = shape.stack.len().checked_sub(usize::from(frame.in_call));
    let all_fit =
        |values: &[Option<PyObjectRef>], maybe_null: &[bool]| values.iter().zip(maybe_null).all(|(value, null)| value.is_some() || *null);
    depth == Some(frame.stack.len())
        && frame.slots.len() == shape.slots.len()
        && all_fit(&frame.slots, &shape.slots)
        && all_fit(&frame.stack, &shape.stack)
}

/// The part of a bridge behind the body. Instruction numbers are those of the whole bridge.
struct Suffix<'a> {
    program: Program,
    base: usize,
    constants: Vec<PyObjectRef>,
    info: &'a CodeInfo,
    layout: Layout,
    /// Of the instruction that the frame stands at: everything here seems to happen there.
    location: Location,
    natives: Natives,
    vm: &'a VirtualMachine,
}

impl Suffix<'_> {
    /// Arguments → slots and stack.
    fn restore(&mut self, frame: &FrameState) {
        let variables = self.layout.variables;
        for (index, value) in frame.slots.iter().enumerate() {
            if index < variables {
                if value.is_none() {
                    self.op(Opcode::DeleteFast, index as u32);
                }
                continue;
            }
            let argument = self.layout.cell_argument(index - variables);
            self.op(Opcode::LoadFastAndClear, argument);
            if value.is_some() {
                self.op(Opcode::StoreFast, self.layout.slot(index));
            } else {
                self.op(Opcode::PopTop, 0);
            }
        }
        for (index, value) in frame.stack.iter().enumerate() {
            let argument = self.layout.stack_slot(index);
            if value.is_some() {
                self.op(Opcode::LoadFastAndClear, argument);
            } else {
                self.op(Opcode::DeleteFast, argument);
                self.op(Opcode::PushNull, 0);
            }
        }
    }

    /// The one instruction, or the callee in place of a running call, then a stub that parks at each successor.
    fn step(&mut self, frame: &FrameState, instruction: &Instruction) -> PyResult<()> {
        let start = self.here();
        let exhausted = self.exhausted(instruction);
        let mut taken = None;
        let mut falls_through = true;
        if frame.in_call {
            self.call_native(self.natives.run_callee.clone());
        } else {
            match (instruction.op, instruction.target) {
                (Opcode::JumpForward | Opcode::JumpBackward | Opcode::JumpBackwardNoInterrupt, Some(target)) => {
                    falls_through = false;
                    self.park(target)?;
                }
                (op, target) => {
                    let jump = self.op(op, self.layout.renumber(instruction).arg);
                    taken = target.map(|target| (jump, exhausted.unwrap_or(target)));
                    falls_through = !op.is_no_fallthrough();
                }
            }
        }
        let end = self.here();
        if falls_through {
            if frame.in_call
                && let Some(exhausted) = exhausted
            {
                let skip = self.unless_exhausted();
                self.park(exhausted)?;
                self.land(skip);
            }
            self.stay_if_escaped(frame.pc + 1);
            self.park(frame.pc + 1)?;
        }
        if let Some((jump, target)) = taken {
            self.land(jump);
            self.park(target)?;
        }
        let Some(handler) = self.info.program.handler(frame.pc).cloned() else {
            return Ok(());
        };
        let stub = self.here();
        self.cover(start, end, stub, &handler);
        // The pushed offset counts in this bridge; the body's own is right in all. RERAISE has restored it already.
        let restored = instruction.op == Opcode::Reraise && instruction.arg > 0;
        if handler.push_lasti && !restored {
            let offset = self.info.bridges.body.offset(PREFIX + frame.pc);
            self.op(Opcode::Swap, 2);
            self.op(Opcode::PopTop, 0);
            self.constant(self.vm.ctx.new_int(offset).into());
            self.op(Opcode::Swap, 2);
        }
        self.park(handler.target)
    }

    /// Jumps into the body, in a caller behind its call.
    fn finish(&mut self, frame: &FrameState, instruction: &Instruction) {
        if !frame.in_call {
            if self.info.is_generator() {
                self.call_native(self.natives.set_handled.clone());
                self.op(Opcode::PopTop, 0);
            }
            self.jump(Opcode::JumpBackward, PREFIX + frame.pc);
            return;
        }
        let start = self.here();
        self.call_native(self.natives.run_callee.clone());
        let end = self.here();
        if let Some(exhausted) = self.exhausted(instruction) {
            let skip = self.unless_exhausted();
            self.jump(Opcode::JumpBackward, PREFIX + exhausted);
            self.land(skip);
        }
        self.jump(Opcode::JumpBackward, PREFIX + frame.pc + 1);
        if let Some(handler) = self.info.program.handler(frame.pc).cloned() {
            self.cover(start, end, PREFIX + handler.target, &handler);
        }
    }

    /// Where FOR_ITER goes when its iterator is exhausted: past an END_FOR.
    fn exhausted(&self, instruction: &Instruction) -> Option<usize> {
        let target = instruction.target.filter(|_| instruction.op == Opcode::ForIter)?;
        let ends = self.info.program.instructions.get(target)?.op == Opcode::EndFor;
        Some(target + usize::from(ends))
    }

    /// Hands slots and stack to `park` and leaves the frame.
    fn park(&mut self, pc: usize) -> PyResult<()> {
        let Some(shape) = self.info.shapes.get(pc).and_then(Option::as_ref) else {
            return Err(self.vm.new_system_error("a successor is unreachable"));
        };
        let depth = shape.stack.len();
        // STORE_FAST accepts a NULL.
        for index in (0..depth).rev() {
            self.op(Opcode::StoreFast, self.layout.stack_slot(index));
        }
        self.constant(self.natives.park.clone());
        self.op(Opcode::PushNull, 0);
        self.constant(self.vm.ctx.new_int(pc).into());
        for (index, maybe_null) in shape.slots.iter().enumerate() {
            self.take(self.layout.slot(index), *maybe_null);
        }
        for (index, maybe_null) in shape.stack.iter().enumerate() {
            self.take(self.layout.stack_slot(index), *maybe_null);
        }
        self.op(Opcode::Call, (1 + shape.slots.len() + depth) as u32);
        self.op(Opcode::ReturnValue, 0);
        Ok(())
    }

    /// Goes on in the body if somebody holds this frame's object.
    fn stay_if_escaped(&mut self, pc: usize) {
        self.call_native(self.natives.escaped.clone());
        let leave = self.op(Opcode::PopJumpIfFalse, 0);
        self.jump(Opcode::JumpBackward, PREFIX + pc);
        self.land(leave);
    }

    /// Behind the callee of a FOR_ITER: answers the jump that is taken if there is a next value. In the other case the
    /// marker is off the stack.
    fn unless_exhausted(&mut self) -> usize {
        self.op(Opcode::Copy, 1);
        self.constant(self.natives.null.clone());
        self.op(Opcode::IsOp, 0);
        let skip = self.op(Opcode::PopJumpIfFalse, 0);
        self.op(Opcode::PopTop, 0);
        skip
    }

    /// Moves a slot's value to the stack, a NULL as its stand-in.
    fn take(&mut self, slot: u32, maybe_null: bool) {
        if maybe_null {
            self.constant(self.natives.read_null.clone());
        }
        self.op(Opcode::LoadFastAndClear, slot);
        if maybe_null {
            self.op(Opcode::Call, 0);
        }
    }

    fn call_native(&mut self, native: PyObjectRef) {
        self.constant(native);
        self.op(Opcode::PushNull, 0);
        self.op(Opcode::Call, 0);
    }

    fn constant(&mut self, value: PyObjectRef) {
        let index = self.constants.iter().position(|known| known.is(&value));
        let index = index.unwrap_or_else(|| {
            self.constants.push(value);
            self.constants.len() - 1
        });
        self.op(Opcode::LoadConst, index as u32);
    }

    fn cover(&mut self, start: usize, end: usize, target: usize, handler: &ExceptionRange) {
        self.program.exceptions.push(ExceptionRange { start, end, target, ..handler.clone() });
    }

    fn op(&mut self, op: Opcode, arg: u32) -> usize {
        self.program.instructions.push(Instruction { location: self.location, ..Instruction::new(op, arg) });
        self.here() - 1
    }

    fn jump(&mut self, op: Opcode, target: usize) {
        let jump = self.op(op, 0);
        self.program.instructions[jump - self.base].target = Some(target);
    }

    /// Lets an earlier jump go to the next instruction.
    fn land(&mut self, jump: usize) {
        self.program.instructions[jump - self.base].target = Some(self.here());
    }

    fn here(&self) -> usize {
        self.base + self.program.instructions.len()
    }
}
