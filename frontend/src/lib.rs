//! The only crate that names rustpython: the VM, its hook, frames and code objects, and the `torch` module.

pub mod bridge;
pub mod code;
pub mod embed;
pub mod hook;
pub mod inspect;
pub mod source;
mod thread;
pub mod torch;
pub mod vm;
pub mod watch;
