//! Comparisons, identity and membership.

use crate::{
    frame::Then,
    operators::{Attempt, Last},
    recorder::{Recorder, Traced, stop},
    step::{Done, Flow},
    stop,
    value::{Kind, TupleClass, Value},
};
use taipan_frontend::inspect::{self, BuiltinType, Const};

/// In the order of COMPARE_OP's operand: symbol, method, reflected method.
pub(crate) const COMPARE: [(&str, &str, &str); 6] = [
    ("<", "__lt__", "__gt__"),
    ("<=", "__le__", "__ge__"),
    ("==", "__eq__", "__eq__"),
    ("!=", "__ne__", "__ne__"),
    (">", "__gt__", "__lt__"),
    (">=", "__ge__", "__le__"),
];

impl Recorder<'_> {
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
    fn equal(&mut self, a: &Value, b: &Value) -> Traced<Option<bool>> {
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
            Kind::Real if matches!(self.builtin_type(&container)?, BuiltinType::Set | BuiltinType::FrozenSet) => {
                let Some(set) = self.handle(&container) else { return stop(&stop::OPERATOR, "in a set without its object") };
                self.real_set_holds(&set, item)?
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
