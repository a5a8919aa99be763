//! The vocabulary of Taipan: dims, facts, scalar bodies, the op record, and graphs.
//!
//! This crate sits at the bottom. It knows what an op *is* (its schema, how facts flow through it, what it means) and what a
//! graph of ops is (typed indices, a text form that reads back, a verifier). It owns no storage, runs no kernel and knows no
//! Python. In reading order: [`dtype`], [`dims`], [`facts`], [`schema`], [`op`], [`gradient`], [`bind`], [`graph`].
pub mod bind;
pub mod body;
pub mod complex;
pub mod device;
pub mod dims;
pub mod dtype;
pub mod emit;
pub mod error;
pub mod facts;
pub mod gradient;
pub mod graph;
pub mod math;
pub mod number;
pub mod op;
pub mod pointwise;
pub mod promote;
pub mod schema;
pub mod text;
pub mod verify;

pub use device::Device;
pub use dims::{Dim, DimOp, Dims, Rel};
pub use dtype::{DType, MemoryFormat};
pub use error::{ErrorKind, OpError};
pub use facts::{Facts, Shape};
pub use gradient::Gradient;
pub use number::Number;
pub use op::{Arg, Emitter, Meaning, Op, OpRef, Registry, Val};
