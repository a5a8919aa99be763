//! The door to real objects: every answer is recorded as a guard before it is given.

use crate::{
    guard::{Check, Expected, Guard, TensorCheck},
    source::{self, Key, Probe, Source, SourceId, SourceTable},
};
use std::{collections::HashSet, rc::Rc};
use taipan_frontend::{
    code::CodeInfo,
    inspect::{self, BuiltinType, Const, Name, Object, Vm},
    torch::{OpCallable, TensorView},
};
use taipan_ir::Facts;

/// A real object found at a source. What it is can only be learnt from [`Assumptions`].
#[derive(Clone, Debug)]
pub struct Handle {
    object: Object,
    source: SourceId,
}

impl Handle {
    /// Where the object was found.
    pub fn source(&self) -> SourceId {
        self.source
    }

    /// A number that tells this object from other living ones. Using it to decide anything needs [`Assumptions::identity`] or
    /// [`Assumptions::same_as`]; it is given freely so that one object reached twice can be recognised.
    pub fn address(&self) -> usize {
        inspect::identity(&self.object)
    }
}

/// Where the assumptions stand, to go back to.
#[derive(Clone, Copy, Debug)]
pub struct AssumptionMark(usize);

/// The assumptions of one trace.
pub struct Assumptions<'vm> {
    vm: &'vm Vm,
    sources: SourceTable,
    guards: Vec<Guard>,
    seen: HashSet<(SourceId, u8, u32)>,
    line: u32,
}

impl<'vm> Assumptions<'vm> {
    /// No assumptions yet.
    pub fn new(vm: &'vm Vm) -> Self {
        Assumptions { vm, sources: SourceTable::default(), guards: vec![], seen: HashSet::new(), line: 0 }
    }

    /// The VM.
    pub fn vm(&self) -> &'vm Vm {
        self.vm
    }

    /// The script line that the next assumptions are made for.
    pub fn set_line(&mut self, line: u32) {
        self.line = line;
    }

    /// Where the set stands.
    pub fn mark(&self) -> AssumptionMark {
        AssumptionMark(self.guards.len())
    }

    /// Forgets assumptions made since `mark`.
    pub fn undo(&mut self, mark: AssumptionMark) {
        for guard in self.guards.drain(mark.0..) {
            self.seen.remove(&key_of(&guard));
        }
    }

    /// The sources and guards.
    pub fn finish(self) -> (SourceTable, Vec<Guard>) {
        (self.sources, self.guards)
    }

    /// The sources so far.
    pub fn sources(&self) -> &SourceTable {
        &self.sources
    }

    /// A root: a slot, a stack place, or a namespace of a frame of the entry. Nothing is assumed yet.
    pub fn root(&mut self, source: Source, object: Object) -> Handle {
        debug_assert!(source.parent().is_none());
        Handle { object, source: self.sources.intern(source) }
    }

    /// An object that lives as long as the VM: one of its own types.
    pub fn known(&mut self, object: Object) -> Handle {
        let source = self.sources.known(&object, self.vm);
        Handle { object, source }
    }

    /// Which of the VM's own types the object has exactly.
    pub fn builtin_type(&mut self, at: &Handle) -> BuiltinType {
        self.record_type(at);
        BuiltinType::of(&at.object, self.vm)
    }

    /// The class of the object.
    pub fn class(&mut self, at: &Handle) -> Handle {
        self.record_type(at);
        let object = inspect::class_of(&at.object);
        Handle { object, source: self.sources.intern(Source::TypeOf(at.source)) }
    }

    /// The address of the object, which it is now assumed to keep being.
    pub fn identity(&mut self, at: &Handle) -> usize {
        if !self.is_fixed(at.source) {
            self.record(at.source, Check::Is(Expected::new(&at.object, self.vm)));
        }
        at.address()
    }

    /// Assumes that `at` is the object also found at `other`.
    pub fn same_as(&mut self, at: &Handle, other: SourceId) {
        if at.source != other {
            self.record(at.source, Check::SameAs(other));
        }
    }

    /// Assumes that the object at `one` is none of those at `others`.
    pub fn not_among(&mut self, one: SourceId, others: Vec<SourceId>) {
        if !others.is_empty() {
            self.record(one, Check::NotAmong(others));
        }
    }

    /// The value of an exact constant; the type alone is assumed where it is none.
    pub fn constant(&mut self, at: &Handle) -> Option<Const> {
        let Some(value) = inspect::constant(&at.object, self.vm) else {
            self.record_type(at);
            return None;
        };
        self.record(at.source, Check::Equals(value.clone()));
        Some(value)
    }

    /// What a lookup through the MRO of the class `class` finds.
    pub fn type_attribute(&mut self, class: &Handle, name: Name) -> Option<Handle> {
        self.child(class, Source::TypeAttr(class.source, name), !inspect::is_mutable_class(&class.object))
    }

    /// What a lookup through the MRO of `class` finds behind `after`.
    pub fn super_attribute(&mut self, class: &Handle, after: &Handle, name: Name) -> Option<Handle> {
        let found = inspect::type_lookup_after(&class.object, &after.object, name);
        let source = self.sources.intern(Source::SuperAttr(class.source, after.source, name));
        self.presence(source, found.map(|f| f.0))
    }

    /// Whether attribute lookup on instances of `class` goes the ordinary way.
    pub fn has_ordinary_getattribute(&mut self, class: &Handle) -> bool {
        let name = inspect::name("__getattribute__", self.vm);
        if let Some(found) = self.type_attribute(class, name) {
            self.identity(&found);
        }
        inspect::has_ordinary_getattribute(&class.object, self.vm)
    }

    /// The classes of the MRO, whose order and identity are now assumed.
    pub fn is_subclass(&mut self, class: &Handle, base: &Handle) -> bool {
        // The MRO of a class changes only by `__bases__`, which changes the class's identity for attribute lookups; the class itself
        // is assumed.
        self.identity(class);
        self.identity(base);
        inspect::is_subclass(&class.object, &base.object)
    }

    /// The namespace of an object whose class gives it one.
    pub fn instance_dict(&mut self, at: &Handle) -> Option<Handle> {
        let object = inspect::instance_dict(&at.object)?;
        Some(Handle { object, source: self.sources.intern(Source::InstanceDict(at.source)) })
    }

    /// The value under a key of a dict; the key itself where it is in a set.
    pub fn dict_item(&mut self, dict: &Handle, key: &Key) -> Option<Handle> {
        self.child(dict, Source::DictItem(dict.source, key.clone()), false)
    }

    /// All items of a dict whose keys are constants. `None` where a key is no constant: nothing is assumed then.
    pub fn dict_items(&mut self, dict: &Handle) -> Option<Vec<(Key, Handle)>> {
        let items = inspect::dict_items(&dict.object);
        let mut keys = vec![];
        for (key, _) in &items {
            keys.push(Key::new(&inspect::constant(key, self.vm)?, self.vm));
        }
        self.record(dict.source, Check::Keys(keys.clone()));
        let with_source = |(key, (_, object)): (Key, (Object, Object)), sources: &mut SourceTable| {
            let source = sources.intern(Source::DictItem(dict.source, key.clone()));
            (key, Handle { object, source })
        };
        Some(keys.into_iter().zip(items).map(|pair| with_source(pair, &mut self.sources)).collect())
    }

    /// Number of items of a dict, list, tuple or set.
    pub fn length(&mut self, at: &Handle) -> Option<usize> {
        let n = inspect::length(&at.object, self.vm)?;
        self.record(at.source, Check::Len(n));
        Some(n)
    }

    /// The items of a list or tuple.
    pub fn items(&mut self, at: &Handle) -> Option<Vec<Handle>> {
        let objects = match inspect::tuple_items(&at.object) {
            Some(items) => items.to_vec(),
            None => inspect::list_items(&at.object)?,
        };
        self.record(at.source, Check::Len(objects.len()));
        let item = |(i, object): (usize, Object), sources: &mut SourceTable| Handle {
            object,
            source: sources.intern(Source::Item(at.source, i as u32)),
        };
        Some(objects.into_iter().enumerate().map(|pair| item(pair, &mut self.sources)).collect())
    }

    /// What a cell holds.
    pub fn cell(&mut self, cell: &Handle) -> Option<Handle> {
        self.child(cell, Source::Cell(cell.source), false)
    }

    /// What a cached function, whose identity has been asked, keeps for a call; see [`taipan_frontend::vm::LruCache::probe`].
    pub fn cached(&mut self, function: &Handle, probe: Probe) -> Option<Handle> {
        self.child(function, Source::Cached(function.source, probe), false)
    }

    /// What a data descriptor of a native, immutable type gives. The object's type has been asked before.
    pub fn native(&mut self, at: &Handle, attribute: &'static str) -> Option<Handle> {
        let object = inspect::native_attribute(&at.object, attribute, self.vm)?;
        Some(Handle { object, source: self.sources.intern(Source::Native(at.source, attribute)) })
    }

    /// The decoded code of a function, assumed to stay the same. Its identity may be assumed instead by [`Assumptions::identity`].
    pub fn function_code(&mut self, function: &Handle) -> Option<Rc<CodeInfo>> {
        let code = inspect::native_attribute(&function.object, "__code__", self.vm)?;
        self.record(function.source, Check::Code(Expected::new(&code, self.vm)));
        CodeInfo::of_object(&code, self.vm)
    }

    /// The facts of a tensor, whose dtype, device, layout and gradient flag are now assumed.
    pub fn tensor(&mut self, at: &Handle) -> Option<(TensorCheck, Facts)> {
        let check = TensorCheck::of(&at.object, self.vm)?;
        self.record(at.source, Check::Tensor(check.clone()));
        Some((check, TensorView::of(&at.object)?.facts()))
    }

    /// The op a torch function or method stands for; its identity is assumed.
    pub fn op(&mut self, at: &Handle) -> Option<OpCallable> {
        let op = OpCallable::of(&at.object)?;
        self.identity(at);
        Some(op)
    }

    /// A class or function whose identity has been assumed, as the object itself, to be used where it is called or pinned.
    pub fn pinned(&mut self, at: &Handle) -> Object {
        self.identity(at);
        at.object.clone()
    }

    /// The object where nothing about it is being decided: to be written to, or to be passed on, by the code that replays effects.
    pub fn opaque(&self, at: &Handle) -> Object {
        at.object.clone()
    }

    fn child(&mut self, parent: &Handle, source: Source, fixed: bool) -> Option<Handle> {
        let found = source::read(&source, &parent.object, None, self.vm);
        let id = self.sources.intern(source);
        if fixed {
            return found.map(|object| Handle { object, source: id });
        }
        self.presence(id, found)
    }

    fn presence(&mut self, source: SourceId, found: Option<Object>) -> Option<Handle> {
        match found {
            Some(object) => {
                self.record(source, Check::Present);
                Some(Handle { object, source })
            }
            None => {
                self.record(source, Check::Absent);
                None
            }
        }
    }

    /// Whether the object at a source can't change as long as the assumptions before it hold: what an immutable class defines.
    fn is_fixed(&self, source: SourceId) -> bool {
        match self.sources.get(source) {
            Source::TypeOf(_) | Source::Known(_) => true,
            Source::TypeAttr(..) => !self.seen.contains(&(source, PRESENCE, 0)),
            _ => false,
        }
    }

    fn record_type(&mut self, at: &Handle) {
        if self.is_fixed(at.source) || self.seen.contains(&(at.source, CONSTANT, 0)) || self.seen.contains(&(at.source, IDENTITY, 0)) {
            return;
        }
        self.record(at.source, Check::Type(Expected::class(&inspect::class_of(&at.object), self.vm)));
    }

    fn record(&mut self, at: SourceId, check: Check) {
        let guard = Guard { at, check, line: self.line };
        if self.seen.insert(key_of(&guard)) {
            self.guards.push(guard);
        }
    }
}

const PRESENCE: u8 = 3;
const IDENTITY: u8 = 1;
const CONSTANT: u8 = 2;

/// What makes two guards at one source the same question.
fn key_of(guard: &Guard) -> (SourceId, u8, u32) {
    let (kind, other) = match &guard.check {
        Check::Type(_) => (0, 0),
        Check::Is(_) => (IDENTITY, 0),
        Check::Equals(_) => (CONSTANT, 0),
        Check::Absent | Check::Present => (PRESENCE, 0),
        Check::Len(_) => (4, 0),
        Check::Keys(_) => (5, 0),
        Check::Code(_) => (6, 0),
        Check::Tensor(_) => (7, 0),
        Check::SameAs(other) => (8, other.0),
        Check::NotAmong(others) => (9, others.first().map_or(0, |s| s.0)),
    };
    (guard.at, kind, other)
}
