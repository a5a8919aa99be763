//! Pins: remembering an object without keeping it alive.

use super::{Object, Vm};
use rustpython_vm::{AsObject, PyRef, builtins::PyWeak};

/// An expected object. Where its type allows weak references it is held weakly: it never matches again once it is dead, also
/// if its address is used anew. Objects without weak references (numbers, strings, tuples, lists, dicts) are kept alive.
#[derive(Clone, Debug)]
pub struct Pin {
    address: usize,
    hold: Hold,
}

#[derive(Clone, Debug)]
enum Hold {
    Weak(PyRef<PyWeak>),
    Strong(Object),
}

impl Pin {
    /// Pins an object.
    pub fn new(object: &Object, vm: &Vm) -> Pin {
        let hold = match object.downgrade(None, vm) {
            Ok(weak) => Hold::Weak(weak),
            Err(_) => Hold::Strong(object.clone()),
        };
        Pin { address: object.get_id(), hold }
    }

    /// Where the object lives, or lived.
    pub fn address(&self) -> usize {
        self.address
    }

    /// The object, if it is still alive.
    pub fn object(&self) -> Option<Object> {
        match &self.hold {
            Hold::Weak(weak) => weak.upgrade(),
            Hold::Strong(object) => Some(object.clone()),
        }
    }

    /// Whether `object` is the pinned one. A living object at the pinned address is another one only if the pinned one is dead.
    #[inline]
    pub fn is(&self, object: &Object) -> bool {
        self.address == object.get_id() && self.is_alive()
    }

    /// Whether the exact class of `object` is the pinned one.
    #[inline]
    pub fn is_class_of(&self, object: &Object) -> bool {
        self.address == object.class().get_id() && self.is_alive()
    }

    fn is_alive(&self) -> bool {
        match &self.hold {
            Hold::Weak(weak) => weak.upgrade().is_some(),
            Hold::Strong(_) => true,
        }
    }
}
