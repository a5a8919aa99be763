//! Builders and raw writers: native, infallible where the arguments are of the right type, and running no Python.

use super::{Const, Name, Object, Vm};
use rustpython_vm::{
    AsObject, PyPayload,
    builtins::{PyCode, PyDict, PyFrozenSet, PyList, PyModule, PySet, PySlice, PyTypeRef},
    function::FuncArgs,
};

/// The object of a constant.
pub fn make_const(value: &Const, vm: &Vm) -> Object {
    match value {
        Const::None => vm.ctx.none(),
        Const::Bool(b) => vm.ctx.new_bool(*b).into(),
        Const::Int(i) => vm.ctx.new_int(*i).into(),
        // The text is a decimal integer, so `int(text)` can't fail.
        Const::BigInt(text) => vm.ctx.types.int_type.as_object().call((vm.ctx.new_str(&**text),), vm).unwrap_or_else(|_| vm.ctx.none()),
        Const::Float(bits) => vm.ctx.new_float(f64::from_bits(*bits)).into(),
        Const::Str(s) => vm.ctx.new_str(&**s).into(),
        Const::Bytes(b) => vm.ctx.new_bytes(b.to_vec()).into(),
        Const::Ellipsis => vm.ctx.ellipsis.clone().into(),
        Const::NotImplemented => vm.ctx.not_implemented(),
    }
}

/// A tuple.
pub fn make_tuple(items: Vec<Object>, vm: &Vm) -> Object {
    vm.ctx.new_tuple(items).into()
}

/// A list.
pub fn make_list(items: Vec<Object>, vm: &Vm) -> Object {
    vm.ctx.new_list(items).into()
}

/// An empty dict.
pub fn make_dict(vm: &Vm) -> Object {
    vm.ctx.new_dict().into()
}

/// A set of objects with native hash and equality.
pub fn make_set(items: Vec<Object>, frozen: bool, vm: &Vm) -> Object {
    if frozen {
        return match PyFrozenSet::from_iter(vm, items) {
            Ok(set) => set.into_ref(&vm.ctx).into(),
            Err(_) => vm.ctx.none(),
        };
    }
    let set = PySet::default().into_ref(&vm.ctx);
    for item in items {
        let _ = set.add(item, vm);
    }
    set.into()
}

/// A slice.
pub fn make_slice(parts: [Object; 3], vm: &Vm) -> Object {
    let [start, stop, step] = parts;
    PySlice { start: Some(start), stop, step: Some(step) }.into_ref(&vm.ctx).into()
}

/// A cell, empty where `contents` is `None`.
pub fn make_cell(contents: Option<Object>, vm: &Vm) -> Option<Object> {
    let cell = vm.ctx.types.cell_type.as_object();
    match contents {
        Some(value) => cell.call((value,), vm).ok(),
        None => cell.call((), vm).ok(),
    }
}

/// Calls one of the VM's own types or functions with arguments that make it run no user code.
pub fn call_native(callee: &Object, args: Vec<Object>, vm: &Vm) -> Option<Object> {
    callee.call(FuncArgs::from(args), vm).ok()
}

/// An object of a Python class without running a `__new__` or `__init__` of a script: what the class's native base makes.
pub fn make_instance(class: &Object, vm: &Vm) -> Option<Object> {
    let native = super::mro(class).into_iter().find(|c| !super::is_mutable_class(c))?;
    let new = native.downcast_ref::<rustpython_vm::builtins::PyType>()?.slots().new.load()?;
    let class: PyTypeRef = class.clone().downcast().ok()?;
    new(class, FuncArgs::default(), vm).ok()
}

/// Writes a cell.
pub fn set_cell(cell: &Object, contents: Option<Object>, vm: &Vm) {
    let name = vm.ctx.intern_str("cell_contents");
    let _ = match contents {
        Some(value) => cell.set_attr(name, value, vm),
        None => cell.del_attr(name, vm),
    };
}

/// Sets or deletes a key of a dict through its own write path, so that watchers see it. The key has native hash and equality.
pub fn dict_set(dict: &Object, key: &Object, value: Option<Object>, vm: &Vm) {
    let Some(dict) = dict.downcast_ref::<PyDict>() else { return };
    let _ = match value {
        Some(value) => dict.set_item(&**key, value, vm),
        None => dict.del_item(&**key, vm),
    };
}

/// Removes every key of a dict.
pub fn dict_clear(dict: &Object, vm: &Vm) {
    for (key, _) in super::dict_items(dict) {
        dict_set(dict, &key, None, vm);
    }
}

/// Sets or deletes a key of an object's namespace.
pub fn set_instance_attribute(object: &Object, name: Name, value: Option<Object>, vm: &Vm) {
    if let Some(dict) = object.dict() {
        dict_set(&dict.into(), &name.to_owned().into(), value, vm);
    }
}

/// Replaces the items of a list.
pub fn list_replace(list: &Object, items: Vec<Object>) {
    if let Some(list) = list.downcast_ref::<PyList>() {
        let old = std::mem::replace(&mut *list.borrow_vec_mut(), items);
        // Dropped after the lock is gone: an item's death may run Python.
        drop(old);
    }
}

/// Replaces the elements of a set; they have native hash and equality.
pub fn set_replace(set: &Object, items: Vec<Object>, vm: &Vm) {
    if let Some(set) = set.downcast_ref::<PySet>() {
        set.clear();
        for item in items {
            let _ = set.add(item, vm);
        }
    }
}

/// The namespace of a module.
pub fn module_dict(module: &Object) -> Option<Object> {
    module.downcast_ref::<PyModule>().map(|m| m.dict().into())
}

/// The namespace behind the globals of a frame: what `__builtins__` in them says, else the VM's own.
pub fn builtins_of(globals: &Object, vm: &Vm) -> Object {
    super::dict_get(globals, vm.ctx.intern_str("__builtins__"), vm).unwrap_or_else(|| vm.builtins.clone().into())
}

/// A range.
pub fn make_range(parts: [i64; 3], vm: &Vm) -> Option<Object> {
    let [start, stop, step] = parts.map(|i| Object::from(vm.ctx.new_int(i)));
    vm.ctx.types.range_type.as_object().call((start, stop, step), vm).ok()
}

/// Whether a code object needs a closure.
pub fn has_free_variables(code: &Object) -> bool {
    code.downcast_ref::<PyCode>().is_some_and(|code| !code.code.freevars.is_empty())
}

/// The parts a function is made of; absent ones are `None` objects.
pub struct FunctionParts {
    /// Its code object.
    pub code: Object,
    /// Its namespace.
    pub globals: Object,
    /// Default values.
    pub defaults: Object,
    /// Default values of keyword-only parameters.
    pub keyword_defaults: Object,
    /// Cells of its free variables.
    pub closure: Object,
}

/// A function.
pub fn make_function(parts: FunctionParts, vm: &Vm) -> Option<Object> {
    let name: Object = vm.ctx.new_str(parts.code.downcast_ref::<rustpython_vm::builtins::PyCode>()?.code.obj_name.as_str()).into();
    let args = vec![parts.code, parts.globals, name, parts.defaults, parts.closure, parts.keyword_defaults];
    vm.ctx.types.function_type.as_object().call(FuncArgs::from(args), vm).ok()
}

/// A bound method.
pub fn make_method(function: Object, receiver: Object, vm: &Vm) -> Object {
    rustpython_vm::builtins::PyBoundMethod::new(receiver, function).into_ref(&vm.ctx).into()
}

/// A view of a dict: `keys`, `values` or `items`.
pub fn make_dict_view(dict: &Object, which: &str, vm: &Vm) -> Option<Object> {
    let method = vm.ctx.types.dict_type.get_attr(vm.ctx.intern_str(which))?;
    method.call((dict.clone(),), vm).ok()
}

/// `iter(over)`, some steps on.
pub fn make_iterator(over: &Object, steps: usize, vm: &Vm) -> Option<Object> {
    let iterator: Object = over.get_iter(vm).ok()?.into();
    for _ in 0..steps {
        rustpython_vm::protocol::PyIter::new(&*iterator).next(vm).ok()?;
    }
    Some(iterator)
}

/// `enumerate(iterator, count)`.
pub fn make_enumerate(iterator: Object, count: i64, vm: &Vm) -> Option<Object> {
    vm.ctx.types.enumerate_type.as_object().call((iterator, vm.ctx.new_int(count)), vm).ok()
}

/// `zip(*iterators)`.
pub fn make_zip(iterators: Vec<Object>, vm: &Vm) -> Option<Object> {
    vm.ctx.types.zip_type.as_object().call(FuncArgs::from(iterators), vm).ok()
}
