//! What one version of a compiled function relies on in the objects under one root.

use super::{dict::WatchedDict, sentinel};
use crate::code::Name;
use rustpython_vm::{
    AsObject, Py, PyPayload, PyWeakRef, VirtualMachine,
    builtins::{PyFunction, PyType, PyTypeRef},
};
use std::{
    cell::{Cell, RefCell},
    fmt,
    rc::Rc,
    sync::atomic::Ordering::Acquire,
};

/// One for each pair of version and root object. It holds no module, class or function: watch lists hold it weakly, so
/// dropping it ends all registrations.
///
/// A guard stays registered when it fires. After [`take_dirty`](Self::take_dirty) the caller evaluates the guards, registers
/// again what they read now (registering twice does nothing), and gives those that failed back with
/// [`mark_dirty`](Self::mark_dirty).
pub struct Memo {
    clean: Cell<bool>,
    /// The sentinel's version tag when all classes and functions below were as recorded.
    tag: Cell<u32>,
    sentinel: PyTypeRef,
    dirty: RefCell<DirtyList>,
    classes: RefCell<Vec<Watched<PyType>>>,
    functions: RefCell<Vec<Watched<PyFunction>>>,
}

/// A class or function, and the version it had when its guard last heard of it.
struct Watched<T: PyPayload> {
    object: PyWeakRef<T>,
    version: u32,
    guard: u32,
}

/// Each guard once.
#[derive(Default)]
struct DirtyList {
    guards: Vec<u32>,
    listed: Vec<u64>,
}

impl Memo {
    /// Nothing watched, nothing dirty. [`install`](super::install) must have run on this thread.
    pub fn new(vm: &VirtualMachine) -> Rc<Self> {
        let sentinel = sentinel::sentinel(vm);
        Rc::new(Self {
            clean: Cell::new(true),
            tag: Cell::new(sentinel::current_tag(&sentinel, vm)),
            sentinel,
            dirty: RefCell::default(),
            classes: RefCell::default(),
            functions: RefCell::default(),
        })
    }

    /// Whether no guard is dirty: two loads, unless a watched class or function changed somewhere.
    #[inline]
    pub fn is_clean(&self, vm: &VirtualMachine) -> bool {
        if self.sentinel.tp_version_tag().load(Acquire) != self.tag.get() {
            self.walk(vm);
        }
        self.clean.get()
    }

    /// The dirty guards, each once, in the order they were hit; none is dirty afterwards.
    pub fn take_dirty(&self, vm: &VirtualMachine) -> Vec<u32> {
        if self.sentinel.tp_version_tag().load(Acquire) != self.tag.get() {
            self.walk(vm);
        }
        self.clean.set(true);
        std::mem::take(&mut *self.dirty.borrow_mut()).guards
    }

    /// Puts a guard on the dirty list.
    pub fn mark_dirty(&self, guard: u32) {
        self.clean.set(false);
        self.dirty.borrow_mut().push(guard);
    }

    /// `guard` read `name` in `dict`, or its absence.
    pub fn watch_key(self: &Rc<Self>, dict: &Py<WatchedDict>, name: Name, guard: u32, vm: &VirtualMachine) {
        dict.register(Some(name), self, guard, vm);
    }

    /// `guard` read the order or number of the keys, or a key that is no string: any write makes it dirty.
    pub fn watch_all(self: &Rc<Self>, dict: &Py<WatchedDict>, guard: u32, vm: &VirtualMachine) {
        dict.register(None, self, guard, vm);
    }

    /// `guard` looked something up in `class` or its bases. `false`: the class can't be watched, and its version must be
    /// read at every check.
    pub fn watch_class(&self, class: &Py<PyType>, guard: u32, vm: &VirtualMachine) -> bool {
        let Some(version) = sentinel::watch_class(class, &self.sentinel, vm) else {
            return false;
        };
        record(&self.classes, class, version, guard, vm)
    }

    /// `guard` relies on the code, defaults and keyword defaults of `function` (not on the items of the latter).
    pub fn watch_function(&self, function: &Py<PyFunction>, guard: u32, vm: &VirtualMachine) -> bool {
        let version = function.get_version_for_current_state();
        version != 0 && record(&self.functions, function, version, guard, vm)
    }

    /// Compares every class and function with its recorded version; what changed makes its guard dirty and is recorded anew.
    #[cold]
    fn walk(&self, vm: &VirtualMachine) {
        self.classes.borrow_mut().retain_mut(|watched| self.compare(watched, |class| sentinel::class_version(class, vm)));
        self.functions.borrow_mut().retain_mut(|watched| self.compare(watched, |function| function.get_version_for_current_state()));
        self.tag.set(sentinel::current_tag(&self.sentinel, vm));
    }

    /// Whether the object is still there.
    fn compare<T: PyPayload>(&self, watched: &mut Watched<T>, version: impl FnOnce(&Py<T>) -> u32) -> bool {
        let Some(object) = watched.object.upgrade() else {
            self.mark_dirty(watched.guard);
            return false;
        };
        let now = version(&object);
        // Versions run out at 2³²: what has none is never known to be unchanged.
        if now != watched.version || now == 0 {
            self.mark_dirty(watched.guard);
            watched.version = now;
        }
        true
    }
}

/// One entry for each pair of object and guard. `false`: the object takes no weak references.
fn record<T: PyPayload>(list: &RefCell<Vec<Watched<T>>>, object: &Py<T>, version: u32, guard: u32, vm: &VirtualMachine) -> bool {
    let mut list = list.borrow_mut();
    let same = |known: &&mut Watched<T>| known.guard == guard && known.object.upgrade().is_some_and(|known| known.is(object));
    if let Some(known) = list.iter_mut().find(same) {
        known.version = version;
        return true;
    }
    let Ok(object) = object.downgrade(None, vm) else {
        return false;
    };
    list.push(Watched { object, version, guard });
    true
}

impl DirtyList {
    fn push(&mut self, guard: u32) {
        let (word, bit) = (guard as usize / 64, 1 << (guard % 64));
        if word >= self.listed.len() {
            self.listed.resize(word + 1, 0);
        }
        if self.listed[word] & bit == 0 {
            self.listed[word] |= bit;
            self.guards.push(guard);
        }
    }
}

impl fmt::Debug for Memo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memo").field("dirty", &self.dirty.borrow().guards).finish_non_exhaustive()
    }
}
