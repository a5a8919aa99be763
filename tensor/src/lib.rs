//! Data and kernels: storage, tensors, the op blocks, the block evaluator, and the graph evaluator. No Python.
//!
//! In reading order: [`storage`] and [`tensor`] hold data; [`element`] and [`layout`] are how kernels see it; [`context`] is what an
//! engine owns; [`run()`] runs one op and [`evaluate`] a graph; [`ops`] holds every op, one family a file, and [`registry()`] the table of
//! them. [`program`] evaluates scalar bodies block by block, [`reduce`] sums in the fixed order, [`matrix`] factors small matrices, [`complex`] runs over
//! complex elements, [`tape`] records ops and walks back.
pub mod complex;
pub mod context;
pub mod distribution;
pub mod element;
pub mod evaluate;
pub mod fourier;
mod lane;
pub mod layout;
pub mod matrix;
pub mod normal;
pub mod ops;
pub mod pointwise;
pub mod program;
pub mod random;
pub mod reduce;
pub mod registry;
pub mod run;
pub mod safetensors;
pub mod sample;
pub mod special;
pub mod storage;
pub mod tape;
pub mod tensor;
pub mod write;

pub use context::{Context, KernelFn};
pub use element::Element;
pub use random::Generators;
pub use registry::registry;
pub use run::{Tensors, run};
pub use storage::Storage;
pub use tensor::Tensor;
