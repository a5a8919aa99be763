//! Watchers: every way of writing a watched object is seen, and writes of anything else disturb nothing.

mod programs;

use rustpython_vm::{
    AsObject, Py, PyObjectRef, PyRef, VirtualMachine,
    builtins::{PyFunction, PyStr, PyTypeRef},
    class::StaticType,
};
use std::{cell::RefCell, rc::Rc};
use taipan_frontend::watch::{self, Memo, ModuleBase, WatchedDict};

/// Guard numbers, as in `watch_compare.py`.
const KEY: u32 = 0;
const CLASS: u32 = 1;
const FUNCTION: u32 = 2;

thread_local! {
    static MEMO: RefCell<Option<Rc<Memo>>> = const { RefCell::new(None) };
}

fn memo() -> Rc<Memo> {
    MEMO.with_borrow(|memo| memo.clone()).expect("a memo")
}

/// A fresh memo that watches one key, or all, of an object or dict, and the object's class. `false`: the object is open.
fn arm(object: PyObjectRef, key: PyObjectRef, vm: &VirtualMachine) -> bool {
    let dict: PyRef<WatchedDict> = match watch::watched(&object).map(Py::to_owned).or_else(|| watch::adopt(&object, vm)) {
        Some(dict) => dict,
        None => return false,
    };
    let memo = Memo::new(vm);
    match key.downcast_ref::<PyStr>().and_then(|key| key.to_str()) {
        Some(key) => memo.watch_key(&dict, vm.ctx.intern_str(key), KEY, vm),
        None => memo.watch_all(&dict, KEY, vm),
    }
    assert!(memo.watch_class(object.class(), CLASS, vm));
    MEMO.set(Some(memo));
    true
}

fn arm_class(class: PyTypeRef, vm: &VirtualMachine) {
    let memo = Memo::new(vm);
    assert!(memo.watch_class(&class, CLASS, vm));
    MEMO.set(Some(memo));
}

fn arm_function(function: PyRef<PyFunction>, vm: &VirtualMachine) {
    let memo = Memo::new(vm);
    assert!(memo.watch_function(&function, FUNCTION, vm));
    MEMO.set(Some(memo));
}

fn clean(vm: &VirtualMachine) -> bool {
    memo().is_clean(vm)
}

/// The dirty guards; none is dirty afterwards.
fn dirty(vm: &VirtualMachine) -> PyObjectRef {
    let guards = memo().take_dirty(vm).into_iter().map(|guard| vm.ctx.new_int(guard).into());
    vm.ctx.new_tuple(guards.collect()).into()
}

fn run(program: &'static str) {
    programs::run(program, |vm, program| {
        let natives = [
            ("ModuleBase", ModuleBase::static_type().as_object().to_owned()),
            ("WatchedDict", WatchedDict::static_type().as_object().to_owned()),
            ("arm", vm.new_function("arm", arm).into()),
            ("arm_class", vm.new_function("arm_class", arm_class).into()),
            ("arm_function", vm.new_function("arm_function", arm_function).into()),
            ("clean", vm.new_function("clean", clean).into()),
            ("dirty", vm.new_function("dirty", dirty).into()),
        ];
        programs::add_module("watch_natives", &natives, vm)?;
        let ended = program();
        MEMO.set(None);
        ended
    });
}

#[test]
fn every_way_of_writing_is_seen() {
    run("watch_ways");
}

#[test]
fn objects_through_their_lives() {
    run("watch_objects");
}

#[test]
fn classes_and_functions() {
    run("watch_classes");
}
