//! The compiler of an engine: which version runs a call, what happens where none fits, and how a run leaves traces of itself.
//!
//! A call of a compiled function becomes a chain of frames that have not run yet; the trampoline looks for a version of that
//! entry, runs it, and goes on where it ended, until the outermost frame returns or raises. Everything that fails before a
//! version's effects are committed ends in the plain VM from the same entry, which is always right.
mod backend;
mod jit;
mod owner;
mod rebuild;
mod run;
mod script;
mod version;

pub(crate) use jit::Jit;
