//! The symbolic interpreter: from an entry's bytecode to a graph, guards and an exit.
//!
//! In reading order: [`stop`] is the table of reasons, [`value`] what is known of a Python value, [`recorder`] the state of one
//! trace, [`step`] one instruction, the files behind it the handlers and protocols, [`recipe`] how state becomes real objects again,
//! and [`trace()`] the driver. Tracing runs no user code and changes nothing: real objects are reached through
//! [`taipan_guards::Assumptions`] only.
mod attributes;
mod caches;
mod calls;
mod classes;
mod compare;
mod containers;
mod exceptions;
pub mod frame;
mod generators;
mod iterate;
mod methods;
mod names;
pub mod natives;
pub mod operators;
mod partials;
pub mod recipe;
pub mod recorder;
pub mod step;
pub mod stop;
mod tensors;
mod text;
pub mod trace;
mod unpacking;
pub mod value;

pub use recipe::{Effect, ExitFrame, Fill, Make, Recipe, Reg};
pub use stop::{Reason, Stop};
pub use trace::{EntryFrame, Exit, Limits, Outcome, Place, Trace, trace};
