//! Watchers: knowing in constant time that nothing a compiled version relies on was written since its last full check.
//!
//! A guard registers what it read with a [`Memo`]: keys of a [`WatchedDict`], classes, functions. A write pushes the guard
//! on the memo's dirty list; only dirty guards are evaluated again. Without a write the check is two loads, whatever the
//! number of modules and classes.
//!
//! - The instance dict of a module, and its native mappings, *are* a [`WatchedDict`], a native dict subclass. The VM's fast
//!   path for dicts is for exact dicts only, so every way of writing ends in its one slot ([`dict`](self)).
//! - Methods of `dict` itself applied to it, `__slots__` members, `__dict__` and `__class__` writes are caught by hooks on
//!   the descriptor types.
//! - Classes and functions are watched through one sentinel type hung under every watched class: a change of any of them
//!   clears its version tag.
//!
//! No watcher is possible for globals, cells, lists, exact dicts that somebody else holds, and items of `__kwdefaults__`:
//! they are read at every check.

mod descriptors;
mod dict;
mod memo;
mod module_base;
mod sentinel;

pub use dict::WatchedDict;
pub use memo::Memo;
pub use module_base::ModuleBase;

use crate::thread;
use descriptors::{CallSlots, WriteSlot};
use rustpython_vm::{
    AsObject, Py, PyObject, PyObjectRef, PyRef, PyResult, VirtualMachine,
    builtins::{PyDict, PyType, PyTypeRef},
    class::{PyClassImpl, StaticType},
    convert::IntoObject,
    types::PyTypeFlags,
};
use std::cell::{Cell, OnceCell, RefCell};

/// What the hooks need to know. It belongs to the thread's static types and outlives an interpreter, as they do.
#[derive(Default)]
pub(crate) struct WatchState {
    installed: Cell<bool>,
    /// The VM's own slots of `method_descriptor` and `wrapper_descriptor`.
    calls: Cell<Option<[CallSlots; 2]>>,
    /// The VM's own `descr_set` of `member_descriptor` and `getset_descriptor`.
    writes: Cell<Option<[WriteSlot; 2]>>,
    /// dict's methods that write, by name.
    base_methods: RefCell<Vec<(&'static str, PyObjectRef)>>,
    /// Address of dict's descriptor → the one of [`WatchedDict`].
    redirects: RefCell<Vec<(usize, PyObjectRef)>>,
    subclasses: OnceCell<PyObjectRef>,
    sentinel: OnceCell<PyTypeRef>,
}

/// Makes the classes and puts the hooks in. Only the first call on a thread does anything: static types and their slots
/// outlive an interpreter, and a second installation would take our hooks for the VM's. To be called before user code runs.
pub fn install(vm: &VirtualMachine) -> PyResult<()> {
    if thread::with(|t| t.watch.installed.replace(true)) {
        return Ok(());
    }
    let _ = (WatchedDict::make_static_type(), ModuleBase::make_static_type());
    // Scripts patch module classes.
    let immutable = PyTypeFlags::from_slice(&[PyTypeFlags::IMMUTABLETYPE]);
    ModuleBase::static_type().slots().flags.remove_masked(immutable);
    let sentinel = PyType::new_simple_heap("_watch", vm.ctx.types.object_type, &vm.ctx).map_err(|text| vm.new_system_error(text))?;
    thread::with(|t| {
        t.watch.sentinel.get_or_init(|| sentinel);
    });
    descriptors::install(vm)?;
    sentinel::hide(vm)
}

/// The watched dict of an object's attributes. If the object has an exact dict that nobody else can hold, it is given a
/// watched copy in its place: so objects made by `object.__new__`, or after `o.__dict__ = {…}`, are watched too. `None`: the
/// object is open, and what was read of it must be read at every check.
pub fn adopt(object: &PyObject, vm: &VirtualMachine) -> Option<PyRef<WatchedDict>> {
    let dict = object.dict();
    if let Some(dict) = &dict {
        if let Some(watched) = dict.as_object().downcast_ref::<WatchedDict>() {
            return Some(watched.to_owned());
        }
        // The object and `dict` here: a proof, since threads don't share objects.
        if !dict.class().is(vm.ctx.types.dict_type) || dict.as_object().strong_count() != 2 {
            return None;
        }
    }
    let watched = WatchedDict::make(vm);
    for (key, value) in dict.iter().flat_map(|dict| dict.items_vec()) {
        watched.entries().inner_setitem(&*key, value, vm).ok()?;
    }
    let replacement = watched.clone().into_object().downcast::<PyDict>().ok()?;
    object.set_dict(Some(replacement)).ok()?;
    Some(watched)
}

/// `value` as a watched dict, if it is one.
pub fn watched(value: &PyObject) -> Option<&Py<WatchedDict>> {
    value.downcast_ref::<WatchedDict>()
}
