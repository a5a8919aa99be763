//! Guards: where a value was found, what was assumed of it, and the program that checks a set of assumptions again.
//!
//! [`assume::Assumptions`] is the only door from the tracer to real objects: it hands out opaque [`assume::Handle`]s, and every
//! answer it gives about one is recorded as a [`guard::Guard`] first. So a fact without a guard cannot be had. A finished set is
//! flattened into a [`program::Program`], which reads each source once and compares.
pub mod assume;
pub mod guard;
mod memo;
pub mod program;
pub mod source;

pub use assume::{Assumptions, Handle};
pub use guard::{Check, Expected, Failure, FailureKind, Guard, TensorCheck};
pub use program::{Captured, Program, Roots};
pub use source::{Key, ObjectKey, Path, PathStep, Probe, Source, SourceId, SourceTable};
