//! Operators and truth: the protocols of Python's operators, written once.
//!
//! A question about built-in values is answered by folding on the VM; about tensors by an op of the graph; about other objects by
//! the method their class has, in Python's order, the reflected one and `NotImplemented` included.

use crate::{
    compare::COMPARE,
    frame::Then,
    recorder::{Recorder, Traced, stop},
    step::{Done, Flow},
    stop,
    value::{Kind, Value},
};
use std::rc::Rc;
use taipan_frontend::inspect::{self, BuiltinType, Const};

/// An operator in the middle of its attempts: methods left to ask.
#[derive(Clone, PartialEq, Debug)]
pub struct Attempt {
    /// Methods still to be asked: name, receiver, argument.
    pub(crate) rest: Vec<(&'static str, Value, Value)>,
    /// What happens when none answers.
    pub(crate) last: Last,
}

/// What an operator does that no method answered.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Last {
    /// `==`: identity.
    Same(Value, Value),
    /// `!=`: its negation.
    NotSame(Value, Value),
    /// `TypeError` with this text.
    TypeError(String),
}

/// One binary operator: symbol, method, reflected method, in-place method.
struct BinaryOperator {
    symbol: &'static str,
    method: &'static str,
    reflected: &'static str,
    in_place: &'static str,
}

const fn operator(symbol: &'static str, method: &'static str, reflected: &'static str, in_place: &'static str) -> BinaryOperator {
    BinaryOperator { symbol, method, reflected, in_place }
}

/// In the order of BINARY_OP's operand; the in-place forms follow in the same order.
const BINARY: [BinaryOperator; 13] = [
    operator("+", "__add__", "__radd__", "__iadd__"),
    operator("&", "__and__", "__rand__", "__iand__"),
    operator("//", "__floordiv__", "__rfloordiv__", "__ifloordiv__"),
    operator("<<", "__lshift__", "__rlshift__", "__ilshift__"),
    operator("@", "__matmul__", "__rmatmul__", "__imatmul__"),
    operator("*", "__mul__", "__rmul__", "__imul__"),
    operator("%", "__mod__", "__rmod__", "__imod__"),
    operator("|", "__or__", "__ror__", "__ior__"),
    operator("**", "__pow__", "__rpow__", "__ipow__"),
    operator(">>", "__rshift__", "__rrshift__", "__irshift__"),
    operator("-", "__sub__", "__rsub__", "__isub__"),
    operator("/", "__truediv__", "__rtruediv__", "__itruediv__"),
    operator("^", "__xor__", "__rxor__", "__ixor__"),
];

/// BINARY_OP's operand for a subscript.
const SUBSCRIPT: usize = 26;

impl Recorder<'_> {
    pub(crate) fn binary_op(&mut self, arg: usize) -> Traced<Flow> {
        let right = self.pop()?;
        let left = self.pop()?;
        let done = if arg == SUBSCRIPT {
            self.subscript(&left, &right)?
        } else if let Some(op) = BINARY.get(arg) {
            self.binary(op.symbol, op.method, op.reflected, &left, &right)?
        } else if let Some(op) = BINARY.get(arg - BINARY.len()) {
            self.in_place(op, &left, &right)?
        } else {
            return stop(&stop::OPCODE, "BINARY_OP");
        };
        self.push_done(done)
    }

    /// A binary operator by its method's name, as the `operator` module and explicit calls have it.
    pub(crate) fn binary_by_method(&mut self, method: &str, left: &Value, right: &Value) -> Traced<Done> {
        match BINARY.iter().find(|op| op.method == method) {
            Some(op) => self.binary(op.symbol, op.method, op.reflected, left, right),
            None => match COMPARE.iter().position(|c| c.1 == method) {
                Some(index) => self.compare(index, left, right),
                None => stop(&stop::OPERATOR, method),
            },
        }
    }

    fn in_place(&mut self, op: &BinaryOperator, left: &Value, right: &Value) -> Traced<Done> {
        if self.tensor(left)?.is_some() {
            return match self.tensor_operator(op.in_place, left, right)? {
                Some(done) => Ok(done),
                None => self.binary(op.symbol, op.method, op.reflected, left, right),
            };
        }
        match self.kind_of(left)? {
            Some((id, Kind::List(items))) if op.method == "__add__" => {
                let more = self.iterate(right)?;
                let mut items = (*items).clone();
                items.extend(more);
                self.write(id, Kind::List(Rc::new(items)));
                return Ok(Done::Value(left.clone()));
            }
            Some((id, Kind::Dict(_) | Kind::RealDict(_))) if op.method == "__or__" => {
                self.dict_merge(id, right, false)?;
                return Ok(Done::Value(left.clone()));
            }
            Some((_, Kind::Set(..))) if matches!(op.method, "__or__" | "__and__" | "__sub__" | "__xor__") => {
                return self.set_operator(op.method, left, right, true);
            }
            _ => {}
        }
        if self.has_python_methods(left)? {
            let class = self.class(left)?;
            let name = self.name(op.in_place);
            if let Some(method) = self.assume.type_attribute(&class, name) {
                let function = self.wrap(method);
                let rest = self.attempts(op.method, op.reflected, left, right)?;
                let last = Last::TypeError(self.operand_error(&format!("{}=", op.symbol), left, right));
                return self.ask(Attempt { rest, last }, &function, left, right);
            }
        }
        self.binary(op.symbol, op.method, op.reflected, left, right)
    }

    fn binary(&mut self, symbol: &str, method: &'static str, reflected: &'static str, left: &Value, right: &Value) -> Traced<Done> {
        if (self.tensor(left)?.is_some() || self.tensor(right)?.is_some())
            && !(self.has_python_methods(left)? || self.has_python_methods(right)?)
        {
            let (name, receiver, argument) = if self.tensor(left)?.is_some() { (method, left, right) } else { (reflected, right, left) };
            return match self.tensor_operator(name, receiver, argument)? {
                Some(done) => Ok(done),
                None => stop(&stop::OPERATOR, format!("{symbol} on tensors")),
            };
        }
        let (a, b) = (self.resolve(left)?, self.resolve(right)?);
        if let (Value::Const(a), Value::Const(b)) = (&a, &b) {
            return self.fold_binary(symbol, a, b);
        }
        if let Some(value) = self.sequence_operator(method, &a, &b)? {
            return Ok(Done::Value(value));
        }
        if let (Some((_, Kind::Set(..))), Some((_, Kind::Set(..)))) = (self.kind_of(&a)?, self.kind_of(&b)?) {
            return self.set_operator(method, &a, &b, false);
        }
        if method == "__or__"
            && let Some((_, Kind::Dict(_) | Kind::RealDict(_))) = self.kind_of(&a)?
            && let Some((_, Kind::Dict(_) | Kind::RealDict(_))) = self.kind_of(&b)?
        {
            let copy = self.dict_copy(&a)?;
            if let Some(id) = copy.id() {
                self.dict_merge(id, &b, false)?;
            }
            return Ok(Done::Value(copy));
        }
        if !self.has_python_methods(&a)? && !self.has_python_methods(&b)? {
            return stop(&stop::OPERATOR, format!("{symbol} on {} and {}", self.class_name(&a), self.class_name(&b)));
        }
        let mut rest = self.attempts(method, reflected, &a, &b)?;
        let last = Last::TypeError(self.operand_error(symbol, &a, &b));
        if rest.is_empty() {
            return self.no_answer(last);
        }
        let (name, receiver, argument) = rest.remove(0);
        self.ask_method(Attempt { rest, last }, name, &receiver, &argument)
    }

    /// The methods to ask, in Python's order: a right operand of a proper subclass goes first.
    fn attempts(
        &mut self,
        method: &'static str,
        reflected: &'static str,
        left: &Value,
        right: &Value,
    ) -> Traced<Vec<(&'static str, Value, Value)>> {
        let (left_class, right_class) = (self.class(left)?, self.class(right)?);
        let same_class = left_class.address() == right_class.address();
        let right_first = !same_class && self.assume.is_subclass(&right_class, &left_class);
        let mut attempts = vec![];
        let forward = (method, left.clone(), right.clone());
        let backward = (reflected, right.clone(), left.clone());
        if right_first {
            attempts.push(backward.clone());
        }
        attempts.push(forward);
        if !same_class && !right_first || (same_class && method != reflected && COMPARE.iter().any(|c| c.1 == method)) {
            attempts.push(backward);
        }
        let mut present = vec![];
        for attempt in attempts {
            if self.has_python_methods(&attempt.1)? {
                let class = self.class(&attempt.1)?;
                let name = self.name(attempt.0);
                if self.assume.type_attribute(&class, name).is_some() {
                    present.push(attempt);
                }
            } else if matches!(self.resolve(&attempt.1)?, Value::Object(_)) {
                // A native type may answer for an operand it doesn't know; only constants surely don't.
                return stop(&stop::OPERATOR, attempt.0);
            }
        }
        Ok(present)
    }

    pub(crate) fn ask_method(&mut self, attempt: Attempt, name: &str, receiver: &Value, argument: &Value) -> Traced<Done> {
        let class = self.class(receiver)?;
        let name = self.name(name);
        match self.assume.type_attribute(&class, name) {
            Some(method) => {
                let function = self.wrap(method);
                self.ask(attempt, &function, receiver, argument)
            }
            None => self.next_attempt(attempt),
        }
    }

    fn ask(&mut self, attempt: Attempt, function: &Value, receiver: &Value, argument: &Value) -> Traced<Done> {
        let done = self.call_then(function, vec![receiver.clone(), argument.clone()], vec![], Then::Operator(Box::new(attempt.clone())))?;
        match done {
            Done::Value(value) => self.operator_answered(attempt, value),
            Done::Entered => Ok(Done::Entered),
        }
    }

    /// A method of an operator returned: its value, unless it is `NotImplemented`.
    pub(crate) fn operator_answered(&mut self, attempt: Attempt, value: Value) -> Traced<Done> {
        if self.is_const(&value, &Const::NotImplemented)? {
            return self.next_attempt(attempt);
        }
        Ok(Done::Value(value))
    }

    fn next_attempt(&mut self, mut attempt: Attempt) -> Traced<Done> {
        if attempt.rest.is_empty() {
            return self.no_answer(attempt.last);
        }
        let (name, receiver, argument) = attempt.rest.remove(0);
        self.ask_method(attempt, name, &receiver, &argument)
    }

    pub(crate) fn no_answer(&mut self, last: Last) -> Traced<Done> {
        match last {
            Last::Same(a, b) => Ok(Done::Value(Value::bool(self.identical(&a, &b)?))),
            Last::NotSame(a, b) => Ok(Done::Value(Value::bool(!self.identical(&a, &b)?))),
            Last::TypeError(text) => self.raise("TypeError", &text),
        }
    }

    fn operand_error(&mut self, symbol: &str, left: &Value, right: &Value) -> String {
        let symbol = if symbol == "**" { "** or pow()" } else { symbol };
        format!("unsupported operand type(s) for {symbol}: '{}' and '{}'", self.class_name(left), self.class_name(right))
    }

    /// Whether the class of a value may define operators in Python.
    pub(crate) fn has_python_methods(&mut self, value: &Value) -> Traced<bool> {
        let value = self.resolve(value)?;
        let Some(id) = value.id() else { return Ok(false) };
        match self.kind(id) {
            Kind::Instance { .. } | Kind::Exception(_) => Ok(true),
            Kind::Real => Ok(self.builtin_type(&value)? == BuiltinType::Other && {
                let class = self.class(&value)?;
                inspect::is_mutable_class(&self.assume.opaque(&class))
            }),
            _ => Ok(false),
        }
    }

    /// `constant op constant` on the VM itself. Exceptions become breaks: the plain run raises them.
    pub(crate) fn fold_binary(&mut self, symbol: &str, a: &Const, b: &Const) -> Traced<Done> {
        // Powers and shifts of integers can grow without bound.
        let bounded = match (symbol, b) {
            ("**" | "<<", Const::Int(n)) => *n < 4096,
            ("*", Const::Int(n)) if matches!(a, Const::Str(_) | Const::Bytes(_)) => *n < 1 << 20,
            _ => true,
        };
        let folded = if bounded { inspect::fold_binary(symbol, a, b, self.vm) } else { None };
        match folded {
            Some(value) => Ok(Done::Value(Value::Const(value))),
            None => stop(&stop::RAISES, format!("{a} {symbol} {b}")),
        }
    }

    /// Concatenation and repetition of lists and tuples.
    fn sequence_operator(&mut self, method: &str, a: &Value, b: &Value) -> Traced<Option<Value>> {
        let (left, right) = (self.kind_of(a)?.map(|k| k.1), self.kind_of(b)?.map(|k| k.1));
        let times = |items: &[Value], n: i64| -> Vec<Value> {
            let n = usize::try_from(n).unwrap_or(0);
            (0..n).flat_map(|_| items.iter().cloned()).collect()
        };
        Ok(match (method, left, right) {
            ("__add__", Some(Kind::List(a)), Some(Kind::List(b))) => Some(self.list(a.iter().chain(b.iter()).cloned().collect())),
            ("__add__", Some(Kind::Tuple(a, class)), Some(Kind::Tuple(b, _))) => {
                let items: Vec<Value> = a.iter().chain(b.iter()).cloned().collect();
                Some(self.make(Kind::Tuple(items.into(), class)))
            }
            ("__mul__", Some(Kind::List(items)), None) => match self.integer(b)? {
                Some(n) if n < 1 << 16 => Some(self.list(times(&items, n))),
                _ => None,
            },
            ("__mul__", None, Some(Kind::List(items))) => match self.integer(a)? {
                Some(n) if n < 1 << 16 => Some(self.list(times(&items, n))),
                _ => None,
            },
            ("__mul__", Some(Kind::Tuple(items, class)), None) => match self.integer(b)? {
                Some(n) if n < 1 << 16 => Some(self.make(Kind::Tuple(times(&items, n).into(), class))),
                _ => None,
            },
            ("__mul__", None, Some(Kind::Tuple(items, class))) => match self.integer(a)? {
                Some(n) if n < 1 << 16 => Some(self.make(Kind::Tuple(times(&items, n).into(), class))),
                _ => None,
            },
            ("__mod__", None, Some(_)) | ("__mod__", None, None) => match self.text(a)? {
                Some(format) => self.format_percent(&format, b)?,
                None => None,
            },
            _ => None,
        })
    }

    pub(crate) fn unary(&mut self, method: &'static str) -> Traced<Flow> {
        let value = self.pop()?;
        let done = self.unary_method(method, &value)?;
        self.push_done(done)
    }

    /// A unary operator by its method's name.
    pub(crate) fn unary_method(&mut self, method: &'static str, value: &Value) -> Traced<Done> {
        if let Some(c) = self.constant(value)? {
            return match inspect::fold_unary(method, &c, self.vm) {
                Some(result) => Ok(Done::Value(Value::Const(result))),
                None => stop(&stop::RAISES, method),
            };
        }
        if self.tensor(value)?.is_some() {
            let name = match method {
                "__neg__" => "neg",
                "__invert__" => "bitwise_not",
                "__pos__" => "positive",
                "__abs__" => "abs",
                _ => return stop(&stop::OPERATOR, method),
            };
            return self.call_op_name(name, vec![value.clone()], vec![]);
        }
        self.call_special(method, value, vec![], Then::Push)
    }

    pub(crate) fn unary_not(&mut self) -> Traced<Flow> {
        let value = self.pop()?;
        match self.truth_then(&value, true)? {
            Done::Value(Value::Const(Const::Bool(b))) => self.push(Value::bool(!b)),
            Done::Value(_) => stop(&stop::OPERATOR, "not"),
            Done::Entered => Ok(Flow::Entered),
        }
    }

    pub(crate) fn push_truth(&mut self) -> Traced<Flow> {
        let value = self.pop()?;
        let done = self.truth_then(&value, false)?;
        self.push_done(done)
    }

    /// The truth of a value as a constant, or a frame that will push it.
    pub(crate) fn truth(&mut self, value: &Value) -> Traced<Done> {
        self.truth_then(value, false)
    }

    /// The truth of a value; a frame entered for it pushes the truth, negated where `negate` says so.
    fn truth_then(&mut self, value: &Value, negate: bool) -> Traced<Done> {
        let value = self.resolve(value)?;
        let id = match &value {
            Value::Const(c) => return Ok(Done::Value(Value::bool(truth_of_const(c)))),
            Value::Object(id) => *id,
        };
        let truth = match self.kind(id).clone() {
            Kind::Tensor(_) => return stop(&stop::DATA_DEPENDENT, "the truth of a tensor"),
            Kind::Tuple(items, _) => !items.is_empty(),
            Kind::List(items) => !items.is_empty(),
            Kind::Dict(items) => !items.is_empty(),
            Kind::RealDict(_) => self.dict_len(id)? != 0,
            Kind::Set(items, _) => !items.is_empty(),
            Kind::Range([start, stop, step]) => {
                if step > 0 {
                    start < stop
                } else {
                    start > stop
                }
            }
            Kind::View(dict, _) => self.dict_len(dict)? != 0,
            Kind::Slice(_) | Kind::Cell(_) | Kind::Function(_) | Kind::Method { .. } | Kind::Native { .. } | Kind::Op { .. } => true,
            Kind::Iterator(_) | Kind::Generator(_) | Kind::Super { .. } => true,
            Kind::Constant(c) => truth_of_const(&c),
            Kind::Instance { .. } | Kind::Exception(_) | Kind::Real => return self.truth_of_object(&value, negate),
        };
        Ok(Done::Value(Value::bool(truth)))
    }

    /// `__bool__`, else `__len__`, else true.
    fn truth_of_object(&mut self, value: &Value, negate: bool) -> Traced<Done> {
        let class = self.class(value)?;
        for method in ["__bool__", "__len__"] {
            let name = self.name(method);
            if let Some(found) = self.assume.type_attribute(&class, name) {
                let function = self.wrap(found);
                if self.builtin_type(&function)? != BuiltinType::Function {
                    return stop(&stop::OPERATOR, format!("{method} of {}", self.class_name(value)));
                }
                return match self.call_then(&function, vec![value.clone()], vec![], Then::Truth(negate))? {
                    Done::Entered => Ok(Done::Entered),
                    Done::Value(value) => self.truth_then(&value, negate),
                };
            }
        }
        Ok(Done::Value(Value::bool(true)))
    }
}

/// The truth of a constant.
pub fn truth_of_const(c: &Const) -> bool {
    match c {
        Const::None => false,
        Const::Bool(b) => *b,
        Const::Int(i) => *i != 0,
        Const::BigInt(_) => true,
        Const::Float(bits) => f64::from_bits(*bits) != 0.0,
        Const::Str(s) => !s.is_empty(),
        Const::Bytes(b) => !b.is_empty(),
        Const::Ellipsis | Const::NotImplemented => true,
    }
}
