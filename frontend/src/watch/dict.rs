//! The watched dict: every way of writing it ends in its own slot, which makes the guards that read the key dirty.
//!
//! Writes make dirty *before and after*: before, since dropping the old value can run a `__del__` that calls compiled code;
//! after, since `__eq__` or `keys()` of the script's objects can run a full check before the write has landed.

use super::{descriptors, memo::Memo};
use crate::{code::Name, thread};
use rustpython_vm::{
    AsObject, Py, PyObject, PyObjectRef, PyPayload, PyRef, PyResult, VirtualMachine,
    builtins::{PyDict, PyStr, PyType},
    function::FuncArgs,
    object::{Traverse, TraverseFn},
    protocol::{PyMapping, PyMappingMethods, PyNumberMethods},
    pyclass,
    types::{AsMapping, AsNumber, Constructor, Hashable, Initializer},
};
use std::{
    cell::RefCell,
    fmt,
    rc::{Rc, Weak},
    sync::LazyLock,
};

/// Attributes of a module, or one of its mappings (`_parameters`, `_buffers`, `_modules`, hooks).
#[pyclass(module = "torch._C", name = "WatchedDict", base = PyDict, unhashable = true, traverse = "manual")]
#[derive(Default)]
pub struct WatchedDict {
    dict: PyDict,
    /// `None` as long as nobody watches.
    watch: RefCell<Option<Box<WatchList>>>,
}

/// Who relies on which key.
#[derive(Default)]
struct WatchList {
    /// One bit for the hash of each watched key, so that most writes of other keys end there.
    filter: u64,
    keys: Vec<(Name, Vec<Registration>)>,
    /// Those who rely on all keys.
    all: Vec<Registration>,
}

struct Registration {
    memo: Weak<Memo>,
    guard: u32,
}

impl WatchedDict {
    /// An empty one.
    pub fn make(vm: &VirtualMachine) -> PyRef<Self> {
        Self::default().into_ref(&vm.ctx)
    }

    /// The dict itself, for reading. What writes through it isn't seen.
    pub fn entries(&self) -> &PyDict {
        &self.dict
    }

    /// The value of a key, without running user code.
    pub fn get(&self, name: Name, vm: &VirtualMachine) -> PyResult<Option<PyObjectRef>> {
        self.dict.inner_getitem_opt(name, vm)
    }

    /// `key`: `None` for all keys.
    pub(super) fn register(&self, key: Option<Name>, memo: &Rc<Memo>, guard: u32, vm: &VirtualMachine) {
        let mut watch = self.watch.borrow_mut();
        let watch = watch.get_or_insert_default();
        let list = match key {
            None => &mut watch.all,
            Some(key) => {
                watch.filter |= filter_bit(key, vm);
                match watch.keys.iter().position(|(known, _)| std::ptr::eq(*known, key)) {
                    Some(index) => &mut watch.keys[index].1,
                    None => {
                        watch.keys.push((key, Vec::new()));
                        let last = watch.keys.len() - 1;
                        &mut watch.keys[last].1
                    }
                }
            }
        };
        let known = |r: &Registration| r.guard == guard && std::ptr::eq(r.memo.as_ptr(), Rc::as_ptr(memo));
        if list.iter().any(known) {
            return;
        }
        if list.len() == list.capacity() {
            list.retain(|registration| registration.memo.strong_count() > 0);
        }
        list.push(Registration { memo: Rc::downgrade(memo), guard });
    }

    /// `key` is about to be written, or was.
    #[inline]
    pub(super) fn touch(&self, key: &PyObject, vm: &VirtualMachine) {
        if self.watch.borrow().is_some() {
            self.touch_watched(key, vm);
        }
    }

    #[cold]
    fn touch_watched(&self, key: &PyObject, vm: &VirtualMachine) {
        // A subclass of str, or another type, may compare equal to anything.
        let Some(key) = key.downcast_ref_if_exact::<PyStr>(vm) else {
            return self.touch_all();
        };
        let watch = self.watch.borrow();
        let Some(watch) = watch.as_deref() else { return };
        fire(&watch.all);
        if watch.filter & filter_bit(key, vm) == 0 {
            return;
        }
        // A key that was never interned is watched by nobody.
        if let Some(key) = vm.ctx.interned_str(key) {
            watch.fire_key(key);
        }
    }

    /// The same for a key known by name.
    pub(super) fn touch_name(&self, key: Name) {
        if let Some(watch) = self.watch.borrow().as_deref() {
            fire(&watch.all);
            watch.fire_key(key);
        }
    }

    /// Any key may be written; or the dict dies, so that nobody trusts an object that takes its address.
    pub(super) fn touch_all(&self) {
        if let Some(watch) = self.watch.borrow().as_deref() {
            fire(&watch.all);
            watch.keys.iter().for_each(|(_, list)| fire(list));
        }
    }

    /// A write of `key` by `write`.
    pub(super) fn writing<R>(&self, key: &PyObject, vm: &VirtualMachine, write: impl FnOnce() -> R) -> R {
        self.touch(key, vm);
        let result = write();
        self.touch(key, vm);
        result
    }
}

impl WatchList {
    fn fire_key(&self, key: Name) {
        if let Some((_, list)) = self.keys.iter().find(|(known, _)| std::ptr::eq(*known, key)) {
            fire(list);
        }
    }
}

fn fire(list: &[Registration]) {
    for registration in list {
        if let Some(memo) = registration.memo.upgrade() {
            memo.mark_dirty(registration.guard);
        }
    }
}

fn filter_bit(key: &Py<PyStr>, vm: &VirtualMachine) -> u64 {
    1 << (<PyStr as Hashable>::hash(key, vm).unwrap_or_default() & 63)
}

/// Runs dict's own method `name`, which writes.
fn call_base(zelf: &Py<WatchedDict>, name: &str, mut args: FuncArgs, vm: &VirtualMachine) -> PyResult {
    let base = thread::with(|t| t.watch.base_methods.borrow().iter().find(|(known, _)| *known == name).map(|(_, base)| base.clone()));
    let Some(base) = base else {
        return Err(vm.new_system_error("watchers are not installed"));
    };
    let keys = written_keys(name, &args, vm);
    let touch = || match &keys {
        Some(keys) => keys.iter().for_each(|key| zelf.touch(key, vm)),
        None => zelf.touch_all(),
    };
    args.prepend_arg(zelf.to_owned().into());
    touch();
    let result = descriptors::call_original(&base, args, vm);
    touch();
    result
}

/// The keys that a call of dict's method can write, where that is cheap to say.
fn written_keys(name: &str, args: &FuncArgs, vm: &VirtualMachine) -> Option<Vec<PyObjectRef>> {
    const FEW: usize = 8;
    match (name, &args.args[..]) {
        ("pop" | "setdefault", [key, ..]) => Some(vec![key.clone()]),
        ("update", []) => Some(args.kwargs.keys().map(|key| vm.ctx.new_str(key.clone()).into()).collect()),
        ("update", [other]) if args.kwargs.is_empty() => {
            other.downcast_ref_if_exact::<PyDict>(vm).filter(|dict| dict.__len__() <= FEW).map(|dict| dict.keys_vec())
        }
        _ => None,
    }
}

#[pyclass(with(Constructor, Initializer, AsMapping, AsNumber), flags(MAPPING))]
impl WatchedDict {
    #[pymethod]
    fn update(zelf: &Py<Self>, args: FuncArgs, vm: &VirtualMachine) -> PyResult {
        call_base(zelf, "update", args, vm)
    }

    #[pymethod]
    fn pop(zelf: &Py<Self>, args: FuncArgs, vm: &VirtualMachine) -> PyResult {
        call_base(zelf, "pop", args, vm)
    }

    #[pymethod]
    fn popitem(zelf: &Py<Self>, args: FuncArgs, vm: &VirtualMachine) -> PyResult {
        call_base(zelf, "popitem", args, vm)
    }

    #[pymethod]
    fn clear(zelf: &Py<Self>, args: FuncArgs, vm: &VirtualMachine) -> PyResult {
        call_base(zelf, "clear", args, vm)
    }

    #[pymethod]
    fn setdefault(zelf: &Py<Self>, args: FuncArgs, vm: &VirtualMachine) -> PyResult {
        call_base(zelf, "setdefault", args, vm)
    }

    /// As `OrderedDict` has it, towards the end only: the mappings of a module were once of that class.
    #[pymethod]
    fn move_to_end(zelf: &Py<Self>, key: PyObjectRef, vm: &VirtualMachine) -> PyResult<()> {
        let value = zelf.dict.inner_getitem_opt(&*key, vm)?.ok_or_else(|| vm.new_key_error(key.clone()))?;
        zelf.as_object().del_item(&*key, vm)?;
        zelf.as_object().set_item(&*key, value, vm)
    }

    #[pymethod]
    fn __copy__(zelf: &Py<Self>, vm: &VirtualMachine) -> PyResult<PyRef<Self>> {
        let copy = Self::make(vm);
        for (key, value) in zelf.dict.items_vec() {
            copy.dict.inner_setitem(&*key, value, vm)?;
        }
        Ok(copy)
    }

    #[pymethod]
    fn __deepcopy__(zelf: &Py<Self>, memo: PyObjectRef, vm: &VirtualMachine) -> PyResult<PyRef<Self>> {
        let deepcopy = vm.import("copy", 0)?.get_attr("deepcopy", vm)?;
        let copy = Self::make(vm);
        // Entered before its items, which may lead back here.
        memo.set_item(vm.ctx.new_int(zelf.get_id()).as_object(), copy.clone().into(), vm)?;
        for (key, value) in zelf.dict.items_vec() {
            let key = deepcopy.call((key, memo.clone()), vm)?;
            let value = deepcopy.call((value, memo.clone()), vm)?;
            copy.dict.inner_setitem(&*key, value, vm)?;
        }
        Ok(copy)
    }

    /// A file holds a plain dict.
    #[pymethod]
    fn __reduce_ex__(zelf: &Py<Self>, _protocol: i32, vm: &VirtualMachine) -> PyResult {
        let items = vm.call_method(zelf.as_object(), "items", ())?.get_iter(vm)?;
        let (class, none) = (vm.ctx.types.dict_type.to_owned(), vm.ctx.none());
        let parts = vec![class.into(), vm.ctx.empty_tuple.clone().into(), none.clone(), none, items.into()];
        Ok(vm.ctx.new_tuple(parts).into())
    }
}

impl Constructor for WatchedDict {
    type Args = FuncArgs;

    fn py_new(_class: &Py<PyType>, _args: FuncArgs, _vm: &VirtualMachine) -> PyResult<Self> {
        Ok(Self::default())
    }
}

impl Initializer for WatchedDict {
    type Args = FuncArgs;

    fn init(zelf: &Py<Self>, args: FuncArgs, vm: &VirtualMachine) -> PyResult<()> {
        call_base(zelf, "update", args, vm).map(drop)
    }
}

impl AsMapping for WatchedDict {
    fn as_mapping() -> &'static PyMappingMethods {
        static METHODS: LazyLock<PyMappingMethods> = LazyLock::new(|| PyMappingMethods {
            length: PyDict::as_mapping().length,
            subscript: PyDict::as_mapping().subscript,
            ass_subscript: Some(assign_item),
        });
        &METHODS
    }
}

/// The slot that every write ends in.
fn assign_item(mapping: PyMapping<'_>, key: &PyObject, value: Option<PyObjectRef>, vm: &VirtualMachine) -> PyResult<()> {
    let zelf = WatchedDict::mapping_downcast(mapping);
    zelf.writing(key, vm, || match (value, PyDict::as_mapping().ass_subscript) {
        (Some(value), _) => zelf.dict.inner_setitem(key, value, vm),
        (None, Some(assign)) => assign(mapping, key, None, vm),
        (None, None) => Err(vm.new_system_error("dict can't delete items")),
    })
}

impl AsNumber for WatchedDict {
    fn as_number() -> &'static PyNumberMethods {
        static METHODS: PyNumberMethods = PyNumberMethods { inplace_or: Some(update_in_place), ..PyNumberMethods::NOT_IMPLEMENTED };
        &METHODS
    }
}

fn update_in_place(zelf: &PyObject, other: &PyObject, vm: &VirtualMachine) -> PyResult {
    match zelf.downcast_ref::<WatchedDict>() {
        Some(dict) => {
            call_base(dict, "update", vec![other.to_owned()].into(), vm)?;
            Ok(zelf.to_owned())
        }
        None => Ok(vm.ctx.not_implemented()),
    }
}

// SAFETY: every Python object that a WatchedDict owns is in `dict`, which traverses itself; watch lists hold memos only.
unsafe impl Traverse for WatchedDict {
    fn traverse(&self, visit: &mut TraverseFn<'_>) {
        self.dict.traverse(visit);
    }

    fn clear(&mut self, out: &mut Vec<PyObjectRef>) {
        self.touch_all();
        Traverse::clear(&mut self.dict, out);
    }
}

impl Drop for WatchedDict {
    fn drop(&mut self) {
        self.touch_all();
    }
}

impl fmt::Debug for WatchedDict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WatchedDict")
    }
}
