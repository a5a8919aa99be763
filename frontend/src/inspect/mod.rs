//! Looking at Python objects, and making them, without running user code.
//!
//! Everything above this crate sees Python through these functions: [`Object`] is a reference that can be kept and compared,
//! [`BuiltinType`] says which of the VM's own types an object has, and the readers answer questions about objects of a known type.
//! No function here calls a slot that a script could have replaced; those that a script's class could reach say so.

mod build;
mod call;
mod fold;
mod pin;
mod read;
mod types;
mod watching;

pub use build::*;
pub use call::*;
pub use fold::*;
pub use pin::Pin;
pub use read::*;
pub use types::BuiltinType;
pub use watching::{Watch, has_watched_namespace, tensor_epoch};

use rustpython_vm::{AsObject, PyObject, PyObjectRef, VirtualMachine, builtins::PyStrInterned};

/// A counted reference to a Python object.
pub type Object = PyObjectRef;

/// The VM of the current thread.
pub type Vm = VirtualMachine;

/// An interned name.
pub type Name = &'static PyStrInterned;

/// Interns a name.
pub fn name(text: &str, vm: &Vm) -> Name {
    vm.ctx.intern_str(text)
}

/// A name as an object.
pub fn name_object(name: Name) -> &'static PyObject {
    name.as_object()
}

/// A number that no other living object has.
pub fn identity(object: &Object) -> usize {
    object.get_id()
}

/// Whether two references are to one object.
pub fn same(a: &Object, b: &Object) -> bool {
    a.is(b)
}
