//! The op record: everything one op is, and the emitter through which rules speak of ops.

use crate::{
    DType, Device, Dim, Dims, Facts, MemoryFormat, Number, OpError,
    body::{Body, Scalar},
    complex::Complex,
    gradient::Gradient,
    schema::{Schema, SchemaError},
};
use smallvec::SmallVec;
use std::{any::Any, collections::HashMap, fmt, sync::Arc};

/// An argument of an op, with tensors of type `T`: real ones, values of an emitter, or their facts.
#[derive(Clone, PartialEq, Debug)]
pub enum Arg<T> {
    /// A tensor.
    Tensor(T),
    /// A list of tensors.
    Tensors(Vec<T>),
    /// A list of tensors with holes (`Tensor?[]`).
    OptionalTensors(Vec<Option<T>>),
    /// A Python number, also where a tensor parameter was given a number.
    Number(Number),
    /// An integer, such as a dim or a size.
    Int(Dim),
    /// A list of integers.
    Ints(SmallVec<[Dim; 5]>),
    /// A list of floats.
    Floats(Vec<f64>),
    /// A flag.
    Bool(bool),
    /// A dtype.
    DType(DType),
    /// A device.
    Device(Device),
    /// A memory format.
    MemoryFormat(MemoryFormat),
    /// A word such as `mean`.
    Str(Arc<str>),
    /// One of the context's generators.
    Generator(u32),
    /// `None`, or not given.
    Absent,
}

impl<T> Arg<T> {
    /// The same argument with its tensors replaced.
    pub fn map<U>(&self, mut f: impl FnMut(&T) -> U) -> Arg<U> {
        match self {
            Arg::Tensor(t) => Arg::Tensor(f(t)),
            Arg::Tensors(ts) => Arg::Tensors(ts.iter().map(f).collect()),
            Arg::OptionalTensors(ts) => Arg::OptionalTensors(ts.iter().map(|t| t.as_ref().map(&mut f)).collect()),
            other => other.without_tensors(),
        }
    }

    /// The same argument with its tensors borrowed.
    pub fn borrowed(&self) -> Arg<&T> {
        match self {
            Arg::Tensor(t) => Arg::Tensor(t),
            Arg::Tensors(ts) => Arg::Tensors(ts.iter().collect()),
            Arg::OptionalTensors(ts) => Arg::OptionalTensors(ts.iter().map(Option::as_ref).collect()),
            other => other.without_tensors(),
        }
    }

    /// The same argument without its tensors: an argument that is one becomes absent.
    pub fn without_tensors<U>(&self) -> Arg<U> {
        match self {
            Arg::Tensor(_) | Arg::Tensors(_) | Arg::OptionalTensors(_) | Arg::Absent => Arg::Absent,
            Arg::Number(n) => Arg::Number(*n),
            Arg::Int(d) => Arg::Int(*d),
            Arg::Ints(ds) => Arg::Ints(ds.clone()),
            Arg::Floats(xs) => Arg::Floats(xs.clone()),
            Arg::Bool(b) => Arg::Bool(*b),
            Arg::DType(d) => Arg::DType(*d),
            Arg::Device(d) => Arg::Device(d.clone()),
            Arg::MemoryFormat(m) => Arg::MemoryFormat(*m),
            Arg::Str(s) => Arg::Str(s.clone()),
            Arg::Generator(g) => Arg::Generator(*g),
        }
    }

    /// Calls `f` on each tensor, in order.
    pub fn for_each<'a>(&'a self, mut f: impl FnMut(&'a T)) {
        match self {
            Arg::Tensor(t) => f(t),
            Arg::Tensors(ts) => ts.iter().for_each(f),
            Arg::OptionalTensors(ts) => ts.iter().flatten().for_each(f),
            _ => {}
        }
    }

    /// Whether the argument is [`Arg::Absent`].
    pub fn is_absent(&self) -> bool {
        matches!(self, Arg::Absent)
    }
}

/// A value of the emitter in use: a slot number, nothing else.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Val(pub u32);

impl From<Val> for Arg<Val> {
    fn from(value: Val) -> Arg<Val> {
        Arg::Tensor(value)
    }
}

impl<T> From<f64> for Arg<T> {
    fn from(number: f64) -> Arg<T> {
        Arg::Number(Number::Float(number))
    }
}

impl<T> From<i64> for Arg<T> {
    fn from(number: i64) -> Arg<T> {
        Arg::Number(Number::Int(number))
    }
}

/// The results of one op.
pub type Vals = SmallVec<[Val; 2]>;

/// Where rules put ops: run now, append to a graph, record on a tape, or compute facts only.
pub trait Emitter {
    /// The table sizes are looked up in.
    fn dims(&mut self) -> &mut dyn Dims;
    /// The facts of a value.
    fn facts(&self, value: Val) -> &Facts;
    /// Puts one op with one argument per schema parameter.
    fn emit(&mut self, op: OpRef, args: &[Arg<Val>]) -> Result<Vals, OpError>;
    /// The default floating dtype in force.
    fn default_float(&self) -> DType {
        DType::F32
    }
}

/// Facts of the results from facts of the arguments.
pub type FactsRule = fn(&mut RuleContext<'_>, &[Arg<&Facts>]) -> Result<FactsList, OpError>;

/// Fails where an op doesn't take arguments of these facts, with PyTorch's text.
pub type Refusal = fn(&mut RuleContext<'_>, &[Arg<&Facts>]) -> Result<(), OpError>;

/// Facts of the results of one op.
pub type FactsList = SmallVec<[Facts; 1]>;

/// What a facts rule may look at beside its arguments.
pub struct RuleContext<'a> {
    /// The table sizes are looked up in.
    pub dims: &'a mut dyn Dims,
    /// The default floating dtype in force.
    pub default_float: DType,
}

/// A layout rule of a view: the facts of the results over the storage of argument 0.
pub type LayoutRule = FactsRule;

/// The one text of a pointwise op's maths. Tensor arguments arrive as scalars of the compute type.
pub type BodyRule = fn(&mut Body, &[Arg<Scalar>]) -> Scalar;

/// A decomposition into other ops.
pub type CompositeRule = fn(&mut dyn Emitter, &[Arg<Val>]) -> Result<Vals, OpError>;

/// How the arguments of a pointwise op find their common element type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Promotion {
    /// Computed and returned in the promoted type of the tensors and numbers.
    Common,
    /// As [`Promotion::Common`], integers and bools going to the default float type.
    Float,
    /// Computed in the promoted type, returned as `bool`.
    Compare,
    /// Computed and returned in the element type of argument 0.
    First,
    /// Argument 0 is a `bool` condition; the rest are promoted.
    Select,
}

/// The family of a kernel or reduction, by which passes choose.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Family {
    Reduce,
    MatMul,
    Convolution,
    Pool,
    Normalize,
    Attention,
    Sort,
    Scan,
    Gather,
    Scatter,
    Create,
    Copy,
    Other,
}

/// A kernel of the crate above, held here without being known here.
#[derive(Clone, Copy)]
pub struct Kernel(pub &'static (dyn Any + Send + Sync));

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Kernel")
    }
}

/// What an op does.
#[derive(Clone, Copy, Debug)]
pub enum Meaning {
    /// One result element from one element of each broadcast argument.
    Pointwise {
        /// The maths.
        body: BodyRule,
        /// The types it runs in.
        promotion: Promotion,
    },
    /// A new tensor over the storage of argument 0; the facts rule is the layout rule.
    View,
    /// Code in the crate that owns data, the same in every executor.
    Kernel {
        /// By which passes choose.
        family: Family,
        /// The code.
        run: Kernel,
    },
    /// A draw from a generator: an ordered effect.
    Random {
        /// The code.
        run: Kernel,
    },
    /// A pure op whose result is then written into an argument, which is also the result.
    Mutate {
        /// Schema name of the pure op; its arguments are this op's.
        pure: &'static str,
        /// The argument written to.
        writes: usize,
    },
    /// A decomposition.
    Composite(CompositeRule),
}

/// Which Python forms an op has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Forms(u8);

impl Forms {
    /// `torch.name(...)`.
    pub const FUNCTION: Forms = Forms(1);
    /// `tensor.name(...)`.
    pub const METHOD: Forms = Forms(2);
    /// `torch.nn.functional.name(...)`.
    pub const NN: Forms = Forms(4);
    /// `torch.special.name(...)`.
    pub const SPECIAL: Forms = Forms(8);
    /// `torch.linalg.name(...)`.
    pub const LINALG: Forms = Forms(16);
    /// `torch.fft.name(...)`.
    pub const FFT: Forms = Forms(64);
    /// `tensor.name_(...)` and `torch.name_(...)`: the registry derives the op that writes the result into argument 0.
    pub const INPLACE: Forms = Forms(32);
    /// Function and method.
    pub const BOTH: Forms = Forms(3);
    /// Only reachable as `torch.ops.aten.name`, by operators or by decompositions.
    pub const INTERNAL: Forms = Forms(0);

    /// Both sets.
    pub const fn or(self, other: Forms) -> Forms {
        Forms(self.0 | other.0)
    }

    /// Whether all of `other` is in this set.
    pub const fn has(self, other: Forms) -> bool {
        self.0 & other.0 == other.0 && other.0 != 0
    }
}

/// One op. All there is to know about it stands here, in one block of one file.
#[derive(Debug)]
pub struct Op {
    /// The signature.
    pub schema: &'static str,
    /// Which Python forms exist.
    pub forms: Forms,
    /// What PyTorch refuses of these arguments before anything else, as far as facts and plain arguments tell.
    pub refuses: Option<Refusal>,
    /// Facts of the results; `None` for a composite, whose facts follow from its parts, and for [`Meaning::Mutate`].
    pub facts: Option<FactsRule>,
    /// What it does.
    pub meaning: Meaning,
    /// What it does where it meets complex numbers.
    pub complex: Complex,
    /// How it is differentiated; a derived in-place form has the gradient of its pure op.
    pub gradient: Gradient,
    /// Algebraic laws, as equations in the text form of graphs.
    pub laws: &'static [&'static str],
    /// Units in the last place by which executors and PyTorch may differ; dtypes not listed agree exactly.
    pub ulps: &'static [(DType, u32)],
    /// Sample calls for the op tests, as argument lists in the text form of graphs: `f32[2,3], f32[3], alpha=2`.
    pub samples: &'static [&'static str],
}

/// A reference to an op: one of the static table.
#[derive(Clone, Copy)]
pub struct OpRef(pub &'static Op);

impl OpRef {
    /// `add.Tensor`.
    pub fn name(self) -> &'static str {
        self.0.schema.split('(').next().unwrap_or("").trim()
    }
}

impl PartialEq for OpRef {
    fn eq(&self, other: &OpRef) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}
impl Eq for OpRef {}

impl fmt::Debug for OpRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An op with what is parsed from its record.
#[derive(Debug)]
pub struct Entry {
    /// The op.
    pub op: OpRef,
    /// Its schema.
    pub schema: Schema,
    /// What its gradient rule reads elements of.
    pub saves: Saves,
}

/// What a gradient rule reads elements of, by whose gradient is asked for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Saves(SmallVec<[(u32, Kept); 2]>);

/// Arguments and results whose elements are kept, as bits by number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Kept {
    /// Parameters.
    pub params: u32,
    /// Results.
    pub results: u32,
}

impl Saves {
    /// Reads an op's `saves`: clauses `parameter: names` separated by semicolons; a clause without a parameter is about them all.
    fn parse(op: &Op, schema: &Schema) -> Result<Saves, SchemaError> {
        let Gradient::Rule { saves, .. } = op.gradient else { return Ok(Saves::default()) };
        let unknown = |name: &str| {
            let what = format!("its gradient names `{name}`, which is neither a parameter nor a result");
            SchemaError { schema: op.schema.to_owned(), what }
        };
        let param = |name: &str| schema.params.iter().position(|p| p.name == name);
        let mut clauses = SmallVec::new();
        for clause in saves.split(';').map(str::trim).filter(|clause| !clause.is_empty()) {
            let (of, names) = match clause.split_once(':') {
                Some((of, names)) => (1 << param(of.trim()).ok_or_else(|| unknown(of))?, names),
                None => (u32::MAX, clause),
            };
            let mut kept = Kept::default();
            for name in names.split(',').map(str::trim) {
                let result = schema.returns.iter().position(|r| r.name == Some(name));
                match (param(name), result) {
                    (Some(i), _) => kept.params |= 1 << i,
                    (None, Some(i)) => kept.results |= 1 << i,
                    (None, None) if name == "result" => kept.results |= 1,
                    (None, None) => return Err(unknown(name)),
                }
            }
            clauses.push((of, kept));
        }
        Ok(Saves(clauses))
    }

    /// What is read for the gradients of these parameters, given as bits by number.
    pub fn needed(&self, params: u32) -> Kept {
        let asked = self.0.iter().filter(|(of, _)| of & params != 0);
        asked.fold(Kept::default(), |all, (_, kept)| Kept { params: all.params | kept.params, results: all.results | kept.results })
    }
}

/// All ops, by name and by base name. Immutable once built.
#[derive(Debug, Default)]
pub struct Registry {
    entries: Vec<Entry>,
    by_name: HashMap<&'static str, usize>,
    by_base: HashMap<&'static str, Vec<usize>>,
    /// By the address of the op.
    by_op: HashMap<usize, usize>,
}

impl Registry {
    /// Parses the schemas of a table.
    pub fn new(tables: &[&'static [Op]]) -> Result<Registry, SchemaError> {
        let mut registry = Registry::default();
        for op in tables.iter().flat_map(|t| t.iter()) {
            registry.add(op)?;
            if op.forms.has(Forms::INPLACE) {
                registry.add(in_place_form(op)?)?;
            }
        }
        Ok(registry)
    }

    fn add(&mut self, op: &'static Op) -> Result<(), SchemaError> {
        let schema = Schema::parse(op.schema)?;
        let index = self.entries.len();
        if self.by_name.insert(schema.name(), index).is_some() {
            return Err(SchemaError { schema: op.schema.to_owned(), what: "this name is taken".to_owned() });
        }
        self.by_op.insert(std::ptr::from_ref(op).addr(), index);
        self.by_base.entry(schema.base).or_default().push(index);
        let saves = Saves::parse(op, &schema)?;
        self.entries.push(Entry { op: OpRef(op), schema, saves });
        Ok(())
    }

    /// Every op in table order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The op named `add.Tensor`. A base name alone finds its first overload.
    pub fn find(&self, name: &str) -> Option<&Entry> {
        let index = self.by_name.get(name).or_else(|| self.by_base.get(name).and_then(|v| v.first()))?;
        self.entries.get(*index)
    }

    /// The overloads of `add`, in table order.
    pub fn overloads(&self, base: &str) -> impl Iterator<Item = &Entry> {
        self.by_base.get(base).into_iter().flatten().map(|i| &self.entries[*i])
    }

    /// The entry of an op.
    pub fn entry(&self, op: OpRef) -> Option<&Entry> {
        self.by_op.get(&std::ptr::from_ref(op.0).addr()).map(|i| &self.entries[*i])
    }

    /// The shortest name that [`Registry::find`] reads back: the base name where that finds this overload.
    pub fn short_name(&self, op: OpRef) -> &'static str {
        let base = self.entry(op).map(|entry| entry.schema.base);
        base.filter(|base| self.find(base).is_some_and(|found| found.op == op)).unwrap_or(op.name())
    }
}

/// `add_.Tensor(Tensor(a!) self, …) -> Tensor(a!)` of `add.Tensor(Tensor self, …) -> Tensor`.
///
/// The record lives as long as the process, like the table it is derived from.
fn in_place_form(op: &'static Op) -> Result<&'static Op, SchemaError> {
    let schema = Schema::parse(op.schema)?;
    let wrong = |what: &str| SchemaError { schema: op.schema.to_owned(), what: what.to_owned() };
    let (_, rest) = op.schema.split_once("(Tensor self").ok_or_else(|| wrong("an in-place form needs `Tensor self` first"))?;
    let (params, _) = rest.rsplit_once("->").ok_or_else(|| wrong("no `->`"))?;
    let dot = if schema.overload.is_empty() { "" } else { "." };
    let text = format!("{}_{dot}{}(Tensor(a!) self{params}-> Tensor(a!)", schema.base, schema.overload);
    Ok(Box::leak(Box::new(Op {
        schema: Box::leak(text.into_boxed_str()),
        forms: if op.forms.has(Forms::METHOD) { Forms::BOTH } else { Forms::INTERNAL },
        refuses: None,
        facts: None,
        meaning: Meaning::Mutate { pure: schema.name(), writes: 0 },
        complex: op.complex,
        gradient: op.gradient,
        laws: &[],
        ulps: op.ulps,
        samples: op.samples,
    })))
}
