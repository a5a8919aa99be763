//! A verifier for assembled code: wrong code is undefined behaviour or a panic inside the VM, never an error.
//!
//! Checked: every constant, name and slot is in range; every jump, handler and fall-through stays inside the code; the
//! stack never underflows, has one depth at each instruction and never exceeds the declared depth; both location tables
//! cover every unit.

use super::{DecodeError, Instruction, Program, decode::handler_depth};
use rustpython_vm::{
    builtins::PyCode,
    bytecode::{self, Opcode},
};

/// The first rule that a code object breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// A jump or table entry points between instructions.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// An operand names a constant, name or slot that isn't there.
    #[error("instruction {pc} ({op:?}): {what} {index} of {count}")]
    Range {
        /// Index of the instruction.
        pc: usize,
        /// Its opcode.
        op: Opcode,
        /// "constant", "name" or "slot".
        what: &'static str,
        /// What it asks for.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// Control flow leaves the code.
    #[error("instruction {pc} goes on to {next}, outside the code")]
    Outside {
        /// Index of the instruction.
        pc: usize,
        /// Where it goes.
        next: usize,
    },
    /// The stack is too small, too large or of two depths.
    #[error("instruction {pc} ({op:?}): stack depth {depth}, {rule}")]
    Stack {
        /// Index of the instruction.
        pc: usize,
        /// Its opcode.
        op: Opcode,
        /// Values on the stack before it, after it if it is too deep.
        depth: i32,
        /// What should hold.
        rule: &'static str,
    },
    /// A location table is shorter than the code.
    #[error("the {0} doesn't cover the code")]
    Table(&'static str),
}

/// Checks a whole code object.
pub fn verify(code: &PyCode) -> Result<(), VerifyError> {
    let program = Program::decode(code)?;
    let units = code.code.instructions.len();
    if code.code.locations.len() != units {
        return Err(VerifyError::Table("location list"));
    }
    // One entry covers at most eight units, and each starts with the only byte that has its high bit set.
    let covered: usize = code.code.linetable.iter().filter(|byte| **byte & 0x80 != 0).map(|byte| usize::from(byte & 7) + 1).sum();
    if covered != units {
        return Err(VerifyError::Table("line table"));
    }
    for (pc, instruction) in program.instructions.iter().enumerate() {
        check_range(pc, instruction, code)?;
    }
    check_stack(&program, code.code.max_stackdepth as i32)
}

fn check_range(pc: usize, instruction: &Instruction, code: &PyCode) -> Result<(), VerifyError> {
    let arg = instruction.arg as usize;
    let (constants, names) = (code.code.constants.len(), code.code.names.len());
    let slots = code.code.localspluskinds.len();
    let (what, index, count) = match instruction.op {
        Opcode::LoadConst => ("constant", arg, constants),
        Opcode::LoadGlobal | Opcode::LoadAttr => ("name", arg >> 1, names),
        Opcode::LoadSuperAttr => ("name", arg >> 2, names),
        Opcode::LoadName
        | Opcode::StoreName
        | Opcode::DeleteName
        | Opcode::StoreGlobal
        | Opcode::DeleteGlobal
        | Opcode::StoreAttr
        | Opcode::DeleteAttr
        | Opcode::ImportName
        | Opcode::ImportFrom
        | Opcode::LoadFromDictOrGlobals => ("name", arg, names),
        Opcode::LoadFastLoadFast | Opcode::LoadFastBorrowLoadFastBorrow | Opcode::StoreFastLoadFast | Opcode::StoreFastStoreFast => {
            let (a, b) = bytecode::oparg::VarNums::from_u32(instruction.arg).indexes();
            ("slot", a.as_usize().max(b.as_usize()), slots)
        }
        _ if instruction.names_a_slot() => ("slot", arg, slots),
        _ => return Ok(()),
    };
    if index < count {
        return Ok(());
    }
    Err(VerifyError::Range { pc, op: instruction.op, what, index, count })
}

fn check_stack(program: &Program, limit: i32) -> Result<(), VerifyError> {
    let end = program.instructions.len();
    let mut depths: Vec<Option<i32>> = vec![None; end];
    let mut work = vec![(0, 0, 0)];
    while let Some((from, pc, depth)) = work.pop() {
        let Some(instruction) = program.instructions.get(pc) else {
            return Err(VerifyError::Outside { pc: from, next: pc });
        };
        let wrong = |depth, rule| VerifyError::Stack { pc, op: instruction.op, depth, rule };
        match depths[pc] {
            Some(known) if known != depth => return Err(wrong(depth, "another way came with a different one")),
            Some(_) => continue,
            None => depths[pc] = Some(depth),
        }
        // The compiler covers some instructions that can't raise by a handler that keeps more than they have.
        if let Some(range) = program.handler(pc) {
            work.push((pc, range.target, handler_depth(range)));
        }
        let effect = instruction.op.stack_effect_info(instruction.arg);
        if depth < effect.popped() as i32 {
            return Err(wrong(depth, "it takes more"));
        }
        let after = depth + instruction.op.stack_effect(instruction.arg);
        if after > limit {
            return Err(wrong(after, "more than the code declares"));
        }
        if let Some(target) = instruction.target {
            work.push((pc, target, after));
        }
        if !instruction.op.is_no_fallthrough() {
            work.push((pc, pc + 1, after));
        }
    }
    Ok(())
}
