//! Attributes: Python's lookup, step by step, so that every step that was taken leaves its guard.

use crate::{
    frame::Then,
    natives::Native,
    recorder::{Recorder, Traced, Unwind, stop},
    step::{Done, Flow},
    stop,
    value::{Kind, ObjId, Value},
};
use std::rc::Rc;
use taipan_frontend::inspect::{self, BuiltinType, Const, Name};
use taipan_guards::Handle;

/// What a lookup finds before it is bound.
enum Found {
    /// A value.
    Value(Value),
    /// A frame was entered for it.
    Entered,
    /// Nothing.
    Nothing,
}

impl Recorder<'_> {
    pub(crate) fn load_attr(&mut self, arg: usize) -> Traced<Flow> {
        let name = self.code_name(arg >> 1)?;
        let owner = self.pop()?;
        let done = self.get_attribute(&owner, name)?;
        if arg & 1 == 0 {
            return self.push_done(done);
        }
        // The method form pushes the callable and NULL: a bound method stays one object, as good as a pair.
        match done {
            Done::Value(value) => {
                let (callable, receiver) = match self.kind_if_known(&value) {
                    Some(Kind::Method { function, receiver }) => (function, Some(receiver)),
                    _ => (value, None),
                };
                let stack = Rc::make_mut(&mut self.frame_mut().stack);
                stack.push(Some(callable));
                stack.push(receiver);
                Ok(Flow::Next)
            }
            Done::Entered => self.leave_entered("a method found by __getattr__ code"),
        }
    }

    /// Takes back a frame just entered, where its result can't be used.
    fn leave_entered(&mut self, why: &str) -> Traced<Flow> {
        if let Some(frame) = self.frames.last_mut()
            && matches!(frame.then, Then::Push)
        {
            frame.then = Then::PushPair;
            return Ok(Flow::Entered);
        }
        self.frames.pop();
        self.snapshots.truncate(self.frames.len());
        stop(&stop::ATTRIBUTE, why)
    }

    fn kind_if_known(&self, value: &Value) -> Option<Kind> {
        value.id().map(|id| self.kind(id).clone())
    }

    pub(crate) fn store_attr(&mut self, index: usize) -> Traced<Flow> {
        let name = self.code_name(index)?;
        let owner = self.pop()?;
        let value = self.pop()?;
        self.set_attribute(&owner, name, Some(value))
    }

    pub(crate) fn delete_attr(&mut self, index: usize) -> Traced<Flow> {
        let name = self.code_name(index)?;
        let owner = self.pop()?;
        self.set_attribute(&owner, name, None)
    }

    /// `owner.name`.
    pub(crate) fn get_attribute(&mut self, owner: &Value, name: Name) -> Traced<Done> {
        match self.find_attribute(owner, name)? {
            Found::Value(value) => Ok(Done::Value(value)),
            Found::Entered => Ok(Done::Entered),
            Found::Nothing => self.missing_attribute(owner, name),
        }
    }

    /// `getattr(owner, name, default)`.
    pub(crate) fn get_attribute_or(&mut self, owner: &Value, name: Name, default: &Value) -> Traced<Done> {
        match self.find_attribute(owner, name)? {
            Found::Value(value) => Ok(Done::Value(value)),
            Found::Nothing => Ok(Done::Value(default.clone())),
            Found::Entered => self.with_default(default.clone()),
        }
    }

    /// `hasattr(owner, name)`.
    pub(crate) fn has_attribute(&mut self, owner: &Value, name: Name) -> Traced<Done> {
        match self.find_attribute(owner, name)? {
            Found::Value(_) => Ok(Done::Value(Value::bool(true))),
            Found::Nothing => Ok(Done::Value(Value::bool(false))),
            Found::Entered => {
                self.frame_mut().then = Then::HasAttribute;
                Ok(Done::Entered)
            }
        }
    }

    /// The frame just entered for an attribute may raise `AttributeError`, for which the default stands in.
    fn with_default(&mut self, default: Value) -> Traced<Done> {
        self.frame_mut().then = Then::PushOr(default);
        Ok(Done::Entered)
    }

    fn missing_attribute(&mut self, owner: &Value, name: Name) -> Traced<Done> {
        let text = match self.kind_of(owner)? {
            Some((_, Kind::Real)) if self.builtin_type(owner)? == BuiltinType::Module => {
                return stop(&stop::RAISES, format!("no attribute {name}"));
            }
            Some((_, Kind::Real)) if self.is_class_value(owner)? => {
                let handle = self.handle(owner);
                let class = handle.map(|h| inspect::class_name(&self.assume.opaque(&h))).unwrap_or_default();
                format!("type object '{class}' has no attribute '{name}'")
            }
            _ => format!("'{}' object has no attribute '{name}'", self.class_name(owner)),
        };
        self.raise("AttributeError", &text)
    }

    /// `object.__getattribute__(owner, name)`: a lookup of the class's own and `__getattr__` are not asked.
    pub(crate) fn get_attribute_plainly(&mut self, owner: &Value, name: Name) -> Traced<Done> {
        let class = self.class(owner)?;
        let getattr = self.name("__getattr__");
        if self.assume.type_attribute(&class, getattr).is_some() {
            return stop(&stop::ATTRIBUTE, "object.__getattribute__ of an object with __getattr__");
        }
        match self.find_ordinary(owner, &class, name)? {
            Found::Value(value) => Ok(Done::Value(value)),
            Found::Entered => Ok(Done::Entered),
            Found::Nothing => self.missing_attribute(owner, name),
        }
    }

    /// Whether a real object is a class.
    pub(crate) fn is_class_value(&mut self, value: &Value) -> Traced<bool> {
        let value = self.resolve(value)?;
        let Some(id) = value.id() else { return Ok(false) };
        if !matches!(self.kind(id), Kind::Real) {
            return Ok(false);
        }
        match self.builtin_type(&value)? {
            BuiltinType::Type => Ok(true),
            BuiltinType::Other => {
                let class = self.class(&value)?;
                let base = self.known_class(BuiltinType::Type);
                Ok(self.assume.is_subclass(&class, &base))
            }
            _ => Ok(false),
        }
    }

    fn find_attribute(&mut self, owner: &Value, name: Name) -> Traced<Found> {
        let owner = self.resolve(owner)?;
        if let Some(id) = owner.id() {
            match self.kind(id).clone() {
                Kind::Real if self.builtin_type(&owner)? == BuiltinType::Module => return self.find_in_module(id, name),
                Kind::Real if self.is_class_value(&owner)? => return self.find_in_class(&owner, name),
                Kind::Super { after, receiver } => return self.find_super(&after, &receiver, name),
                Kind::Tensor(_) if self.has_native_attribute(&owner, name)? => {
                    if let Some(value) = self.tensor_attribute(&owner, name)? {
                        return Ok(Found::Value(value));
                    }
                }
                Kind::Function(_) | Kind::Method { .. } | Kind::Native { .. } | Kind::Op { .. } => {
                    return match self.function_attribute(&owner, name)? {
                        Some(value) => Ok(Found::Value(value)),
                        None => stop(&stop::ATTRIBUTE, format!("{name} of a function")),
                    };
                }
                Kind::Tuple(items, crate::value::TupleClass::Named(base)) => {
                    let fields = self.registry.overloads(base).find(|e| e.schema.returns.len() == items.len());
                    let at = fields.and_then(|e| e.schema.returns.iter().position(|r| r.name == Some(name.as_str())));
                    if let Some(value) = at.and_then(|i| items.get(i)) {
                        return Ok(Found::Value(value.clone()));
                    }
                }
                Kind::Exception(e) => {
                    if let Some(value) = self.exception_attribute(&e, name) {
                        return Ok(Found::Value(value));
                    }
                }
                _ => {}
            }
        }
        self.find_in_instance(&owner, name)
    }

    /// Whether a tensor's attribute is the one its native class has, not one that a script put there.
    fn has_native_attribute(&mut self, owner: &Value, name: Name) -> Traced<bool> {
        let class = self.class(owner)?;
        Ok(match self.assume.type_attribute(&class, name) {
            Some(found) => self.assume.builtin_type(&found) == BuiltinType::GetSet,
            None => false,
        })
    }

    /// Lookup on an ordinary object: data descriptor, namespace, descriptor, class attribute, `__getattr__`.
    fn find_in_instance(&mut self, owner: &Value, name: Name) -> Traced<Found> {
        let class = self.class(owner)?;
        if !self.is_native_class(&class) && !self.assume.has_ordinary_getattribute(&class) {
            return self.find_by_getattribute(owner, &class, name);
        }
        self.find_ordinary(owner, &class, name)
    }

    fn is_native_class(&self, class: &Handle) -> bool {
        !inspect::is_mutable_class(&self.assume.opaque(class))
    }

    fn find_by_getattribute(&mut self, owner: &Value, class: &Handle, name: Name) -> Traced<Found> {
        let key = self.name("__getattribute__");
        let Some(method) = self.assume.type_attribute(class, key) else { return stop(&stop::ATTRIBUTE, name.as_str()) };
        let function = self.wrap(method);
        if self.builtin_type(&function)? != BuiltinType::Function {
            // A native class with a lookup of its own (`ModuleBase`) looks the ordinary way, only faster.
            if self.is_known_native_lookup(class) {
                return self.find_ordinary(owner, class, name);
            }
            return stop(&stop::ATTRIBUTE, format!("{name} through a native __getattribute__"));
        }
        let getattr = self.name("__getattr__");
        if self.assume.type_attribute(class, getattr).is_some() {
            return stop(&stop::ATTRIBUTE, "__getattribute__ together with __getattr__");
        }
        match self.call_then(&function, vec![owner.clone(), Value::str(name.as_str())], vec![], Then::Push)? {
            Done::Value(value) => Ok(Found::Value(value)),
            Done::Entered => Ok(Found::Entered),
        }
    }

    fn find_ordinary(&mut self, owner: &Value, class: &Handle, name: Name) -> Traced<Found> {
        let found = self.assume.type_attribute(class, name);
        if let Some(descriptor) = &found
            && self.is_data_descriptor(descriptor)?
        {
            return self.bind_descriptor(descriptor, Some(owner), class);
        }
        if let Some(namespace) = owner.id().and_then(|id| self.namespace(id))
            && let Some(value) = self.dict_get_name(namespace, name)?
        {
            return Ok(Found::Value(value));
        }
        if let Some(descriptor) = &found {
            return self.bind_descriptor(descriptor, Some(owner), class);
        }
        let getattr = self.name("__getattr__");
        match self.assume.type_attribute(class, getattr) {
            Some(method) => {
                let function = self.wrap(method);
                match self.call_then(&function, vec![owner.clone(), Value::str(name.as_str())], vec![], Then::Push)? {
                    Done::Value(value) => Ok(Found::Value(value)),
                    Done::Entered => Ok(Found::Entered),
                }
            }
            None => Ok(Found::Nothing),
        }
    }

    /// Lookup on a class: metaclass data descriptor, the class's own MRO, metaclass attribute.
    fn find_in_class(&mut self, owner: &Value, name: Name) -> Traced<Found> {
        let Some(handle) = self.handle(owner) else { return Ok(Found::Nothing) };
        let metaclass = self.assume.class(&handle);
        if !self.is_native_class(&metaclass) && !self.has_type_getattribute(&metaclass) {
            return stop(&stop::ATTRIBUTE, "a metaclass with its own __getattribute__");
        }
        let in_meta = self.assume.type_attribute(&metaclass, name);
        if let Some(descriptor) = &in_meta
            && self.is_data_descriptor(descriptor)?
        {
            return self.bind_descriptor(descriptor, Some(owner), &metaclass);
        }
        if let Some(found) = self.assume.type_attribute(&handle, name) {
            return self.bind_descriptor(&found, None, &handle);
        }
        match in_meta {
            Some(descriptor) => self.bind_descriptor(&descriptor, Some(owner), &metaclass),
            None => {
                let getattr = self.name("__getattr__");
                match self.assume.type_attribute(&metaclass, getattr) {
                    Some(_) => stop(&stop::ATTRIBUTE, "a metaclass with __getattr__"),
                    None => Ok(Found::Nothing),
                }
            }
        }
    }

    fn has_type_getattribute(&mut self, metaclass: &Handle) -> bool {
        let name = self.name("__getattribute__");
        let base = self.known_class(BuiltinType::Type);
        match (self.assume.type_attribute(metaclass, name), self.assume.type_attribute(&base, name)) {
            (Some(a), Some(b)) => {
                self.assume.identity(&a);
                a.address() == b.address()
            }
            _ => false,
        }
    }

    fn find_in_module(&mut self, id: ObjId, name: Name) -> Traced<Found> {
        let class = self.known_class(BuiltinType::Module);
        if let Some(descriptor) = self.assume.type_attribute(&class, name)
            && self.is_data_descriptor(&descriptor)?
        {
            return self.bind_descriptor(&descriptor, Some(&Value::Object(id)), &class);
        }
        let Some(namespace) = self.namespace(id) else { return Ok(Found::Nothing) };
        if let Some(value) = self.dict_get_name(namespace, name)? {
            return Ok(Found::Value(value));
        }
        let getattr = self.name("__getattr__");
        match self.dict_get_name(namespace, getattr)? {
            // A module's `__getattr__` imports; that is for the VM to do.
            Some(_) => stop(&stop::ATTRIBUTE, format!("{name} through a module's __getattr__")),
            None => Ok(Found::Nothing),
        }
    }

    fn find_super(&mut self, after: &Handle, receiver: &Value, name: Name) -> Traced<Found> {
        let (class, owner) = if self.is_class_value(receiver)? {
            let Some(handle) = self.handle(receiver) else { return Ok(Found::Nothing) };
            (handle, None)
        } else {
            (self.class(receiver)?, Some(receiver))
        };
        self.assume.identity(after);
        match self.assume.super_attribute(&class, after, name) {
            Some(found) => match (self.assume.builtin_type(&found), owner) {
                // Named after its descriptor: a lookup on the receiver would find the override that calls `super()`.
                (BuiltinType::MethodDescriptor | BuiltinType::WrapperDescriptor, Some(owner)) => {
                    self.assume.identity(&found);
                    let function = self.wrap(found);
                    Ok(Found::Value(self.make(Kind::Method { function, receiver: owner.clone() })))
                }
                _ => self.bind_descriptor(&found, owner, &class),
            },
            None => Ok(Found::Nothing),
        }
    }

    /// Whether a class attribute goes before the namespace.
    fn is_data_descriptor(&mut self, found: &Handle) -> Traced<bool> {
        Ok(match self.assume.builtin_type(found) {
            BuiltinType::Property | BuiltinType::GetSet | BuiltinType::Member => true,
            BuiltinType::Other => {
                let class = self.assume.class(found);
                let (set, delete) = (self.name("__set__"), self.name("__delete__"));
                self.assume.type_attribute(&class, set).is_some() || self.assume.type_attribute(&class, delete).is_some()
            }
            _ => false,
        })
    }

    /// A class attribute as the attribute of an instance (`owner`) or of the class itself.
    fn bind_descriptor(&mut self, found: &Handle, owner: Option<&Value>, class: &Handle) -> Traced<Found> {
        let value = |v: Value| Ok(Found::Value(v));
        match self.assume.builtin_type(found) {
            BuiltinType::Function => {
                self.assume.identity(found);
                let function = self.wrap(found.clone());
                match owner {
                    Some(owner) => value(self.make(Kind::Method { function, receiver: owner.clone() })),
                    None => value(function),
                }
            }
            BuiltinType::StaticMethod => {
                self.assume.identity(found);
                match self.assume.native(found, "__func__") {
                    Some(function) => value(self.wrap(function)),
                    None => stop(&stop::ATTRIBUTE, "a staticmethod"),
                }
            }
            BuiltinType::ClassMethod => {
                self.assume.identity(found);
                let Some(function) = self.assume.native(found, "__func__") else { return stop(&stop::ATTRIBUTE, "a classmethod") };
                let function = self.wrap(function);
                let receiver = self.wrap(class.clone());
                value(self.make(Kind::Method { function, receiver }))
            }
            BuiltinType::Property => {
                let Some(owner) = owner else { return value(self.wrap(found.clone())) };
                self.assume.identity(found);
                let Some(getter) = self.assume.native(found, "fget") else { return stop(&stop::ATTRIBUTE, "a property without getter") };
                let getter = self.wrap(getter);
                match self.call_then(&getter, vec![owner.clone()], vec![], Then::Push)? {
                    Done::Value(v) => value(v),
                    Done::Entered => Ok(Found::Entered),
                }
            }
            BuiltinType::MethodDescriptor | BuiltinType::WrapperDescriptor | BuiltinType::GetSet | BuiltinType::Member => {
                let native = self.native_of(found)?;
                match (native, owner) {
                    (Some(native), Some(owner)) if native.is_attribute() => self.native_attribute(native, owner).map(Found::Value),
                    (Some(native), owner) => value(self.make(Kind::Native { native, receiver: owner.cloned() })),
                    (None, Some(owner)) => {
                        self.assume.identity(found);
                        let name = self.descriptor_name(found);
                        match self.constant_attribute(owner, name)? {
                            Some(v) => value(v),
                            None => stop(&stop::ATTRIBUTE, self.describe_handle(found)),
                        }
                    }
                    (None, None) => value(self.wrap(found.clone())),
                }
            }
            BuiltinType::ClassMethodDescriptor | BuiltinType::BuiltinFunction | BuiltinType::BuiltinMethod => {
                self.assume.identity(found);
                value(self.wrap(found.clone()))
            }
            BuiltinType::Other => self.bind_other(found, owner, class),
            _ => value(self.wrap(found.clone())),
        }
    }

    fn bind_other(&mut self, found: &Handle, owner: Option<&Value>, class: &Handle) -> Traced<Found> {
        if let Some(op) = self.op_callable(found) {
            return match owner {
                Some(owner) if op.is_method => Ok(Found::Value(self.make(Kind::Op { name: op.name(), receiver: owner.clone() }))),
                _ => Ok(Found::Value(self.wrap(found.clone()))),
            };
        }
        if self.is_cached_function(found) {
            self.assume.identity(found);
            let function = self.wrap(found.clone());
            let bind = |receiver: &Value| Kind::Method { function: function.clone(), receiver: receiver.clone() };
            return Ok(Found::Value(owner.map(bind).map_or(function.clone(), |method| self.make(method))));
        }
        let descriptor_class = self.assume.class(found);
        let get = self.name("__get__");
        let Some(method) = self.assume.type_attribute(&descriptor_class, get) else { return Ok(Found::Value(self.wrap(found.clone()))) };
        let function = self.wrap(method);
        if self.builtin_type(&function)? != BuiltinType::Function {
            return stop(&stop::ATTRIBUTE, format!("a descriptor of type {}", self.describe_handle(&descriptor_class)));
        }
        let descriptor = self.wrap(found.clone());
        let owner = owner.cloned().unwrap_or(Value::NONE);
        let class = self.wrap(class.clone());
        match self.call_then(&function, vec![descriptor, owner, class], vec![], Then::Push)? {
            Done::Value(value) => Ok(Found::Value(value)),
            Done::Entered => Ok(Found::Entered),
        }
    }

    /// What a handle's object is called, for stops.
    pub(crate) fn describe_handle(&self, handle: &Handle) -> String {
        inspect::describe(&self.assume.opaque(handle), self.vm)
    }

    pub(crate) fn load_super_attr(&mut self, arg: usize) -> Traced<Flow> {
        let name = self.code_name(arg >> 2)?;
        let receiver = self.pop()?;
        let class = self.pop()?;
        let _super = self.pop()?;
        let Some(after) = self.handle(&class) else { return stop(&stop::ATTRIBUTE, "super() of a class made while tracing") };
        let done = match self.find_super(&after, &receiver, name)? {
            Found::Value(value) => Done::Value(value),
            Found::Entered => Done::Entered,
            Found::Nothing => {
                let text = format!("'super' object has no attribute '{name}'");
                return self.raise("AttributeError", &text);
            }
        };
        match done {
            Done::Value(value) => {
                self.push(value)?;
                if arg & 1 == 1 {
                    Rc::make_mut(&mut self.frame_mut().stack).push(None);
                }
                Ok(Flow::Next)
            }
            Done::Entered if arg & 1 == 1 => self.leave_entered("a property called through super()"),
            Done::Entered => Ok(Flow::Entered),
        }
    }

    pub(crate) fn load_special(&mut self, which: usize) -> Traced<Flow> {
        let owner = self.pop()?;
        let Some(method) = ["__enter__", "__exit__"].get(which) else { return stop(&stop::OPCODE, "async with") };
        let class = self.class(&owner)?;
        let name = self.name(method);
        let Some(found) = self.assume.type_attribute(&class, name) else { return stop(&stop::RAISES, format!("no {method}")) };
        let function = self.wrap(found.clone());
        if self.builtin_type(&function)? != BuiltinType::Function {
            return stop(&stop::CALL, format!("with {}", self.class_name(&owner)));
        }
        self.assume.identity(&found);
        let stack = Rc::make_mut(&mut self.frame_mut().stack);
        stack.push(Some(function));
        stack.push(Some(owner));
        Ok(Flow::Next)
    }

    /// `owner.name = value`, or `del owner.name`.
    pub(crate) fn set_attribute(&mut self, owner: &Value, name: Name, value: Option<Value>) -> Traced<Flow> {
        let owner = self.resolve(owner)?;
        let Some(id) = owner.id() else { return stop(&stop::RAISES, "an attribute of a constant is written") };
        match self.kind(id).clone() {
            Kind::Instance { .. } | Kind::Exception(_) => {}
            Kind::Real if self.is_class_value(&owner)? => return stop(&stop::MUTATION, "an attribute of a class"),
            Kind::Real => match self.builtin_type(&owner)? {
                BuiltinType::Other => {}
                BuiltinType::Module => return self.store_in_namespace(&owner, name, value),
                _ => return stop(&stop::MUTATION, format!("{name} of {}", self.class_name(&owner))),
            },
            Kind::Tensor(_) => return self.set_tensor_attribute(&owner, name, value),
            _ => return stop(&stop::MUTATION, format!("{name} of {}", self.class_name(&owner))),
        }
        let class = self.class(&owner)?;
        let method = if value.is_some() { "__setattr__" } else { "__delattr__" };
        let key = self.name(method);
        let Some(setter) = self.assume.type_attribute(&class, key) else { return stop(&stop::MUTATION, method) };
        let function = self.wrap(setter.clone());
        if self.builtin_type(&function)? == BuiltinType::Function {
            self.assume.identity(&setter);
            let mut args = vec![owner, Value::str(name.as_str())];
            args.extend(value);
            return match self.call_then(&function, args, vec![], Then::Discard)? {
                Done::Entered => Ok(Flow::Entered),
                Done::Value(_) => Ok(Flow::Next),
            };
        }
        if !self.is_object_method(&function, method) && !self.is_known_native_lookup(&class) {
            return stop(&stop::MUTATION, format!("{method} of {}", self.class_name(&owner)));
        }
        self.set_attribute_plainly(&owner, name, value)
    }

    /// What `object.__setattr__` and `object.__delattr__` do.
    pub(crate) fn set_attribute_plainly(&mut self, owner: &Value, name: Name, value: Option<Value>) -> Traced<Flow> {
        let class = self.class(owner)?;
        if let Some(found) = self.assume.type_attribute(&class, name)
            && self.is_data_descriptor(&found)?
        {
            return self.set_through_descriptor(&found, owner, name, value);
        }
        self.store_in_namespace(owner, name, value)
    }

    fn set_through_descriptor(&mut self, found: &Handle, owner: &Value, name: Name, value: Option<Value>) -> Traced<Flow> {
        self.assume.identity(found);
        if self.assume.builtin_type(found) == BuiltinType::Property {
            let part = if value.is_some() { "fset" } else { "fdel" };
            if let Some(setter) = self.assume.native(found, part) {
                let setter = self.wrap(setter);
                if !self.is_const(&setter, &Const::None)? {
                    let mut args = vec![owner.clone()];
                    args.extend(value);
                    return match self.call_then(&setter, args, vec![], Then::Discard)? {
                        Done::Entered => Ok(Flow::Entered),
                        Done::Value(_) => Ok(Flow::Next),
                    };
                }
            }
            return stop(&stop::RAISES, format!("property {name} can't be set"));
        }
        stop(&stop::MUTATION, format!("{name} through a descriptor"))
    }

    fn store_in_namespace(&mut self, owner: &Value, name: Name, value: Option<Value>) -> Traced<Flow> {
        let Some(namespace) = owner.id().and_then(|id| self.namespace(id)) else {
            return stop(&stop::MUTATION, format!("{name} of an object without namespace"));
        };
        if value.is_none() && self.dict_get_name(namespace, name)?.is_none() {
            let text = format!("'{}' object has no attribute '{name}'", self.class_name(owner));
            return self.raise("AttributeError", &text);
        }
        self.dict_set_name(namespace, name, value)?;
        Ok(Flow::Next)
    }

    fn exception_attribute(&mut self, e: &crate::value::ExceptionValue, name: Name) -> Option<Value> {
        match name.as_str() {
            "args" => Some(self.tuple(e.args.clone())),
            "__cause__" => Some(e.cause.clone().unwrap_or(Value::NONE)),
            _ => None,
        }
    }

    /// A native method or attribute behind a descriptor of the VM's own types, by identity.
    pub(crate) fn native_of(&mut self, found: &Handle) -> Traced<Option<Native>> {
        let object = self.assume.opaque(found);
        let native = Native::of(&object, self.vm);
        if native.is_some() {
            self.assume.identity(found);
        }
        Ok(native)
    }

    /// The name a native descriptor has.
    fn descriptor_name(&mut self, found: &Handle) -> Name {
        let object = self.assume.opaque(found);
        let name = inspect::native_attribute(&object, "__name__", self.vm).and_then(|n| inspect::constant(&n, self.vm));
        match name {
            Some(Const::Str(s)) => self.name(&s),
            _ => self.name(""),
        }
    }

    /// Attributes of functions, methods and natives that are known without running code.
    fn function_attribute(&mut self, owner: &Value, name: Name) -> Traced<Option<Value>> {
        let Some((id, kind)) = self.kind_of(owner)? else { return Ok(None) };
        Ok(match (kind, name.as_str()) {
            (Kind::Method { function, .. }, "__func__") => Some(function),
            (Kind::Method { receiver, .. }, "__self__") => Some(receiver),
            (Kind::Method { function, .. }, _) => match self.get_attribute(&function, name)? {
                Done::Value(value) => Some(value),
                Done::Entered => return Err(Unwind::Break(stop::Stop::new(&stop::ATTRIBUTE, name.as_str()))),
            },
            (Kind::Function(f), "__name__") => Some(Value::str(f.info.meta.name.as_str())),
            (Kind::Function(f), "__qualname__") => Some(Value::str(f.info.meta.qualified_name.as_str())),
            (Kind::Function(f), "__defaults__") => Some(f.defaults.clone().unwrap_or(Value::NONE)),
            (Kind::Function(_), "__dict__") => self.namespace(id).map(Value::Object),
            (Kind::Function(_), _) => match self.namespace(id) {
                Some(namespace) => self.dict_get_name(namespace, name)?,
                None => None,
            },
            _ => None,
        })
    }
}
