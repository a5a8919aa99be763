//! The verifier. A legal graph obeys these rules:
//!
//! 1. Every value is made once, by an input or a node, and before it is used.
//! 2. A node has one argument per parameter of its op's schema, of the parameter's kind.
//! 3. The declared facts of a node's results are those its op's rule gives for the declared facts of its arguments.
//! 4. Results of the graph are values of the graph.
//! 5. Names of inputs differ.

use crate::{
    DType, Dim, Dims, Facts,
    emit::facts_of,
    graph::{Graph, Node, NodeId},
    op::{Arg, Registry, RuleContext, Val},
    schema::{Kind, ListKind, Param},
};
use std::fmt;

/// What of a graph is illegal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Illegal {
    /// The guilty node; `None` for inputs and results.
    pub node: Option<NodeId>,
    /// Why.
    pub what: String,
}

impl fmt::Display for Illegal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.node {
            Some(n) => write!(f, "node {}: {}", n.0, self.what),
            None => f.write_str(&self.what),
        }
    }
}

impl std::error::Error for Illegal {}

/// Checks a graph against the rules above.
pub fn verify(graph: &Graph, registry: &Registry, dims: &mut dyn Dims, default_float: DType) -> Result<(), Illegal> {
    let mut made = vec![false; graph.values()];
    let mut make = |v: Val, node: Option<NodeId>| match made.get_mut(v.0 as usize) {
        Some(seen) if !*seen => {
            *seen = true;
            Ok(())
        }
        Some(_) => Err(Illegal { node, what: format!("`{v}` is made twice") }),
        None => Err(Illegal { node, what: format!("`{v}` is no value of this graph") }),
    };
    for (i, input) in graph.inputs().iter().enumerate() {
        make(input.value, None)?;
        if graph.inputs()[..i].iter().any(|other| other.name == input.name) {
            return Err(Illegal { node: None, what: format!("two inputs are called `{}`", input.name) });
        }
    }
    let mut known: Vec<bool> = vec![false; graph.values()];
    graph.inputs().iter().for_each(|i| known[i.value.0 as usize] = true);
    for (i, node) in graph.nodes().iter().enumerate() {
        let id = NodeId(i as u32);
        let illegal = |what: String| Illegal { node: Some(id), what };
        let mut early = None;
        node.args.iter().for_each(|a| {
            a.for_each(|v| {
                if !known.get(v.0 as usize).copied().unwrap_or(false) {
                    early = early.or(Some(*v))
                }
            })
        });
        if let Some(v) = early {
            return Err(illegal(format!("`{v}` is used before it is made")));
        }
        check_kinds(node, registry).map_err(illegal)?;
        check_facts(graph, node, registry, dims, default_float).map_err(illegal)?;
        for v in &node.results {
            make(*v, Some(id))?;
            known[v.0 as usize] = true;
        }
    }
    match graph.outputs().iter().find(|v| !known.get(v.0 as usize).copied().unwrap_or(false)) {
        Some(v) => Err(Illegal { node: None, what: format!("the result `{v}` is never made") }),
        None => Ok(()),
    }
}

fn check_kinds(node: &Node, registry: &Registry) -> Result<(), String> {
    let entry = registry.entry(node.op).ok_or_else(|| format!("no op is called `{}`", node.op.name()))?;
    let params = &entry.schema.params;
    if params.len() != node.args.len() {
        return Err(format!("{} takes {} arguments, not {}", node.op.name(), params.len(), node.args.len()));
    }
    match params.iter().zip(&node.args).find(|(p, a)| !fits(p, a)) {
        Some((p, a)) => Err(format!("{}: {a:?} does not fit parameter `{}`", node.op.name(), p.name)),
        None => Ok(()),
    }
}

fn fits(param: &Param, arg: &Arg<Val>) -> bool {
    let list = param.list != ListKind::One;
    match (arg, param.kind) {
        (Arg::Absent, _) => param.optional || param.default.is_some(),
        (Arg::Tensor(_), Kind::Tensor | Kind::TensorOrScalar) => !list,
        (Arg::Tensors(_), Kind::Tensor) => list,
        (Arg::OptionalTensors(_), Kind::Tensor) => list && param.optional_items,
        (Arg::Number(_), Kind::TensorOrScalar | Kind::Scalar | Kind::Float) => !list,
        (Arg::Int(_), Kind::Int) => !list,
        (Arg::Ints(_), Kind::Int) | (Arg::Floats(_), Kind::Float) => list,
        (Arg::Ints(flags), Kind::Bool) => list && flags.iter().all(|flag| matches!(flag, Dim::Is(0 | 1))),
        (Arg::Bool(_), Kind::Bool)
        | (Arg::DType(_), Kind::DType)
        | (Arg::Device(_), Kind::Device)
        | (Arg::MemoryFormat(_), Kind::MemoryFormat)
        | (Arg::Str(_), Kind::Str)
        | (Arg::Generator(_), Kind::Generator) => true,
        _ => false,
    }
}

fn check_facts(graph: &Graph, node: &Node, registry: &Registry, dims: &mut dyn Dims, default_float: DType) -> Result<(), String> {
    let args: Vec<Arg<&Facts>> = node.args.iter().map(|a| a.map(|v| graph.facts(*v))).collect();
    let name = registry.short_name(node.op);
    let ruled = facts_of(registry, &mut RuleContext { dims, default_float }, node.op, &args).map_err(|e| format!("{name}: {e}"))?;
    if ruled.len() != node.results.len() {
        return Err(format!("{name} has {} results, not {}", ruled.len(), node.results.len()));
    }
    for (rule, v) in ruled.iter().zip(&node.results) {
        let declared = graph.facts(*v);
        if rule != declared {
            return Err(format!("{name}: declared {declared}, rule says {rule}"));
        }
    }
    Ok(())
}
