//! Code objects: decoding, assembling, checking, and what is known about each of them before anything runs.
//!
//! Everything here speaks of *instructions by index* in the expanded program (super-instructions split, borrowed loads
//! owned), never of code units: see [`Program`]. Only the assembler knows units.

mod assemble;
mod decode;
mod function;
mod in_place;
mod info;
mod shapes;
mod verify;

pub use assemble::{AssembleError, Assembled, CodeMeta};
pub use decode::{DecodeError, ExceptionRange, Instruction, Location, Program};
pub use function::{FunctionView, Slots, cell_contents, make_cell, set_cell};
pub use info::CodeInfo;
pub use shapes::Shape;
pub use verify::{VerifyError, verify};

pub(crate) use function::{code_of, code_of_function};
pub(crate) use in_place::keep_in_place;

pub(crate) use info::CodeTable;
pub use rustpython_compiler_core::SourceLocation as SourcePlace;
pub use rustpython_vm::bytecode::Opcode;

use rustpython_vm::{
    Context,
    builtins::PyStrInterned,
    bytecode::{self, AsBag, ConstantBag},
};

/// An interned name, usable as a dict key without hashing its text again.
pub type Name = &'static PyStrInterned;

/// A constant of a code object. The VM keeps the type private; its traits name it.
pub type Constant = <<&'static Context as AsBag>::Bag as ConstantBag>::Constant;

/// A code object before it is wrapped into a Python object.
pub type RawCode = bytecode::CodeObject<Constant>;
