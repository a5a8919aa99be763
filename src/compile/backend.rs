//! Backends: who runs a graph.

use taipan_frontend::{
    inspect::{CallResult, Object, Vm},
    torch::graph_module,
};
use taipan_ir::graph::Graph;
use taipan_tensor::tape::Var;

/// Names of the backends; all of them run graphs by the evaluator.
pub const NAMES: [&str; 4] = ["native", "eager", "aot_eager", "inductor"];

/// What a backend written in Python made of a graph.
pub struct Callable {
    function: Object,
}

impl Callable {
    /// Hands a graph to a backend written in Python, which answers with a callable.
    pub fn new(backend: &Object, graph: &Graph, examples: &[Object], vm: &Vm) -> CallResult<Callable> {
        let function = graph_module::compile(backend, graph, examples, vm)?;
        Ok(Callable { function })
    }

    /// Runs the graph.
    pub fn run(&self, inputs: &[Object], vm: &Vm) -> CallResult<Vec<Var>> {
        graph_module::run(&self.function, inputs, vm)
    }
}
