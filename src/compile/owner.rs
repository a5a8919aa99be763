//! The cache: the versions of one compiled function, by entry.

use super::version::Version;
use crate::report::{EntryName, Names};
use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    rc::Rc,
};
use taipan_frontend::{
    bridge::FrameState,
    code::CodeInfo,
    inspect::{self, Object},
};

/// Which entry a chain stands at: code and place of each frame, and the shape of its slots and stack.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct EntryKey(Vec<u64>);

impl EntryKey {
    /// The key of a chain.
    pub fn of(chain: &[FrameState]) -> EntryKey {
        let mut key = Vec::with_capacity(4 * chain.len());
        for frame in chain {
            key.push(Rc::as_ptr(&frame.info) as usize as u64);
            key.push(
                (frame.pc as u64) << 3
                    | u64::from(frame.in_call) << 2
                    | u64::from(frame.post.is_some()) << 1
                    | u64::from(frame.handled.is_some()),
            );
            let present = frame.slots.iter().chain(&frame.stack);
            let mut word = frame.stack.len() as u64;
            for (i, value) in present.enumerate() {
                word = word << 1 | u64::from(value.is_some());
                if i % 48 == 47 {
                    key.push(std::mem::take(&mut word));
                }
            }
            key.push(word);
        }
        EntryKey(key)
    }
}

/// Whether an entry runs plainly where no version fits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Closed {
    /// Another version is compiled.
    No,
    /// It can't be traced. What it calls may be.
    Refused,
    /// It has as many versions as it may have. What it calls would soon have as many, so that runs plainly too.
    Full,
}

/// The versions of one entry.
pub struct Entry {
    /// Its name.
    pub name: EntryName,
    /// Its versions, oldest first.
    pub versions: RefCell<Vec<Rc<Version>>>,
    /// Versions made so far, those forgotten included.
    pub made: Cell<u32>,
    /// Whether it runs plainly where no version fits.
    pub closed: Cell<Closed>,
    /// The code objects of its key stay decoded as long as it exists, so the key stays theirs.
    _codes: Vec<Rc<CodeInfo>>,
}

/// What belongs to one compiled function.
pub struct Owner {
    /// A break is an error.
    pub fullgraph: bool,
    /// The backend: a name, or a callable.
    pub backend: Option<Object>,
    entries: RefCell<HashMap<EntryKey, Rc<Entry>>>,
    roots: RefCell<HashMap<usize, EntryName>>,
    /// Versions of all entries.
    pub total: Cell<u64>,
}

impl Owner {
    /// An empty cache.
    pub fn new(fullgraph: bool, backend: Option<Object>) -> Owner {
        Owner { fullgraph, backend, entries: RefCell::default(), roots: RefCell::default(), total: Cell::new(0) }
    }

    /// The entry a chain stands at.
    pub fn entry(&self, chain: &[FrameState], names: &RefCell<Names>) -> Option<Rc<Entry>> {
        let key = EntryKey::of(chain);
        if let Some(entry) = self.entries.borrow().get(&key) {
            return Some(entry.clone());
        }
        let outer = chain.first()?;
        let root = self
            .roots
            .borrow_mut()
            .entry(Rc::as_ptr(&outer.info) as usize)
            .or_insert_with(|| names.borrow_mut().function(&readable_name(outer)))
            .clone();
        let starts = chain.len() == 1 && outer.pc == outer.info.start;
        let entry = Rc::new(Entry {
            name: if starts { root } else { names.borrow_mut().continuation(&root) },
            versions: RefCell::default(),
            made: Cell::new(0),
            closed: Cell::new(Closed::No),
            _codes: chain.iter().map(|f| f.info.clone()).collect(),
        });
        self.entries.borrow_mut().insert(key, entry.clone());
        Some(entry)
    }

    /// Forgets every version.
    pub fn clear(&self) {
        let entries = self.entries.take();
        let roots = self.roots.take();
        self.total.set(0);
        // Dropped behind the borrows: a version may own the last reference to an object whose death runs Python.
        drop((entries, roots));
    }

    /// Every version, in order of their names.
    pub fn versions(&self) -> Vec<Rc<Version>> {
        let mut all: Vec<Rc<Version>> = self.entries.borrow().values().flat_map(|e| e.versions.borrow().clone()).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }
}

/// What people call the function a chain starts in. A module's call starts in the library's code, so it goes by its class.
fn readable_name(outer: &FrameState) -> String {
    let meta = &outer.info.meta;
    match outer.slots.first() {
        Some(Some(this)) if meta.qualified_name.as_str() == "Module._call_impl" => inspect::class_name(&inspect::class_of(this)),
        _ => meta.name.as_str().to_owned(),
    }
}
