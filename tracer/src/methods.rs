//! Methods of the VM's own types, called in a trace: of objects, lists, tuples, sets and dicts.

use crate::{
    frame::Then,
    recorder::{Recorder, Traced, stop},
    step::{Done, Flow},
    stop,
    value::{Items, Keyword, Kind, SetClass, TupleClass, Value, ViewKind},
};
use std::rc::Rc;
use taipan_frontend::inspect::{self, BuiltinType, Const, Name};

impl Recorder<'_> {
    pub(crate) fn call_method(
        &mut self,
        class: BuiltinType,
        name: Name,
        args: Vec<Value>,
        keywords: Vec<Keyword>,
        then: Then,
    ) -> Traced<Done> {
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
}
