//! In-place operators keep their meaning.
//!
//! The VM rewrites an operator that has met two numbers, or two strings, for such operands. Where an operator rewritten like that later
//! meets others it computes `a + b`, also if the source says `a += b`: a list would be copied and a tensor not be written. So the counters
//! that lead to the rewriting are stopped at in-place operators before the code runs.

use rustpython_compiler_core::bytecode::Instruction;
use rustpython_vm::{AsObject, Py, builtins::PyCode};
use std::sync::atomic::Ordering;

/// The argument of the first in-place operator. Those behind it are in-place operators too.
const FIRST_IN_PLACE: u32 = 13;

/// A counter that never triggers: its lowest four bits stay, and stand for more than any delay.
const NEVER: u16 = 15;

/// Keeps the VM from rewriting in-place operators of this code and of the functions and classes in it.
pub fn keep_in_place(code: &Py<PyCode>) {
    for constant in code.constants.iter() {
        if let Some(inner) = constant.as_object().downcast_ref::<PyCode>() {
            keep_in_place(inner);
        }
    }
    let units = &code.instructions;
    // What the VM does before the first run. It must not do it later, and set the counters again.
    if !code.quickened.swap(true, Ordering::Relaxed) {
        units.quicken();
    }
    let mut at = 0;
    while at < units.len() {
        let op = units.read_op(at);
        if matches!(op, Instruction::BinaryOp { .. }) && units.read_arg(at).as_u32() >= FIRST_IN_PLACE {
            // SAFETY: the unit behind the operator is the counter of its cache, which only this thread's VM reads.
            unsafe { units.write_adaptive_counter(at + 1, NEVER) };
        }
        at += 1 + op.cache_entries();
    }
}
