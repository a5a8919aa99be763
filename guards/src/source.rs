//! Sources: the path from an entry's frames to a value, by which it can be read again at a later call.

use std::{
    collections::HashMap,
    fmt::Write,
    hash::{Hash, Hasher},
    rc::Rc,
};
use taipan_frontend::{
    inspect::{self, Const, Name, Object, Pin, Vm},
    vm::LruCache,
};

/// A source in its table; parents come before children.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct SourceId(pub u32);

/// A key of a dict.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Key {
    /// A string, interned.
    Name(Name),
    /// Another constant.
    Const(KeyConst),
    /// An object that hashes and compares by identity, such as a class.
    Object(ObjectKey),
}

/// A pinned object as a key.
#[derive(Clone, Debug)]
pub struct ObjectKey(pub Pin);

impl PartialEq for ObjectKey {
    fn eq(&self, other: &ObjectKey) -> bool {
        self.0.address() == other.0.address()
    }
}

impl Eq for ObjectKey {}

impl Hash for ObjectKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.address().hash(state);
    }
}

/// A constant with the object that is looked up for it.
#[derive(Clone, Debug)]
pub struct KeyConst {
    value: Const,
    object: Object,
}

impl PartialEq for KeyConst {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Eq for KeyConst {}

impl Hash for KeyConst {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.value.hash(state);
    }
}

impl Key {
    /// The key of a constant.
    pub fn new(value: &Const, vm: &Vm) -> Key {
        match value {
            Const::Str(s) => Key::Name(inspect::name(s, vm)),
            other => Key::Const(KeyConst { value: other.clone(), object: inspect::make_const(other, vm) }),
        }
    }

    /// The constant, where it is one.
    pub fn as_const(&self) -> Option<Const> {
        match self {
            Key::Name(n) => Some(Const::Str(n.as_str().into())),
            Key::Const(c) => Some(c.value.clone()),
            Key::Object(_) => None,
        }
    }

    /// The key as readers see it.
    pub fn text(&self) -> String {
        match self {
            Key::Object(key) => match key.0.object() {
                Some(object) if inspect::is_class(&object) => inspect::class_name(&object),
                Some(object) => format!("<{}>", inspect::class_name(&inspect::class_of(&object))),
                None => "<an object that is gone>".to_owned(),
            },
            constant => constant.as_const().map_or_else(String::new, |c| c.to_string()),
        }
    }

    /// Whether an object is this key, of the same type.
    pub fn is(&self, object: &Object, vm: &Vm) -> bool {
        match self {
            Key::Name(name) => inspect::is_name(object, name, vm),
            Key::Const(c) => inspect::equals_const(object, &c.value, vm),
            Key::Object(key) => key.0.is(object),
        }
    }
}

/// By what a call of a cached function is looked up.
#[derive(Clone, Debug)]
pub struct Probe {
    /// See [`LruCache::probe`].
    pub object: Object,
    /// The arguments as readers see them.
    pub shown: Rc<str>,
}

impl PartialEq for Probe {
    fn eq(&self, other: &Probe) -> bool {
        inspect::same(&self.object, &other.object)
    }
}

impl Eq for Probe {}

impl Hash for Probe {
    fn hash<H: Hasher>(&self, state: &mut H) {
        inspect::identity(&self.object).hash(state);
    }
}

/// How a value is reached.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Source {
    /// A localsplus slot of a frame of the entry; frame 0 is the outermost.
    Slot {
        /// The frame.
        frame: u16,
        /// The slot.
        index: u16,
        /// The variable's name.
        name: Name,
    },
    /// A place on the value stack of a frame, from the bottom.
    Stack {
        /// The frame.
        frame: u16,
        /// The place.
        depth: u16,
    },
    /// The namespace a frame's globals are looked up in.
    Globals {
        /// The frame.
        frame: u16,
    },
    /// The namespace looked at behind the globals.
    Builtins {
        /// The frame.
        frame: u16,
    },
    /// The exception a frame of the entry is handling.
    Handled {
        /// The frame.
        frame: u16,
    },
    /// The new object that a frame's callee, an `__init__`, is filling.
    Post {
        /// The frame.
        frame: u16,
    },
    /// An object that lives as long as the VM: one of its own types, by number in the table.
    Known(u32),
    /// The class of a value.
    TypeOf(SourceId),
    /// What a lookup through the MRO of a class finds, descriptors untouched.
    TypeAttr(SourceId, Name),
    /// The same behind one class of the MRO, as `super()` looks: `(class of the receiver, class to start behind, name)`.
    SuperAttr(SourceId, SourceId, Name),
    /// The namespace of an object.
    InstanceDict(SourceId),
    /// The value under a key of a dict; of a set, the key itself.
    DictItem(SourceId, Key),
    /// An item of a list or tuple.
    Item(SourceId, u32),
    /// The contents of a cell.
    Cell(SourceId),
    /// What a cached function keeps for a call.
    Cached(SourceId, Probe),
    /// What a data descriptor of a native, immutable type gives: `__func__`, `__globals__`, `fget`.
    Native(SourceId, &'static str),
}

impl Source {
    /// The object whose namespace this is.
    fn namespace_owner(&self) -> Option<SourceId> {
        match *self {
            Source::InstanceDict(owner) => Some(owner),
            _ => None,
        }
    }

    /// The source this one is read from.
    pub fn parent(&self) -> Option<SourceId> {
        match *self {
            Source::Slot { .. }
            | Source::Stack { .. }
            | Source::Globals { .. }
            | Source::Builtins { .. }
            | Source::Handled { .. }
            | Source::Post { .. }
            | Source::Known(_) => None,
            Source::TypeOf(p)
            | Source::TypeAttr(p, _)
            | Source::SuperAttr(p, _, _)
            | Source::InstanceDict(p)
            | Source::DictItem(p, _)
            | Source::Item(p, _)
            | Source::Cell(p)
            | Source::Cached(p, _)
            | Source::Native(p, _) => Some(p),
        }
    }
}

/// A source by itself, without the table and the VM it came from: where it starts, then one step from each value to the next.
pub type Path = Vec<PathStep>;

/// One step of a [`Path`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PathStep {
    /// The way. A path starts with `local`, `stack`, `globals`, `builtins`, `handled`, `new object` or `known`, and goes on by `type`,
    /// `class attribute`, `super attribute`, `namespace`, `key`, `item`, `cell`, `cached call` and `member`.
    pub way: &'static str,
    /// The frame of the entry where the path starts, 0 being the outermost; 0 for other steps.
    pub frame: u16,
    /// The name of a variable, attribute or class; the index of an item; a key as Python writes it. Empty where the way says all.
    pub name: String,
}

/// All sources of one trace, interned.
#[derive(Clone, Default, Debug)]
pub struct SourceTable {
    sources: Vec<Source>,
    ids: HashMap<Source, SourceId>,
    /// With what they are called.
    known: Vec<(Object, Rc<str>)>,
}

impl SourceTable {
    /// The id of a source.
    pub fn intern(&mut self, source: Source) -> SourceId {
        if let Some(id) = self.ids.get(&source) {
            return *id;
        }
        let id = SourceId(self.sources.len() as u32);
        self.sources.push(source.clone());
        self.ids.insert(source, id);
        id
    }

    /// The source of an object that lives as long as the VM.
    pub fn known(&mut self, object: &Object, vm: &Vm) -> SourceId {
        let index = self.known.iter().position(|(k, _)| inspect::same(k, object)).unwrap_or_else(|| {
            let shown = if inspect::is_class(object) { inspect::class_name(object) } else { inspect::describe(object, vm) };
            self.known.push((object.clone(), shown.into()));
            self.known.len() - 1
        });
        self.intern(Source::Known(index as u32))
    }

    /// The object of a [`Source::Known`].
    pub fn known_object(&self, index: u32) -> &Object {
        &self.known[index as usize].0
    }

    /// A source by its id.
    pub fn get(&self, id: SourceId) -> &Source {
        &self.sources[id.0 as usize]
    }

    /// Number of sources.
    pub fn len(&self) -> usize {
        self.sources.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// The source as readers see it: `local x`, `global torch.relu`, `local self.fc.weight`.
    pub fn text(&self, id: SourceId) -> String {
        match self.get(id) {
            Source::Slot { name, .. } => format!("local {name}"),
            Source::Stack { depth, .. } => format!("stack {depth}"),
            Source::Globals { .. } => "globals()".to_owned(),
            Source::Builtins { .. } => "builtins".to_owned(),
            Source::Handled { .. } => "handled exception".to_owned(),
            Source::Post { .. } => "new object".to_owned(),
            Source::Known(i) => self.known[*i as usize].1.to_string(),
            Source::TypeOf(p) => wrap("type", &self.text(*p)),
            Source::TypeAttr(p, name) => format!("{}.{name}", self.text(*p)),
            Source::SuperAttr(p, _, name) => format!("{}.{name}", wrap("super", &self.text(*p))),
            Source::InstanceDict(p) => format!("{}.__dict__", self.text(*p)),
            Source::Cell(p) => match self.get(*p) {
                Source::Slot { name, .. } => format!("local {name}"),
                _ => format!("{}.cell_contents", self.text(*p)),
            },
            Source::Item(p, i) => format!("{}[{i}]", self.text(*p)),
            Source::Cached(p, probe) => format!("{}({})", self.text(*p), probe.shown),
            Source::Native(p, name) => format!("{}.{name}", self.text(*p)),
            Source::DictItem(p, key) => match (self.get(*p), key) {
                (Source::Globals { .. }, Key::Name(n)) => format!("global {n}"),
                (Source::Builtins { .. }, Key::Name(n)) => format!("builtin {n}"),
                (Source::Native(f, "__globals__"), Key::Name(n)) => {
                    let mut text = format!("global {n} of ");
                    let _ = write!(text, "{}", self.text(*f).trim_start_matches("local ").trim_start_matches("global "));
                    text
                }
                (Source::InstanceDict(owner), Key::Name(n)) => format!("{}.{n}", self.text(*owner)),
                (_, key) => match (self.module_of(*p), key) {
                    // The parts of a container are numbered.
                    (Some(owner), Key::Name(n)) if n.as_str().parse::<usize>().is_ok() => format!("{}[{n}]", self.text(owner)),
                    (Some(owner), Key::Name(n)) => format!("{}.{n}", self.text(owner)),
                    _ => format!("{}[{}]", self.text(*p), key.text()),
                },
            },
        }
    }

    /// The module whose `_modules`, `_parameters` or `_buffers` this is: scripts reach what is in them as attributes.
    fn module_of(&self, mapping: SourceId) -> Option<SourceId> {
        match self.get(mapping) {
            Source::DictItem(namespace, Key::Name(name)) if matches!(name.as_str(), "_modules" | "_parameters" | "_buffers") => {
                self.get(*namespace).namespace_owner()
            }
            _ => None,
        }
    }

    /// The source by itself.
    pub fn path(&self, id: SourceId) -> Path {
        let source = self.get(id);
        let mut path = source.parent().map_or_else(Path::new, |parent| self.path(parent));
        let (way, frame, name) = match source {
            Source::Slot { frame, name, .. } => ("local", *frame, name.to_string()),
            Source::Stack { frame, depth } => ("stack", *frame, depth.to_string()),
            Source::Globals { frame } => ("globals", *frame, String::new()),
            Source::Builtins { frame } => ("builtins", *frame, String::new()),
            Source::Handled { frame } => ("handled", *frame, String::new()),
            Source::Post { frame } => ("new object", *frame, String::new()),
            Source::Known(index) => ("known", 0, self.known[*index as usize].1.to_string()),
            Source::TypeOf(_) => ("type", 0, String::new()),
            Source::TypeAttr(_, name) => ("class attribute", 0, name.to_string()),
            Source::SuperAttr(_, _, name) => ("super attribute", 0, name.to_string()),
            Source::InstanceDict(_) => ("namespace", 0, String::new()),
            Source::DictItem(_, key) => ("key", 0, key.text()),
            Source::Item(_, index) => ("item", 0, index.to_string()),
            Source::Cell(_) => ("cell", 0, String::new()),
            Source::Cached(_, probe) => ("cached call", 0, probe.shown.to_string()),
            Source::Native(_, name) => ("member", 0, (*name).to_owned()),
        };
        path.push(PathStep { way, frame, name });
        path
    }

    /// The source without the word that says where it starts: `x`, `torch.relu`.
    pub fn short_text(&self, id: SourceId) -> String {
        let text = self.text(id);
        for word in ["local ", "global ", "builtin "] {
            if let Some(rest) = text.strip_prefix(word) {
                return rest.to_owned();
            }
        }
        text
    }
}

/// `local x` → `local type(x)`.
fn wrap(function: &str, text: &str) -> String {
    match text.split_once(' ') {
        Some((kind, rest)) if matches!(kind, "local" | "global" | "builtin" | "stack") => format!("{kind} {function}({rest})"),
        _ => format!("{function}({text})"),
    }
}

/// Reads a source from its parent's value. `None`: absent.
pub fn read(source: &Source, parent: &Object, other: Option<&Object>, vm: &Vm) -> Option<Object> {
    match source {
        Source::Slot { .. }
        | Source::Stack { .. }
        | Source::Globals { .. }
        | Source::Builtins { .. }
        | Source::Handled { .. }
        | Source::Post { .. }
        | Source::Known(_) => None,
        Source::TypeOf(_) => Some(inspect::class_of(parent)),
        Source::TypeAttr(_, name) => inspect::type_lookup(parent, name),
        Source::SuperAttr(_, _, name) => inspect::type_lookup_after(parent, other?, name).map(|found| found.0),
        Source::InstanceDict(_) => inspect::instance_dict(parent),
        Source::DictItem(_, Key::Name(name)) => {
            inspect::dict_get(parent, name, vm).or_else(|| inspect::set_element(parent, inspect::name_object(name), vm))
        }
        Source::DictItem(_, Key::Const(key)) => keyed(parent, &key.object, vm),
        Source::DictItem(_, Key::Object(key)) => keyed(parent, &key.0.object()?, vm),
        Source::Item(_, index) => match inspect::tuple_items(parent) {
            Some(items) => items.get(*index as usize).cloned(),
            None => inspect::list_item(parent, *index as usize),
        },
        Source::Cell(_) => inspect::cell_contents(parent, vm),
        Source::Cached(_, probe) => LruCache::of(parent)?.peek(&probe.object, vm),
        Source::Native(_, name) => inspect::native_attribute(parent, name, vm),
    }
}

fn keyed(parent: &Object, key: &Object, vm: &Vm) -> Option<Object> {
    inspect::dict_get_item(parent, key, vm).or_else(|| inspect::set_element(parent, key, vm))
}
