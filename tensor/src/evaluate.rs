//! Runs a graph: every node by the same code that runs the op by itself.
//!
//! A run that fails, or that is taken back, has changed nothing: what it wrote to storages that existed before it, it puts back, and
//! so the generators. A run that succeeds is committed by its caller, after the last step of the call that can fail.

use crate::{
    Context, Generators, Tensor, registry,
    run::run,
    tape::{self, Var},
    write::Undo,
};
use smallvec::SmallVec;
use std::sync::Arc;
use taipan_ir::{Arg, Meaning, OpError, OpRef, Val, graph::Graph, graph::Node};

/// What an output may be a view of.
#[derive(Clone, Copy)]
struct Viewed {
    /// The number of the input.
    input: usize,
    /// Whether one of the ops between them gave several views, into which no recorded op may write.
    one_of_several: bool,
}

/// A graph prepared for running many times.
pub struct Plan {
    nodes: Vec<Node>,
    inputs: Vec<Val>,
    outputs: Vec<Val>,
    values: usize,
    /// For each node the values it is the last to use.
    dropped: Vec<SmallVec<[Val; 2]>>,
    may_draw: bool,
    /// For each output the view that it may be.
    viewed: Vec<Option<Viewed>>,
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
            viewed: graph.outputs().iter().map(|output| viewed(graph, *output)).collect(),
            may_draw: graph.nodes().iter().any(|n| matches!(n.op.0.meaning, Meaning::Random { .. } | Meaning::Composite(_))),
        }
    }

    /// Runs the graph on one tensor per input, off the tape. `fail_at` makes the node of that number fail, for tests.
    ///
    /// # Errors
    /// Where a node fails, with its error; nothing has changed then.
    pub fn run(&self, cx: &mut Context, inputs: &[Tensor], fail_at: Option<usize>) -> Result<Ran<Tensor>, OpError> {
        self.walk(cx, inputs, Undo::new(inputs), fail_at, |cx, node, args| run(cx, node.op, args))
    }

    /// Runs the graph on one var per input. Where `recording`, nodes go onto the tape as they would in a plain run; otherwise it is as
    /// [`Plan::run`], and results that are views of inputs know it.
    ///
    /// # Errors
    /// Where a node fails, with its error; nothing has changed then.
    pub fn run_vars(&self, cx: &mut Context, inputs: &[Var], recording: bool, fail_at: Option<usize>) -> Result<Ran<Var>, OpError> {
        let data: Vec<Tensor> = inputs.iter().map(|var| var.data.clone()).collect();
        if recording {
            return self.walk(cx, inputs, Undo::new(&data), fail_at, |cx, node, args| tape::run(cx, !node.no_grad, node.op, args));
        }
        let ran = self.run(cx, &data, fail_at)?;
        let outputs = ran.outputs.into_iter().zip(&self.viewed).map(|(data, viewed)| {
            let var = Var::new(data);
            if let Some(Viewed { input, one_of_several }) = *viewed
                && let Some(source) = inputs.get(input)
                && Arc::ptr_eq(source.data.storage(), var.data.storage())
            {
                var.note_view_of(source, one_of_several);
            }
            var
        });
        Ok(Ran { outputs: outputs.collect(), undo: ran.undo, generators: ran.generators })
    }

    fn walk<T: Clone>(
        &self,
        cx: &mut Context,
        inputs: &[T],
        undo: Undo,
        fail_at: Option<usize>,
        step: impl Fn(&mut Context, &Node, &[Arg<T>]) -> Result<SmallVec<[T; 2]>, OpError>,
    ) -> Result<Ran<T>, OpError> {
        if inputs.len() != self.inputs.len() {
            return Err(OpError::runtime(format!("the graph takes {} inputs but {} were given", self.inputs.len(), inputs.len())));
        }
        let generators = self.may_draw.then(|| cx.generators.clone());
        let attempt = Attempt::new(cx, undo, generators);
        let mut values: Vec<Option<T>> = vec![None; self.values];
        for (value, tensor) in self.inputs.iter().zip(inputs) {
            values[value.0 as usize] = Some(tensor.clone());
        }
        for (i, node) in self.nodes.iter().enumerate() {
            if fail_at == Some(i) {
                return Err(OpError::runtime(format!("failure injected at node {i}")));
            }
            let args: SmallVec<[Arg<T>; 8]> = node.args.iter().map(|a| filled(a, &values)).collect::<Result<_, _>>()?;
            let results = step(attempt.cx, node, &args)?;
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

/// The view that an output is of an input, as far as the ops tell: a composite may have copied.
fn viewed(graph: &Graph, output: Val) -> Option<Viewed> {
    let mut value = output;
    let mut one_of_several = false;
    for node in graph.nodes().iter().rev() {
        let Some(index) = node.results.iter().position(|result| *result == value) else { continue };
        if !matches!(node.op.0.meaning, Meaning::View | Meaning::Composite(_)) || !node.op.0.gradient.differentiable() {
            return None;
        }
        value = match node.args.first()? {
            Arg::Tensor(source) => {
                one_of_several |= gives_list(node.op);
                *source
            }
            // Each result is made of its own argument.
            Arg::Tensors(sources) => *sources.get(index)?,
            _ => return None,
        };
    }
    let input = graph.inputs().iter().position(|input| input.value == value).filter(|_| value != output)?;
    Some(Viewed { input, one_of_several })
}

fn gives_list(op: OpRef) -> bool {
    registry().entry(op).is_some_and(|entry| entry.schema.returns.iter().any(|result| result.list))
}

/// Runs a graph once; see [`Plan::run`].
///
/// # Errors
/// Where a node fails, with its error; nothing has changed then.
pub fn evaluate(cx: &mut Context, graph: &Graph, inputs: &[Tensor]) -> Result<Ran<Tensor>, OpError> {
    Plan::new(graph).run(cx, inputs, None)
}

fn present<T: Clone>(value: Val, values: &[Option<T>]) -> Result<T, OpError> {
    values[value.0 as usize].clone().ok_or_else(|| OpError::runtime(format!("`{value}` has no value")))
}

fn filled<T: Clone>(arg: &Arg<Val>, values: &[Option<T>]) -> Result<Arg<T>, OpError> {
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
pub struct Ran<T> {
    outputs: Vec<T>,
    undo: Undo,
    generators: Option<Generators>,
}

impl<T> Ran<T> {
    /// The results, before it is decided that they hold.
    pub fn outputs(&self) -> &[T] {
        &self.outputs
    }

    /// Lets everything the run did stand. Nothing here can fail.
    pub fn commit(self) -> Vec<T> {
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
