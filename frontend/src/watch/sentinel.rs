//! The sentinel type: one version tag that any change of any watched class or function clears.
//!
//! A change of a class clears its tag and those of its subclasses. The sentinel is entered among the subclasses of every
//! watched class, so it is cleared with each. Tags are never used twice, and the cascade stops only at a class whose tag is
//! already cleared, which the walk over a memo's own classes sees: a memo keeps the sentinel's tag and each class's.

use super::descriptors::own_methods;
use crate::thread;
use rustpython_vm::{
    AsObject, Py, PyObjectRef, PyResult, VirtualMachine,
    builtins::{PyList, PyType, PyTypeRef},
};
use std::sync::atomic::Ordering::Acquire;

/// This thread's sentinel.
pub(super) fn sentinel(vm: &VirtualMachine) -> PyTypeRef {
    let sentinel = thread::with(|t| t.watch.sentinel.get().cloned());
    sentinel.unwrap_or_else(|| vm.ctx.types.object_type.to_owned())
}

/// The sentinel's tag, assigned if it has none; a number that no tag has if there are no more.
pub(super) fn current_tag(sentinel: &Py<PyType>, vm: &VirtualMachine) -> u32 {
    match class_version(sentinel, vm) {
        0 => u32::MAX,
        tag => tag,
    }
}

/// A class's tag, assigned if it has none. 0: there are no more.
pub(super) fn class_version(class: &Py<PyType>, vm: &VirtualMachine) -> u32 {
    // Any lookup assigns it.
    class.get_attr(vm.ctx.intern_str("__class__"));
    class.tp_version_tag().load(Acquire)
}

/// Enters the sentinel under `class`; the class's tag, `None` if it has none or refuses.
pub(super) fn watch_class(class: &Py<PyType>, sentinel: &Py<PyType>, vm: &VirtualMachine) -> Option<u32> {
    let version = class_version(class, vm);
    if version == 0 {
        return None;
    }
    let known = class.subclasses.read().iter().any(|weak| weak.upgrade().is_some_and(|subclass| subclass.is(sentinel)));
    if !known {
        let weak = sentinel.as_object().downgrade(None, vm).ok()?;
        class.subclasses.write().push(weak);
    }
    Some(version)
}

/// Makes every memo compare its classes and functions at its next check.
pub(super) fn clear() {
    if let Some(sentinel) = thread::with(|t| t.watch.sentinel.get().cloned()) {
        sentinel.modified();
    }
}

/// Keeps the sentinel out of `C.__subclasses__()`.
pub(super) fn hide(vm: &VirtualMachine) -> PyResult<()> {
    let class = vm.ctx.types.type_type;
    let name = vm.ctx.intern_str("__subclasses__");
    let Some(original) = class.get_attr(name) else {
        return Err(vm.new_system_error("type has no __subclasses__"));
    };
    thread::with(|t| {
        t.watch.subclasses.get_or_init(|| original);
    });
    own_methods(class, vm).set("__subclasses__", subclasses);
    Ok(())
}

fn subclasses(class: PyObjectRef, vm: &VirtualMachine) -> PyResult {
    let Some(original) = thread::with(|t| t.watch.subclasses.get().cloned()) else {
        return Err(vm.new_system_error("watchers are not installed"));
    };
    let list = original.call((class,), vm)?;
    let sentinel = sentinel(vm);
    if let Some(list) = list.downcast_ref::<PyList>() {
        list.borrow_vec_mut().retain(|subclass| !subclass.is(&sentinel));
    }
    Ok(list)
}
