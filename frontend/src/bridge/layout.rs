//! What all bridges of one code object share: the numbering of slots and the assembled body.
//!
//! Slots of a bridge: `variables (numbers unchanged) | .cell* | .stack* | cells and free variables`. All but the last group
//! are arguments, so restoring a frame is mostly passing arguments. Cells stay cells and free variables free, since
//! `locals()`, zero-argument `super()` and error texts ask for the kind; a frame never runs the instructions that would
//! make the one or copy the other.

use super::Mode;
use crate::code::{Assembled, CodeMeta, ExceptionRange, Instruction, Name, Program};
use rustpython_vm::{PyRef, VirtualMachine, builtins::PyCode, bytecode::Opcode};
use std::{cell::RefCell, collections::HashMap};

/// Instructions before the body: RESUME and the jump to the suffix.
pub(super) const PREFIX: usize = 2;

/// The bridges of one code object.
pub(crate) struct CodeBridges {
    pub(super) layout: Layout,
    /// `RESUME; JUMP_FORWARD end; body`.
    pub(super) body: Assembled,
    /// Names of the arguments that are not variables of the original.
    pub(super) extra_names: Vec<Name>,
    pub(super) made: RefCell<HashMap<BridgeKey, PyRef<PyCode>>>,
}

/// What a bridge depends on besides its code object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct BridgeKey {
    pub pc: usize,
    pub in_call: bool,
    pub mode: Mode,
    /// One bit for each slot, then for each stack position: set where it is `None`.
    pub nulls: Vec<u64>,
}

/// Slot numbers of a bridge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// Variables of the original.
    pub variables: usize,
    /// Cells and free variables that are not variables.
    pub cells: usize,
    /// Largest stack of the original.
    pub stack: usize,
}

impl Layout {
    /// Where slot `index` of the original lives.
    pub fn slot(&self, index: usize) -> u32 {
        let moved = if index < self.variables { 0 } else { self.cells + self.stack };
        (index + moved) as u32
    }

    /// The argument that brings the `index`-th cell.
    pub fn cell_argument(&self, index: usize) -> u32 {
        (self.variables + index) as u32
    }

    /// The argument that brings, and the temporary that takes away, a stack position.
    pub fn stack_slot(&self, index: usize) -> u32 {
        (self.variables + self.cells + index) as u32
    }

    /// The same instruction in a bridge.
    pub fn renumber(&self, instruction: &Instruction) -> Instruction {
        let mut moved = instruction.clone();
        if moved.names_a_slot() {
            moved.arg = self.slot(moved.arg as usize);
        }
        moved
    }
}

impl CodeBridges {
    /// `start` is the first instruction that runs: those before it become NOPs. `None` if the body can't be assembled,
    /// which holds for no code that a compiler made.
    pub fn new(program: &Program, meta: &CodeMeta, stack: usize, start: usize, vm: &VirtualMachine) -> Option<Self> {
        let layout = Layout { variables: meta.variables.len(), cells: meta.slots().len() - meta.variables.len(), stack };
        let mut whole = Program::default();
        let end = PREFIX + program.instructions.len();
        whole.instructions.push(Instruction::new(Opcode::Resume, 0));
        whole.instructions.push(Instruction { target: Some(end), ..Instruction::new(Opcode::JumpForward, 0) });
        for (pc, instruction) in program.instructions.iter().enumerate() {
            let mut instruction = layout.renumber(instruction);
            if pc < start {
                (instruction.op, instruction.arg) = (Opcode::Nop, 0);
            }
            instruction.target = instruction.target.map(|target| target + PREFIX);
            whole.instructions.push(instruction);
        }
        whole.exceptions = program.exceptions.iter().map(in_bridge).collect();
        let mut body = Assembled::new(meta.first_line);
        body.append(&whole).ok()?;
        let cells = (0..layout.cells).map(|i| vm.ctx.intern_str(format!(".cell{i}")));
        let stack = (0..stack).map(|i| vm.ctx.intern_str(format!(".stack{i}")));
        let extra_names = cells.chain(stack).collect();
        Some(Self { layout, body, extra_names, made: RefCell::default() })
    }
}

/// An exception range of the original at its place in a bridge.
fn in_bridge(range: &ExceptionRange) -> ExceptionRange {
    ExceptionRange { start: range.start + PREFIX, end: range.end + PREFIX, target: range.target + PREFIX, ..range.clone() }
}
