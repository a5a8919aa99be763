//! Taipan: a bytecode-level tracing JIT for PyTorch-style Python, embedded in Rust programs.
//!
//! An [`Engine`] runs scripts written for PyTorch. What they pass through `torch.compile` is traced into graphs, guarded, and
//! executed by a backend; everything else runs in the embedded VM.
//!
//! ```no_run
//! # fn main() -> Result<(), taipan::Error> {
//! let engine = taipan::Engine::builder().build()?;
//! let script = engine.load("model.py")?;
//! let model = script.construct("Net", (16, 4))?.compile()?;
//! let x = taipan::tensor(&[0.5_f32; 32], &[2, 16])?;
//! let y: taipan::Tensor = model.call((x,))?;
//! println!("{:?}", y.to_vec::<f32>()?);
//! # Ok(())
//! # }
//! ```
#![warn(missing_docs)]

mod builder;
mod compile;
mod engine;
mod error;
pub mod explain;
mod ops;
pub mod report;
mod seat;
pub mod settings;
mod value;
mod weights;

pub use builder::EngineBuilder;
pub use engine::{Engine, Module, Object};
pub use error::Error;
pub use ops::{OpDescription, markdown as ops_markdown, ops};
pub use report::Event;
pub use taipan_frontend::{
    embed::{Arguments, Exchange},
    vm::{Access, EnvAccess, Policy, STACK_BYTES, ScriptError},
};
pub use taipan_ir::DType;
pub use taipan_tensor::{Element, Tensor};
pub use value::{FromValue, IntoArguments, Value, tensor};
#[cfg(feature = "ndarray")]
pub use value::{from_array, to_array};
