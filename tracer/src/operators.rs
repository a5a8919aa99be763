//! Operators and truth: the protocols of Python's operators, written once.
//!
//! A question about built-in values is answered by folding on the VM; about tensors by an op of the graph; about other objects by
//! the method their class has, in Python's order, the reflected one and `NotImplemented` included.

use crate::{
    frame::Then,
    recorder::{Recorder, Traced, stop},
    step::{Done, Flow},
    stop,
    value::{Kind, TupleClass, Value},
};
use std::rc::Rc;
use taipan_frontend::inspect::{self, BuiltinType, Const};

/// An operator in the middle of its attempts: methods left to ask.
#[derive(Clone, PartialEq, Debug)]
pub struct Attempt {
    /// Methods still to be asked: name, receiver, argument.
    rest: Vec<(&'static str, Value, Value)>,
    /// What happens when none answers.
    last: Last,
}

/// What an operator does that no method answered.
#[derive(Clone, PartialEq, Debug)]
enum Last {
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

/// In the order of COMPARE_OP's operand: symbol, method, reflected method.
const COMPARE: [(&str, &str, &str); 6] = [
    ("<", "__lt__", "__gt__"),
    ("<=", "__le__", "__ge__"),
    ("==", "__eq__", "__eq__"),
    ("!=", "__ne__", "__ne__"),
    (">", "__gt__", "__lt__"),
    (">=", "__ge__", "__le__"),
];

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

    fn ask_method(&mut self, attempt: Attempt, name: &str, receiver: &Value, argument: &Value) -> Traced<Done> {
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

    fn no_answer(&mut self, last: Last) -> Traced<Done> {
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
    fn fold_binary(&mut self, symbol: &str, a: &Const, b: &Const) -> Traced<Done> {
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

    pub(crate) fn to_bool(&mut self) -> Traced<Flow> {
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

    pub(crate) fn compare_op(&mut self, arg: usize) -> Traced<Flow> {
        let right = self.pop()?;
        let left = self.pop()?;
        let done = self.compare(arg >> 5, &left, &right)?;
        if arg & 16 == 0 {
            return self.push_done(done);
        }
        // The operand's bit 4 asks for a `bool`.
        match done {
            Done::Value(value) => {
                let truth = self.truth(&value)?;
                self.push_done(truth)
            }
            Done::Entered => Ok(Flow::Entered),
        }
    }

    /// A comparison by its place in [`COMPARE`].
    pub(crate) fn compare(&mut self, index: usize, left: &Value, right: &Value) -> Traced<Done> {
        let Some((symbol, method, reflected)) = COMPARE.get(index).copied() else { return stop(&stop::OPCODE, "COMPARE_OP") };
        let (a, b) = (self.resolve(left)?, self.resolve(right)?);
        if let (Value::Const(a), Value::Const(b)) = (&a, &b) {
            return self.fold_binary(symbol, a, b);
        }
        if (self.tensor(&a)?.is_some() || self.tensor(&b)?.is_some()) && !(self.has_python_methods(&a)? || self.has_python_methods(&b)?) {
            return self.compare_tensors(symbol, method, reflected, &a, &b);
        }
        if self.has_python_methods(&a)? || self.has_python_methods(&b)? {
            return self.compare_objects(symbol, method, reflected, &a, &b);
        }
        match symbol {
            "==" | "!=" => match self.equal(&a, &b)? {
                Some(equal) => Ok(Done::Value(Value::bool(equal == (symbol == "==")))),
                None => stop(&stop::OPERATOR, format!("{symbol} on {} and {}", self.class_name(&a), self.class_name(&b))),
            },
            _ => match self.order(&a, &b)? {
                Some(order) => {
                    let holds = match symbol {
                        "<" => order.is_lt(),
                        "<=" => order.is_le(),
                        ">" => order.is_gt(),
                        _ => order.is_ge(),
                    };
                    Ok(Done::Value(Value::bool(holds)))
                }
                None => stop(&stop::OPERATOR, format!("{symbol} on {} and {}", self.class_name(&a), self.class_name(&b))),
            },
        }
    }

    fn compare_tensors(&mut self, symbol: &str, method: &'static str, reflected: &'static str, a: &Value, b: &Value) -> Traced<Done> {
        let (name, receiver, argument) = if self.tensor(a)?.is_some() { (method, a, b) } else { (reflected, b, a) };
        match self.tensor_operator(name, receiver, argument)? {
            Some(done) => Ok(done),
            // `tensor == None` and the like: the tensor's method gives up and identity decides.
            None if symbol == "==" => Ok(Done::Value(Value::bool(self.identical(a, b)?))),
            None if symbol == "!=" => Ok(Done::Value(Value::bool(!self.identical(a, b)?))),
            None => stop(&stop::OPERATOR, format!("{symbol} on a tensor and {}", self.class_name(argument))),
        }
    }

    fn compare_objects(&mut self, symbol: &str, method: &'static str, reflected: &'static str, a: &Value, b: &Value) -> Traced<Done> {
        let mut rest = vec![];
        for (name, receiver, argument) in [(method, a, b), (reflected, b, a)] {
            if !self.has_python_methods(receiver)? {
                continue;
            }
            let class = self.class(receiver)?;
            let key = self.name(name);
            let Some(found) = self.assume.type_attribute(&class, key) else { continue };
            let function = self.wrap(found);
            match self.builtin_type(&function)? {
                BuiltinType::Function => rest.push((name, receiver.clone(), argument.clone())),
                // `object`'s own comparison answers by identity or not at all.
                _ if self.is_object_method(&function, name) => {
                    if name == "__ne__" {
                        let eq = self.name("__eq__");
                        if let Some(eq) = self.assume.type_attribute(&class, eq) {
                            let eq = self.wrap(eq);
                            if self.builtin_type(&eq)? == BuiltinType::Function {
                                return stop(&stop::OPERATOR, "!= through __eq__");
                            }
                        }
                    }
                }
                _ => return stop(&stop::OPERATOR, format!("{name} of {}", self.class_name(receiver))),
            }
        }
        let (left_class, right_class) = (self.class(a)?, self.class(b)?);
        if rest.len() == 2 && left_class.address() != right_class.address() && self.assume.is_subclass(&right_class, &left_class) {
            rest.swap(0, 1);
        }
        let last = match symbol {
            "==" => Last::Same(a.clone(), b.clone()),
            "!=" => Last::NotSame(a.clone(), b.clone()),
            _ => {
                let text = format!("'{symbol}' not supported between instances of '{}' and '{}'", self.class_name(a), self.class_name(b));
                Last::TypeError(text)
            }
        };
        if rest.is_empty() {
            return self.no_answer(last);
        }
        let (name, receiver, argument) = rest.remove(0);
        self.ask_method(Attempt { rest, last }, name, &receiver, &argument)
    }

    /// Whether a method found on a class is the one every object has.
    pub(crate) fn is_object_method(&mut self, function: &Value, name: &str) -> bool {
        let object = self.known_class(BuiltinType::Object);
        let name = self.name(name);
        let own = self.assume.type_attribute(&object, name);
        match (own, self.handle(function)) {
            (Some(own), Some(found)) => {
                self.assume.identity(&found);
                own.address() == found.address()
            }
            _ => false,
        }
    }

    /// Whether two built-in values are equal; `None` where that isn't known without running code.
    pub(crate) fn equal(&mut self, a: &Value, b: &Value) -> Traced<Option<bool>> {
        let (a, b) = (self.resolve(a)?, self.resolve(b)?);
        if let (Value::Const(x), Value::Const(y)) = (&a, &b) {
            return Ok(inspect::fold_binary("==", x, y, self.vm).map(|c| c == Const::Bool(true)));
        }
        if a == b {
            return Ok(Some(true));
        }
        let (left, right) = (self.kind_of(&a)?.map(|k| k.1), self.kind_of(&b)?.map(|k| k.1));
        Ok(match (left, right) {
            (Some(Kind::Tuple(x, _)), Some(Kind::Tuple(y, _))) => self.all_equal(&x, &y)?,
            (Some(Kind::List(x)), Some(Kind::List(y))) => self.all_equal(&x, &y)?,
            (Some(Kind::Range(x)), Some(Kind::Range(y))) => Some(x == y),
            (Some(Kind::Slice(x)), Some(Kind::Slice(y))) => self.all_equal(&*x, &*y)?,
            (Some(Kind::Dict(_) | Kind::RealDict(_)), Some(Kind::Dict(_) | Kind::RealDict(_))) => self.dicts_equal(&a, &b)?,
            (Some(Kind::Set(x, _)), Some(Kind::Set(y, _))) => Some(x.len() == y.len() && x.keys().all(|k| y.contains_key(k))),
            (Some(Kind::Method { function: f, receiver: r }), Some(Kind::Method { function: g, receiver: s })) => {
                Some(self.identical(&f, &g)? && self.identical(&r, &s)?)
            }
            (None, Some(kind)) | (Some(kind), None) if is_builtin_container(&kind) => Some(false),
            (Some(x), Some(y)) if is_builtin_container(&x) && is_builtin_container(&y) => Some(false),
            (x, y) if by_identity(x.as_ref()) || by_identity(y.as_ref()) => match (self.builtin_kind(&a)?, self.builtin_kind(&b)?) {
                (true, true) => Some(self.identical(&a, &b)?),
                _ => None,
            },
            _ => None,
        })
    }

    /// Whether a value's comparison is that of a native type which compares by identity or a constant.
    fn builtin_kind(&mut self, value: &Value) -> Traced<bool> {
        Ok(matches!(
            self.builtin_type(value)?,
            BuiltinType::Function
                | BuiltinType::Type
                | BuiltinType::Module
                | BuiltinType::BuiltinFunction
                | BuiltinType::None
                | BuiltinType::Bool
                | BuiltinType::Int
                | BuiltinType::Float
                | BuiltinType::Str
                | BuiltinType::Bytes
                | BuiltinType::Ellipsis
                | BuiltinType::List
                | BuiltinType::Tuple
                | BuiltinType::Dict
        ) || self.is_torch_constant(value)?)
    }

    fn all_equal(&mut self, a: &[Value], b: &[Value]) -> Traced<Option<bool>> {
        if a.len() != b.len() {
            return Ok(Some(false));
        }
        for (x, y) in a.iter().zip(b) {
            // Containers ask identity first.
            if x == y {
                continue;
            }
            match self.equal(x, y)? {
                Some(true) => {}
                other => return Ok(other),
            }
        }
        Ok(Some(true))
    }

    fn dicts_equal(&mut self, a: &Value, b: &Value) -> Traced<Option<bool>> {
        let (Some(a), Some(b)) = (a.id(), b.id()) else { return Ok(None) };
        let (x, y) = (self.dict_items(a)?, self.dict_items(b)?);
        if x.len() != y.len() {
            return Ok(Some(false));
        }
        for (key, value) in x {
            let key = self.dict_key(&key)?;
            match self.dict_get(b, &key)? {
                None => return Ok(Some(false)),
                Some(other) if other == value => {}
                Some(other) => match self.equal(&value, &other)? {
                    Some(true) => {}
                    known => return Ok(known),
                },
            }
        }
        Ok(Some(true))
    }

    /// The order of two sequences of comparable constants.
    fn order(&mut self, a: &Value, b: &Value) -> Traced<Option<std::cmp::Ordering>> {
        let (left, right) = (self.kind_of(a)?.map(|k| k.1), self.kind_of(b)?.map(|k| k.1));
        let (x, y): (Vec<Value>, Vec<Value>) = match (left, right) {
            (Some(Kind::Tuple(x, _)), Some(Kind::Tuple(y, _))) => (x.to_vec(), y.to_vec()),
            (Some(Kind::List(x)), Some(Kind::List(y))) => (x.to_vec(), y.to_vec()),
            _ => return Ok(None),
        };
        for (p, q) in x.iter().zip(&y) {
            match self.equal(p, q)? {
                Some(true) => continue,
                None => return Ok(None),
                Some(false) => {}
            }
            let (Value::Const(p), Value::Const(q)) = (self.resolve(p)?, self.resolve(q)?) else { return self.order(p, q) };
            let less = inspect::fold_binary("<", &p, &q, self.vm);
            return Ok(match less {
                Some(Const::Bool(true)) => Some(std::cmp::Ordering::Less),
                Some(_) => Some(std::cmp::Ordering::Greater),
                None => None,
            });
        }
        Ok(Some(x.len().cmp(&y.len())))
    }

    pub(crate) fn is_op(&mut self, invert: usize) -> Traced<Flow> {
        let right = self.pop()?;
        let left = self.pop()?;
        let same = self.identical(&left, &right)?;
        self.push(Value::bool(same != (invert == 1)))
    }

    /// `a is b`.
    pub(crate) fn identical(&mut self, a: &Value, b: &Value) -> Traced<bool> {
        if let (Value::Object(x), Value::Object(y)) = (a, b)
            && x == y
        {
            return Ok(true);
        }
        // `x is None` needs only the type of x.
        for (one, other) in [(a, b), (b, a)] {
            if matches!(one, Value::Const(Const::None)) {
                return self.is_none(other);
            }
        }
        let (x, y) = (self.resolve(a)?, self.resolve(b)?);
        match (&x, &y) {
            (Value::Const(p), Value::Const(q)) => match p {
                // Singletons and small integers are one object; of other constants identity is an accident.
                Const::Bool(_) | Const::None | Const::Ellipsis | Const::NotImplemented => Ok(p == q),
                Const::Int(i) if (-5..=256).contains(i) => Ok(p == q),
                _ if p != q => Ok(false),
                _ => stop(&stop::IDENTITY, format!("{p} is {q}")),
            },
            (Value::Object(p), Value::Object(q)) => {
                if p == q {
                    return Ok(true);
                }
                if let (Some(h), Some(g)) = (self.item(*p).handle.clone(), self.item(*q).handle.clone()) {
                    if h.address() == g.address() {
                        self.assume.same_as(&h, g.source());
                        return Ok(true);
                    }
                    self.assume.not_among(h.source(), vec![g.source()]);
                }
                Ok(false)
            }
            _ => Ok(false),
        }
    }

    pub(crate) fn contains_op(&mut self, invert: usize) -> Traced<Flow> {
        let container = self.pop()?;
        let item = self.pop()?;
        let negate = invert == 1;
        match self.contains(&container, &item, negate)? {
            Done::Value(Value::Const(Const::Bool(b))) => self.push(Value::bool(b != negate)),
            Done::Value(_) => stop(&stop::OPERATOR, "in"),
            Done::Entered => Ok(Flow::Entered),
        }
    }

    /// `item in container`; a frame entered for it pushes the truth, negated where `negate` says so.
    pub(crate) fn contains(&mut self, container: &Value, item: &Value, negate: bool) -> Traced<Done> {
        let container = self.resolve(container)?;
        let Some(id) = container.id() else {
            let (Value::Const(c), Some(i)) = (&container, self.constant(item)?) else { return stop(&stop::OPERATOR, "in") };
            return match inspect::fold_binary("in", &i, c, self.vm) {
                Some(value) => Ok(Done::Value(Value::Const(value))),
                None => stop(&stop::RAISES, "in"),
            };
        };
        let found = match self.kind(id).clone() {
            Kind::Dict(_) | Kind::RealDict(_) | Kind::View(_, crate::value::ViewKind::Keys) => {
                let dict = match self.kind(id) {
                    Kind::View(dict, _) => *dict,
                    _ => id,
                };
                let key = self.dict_key(item)?;
                self.dict_get(dict, &key)?.is_some()
            }
            Kind::Set(items, _) => {
                let key = self.dict_key(item)?;
                items.contains_key(&key)
            }
            Kind::Tuple(items, _) => self.any_equal(&items, item)?,
            Kind::List(items) => self.any_equal(&items, item)?,
            Kind::Range([start, end, step]) => match self.integer(item)? {
                Some(i) => (if step > 0 { (start..end).contains(&i) } else { i <= start && i > end }) && (i - start) % step == 0,
                None => return stop(&stop::OPERATOR, "in a range"),
            },
            Kind::View(dict, _) => {
                let items = self.dict_view_items(dict, self.view_kind(id))?;
                self.any_equal(&items, item)?
            }
            Kind::Instance { .. } | Kind::Real => {
                let class = self.class(&container)?;
                let name = self.name("__contains__");
                let Some(method) = self.assume.type_attribute(&class, name) else {
                    return stop(&stop::OPERATOR, format!("in {}", self.class_name(&container)));
                };
                let function = self.wrap(method);
                return match self.call_then(&function, vec![container.clone(), item.clone()], vec![], Then::Truth(negate))? {
                    Done::Entered => Ok(Done::Entered),
                    Done::Value(value) => self.truth(&value),
                };
            }
            _ => return stop(&stop::OPERATOR, format!("in {}", self.class_name(&container))),
        };
        Ok(Done::Value(Value::bool(found)))
    }

    fn view_kind(&self, id: crate::value::ObjId) -> crate::value::ViewKind {
        match self.kind(id) {
            Kind::View(_, kind) => *kind,
            _ => crate::value::ViewKind::Keys,
        }
    }

    pub(crate) fn any_equal(&mut self, items: &[Value], item: &Value) -> Traced<bool> {
        for candidate in items {
            if candidate == item {
                return Ok(true);
            }
            match self.equal(candidate, item)? {
                Some(true) => return Ok(true),
                Some(false) => {}
                None => return stop(&stop::OPERATOR, "in, with a comparison that isn't known"),
            }
        }
        Ok(false)
    }
}

fn is_builtin_container(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Tuple(_, TupleClass::Tuple | TupleClass::Size | TupleClass::Named(_))
            | Kind::List(_)
            | Kind::Dict(_)
            | Kind::RealDict(_)
            | Kind::Set(..)
            | Kind::Range(_)
            | Kind::Slice(_)
            | Kind::Function(_)
            | Kind::Cell(_)
            | Kind::Native { .. }
    )
}

fn by_identity(kind: Option<&Kind>) -> bool {
    matches!(kind, Some(Kind::Real | Kind::Function(_)))
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
