//! Binding a Python call to an op's schema, without knowing Python: the caller turns its objects into [`Operand`]s.
//!
//! Used with real tensors by the `torch` module and with traced values by the tracer, so both accept the same calls and give
//! PyTorch's error texts.

use crate::{
    DType, Device, Dim, MemoryFormat, Number, OpError,
    op::{Arg, Entry, OpRef},
    schema::{Kind, ListKind, Param, Schema},
};
use std::sync::Arc;

/// A Python value as a call's argument, with tensors of type `T`.
#[derive(Clone, PartialEq, Debug)]
pub enum Operand<T> {
    /// A tensor.
    Tensor(T),
    /// `True` or `False`.
    Bool(bool),
    /// An `int`, or a size.
    Int(Dim),
    /// A `float`.
    Float(f64),
    /// A `complex`: the real part and the imaginary part.
    Complex(f64, f64),
    /// `None`.
    None,
    /// A `str`.
    Str(Arc<str>),
    /// A `torch.dtype`.
    DType(DType),
    /// A `torch.device`.
    Device(Device),
    /// A `torch.layout`; only `torch.strided` exists.
    Layout,
    /// A `torch.memory_format`.
    MemoryFormat(MemoryFormat),
    /// A `torch.Generator`, by its number in the context.
    Generator(u32),
    /// A `list`, `tuple` or `torch.Size`; the flag says `tuple`.
    List(Vec<Operand<T>>, bool),
    /// Anything else, by the name of its type.
    Other(String),
}

impl<T> Operand<T> {
    /// The name of the Python type, as messages show it.
    pub fn type_name(&self) -> &str {
        match self {
            Operand::Tensor(_) => "Tensor",
            Operand::Bool(_) => "bool",
            Operand::Int(_) => "int",
            Operand::Float(_) => "float",
            Operand::Complex(..) => "complex",
            Operand::None => "NoneType",
            Operand::Str(_) => "str",
            Operand::DType(_) => "torch.dtype",
            Operand::Device(_) => "torch.device",
            Operand::Layout => "torch.layout",
            Operand::MemoryFormat(_) => "torch.memory_format",
            Operand::Generator(_) => "torch._C.Generator",
            Operand::List(_, true) => "tuple",
            Operand::List(_, false) => "list",
            Operand::Other(name) => name,
        }
    }
}

/// A call bound to one overload.
#[derive(Clone, Debug)]
pub struct Bound<T> {
    /// The op.
    pub op: OpRef,
    /// One argument per schema parameter.
    pub args: Vec<Arg<T>>,
    /// The `out=` argument, where one was given.
    pub out: Option<Operand<T>>,
}

/// How a call was written, for the texts of errors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallForm {
    /// `torch.add(x, y)`.
    Function,
    /// `x.add(y)`: argument 0 is the receiver.
    Method,
}

enum Mismatch {
    /// `(position from 1, parameter, wanted, got)`.
    Kind {
        position: Option<usize>,
        param: &'static str,
        wanted: String,
        got: String,
    },
    Missing(Vec<&'static str>),
    TooMany {
        takes: usize,
        given: usize,
    },
    Unexpected(String),
    Twice(&'static str),
}

/// Finds the first overload a call fits. Positional and named arguments are given apart.
pub fn bind<'e, T: Clone>(
    name: &str,
    form: CallForm,
    overloads: impl Iterator<Item = &'e Entry> + Clone,
    args: &[Operand<T>],
    named: &[(&str, Operand<T>)],
) -> Result<Bound<T>, OpError> {
    let out = named.iter().find(|(n, _)| *n == "out").map(|(_, v)| v.clone()).filter(|v| !matches!(v, Operand::None));
    let named: Vec<(&str, &Operand<T>)> = named.iter().filter(|(n, _)| *n != "out").map(|(n, v)| (*n, v)).collect();
    let mut first_mismatch = None;
    let mut count = 0;
    for entry in overloads.clone() {
        count += 1;
        match bind_one(&entry.schema, args, &named) {
            Ok(args) => return Ok(Bound { op: entry.op, args, out }),
            Err(e) => first_mismatch = first_mismatch.or(Some((&entry.schema, e))),
        }
    }
    let Some((schema, mismatch)) = first_mismatch else {
        return Err(OpError::not_implemented(format!("no op is called `{name}`")));
    };
    let text = if count == 1 {
        describe(name, form, schema, mismatch)
    } else {
        combination(name, form, overloads.map(|e| &e.schema), args, &named)
    };
    Err(OpError::type_error(text))
}

/// [`bind`] for a call that fits no overload as it stands: a tensor of no dims where a number belongs is taken for its element.
///
/// `read` gives that element, or nothing for tensors that aren't numbers; the element of an integer tensor must be an
/// [`Operand::Int`].
pub fn bind_reading<'e, T: Clone>(
    overloads: impl Iterator<Item = &'e Entry>,
    args: &[Operand<T>],
    named: &[(&str, Operand<T>)],
    read: &dyn Fn(&T) -> Option<Operand<T>>,
) -> Option<Bound<T>> {
    let out = named.iter().find(|(n, _)| *n == "out").map(|(_, v)| v.clone()).filter(|v| !matches!(v, Operand::None));
    overloads.into_iter().find_map(|entry| {
        let params = &entry.schema.params;
        // What comes behind the last parameter is an item of it.
        let last = entry.schema.positional().checked_sub(1)?;
        let args: Vec<_> = args.iter().enumerate().map(|(i, arg)| as_number(&params[i.min(last)], arg, read)).collect();
        let named: Vec<(&str, Operand<T>)> = named
            .iter()
            .filter(|(name, _)| *name != "out")
            .map(|(name, value)| {
                let param = params.iter().find(|p| p.name == *name).or_else(|| alias(params, name).map(|at| &params[at]));
                (*name, param.map_or_else(|| value.clone(), |param| as_number(param, value, read)))
            })
            .collect();
        let named: Vec<(&str, &Operand<T>)> = named.iter().map(|(name, value)| (*name, value)).collect();
        Some(Bound { op: entry.op, args: bind_one(&entry.schema, &args, &named).ok()?, out: out.clone() })
    })
}

/// The value with its tensors read where the parameter is a number, or numbers.
fn as_number<T: Clone>(param: &Param, value: &Operand<T>, read: &dyn Fn(&T) -> Option<Operand<T>>) -> Operand<T> {
    match (param.kind, value) {
        (Kind::Int | Kind::Float | Kind::Scalar, Operand::Tensor(tensor)) => read(tensor).unwrap_or_else(|| value.clone()),
        (Kind::Int | Kind::Float | Kind::Scalar, Operand::List(items, tuple)) => {
            Operand::List(items.iter().map(|item| as_number(param, item, read)).collect(), *tuple)
        }
        _ => value.clone(),
    }
}

fn bind_one<T: Clone>(schema: &Schema, args: &[Operand<T>], named: &[(&str, &Operand<T>)]) -> Result<Vec<Arg<T>>, Mismatch> {
    let params = &schema.params;
    let positional = schema.positional();
    let mut bound: Vec<Option<Arg<T>>> = vec![None; params.len()];
    let mut args = args;
    let gathered;
    if let Some(at) = loose_list(params, positional, args) {
        let mut all = args[..at].to_vec();
        all.push(Operand::List(args[at..].to_vec(), true));
        gathered = all;
        args = &gathered;
    }
    if args.len() > positional {
        return Err(Mismatch::TooMany { takes: positional, given: args.len() });
    }
    for (i, arg) in args.iter().enumerate() {
        bound[i] = Some(convert(&params[i], arg).ok_or_else(|| wrong_kind(Some(i), &params[i], arg))?);
    }
    for (name, value) in named {
        let at = params.iter().position(|p| p.name == *name || (p.name == "self" && *name == "input")).or_else(|| alias(params, name));
        let Some(at) = at else {
            // `requires_grad`, `layout` and `pin_memory` of creation functions are the caller's business.
            return Err(Mismatch::Unexpected((*name).to_owned()));
        };
        if bound[at].is_some() {
            return Err(Mismatch::Twice(params[at].name));
        }
        bound[at] = Some(convert(&params[at], value).ok_or_else(|| wrong_kind(None, &params[at], value))?);
    }
    let missing: Vec<&'static str> =
        params.iter().zip(&bound).filter(|(p, b)| b.is_none() && p.default.is_none()).map(|(p, _)| shown_name(p.name)).collect();
    if !missing.is_empty() {
        return Err(Mismatch::Missing(missing));
    }
    let filled = bound.into_iter().zip(params).map(|(b, p)| match (b, &p.default) {
        (Some(b), _) => b,
        (None, Some(default)) => tensorless(default),
        (None, None) => Arg::Absent,
    });
    Ok(filled.collect())
}

/// The position from which on the arguments are the items of one list parameter, written without brackets.
fn loose_list<T>(params: &[Param], positional: usize, args: &[Operand<T>]) -> Option<usize> {
    // `torch.meshgrid(a, b)`, `torch.einsum(text, a, b)`: a `Tensor[]` that is the last positional parameter.
    let last = positional.checked_sub(1)?;
    let tensors = |a: &Operand<T>| matches!(a, Operand::Tensor(_));
    if params[last].kind == Kind::Tensor && params[last].list != ListKind::One && args.len() > last && args[last..].iter().all(tensors) {
        return Some(last);
    }
    // `x.view(2, 3)`: an `int[]` that is the last positional parameter behind the receiver takes the rest of the integers.
    let at = params.iter().position(|p| p.kind == Kind::Int && p.list == ListKind::Any && !p.keyword_only)?;
    let fits = |a: &Operand<T>| matches!(a, Operand::Int(_)) || (matches!(a, Operand::Tensor(_)) && args.len() > positional);
    let loose = at <= 1 && args.len() > at && args[at..].iter().all(fits) && matches!(args[at], Operand::Int(_));
    (loose && (args.len() > at + 1 || at + 1 == positional || params[at + 1].default.is_some())).then_some(at)
}

/// Names NumPy's users write.
fn alias(params: &[Param], name: &str) -> Option<usize> {
    let torch = match name {
        "axis" => "dim",
        "keepdims" => "keepdim",
        "x" => "self",
        "x2" => "other",
        _ => return None,
    };
    params.iter().position(|p| p.name == torch)
}

/// A default holds no tensors, so its type may change.
fn tensorless<T>(default: &Arg<()>) -> Arg<T> {
    match default {
        Arg::Tensor(()) | Arg::Tensors(_) | Arg::OptionalTensors(_) | Arg::Absent => Arg::Absent,
        Arg::Number(n) => Arg::Number(*n),
        Arg::Int(d) => Arg::Int(*d),
        Arg::Ints(d) => Arg::Ints(d.clone()),
        Arg::Floats(x) => Arg::Floats(x.clone()),
        Arg::Bool(b) => Arg::Bool(*b),
        Arg::DType(d) => Arg::DType(*d),
        Arg::Device(d) => Arg::Device(d.clone()),
        Arg::MemoryFormat(m) => Arg::MemoryFormat(*m),
        Arg::Str(s) => Arg::Str(s.clone()),
        Arg::Generator(g) => Arg::Generator(*g),
    }
}

/// The argument a value becomes for a parameter, or `None` where it does not fit.
fn convert<T: Clone>(param: &Param, value: &Operand<T>) -> Option<Arg<T>> {
    if matches!(value, Operand::None) {
        return (param.optional || param.default.as_ref().is_some_and(Arg::is_absent)).then_some(Arg::Absent);
    }
    if param.list != ListKind::One {
        return convert_list(param, value);
    }
    Some(match (param.kind, value) {
        (Kind::Tensor | Kind::TensorOrScalar, Operand::Tensor(t)) => Arg::Tensor(t.clone()),
        (Kind::TensorOrScalar | Kind::Scalar | Kind::Float, Operand::Bool(b)) => Arg::Number(Number::Bool(*b)),
        (Kind::TensorOrScalar | Kind::Scalar, Operand::Int(d)) => Arg::Number(Number::Int(d.known()?)),
        (Kind::Float, Operand::Int(d)) => Arg::Number(Number::Float(d.known()? as f64)),
        (Kind::TensorOrScalar | Kind::Scalar | Kind::Float, Operand::Float(x)) => Arg::Number(Number::Float(*x)),
        (Kind::TensorOrScalar | Kind::Scalar, Operand::Complex(re, im)) => Arg::Number(Number::Complex(*re, *im)),
        (Kind::Int, Operand::Int(d)) => Arg::Int(*d),
        (Kind::Bool, Operand::Bool(b)) => Arg::Bool(*b),
        (Kind::Str, Operand::Str(s)) => Arg::Str(s.clone()),
        (Kind::DType, Operand::DType(d)) => Arg::DType(*d),
        (Kind::Device, Operand::Device(d)) => Arg::Device(d.clone()),
        (Kind::Device, Operand::Str(s)) => Arg::Device(Device::parse(s)?),
        (Kind::Layout, Operand::Layout) => Arg::Absent,
        (Kind::MemoryFormat, Operand::MemoryFormat(m)) => Arg::MemoryFormat(*m),
        (Kind::Generator, Operand::Generator(g)) => Arg::Generator(*g),
        _ => return None,
    })
}

fn convert_list<T: Clone>(param: &Param, value: &Operand<T>) -> Option<Arg<T>> {
    let int = |o: &Operand<T>| match o {
        Operand::Int(d) => Some(*d),
        _ => None,
    };
    match (param.kind, value) {
        (Kind::Tensor, Operand::List(items, _)) if param.optional_items => {
            let one = |o: &Operand<T>| match o {
                Operand::Tensor(t) => Some(Some(t.clone())),
                Operand::None => Some(None),
                _ => None,
            };
            items.iter().map(one).collect::<Option<_>>().map(Arg::OptionalTensors)
        }
        (Kind::Tensor, Operand::List(items, _)) => {
            let one = |o: &Operand<T>| match o {
                Operand::Tensor(t) => Some(t.clone()),
                _ => None,
            };
            items.iter().map(one).collect::<Option<_>>().map(Arg::Tensors)
        }
        (Kind::Int, Operand::List(items, _)) => {
            let dims = items.iter().map(int).collect::<Option<smallvec::SmallVec<[Dim; 5]>>>()?;
            match (param.list, dims.len()) {
                // One element stands for all: `kernel_size=[3]`.
                (ListKind::Sized(n), 1) => Some(Arg::Ints(smallvec::smallvec![dims[0]; n as usize])),
                _ => Some(Arg::Ints(dims)),
            }
        }
        (Kind::Int, Operand::Int(d)) => match param.list {
            ListKind::Sized(n) => Some(Arg::Ints(smallvec::smallvec![*d; n as usize])),
            _ => None,
        },
        (Kind::Bool, Operand::List(items, _)) => {
            let one = |o: &Operand<T>| match o {
                Operand::Bool(b) => Some(Dim::Is(i64::from(*b))),
                _ => None,
            };
            items.iter().map(one).collect::<Option<_>>().map(Arg::Ints)
        }
        (Kind::Float | Kind::Scalar, Operand::List(items, _)) => {
            let one = |o: &Operand<T>| match o {
                Operand::Float(x) => Some(*x),
                Operand::Int(d) => d.known().map(|n| n as f64),
                _ => None,
            };
            items.iter().map(one).collect::<Option<_>>().map(Arg::Floats)
        }
        _ => None,
    }
}

fn shown_name(name: &'static str) -> &'static str {
    if name == "self" { "input" } else { name }
}

fn kind_name(param: &Param) -> String {
    let one = match param.kind {
        Kind::Tensor | Kind::TensorOrScalar => "Tensor",
        Kind::Scalar => "Number",
        Kind::Int => "int",
        Kind::Float => "float",
        Kind::Bool => "bool",
        Kind::Str => "str",
        Kind::DType => "torch.dtype",
        Kind::Device => "torch.device",
        Kind::Layout => "torch.layout",
        Kind::MemoryFormat => "torch.memory_format",
        Kind::Generator => "torch.Generator",
    };
    match (param.list, param.kind) {
        (ListKind::One, _) => one.to_owned(),
        (_, Kind::Tensor) => "tuple of Tensors".to_owned(),
        _ => format!("tuple of {one}s"),
    }
}

fn wrong_kind<T>(position: Option<usize>, param: &Param, value: &Operand<T>) -> Mismatch {
    let got = match (param.list, value) {
        (ListKind::One, _) => value.type_name().to_owned(),
        (_, Operand::List(items, _)) if param.kind == Kind::Int || param.kind == Kind::Tensor => {
            match items.iter().enumerate().find(|(_, o)| match param.kind {
                Kind::Int => !matches!(o, Operand::Int(_)),
                _ => !matches!(o, Operand::Tensor(_)),
            }) {
                Some((i, o)) if param.kind == Kind::Int => {
                    return Mismatch::Kind {
                        position,
                        param: shown_name(param.name),
                        wanted: kind_name(param),
                        got: format!("but found element of type {} at pos {}", o.type_name(), i),
                    };
                }
                Some((i, o)) => {
                    return Mismatch::Kind {
                        position,
                        param: shown_name(param.name),
                        wanted: String::new(),
                        got: format!("expected Tensor as element {} in argument {}, but got {}", i, position.unwrap_or(0), o.type_name()),
                    };
                }
                None => value.type_name().to_owned(),
            }
        }
        _ => value.type_name().to_owned(),
    };
    Mismatch::Kind { position, param: shown_name(param.name), wanted: kind_name(param), got }
}

fn describe(name: &str, form: CallForm, schema: &Schema, mismatch: Mismatch) -> String {
    let receiver = usize::from(form == CallForm::Method);
    match mismatch {
        Mismatch::Kind { wanted, got, .. } if wanted.is_empty() => got,
        Mismatch::Kind { position, param, wanted, got } => {
            let at = position.map_or(String::new(), |p| format!(" (position {})", p + 1 - receiver.min(p)));
            let got = if got.starts_with("but ") { got } else { format!("not {got}") };
            format!("{name}(): argument '{param}'{at} must be {wanted}, {got}")
        }
        Mismatch::Missing(names) => {
            let list: Vec<String> = names.iter().map(|n| format!("\"{n}\"")).collect();
            format!("{name}() missing {} required positional arguments: {}", names.len(), list.join(", "))
        }
        Mismatch::TooMany { takes, given } => {
            let (takes, given) = (takes - receiver, given - receiver);
            let (s, verb) = (if takes == 1 { "" } else { "s" }, if given == 1 { "was" } else { "were" });
            format!("{name}() takes {takes} positional argument{s} but {given} {verb} given")
        }
        Mismatch::Unexpected(keyword) => format!("{name}() got an unexpected keyword argument '{keyword}'"),
        Mismatch::Twice(param) => {
            let position = schema.position(param).unwrap_or(0);
            format!("{name}() got multiple values for argument '{param}' (position {})", position + 1)
        }
    }
}

/// The text for a name with several overloads.
fn combination<'e, T>(
    name: &str,
    form: CallForm,
    schemas: impl Iterator<Item = &'e Schema>,
    args: &[Operand<T>],
    named: &[(&str, &Operand<T>)],
) -> String {
    let receiver = usize::from(form == CallForm::Method);
    let mut got: Vec<String> = args.iter().skip(receiver).map(|a| a.type_name().to_owned()).collect();
    got.extend(named.iter().map(|(n, v)| format!("{n}={}", v.type_name())));
    let mut text = format!("{name}() received an invalid combination of arguments - got ({}), but expected one of:", got.join(", "));
    for schema in schemas {
        text.push_str(&format!("\n * ({})", signature(schema, receiver)));
    }
    text.push('\n');
    text
}

fn signature(schema: &Schema, skip: usize) -> String {
    let mut pieces = vec![];
    let mut starred = false;
    for param in schema.params.iter().skip(skip) {
        if param.keyword_only && !starred {
            pieces.push("*".to_owned());
            starred = true;
        }
        let kind = match (param.list, param.kind) {
            (ListKind::One, Kind::TensorOrScalar) => "Tensor".to_owned(),
            (ListKind::One, _) => kind_name(param),
            (_, Kind::Tensor) => "tuple of Tensors".to_owned(),
            (_, _) => kind_name(param),
        };
        let default = match &param.default {
            Some(Arg::Absent) => " = None".to_owned(),
            Some(Arg::Number(n)) => format!(" = {n}"),
            Some(Arg::Int(d)) => format!(" = {d}"),
            Some(Arg::Bool(b)) => format!(" = {}", Number::Bool(*b)),
            Some(Arg::Str(s)) => format!(" = \"{s}\""),
            _ => String::new(),
        };
        pieces.push(format!("{kind} {}{default}", shown_name(param.name)));
    }
    pieces.join(", ")
}
