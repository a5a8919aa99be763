//! Trackers: what the tracer knows of a Python value.
//!
//! A [`Value`] is a constant or the id of an object of the recorder's heap. What is known of an object is its [`Kind`], which is
//! immutable: a change replaces it, through the journal.

use indexmap::IndexMap;
use std::rc::Rc;
use taipan_frontend::{
    code::CodeInfo,
    inspect::{BuiltinType, Const, Name, Object},
};
use taipan_guards::Handle;
use taipan_ir::{Facts, Val};

use crate::{frame::Frame, natives::Native};

/// An object of the recorder's heap; two values are one object exactly if their ids are equal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct ObjId(pub u32);

/// A traced value.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// A value without identity of its own.
    Const(Const),
    /// An object.
    Object(ObjId),
}

impl Value {
    /// `None`.
    pub const NONE: Value = Value::Const(Const::None);

    /// An `int`.
    pub fn int(i: i64) -> Value {
        Value::Const(Const::Int(i))
    }

    /// A `bool`.
    pub fn bool(b: bool) -> Value {
        Value::Const(Const::Bool(b))
    }

    /// A `float`.
    pub fn float(x: f64) -> Value {
        Value::Const(Const::float(x))
    }

    /// A `str`.
    pub fn str(s: &str) -> Value {
        Value::Const(Const::Str(s.into()))
    }

    /// The object's id.
    pub fn id(&self) -> Option<ObjId> {
        match self {
            Value::Object(id) => Some(*id),
            Value::Const(_) => None,
        }
    }
}

/// An object of the heap.
#[derive(Clone, Debug)]
pub struct Item {
    /// What is known of it.
    pub kind: Kind,
    /// The real object, where it exists outside the trace.
    pub handle: Option<Handle>,
    /// Whether a real object's state was changed by the trace, so that an effect has to be replayed.
    pub changed: bool,
    /// The namespace of an object that has one and whose namespace was asked for.
    pub namespace: Option<ObjId>,
}

/// What is known of an object.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A real object of which nothing more than its handle is known.
    Real,
    /// A real object that turned out to be a constant.
    Constant(Const),
    /// A tensor.
    Tensor(TensorValue),
    /// A tuple, or a `torch.Size` where the flag says so.
    Tuple(Rc<[Value]>, TupleClass),
    /// A list.
    List(Rc<Vec<Value>>),
    /// A dict all of whose items are known.
    Dict(Rc<Items>),
    /// A real dict of which only what was asked is known, with the changes made to it.
    RealDict(Rc<Overlay>),
    /// A set of constants or identity-hashed objects.
    Set(Rc<Items>, SetClass),
    /// A slice.
    Slice(Rc<[Value; 3]>),
    /// A range.
    Range([i64; 3]),
    /// A cell; `None` is empty.
    Cell(Option<Value>),
    /// A function made while tracing.
    Function(Rc<FunctionValue>),
    /// A bound method.
    Method {
        /// The function.
        function: Value,
        /// What it is bound to.
        receiver: Value,
    },
    /// A method of a native type, bound or not.
    Native {
        /// Which.
        native: Native,
        /// What it is bound to.
        receiver: Option<Value>,
    },
    /// A torch function or method, bound where there is a receiver.
    Op {
        /// The base name of its overloads.
        name: &'static str,
        /// What it is bound to.
        receiver: Value,
    },
    /// An instance of a Python class made while tracing; its attributes are in its namespace.
    Instance {
        /// The class.
        class: Handle,
    },
    /// An exception made while tracing; its attributes are in its namespace.
    Exception(Rc<ExceptionValue>),
    /// An iterator made while tracing.
    Iterator(Rc<IteratorValue>),
    /// A generator made while tracing.
    Generator(Rc<GeneratorValue>),
    /// A view of a dict.
    View(ObjId, ViewKind),
    /// `super()`.
    Super {
        /// The class whose successors in the MRO are searched.
        after: Handle,
        /// The bound object.
        receiver: Value,
    },
}

/// Which class a tuple-like value has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TupleClass {
    /// `tuple`.
    Tuple,
    /// `torch.Size`.
    Size,
    /// The named results of an op, by its base name.
    Named(&'static str),
}

/// Which class a set has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SetClass {
    /// `set`.
    Set,
    /// `frozenset`.
    FrozenSet,
}

/// A traced tensor.
#[derive(Clone, Debug)]
pub struct TensorValue {
    /// The value of the graph; `None` for a real tensor that no op has used yet.
    pub value: Option<Val>,
    /// Element type, device and layout.
    pub facts: Rc<Facts>,
    /// Whether it asks for gradients.
    pub requires_grad: bool,
    /// Whether it was made by a differentiable op rather than by the user.
    pub is_leaf: bool,
}

/// A key that hashes and compares natively.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum DictKey {
    /// A constant; numbers that compare equal are the same key.
    Const(Const),
    /// A tuple of keys.
    Tuple(Vec<DictKey>),
    /// An object that compares by identity.
    Object(ObjId),
}

/// Items of a dict: key as given, and value.
pub type Items = IndexMap<DictKey, (Value, Value)>;

/// Changes to a real dict, in order. A value of `None` is a deletion.
pub type Overlay = IndexMap<DictKey, OverlayItem>;

/// One change to a real dict.
#[derive(Clone, Debug)]
pub struct OverlayItem {
    /// The key as given.
    pub key: Value,
    /// The new value; `None` where the key is deleted.
    pub value: Option<Value>,
    /// Whether the key was deleted before this write, so that it goes to the end.
    pub anew: bool,
}

/// A function made while tracing.
#[derive(Clone, Debug)]
pub struct FunctionValue {
    /// Its code object.
    pub code: Object,
    /// The same, decoded.
    pub info: Rc<CodeInfo>,
    /// The namespace it was made in.
    pub globals: Value,
    /// The builtins of the frame it was made in.
    pub builtins: Value,
    /// Default values of the last positional parameters.
    pub defaults: Option<Value>,
    /// Default values of keyword-only parameters.
    pub keyword_defaults: Option<Value>,
    /// Cells of its free variables.
    pub closure: Option<Value>,
    /// `__annotate__` or annotations: kept for rebuilding only.
    pub annotations: Option<Value>,
}

/// An exception made while tracing.
#[derive(Clone, Debug)]
pub struct ExceptionValue {
    /// Its class.
    pub class: Handle,
    /// The arguments it was made with.
    pub args: Rc<[Value]>,
    /// `__cause__`, where `raise … from …` set one.
    pub cause: Option<Value>,
}

/// A generator made while tracing.
#[derive(Clone, Debug)]
pub enum GeneratorValue {
    /// Its frame: not started, or behind a `yield`.
    Suspended(Box<Frame>),
    /// Its frame is one of the running ones.
    Running,
    /// It has returned or raised.
    Finished,
}

/// An iterator made while tracing: what it goes through and how far it is.
#[derive(Clone, Debug)]
pub enum IteratorValue {
    /// Over a list, whose items are looked up at each step.
    List {
        /// The list.
        list: ObjId,
        /// The next index; `None` once exhausted.
        next: Option<usize>,
    },
    /// Over known items of an object of this iterator class.
    Items {
        /// The items.
        items: Rc<[Value]>,
        /// The next index.
        next: usize,
        /// The class of the iterator.
        class: BuiltinType,
        /// What was iterated over, for rebuilding.
        over: Option<Value>,
    },
    /// Over a range.
    Range {
        /// The next value.
        next: i64,
        /// The end.
        stop: i64,
        /// The step.
        step: i64,
    },
    /// Over a dict: its keys, values or items in order. The dict must not change.
    Dict {
        /// The dict.
        dict: ObjId,
        /// Which part.
        kind: ViewKind,
        /// Its items when the iteration began.
        items: Rc<[(Value, Value)]>,
        /// The next index.
        next: usize,
    },
    /// `enumerate`.
    Enumerate {
        /// The iterator behind it.
        inner: ObjId,
        /// The next count.
        count: i64,
    },
    /// `zip`.
    Zip {
        /// The iterators behind it.
        inner: Rc<[ObjId]>,
        /// Whether lengths must agree.
        strict: bool,
    },
}

/// Which part of a dict a view or iterator shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum ViewKind {
    Keys,
    Values,
    Items,
}

/// An attribute name and the value given for it in a call.
pub type Keyword = (Name, Value);
