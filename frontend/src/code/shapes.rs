//! Which stack positions can be NULL and which slots unbound, before each instruction.
//!
//! A bridge that leaves a frame may read a value plainly only where it can't be NULL. `true` ("maybe") is always sound:
//! it costs a call of a native function that looks at the NULL.

use super::{CodeMeta, Program, decode::handler_depth};
use rustpython_vm::bytecode::Opcode;

/// The frame before one instruction: `true` = can be NULL or unbound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Stack positions, bottom first.
    pub stack: Vec<bool>,
    /// Slots of localsplus.
    pub slots: Vec<bool>,
}

impl Shape {
    fn join(&self, other: &Self) -> Option<Self> {
        let or = |a: &[bool], b: &[bool]| a.iter().zip(b).map(|(a, b)| a | b).collect();
        (self.stack.len() == other.stack.len()).then(|| Self { stack: or(&self.stack, &other.stack), slots: or(&self.slots, &other.slots) })
    }

    /// After `op`; `None` if it would take more than the stack holds.
    fn after(mut self, op: Opcode, arg: u32) -> Option<Self> {
        let operand = arg as usize;
        let stack = &mut self.stack;
        match op {
            Opcode::Copy => stack.push(*stack.get(stack.len().checked_sub(operand)?)?),
            Opcode::Swap => {
                let top = stack.len().checked_sub(1)?;
                stack.swap(top, (top + 1).checked_sub(operand)?);
            }
            Opcode::LoadFastAndClear => stack.push(std::mem::replace(self.slots.get_mut(operand)?, true)),
            Opcode::StoreFast => *self.slots.get_mut(operand)? = stack.pop()?,
            Opcode::MakeCell => *self.slots.get_mut(operand)? = false,
            Opcode::DeleteFast => *self.slots.get_mut(operand)? = true,
            _ => {
                let effect = op.stack_effect_info(arg);
                let keep = stack.len().checked_sub(effect.popped() as usize)?;
                // The table describes a peek as pop and push: a position pushed back keeps what it was.
                let taken = stack.split_off(keep);
                let pushed = effect.pushed() as usize;
                stack.extend((0..pushed).map(|i| taken.get(i).copied().unwrap_or(false)));
                let pushes_null = match op {
                    Opcode::PushNull | Opcode::LoadSpecial => true,
                    Opcode::LoadGlobal | Opcode::LoadAttr | Opcode::LoadSuperAttr => arg & 1 == 1,
                    _ => false,
                };
                if pushes_null {
                    *stack.last_mut()? = true;
                }
            }
        }
        Some(self)
    }
}

/// The shape before each instruction of an expanded program, `None` where it is unreachable. `None` altogether if the
/// program's stack doesn't add up, which no compiler's does.
pub(super) fn shapes(program: &Program, meta: &CodeMeta) -> Option<Vec<Option<Shape>>> {
    let slots = meta.slots().len();
    let (bound, variables) = (meta.parameters(), meta.variables.len());
    // Cells and free variables always hold a cell, whatever the cell holds.
    let start = Shape { stack: Vec::new(), slots: (0..slots).map(|i| i >= bound && i < variables).collect() };
    let mut shapes: Vec<Option<Shape>> = vec![None; program.instructions.len()];
    let mut work = vec![(0, start)];
    while let Some((pc, mut shape)) = work.pop() {
        let known = shapes.get(pc)?;
        if let Some(known) = known {
            shape = known.join(&shape)?;
            if *known == shape {
                continue;
            }
        }
        shapes[pc] = Some(shape.clone());
        if let Some(range) = program.handler(pc) {
            let mut handler = shape.clone();
            handler.stack.truncate(range.depth.into());
            handler.stack.resize(handler_depth(range) as usize, false);
            work.push((range.target, handler));
        }
        let instruction = &program.instructions[pc];
        let after = shape.after(instruction.op, instruction.arg)?;
        if let Some(target) = instruction.target {
            work.push((target, after.clone()));
        }
        if !instruction.op.is_no_fallthrough() {
            work.push((pc + 1, after));
        }
    }
    Some(shapes)
}
