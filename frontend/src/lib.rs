//! The only crate that names rustpython: the VM, its hook, frames and code objects, and the `torch` module.

pub mod vm;
