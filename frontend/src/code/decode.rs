//! Decoding: the base opcodes of a code object with everything addressed by instruction index.

use rustpython_compiler_core::SourceLocation;
use rustpython_vm::{
    builtins::PyCode,
    bytecode::{self, CodeUnits, Opcode, oparg},
};
use std::collections::HashMap;

/// First and last source position of an instruction; `None` where the compiler gave none.
pub type Location = Option<(SourceLocation, SourceLocation)>;

/// One instruction: a base opcode, never a specialised or instrumented one.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// What it does.
    pub op: Opcode,
    /// Its operand with the EXTENDED_ARG prefixes folded in. Meaningless where `target` is set.
    pub arg: u32,
    /// Index of the instruction a jump goes to when it is taken.
    pub target: Option<usize>,
    /// Where it stands in the source.
    pub location: Location,
}

impl Instruction {
    /// An instruction without jump target and location.
    pub fn new(op: Opcode, arg: u32) -> Self {
        Self { op, arg, target: None, location: None }
    }

    /// Whether the jump goes towards the start of the code.
    pub fn is_backward(&self) -> bool {
        matches!(self.op, Opcode::JumpBackward | Opcode::JumpBackwardNoInterrupt)
    }

    /// Whether the operand is a plain index into localsplus. Super-instructions, which pack two, are not counted:
    /// [`Program::expand`] splits them.
    pub fn names_a_slot(&self) -> bool {
        matches!(
            self.op,
            Opcode::LoadFast
                | Opcode::LoadFastBorrow
                | Opcode::LoadFastCheck
                | Opcode::LoadFastAndClear
                | Opcode::StoreFast
                | Opcode::DeleteFast
                | Opcode::MakeCell
                | Opcode::LoadDeref
                | Opcode::StoreDeref
                | Opcode::DeleteDeref
                | Opcode::LoadFromDictOrDeref
        )
    }

    /// Whether running it suspends the frame, so that it can't be run alone.
    pub fn suspends(&self) -> bool {
        matches!(self.op, Opcode::YieldValue | Opcode::ReturnGenerator)
    }
}

/// One entry of the exception table, by instruction index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExceptionRange {
    /// First instruction covered.
    pub start: usize,
    /// First instruction behind the range.
    pub end: usize,
    /// The handler's entry.
    pub target: usize,
    /// Values left on the stack when the handler is entered, below the pushed ones.
    pub depth: u16,
    /// Whether the offset of the raising instruction is pushed below the exception.
    pub push_lasti: bool,
}

/// The instructions of one code object and its exception table.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// In code order.
    pub instructions: Vec<Instruction>,
    /// In table order: the first that covers an instruction is its handler.
    pub exceptions: Vec<ExceptionRange>,
}

/// The code object isn't what a compiler makes; only hand-built ones can be so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("code unit {offset} is not the start of an instruction")]
pub struct DecodeError {
    /// The offset that a jump or the exception table names.
    pub offset: usize,
}

impl Program {
    /// Decodes as compiled: specialisation and instrumentation are taken off.
    pub fn decode(code: &PyCode) -> Result<Self, DecodeError> {
        let units: &CodeUnits = &code.code.instructions;
        let without_location = bytecode::build_no_location_mask(&code.code.linetable, units.len());
        let mut program = Self::default();
        let mut index_of_unit = HashMap::new();
        let mut jumps = Vec::new();
        let (mut unit, mut extended, mut start) = (0usize, 0u32, 0usize);
        while unit < units.len() {
            let op = units.read_op(unit).deoptimize().as_opcode();
            let byte = units.read_arg(unit).as_u32();
            if op == Opcode::ExtendedArg {
                extended = (extended | byte) << 8;
                unit += 1;
                continue;
            }
            let arg = std::mem::take(&mut extended) | byte;
            let next = unit + 1 + op.cache_entries();
            let index = program.instructions.len();
            index_of_unit.insert(start, index);
            let location = (!without_location[unit]).then(|| code.code.locations[unit]);
            let instruction = Instruction { op, arg, target: None, location };
            // END_ASYNC_FOR's operand looks like a jump but none is ever taken.
            if op.has_jump() && op != Opcode::EndAsyncFor {
                let target = if instruction.is_backward() { next.checked_sub(arg as usize) } else { next.checked_add(arg as usize) };
                jumps.push((index, target.ok_or(DecodeError { offset: unit })?));
            }
            program.instructions.push(instruction);
            unit = next;
            start = next;
        }
        index_of_unit.insert(units.len(), program.instructions.len());
        let index = |offset: usize| index_of_unit.get(&offset).copied().ok_or(DecodeError { offset });
        for (jump, target) in jumps {
            program.instructions[jump].target = Some(index(target)?);
        }
        for entry in bytecode::decode_exception_table(&code.code.exceptiontable) {
            program.exceptions.push(ExceptionRange {
                start: index(entry.start as usize)?,
                end: index(entry.end as usize)?,
                target: index(entry.target as usize)?,
                depth: entry.depth,
                push_lasti: entry.push_lasti,
            });
        }
        Ok(program)
    }

    /// The form everything else works on: super-instructions split in two, so that slots can be renumbered and left
    /// between; borrowed loads turned into owning ones, so that no reference is uncounted.
    pub fn expand(&self) -> Self {
        let mut out = Self::default();
        let mut moved = Vec::with_capacity(self.instructions.len() + 1);
        for instruction in &self.instructions {
            moved.push(out.instructions.len());
            let (first, second) = oparg::VarNums::from_u32(instruction.arg).indexes();
            let mut push = |op, arg| out.instructions.push(Instruction { op, arg, ..instruction.clone() });
            let pair = match instruction.op {
                Opcode::LoadFastLoadFast | Opcode::LoadFastBorrowLoadFastBorrow => Some((Opcode::LoadFast, Opcode::LoadFast)),
                Opcode::StoreFastLoadFast => Some((Opcode::StoreFast, Opcode::LoadFast)),
                Opcode::StoreFastStoreFast => Some((Opcode::StoreFast, Opcode::StoreFast)),
                _ => None,
            };
            match (pair, instruction.op) {
                (Some((a, b)), _) => {
                    push(a, first.as_u32());
                    push(b, second.as_u32());
                }
                (None, Opcode::LoadFastBorrow) => push(Opcode::LoadFast, instruction.arg),
                (None, op) => push(op, instruction.arg),
            }
        }
        moved.push(out.instructions.len());
        for instruction in &mut out.instructions {
            instruction.target = instruction.target.map(|target| moved[target]);
        }
        out.exceptions = self
            .exceptions
            .iter()
            .map(|range| ExceptionRange { start: moved[range.start], end: moved[range.end], target: moved[range.target], ..range.clone() })
            .collect();
        out
    }

    /// The exception table entry that an exception raised by the instruction at `pc` goes to.
    pub fn handler(&self, pc: usize) -> Option<&ExceptionRange> {
        self.exceptions.iter().find(|range| range.start <= pc && pc < range.end)
    }

    /// The largest stack the program needs, walking forward from its first instruction and from each handler.
    pub fn stack_depth(&self) -> u32 {
        self.stack_depth_from(0)
    }

    /// The same for a part of a code object whose targets count from the start of the whole: instruction 0 here is
    /// instruction `base` there. Jumps out of the part are not followed.
    pub(crate) fn stack_depth_from(&self, base: usize) -> u32 {
        let mut seen = vec![false; self.instructions.len()];
        let mut deepest = 0;
        let mut work = vec![(0usize, 0i32)];
        for range in &self.exceptions {
            if let Some(target) = range.target.checked_sub(base) {
                work.push((target, handler_depth(range)));
            }
        }
        while let Some((mut pc, mut depth)) = work.pop() {
            deepest = deepest.max(depth);
            while pc < self.instructions.len() && !std::mem::replace(&mut seen[pc], true) {
                let instruction = &self.instructions[pc];
                depth += instruction.op.stack_effect(instruction.arg);
                deepest = deepest.max(depth);
                if let Some(target) = instruction.target.and_then(|t| t.checked_sub(base)) {
                    work.push((target, depth));
                }
                if instruction.op.is_no_fallthrough() {
                    break;
                }
                pc += 1;
            }
        }
        deepest.max(0) as u32
    }
}

/// Values on the stack when the handler of `range` is entered.
pub(super) fn handler_depth(range: &ExceptionRange) -> i32 {
    i32::from(range.depth) + 1 + i32::from(range.push_lasti)
}
