//! Calls: who is called, with what, and the frame it runs in.

use crate::{
    frame::{Frame, Then},
    natives::Native,
    recorder::{Recorder, Traced, stop},
    step::{Done, Flow},
    stop,
    value::{FunctionValue, Items, Keyword, Kind, TupleClass, Value},
};
use std::rc::Rc;
use taipan_frontend::{
    code::CodeInfo,
    inspect::{self, BuiltinType, Const},
    torch::torch_type,
};
use taipan_guards::Handle;

/// Frames deeper than this are not traced.
const DEPTH: usize = 60;

/// A Python function to be entered.
struct Callee {
    info: Rc<CodeInfo>,
    globals: Value,
    builtins: Value,
    defaults: Vec<Value>,
    keyword_defaults: Vec<(Value, Value)>,
    closure: Vec<Value>,
}

impl Recorder<'_> {
    pub(crate) fn call_op(&mut self, n: usize) -> Traced<Flow> {
        let mut args = self.pop_args(n)?;
        let callable = self.pop()?;
        if let Some(receiver) = args.0.take() {
            args.1.insert(0, receiver);
        }
        let done = self.call(&callable, args.1, vec![])?;
        self.push_done(done)
    }

    /// Arguments and the maybe-NULL receiver below them.
    fn pop_args(&mut self, n: usize) -> Traced<(Option<Value>, Vec<Value>)> {
        let args = self.pop_many(n)?;
        let receiver = self.pop_maybe();
        Ok((receiver, args))
    }

    pub(crate) fn call_kw(&mut self, n: usize) -> Traced<Flow> {
        let names = self.pop()?;
        let Some((_, Kind::Tuple(names, _))) = self.kind_of(&names)? else { return stop(&stop::OPCODE, "CALL_KW") };
        let (receiver, mut args) = self.pop_args(n)?;
        let callable = self.pop()?;
        let values = args.split_off(args.len() - names.len());
        let mut keywords = vec![];
        for (name, value) in names.iter().zip(values) {
            let name = self.text(name)?.unwrap_or_default();
            keywords.push((self.name(&name), value));
        }
        if let Some(receiver) = receiver {
            args.insert(0, receiver);
        }
        let done = self.call(&callable, args, keywords)?;
        self.push_done(done)
    }

    pub(crate) fn call_function_ex(&mut self) -> Traced<Flow> {
        let keywords = self.pop_maybe();
        let args = self.pop()?;
        let receiver = self.pop_maybe();
        let callable = self.pop()?;
        let mut args = self.iterate(&args)?;
        if let Some(receiver) = receiver {
            args.insert(0, receiver);
        }
        let mut named = vec![];
        if let Some(keywords) = keywords {
            let Some((id, Kind::Dict(_) | Kind::RealDict(_))) = self.kind_of(&keywords)? else {
                return stop(&stop::CALL, "** of something that is no dict");
            };
            for (key, value) in self.dict_items(id)? {
                match self.text(&key)? {
                    Some(key) => named.push((self.name(&key), value)),
                    None => return stop(&stop::RAISES, "keywords must be strings"),
                }
            }
        }
        let done = self.call(&callable, args, named)?;
        self.push_done(done)
    }

    pub(crate) fn call_intrinsic(&mut self, which: u32) -> Traced<Flow> {
        let value = self.pop()?;
        let done = match which {
            5 => self.unary_method("__pos__", &value)?,
            6 => {
                let items = self.iterate(&value)?;
                Done::Value(self.tuple(items))
            }
            _ => return stop(&stop::OPCODE, format!("CALL_INTRINSIC_1 {which}")),
        };
        self.push_done(done)
    }

    /// `callable(*args, **keywords)`, whose result is pushed.
    pub(crate) fn call(&mut self, callable: &Value, args: Vec<Value>, keywords: Vec<Keyword>) -> Traced<Done> {
        self.call_then(callable, args, keywords, Then::Push)
    }

    /// `callable(*args, **keywords)`; a Python function's result goes where `then` says.
    pub(crate) fn call_then(&mut self, callable: &Value, mut args: Vec<Value>, keywords: Vec<Keyword>, then: Then) -> Traced<Done> {
        let callable = self.resolve(callable)?;
        let Some(id) = callable.id() else { return stop(&stop::RAISES, "a constant is called") };
        match self.kind(id).clone() {
            Kind::Method { function, receiver } => {
                args.insert(0, receiver);
                self.call_then(&function, args, keywords, then)
            }
            Kind::Function(f) => {
                let callee = self.traced_callee(&f)?;
                self.enter(callee, args, keywords, then)
            }
            Kind::Native { native, receiver } => {
                if let Some(receiver) = receiver {
                    args.insert(0, receiver);
                }
                self.call_native(native, args, keywords, then)
            }
            Kind::Op { name, receiver } => {
                args.insert(0, receiver);
                self.call_op_method(name, args, keywords)
            }
            Kind::Instance { .. } => self.call_object(&callable, args, keywords, then),
            Kind::Real => self.call_real(&callable, args, keywords, then),
            _ => stop(&stop::CALL, self.class_name(&callable)),
        }
    }

    fn call_real(&mut self, callable: &Value, args: Vec<Value>, keywords: Vec<Keyword>, then: Then) -> Traced<Done> {
        let Some(handle) = self.handle(callable) else { return stop(&stop::CALL, "an object without handle") };
        match self.assume.builtin_type(&handle) {
            BuiltinType::Function => {
                if self.is_disabled(callable)? {
                    return stop(&stop::DISABLED, self.describe_handle(&handle));
                }
                let callee = self.real_callee(&handle)?;
                self.enter(callee, args, keywords, then)
            }
            BuiltinType::Type => self.call_class(callable, &handle, args, keywords, then),
            BuiltinType::BuiltinFunction | BuiltinType::BuiltinMethod | BuiltinType::MethodDescriptor | BuiltinType::WrapperDescriptor => {
                if self.is_method_of_constant(&handle) {
                    let method = self.assume.pinned(&handle);
                    return self.fold_call(&method, &args, &keywords);
                }
                match self.native_of(&handle)? {
                    Some(native) => self.call_native(native, args, keywords, then),
                    None => stop(&stop::CALL, self.describe_handle(&handle)),
                }
            }
            BuiltinType::Other => {
                if let Some(op) = self.op_callable(&handle) {
                    return self.call_torch(&op, args, keywords);
                }
                if self.is_cached_function(&handle) {
                    return self.call_cached(callable, &args, &keywords);
                }
                if self.is_partial(&handle) {
                    return self.call_partial(&handle, args, keywords, then);
                }
                if self.is_class_value(callable)? {
                    return self.call_class(callable, &handle, args, keywords, then);
                }
                self.call_object(callable, args, keywords, then)
            }
            _ => stop(&stop::CALL, self.describe_handle(&handle)),
        }
    }

    /// Whether an object is a method bound to a frozenset of constants, such as `keyword.iskeyword`: what it answers depends on nothing else.
    fn is_method_of_constant(&mut self, handle: &Handle) -> bool {
        let receiver = inspect::native_attribute(&self.assume.opaque(handle), "__self__", self.vm);
        receiver.is_some_and(|receiver| inspect::is_constant_frozenset(&receiver, self.vm))
    }

    /// An object with `__call__`.
    fn call_object(&mut self, callable: &Value, mut args: Vec<Value>, keywords: Vec<Keyword>, then: Then) -> Traced<Done> {
        if self.is_plain_function(callable) {
            return stop(&stop::DISABLED, "a function wrapped by disable()");
        }
        if let Some(wrapped) = self.compiled_target(callable)? {
            // Inside a region the target is traced like any function.
            return self.call_then(&wrapped, args, keywords, then);
        }
        let class = self.class(callable)?;
        let name = self.name("__call__");
        let Some(method) = self.assume.type_attribute(&class, name) else {
            return stop(&stop::CALL, format!("'{}' object is not callable", self.class_name(callable)));
        };
        let function = self.wrap(method);
        if self.builtin_type(&function)? != BuiltinType::Function {
            return stop(&stop::CALL, format!("an object of type {}", self.class_name(callable)));
        }
        args.insert(0, callable.clone());
        self.call_then(&function, args, keywords, then)
    }

    /// A method of a value's class: `len(x)` calls `__len__`. The value's own namespace is not asked.
    pub(crate) fn call_special(&mut self, method: &str, owner: &Value, mut args: Vec<Value>, then: Then) -> Traced<Done> {
        let class = self.class(owner)?;
        let name = self.name(method);
        let Some(found) = self.assume.type_attribute(&class, name) else {
            return stop(&stop::OPERATOR, format!("'{}' object has no {method}", self.class_name(owner)));
        };
        let function = self.wrap(found.clone());
        args.insert(0, owner.clone());
        match self.builtin_type(&function)? {
            BuiltinType::Function => {
                self.assume.identity(&found);
                self.call_then(&function, args, vec![], then)
            }
            _ => stop(&stop::OPERATOR, format!("{method} of {}", self.class_name(owner))),
        }
    }

    /// `class(*args)`.
    fn call_class(&mut self, value: &Value, class: &Handle, args: Vec<Value>, keywords: Vec<Keyword>, then: Then) -> Traced<Done> {
        let address = self.assume.identity(class);
        if let Some(native) = Native::of_class(address, self.vm) {
            return self.call_native(native, args, keywords, then);
        }
        if torch_type::makes_constant(&self.assume.opaque(class), self.vm) {
            return self.call_constant_class(class, &args, &keywords);
        }
        let metaclass = self.assume.class(class);
        let type_class = self.known_class(BuiltinType::Type);
        if metaclass.address() != type_class.address() && !self.has_type_call(&metaclass) {
            return stop(&stop::CALL, format!("a class with a metaclass: {}", self.describe_handle(class)));
        }
        let (new_name, init_name) = (self.name("__new__"), self.name("__init__"));
        let (Some(new), Some(init)) = (self.assume.type_attribute(class, new_name), self.assume.type_attribute(class, init_name)) else {
            return stop(&stop::CALL, self.describe_handle(class));
        };
        let base_exception = inspect::builtin_exception("BaseException", self.vm).map(|o| self.assume.known(o));
        if let Some(base) = base_exception
            && self.assume.is_subclass(class, &base)
        {
            return self.make_exception(class, &init, args, keywords, then);
        }
        let new = self.wrap(new);
        if !self.is_object_new(&new)? {
            return self.call_new(value, &new, args, keywords, then);
        }
        let instance = self.make(Kind::Instance { class: class.clone() });
        let own_init = self.wrap(init.clone());
        if self.is_object_method(&own_init, "__init__") && (!args.is_empty() || !keywords.is_empty()) {
            let text = format!("{}() takes no arguments", inspect::class_name(&self.assume.opaque(class)));
            return self.raise("TypeError", &text);
        }
        if !matches!(then, Then::Push) {
            return stop(&stop::CALL, "a class called by a protocol");
        }
        self.initialise(value, instance, args, keywords)
    }

    /// Whether a metaclass leaves calling its classes to `type`, as `ABCMeta` does.
    fn has_type_call(&mut self, metaclass: &Handle) -> bool {
        let name = self.name("__call__");
        let base = self.known_class(BuiltinType::Type);
        match (self.assume.type_attribute(metaclass, name), self.assume.type_attribute(&base, name)) {
            (Some(found), Some(plain)) => {
                self.assume.identity(&found);
                found.address() == plain.address()
            }
            _ => false,
        }
    }

    /// A class whose `__new__` is a script's: that is called first.
    fn call_new(&mut self, class: &Value, new: &Value, args: Vec<Value>, keywords: Vec<Keyword>, then: Then) -> Traced<Done> {
        let function = match self.builtin_type(new)? {
            BuiltinType::StaticMethod => match self.handle(new).and_then(|h| self.assume.native(&h, "__func__")) {
                Some(function) => self.wrap(function),
                None => return stop(&stop::CALL, "a class with its own __new__"),
            },
            BuiltinType::Function => new.clone(),
            _ => return stop(&stop::CALL, format!("a class with a native __new__: {}", self.class_name(new))),
        };
        if !matches!(then, Then::Push) {
            return stop(&stop::CALL, "a class called by a protocol");
        }
        let mut all = vec![class.clone()];
        all.extend(args.iter().cloned());
        let after = Then::New { class: class.clone(), args, keywords: keywords.clone() };
        match self.call_then(&function, all, keywords.clone(), after)? {
            Done::Entered => Ok(Done::Entered),
            Done::Value(_) => stop(&stop::CALL, "a __new__ that is no function"),
        }
    }

    /// `__init__` of what `__new__` made, where that is an instance of the class.
    pub(crate) fn initialise(&mut self, class: &Value, instance: Value, args: Vec<Value>, keywords: Vec<Keyword>) -> Traced<Done> {
        let Some(wanted) = self.handle(class) else { return stop(&stop::CALL, "a class made while tracing") };
        let own = self.class(&instance)?;
        if !self.assume.is_subclass(&own, &wanted) {
            return Ok(Done::Value(instance));
        }
        let name = self.name("__init__");
        let Some(init) = self.assume.type_attribute(&own, name) else { return Ok(Done::Value(instance)) };
        let init = self.wrap(init);
        if self.builtin_type(&init)? == BuiltinType::Function {
            let mut all = vec![instance.clone()];
            all.extend(args);
            return self.finish_init(&init, all, keywords, instance, Then::Push);
        }
        if self.is_object_method(&init, "__init__") || self.is_module_base_method(&init, "__init__") {
            return Ok(Done::Value(instance));
        }
        stop(&stop::CALL, format!("a class with a native __init__: {}", self.describe_handle(&wanted)))
    }

    fn finish_init(&mut self, init: &Value, args: Vec<Value>, keywords: Vec<Keyword>, instance: Value, then: Then) -> Traced<Done> {
        // The new object takes the place of __init__'s None; another continuation would need both.
        if !matches!(then, Then::Push) {
            return stop(&stop::CALL, "a class called by a protocol");
        }
        match self.call_then(init, args, keywords, Then::Init(instance.clone()))? {
            Done::Entered => Ok(Done::Entered),
            Done::Value(_) => Ok(Done::Value(instance)),
        }
    }

    fn make_exception(&mut self, class: &Handle, init: &Handle, args: Vec<Value>, keywords: Vec<Keyword>, then: Then) -> Traced<Done> {
        let exception = crate::value::ExceptionValue { class: class.clone(), args: args.clone().into(), cause: None };
        let instance = self.make(Kind::Exception(Rc::new(exception)));
        let init = self.wrap(init.clone());
        if self.builtin_type(&init)? == BuiltinType::Function {
            let mut all = vec![instance.clone()];
            all.extend(args);
            return self.finish_init(&init, all, keywords, instance, then);
        }
        if !keywords.is_empty() {
            return stop(&stop::CALL, "an exception with keyword arguments");
        }
        Ok(Done::Value(instance))
    }

    fn is_object_new(&mut self, new: &Value) -> Traced<bool> {
        let Some(handle) = self.handle(new) else { return Ok(false) };
        Ok(self.native_of(&handle)? == Some(Native::ObjectNew)
            || {
                let object = self.known_class(BuiltinType::Object);
                let name = self.name("__new__");
                match self.assume.type_attribute(&object, name) {
                    Some(own) => {
                        self.assume.identity(&handle);
                        own.address() == handle.address()
                    }
                    None => false,
                }
            }
            || self.is_module_base_method(new, "__new__"))
    }

    fn traced_callee(&mut self, f: &FunctionValue) -> Traced<Callee> {
        let tuple = |recorder: &mut Self, value: &Option<Value>| -> Traced<Vec<Value>> {
            match value {
                Some(v) => match recorder.kind_of(v)? {
                    Some((_, Kind::Tuple(items, _))) => Ok(items.to_vec()),
                    _ => stop(&stop::CALL, "a function with unusual parts"),
                },
                None => Ok(vec![]),
            }
        };
        let defaults = tuple(self, &f.defaults)?;
        let closure = tuple(self, &f.closure)?;
        let keyword_defaults = match &f.keyword_defaults {
            Some(v) => match self.kind_of(v)? {
                Some((id, Kind::Dict(_))) => self.dict_items(id)?,
                _ => return stop(&stop::CALL, "a function with unusual parts"),
            },
            None => vec![],
        };
        Ok(Callee { info: f.info.clone(), globals: f.globals.clone(), builtins: f.builtins.clone(), defaults, keyword_defaults, closure })
    }

    /// The parts of a real function. Where it was found among the attributes of classes and modules it is assumed to stay the same
    /// object; elsewhere only its code and the parts that are used are.
    fn real_callee(&mut self, handle: &Handle) -> Traced<Callee> {
        let Some(info) = self.assume.function_code(handle) else { return stop(&stop::CALL, "a function that no compiler made") };
        let part = |recorder: &mut Self, name| recorder.assume.native(handle, name).map(|h| recorder.wrap(h));
        let (Some(globals), Some(builtins)) = (part(self, "__globals__"), part(self, "__builtins__")) else {
            return stop(&stop::CALL, "a function without globals");
        };
        let mut lists = vec![];
        for name in ["__defaults__", "__closure__"] {
            let value = part(self, name).unwrap_or(Value::NONE);
            lists.push(match self.kind_of(&value)? {
                Some((_, Kind::Tuple(items, _))) => items.to_vec(),
                _ => vec![],
            });
        }
        let closure = lists.pop().unwrap_or_default();
        let defaults = lists.pop().unwrap_or_default();
        let keyword_defaults = match part(self, "__kwdefaults__") {
            Some(v) => match self.kind_of(&v)? {
                Some((id, Kind::RealDict(_) | Kind::Dict(_))) => self.dict_items(id)?,
                _ => vec![],
            },
            None => vec![],
        };
        Ok(Callee { info, globals, builtins, defaults, keyword_defaults, closure })
    }

    /// Pushes the frame of a Python function.
    fn enter(&mut self, callee: Callee, args: Vec<Value>, keywords: Vec<Keyword>, then: Then) -> Traced<Done> {
        if callee.info.is_coroutine() {
            return stop(&stop::GENERATOR, callee.info.meta.qualified_name.as_str());
        }
        if self.frames.len() >= DEPTH {
            return stop(&stop::RECURSION, callee.info.meta.qualified_name.as_str());
        }
        let Some(mut slots) = self.bind(&callee, args, keywords)? else {
            return stop(&stop::RAISES, format!("wrong arguments for {}()", callee.info.meta.qualified_name));
        };
        let info = callee.info;
        for cell in &info.meta.cell_variables {
            if let Some(at) = info.slots.iter().position(|n| std::ptr::eq(*n, *cell)) {
                let contents = slots[at].take();
                slots[at] = Some(self.make(Kind::Cell(contents)));
            }
        }
        let handled = self.frames.last().and_then(|f| f.handled.clone());
        let frame = Frame {
            pc: info.start,
            slots: Rc::new(slots),
            stack: Rc::new(vec![]),
            globals: callee.globals,
            builtins: callee.builtins,
            handled,
            then,
            generator: None,
            info,
        };
        if frame.info.is_generator() {
            return self.make_generator(frame);
        }
        self.push_frame(frame);
        Ok(Done::Entered)
    }

    /// Arguments in their slots, free variables filled in; `None` for an ill-formed call.
    fn bind(&mut self, callee: &Callee, args: Vec<Value>, keywords: Vec<Keyword>) -> Traced<Option<Vec<Option<Value>>>> {
        let meta = &callee.info.meta;
        let (positional, keyword_only) = (meta.positional as usize, meta.keyword_only as usize);
        let total = positional + keyword_only;
        let mut slots: Vec<Option<Value>> = vec![None; callee.info.slots.len()];
        let given = args.len();
        let mut args = args.into_iter();
        for slot in slots.iter_mut().take(positional.min(given)) {
            *slot = args.next();
        }
        let rest: Vec<Value> = args.collect();
        let mut at = total;
        if callee.info.has_varargs() {
            slots[at] = Some(self.tuple(rest));
            at += 1;
        } else if !rest.is_empty() {
            return Ok(None);
        }
        let mut extra = Items::new();
        for (name, value) in keywords {
            let parameter = (meta.positional_only as usize..total).find(|i| std::ptr::eq(meta.variables[*i], name));
            match parameter {
                Some(i) if slots[i].is_some() => return Ok(None),
                Some(i) => slots[i] = Some(value),
                None if callee.info.has_varkeywords() => {
                    let key = Value::str(name.as_str());
                    let dict_key = self.dict_key(&key)?;
                    extra.insert(dict_key, (key, value));
                }
                None => return Ok(None),
            }
        }
        if callee.info.has_varkeywords() {
            slots[at] = Some(self.make(Kind::Dict(Rc::new(extra))));
        }
        let first = positional.saturating_sub(callee.defaults.len());
        for (i, slot) in slots.iter_mut().enumerate().take(positional) {
            if slot.is_none() {
                match i.checked_sub(first).and_then(|d| callee.defaults.get(d)) {
                    Some(value) => *slot = Some(value.clone()),
                    None => return Ok(None),
                }
            }
        }
        for (i, slot) in slots.iter_mut().enumerate().take(total).skip(positional) {
            if slot.is_none() {
                let name = meta.variables[i];
                let mut found = None;
                for (key, value) in &callee.keyword_defaults {
                    if self.text(key)?.as_deref() == Some(name.as_str()) {
                        found = Some(value.clone());
                    }
                }
                match found {
                    Some(value) => *slot = Some(value),
                    None => return Ok(None),
                }
            }
        }
        let free = slots.len() - meta.free_variables.len();
        if callee.closure.len() < meta.free_variables.len() {
            return Ok(None);
        }
        for (i, cell) in callee.closure.iter().enumerate().take(meta.free_variables.len()) {
            slots[free + i] = Some(cell.clone());
        }
        Ok(Some(slots))
    }

    /// Puts a frame on the stack of frames.
    pub(crate) fn push_frame(&mut self, frame: Frame) {
        self.snapshots.push((frame.snapshot(), self.mark()));
        self.frames.push(frame);
    }

    /// Keywords as a lookup by name.
    pub(crate) fn keyword(keywords: &[Keyword], name: &str) -> Option<Value> {
        keywords.iter().find(|(n, _)| n.as_str() == name).map(|(_, v)| v.clone())
    }

    /// `tuple` or `torch.Size`, for results that keep their class.
    pub(crate) fn tuple_of(&mut self, items: Vec<Value>, class: TupleClass) -> Value {
        self.make(Kind::Tuple(items.into(), class))
    }

    /// Whether a value is the constant `True`.
    pub(crate) fn flag(&mut self, value: Option<Value>, default: bool) -> Traced<bool> {
        match value {
            None => Ok(default),
            Some(v) => match self.constant(&v)? {
                Some(Const::Bool(b)) => Ok(b),
                Some(Const::Int(i)) => Ok(i != 0),
                Some(Const::None) => Ok(false),
                _ => stop(&stop::CALL, "a flag that isn't known"),
            },
        }
    }
}
