//! Classes of the VM, called in a trace: `list(…)`, `dict(…)`, `range(…)`, `super()` and the rest.

use crate::{
    frame::Then,
    recorder::{Recorder, Traced, stop},
    step::Done,
    stop,
    value::{Items, IteratorValue, Keyword, Kind, SetClass, TupleClass, Value},
};
use std::rc::Rc;
use taipan_frontend::inspect::{self, BuiltinType, Const};

impl Recorder<'_> {
    pub(crate) fn call_builtin_class(&mut self, class: BuiltinType, args: Vec<Value>, keywords: Vec<Keyword>, then: Then) -> Traced<Done> {
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
            // Its `__iter__` may be Python, which a generator steps into.
            (BuiltinType::Enumerate, [v, ..])
                if keywords.is_empty() && matches!(self.kind_of(v)?, Some((_, Kind::Real | Kind::Instance { .. }))) =>
            {
                self.call_polyfill("enumerate", args, then)
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
        self.call_polyfill_with(name, args, vec![], then)
    }

    /// The same with keyword arguments.
    pub(crate) fn call_polyfill_with(&mut self, name: &str, args: Vec<Value>, keywords: Vec<Keyword>, then: Then) -> Traced<Done> {
        match inspect::module_attribute("_taipan_polyfills", self.name(name), self.vm) {
            Some(function) => {
                let function = self.known(function);
                self.call_then(&function, args, keywords, then)
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

    pub(crate) fn dict_update_from(&mut self, dict: crate::value::ObjId, source: &Value) -> Traced<()> {
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
}
