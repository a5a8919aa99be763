//! `torch._C`, the native part of `torch`: tensors, dtypes, and every op of the registry as a function and a method.
//!
//! Reading order: `variable` is the tensor object, `state` what all of one VM share; `call` and `execute` run an op called from Python by
//! way of `operand`, `overrides` asks objects that stand for tensors; `operators`, `index`, `attributes` and `methods` are what else a tensor can do, `autograd` how it is differentiated; `module` puts it all
//! into `torch._C`.

mod anomaly;
mod attributes;
mod autograd;
mod call;
mod compiler;
mod constants;
mod create;
mod execute;
mod generator;
pub mod graph_module;
mod index;
pub mod index_plan;
mod legacy;
mod memory;
mod methods;
mod modes;
mod module;
mod near;
mod operand;
mod operators;
mod overrides;
pub mod print;
mod state;
mod storage;
mod text;
mod tracing;
mod variable;

pub use call::{OpFunction, OpMethod, OverloadSet, op_of};
pub use compiler::{CompileOptions, CompiledFunction, CompiledObject, Compiler, PlainFunction, install_compiler};
pub use constants::{PyDType, PyDevice, PyLayout, PyMemoryFormat};
pub use generator::PyGenerator;
pub use module::definition;
pub use operand::{dtype_of, operand};
pub use state::{TorchState, raise, state};
pub use tracing::{Ambient, OpCallable, TensorView, make_tensor, torch_type, with_context};
pub use variable::Variable;
