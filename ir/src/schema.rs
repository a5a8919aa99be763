//! Schemas in the ecosystem's notation: `add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor`.

use crate::{DType, Dim, MemoryFormat, Number, op::Arg};
use std::fmt;

/// What kind of value a parameter takes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Kind {
    Tensor,
    /// `Tensor|Scalar`: the ecosystem's `.Scalar` overload is the same op here.
    TensorOrScalar,
    Scalar,
    Int,
    Float,
    Bool,
    Str,
    DType,
    Device,
    Layout,
    MemoryFormat,
    Generator,
}

/// Whether a parameter is a list.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ListKind {
    /// A single value.
    One,
    /// `int[]`.
    Any,
    /// `int[2]`: also takes one value, repeated.
    Sized(u8),
}

/// `(a)` and `(a!)` of the notation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Alias {
    /// The letter.
    pub set: char,
    /// Whether the op writes through it.
    pub write: bool,
}

/// One parameter.
#[derive(Clone, PartialEq, Debug)]
pub struct Param {
    /// The name scripts may use as a keyword.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// Whether it takes a list.
    pub list: ListKind,
    /// Whether `None` is allowed.
    pub optional: bool,
    /// Whether elements of the list may be `None` (`Tensor?[]`).
    pub optional_items: bool,
    /// Whether it can only be given by name.
    pub keyword_only: bool,
    /// The value where the caller gives none.
    pub default: Option<Arg<()>>,
    /// Aliasing.
    pub alias: Option<Alias>,
}

/// One result.
#[derive(Clone, PartialEq, Debug)]
pub struct Return {
    /// The field name of a named result (`values`, `indices`).
    pub name: Option<&'static str>,
    /// Whether it is a list of tensors.
    pub list: bool,
    /// Aliasing.
    pub alias: Option<Alias>,
}

/// A parsed schema.
#[derive(Clone, PartialEq, Debug)]
pub struct Schema {
    /// The text it was read from.
    pub text: &'static str,
    /// `add` of `add.Tensor`.
    pub base: &'static str,
    /// `Tensor` of `add.Tensor`; empty where there is none.
    pub overload: &'static str,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// Results in order.
    pub returns: Vec<Return>,
}

/// Where a schema text is wrong.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("schema `{schema}`: {what}")]
pub struct SchemaError {
    /// The text.
    pub schema: String,
    /// What is wrong with it.
    pub what: String,
}

impl Schema {
    /// `add.Tensor`, or `relu` where there is no overload.
    pub fn name(&self) -> &'static str {
        self.text.split('(').next().unwrap_or(self.text).trim()
    }

    /// The position of the parameter `name`.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.params.iter().position(|p| p.name == name)
    }

    /// Parameters that may be given by position.
    pub fn positional(&self) -> usize {
        self.params.iter().filter(|p| !p.keyword_only).count()
    }

    /// The positions of the parameters that the op writes into.
    pub fn written(&self) -> impl Iterator<Item = usize> {
        self.params.iter().enumerate().filter(|(_, param)| param.alias.is_some_and(|alias| alias.write)).map(|(position, _)| position)
    }

    /// The position of the parameter whose memory the result of this number may look at. All items of a list are one result.
    pub fn aliased_by(&self, result: usize) -> Option<usize> {
        let result = self.returns.get(result).or(self.returns.last().filter(|last| last.list))?;
        let set = result.alias?.set;
        self.params.iter().position(|param| param.alias.is_some_and(|alias| alias.set == set))
    }

    /// Reads a schema.
    pub fn parse(text: &'static str) -> Result<Schema, SchemaError> {
        let fail = |what: &str| SchemaError { schema: text.to_owned(), what: what.to_owned() };
        let (name, rest) = text.split_once('(').ok_or_else(|| fail("no parameter list"))?;
        let (base, overload) = name.trim().split_once('.').unwrap_or((name.trim(), ""));
        let (params_text, returns_text) = rest.rsplit_once("->").ok_or_else(|| fail("no `->`"))?;
        let params_text = params_text.trim_end().strip_suffix(')').ok_or_else(|| fail("no `)` before `->`"))?;
        let mut params = vec![];
        let mut keyword_only = false;
        for piece in split_top(params_text) {
            if piece == "*" {
                keyword_only = true;
                continue;
            }
            params.push(parse_param(piece, keyword_only).map_err(|what| fail(&what))?);
        }
        let returns_text = returns_text.trim();
        let inner = returns_text.strip_prefix('(').and_then(|t| t.strip_suffix(')')).unwrap_or(returns_text);
        let mut returns = vec![];
        for piece in split_top(inner) {
            let (ty, name) = match piece.rsplit_once(' ') {
                Some((ty, name)) => (ty, Some(name)),
                None => (piece, None),
            };
            let (kind, alias) = take_alias(ty).map_err(|what| fail(&what))?;
            match kind.as_str() {
                "Tensor" => returns.push(Return { name, list: false, alias }),
                "Tensor[]" => returns.push(Return { name, list: true, alias }),
                other => return Err(fail(&format!("unknown result type `{other}`"))),
            }
        }
        Ok(Schema { text, base, overload, params, returns })
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)
    }
}

/// Splits at commas outside brackets; an empty text has no pieces.
fn split_top(text: &'static str) -> Vec<&'static str> {
    let (mut depth, mut start, mut out) = (0i32, 0, vec![]);
    for (i, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
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

/// `Tensor(a!)[]` → (`Tensor[]`, alias).
fn take_alias(ty: &str) -> Result<(String, Option<Alias>), String> {
    let Some((head, rest)) = ty.split_once('(') else { return Ok((ty.to_owned(), None)) };
    let (inside, tail) = rest.split_once(')').ok_or("unclosed alias")?;
    let set = inside.chars().next().ok_or("empty alias")?;
    Ok((format!("{head}{tail}"), Some(Alias { set, write: inside.contains('!') })))
}

fn parse_param(piece: &'static str, keyword_only: bool) -> Result<Param, String> {
    let (declaration, default_text) = match piece.split_once('=') {
        Some((d, v)) => (d.trim(), Some(v.trim())),
        None => (piece, None),
    };
    let (ty, name) = declaration.rsplit_once(' ').ok_or_else(|| format!("parameter `{piece}` has no name"))?;
    let (ty, alias) = take_alias(ty.trim())?;
    let mut rest = ty.as_str();
    let mut optional = false;
    if let Some(r) = rest.strip_suffix('?') {
        optional = true;
        rest = r;
    }
    let mut list = ListKind::One;
    if let Some(r) = rest.strip_suffix(']') {
        let (head, count) = r.rsplit_once('[').ok_or("unopened `]`")?;
        list = if count.is_empty() { ListKind::Any } else { ListKind::Sized(count.parse().map_err(|_| "bad list size")?) };
        rest = head;
    }
    let mut optional_items = false;
    if list != ListKind::One
        && let Some(r) = rest.strip_suffix('?')
    {
        optional_items = true;
        rest = r;
    }
    let kind = match rest {
        "Tensor" => Kind::Tensor,
        "Tensor|Scalar" => Kind::TensorOrScalar,
        "Scalar" => Kind::Scalar,
        "int" => Kind::Int,
        "float" => Kind::Float,
        "bool" => Kind::Bool,
        "str" => Kind::Str,
        "ScalarType" => Kind::DType,
        "Device" => Kind::Device,
        "Layout" => Kind::Layout,
        "MemoryFormat" => Kind::MemoryFormat,
        "Generator" => Kind::Generator,
        other => return Err(format!("unknown type `{other}`")),
    };
    let default = default_text.map(|t| parse_default(t, kind, list)).transpose()?;
    Ok(Param { name, kind, list, optional, optional_items, keyword_only, default, alias })
}

fn parse_default(text: &'static str, kind: Kind, list: ListKind) -> Result<Arg<()>, String> {
    let bad = || format!("bad default `{text}`");
    if text == "None" {
        return Ok(Arg::Absent);
    }
    if let Some(inner) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
        let items: Result<Vec<Dim>, _> = split_top(inner).into_iter().map(|t| t.parse().map(Dim::Is)).collect();
        return Ok(Arg::Ints(items.map_err(|_| bad())?.into()));
    }
    if let (Kind::Int, ListKind::Sized(n)) = (kind, list) {
        let one: i64 = text.parse().map_err(|_| bad())?;
        return Ok(Arg::Ints(vec![Dim::Is(one); n as usize].into()));
    }
    Ok(match kind {
        Kind::Bool => Arg::Bool(match text {
            "True" => true,
            "False" => false,
            _ => return Err(bad()),
        }),
        Kind::Int => Arg::Int(Dim::Is(text.parse().map_err(|_| bad())?)),
        Kind::Float | Kind::Scalar | Kind::TensorOrScalar => Arg::Number(parse_number(text).ok_or_else(bad)?),
        Kind::Str => Arg::Str(text.trim_matches('\'').into()),
        Kind::DType => Arg::DType(DType::parse(text).ok_or_else(bad)?),
        Kind::MemoryFormat => Arg::MemoryFormat(match text {
            "contiguous_format" => MemoryFormat::Contiguous,
            "preserve_format" => MemoryFormat::Preserve,
            _ => return Err(bad()),
        }),
        Kind::Tensor | Kind::Device | Kind::Layout | Kind::Generator => return Err(bad()),
    })
}

/// Reads a number as it prints: `True`, `3`, `1e-05`, `inf`, `(1.0-2.0j)`.
pub fn parse_number(text: &str) -> Option<Number> {
    match text {
        "True" => return Some(Number::Bool(true)),
        "False" => return Some(Number::Bool(false)),
        _ => {}
    }
    if let Ok(i) = text.parse::<i64>() {
        return Some(Number::Int(i));
    }
    if let Some(inside) = text.strip_prefix('(').and_then(|t| t.strip_suffix("j)")) {
        // The sign between the parts is the last that isn't an exponent's.
        let signs = inside.char_indices().skip(1).filter(|(at, c)| matches!(c, '+' | '-') && !inside[..*at].ends_with('e'));
        let (at, _) = signs.last()?;
        return Some(Number::Complex(inside[..at].parse().ok()?, inside[at..].parse().ok()?));
    }
    text.parse::<f64>().ok().map(Number::Float)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_notation() {
        let s = Schema::parse("add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor").unwrap();
        assert_eq!((s.base, s.overload, s.name()), ("add", "Tensor", "add.Tensor"));
        assert_eq!(s.params.len(), 3);
        assert!(s.params[2].keyword_only);
        assert_eq!(s.params[2].default, Some(Arg::Number(Number::Int(1))));

        let s = Schema::parse("max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0) -> Tensor").unwrap();
        assert_eq!(s.params[1].list, ListKind::Sized(2));
        assert_eq!(s.params[3].default, Some(Arg::Ints(vec![Dim::Is(0); 2].into())));

        let s = Schema::parse("max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)").unwrap();
        assert_eq!(s.returns[1].name, Some("indices"));

        let s =
            Schema::parse("index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor(a!)").unwrap();
        assert!(s.params[1].optional_items && s.params[0].alias.unwrap().write && s.returns[0].alias.unwrap().write);

        let s = Schema::parse("split.Tensor(Tensor(a) self, int split_size, int dim=0) -> Tensor(a)[]").unwrap();
        assert!(s.returns[0].list);
    }

    #[test]
    fn numbers_read_back() {
        for n in
            [Number::Bool(true), Number::Int(-3), Number::Float(1e-5), Number::Complex(1e-5, -2e20), Number::Complex(-0.0, f64::INFINITY)]
        {
            assert_eq!(parse_number(&n.to_string()), Some(n));
        }
    }

    #[test]
    fn says_what_is_wrong() {
        let e = Schema::parse("f(Tenso x) -> Tensor").unwrap_err();
        assert_eq!(e.to_string(), "schema `f(Tenso x) -> Tensor`: unknown type `Tenso`");
    }
}
