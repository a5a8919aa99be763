//! Iteration: iterators made while tracing, and loops over them.

use crate::{
    frame::Then,
    recorder::{Recorder, Traced, stop},
    step::{Done, Flow},
    stop,
    value::{IteratorValue, Kind, ObjId, Value, ViewKind},
};
use std::rc::Rc;
use taipan_frontend::{
    code::{Instruction, Opcode},
    inspect::{BuiltinType, Const},
};

/// Loops longer than this are not unrolled by built-in functions.
const LONGEST: usize = 1 << 14;

impl Recorder<'_> {
    pub(crate) fn get_iter(&mut self) -> Traced<Flow> {
        let value = self.pop()?;
        let done = self.iterator(&value)?;
        self.push_done(done)
    }

    /// `iter(value)`.
    pub(crate) fn iterator(&mut self, value: &Value) -> Traced<Done> {
        let value = self.resolve(value)?;
        let id = match &value {
            Value::Const(Const::Str(s)) => {
                let items: Vec<Value> = s.chars().map(|c| Value::str(&c.to_string())).collect();
                return Ok(Done::Value(self.items_iterator(items, BuiltinType::StrIterator, Some(value.clone()))));
            }
            Value::Const(c) => {
                let text = format!("'{}' object is not iterable", c.type_name());
                return self.raise("TypeError", &text);
            }
            Value::Object(id) => *id,
        };
        let kind = match self.kind(id).clone() {
            Kind::List(_) => IteratorValue::List { list: id, next: Some(0) },
            Kind::Tuple(items, _) => IteratorValue::Items { items, next: 0, class: BuiltinType::TupleIterator, over: Some(value.clone()) },
            Kind::Range([next, stop, step]) => IteratorValue::Range { next, stop, step },
            Kind::Dict(_) | Kind::RealDict(_) => return self.dict_iterator(id, ViewKind::Keys).map(Done::Value),
            Kind::View(dict, kind) => return self.dict_iterator(dict, kind).map(Done::Value),
            Kind::Set(items, _) => {
                if items.len() > 1 {
                    return stop(&stop::ITERATION, "the order of a set");
                }
                let items: Rc<[Value]> = items.values().map(|(k, _)| k.clone()).collect();
                IteratorValue::Items { items, next: 0, class: BuiltinType::SetIterator, over: Some(value.clone()) }
            }
            Kind::Tensor(t) => {
                let Some(n) = t.facts.dims.first().and_then(|d| d.known()) else {
                    return self.raise("TypeError", "iteration over a 0-d tensor");
                };
                let _ = n;
                let parts = self.unbind(&value)?;
                return Ok(Done::Value(self.items_iterator(parts, BuiltinType::TupleIterator, None)));
            }
            Kind::Iterator(_) | Kind::Generator(_) => return Ok(Done::Value(value)),
            Kind::Instance { .. } => return self.call_special("__iter__", &value, vec![], Then::Push),
            Kind::Real => {
                return match self.builtin_type(&value)? {
                    BuiltinType::Other if self.has_python_methods(&value)? => self.call_special("__iter__", &value, vec![], Then::Push),
                    _ => stop(&stop::ITERATION, self.class_name(&value)),
                };
            }
            _ => return stop(&stop::ITERATION, self.class_name(&value)),
        };
        Ok(Done::Value(self.make(Kind::Iterator(Rc::new(kind)))))
    }

    /// An iterator over known items.
    pub(crate) fn items_iterator(&mut self, items: Vec<Value>, class: BuiltinType, over: Option<Value>) -> Value {
        self.make(Kind::Iterator(Rc::new(IteratorValue::Items { items: items.into(), next: 0, class, over })))
    }

    pub(crate) fn dict_iterator(&mut self, dict: ObjId, kind: ViewKind) -> Traced<Value> {
        let items = self.dict_items(dict)?.into();
        Ok(self.make(Kind::Iterator(Rc::new(IteratorValue::Dict { dict, kind, items, next: 0 }))))
    }

    /// The next item of an iterator made while tracing; `None` where it is exhausted.
    pub(crate) fn advance(&mut self, id: ObjId) -> Traced<Option<Value>> {
        let Kind::Iterator(iterator) = self.kind(id).clone() else { return stop(&stop::ITERATION, "an iterator that exists already") };
        let (item, after) = match (*iterator).clone() {
            IteratorValue::List { list, next } => {
                let Kind::List(items) = self.kind(list).clone() else { return stop(&stop::ITERATION, "a list that changed its kind") };
                match next.and_then(|i| items.get(i).map(|v| (i, v.clone()))) {
                    Some((i, v)) => (Some(v), IteratorValue::List { list, next: Some(i + 1) }),
                    None => (None, IteratorValue::List { list, next: None }),
                }
            }
            IteratorValue::Items { items, next, class, over } => match items.get(next).cloned() {
                Some(v) => (Some(v), IteratorValue::Items { items, next: next + 1, class, over }),
                None => return Ok(None),
            },
            IteratorValue::Range { next, stop, step } => {
                if if step > 0 { next >= stop } else { next <= stop } {
                    return Ok(None);
                }
                (Some(Value::int(next)), IteratorValue::Range { next: next + step, stop, step })
            }
            IteratorValue::Dict { dict, kind, items, next } => {
                if self.dict_len(dict)? != items.len() {
                    return self.raise("RuntimeError", "dictionary changed size during iteration");
                }
                let Some((key, value)) = items.get(next).cloned() else { return Ok(None) };
                let item = match kind {
                    ViewKind::Keys => key,
                    ViewKind::Values => value,
                    ViewKind::Items => self.tuple(vec![key, value]),
                };
                (Some(item), IteratorValue::Dict { dict, kind, items, next: next + 1 })
            }
            IteratorValue::Enumerate { inner, count } => match self.advance(inner)? {
                Some(v) => {
                    let pair = self.tuple(vec![Value::int(count), v]);
                    (Some(pair), IteratorValue::Enumerate { inner, count: count + 1 })
                }
                None => return Ok(None),
            },
            IteratorValue::Zip { inner, strict } => {
                let mut items = vec![];
                for (i, it) in inner.iter().enumerate() {
                    match self.advance(*it)? {
                        Some(v) => items.push(v),
                        None if strict && (i > 0 || inner.len() > 1) => return self.zip_ended(&inner, i),
                        None => return Ok(None),
                    }
                }
                if inner.is_empty() {
                    return Ok(None);
                }
                let tuple = self.tuple(items);
                (Some(tuple), IteratorValue::Zip { inner, strict })
            }
        };
        self.learn(id, Kind::Iterator(Rc::new(after)));
        Ok(item)
    }

    /// A strict zip ended at its iterator `at`: fine if all end together.
    fn zip_ended(&mut self, inner: &[ObjId], at: usize) -> Traced<Option<Value>> {
        if at == 0 {
            for it in &inner[1..] {
                if self.advance(*it)?.is_some() {
                    return stop(&stop::RAISES, "zip() arguments of different lengths");
                }
            }
            return Ok(None);
        }
        stop(&stop::RAISES, "zip() arguments of different lengths")
    }

    pub(crate) fn for_iter(&mut self, instruction: &Instruction) -> Traced<Flow> {
        let iterator = self.peek(0)?;
        let iterator = self.resolve(&iterator)?;
        let Some(id) = iterator.id() else { return stop(&stop::OPCODE, "FOR_ITER") };
        match self.kind(id).clone() {
            Kind::Iterator(_) => match self.advance(id)? {
                Some(value) => self.push(value),
                None => self.exhausted(instruction),
            },
            Kind::Generator(_) => match self.resume_generator(id, Value::NONE, Then::Next)? {
                Some(()) => Ok(Flow::Entered),
                None => self.exhausted(instruction),
            },
            Kind::Instance { .. } => self.next_of_object(&iterator),
            Kind::Real if self.has_python_methods(&iterator)? => self.next_of_object(&iterator),
            _ => stop(&stop::ITERATION, self.class_name(&iterator)),
        }
    }

    fn next_of_object(&mut self, iterator: &Value) -> Traced<Flow> {
        match self.call_special("__next__", iterator, vec![], Then::Next)? {
            Done::Value(value) => self.push(value),
            Done::Entered => Ok(Flow::Entered),
        }
    }

    /// Where a loop goes on when its iterator is exhausted: behind END_FOR, the iterator still on the stack.
    pub(crate) fn exhausted(&mut self, instruction: &Instruction) -> Traced<Flow> {
        let Some(target) = instruction.target else { return stop(&stop::OPCODE, "FOR_ITER without target") };
        let end = self.frame().info.program.instructions.get(target).is_some_and(|i| i.op == Opcode::EndFor);
        Ok(Flow::Jump(if end { target + 1 } else { target }))
    }

    /// All items of an iterable of a built-in kind.
    pub(crate) fn iterate(&mut self, value: &Value) -> Traced<Vec<Value>> {
        let value = self.resolve(value)?;
        if let Some((_, kind)) = self.kind_of(&value)? {
            match kind {
                Kind::List(items) => return Ok(items.to_vec()),
                Kind::Tuple(items, _) => return Ok(items.to_vec()),
                Kind::Set(items, _) => return Ok(items.values().map(|(k, _)| k.clone()).collect()),
                _ => {}
            }
        }
        match self.iterator(&value)? {
            Done::Value(iterator) => {
                let Some(id) = iterator.id() else { return stop(&stop::ITERATION, "an iterator") };
                let mut items = vec![];
                while let Some(item) = self.advance(id)? {
                    items.push(item);
                    if items.len() > LONGEST {
                        return stop(&stop::BUDGET, "a long iterable");
                    }
                }
                Ok(items)
            }
            Done::Entered => {
                self.frames.pop();
                self.snapshots.truncate(self.frames.len());
                stop(&stop::ITERATION, format!("{} in a built-in function", self.class_name(&value)))
            }
        }
    }

    /// The same for unpacking, where a tensor is split along its first dim.
    pub(crate) fn iterate_or_unbind(&mut self, value: &Value) -> Traced<Vec<Value>> {
        if self.tensor(value)?.is_some() {
            return self.unbind(value);
        }
        self.iterate(value)
    }
}
