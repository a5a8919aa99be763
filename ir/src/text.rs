//! The text form of graphs, which reads back.
//!
//! ```text
//!   a : f32[4] = input x
//!   b : f32[4] = mul a, 2
//!   c : f32[], d : i64[] = max.dim b, 0
//!   return c
//! ```
//! `no_grad` before an op keeps it off the tape though an argument requires grad. Arguments stand in schema order, trailing defaults are left out, and behind the first one left out the rest go by name.

use crate::{
    DType, Device, Dim, MemoryFormat, Number,
    dims::NumberDims,
    facts::{Bracketed, Facts, Shape, row_major},
    graph::Graph,
    op::{Arg, Registry, Val},
    schema::{Kind, ListKind, Param, parse_number},
};
use smallvec::SmallVec;
use std::fmt::Write;

/// Why a text is not a graph.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct TextError {
    /// Line of the text, from 1.
    pub line: usize,
    /// What is wrong.
    pub what: String,
}

/// The text of a graph.
pub fn write(graph: &Graph, registry: &Registry) -> String {
    let mut out = String::new();
    for input in graph.inputs() {
        let _ = writeln!(out, "  {} : {} = input {}", input.value, graph.facts(input.value), input.name);
    }
    for node in graph.nodes() {
        out.push_str("  ");
        for (i, v) in node.results.iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            let _ = write!(out, "{comma}{v} : {}", graph.facts(*v));
        }
        let off_tape = if node.no_grad { "no_grad " } else { "" };
        let _ = write!(out, " = {off_tape}{}", registry.short_name(node.op));
        let params = registry.entry(node.op).map_or(&[][..], |e| &e.schema.params);
        let text = write_args(params, &node.args);
        let space = if text.is_empty() { "" } else { " " };
        let _ = writeln!(out, "{space}{text}");
    }
    let outputs: Vec<String> = graph.outputs().iter().map(Val::to_string).collect();
    let space = if outputs.is_empty() { "" } else { " " };
    let _ = writeln!(out, "  return{space}{}", outputs.join(", "));
    out
}

/// Arguments as the text of a graph shows them.
pub fn write_args(params: &[Param], args: &[Arg<Val>]) -> String {
    let mut pieces = vec![];
    let mut by_name = false;
    for (param, arg) in params.iter().zip(args) {
        if is_default(param, arg) {
            by_name = true;
            continue;
        }
        by_name |= param.keyword_only;
        let value = write_arg(arg);
        pieces.push(if by_name { format!("{}={value}", param.name) } else { value });
    }
    pieces.join(", ")
}

fn is_default(param: &Param, arg: &Arg<Val>) -> bool {
    match &param.default {
        Some(Arg::Absent) => arg.is_absent(),
        Some(default) => &default.map(|()| Val(u32::MAX)) == arg,
        None => false,
    }
}

fn write_arg(arg: &Arg<Val>) -> String {
    let list = |items: Vec<String>| format!("[{}]", items.join(", "));
    match arg {
        Arg::Tensor(v) => v.to_string(),
        Arg::Tensors(vs) => list(vs.iter().map(Val::to_string).collect()),
        Arg::OptionalTensors(vs) => list(vs.iter().map(|v| v.map_or("None".to_owned(), |v| v.to_string())).collect()),
        Arg::Number(n) => n.to_string(),
        Arg::Int(d) => d.to_string(),
        Arg::Ints(ds) => list(ds.iter().map(Dim::to_string).collect()),
        Arg::Floats(xs) => list(xs.iter().map(|x| crate::number::float_text(*x)).collect()),
        Arg::Bool(b) => Number::Bool(*b).to_string(),
        Arg::DType(d) => d.to_string(),
        Arg::Device(d) => d.to_string(),
        Arg::MemoryFormat(m) => format_name(*m).to_owned(),
        Arg::Str(s) => format!("'{s}'"),
        Arg::Generator(g) => format!("gen{g}"),
        Arg::Absent => "None".to_owned(),
    }
}

fn format_name(m: MemoryFormat) -> &'static str {
    match m {
        MemoryFormat::Contiguous => "contiguous_format",
        MemoryFormat::ChannelsLast => "channels_last",
        MemoryFormat::ChannelsLast3d => "channels_last_3d",
        MemoryFormat::Preserve => "preserve_format",
    }
}

/// Reads the text of a graph. Empty lines are skipped.
pub fn parse(text: &str, registry: &Registry) -> Result<Graph, TextError> {
    let mut graph = Graph::default();
    let mut done = false;
    for (index, raw) in text.lines().enumerate() {
        let line = raw.trim();
        if line.is_empty() {
            continue;
        }
        let fail = |what: String| TextError { line: index + 1, what };
        if done {
            return Err(fail("text behind `return`".into()));
        }
        if let Some(rest) = line.strip_prefix("return") {
            let outputs: Option<Vec<Val>> = split_list(rest).into_iter().map(Val::parse).collect();
            graph.set_outputs(outputs.ok_or_else(|| fail(format!("bad result list `{}`", rest.trim())))?);
            done = true;
            continue;
        }
        let (left, right) = line.split_once(" = ").ok_or_else(|| fail("expected `value : facts = op …`".into()))?;
        let mut facts = vec![];
        for piece in split_list(left) {
            let (name, text) = piece.split_once(" : ").ok_or_else(|| fail(format!("expected `value : facts`, got `{piece}`")))?;
            let expected = Val((graph.values() + facts.len()) as u32);
            if Val::parse(name) != Some(expected) {
                return Err(fail(format!("the next value is `{expected}`, not `{name}`")));
            }
            facts.push(parse_facts(text).ok_or_else(|| fail(format!("bad facts `{text}`")))?);
        }
        if let Some(name) = right.strip_prefix("input ") {
            let [only] = <[Facts; 1]>::try_from(facts).map_err(|_| fail("an input is one value".into()))?;
            graph.input(name.trim(), only);
            continue;
        }
        let (right, no_grad) = right.strip_prefix("no_grad ").map_or((right, false), |rest| (rest, true));
        let (name, args) = right.split_once(' ').unwrap_or((right, ""));
        let entry = registry.find(name).ok_or_else(|| fail(format!("no op is called `{name}`")))?;
        let args = parse_args(&entry.schema.params, args).map_err(fail)?;
        graph.push(entry.op, args, facts, 0);
        if no_grad {
            graph.mark_no_grad();
        }
    }
    if done { Ok(graph) } else { Err(TextError { line: text.lines().count(), what: "no `return`".into() }) }
}

/// Reads `f32[4,8] strides [1,4] offset 2 on gpu:0`.
pub fn parse_facts(text: &str) -> Option<Facts> {
    let mut words = text.split(' ');
    let (dtype, dims) = words.next()?.split_once('[')?;
    let dtype = DType::parse(dtype)?;
    let dims = parse_shape(&format!("[{dims}"))?;
    let mut facts = Facts { strides: row_major(&mut NumberDims, &dims).ok()?, dtype, device: Device::CPU, dims, offset: Dim::Is(0) };
    while let Some(word) = words.next() {
        let value = words.next()?;
        match word {
            "strides" => facts.strides = parse_shape(value)?,
            "offset" => facts.offset = parse_dim(value)?,
            "on" => facts.device = Device::parse(value)?,
            _ => return None,
        }
    }
    (facts.strides.len() == facts.dims.len()).then_some(facts)
}

fn parse_dim(text: &str) -> Option<Dim> {
    if let Some(symbol) = text.strip_prefix('s') {
        return symbol.parse().ok().map(|n| Dim::Sym(crate::dims::ExprId(n)));
    }
    text.parse().ok().map(Dim::Is)
}

fn parse_shape(text: &str) -> Option<Shape> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    split_list(inner).into_iter().map(parse_dim).collect()
}

/// Splits at commas outside brackets and quotes.
fn split_list(text: &str) -> Vec<&str> {
    let (mut depth, mut quoted, mut start, mut out) = (0i32, false, 0, vec![]);
    for (i, c) in text.char_indices() {
        match c {
            '\'' => quoted = !quoted,
            '[' if !quoted => depth += 1,
            ']' if !quoted => depth -= 1,
            ',' if depth == 0 && !quoted => {
                out.push(text[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    let last = text[start..].trim();
    if !last.is_empty() {
        out.push(last);
    }
    out
}

/// Reads arguments as [`write_args`] writes them; missing ones get their defaults.
pub fn parse_args(params: &[Param], text: &str) -> Result<Vec<Arg<Val>>, String> {
    let mut args: Vec<Option<Arg<Val>>> = vec![None; params.len()];
    for (i, piece) in split_list(text).into_iter().enumerate() {
        let named = piece.split_once('=').filter(|(name, _)| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'));
        let (at, value) = match named {
            Some((name, value)) => (params.iter().position(|p| p.name == name).ok_or_else(|| format!("no parameter `{name}`"))?, value),
            None => (i, piece),
        };
        let param = params.get(at).ok_or("too many arguments")?;
        args[at] = Some(parse_arg(param, value).ok_or_else(|| format!("`{value}` does not fit parameter `{}`", param.name))?);
    }
    let filled = args.into_iter().zip(params).map(|(arg, param)| match (arg, &param.default) {
        (Some(arg), _) => Ok(arg),
        (None, Some(default)) => Ok(default.map(|()| Val(u32::MAX))),
        (None, None) => Err(format!("no argument for `{}`", param.name)),
    });
    filled.collect()
}

fn parse_arg(param: &Param, text: &str) -> Option<Arg<Val>> {
    if text == "None" {
        return Some(Arg::Absent);
    }
    if param.list != ListKind::One
        && let Some(inner) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'))
    {
        let items = split_list(inner);
        return match param.kind {
            Kind::Tensor if param.optional_items => {
                let one = |t: &&str| if *t == "None" { Some(None) } else { Val::parse(t).map(Some) };
                items.iter().map(one).collect::<Option<_>>().map(Arg::OptionalTensors)
            }
            Kind::Tensor => items.into_iter().map(Val::parse).collect::<Option<_>>().map(Arg::Tensors),
            Kind::Float => items.into_iter().map(|t| t.parse().ok()).collect::<Option<_>>().map(Arg::Floats),
            _ => items.into_iter().map(parse_dim).collect::<Option<SmallVec<_>>>().map(Arg::Ints),
        };
    }
    match param.kind {
        Kind::Tensor => Val::parse(text).map(Arg::Tensor),
        Kind::TensorOrScalar => parse_number(text).map(Arg::Number).or_else(|| Val::parse(text).map(Arg::Tensor)),
        Kind::Scalar | Kind::Float => parse_number(text).map(Arg::Number),
        Kind::Int => parse_dim(text).map(Arg::Int),
        Kind::Bool => match text {
            "True" => Some(Arg::Bool(true)),
            "False" => Some(Arg::Bool(false)),
            _ => None,
        },
        Kind::Str => text.strip_prefix('\'')?.strip_suffix('\'').map(|t| Arg::Str(t.into())),
        Kind::DType => DType::parse(text).map(Arg::DType),
        Kind::Device => Device::parse(text).map(Arg::Device),
        Kind::MemoryFormat => [MemoryFormat::Contiguous, MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast3d, MemoryFormat::Preserve]
            .into_iter()
            .find(|m| format_name(*m) == text)
            .map(Arg::MemoryFormat),
        Kind::Generator => text.strip_prefix("gen")?.parse().ok().map(Arg::Generator),
        Kind::Layout => None,
    }
}

/// `[4, 8]`, as PyTorch's messages show sizes.
pub fn sizes_text(dims: &[Dim]) -> String {
    Bracketed(dims).to_string().replace(',', ", ")
}
