//! The tape: which op each tensor came from, and gradients flowing back along it.
//!
//! A [`Var`] is a tensor with its place on the tape. [`run()`] runs an op on vars and records it where a gradient may be asked for;
//! [`backward()`] walks back. Both speak of ops through their records only, so whatever has a gradient rule can be differentiated, as often as
//! its rule's own ops can. A node keeps what its op's rule reads, and nothing else; of that, and only of that, the version is checked.
//!
//! The tape belongs to one thread, the engine's. Tensors under it are plain data.

mod backward;
mod node;
mod record;
mod saved;
mod var;

pub use backward::{Host, Request, accumulate, backward, second_time};
pub use node::{Custom, Edge, Hook, Node, Removal, recorded_since};
pub use record::{TapeEmitter, Vars, check_write, run};
pub use saved::{Pack, Unpack, check_version};
pub use var::{AfterHook, Meta, Var, ViewKind};
