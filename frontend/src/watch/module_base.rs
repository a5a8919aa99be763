//! The native base of `torch.nn.Module`: its instances start with a watched dict.
//!
//! It has no state of its own: `class M(Mixin, ModuleBase)` is made by `object.__new__`, and such an object has no payload
//! of ours. So its slots are raw ones that take any object.

use super::dict::WatchedDict;
use rustpython_vm::{
    AsObject, Py, PyObject, PyObjectRef, PyPayload, PyResult, VirtualMachine,
    builtins::{PyDict, PyStr, PyType, PyTypeRef},
    convert::IntoObject,
    function::{FuncArgs, PySetterValue},
    pyclass,
    types::{Constructor, GetAttr, Initializer, SetAttr},
};

/// `torch._C.ModuleBase`.
#[pyclass(module = "torch._C", name = "ModuleBase")]
#[derive(Debug, PyPayload)]
pub struct ModuleBase;

#[pyclass(flags(BASETYPE, HAS_DICT, HAS_WEAKREF), with(Constructor, Initializer, SetAttr, GetAttr))]
impl ModuleBase {}

impl Constructor for ModuleBase {
    type Args = FuncArgs;

    fn py_new(_class: &Py<PyType>, _args: FuncArgs, _vm: &VirtualMachine) -> PyResult<Self> {
        Ok(Self)
    }

    fn slot_new(class: PyTypeRef, _args: FuncArgs, vm: &VirtualMachine) -> PyResult {
        let object: PyObjectRef = Self.into_ref_with_type(vm, class)?.into();
        let dict = WatchedDict::make(vm).into_object().downcast::<PyDict>();
        if let Ok(dict) = dict {
            // An object that keeps its plain dict is adopted when it is first watched.
            let _ = object.set_dict(Some(dict));
        }
        Ok(object)
    }
}

impl Initializer for ModuleBase {
    type Args = FuncArgs;

    fn slot_init(_zelf: &PyObject, _args: FuncArgs, _vm: &VirtualMachine) -> PyResult<()> {
        Ok(())
    }

    fn init(_zelf: &Py<Self>, _args: FuncArgs, _vm: &VirtualMachine) -> PyResult<()> {
        Ok(())
    }
}

/// Only for speed: the dict sees what the generic way writes.
impl SetAttr for ModuleBase {
    fn setattro(zelf: &Py<Self>, name: &Py<PyStr>, value: PySetterValue, vm: &VirtualMachine) -> PyResult<()> {
        zelf.as_object().generic_setattr(name, value, vm)
    }

    fn slot_setattro(zelf: &PyObject, name: &Py<PyStr>, value: PySetterValue, vm: &VirtualMachine) -> PyResult<()> {
        let PySetterValue::Assign(value) = value else {
            return zelf.generic_setattr(name, value, vm);
        };
        let descriptor = vm.ctx.interned_str(name).and_then(|name| zelf.class().get_attr(name));
        if let Some(descriptor) = &descriptor
            && let Some(set) = descriptor.class().slots().descr_set.load()
        {
            return set(descriptor, zelf.to_owned(), PySetterValue::Assign(value), vm);
        }
        let dict = zelf.dict();
        match dict.as_ref().and_then(|dict| dict.as_object().downcast_ref::<WatchedDict>()) {
            Some(dict) => dict.writing(name.as_object(), vm, || dict.entries().inner_setitem(name, value, vm)),
            None => zelf.generic_setattr(name, PySetterValue::Assign(value), vm),
        }
    }
}

/// Only for speed: the generic way makes a KeyError for each miss in a dict that isn't exact.
impl GetAttr for ModuleBase {
    fn getattro(zelf: &Py<Self>, name: &Py<PyStr>, vm: &VirtualMachine) -> PyResult {
        zelf.as_object().generic_getattr(name, vm)
    }

    fn slot_getattro(zelf: &PyObject, name: &Py<PyStr>, vm: &VirtualMachine) -> PyResult {
        let attribute = vm.ctx.interned_str(name).and_then(|name| zelf.class().get_attr(name));
        let slots = attribute.as_ref().map(|attribute| attribute.class().slots());
        let get = slots.and_then(|slots| slots.descr_get.load());
        let is_data = slots.is_some_and(|slots| slots.descr_set.load().is_some());
        let class = Some(zelf.class().as_object());
        if is_data && let (Some(attribute), Some(get)) = (&attribute, get) {
            return get(attribute, Some(zelf), class, vm);
        }
        if let Some(dict) = zelf.dict() {
            let value = match dict.as_object().downcast_ref::<WatchedDict>() {
                Some(dict) => dict.entries().inner_getitem_opt(name, vm)?,
                None => dict.get_item_opt(name, vm)?,
            };
            if let Some(value) = value {
                return Ok(value);
            }
        }
        match (attribute, get) {
            (Some(attribute), Some(get)) => get(&attribute, Some(zelf), class, vm),
            (Some(attribute), None) => Ok(attribute),
            (None, _) => Err(vm.new_no_attribute_error(zelf.to_owned(), name.to_owned())),
        }
    }
}
