//! Lists, tuples, dicts, sets, slices and strings: building, reading and writing them.

use crate::{
    frame::Then,
    recorder::{Recorder, Traced, stop},
    step::{Done, Flow},
    stop,
    value::{DictKey, Items, Kind, ObjId, OverlayItem, SetClass, Value, ViewKind},
};
use std::rc::Rc;
use taipan_frontend::inspect::{BuiltinType, Const, Name, Pin};
use taipan_guards::{Handle, Key, ObjectKey};

impl Recorder<'_> {
    pub(crate) fn build_tuple(&mut self, n: usize) -> Traced<Flow> {
        let items = self.pop_many(n)?;
        let value = self.tuple(items);
        self.push(value)
    }

    pub(crate) fn build_list(&mut self, n: usize) -> Traced<Flow> {
        let items = self.pop_many(n)?;
        let value = self.list(items);
        self.push(value)
    }

    pub(crate) fn build_map(&mut self, n: usize) -> Traced<Flow> {
        let flat = self.pop_many(2 * n)?;
        let mut items = Items::new();
        for pair in flat.chunks(2) {
            let key = self.dict_key(&pair[0])?;
            insert(&mut items, key, &pair[0], &pair[1]);
        }
        let value = self.make(Kind::Dict(Rc::new(items)));
        self.push(value)
    }

    pub(crate) fn build_set(&mut self, n: usize) -> Traced<Flow> {
        let items = self.pop_many(n)?;
        let value = self.make_set(&items, SetClass::Set)?;
        self.push(value)
    }

    /// A set of these elements.
    pub(crate) fn make_set(&mut self, elements: &[Value], class: SetClass) -> Traced<Value> {
        let mut items = Items::new();
        for element in elements {
            let key = self.dict_key(element)?;
            insert(&mut items, key, element, &Value::NONE);
        }
        Ok(self.make(Kind::Set(Rc::new(items), class)))
    }

    pub(crate) fn build_slice(&mut self, n: usize) -> Traced<Flow> {
        let mut parts = self.pop_many(n)?;
        parts.resize(3, Value::NONE);
        let value = self.make_slice(parts)?;
        self.push(value)
    }

    pub(crate) fn make_slice(&mut self, parts: Vec<Value>) -> Traced<Value> {
        match <[Value; 3]>::try_from(parts) {
            Ok(parts) => Ok(self.make(Kind::Slice(Rc::new(parts)))),
            Err(_) => stop(&stop::OPCODE, "a slice of more than three parts"),
        }
    }

    /// The container `depth` places below the top, as comprehension opcodes address it.
    fn container_below(&mut self, depth: usize) -> Traced<ObjId> {
        match self.peek(depth.saturating_sub(1))?.id() {
            Some(id) => Ok(id),
            None => stop(&stop::OPCODE, "a comprehension without its container"),
        }
    }

    pub(crate) fn list_append(&mut self, depth: usize) -> Traced<Flow> {
        let item = self.pop()?;
        let id = self.container_below(depth)?;
        let Kind::List(items) = self.kind(id).clone() else { return stop(&stop::OPCODE, "LIST_APPEND") };
        let mut items = (*items).clone();
        items.push(item);
        self.write(id, Kind::List(Rc::new(items)));
        Ok(Flow::Next)
    }

    pub(crate) fn list_extend(&mut self, depth: usize) -> Traced<Flow> {
        let source = self.pop()?;
        let more = self.iterate(&source)?;
        let id = self.container_below(depth)?;
        let Kind::List(items) = self.kind(id).clone() else { return stop(&stop::OPCODE, "LIST_EXTEND") };
        let mut items = (*items).clone();
        items.extend(more);
        self.write(id, Kind::List(Rc::new(items)));
        Ok(Flow::Next)
    }

    pub(crate) fn set_add(&mut self, depth: usize) -> Traced<Flow> {
        let item = self.pop()?;
        let id = self.container_below(depth)?;
        self.set_insert(id, &[item])?;
        Ok(Flow::Next)
    }

    pub(crate) fn set_update(&mut self, depth: usize) -> Traced<Flow> {
        let source = self.pop()?;
        let more = self.iterate(&source)?;
        let id = self.container_below(depth)?;
        self.set_insert(id, &more)?;
        Ok(Flow::Next)
    }

    /// Adds elements to a set made while tracing.
    pub(crate) fn set_insert(&mut self, id: ObjId, elements: &[Value]) -> Traced<()> {
        let Kind::Set(items, class) = self.kind(id).clone() else { return stop(&stop::OPCODE, "a set was expected") };
        let mut items = (*items).clone();
        for element in elements {
            let key = self.dict_key(element)?;
            if !items.contains_key(&key) {
                items.insert(key, (element.clone(), Value::NONE));
            }
        }
        self.write(id, Kind::Set(Rc::new(items), class));
        Ok(())
    }

    /// `a | b` and its relatives on known sets.
    pub(crate) fn set_operator(&mut self, method: &str, a: &Value, b: &Value, in_place: bool) -> Traced<Done> {
        let (Some((id, Kind::Set(x, class))), Some((_, Kind::Set(y, _)))) = (self.kind_of(a)?, self.kind_of(b)?) else {
            return stop(&stop::OPERATOR, "a set operator on something else");
        };
        let mut items = (*x).clone();
        match method {
            "__or__" => y.iter().for_each(|(k, v)| {
                items.entry(k.clone()).or_insert_with(|| v.clone());
            }),
            "__and__" => items.retain(|k, _| y.contains_key(k)),
            "__sub__" => items.retain(|k, _| !y.contains_key(k)),
            "__xor__" => {
                items.retain(|k, _| !y.contains_key(k));
                y.iter().filter(|(k, _)| !x.contains_key(*k)).for_each(|(k, v)| {
                    items.insert(k.clone(), v.clone());
                });
            }
            _ => return stop(&stop::OPERATOR, method),
        }
        let kind = Kind::Set(Rc::new(items), class);
        if in_place && class == SetClass::Set {
            self.write(id, kind);
            return Ok(Done::Value(a.clone()));
        }
        Ok(Done::Value(self.make(kind)))
    }

    pub(crate) fn map_add(&mut self, depth: usize) -> Traced<Flow> {
        let value = self.pop()?;
        let key = self.pop()?;
        let id = self.container_below(depth)?;
        self.dict_set(id, &key, Some(value))?;
        Ok(Flow::Next)
    }

    pub(crate) fn dict_update(&mut self, depth: usize, merge: bool) -> Traced<Flow> {
        let source = self.pop()?;
        let id = self.container_below(depth)?;
        self.dict_merge(id, &source, merge)?;
        Ok(Flow::Next)
    }

    /// Copies the items of a dict into another. `unique`: a key that is there already is an error of a call.
    pub(crate) fn dict_merge(&mut self, id: ObjId, source: &Value, unique: bool) -> Traced<()> {
        let Some((from, Kind::Dict(_) | Kind::RealDict(_))) = self.kind_of(source)? else {
            return stop(&stop::OPERATOR, format!("merging {} into a dict", self.class_name(source)));
        };
        for (key, value) in self.dict_items(from)? {
            let dict_key = self.dict_key(&key)?;
            if unique && self.dict_get(id, &dict_key)?.is_some() {
                return stop(&stop::RAISES, "a keyword given twice");
            }
            self.dict_set(id, &key, Some(value))?;
        }
        Ok(())
    }

    /// The key a value is in dicts and sets; a break where hashing it would run code.
    pub(crate) fn dict_key(&mut self, value: &Value) -> Traced<DictKey> {
        let value = self.resolve(value)?;
        let id = match &value {
            Value::Const(c) => return Ok(DictKey::Const(normal(c))),
            Value::Object(id) => *id,
        };
        match self.kind(id).clone() {
            Kind::Tuple(items, _) => Ok(DictKey::Tuple(items.iter().map(|i| self.dict_key(i)).collect::<Traced<_>>()?)),
            Kind::Tensor(_) | Kind::Function(_) => Ok(DictKey::Object(id)),
            Kind::Real => match self.builtin_type(&value)? {
                BuiltinType::Function | BuiltinType::Type | BuiltinType::Module | BuiltinType::BuiltinFunction => {
                    self.pin(id);
                    Ok(DictKey::Object(id))
                }
                BuiltinType::Other if self.hashes_by_identity(&value)? => {
                    self.pin(id);
                    Ok(DictKey::Object(id))
                }
                _ => stop(&stop::OPERATOR, format!("hashing {}", self.class_name(&value))),
            },
            Kind::Instance { .. } if self.hashes_by_identity(&value)? => Ok(DictKey::Object(id)),
            Kind::List(_) | Kind::Dict(_) | Kind::RealDict(_) | Kind::Set(_, SetClass::Set) => {
                let class = self.class_name(&value);
                self.raise("TypeError", &format!("unhashable type: '{class}'"))
            }
            _ => stop(&stop::OPERATOR, format!("hashing {}", self.class_name(&value))),
        }
    }

    /// Assumes the identity of a real object.
    fn pin(&mut self, id: ObjId) {
        if let Some(handle) = self.item(id).handle.clone() {
            self.assume.identity(&handle);
        }
    }

    fn hashes_by_identity(&mut self, value: &Value) -> Traced<bool> {
        let class = self.class(value)?;
        for method in ["__hash__", "__eq__"] {
            let name = self.name(method);
            match self.assume.type_attribute(&class, name) {
                Some(found) => {
                    let function = self.wrap(found);
                    if !self.is_object_method(&function, method) && !self.is_tensor_hash(&function)? {
                        return Ok(false);
                    }
                }
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// The value under a name in a dict.
    pub(crate) fn dict_get_name(&mut self, dict: ObjId, name: Name) -> Traced<Option<Value>> {
        self.dict_get(dict, &DictKey::Const(Const::Str(name.as_str().into())))
    }

    /// Sets or deletes a name in a dict.
    pub(crate) fn dict_set_name(&mut self, dict: ObjId, name: Name, value: Option<Value>) -> Traced<()> {
        self.dict_set(dict, &Value::str(name.as_str()), value)
    }

    /// The value under a key.
    pub(crate) fn dict_get(&mut self, dict: ObjId, key: &DictKey) -> Traced<Option<Value>> {
        match self.kind(dict).clone() {
            Kind::Dict(items) => Ok(items.get(key).map(|(_, v)| v.clone())),
            Kind::RealDict(overlay) => {
                if let Some(change) = overlay.get(key) {
                    return Ok(change.value.clone());
                }
                let Some(handle) = self.item(dict).handle.clone() else { return stop(&stop::REBUILD, "a dict without its object") };
                Ok(self.key_of_real(key)?.and_then(|key| self.assume.dict_item(&handle, &key)).map(|h| self.wrap(h)))
            }
            _ => stop(&stop::OPERATOR, "a dict was expected"),
        }
    }

    /// Whether a real set or frozenset holds a key.
    pub(crate) fn real_set_holds(&mut self, set: &Handle, item: &Value) -> Traced<bool> {
        let key = self.dict_key(item)?;
        Ok(self.key_of_real(&key)?.is_some_and(|key| self.assume.dict_item(set, &key).is_some()))
    }

    /// A key for a real dict or set; `None` for an object that didn't exist before the trace, which can't be in one.
    fn key_of_real(&self, key: &DictKey) -> Traced<Option<Key>> {
        match key {
            DictKey::Const(c) => Ok(Some(Key::new(c, self.vm))),
            // Its identity was assumed when it was made a key.
            DictKey::Object(id) => {
                let pinned = |key: &Handle| Key::Object(ObjectKey(Pin::new(&self.assume.opaque(key), self.vm)));
                Ok(self.item(*id).handle.as_ref().map(pinned))
            }
            DictKey::Tuple(_) => stop(&stop::OPERATOR, "a real dict or set asked for a tuple"),
        }
    }

    /// Sets a key, or deletes it where `value` is `None`.
    pub(crate) fn dict_set(&mut self, dict: ObjId, key: &Value, value: Option<Value>) -> Traced<()> {
        let dict_key = self.dict_key(key)?;
        match self.kind(dict).clone() {
            Kind::Dict(items) => {
                let mut items = (*items).clone();
                match value {
                    Some(value) => insert(&mut items, dict_key, key, &value),
                    None => {
                        items.shift_remove(&dict_key);
                    }
                }
                self.write(dict, Kind::Dict(Rc::new(items)));
            }
            Kind::RealDict(overlay) => {
                if matches!(dict_key, DictKey::Tuple(_)) {
                    return stop(&stop::MUTATION, "a real dict written by a tuple");
                }
                let mut overlay = (*overlay).clone();
                let key = key.clone();
                let deleted_before = overlay.get(&dict_key).is_some_and(|c| c.value.is_none());
                if value.is_some() && deleted_before {
                    overlay.shift_remove(&dict_key);
                }
                let anew = deleted_before || overlay.get(&dict_key).is_some_and(|c| c.anew);
                overlay.insert(dict_key, OverlayItem { key, value, anew });
                self.write(dict, Kind::RealDict(Rc::new(overlay)));
            }
            _ => return stop(&stop::MUTATION, "a dict was expected"),
        }
        Ok(())
    }

    /// The items in order.
    pub(crate) fn dict_items(&mut self, dict: ObjId) -> Traced<Vec<(Value, Value)>> {
        match self.kind(dict).clone() {
            Kind::Dict(items) => Ok(items.values().cloned().collect()),
            Kind::RealDict(overlay) => {
                let Some(handle) = self.item(dict).handle.clone() else { return stop(&stop::REBUILD, "a dict without its object") };
                let Some(real) = self.assume.dict_items(&handle) else {
                    return stop(&stop::OPERATOR, "a real dict with keys that are no constants");
                };
                let mut items = Items::new();
                for (key, handle) in real {
                    let Some(key) = key.as_const().map(Value::Const) else {
                        return stop(&stop::OPERATOR, "a real dict with keys that are no constants");
                    };
                    let value = self.wrap(handle);
                    let dict_key = self.dict_key(&key)?;
                    items.insert(dict_key, (key, value));
                }
                for (key, change) in overlay.iter() {
                    if change.value.is_none() || change.anew {
                        items.shift_remove(key);
                    }
                    if let Some(value) = &change.value {
                        insert(&mut items, key.clone(), &change.key, value);
                    }
                }
                Ok(items.into_values().collect())
            }
            _ => stop(&stop::OPERATOR, "a dict was expected"),
        }
    }

    /// Number of items.
    pub(crate) fn dict_len(&mut self, dict: ObjId) -> Traced<usize> {
        match self.kind(dict).clone() {
            Kind::RealDict(overlay) if overlay.is_empty() => match self.item(dict).handle.clone().and_then(|h| self.assume.length(&h)) {
                Some(n) => Ok(n),
                None => stop(&stop::OPERATOR, "the length of a dict"),
            },
            _ => Ok(self.dict_items(dict)?.len()),
        }
    }

    /// A new dict with the same items.
    pub(crate) fn dict_copy(&mut self, dict: &Value) -> Traced<Value> {
        let Some((id, Kind::Dict(_) | Kind::RealDict(_))) = self.kind_of(dict)? else {
            return stop(&stop::OPERATOR, "a dict was expected");
        };
        let mut items = Items::new();
        for (key, value) in self.dict_items(id)? {
            let dict_key = self.dict_key(&key)?;
            items.insert(dict_key, (key, value));
        }
        Ok(self.make(Kind::Dict(Rc::new(items))))
    }

    /// What a view shows, as values.
    pub(crate) fn dict_view_items(&mut self, dict: ObjId, kind: ViewKind) -> Traced<Vec<Value>> {
        let items = self.dict_items(dict)?;
        Ok(match kind {
            ViewKind::Keys => items.into_iter().map(|(k, _)| k).collect(),
            ViewKind::Values => items.into_iter().map(|(_, v)| v).collect(),
            ViewKind::Items => items.into_iter().map(|(k, v)| self.tuple(vec![k, v])).collect(),
        })
    }

    /// `container[key]`.
    pub(crate) fn subscript(&mut self, container: &Value, key: &Value) -> Traced<Done> {
        let container = self.resolve(container)?;
        let id = match &container {
            Value::Const(c) => return self.subscript_const(c, key),
            Value::Object(id) => *id,
        };
        match self.kind(id).clone() {
            Kind::Tensor(_) => self.index_tensor(&container, key).map(Done::Value),
            Kind::Tuple(items, class) => match self.item_or_slice(&items, key, "tuple")? {
                Picked::One(value) => Ok(Done::Value(value)),
                Picked::Many(items) => Ok(Done::Value(self.make(Kind::Tuple(items.into(), class)))),
            },
            Kind::List(items) => match self.item_or_slice(&items, key, "list")? {
                Picked::One(value) => Ok(Done::Value(value)),
                Picked::Many(items) => Ok(Done::Value(self.list(items))),
            },
            Kind::Dict(_) | Kind::RealDict(_) => {
                let dict_key = self.dict_key(key)?;
                match self.dict_get(id, &dict_key)? {
                    Some(value) => Ok(Done::Value(value)),
                    None => self.raise_with("KeyError", Rc::new([key.clone()])),
                }
            }
            Kind::Range(parts) => self.subscript_range(parts, key).map(Done::Value),
            Kind::Instance { .. } => self.call_special("__getitem__", &container, vec![key.clone()], Then::Push),
            Kind::Real if self.builtin_type(&container)? == BuiltinType::Type => stop(&stop::CALL, "a subscripted class"),
            Kind::Real => self.call_special("__getitem__", &container, vec![key.clone()], Then::Push),
            _ => stop(&stop::OPERATOR, format!("[] on {}", self.class_name(&container))),
        }
    }

    fn subscript_const(&mut self, c: &Const, key: &Value) -> Traced<Done> {
        if let Const::Str(s) = c {
            let chars: Vec<Value> = s.chars().map(|c| Value::str(&c.to_string())).collect();
            return match self.item_or_slice(&chars, key, "string")? {
                Picked::One(value) => Ok(Done::Value(value)),
                Picked::Many(items) => {
                    let mut text = String::new();
                    for item in &items {
                        text.push_str(&self.text(item)?.unwrap_or_default());
                    }
                    Ok(Done::Value(Value::str(&text)))
                }
            };
        }
        stop(&stop::RAISES, format!("[] on {}", c.type_name()))
    }

    fn subscript_range(&mut self, [start, end, step]: [i64; 3], key: &Value) -> Traced<Value> {
        let n = range_len(start, end, step);
        if let Some(i) = self.integer(key)? {
            let at = if i < 0 { i + n } else { i };
            if at < 0 || at >= n {
                return self.raise("IndexError", "range object index out of range");
            }
            return Ok(Value::int(start + at * step));
        }
        let parts = self.slice_parts(key)?;
        let (first, last, stride) = slice_bounds(parts, n);
        Ok(self.make(Kind::Range([start + first * step, start + last * step, step * stride])))
    }

    /// One item of a sequence, or the items of a slice.
    fn item_or_slice(&mut self, items: &[Value], key: &Value, what: &str) -> Traced<Picked> {
        let n = items.len() as i64;
        if let Some((_, Kind::Slice(_))) = self.kind_of(key)? {
            let parts = self.slice_parts(key)?;
            let (start, end, step) = slice_bounds(parts, n);
            let mut picked = vec![];
            let mut i = start;
            while if step > 0 { i < end } else { i > end } {
                picked.push(items[i as usize].clone());
                i += step;
            }
            return Ok(Picked::Many(picked));
        }
        let Some(i) = self.index_integer(key)? else {
            let class = self.class_name(key);
            return stop(&stop::RAISES, format!("{what} indices must be integers or slices, not {class}"));
        };
        let at = if i < 0 { i + n } else { i };
        match usize::try_from(at).ok().and_then(|at| items.get(at)) {
            Some(value) => Ok(Picked::One(value.clone())),
            None => self.raise("IndexError", &format!("{what} index out of range")),
        }
    }

    /// The integer a value is as an index.
    pub(crate) fn index_integer(&mut self, value: &Value) -> Traced<Option<i64>> {
        if self.tensor(value)?.is_some() {
            return stop(&stop::DATA_DEPENDENT, "a tensor as an index");
        }
        self.integer(value)
    }

    /// Start, stop and step of a slice.
    pub(crate) fn slice_parts(&mut self, slice: &Value) -> Traced<[Option<i64>; 3]> {
        let Some((_, Kind::Slice(parts))) = self.kind_of(slice)? else { return stop(&stop::OPERATOR, "a slice was expected") };
        let mut out = [None; 3];
        for (out, part) in out.iter_mut().zip(parts.iter()) {
            if self.is_none(part)? {
                continue;
            }
            match self.index_integer(part)? {
                Some(i) => *out = Some(i),
                None => return stop(&stop::RAISES, "slice indices must be integers or None or have an __index__ method"),
            }
        }
        if out[2] == Some(0) {
            return self.raise("ValueError", "slice step cannot be zero");
        }
        Ok(out)
    }

    pub(crate) fn binary_slice(&mut self) -> Traced<Flow> {
        let end = self.pop()?;
        let start = self.pop()?;
        let container = self.pop()?;
        let slice = self.make_slice(vec![start, end, Value::NONE])?;
        let done = self.subscript(&container, &slice)?;
        self.push_done(done)
    }

    pub(crate) fn store_slice(&mut self) -> Traced<Flow> {
        let end = self.pop()?;
        let start = self.pop()?;
        let container = self.pop()?;
        let value = self.pop()?;
        let slice = self.make_slice(vec![start, end, Value::NONE])?;
        self.store_item(&container, &slice, Some(value))
    }

    pub(crate) fn store_subscr(&mut self) -> Traced<Flow> {
        let key = self.pop()?;
        let container = self.pop()?;
        let value = self.pop()?;
        self.store_item(&container, &key, Some(value))
    }

    pub(crate) fn delete_subscr(&mut self) -> Traced<Flow> {
        let key = self.pop()?;
        let container = self.pop()?;
        self.store_item(&container, &key, None)
    }

    /// `container[key] = value`, or `del container[key]`.
    pub(crate) fn store_item(&mut self, container: &Value, key: &Value, value: Option<Value>) -> Traced<Flow> {
        let container = self.resolve(container)?;
        let Some(id) = container.id() else { return stop(&stop::RAISES, "item assignment on a constant") };
        match self.kind(id).clone() {
            Kind::Dict(_) | Kind::RealDict(_) => {
                let dict_key = self.dict_key(key)?;
                if value.is_none() && self.dict_get(id, &dict_key)?.is_none() {
                    return self.raise_with("KeyError", Rc::new([key.clone()]));
                }
                self.dict_set(id, key, value)?;
                Ok(Flow::Next)
            }
            Kind::List(items) => self.store_list_item(id, &items, key, value),
            Kind::Tensor(_) => match value {
                Some(value) => self.store_tensor_item(&container, key, &value),
                None => stop(&stop::RAISES, "deleting an item of a tensor"),
            },
            Kind::Instance { .. } | Kind::Real => {
                let (method, args) = match value {
                    Some(value) => ("__setitem__", vec![key.clone(), value]),
                    None => ("__delitem__", vec![key.clone()]),
                };
                match self.call_special(method, &container, args, Then::Discard)? {
                    Done::Entered => Ok(Flow::Entered),
                    Done::Value(_) => Ok(Flow::Next),
                }
            }
            _ => stop(&stop::MUTATION, format!("item assignment on {}", self.class_name(&container))),
        }
    }

    fn store_list_item(&mut self, id: ObjId, items: &[Value], key: &Value, value: Option<Value>) -> Traced<Flow> {
        let n = items.len() as i64;
        let mut items = items.to_vec();
        if let Some((_, Kind::Slice(_))) = self.kind_of(key)? {
            let parts = self.slice_parts(key)?;
            let (start, end, step) = slice_bounds(parts, n);
            if step != 1 {
                return stop(&stop::MUTATION, "an extended slice of a list");
            }
            let new = match &value {
                Some(value) => self.iterate(value)?,
                None => vec![],
            };
            items.splice(start as usize..end.max(start) as usize, new);
        } else {
            let Some(i) = self.index_integer(key)? else { return stop(&stop::RAISES, "list indices must be integers or slices") };
            let at = if i < 0 { i + n } else { i };
            if at < 0 || at >= n {
                return self.raise("IndexError", "list assignment index out of range");
            }
            match value {
                Some(value) => items[at as usize] = value,
                None => {
                    items.remove(at as usize);
                }
            }
        }
        self.write(id, Kind::List(Rc::new(items)));
        Ok(Flow::Next)
    }

    pub(crate) fn get_len(&mut self) -> Traced<Flow> {
        let value = self.peek(0)?;
        match self.length(&value)? {
            Done::Value(n) => self.push(n),
            Done::Entered => stop(&stop::OPCODE, "a pattern on an object with __len__"),
        }
    }

    pub(crate) fn match_sequence(&mut self) -> Traced<Flow> {
        let value = self.peek(0)?;
        let is = matches!(self.builtin_type(&value)?, BuiltinType::List | BuiltinType::Tuple | BuiltinType::Range);
        if !is && self.has_python_methods(&value)? {
            return stop(&stop::OPCODE, "a sequence pattern on an object");
        }
        self.push(Value::bool(is))
    }

    pub(crate) fn match_mapping(&mut self) -> Traced<Flow> {
        let value = self.peek(0)?;
        let is = self.builtin_type(&value)? == BuiltinType::Dict;
        if !is && self.has_python_methods(&value)? {
            return stop(&stop::OPCODE, "a mapping pattern on an object");
        }
        self.push(Value::bool(is))
    }

    /// MATCH_KEYS: a tuple of the values under the keys on top of the stack, `None` where one is missing.
    pub(crate) fn match_keys(&mut self) -> Traced<Flow> {
        let (keys, subject) = (self.peek(0)?, self.peek(1)?);
        let Some((id, Kind::Dict(_) | Kind::RealDict(_))) = self.kind_of(&subject)? else {
            return stop(&stop::OPCODE, "a mapping pattern on something else than a dict");
        };
        let mut seen = vec![];
        let mut values = vec![];
        for key in self.iterate(&keys)? {
            let key = self.dict_key(&key)?;
            if seen.contains(&key) {
                return stop(&stop::RAISES, "a mapping pattern with a key twice");
            }
            match self.dict_get(id, &key)? {
                Some(value) => values.push(value),
                None => return self.push(Value::NONE),
            }
            seen.push(key);
        }
        let values = self.tuple(values);
        self.push(values)
    }

    /// `len(value)`.
    pub(crate) fn length(&mut self, value: &Value) -> Traced<Done> {
        let value = self.resolve(value)?;
        let id = match &value {
            Value::Const(Const::Str(s)) => return Ok(Done::Value(Value::int(s.chars().count() as i64))),
            Value::Const(Const::Bytes(b)) => return Ok(Done::Value(Value::int(b.len() as i64))),
            Value::Const(c) => {
                let text = format!("object of type '{}' has no len()", c.type_name());
                return self.raise("TypeError", &text);
            }
            Value::Object(id) => *id,
        };
        let n = match self.kind(id).clone() {
            Kind::Tuple(items, _) => items.len(),
            Kind::List(items) => items.len(),
            Kind::Dict(_) | Kind::RealDict(_) => self.dict_len(id)?,
            Kind::View(dict, _) => self.dict_len(dict)?,
            Kind::Set(items, _) => items.len(),
            Kind::Range([start, end, step]) => range_len(start, end, step) as usize,
            Kind::Tensor(t) => match t.facts.dims.first() {
                Some(d) => d.known().unwrap_or(0) as usize,
                None => return self.raise("TypeError", "len() of a 0-d tensor"),
            },
            Kind::Instance { .. } | Kind::Real => return self.call_special("__len__", &value, vec![], Then::Push),
            _ => return stop(&stop::OPERATOR, format!("len of {}", self.class_name(&value))),
        };
        Ok(Done::Value(Value::int(n as i64)))
    }
}

/// What a subscript of a sequence picks.
pub enum Picked {
    /// One item.
    One(Value),
    /// The items of a slice.
    Many(Vec<Value>),
}

/// Number of values of a range.
pub fn range_len(start: i64, end: i64, step: i64) -> i64 {
    let span = if step > 0 { end.saturating_sub(start) } else { start.saturating_sub(end) };
    let step = step.abs().max(1);
    if span <= 0 { 0 } else { (span - 1) / step + 1 }
}

/// Start, end and step of a slice over `n` items, clamped as `slice.indices` clamps.
pub fn slice_bounds(parts: [Option<i64>; 3], n: i64) -> (i64, i64, i64) {
    let step = parts[2].unwrap_or(1);
    let (low, high) = if step > 0 { (0, n) } else { (-1, n - 1) };
    let clamp = |i: i64| (if i < 0 { i + n } else { i }).clamp(low, high);
    let start = parts[0].map_or(if step > 0 { low } else { high }, clamp);
    let end = parts[1].map_or(if step > 0 { high } else { low }, clamp);
    (start, end, step)
}

/// Numbers that compare equal are one key.
fn normal(c: &Const) -> Const {
    match c {
        Const::Bool(b) => Const::Int(i64::from(*b)),
        Const::Float(bits) => {
            let x = f64::from_bits(*bits);
            if x.fract() == 0.0 && x.abs() < 9e15 { Const::Int(x as i64) } else { c.clone() }
        }
        other => other.clone(),
    }
}

/// As a dict does: the first key given stays, the value is replaced.
fn insert(items: &mut Items, key: DictKey, given: &Value, value: &Value) {
    match items.get_mut(&key) {
        Some(slot) => slot.1 = value.clone(),
        None => {
            items.insert(key, (given.clone(), value.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{range_len, slice_bounds};

    #[test]
    fn slices_clamp_as_python_clamps() {
        assert_eq!(slice_bounds([None, None, None], 5), (0, 5, 1));
        assert_eq!(slice_bounds([Some(-2), None, None], 5), (3, 5, 1));
        assert_eq!(slice_bounds([None, None, Some(-1)], 5), (4, -1, -1));
        assert_eq!(slice_bounds([Some(10), Some(-10), Some(-2)], 5), (4, -1, -2));
        assert_eq!(slice_bounds([Some(3), Some(1), None], 5), (3, 1, 1));
    }

    #[test]
    fn ranges_have_their_length() {
        for (start, end, step) in [(0, 5, 1), (0, 5, 2), (5, 0, -2), (3, 3, 1), (4, 2, 1), (-3, 4, 3)] {
            let mut n = 0;
            let mut i = start;
            while if step > 0 { i < end } else { i > end } {
                n += 1;
                i += step;
            }
            assert_eq!(range_len(start, end, step), n);
        }
    }
}
