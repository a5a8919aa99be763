//! Hooks on the descriptor types, for the ways of writing that don't end in the watched dict's own slot.
//!
//! - `dict.update(d, …)` and the like, through `method_descriptor` and `wrapper_descriptor`: a receiver of class
//!   [`WatchedDict`] is sent to its own method.
//! - `__slots__` members, `__dict__ =`, `__class__ =`, and `__code__ =`, `__defaults__ =` of functions, through
//!   `member_descriptor` and `getset_descriptor`.
//!
//! Other receivers pay a class comparison. The Python-level `__get__`, `__call__`, `__set__` and `__delete__` of these
//! types captured the VM's slots when they were made, so they are replaced too.

use super::{dict::WatchedDict, sentinel};
use crate::{code::Name, thread};
use rustpython_vm::{
    AsObject, Py, PyObject, PyObjectRef, PyResult, VirtualMachine,
    builtins::{PyStr, PyType},
    class::StaticType,
    function::{FuncArgs, IntoPyNativeFn, OptionalArg, PySetterValue},
};

type VectorCall = fn(&PyObject, Vec<PyObjectRef>, usize, Option<&[PyObjectRef]>, &VirtualMachine) -> PyResult;
type Call = fn(&PyObject, FuncArgs, &VirtualMachine) -> PyResult;
type Get = fn(&PyObject, Option<&PyObject>, Option<&PyObject>, &VirtualMachine) -> PyResult;

/// The VM's slot for assigning through a descriptor.
pub(super) type WriteSlot = fn(&PyObject, PyObjectRef, PySetterValue, &VirtualMachine) -> PyResult<()>;

/// The VM's slots of one descriptor type for methods.
#[derive(Clone, Copy)]
pub(super) struct CallSlots {
    vector_call: VectorCall,
    call: Call,
    get: Get,
}

/// dict's methods that write, those that a [`WatchedDict`] calls itself first.
const WRITING: &[&str] = &["update", "pop", "popitem", "clear", "setdefault", "__setitem__", "__delitem__", "__ior__", "__init__"];

/// Index of `method_descriptor`, and of `member_descriptor`, in the pairs of saved slots.
const METHOD: usize = 0;
const MEMBER: usize = 0;
/// Index of `wrapper_descriptor`, and of `getset_descriptor`.
const WRAPPER: usize = 1;
const GETSET: usize = 1;

/// Puts the hooks in, once for each thread.
pub(super) fn install(vm: &VirtualMachine) -> PyResult<()> {
    let types = &vm.ctx.types;
    let (methods, wrappers) = (types.method_descriptor_type, types.wrapper_descriptor_type);
    let (members, getsets) = (types.member_descriptor_type, types.getset_type);
    let saved = save(methods).zip(save(wrappers));
    let writes = members.slots().descr_set.load().zip(getsets.slots().descr_set.load());
    let (Some((method, wrapper)), Some((member, getset))) = (saved, writes) else {
        return Err(vm.new_system_error("a descriptor type has no slots"));
    };
    for name in WRITING {
        let key = vm.ctx.intern_str(*name);
        let (Some(base), Some(own)) = (types.dict_type.get_attr(key), WatchedDict::static_type().get_attr(key)) else {
            return Err(vm.new_system_error(format!("dict has no {name}")));
        };
        thread::with(|t| {
            t.watch.redirects.borrow_mut().push((base.get_id(), own));
            t.watch.base_methods.borrow_mut().push((name, base));
        });
    }
    thread::with(|t| {
        t.watch.calls.set(Some([method, wrapper]));
        t.watch.writes.set(Some([member, getset]));
    });
    hook_calls::<METHOD>(methods);
    hook_calls::<WRAPPER>(wrappers);
    members.slots().descr_set.store(Some(hooked_write::<MEMBER>));
    getsets.slots().descr_set.store(Some(hooked_write::<GETSET>));
    for class in [methods, wrappers] {
        own_methods(class, vm).set("__get__", python_get).set("__call__", python_call);
    }
    for class in [members, getsets] {
        own_methods(class, vm).set("__set__", python_set).set("__delete__", python_delete);
    }
    Ok(())
}

/// Calls dict's own descriptor, past the hook: through it, the call would come back here for ever.
pub(super) fn call_original(descriptor: &PyObject, args: FuncArgs, vm: &VirtualMachine) -> PyResult {
    match saved_calls(vm) {
        Ok(saved) => (saved[kind(descriptor, vm)].call)(descriptor, args, vm),
        Err(error) => Err(error),
    }
}

/// Replaces methods of a static type.
pub(super) fn own_methods<'a>(class: &'static Py<PyType>, vm: &'a VirtualMachine) -> OwnMethods<'a> {
    OwnMethods { class, vm }
}

pub(super) struct OwnMethods<'a> {
    class: &'static Py<PyType>,
    vm: &'a VirtualMachine,
}

impl OwnMethods<'_> {
    pub(super) fn set<K>(self, name: &'static str, method: impl IntoPyNativeFn<K>) -> Self {
        let method = self.vm.new_method(name, self.class, method);
        self.class.set_attr(self.vm.ctx.intern_str(name), method.into());
        self
    }
}

fn save(class: &Py<PyType>) -> Option<CallSlots> {
    let slots = class.slots();
    Some(CallSlots { vector_call: slots.vectorcall.load()?, call: slots.call.load()?, get: slots.descr_get.load()? })
}

fn hook_calls<const KIND: usize>(class: &Py<PyType>) {
    let slots = class.slots();
    slots.vectorcall.store(Some(hooked_vector_call::<KIND>));
    slots.call.store(Some(hooked_call::<KIND>));
    slots.descr_get.store(Some(hooked_get::<KIND>));
}

fn saved_calls(vm: &VirtualMachine) -> PyResult<[CallSlots; 2]> {
    thread::with(|t| t.watch.calls.get()).ok_or_else(|| vm.new_system_error("watchers are not installed"))
}

fn kind(descriptor: &PyObject, vm: &VirtualMachine) -> usize {
    if descriptor.class().is(vm.ctx.types.method_descriptor_type) { METHOD } else { WRAPPER }
}

/// The watched dict's own method in place of dict's, if `receiver` is a watched dict.
fn redirected(descriptor: &PyObject, receiver: Option<&PyObject>) -> Option<PyObjectRef> {
    if !receiver?.class().is(WatchedDict::static_type()) {
        return None;
    }
    let address = descriptor.get_id();
    thread::with(|t| t.watch.redirects.borrow().iter().find(|(base, _)| *base == address).map(|(_, own)| own.clone()))
}

fn hooked_vector_call<const KIND: usize>(
    descriptor: &PyObject,
    args: Vec<PyObjectRef>,
    positional: usize,
    keywords: Option<&[PyObjectRef]>,
    vm: &VirtualMachine,
) -> PyResult {
    let saved = saved_calls(vm)?;
    match redirected(descriptor, args.first().map(|receiver| &**receiver)) {
        Some(own) => (saved[kind(&own, vm)].vector_call)(&own, args, positional, keywords, vm),
        None => (saved[KIND].vector_call)(descriptor, args, positional, keywords, vm),
    }
}

fn hooked_call<const KIND: usize>(descriptor: &PyObject, args: FuncArgs, vm: &VirtualMachine) -> PyResult {
    match redirected(descriptor, args.args.first().map(|receiver| &**receiver)) {
        Some(own) => call_original(&own, args, vm),
        None => (saved_calls(vm)?[KIND].call)(descriptor, args, vm),
    }
}

fn hooked_get<const KIND: usize>(
    descriptor: &PyObject,
    object: Option<&PyObject>,
    class: Option<&PyObject>,
    vm: &VirtualMachine,
) -> PyResult {
    let saved = saved_calls(vm)?;
    match redirected(descriptor, object) {
        Some(own) => (saved[kind(&own, vm)].get)(&own, object, class, vm),
        None => (saved[KIND].get)(descriptor, object, class, vm),
    }
}

fn hooked_write<const KIND: usize>(descriptor: &PyObject, object: PyObjectRef, value: PySetterValue, vm: &VirtualMachine) -> PyResult<()> {
    let Some(writes) = thread::with(|t| t.watch.writes.get()) else {
        return Err(vm.new_system_error("watchers are not installed"));
    };
    let write = writes[KIND];
    if object.class().is(vm.ctx.types.function_type) {
        let result = write(descriptor, object, value, vm);
        if let Some("__code__" | "__defaults__" | "__kwdefaults__") = name_of(descriptor, vm)?.map(|name| name.as_str()) {
            sentinel::clear();
        }
        return result;
    }
    let dict = object.dict();
    let Some(dict) = dict.as_ref().and_then(|dict| dict.as_object().downcast_ref::<WatchedDict>()) else {
        return write(descriptor, object, value, vm);
    };
    let member = name_of(descriptor, vm)?.filter(|name| !matches!(name.as_str(), "__dict__" | "__class__"));
    let touch = || match member {
        Some(member) => dict.touch_name(member),
        None => dict.touch_all(),
    };
    touch();
    let result = write(descriptor, object, value, vm);
    touch();
    result
}

fn name_of(descriptor: &PyObject, vm: &VirtualMachine) -> PyResult<Option<Name>> {
    let name = descriptor.get_attr(vm.ctx.intern_str("__name__"), vm)?;
    Ok(name.downcast_ref::<PyStr>().and_then(|name| Some(vm.ctx.intern_str(name.to_str()?))))
}

fn python_get(descriptor: PyObjectRef, object: PyObjectRef, class: OptionalArg<PyObjectRef>, vm: &VirtualMachine) -> PyResult {
    match descriptor.class().slots().descr_get.load() {
        Some(get) => get(&descriptor, (!vm.is_none(&object)).then_some(&*object), class.into_option().as_deref(), vm),
        None => Ok(descriptor),
    }
}

fn python_call(descriptor: PyObjectRef, args: FuncArgs, vm: &VirtualMachine) -> PyResult {
    descriptor.call(args, vm)
}

fn python_set(descriptor: PyObjectRef, object: PyObjectRef, value: PyObjectRef, vm: &VirtualMachine) -> PyResult<()> {
    assign(&descriptor, object, PySetterValue::Assign(value), vm)
}

fn python_delete(descriptor: PyObjectRef, object: PyObjectRef, vm: &VirtualMachine) -> PyResult<()> {
    assign(&descriptor, object, PySetterValue::Delete, vm)
}

fn assign(descriptor: &PyObject, object: PyObjectRef, value: PySetterValue, vm: &VirtualMachine) -> PyResult<()> {
    match descriptor.class().slots().descr_set.load() {
        Some(set) => set(descriptor, object, value, vm),
        None => Err(vm.new_type_error("not a data descriptor")),
    }
}
