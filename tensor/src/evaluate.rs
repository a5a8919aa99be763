//! Runs a graph: every node by the same code that runs the op by itself.
//!
//! A run that fails, or that is taken back, has changed nothing: what it wrote to storages that existed before it, it puts back, and
//! so the generators. A run that succeeds is committed by its caller, after the last step of the call that can fail.

use crate::{Context, Generators, Tensor, run::run, write::Undo};
use smallvec::SmallVec;
use taipan_ir::{Arg, Meaning, OpError, Val, graph::Graph, graph::Node};

/// A graph prepared for running many times.
pub struct Plan {
    nodes: Vec<Node>,
    inputs: Vec<Val>,
    outputs: Vec<Val>,
    values: usize,
    /// For each node the values it is the last to use.
    dropped: Vec<SmallVec<[Val; 2]>>,
    may_draw: bool,
}

impl Plan {
    /// Prepares a graph, which must be legal.
    pub fn new(graph: &Graph) -> Plan {
        let mut last_use = vec![None; graph.values()];
        for (i, node) in graph.nodes().iter().enumerate() {
            node.results.iter().for_each(|v| last_use[v.0 as usize] = Some(i));
            node.args.iter().for_each(|a| a.for_each(|v| last_use[v.0 as usize] = Some(i)));
        }
        graph.outputs().iter().for_each(|v| last_use[v.0 as usize] = None);
        let mut dropped = vec![SmallVec::new(); graph.nodes().len()];
        for (v, node) in last_use.iter().enumerate() {
            if let Some(i) = node {
                dropped[*i].push(Val(v as u32));
            }
        }
        Plan {
            nodes: graph.nodes().to_vec(),
            inputs: graph.inputs().iter().map(|i| i.value).collect(),
            outputs: graph.outputs().to_vec(),
            values: graph.values(),
            dropped,
            may_draw: graph.nodes().iter().any(|n| matches!(n.op.0.meaning, Meaning::Random { .. } | Meaning::Composite(_))),
        }
    }

    /// Runs the graph on one tensor per input. `fail_at` makes the node of that number fail, for tests.
    ///
    /// # Errors
    /// Where a node fails, with its error; nothing has changed then.
    pub fn run(&self, cx: &mut Context, inputs: &[Tensor], fail_at: Option<usize>) -> Result<Ran, OpError> {
        if inputs.len() != self.inputs.len() {
            return Err(OpError::runtime(format!("the graph takes {} inputs but {} were given", self.inputs.len(), inputs.len())));
        }
        let generators = self.may_draw.then(|| cx.generators.clone());
        let attempt = Attempt::new(cx, Undo::new(inputs), generators);
        let mut values: Vec<Option<Tensor>> = vec![None; self.values];
        for (value, tensor) in self.inputs.iter().zip(inputs) {
            values[value.0 as usize] = Some(tensor.clone());
        }
        for (i, node) in self.nodes.iter().enumerate() {
            if fail_at == Some(i) {
                return Err(OpError::runtime(format!("failure injected at node {i}")));
            }
            let args: SmallVec<[Arg<Tensor>; 8]> = node.args.iter().map(|a| filled(a, &values)).collect::<Result<_, _>>()?;
            let results = run(attempt.cx, node.op, &args)?;
            if results.len() != node.results.len() {
                return Err(OpError::runtime(format!("{} gave {} results", node.op.name(), results.len())));
            }
            for (value, tensor) in node.results.iter().zip(results) {
                values[value.0 as usize] = Some(tensor);
            }
            self.dropped[i].iter().for_each(|v| values[v.0 as usize] = None);
        }
        let outputs = self.outputs.iter().map(|v| present(*v, &values)).collect::<Result<_, _>>()?;
        let (undo, generators) = attempt.finish();
        Ok(Ran { outputs, undo, generators })
    }
}

/// Runs a graph once; see [`Plan::run`].
///
/// # Errors
/// Where a node fails, with its error; nothing has changed then.
pub fn evaluate(cx: &mut Context, graph: &Graph, inputs: &[Tensor]) -> Result<Ran, OpError> {
    Plan::new(graph).run(cx, inputs, None)
}

fn present(value: Val, values: &[Option<Tensor>]) -> Result<Tensor, OpError> {
    values[value.0 as usize].clone().ok_or_else(|| OpError::runtime(format!("`{value}` has no value")))
}

fn filled(arg: &Arg<Val>, values: &[Option<Tensor>]) -> Result<Arg<Tensor>, OpError> {
    Ok(match arg {
        Arg::Tensor(v) => Arg::Tensor(present(*v, values)?),
        Arg::Tensors(vs) => Arg::Tensors(vs.iter().map(|v| present(*v, values)).collect::<Result<_, _>>()?),
        Arg::OptionalTensors(vs) => {
            Arg::OptionalTensors(vs.iter().map(|v| v.map(|v| present(v, values)).transpose()).collect::<Result<_, _>>()?)
        }
        other => other.without_tensors(),
    })
}

/// A run under way: taken back on every way out but [`Attempt::finish`], a panic's too.
struct Attempt<'a> {
    cx: &'a mut Context,
    outer: Option<Undo>,
    generators: Option<Generators>,
    finished: bool,
}

impl<'a> Attempt<'a> {
    fn new(cx: &'a mut Context, undo: Undo, generators: Option<Generators>) -> Attempt<'a> {
        let outer = cx.undo.replace(undo);
        Attempt { cx, outer, generators, finished: false }
    }

    fn finish(mut self) -> (Undo, Option<Generators>) {
        self.finished = true;
        let undo = self.cx.undo.take().unwrap_or_default();
        (undo, self.generators.take())
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        let undo = std::mem::replace(&mut self.cx.undo, self.outer.take());
        if self.finished {
            return;
        }
        if let Some(mut undo) = undo {
            undo.restore();
        }
        if let Some(generators) = self.generators.take() {
            self.cx.generators = generators;
        }
    }
}

/// A run that succeeded and can still be taken back.
#[must_use]
pub struct Ran {
    outputs: Vec<Tensor>,
    undo: Undo,
    generators: Option<Generators>,
}

impl Ran {
    /// The results, before it is decided that they hold.
    pub fn outputs(&self) -> &[Tensor] {
        &self.outputs
    }

    /// Lets everything the run did stand. Nothing here can fail.
    pub fn commit(self) -> Vec<Tensor> {
        self.outputs
    }

    /// Puts back what the run wrote and drew.
    pub fn take_back(mut self, cx: &mut Context) {
        self.undo.restore();
        if let Some(generators) = self.generators.take() {
            cx.generators = generators;
        }
    }
}
