//! Native functions, methods and classes of the VM, recognised by what they are, and what a call of each does in a trace.
//!
//! A native that isn't here is a break with the reason `call`. Folding on the real VM happens only for exact constants.

use crate::{
    frame::Then,
    recorder::{Recorder, Traced, stop},
    step::{Done, Flow},
    stop,
    value::{Items, IteratorValue, Keyword, Kind, SetClass, TupleClass, Value, ViewKind},
};
use std::rc::Rc;
use taipan_frontend::{
    inspect::{self, BuiltinType, Const, Name, Object, Vm},
    torch::torch_type,
};

/// A native callable or attribute.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Native {
    /// A function of the module `builtins`.
    Builtin(Name),
    /// A function of another native module: `math`, `_operator`, `torch._C`, …
    Function(Name, Name),
    /// A method of one of the VM's own types.
    Method(BuiltinType, Name),
    /// An attribute of one of the VM's own types.
    Attribute(BuiltinType, Name),
    /// A method of tensors that is no op.
    TensorMethod(Name),
    /// An attribute of tensors.
    TensorAttribute(Name),
    /// A class of the VM, called.
    Class(BuiltinType),
    /// `torch.Size`, called.
    SizeClass,
    /// `object.__new__`.
    ObjectNew,
}

impl Native {
    /// What a native function or descriptor is.
    pub fn of(object: &Object, vm: &Vm) -> Option<Native> {
        let word = |name: &str| match inspect::native_attribute(object, name, vm).and_then(|v| inspect::constant(&v, vm)) {
            Some(Const::Str(s)) => Some(inspect::name(&s, vm)),
            _ => None,
        };
        match BuiltinType::of(object, vm) {
            BuiltinType::BuiltinFunction | BuiltinType::BuiltinMethod => {
                let name = word("__name__")?;
                if name.as_str() == "__new__" {
                    return Some(Native::ObjectNew).filter(|_| inspect::is_object_new(object, vm));
                }
                let module = word("__module__").map_or("torch._C", |m| m.as_str());
                Some(if module == "builtins" { Native::Builtin(name) } else { Native::Function(inspect::name(module, vm), name) })
            }
            kind @ (BuiltinType::MethodDescriptor | BuiltinType::WrapperDescriptor | BuiltinType::GetSet | BuiltinType::Member) => {
                let name = word("__name__")?;
                let owner = inspect::native_attribute(object, "__objclass__", vm)?;
                if kind == BuiltinType::GetSet && name.as_str() == "__dict__" {
                    return Some(Native::Attribute(BuiltinType::Object, name));
                }
                let method = matches!(kind, BuiltinType::MethodDescriptor | BuiltinType::WrapperDescriptor);
                if torch_type::is_tensor(&owner, vm) {
                    return Some(if method { Native::TensorMethod(name) } else { Native::TensorAttribute(name) });
                }
                let owner = if torch_type::is_watched_dict(&owner, vm) {
                    BuiltinType::Dict
                } else if torch_type::is_module_class(&owner, vm) {
                    // The native base of modules looks up and writes as `object` does.
                    BuiltinType::Object
                } else {
                    BuiltinType::of_type(&owner, vm)
                };
                if owner == BuiltinType::Other {
                    return None;
                }
                Some(if method { Native::Method(owner, name) } else { Native::Attribute(owner, name) })
            }
            _ => None,
        }
    }

    /// The class whose type object has this address, where calling it is traced natively.
    pub fn of_class(address: usize, vm: &Vm) -> Option<Native> {
        if inspect::identity(&torch_type::size(vm)) == address {
            return Some(Native::SizeClass);
        }
        CALLED_CLASSES.iter().find(|c| c.object(vm).is_some_and(|o| inspect::identity(&o) == address)).map(|c| Native::Class(*c))
    }

    /// Whether it is an attribute, read rather than called.
    pub fn is_attribute(self) -> bool {
        matches!(self, Native::Attribute(..) | Native::TensorAttribute(_))
    }
}

const CALLED_CLASSES: [BuiltinType; 19] = [
    BuiltinType::List,
    BuiltinType::Tuple,
    BuiltinType::Dict,
    BuiltinType::Set,
    BuiltinType::FrozenSet,
    BuiltinType::Int,
    BuiltinType::Float,
    BuiltinType::Bool,
    BuiltinType::Str,
    BuiltinType::Type,
    BuiltinType::Range,
    BuiltinType::Slice,
    BuiltinType::Enumerate,
    BuiltinType::Zip,
    BuiltinType::Map,
    BuiltinType::Filter,
    BuiltinType::Reversed,
    BuiltinType::Super,
    BuiltinType::Object,
];

impl Recorder<'_> {
    /// Calls a native; a bound one's receiver is the first argument.
    pub(crate) fn call_native(&mut self, native: Native, args: Vec<Value>, keywords: Vec<Keyword>, then: Then) -> Traced<Done> {
        if let Some(generator) = self.generator_argument(native, &args)? {
            let Some(function) = self.native_value(native) else { return stop(&stop::GENERATOR, "in a built-in function") };
            if !matches!(then, Then::Push) {
                return stop(&stop::GENERATOR, "in a built-in function that a protocol calls");
            }
            return self.collect(generator, function, args[1..].to_vec(), keywords);
        }
        match native {
            Native::Builtin(name) => self.call_builtin(name, args, keywords, then),
            Native::Function(module, name) => self.call_function(module, name, args, keywords),
            Native::Method(class, name) => self.call_method(class, name, args, keywords, then),
            Native::TensorMethod(name) => self.call_tensor_method(name, args, keywords),
            Native::Class(class) => self.call_builtin_class(class, args, keywords, then),
            Native::SizeClass => {
                let items = match args.first() {
                    Some(v) => self.iterate(v)?,
                    None => vec![],
                };
                Ok(Done::Value(self.tuple_of(items, TupleClass::Size)))
            }
            Native::ObjectNew => self.call_object_new(&args),
            Native::Attribute(..) | Native::TensorAttribute(_) => stop(&stop::CALL, "an attribute is called"),
        }
    }

    /// The generator that a built-in function would go through to its end, where its first argument is one.
    fn generator_argument(&mut self, native: Native, args: &[Value]) -> Traced<Option<crate::value::ObjId>> {
        let goes_through = match native {
            Native::Builtin(name) => matches!(name.as_str(), "sum" | "any" | "all" | "min" | "max" | "sorted"),
            Native::Class(class) => {
                matches!(class, BuiltinType::List | BuiltinType::Tuple | BuiltinType::Set | BuiltinType::FrozenSet | BuiltinType::Dict)
            }
            _ => false,
        };
        match args.first() {
            Some(first) if goes_through => match self.kind_of(first)? {
                Some((id, Kind::Generator(_))) => Ok(Some(id)),
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// A built-in function or class as a value.
    fn native_value(&mut self, native: Native) -> Option<Value> {
        match native {
            Native::Builtin(name) => inspect::builtin(name.as_str(), self.vm).map(|o| self.known(o)),
            Native::Class(class) => class.object(self.vm).map(|o| self.known(o)),
            _ => None,
        }
    }

    /// `object.__new__(class)`.
    fn call_object_new(&mut self, args: &[Value]) -> Traced<Done> {
        let Some(class) = args.first() else { return stop(&stop::RAISES, "object.__new__()") };
        if !self.is_class_value(class)? {
            return stop(&stop::CALL, "object.__new__ of something that is no class");
        }
        match self.handle(class) {
            Some(class) => {
                self.assume.identity(&class);
                Ok(Done::Value(self.make(Kind::Instance { class })))
            }
            None => stop(&stop::CALL, "object.__new__"),
        }
    }

    fn call_builtin(&mut self, name: Name, args: Vec<Value>, keywords: Vec<Keyword>, then: Then) -> Traced<Done> {
        let value = |v: Value| Ok(Done::Value(v));
        match (name.as_str(), &args[..]) {
            ("len", [v]) => self.protocol_then(then, |r| r.length(v)),
            ("isinstance", [v, class]) => {
                let class = class.clone();
                let is = self.is_instance(v, &class)?;
                value(Value::bool(is))
            }
            ("issubclass", [sub, class]) => {
                let is = self.is_subclass_of(sub, class)?;
                value(Value::bool(is))
            }
            ("callable", [v]) => {
                let is = self.is_callable(v)?;
                value(Value::bool(is))
            }
            ("getattr", [owner, key]) => {
                let key = self.attribute_name(key)?;
                self.get_attribute(owner, key)
            }
            ("getattr", [owner, key, default]) => {
                let key = self.attribute_name(key)?;
                self.get_attribute_or(owner, key, default)
            }
            ("hasattr", [owner, key]) => {
                let key = self.attribute_name(key)?;
                self.has_attribute(owner, key)
            }
            ("setattr", [owner, key, v]) => {
                let key = self.attribute_name(key)?;
                self.write_done(owner, key, Some(v.clone()))
            }
            ("delattr", [owner, key]) => {
                let key = self.attribute_name(key)?;
                self.write_done(owner, key, None)
            }
            ("iter", [v]) => self.iterator(v),
            ("next", [v, default @ ..]) => self.next(v, default.first()),
            ("abs", [v]) => self.unary_method("__abs__", v),
            ("any" | "all", [v]) => self.any_or_all(name.as_str() == "any", v),
            ("sum", [v, start @ ..]) => self.sum(v, start.first().cloned().or_else(|| Self::keyword(&keywords, "start"))),
            ("min" | "max", _) => self.min_or_max(name.as_str() == "max", args, &keywords),
            ("sorted", [v]) => self.sorted(v, &keywords),
            ("divmod", [a, b]) => {
                let (Done::Value(q), Done::Value(r)) =
                    (self.binary_by_method("__floordiv__", a, b)?, self.binary_by_method("__mod__", a, b)?)
                else {
                    return stop(&stop::CALL, "divmod of objects");
                };
                value(self.tuple(vec![q, r]))
            }
            ("pow", [a, b]) => self.binary_by_method("__pow__", a, b),
            ("repr", [v]) => self.text_of(v, "__repr__").map(Done::Value),
            ("format", [v, spec @ ..]) => {
                let spec = match spec.first() {
                    Some(s) => self.text(s)?.unwrap_or_default(),
                    None => "".into(),
                };
                self.format(v, &spec).map(Done::Value)
            }
            ("round" | "ord" | "chr" | "hash" | "bin" | "hex" | "oct", _) => self.fold_builtin(name, &args, &keywords),
            ("print", _) => stop(&stop::VISIBLE_EFFECT, "print"),
            ("input" | "open" | "exec" | "eval" | "compile" | "breakpoint" | "__import__", _) => stop(&stop::VISIBLE_EFFECT, name.as_str()),
            ("id", _) => stop(&stop::IDENTITY, "id"),
            ("globals", []) => value(self.frame().globals.clone()),
            ("vars", [v]) => match v.id().and_then(|id| self.namespace(id)) {
                Some(namespace) => value(Value::Object(namespace)),
                None => stop(&stop::CALL, "vars"),
            },
            _ => stop(&stop::CALL, name.as_str()),
        }
    }

    /// Runs a protocol that pushes its result; another continuation isn't wanted of a built-in function.
    fn protocol_then(&mut self, then: Then, run: impl FnOnce(&mut Self) -> Traced<Done>) -> Traced<Done> {
        match run(self)? {
            Done::Entered if !matches!(then, Then::Push) => {
                self.frames.pop();
                self.snapshots.truncate(self.frames.len());
                stop(&stop::CALL, "a protocol inside another")
            }
            done => Ok(done),
        }
    }

    fn attribute_name(&mut self, value: &Value) -> Traced<Name> {
        match self.text(value)? {
            Some(s) => Ok(self.name(&s)),
            None => stop(&stop::RAISES, "attribute name must be string"),
        }
    }

    fn write_done(&mut self, owner: &Value, name: Name, value: Option<Value>) -> Traced<Done> {
        match self.set_attribute(owner, name, value)? {
            Flow::Entered => {
                // The setter's None becomes the result of setattr().
                self.frame_mut().then = Then::Push;
                Ok(Done::Entered)
            }
            _ => Ok(Done::Value(Value::NONE)),
        }
    }

    fn next(&mut self, iterator: &Value, default: Option<&Value>) -> Traced<Done> {
        let Some((id, kind)) = self.kind_of(iterator)? else { return stop(&stop::RAISES, "next of a constant") };
        match kind {
            Kind::Generator(_) => {
                let then = match default {
                    Some(default) => Then::PushOr(default.clone()),
                    None => Then::Push,
                };
                match (self.resume_generator(id, Value::NONE, then)?, default) {
                    (Some(()), _) => Ok(Done::Entered),
                    (None, Some(default)) => Ok(Done::Value(default.clone())),
                    (None, None) => self.raise("StopIteration", ""),
                }
            }
            Kind::Iterator(_) => match (self.advance(id)?, default) {
                (Some(v), _) => Ok(Done::Value(v)),
                (None, Some(default)) => Ok(Done::Value(default.clone())),
                (None, None) => self.raise("StopIteration", ""),
            },
            Kind::Instance { .. } if default.is_none() => self.call_special("__next__", iterator, vec![], Then::Push),
            _ => stop(&stop::ITERATION, "next"),
        }
    }

    fn any_or_all(&mut self, any: bool, value: &Value) -> Traced<Done> {
        for item in self.iterate(value)? {
            match self.truth(&item)? {
                Done::Value(Value::Const(Const::Bool(b))) if b == any => return Ok(Done::Value(Value::bool(any))),
                Done::Value(_) => {}
                Done::Entered => {
                    self.frames.pop();
                    self.snapshots.truncate(self.frames.len());
                    return stop(&stop::CALL, "any or all of objects with __bool__");
                }
            }
        }
        Ok(Done::Value(Value::bool(!any)))
    }

    fn sum(&mut self, value: &Value, start: Option<Value>) -> Traced<Done> {
        let mut total = start.unwrap_or_else(|| Value::int(0));
        for item in self.iterate(value)? {
            match self.binary_by_method("__add__", &total, &item)? {
                Done::Value(v) => total = v,
                Done::Entered => {
                    self.frames.pop();
                    self.snapshots.truncate(self.frames.len());
                    return stop(&stop::CALL, "sum of objects with __add__");
                }
            }
        }
        Ok(Done::Value(total))
    }

    fn min_or_max(&mut self, max: bool, args: Vec<Value>, keywords: &[Keyword]) -> Traced<Done> {
        if keywords.iter().any(|(n, _)| n.as_str() != "default") {
            return stop(&stop::CALL, "min or max with a key");
        }
        let items = if args.len() == 1 { self.iterate(&args[0])? } else { args };
        let Some(mut best) = items.first().cloned() else {
            return match Self::keyword(keywords, "default") {
                Some(v) => Ok(Done::Value(v)),
                None => self.raise("ValueError", &format!("{}() iterable argument is empty", if max { "max" } else { "min" })),
            };
        };
        for item in &items[1..] {
            let better = self.compare(if max { 4 } else { 0 }, item, &best)?;
            let Done::Value(better) = better else {
                self.frames.pop();
                self.snapshots.truncate(self.frames.len());
                return stop(&stop::CALL, "min or max of objects");
            };
            match self.truth(&better)? {
                Done::Value(Value::Const(Const::Bool(true))) => best = item.clone(),
                Done::Value(_) => {}
                Done::Entered => return stop(&stop::CALL, "min or max of objects"),
            }
        }
        Ok(Done::Value(best))
    }

    fn sorted(&mut self, value: &Value, keywords: &[Keyword]) -> Traced<Done> {
        if keywords.iter().any(|(n, _)| n.as_str() != "reverse") {
            return stop(&stop::CALL, "sorted with a key");
        }
        let reverse = self.flag(Self::keyword(keywords, "reverse"), false)?;
        let mut items = self.iterate(value)?;
        // Insertion keeps equal items in order, as Python's sort does.
        for i in 1..items.len() {
            let mut j = i;
            while j > 0 {
                let (a, b) = (items[j].clone(), items[j - 1].clone());
                let before = if reverse { self.compare(0, &b, &a)? } else { self.compare(0, &a, &b)? };
                match before {
                    Done::Value(Value::Const(Const::Bool(true))) => items.swap(j, j - 1),
                    Done::Value(Value::Const(Const::Bool(false))) => break,
                    _ => return stop(&stop::CALL, "sorted of objects"),
                }
                j -= 1;
            }
        }
        Ok(Done::Value(self.list(items)))
    }

    fn fold_builtin(&mut self, name: Name, args: &[Value], keywords: &[Keyword]) -> Traced<Done> {
        let Some(function) = inspect::builtin(name.as_str(), self.vm) else { return stop(&stop::CALL, name.as_str()) };
        self.fold_call(&function, args, keywords)
    }

    /// Calls a pure native with constants on the VM itself.
    pub(crate) fn fold_call(&mut self, function: &Object, args: &[Value], keywords: &[Keyword]) -> Traced<Done> {
        let mut objects = vec![];
        for arg in args {
            match self.constant_tree(arg)? {
                Some(object) => objects.push(object),
                None => return stop(&stop::CALL, inspect::describe(function, self.vm)),
            }
        }
        if !keywords.is_empty() {
            return stop(&stop::CALL, "keywords of a built-in function");
        }
        let Some(result) = inspect::call_native(function, objects, self.vm) else {
            return stop(&stop::RAISES, inspect::describe(function, self.vm));
        };
        match self.value_of_tree(&result) {
            Some(value) => Ok(Done::Value(value)),
            None => stop(&stop::CALL, inspect::describe(function, self.vm)),
        }
    }

    /// The real object of a constant, or of a tuple or list of constants.
    fn constant_tree(&mut self, value: &Value) -> Traced<Option<Object>> {
        if let Some(c) = self.constant(value)? {
            return Ok(Some(inspect::make_const(&c, self.vm)));
        }
        let (items, list) = match self.kind_of(value)? {
            Some((_, Kind::Tuple(items, TupleClass::Tuple))) => (items.to_vec(), false),
            Some((_, Kind::List(items))) => (items.to_vec(), true),
            _ => return Ok(None),
        };
        let mut objects = vec![];
        for item in &items {
            match self.constant_tree(item)? {
                Some(object) => objects.push(object),
                None => return Ok(None),
            }
        }
        Ok(Some(if list { inspect::make_list(objects, self.vm) } else { inspect::make_tuple(objects, self.vm) }))
    }

    /// A fresh result of the VM as a value: constants, tuples and lists of them.
    fn value_of_tree(&mut self, object: &Object) -> Option<Value> {
        if let Some(c) = inspect::constant(object, self.vm) {
            return Some(Value::Const(c));
        }
        match BuiltinType::of(object, self.vm) {
            BuiltinType::Tuple => {
                let items: Option<Vec<Value>> = inspect::tuple_items(object)?.to_vec().iter().map(|o| self.value_of_tree(o)).collect();
                Some(self.tuple(items?))
            }
            BuiltinType::List => {
                let items: Option<Vec<Value>> = inspect::list_items(object)?.iter().map(|o| self.value_of_tree(o)).collect();
                Some(self.list(items?))
            }
            _ => None,
        }
    }

    /// `isinstance(value, class)`.
    pub(crate) fn is_instance(&mut self, value: &Value, class: &Value) -> Traced<bool> {
        if let Some((_, Kind::Tuple(classes, _))) = self.kind_of(class)? {
            for class in classes.iter() {
                if self.is_instance(value, class)? {
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        if !self.is_class_value(class)? {
            return stop(&stop::CALL, "isinstance with something that is no class");
        }
        let Some(wanted) = self.handle(class) else { return stop(&stop::CALL, "isinstance with a class made while tracing") };
        self.check_plain_metaclass(&wanted)?;
        let own = self.class(value)?;
        Ok(self.assume.is_subclass(&own, &wanted))
    }

    fn is_subclass_of(&mut self, sub: &Value, class: &Value) -> Traced<bool> {
        if let Some((_, Kind::Tuple(classes, _))) = self.kind_of(class)? {
            for class in classes.iter() {
                if self.is_subclass_of(sub, class)? {
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        if !self.is_class_value(sub)? || !self.is_class_value(class)? {
            return stop(&stop::RAISES, "issubclass() arg must be a class");
        }
        match (self.handle(sub), self.handle(class)) {
            (Some(sub), Some(wanted)) => {
                self.check_plain_metaclass(&wanted)?;
                Ok(self.assume.is_subclass(&sub, &wanted))
            }
            _ => stop(&stop::CALL, "issubclass"),
        }
    }

    /// A metaclass may answer `isinstance` itself.
    fn check_plain_metaclass(&mut self, class: &taipan_guards::Handle) -> Traced<()> {
        let metaclass = self.assume.class(class);
        let name = self.name("__instancecheck__");
        let plain = self.known_class(BuiltinType::Type);
        let (own, default) = (self.assume.type_attribute(&metaclass, name), self.assume.type_attribute(&plain, name));
        match (own, default) {
            (Some(a), Some(b)) if a.address() == b.address() => Ok(()),
            (None, None) => Ok(()),
            _ => stop(&stop::CALL, format!("isinstance of {}", self.describe_handle(class))),
        }
    }

    fn is_callable(&mut self, value: &Value) -> Traced<bool> {
        let class = self.class(value)?;
        let name = self.name("__call__");
        if self.assume.type_attribute(&class, name).is_some() || self.is_class_value(value)? {
            return Ok(true);
        }
        Ok(matches!(
            self.builtin_type(value)?,
            BuiltinType::Function
                | BuiltinType::BoundMethod
                | BuiltinType::BuiltinFunction
                | BuiltinType::BuiltinMethod
                | BuiltinType::MethodDescriptor
        ))
    }

    fn call_builtin_class(&mut self, class: BuiltinType, args: Vec<Value>, keywords: Vec<Keyword>, then: Then) -> Traced<Done> {
        let value = |v: Value| Ok(Done::Value(v));
        match (class, &args[..]) {
            (BuiltinType::List, []) => value(self.list(vec![])),
            (BuiltinType::List, [v]) => {
                let items = self.iterate(v)?;
                value(self.list(items))
            }
            (BuiltinType::Tuple, []) => value(self.tuple(vec![])),
            (BuiltinType::Tuple, [v]) => {
                if let Some((_, Kind::Tuple(_, TupleClass::Tuple))) = self.kind_of(v)? {
                    return value(v.clone());
                }
                let items = self.iterate(v)?;
                value(self.tuple(items))
            }
            (BuiltinType::Dict, _) => self.make_dict(&args, &keywords).map(Done::Value),
            (BuiltinType::Set, []) => self.make_set(&[], SetClass::Set).map(Done::Value),
            (BuiltinType::Set, [v]) => {
                let items = self.iterate(v)?;
                self.make_set(&items, SetClass::Set).map(Done::Value)
            }
            (BuiltinType::FrozenSet, [v]) => {
                let items = self.iterate(v)?;
                self.make_set(&items, SetClass::FrozenSet).map(Done::Value)
            }
            (BuiltinType::Bool, [v]) => self.protocol_then(then, |r| r.truth(v)),
            (BuiltinType::Str, [v]) => self.text_of(v, "__str__").map(Done::Value),
            (BuiltinType::Str, []) => value(Value::str("")),
            (BuiltinType::Int | BuiltinType::Float, _) => {
                if let Some(v) = args.first()
                    && self.tensor(v)?.is_some()
                {
                    return stop(&stop::DATA_DEPENDENT, "the number of a tensor");
                }
                let Some(function) = class.object(self.vm) else { return stop(&stop::CALL, "int") };
                self.fold_call(&function, &args, &keywords)
            }
            (BuiltinType::Type, [v]) => {
                let class = self.class(v)?;
                value(self.wrap(class))
            }
            (BuiltinType::Range, _) => self.make_range(&args).map(Done::Value),
            (BuiltinType::Slice, [_] | [_, _] | [_, _, _]) => {
                let mut parts = args.clone();
                if parts.len() == 1 {
                    parts.insert(0, Value::NONE);
                }
                parts.resize(3, Value::NONE);
                self.make_slice(parts).map(Done::Value)
            }
            (BuiltinType::Enumerate, [v, rest @ ..]) => {
                let start = rest.first().cloned().or_else(|| Self::keyword(&keywords, "start"));
                let count = match start {
                    Some(s) => self.integer(&s)?.unwrap_or(0),
                    None => 0,
                };
                let inner = self.inner_iterator(v)?;
                value(self.make(Kind::Iterator(Rc::new(IteratorValue::Enumerate { inner, count }))))
            }
            (BuiltinType::Zip, _) => {
                let strict = self.flag(Self::keyword(&keywords, "strict"), false)?;
                let mut inner = vec![];
                for arg in &args {
                    inner.push(self.inner_iterator(arg)?);
                }
                value(self.make(Kind::Iterator(Rc::new(IteratorValue::Zip { inner: inner.into(), strict }))))
            }
            (BuiltinType::Reversed, [v]) => match self.kind_of(v)? {
                Some((_, Kind::List(_) | Kind::Tuple(..) | Kind::Range(_))) => {
                    let mut items = self.iterate(v)?;
                    items.reverse();
                    value(self.items_iterator(items, BuiltinType::Reversed, None))
                }
                _ => stop(&stop::CALL, "reversed"),
            },
            (BuiltinType::Map, [_, _, ..]) => self.call_polyfill("map", args, then),
            (BuiltinType::Filter, [_, _]) => self.call_polyfill("filter", args, then),
            (BuiltinType::Object, []) => {
                let class = self.known_class(BuiltinType::Object);
                value(self.make(Kind::Instance { class }))
            }
            (BuiltinType::Super, _) => self.make_super(&args).map(Done::Value),
            _ => {
                stop(&stop::CALL, inspect::class_name(&class.object(self.vm).unwrap_or_else(|| inspect::make_const(&Const::None, self.vm))))
            }
        }
    }

    /// Calls the Python body that stands for a native function which calls back.
    pub(crate) fn call_polyfill(&mut self, name: &str, args: Vec<Value>, then: Then) -> Traced<Done> {
        match inspect::module_attribute("_taipan_polyfills", self.name(name), self.vm) {
            Some(function) => {
                let function = self.known(function);
                self.call_then(&function, args, vec![], then)
            }
            None => stop(&stop::CALL, name),
        }
    }

    fn inner_iterator(&mut self, value: &Value) -> Traced<crate::value::ObjId> {
        match self.iterator(value)? {
            Done::Value(v) => match self.kind_of(&v)? {
                Some((id, Kind::Iterator(_))) => Ok(id),
                _ => stop(&stop::ITERATION, "an iterator that exists already"),
            },
            Done::Entered => {
                self.frames.pop();
                self.snapshots.truncate(self.frames.len());
                stop(&stop::ITERATION, "an object with __iter__ in a built-in iterator")
            }
        }
    }

    fn make_super(&mut self, args: &[Value]) -> Traced<Value> {
        let (class, receiver) = match args {
            [class, receiver] => (class.clone(), receiver.clone()),
            // `super()` finds the class in the cell `__class__` and the receiver in slot 0.
            [] => {
                let frame = self.frame();
                let at = frame.info.slots.iter().position(|n| n.as_str() == "__class__");
                let (Some(cell), Some(receiver)) = (at.and_then(|i| frame.slots[i].clone()), frame.slots.first().cloned().flatten()) else {
                    return stop(&stop::RAISES, "super(): no arguments");
                };
                let class = match self.kind_of(&cell)? {
                    Some((_, Kind::Cell(Some(class)))) => class,
                    _ => return stop(&stop::RAISES, "super(): empty __class__ cell"),
                };
                let receiver = match self.kind_of(&receiver)? {
                    Some((_, Kind::Cell(Some(inner)))) => inner,
                    _ => receiver,
                };
                (class, receiver)
            }
            _ => return stop(&stop::CALL, "super"),
        };
        match self.handle(&class) {
            Some(after) => Ok(self.make(Kind::Super { after, receiver })),
            None => stop(&stop::CALL, "super of a class made while tracing"),
        }
    }

    fn make_range(&mut self, args: &[Value]) -> Traced<Value> {
        let mut parts = vec![];
        for arg in args {
            match self.index_integer(arg)? {
                Some(i) => parts.push(i),
                None => return stop(&stop::RAISES, "range"),
            }
        }
        let [start, end, step] = match parts[..] {
            [end] => [0, end, 1],
            [start, end] => [start, end, 1],
            [start, end, step] if step != 0 => [start, end, step],
            _ => return stop(&stop::RAISES, "range"),
        };
        Ok(self.make(Kind::Range([start, end, step])))
    }

    fn make_dict(&mut self, args: &[Value], keywords: &[Keyword]) -> Traced<Value> {
        let dict = self.make_id(Kind::Dict(Rc::new(Items::new())));
        if let Some(source) = args.first() {
            self.dict_update_from(dict, source)?;
        }
        for (name, value) in keywords {
            self.dict_set_name(dict, name, Some(value.clone()))?;
        }
        Ok(Value::Object(dict))
    }

    fn dict_update_from(&mut self, dict: crate::value::ObjId, source: &Value) -> Traced<()> {
        if let Some((_, Kind::Dict(_) | Kind::RealDict(_))) = self.kind_of(source)? {
            return self.dict_merge(dict, source, false);
        }
        for pair in self.iterate(source)? {
            let pair = self.iterate(&pair)?;
            match &pair[..] {
                [key, value] => self.dict_set(dict, key, Some(value.clone()))?,
                _ => return stop(&stop::RAISES, "a dict of something that is no pair"),
            }
        }
        Ok(())
    }

    fn call_method(&mut self, class: BuiltinType, name: Name, args: Vec<Value>, keywords: Vec<Keyword>, then: Then) -> Traced<Done> {
        match class {
            BuiltinType::List => self.call_list_method(name, &args, &keywords),
            BuiltinType::Dict => self.call_dict_method(name, &args, &keywords),
            BuiltinType::Tuple => self.call_tuple_method(name, &args),
            BuiltinType::Set | BuiltinType::FrozenSet => self.call_set_method(name, &args),
            BuiltinType::Object => self.call_object_method(name, &args),
            BuiltinType::Str | BuiltinType::Int | BuiltinType::Float | BuiltinType::Bytes | BuiltinType::Bool => {
                let Some(class) = class.object(self.vm) else { return stop(&stop::CALL, name.as_str()) };
                match inspect::own_attribute(&class, name) {
                    Some(method) => self.fold_call(&method, &args, &keywords),
                    None => stop(&stop::CALL, name.as_str()),
                }
            }
            BuiltinType::Function if name.as_str() == "__get__" => match &args[..] {
                [function, receiver, ..] => {
                    Ok(Done::Value(self.make(Kind::Method { function: function.clone(), receiver: receiver.clone() })))
                }
                _ => stop(&stop::CALL, "__get__"),
            },
            BuiltinType::Type if name.as_str() == "__call__" && !args.is_empty() => {
                let (class, rest) = args.split_first().map(|(c, r)| (c.clone(), r.to_vec())).unwrap_or((Value::NONE, vec![]));
                self.call_then(&class, rest, keywords, then)
            }
            BuiltinType::Type if name.as_str() == "mro" => stop(&stop::CALL, "mro"),
            _ => stop(&stop::CALL, format!("{name} of a {class:?}")),
        }
    }

    fn call_object_method(&mut self, name: Name, args: &[Value]) -> Traced<Done> {
        match (name.as_str(), args) {
            ("__init__", _) => Ok(Done::Value(Value::NONE)),
            ("__setattr__", [owner, key, value]) => {
                let key = self.attribute_name(key)?;
                match self.set_attribute_plainly(owner, key, Some(value.clone()))? {
                    Flow::Entered => {
                        self.frame_mut().then = Then::Push;
                        Ok(Done::Entered)
                    }
                    _ => Ok(Done::Value(Value::NONE)),
                }
            }
            ("__delattr__", [owner, key]) => {
                let key = self.attribute_name(key)?;
                match self.set_attribute_plainly(owner, key, None)? {
                    Flow::Entered => stop(&stop::MUTATION, "a property deleter"),
                    _ => Ok(Done::Value(Value::NONE)),
                }
            }
            ("__getattribute__", [owner, key]) => {
                let key = self.attribute_name(key)?;
                self.get_attribute_plainly(owner, key)
            }
            ("__eq__", [a, b]) => {
                let same = self.identical(a, b)?;
                Ok(Done::Value(if same { Value::bool(true) } else { Value::Const(Const::NotImplemented) }))
            }
            _ => stop(&stop::CALL, format!("object.{name}")),
        }
    }

    fn call_list_method(&mut self, name: Name, args: &[Value], keywords: &[Keyword]) -> Traced<Done> {
        let Some((list, rest)) = args.split_first() else { return stop(&stop::RAISES, name.as_str()) };
        let Some((id, Kind::List(items))) = self.kind_of(list)? else { return stop(&stop::CALL, format!("list.{name}")) };
        let mut items = (*items).clone();
        let mut result = Value::NONE;
        match (name.as_str(), rest) {
            ("append", [v]) => items.push(v.clone()),
            ("extend", [v]) => items.extend(self.iterate(v)?),
            ("insert", [at, v]) => {
                let n = items.len() as i64;
                let at = self.index_integer(at)?.unwrap_or(0);
                let at = (if at < 0 { at + n } else { at }).clamp(0, n);
                items.insert(at as usize, v.clone());
            }
            ("pop", _) => {
                let n = items.len() as i64;
                let at = match rest.first() {
                    Some(v) => self.index_integer(v)?.unwrap_or(-1),
                    None => -1,
                };
                let at = if at < 0 { at + n } else { at };
                if n == 0 {
                    return self.raise("IndexError", "pop from empty list");
                }
                if at < 0 || at >= n {
                    return self.raise("IndexError", "pop index out of range");
                }
                result = items.remove(at as usize);
            }
            ("clear", []) => items.clear(),
            ("reverse", []) => items.reverse(),
            ("copy", []) => return Ok(Done::Value(self.list(items))),
            ("index" | "count" | "remove", [v]) => {
                let mut at = vec![];
                for (i, item) in items.iter().enumerate() {
                    if self.any_equal(std::slice::from_ref(item), v)? {
                        at.push(i);
                    }
                }
                match (name.as_str(), at.first()) {
                    ("count", _) => return Ok(Done::Value(Value::int(at.len() as i64))),
                    ("index", Some(i)) => return Ok(Done::Value(Value::int(*i as i64))),
                    ("remove", Some(i)) => {
                        items.remove(*i);
                    }
                    ("remove", None) => return self.raise("ValueError", "list.remove(x): x not in list"),
                    _ => return stop(&stop::RAISES, "an item that isn't in the list"),
                }
            }
            ("sort", []) => {
                let Done::Value(sorted) = self.sorted(list, keywords)? else { return stop(&stop::CALL, "list.sort") };
                items = self.iterate(&sorted)?;
            }
            ("__getitem__", [key]) => return self.subscript(list, key),
            ("__len__", []) => return Ok(Done::Value(Value::int(items.len() as i64))),
            ("__iter__", []) => return self.iterator(list),
            ("__contains__", [v]) => {
                let found = self.any_equal(&items, v)?;
                return Ok(Done::Value(Value::bool(found)));
            }
            ("__setitem__", [key, v]) => {
                self.store_item(list, key, Some(v.clone()))?;
                return Ok(Done::Value(Value::NONE));
            }
            _ => return stop(&stop::CALL, format!("list.{name}")),
        }
        self.write(id, Kind::List(Rc::new(items)));
        Ok(Done::Value(result))
    }

    fn call_tuple_method(&mut self, name: Name, args: &[Value]) -> Traced<Done> {
        let Some((tuple, rest)) = args.split_first() else { return stop(&stop::RAISES, name.as_str()) };
        let Some((_, Kind::Tuple(items, class))) = self.kind_of(tuple)? else { return stop(&stop::CALL, format!("tuple.{name}")) };
        let mut matches = vec![];
        if let ("index" | "count", [v]) = (name.as_str(), rest) {
            for (i, item) in items.iter().enumerate() {
                if self.any_equal(std::slice::from_ref(item), v)? {
                    matches.push(i);
                }
            }
        }
        match (name.as_str(), matches.first(), class) {
            ("count", _, _) => Ok(Done::Value(Value::int(matches.len() as i64))),
            ("index", Some(i), _) => Ok(Done::Value(Value::int(*i as i64))),
            ("__getitem__", _, _) if rest.len() == 1 => self.subscript(tuple, &rest[0]),
            ("__len__", _, _) => Ok(Done::Value(Value::int(items.len() as i64))),
            ("__iter__", _, _) => self.iterator(tuple),
            ("numel", _, TupleClass::Size) => {
                let mut n = 1;
                for item in items.iter() {
                    n *= self.integer(item)?.unwrap_or(1);
                }
                Ok(Done::Value(Value::int(n)))
            }
            _ => stop(&stop::CALL, format!("tuple.{name}")),
        }
    }

    fn call_set_method(&mut self, name: Name, args: &[Value]) -> Traced<Done> {
        let Some((set, rest)) = args.split_first() else { return stop(&stop::RAISES, name.as_str()) };
        let Some((id, Kind::Set(items, class))) = self.kind_of(set)? else { return stop(&stop::CALL, format!("set.{name}")) };
        let operator = match name.as_str() {
            "union" | "update" => Some("__or__"),
            "intersection" => Some("__and__"),
            "difference" | "difference_update" => Some("__sub__"),
            "symmetric_difference" => Some("__xor__"),
            _ => None,
        };
        match (name.as_str(), rest, operator) {
            ("add", [v], _) => self.set_insert(id, std::slice::from_ref(v))?,
            ("discard" | "remove", [v], _) => {
                let key = self.dict_key(v)?;
                let mut items = (*items).clone();
                if items.shift_remove(&key).is_none() && name.as_str() == "remove" {
                    return self.raise_with("KeyError", Rc::new([v.clone()]));
                }
                self.write(id, Kind::Set(Rc::new(items), class));
            }
            ("copy", [], _) => return Ok(Done::Value(self.make(Kind::Set(items, class)))),
            ("clear", [], _) => self.write(id, Kind::Set(Rc::new(Items::new()), class)),
            ("__contains__", [v], _) => {
                let key = self.dict_key(v)?;
                return Ok(Done::Value(Value::bool(items.contains_key(&key))));
            }
            (_, [other], Some(operator)) => {
                let elements = self.iterate(other)?;
                let other = self.make_set(&elements, SetClass::Set)?;
                let in_place = name.as_str().ends_with("update");
                let done = self.set_operator(operator, set, &other, in_place)?;
                return if in_place { Ok(Done::Value(Value::NONE)) } else { Ok(done) };
            }
            _ => return stop(&stop::CALL, format!("set.{name}")),
        }
        Ok(Done::Value(Value::NONE))
    }

    fn call_dict_method(&mut self, name: Name, args: &[Value], keywords: &[Keyword]) -> Traced<Done> {
        let Some((dict, rest)) = args.split_first() else { return stop(&stop::RAISES, name.as_str()) };
        let Some((id, Kind::Dict(_) | Kind::RealDict(_))) = self.kind_of(dict)? else { return stop(&stop::CALL, format!("dict.{name}")) };
        let value = |v: Value| Ok(Done::Value(v));
        match (name.as_str(), rest) {
            ("get", [key, default @ ..]) => {
                let key = self.dict_key(key)?;
                let found = self.dict_get(id, &key)?;
                value(found.or_else(|| default.first().cloned()).unwrap_or(Value::NONE))
            }
            ("keys", []) => value(self.make(Kind::View(id, ViewKind::Keys))),
            ("values", []) => value(self.make(Kind::View(id, ViewKind::Values))),
            ("items", []) => value(self.make(Kind::View(id, ViewKind::Items))),
            ("copy", []) => self.dict_copy(dict).map(Done::Value),
            ("clear", []) => {
                for (key, _) in self.dict_items(id)? {
                    self.dict_set(id, &key, None)?;
                }
                value(Value::NONE)
            }
            ("pop", [key, default @ ..]) => {
                let dict_key = self.dict_key(key)?;
                match (self.dict_get(id, &dict_key)?, default.first()) {
                    (Some(v), _) => {
                        self.dict_set(id, key, None)?;
                        value(v)
                    }
                    (None, Some(default)) => value(default.clone()),
                    (None, None) => self.raise_with("KeyError", Rc::new([key.clone()])),
                }
            }
            ("setdefault", [key, default @ ..]) => {
                let dict_key = self.dict_key(key)?;
                if let Some(v) = self.dict_get(id, &dict_key)? {
                    return value(v);
                }
                let default = default.first().cloned().unwrap_or(Value::NONE);
                self.dict_set(id, key, Some(default.clone()))?;
                value(default)
            }
            ("update", _) => {
                if let Some(source) = rest.first() {
                    self.dict_update_from(id, source)?;
                }
                for (name, v) in keywords {
                    self.dict_set_name(id, name, Some(v.clone()))?;
                }
                value(Value::NONE)
            }
            ("__contains__", [key]) => {
                let key = self.dict_key(key)?;
                let found = self.dict_get(id, &key)?.is_some();
                value(Value::bool(found))
            }
            ("__getitem__", [key]) => self.subscript(dict, key),
            ("__setitem__", [key, v]) => {
                self.dict_set(id, key, Some(v.clone()))?;
                value(Value::NONE)
            }
            ("__len__", []) => self.length(dict),
            ("__iter__", []) => self.iterator(dict),
            _ => stop(&stop::CALL, format!("dict.{name}")),
        }
    }

    fn call_function(&mut self, module: Name, name: Name, args: Vec<Value>, keywords: Vec<Keyword>) -> Traced<Done> {
        match module.as_str() {
            "math" | "cmath" => {
                for arg in &args {
                    if self.tensor(arg)?.is_some() {
                        return stop(&stop::DATA_DEPENDENT, format!("math.{name} of a tensor"));
                    }
                }
                match inspect::module_attribute(module.as_str(), name, self.vm) {
                    Some(function) => self.fold_call(&function, &args, &keywords),
                    None => stop(&stop::CALL, format!("{module}.{name}")),
                }
            }
            "operator" | "_operator" => self.call_operator(name, &args),
            "_functools" if name.as_str() == "reduce" => self.call_polyfill("reduce", args, Then::Push),
            "torch._C" | "torch._C._compiler" | "torch._C._nn" => self.call_torch_function(name, args, keywords),
            "time" | "sys" | "random" | "_random" | "posix" | "io" | "_io" => stop(&stop::VISIBLE_EFFECT, format!("{module}.{name}")),
            _ => stop(&stop::CALL, format!("{module}.{name}")),
        }
    }

    fn call_operator(&mut self, name: Name, args: &[Value]) -> Traced<Done> {
        match (name.as_str(), args) {
            ("getitem", [a, key]) => self.subscript(a, key),
            ("setitem", [a, key, v]) => match self.store_item(a, key, Some(v.clone()))? {
                Flow::Entered => {
                    self.frame_mut().then = Then::Push;
                    Ok(Done::Entered)
                }
                _ => Ok(Done::Value(Value::NONE)),
            },
            ("is_", [a, b]) => Ok(Done::Value(Value::bool(self.identical(a, b)?))),
            ("is_not", [a, b]) => Ok(Done::Value(Value::bool(!self.identical(a, b)?))),
            ("contains", [container, item]) => self.contains(container, item, false),
            ("truth", [v]) => self.truth(v),
            ("not_", [v]) => match self.truth(v)? {
                Done::Value(Value::Const(Const::Bool(b))) => Ok(Done::Value(Value::bool(!b))),
                _ => stop(&stop::CALL, "operator.not_"),
            },
            ("neg", [v]) => self.unary_method("__neg__", v),
            ("pos", [v]) => self.unary_method("__pos__", v),
            ("invert" | "inv", [v]) => self.unary_method("__invert__", v),
            ("abs", [v]) => self.unary_method("__abs__", v),
            ("index", [v]) => match self.index_integer(v)? {
                Some(i) => Ok(Done::Value(Value::int(i))),
                None => stop(&stop::RAISES, "operator.index"),
            },
            (_, [a, b]) => {
                let method = format!("__{}__", name.as_str().trim_end_matches('_'));
                self.binary_by_method(&method, a, b)
            }
            _ => stop(&stop::CALL, format!("operator.{name}")),
        }
    }

    /// An attribute behind a native descriptor.
    pub(crate) fn native_attribute(&mut self, native: Native, owner: &Value) -> Traced<Value> {
        let (class, name) = match native {
            Native::TensorAttribute(name) => {
                return match self.tensor_attribute(owner, name)? {
                    Some(value) => Ok(value),
                    None => stop(&stop::ATTRIBUTE, format!("{name} of a tensor")),
                };
            }
            Native::Attribute(class, name) => (class, name),
            _ => return stop(&stop::ATTRIBUTE, "a method"),
        };
        match (class, name.as_str()) {
            (_, "__class__") => {
                let class = self.class(owner)?;
                Ok(self.wrap(class))
            }
            (_, "__dict__") => match owner.id().and_then(|id| self.namespace(id)) {
                Some(namespace) => Ok(Value::Object(namespace)),
                None => stop(&stop::ATTRIBUTE, "__dict__"),
            },
            (BuiltinType::Type, "__name__" | "__qualname__" | "__module__")
            | (
                BuiltinType::Function,
                "__name__" | "__qualname__" | "__module__" | "__doc__" | "__defaults__" | "__kwdefaults__" | "__closure__" | "__globals__",
            ) => {
                let Some(handle) = self.handle(owner) else { return stop(&stop::ATTRIBUTE, name.as_str()) };
                self.assume.identity(&handle);
                match self.assume.native(&handle, intern_static(name)) {
                    Some(found) => Ok(self.wrap(found)),
                    None => stop(&stop::ATTRIBUTE, name.as_str()),
                }
            }
            (BuiltinType::Slice, "start" | "stop" | "step") => match self.kind_of(owner)? {
                Some((_, Kind::Slice(parts))) => {
                    Ok(parts[["start", "stop", "step"].iter().position(|n| *n == name.as_str()).unwrap_or(0)].clone())
                }
                _ => stop(&stop::ATTRIBUTE, name.as_str()),
            },
            (BuiltinType::Range, "start" | "stop" | "step") => match self.kind_of(owner)? {
                Some((_, Kind::Range(parts))) => {
                    Ok(Value::int(parts[["start", "stop", "step"].iter().position(|n| *n == name.as_str()).unwrap_or(0)]))
                }
                _ => stop(&stop::ATTRIBUTE, name.as_str()),
            },
            (BuiltinType::Int | BuiltinType::Float | BuiltinType::Bool, "real") => Ok(owner.clone()),
            _ => stop(&stop::ATTRIBUTE, format!("{name} of a {class:?}")),
        }
    }
}

/// Names of attributes that guards may read, as the sources know them.
fn intern_static(name: Name) -> &'static str {
    name.as_str()
}
