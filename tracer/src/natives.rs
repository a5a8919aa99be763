//! Native functions, methods and classes of the VM, recognised by what they are, and what a call of each does in a trace.
//!
//! A native that isn't here is a break with the reason `call`. Folding on the real VM happens only for exact constants.

use crate::{
    frame::Then,
    recorder::{Recorder, Traced, stop},
    step::{Done, Flow},
    stop,
    value::{Keyword, Kind, TupleClass, Value},
};
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

/// The VM's own built-in function or class of this name, unless the script has put something else in its place.
pub(crate) fn own_builtin(name: &str, vm: &Vm) -> Option<Object> {
    let object = inspect::builtin(name, vm)?;
    let is_own = match Native::of(&object, vm) {
        Some(Native::Builtin(own)) => own.as_str() == name,
        _ => inspect::is_class(&object) && !inspect::is_mutable_class(&object) && inspect::class_name(&object) == name,
    };
    is_own.then_some(object)
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
            if !matches!(then, Then::Push) {
                return stop(&stop::GENERATOR, "in a built-in function that a protocol calls");
            }
            return self.collect(generator, native, args[1..].to_vec(), keywords);
        }
        if let Some(count) = self.python_iterables(native, &args)?
            && let Some(function) = self.native_value(native)
        {
            let mut all = vec![Value::int(count as i64), function];
            all.extend(args);
            return self.call_polyfill_with("over_iterators", all, keywords, then);
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

    /// How many of the first arguments a built-in function asks for iterators, where one of them answers by Python code.
    fn python_iterables(&mut self, native: Native, args: &[Value]) -> Traced<Option<usize>> {
        let count = match native {
            Native::Builtin(name) if matches!(name.as_str(), "sum" | "any" | "all" | "sorted") => 1,
            // With one argument they go through it, with more they compare.
            Native::Builtin(name) if matches!(name.as_str(), "min" | "max") && args.len() == 1 => 1,
            Native::Class(BuiltinType::List | BuiltinType::Tuple | BuiltinType::Set | BuiltinType::FrozenSet) => 1,
            Native::Class(BuiltinType::Zip) => args.len(),
            _ => 0,
        };
        for value in args.iter().take(count) {
            if self.iterates_by_python(value)? {
                return Ok(Some(count));
            }
        }
        Ok(None)
    }

    /// Whether the class of an object has an `__iter__` written in Python.
    pub(crate) fn iterates_by_python(&mut self, value: &Value) -> Traced<bool> {
        if !matches!(self.kind_of(value)?, Some((_, Kind::Real | Kind::Instance { .. }))) {
            return Ok(false);
        }
        let (class, name) = (self.class(value)?, self.name("__iter__"));
        let Some(found) = self.assume.type_attribute(&class, name) else { return Ok(false) };
        Ok(self.assume.builtin_type(&found) == BuiltinType::Function)
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
            ("reversed", [_]) => self.call_builtin_class(BuiltinType::Reversed, args, keywords, then),
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
    pub(crate) fn protocol_then(&mut self, then: Then, run: impl FnOnce(&mut Self) -> Traced<Done>) -> Traced<Done> {
        match run(self)? {
            Done::Entered if !matches!(then, Then::Push) => {
                self.frames.pop();
                self.snapshots.truncate(self.frames.len());
                stop(&stop::CALL, "a protocol inside another")
            }
            done => Ok(done),
        }
    }

    pub(crate) fn attribute_name(&mut self, value: &Value) -> Traced<Name> {
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

    pub(crate) fn next(&mut self, iterator: &Value, default: Option<&Value>) -> Traced<Done> {
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

    pub(crate) fn sorted(&mut self, value: &Value, keywords: &[Keyword]) -> Traced<Done> {
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
        let Some(function) = own_builtin(name.as_str(), self.vm) else { return stop(&stop::CALL, name.as_str()) };
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
    fn is_instance(&mut self, value: &Value, class: &Value) -> Traced<bool> {
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
        if self.assume.is_subclass(&own, &wanted) {
            return Ok(true);
        }
        self.check_class_told(&own)?;
        Ok(false)
    }

    /// An object whose class has a `__class__` of its own may be an instance of what that says, too.
    pub(crate) fn check_class_told(&mut self, own: &taipan_guards::Handle) -> Traced<()> {
        let name = self.name("__class__");
        let object = self.known_class(BuiltinType::Object);
        let (told, default) = (self.assume.type_attribute(own, name), self.assume.type_attribute(&object, name));
        match told.zip(default) {
            Some((told, default)) if told.address() == default.address() => Ok(()),
            _ => stop(&stop::CALL, "isinstance of an object with a __class__ of its own"),
        }
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
