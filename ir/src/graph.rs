//! Graphs: straight-line programs of ops over typed values.
//!
//! A graph is a value: it has a text that reads back ([`crate::text`]) and is legal after every pass ([`crate::verify`]).

use crate::{
    DType, Dims, Facts, OpError,
    emit::facts_of,
    op::{Arg, Emitter, OpRef, Registry, RuleContext, Val, Vals},
};
use std::fmt;

/// A node of a graph.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// One op of a graph.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// What runs.
    pub op: OpRef,
    /// One argument per schema parameter.
    pub args: Vec<Arg<Val>>,
    /// The values it makes, in schema order.
    pub results: Vals,
    /// Whether it stays off the tape although an argument requires grad: it stood under `no_grad`.
    pub no_grad: bool,
    /// Line of the script that asked for it; 0 where there is none. Not part of the graph's text.
    pub line: u32,
}

/// One input of a graph.
#[derive(Clone, PartialEq, Debug)]
pub struct Input {
    /// A name for readers, unique in the graph.
    pub name: String,
    /// The value.
    pub value: Val,
}

/// A straight-line program.
#[derive(Clone, Default, Debug)]
pub struct Graph {
    values: Vec<Facts>,
    inputs: Vec<Input>,
    nodes: Vec<Node>,
    outputs: Vec<Val>,
}

impl PartialEq for Graph {
    /// Lines of the script don't count.
    fn eq(&self, other: &Graph) -> bool {
        self.values == other.values
            && self.inputs == other.inputs
            && self.outputs == other.outputs
            && self.nodes.len() == other.nodes.len()
            && self
                .nodes
                .iter()
                .zip(&other.nodes)
                .all(|(a, b)| a.op == b.op && a.args == b.args && a.results == b.results && a.no_grad == b.no_grad)
    }
}

/// The sizes of a graph at some time, to go back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphMark {
    values: usize,
    inputs: usize,
    nodes: usize,
}

impl Graph {
    /// The inputs, in order.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// The nodes, in order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The results.
    pub fn outputs(&self) -> &[Val] {
        &self.outputs
    }

    /// Number of values.
    pub fn values(&self) -> usize {
        self.values.len()
    }

    /// The facts of a value.
    pub fn facts(&self, value: Val) -> &Facts {
        &self.values[value.0 as usize]
    }

    /// Adds an input; a name already taken gets a number behind it.
    pub fn input(&mut self, name: &str, facts: Facts) -> Val {
        let mut unique = name.to_owned();
        let mut n = 1;
        while self.inputs.iter().any(|i| i.name == unique) {
            unique = format!("{name}_{n}");
            n += 1;
        }
        let value = self.value(facts);
        self.inputs.push(Input { name: unique, value });
        value
    }

    /// Adds a node whose results' facts are known.
    pub fn push(&mut self, op: OpRef, args: Vec<Arg<Val>>, results: impl IntoIterator<Item = Facts>, line: u32) -> Vals {
        let results: Vals = results.into_iter().map(|f| self.value(f)).collect();
        self.nodes.push(Node { op, args, results: results.clone(), no_grad: false, line });
        results
    }

    /// Keeps the node added last off the tape.
    pub fn mark_no_grad(&mut self) {
        if let Some(node) = self.nodes.last_mut() {
            node.no_grad = true;
        }
    }

    /// Forgets which nodes stay off the tape, where none is recorded anyway.
    pub fn clear_no_grad(&mut self) {
        self.nodes.iter_mut().for_each(|node| node.no_grad = false);
    }

    /// Sets the results.
    pub fn set_outputs(&mut self, outputs: Vec<Val>) {
        self.outputs = outputs;
    }

    /// Where the graph stands.
    pub fn mark(&self) -> GraphMark {
        GraphMark { values: self.values.len(), inputs: self.inputs.len(), nodes: self.nodes.len() }
    }

    /// Takes back everything added since `mark`.
    pub fn undo(&mut self, mark: GraphMark) {
        self.values.truncate(mark.values);
        self.inputs.truncate(mark.inputs);
        self.nodes.truncate(mark.nodes);
    }

    /// The graph with the nodes for which `keep` is true, and without inputs that nothing uses where `drop_inputs`.
    /// Values are numbered anew; returned is the graph and for each old input whether it stays.
    pub fn compacted(&self, keep: impl Fn(NodeId) -> bool) -> (Graph, Vec<bool>) {
        let mut used = vec![false; self.values.len()];
        for output in &self.outputs {
            used[output.0 as usize] = true;
        }
        let kept: Vec<bool> = (0..self.nodes.len()).map(|i| keep(NodeId(i as u32))).collect();
        for (node, kept) in self.nodes.iter().zip(&kept) {
            if *kept {
                node.args.iter().for_each(|a| a.for_each(|v| used[v.0 as usize] = true));
            }
        }
        let mut new = Graph::default();
        let mut map = vec![Val(u32::MAX); self.values.len()];
        let mut stays = vec![];
        for input in &self.inputs {
            let stay = used[input.value.0 as usize];
            stays.push(stay);
            if stay {
                map[input.value.0 as usize] = new.input(&input.name, self.facts(input.value).clone());
            }
        }
        for (node, kept) in self.nodes.iter().zip(&kept) {
            if !kept {
                continue;
            }
            let args = node.args.iter().map(|a| a.map(|v| map[v.0 as usize])).collect();
            let results = new.push(node.op, args, node.results.iter().map(|v| self.facts(*v).clone()), node.line);
            if node.no_grad {
                new.mark_no_grad();
            }
            for (old, now) in node.results.iter().zip(&results) {
                map[old.0 as usize] = *now;
            }
        }
        new.set_outputs(self.outputs.iter().map(|v| map[v.0 as usize]).collect());
        (new, stays)
    }

    fn value(&mut self, facts: Facts) -> Val {
        self.values.push(facts);
        Val(self.values.len() as u32 - 1)
    }
}

/// An [`Emitter`] that appends to a graph, one node per op; composites stay whole.
pub struct GraphEmitter<'a> {
    /// The graph.
    pub graph: &'a mut Graph,
    /// The ops.
    pub registry: &'a Registry,
    /// Where sizes are looked up.
    pub dims: &'a mut dyn Dims,
    /// The default floating dtype in force.
    pub default_float: DType,
    /// The line new nodes get.
    pub line: u32,
}

impl Emitter for GraphEmitter<'_> {
    fn dims(&mut self) -> &mut dyn Dims {
        self.dims
    }

    fn facts(&self, value: Val) -> &Facts {
        self.graph.facts(value)
    }

    fn emit(&mut self, op: OpRef, args: &[Arg<Val>]) -> Result<Vals, OpError> {
        let facts: Vec<Arg<&Facts>> = args.iter().map(|a| a.map(|v| self.graph.facts(*v))).collect();
        let mut cx = RuleContext { dims: self.dims, default_float: self.default_float };
        let results = facts_of(self.registry, &mut cx, op, &facts)?;
        Ok(self.graph.push(op, args.to_vec(), results, self.line))
    }

    fn default_float(&self) -> DType {
        self.default_float
    }
}

impl fmt::Display for Val {
    /// `a` … `z`, `aa` …
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut letters = vec![];
        let mut n = self.0;
        loop {
            letters.push(b'a' + (n % 26) as u8);
            n /= 26;
            if n == 0 {
                break;
            }
            n -= 1;
        }
        letters.reverse();
        f.write_str(std::str::from_utf8(&letters).unwrap_or("?"))
    }
}

impl Val {
    /// Reads what [`fmt::Display`] writes.
    pub fn parse(text: &str) -> Option<Val> {
        if text.is_empty() || text.len() > 6 || !text.bytes().all(|b| b.is_ascii_lowercase()) {
            return None;
        }
        let n = text.bytes().fold(0u32, |n, b| n * 26 + u32::from(b - b'a') + 1);
        Some(Val(n - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::Val;

    #[test]
    fn value_names_read_back() {
        for n in [0, 1, 25, 26, 27, 701, 702, 20_000] {
            assert_eq!(Val::parse(&Val(n).to_string()), Some(Val(n)));
        }
        assert_eq!(Val(26).to_string(), "aa");
    }
}
