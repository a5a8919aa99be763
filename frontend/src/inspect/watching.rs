//! Watchers, seen from the guards: knowing that nothing that was looked at has been written since.

use super::{Name, Object, Vm};
use crate::watch::{self, Memo};
use rustpython_vm::builtins::{PyFunction, PyType};
use std::rc::Rc;

/// What one full check relied on.
pub struct Watch {
    memo: Rc<Memo>,
}

impl Watch {
    /// Nothing is relied on yet.
    pub fn new(vm: &Vm) -> Watch {
        Watch { memo: Memo::new(vm) }
    }

    /// Whether nothing that is relied on was written: two loads.
    #[inline]
    pub fn is_clean(&self, vm: &Vm) -> bool {
        self.memo.is_clean(vm)
    }

    /// Relies on what one key of a dict holds, presence included. `false`: the dict can't be watched.
    pub fn key(&self, dict: &Object, name: Name, vm: &Vm) -> bool {
        match watch::watched(dict) {
            Some(dict) => {
                self.memo.watch_key(dict, name, 0, vm);
                true
            }
            None => false,
        }
    }

    /// Relies on the keys of a dict and their order. `false`: the dict can't be watched.
    pub fn all_keys(&self, dict: &Object, vm: &Vm) -> bool {
        match watch::watched(dict) {
            Some(dict) => {
                self.memo.watch_all(dict, 0, vm);
                true
            }
            None => false,
        }
    }

    /// Relies on the attributes of a class and of its bases. `false`: the class can't be watched.
    pub fn class(&self, class: &Object, vm: &Vm) -> bool {
        class.downcast_ref::<PyType>().is_some_and(|c| self.memo.watch_class(c, 0, vm))
    }

    /// Relies on the code and defaults of a function. `false`: it can't be watched.
    pub fn function(&self, function: &Object, vm: &Vm) -> bool {
        function.downcast_ref::<PyFunction>().is_some_and(|f| self.memo.watch_function(f, 0, vm))
    }
}

/// Whether an object's namespace can be watched, made so where nobody else holds it.
pub fn has_watched_namespace(object: &Object) -> bool {
    super::instance_dict(object).is_some_and(|d| watch::watched(&d).is_some())
}

/// Changes whenever a tensor object that existed before gets another layout, dtype, storage size or gradient flag.
#[inline]
pub fn tensor_epoch() -> u64 {
    crate::thread::with(|t| t.tensor_epoch.get())
}
