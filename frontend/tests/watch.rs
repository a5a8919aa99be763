//! Watchers: every way of writing a watched object is seen, and writes of anything else disturb nothing.

use rustpython_vm::{
    AsObject, Py, PyObjectRef, PyRef, PyResult, VirtualMachine,
    builtins::{PyFunction, PyStr, PyTypeRef},
    class::StaticType,
};
use std::{cell::RefCell, rc::Rc};
use taipan_frontend::{
    vm::{HostBuilder, Policy, Script, load, spawn_engine_thread},
    watch::{self, Memo, ModuleBase, WatchedDict},
};

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

fn install(vm: &VirtualMachine) -> PyResult<()> {
    let names = vm.ctx.new_dict();
    let natives: [(&'static str, PyObjectRef); 7] = [
        ("ModuleBase", ModuleBase::static_type().as_object().to_owned()),
        ("WatchedDict", WatchedDict::static_type().as_object().to_owned()),
        ("arm", vm.new_function("arm", arm).into()),
        ("arm_class", vm.new_function("arm_class", arm_class).into()),
        ("arm_function", vm.new_function("arm_function", arm_function).into()),
        ("clean", vm.new_function("clean", clean).into()),
        ("dirty", vm.new_function("dirty", dirty).into()),
    ];
    for (name, native) in natives {
        names.set_item(name, native, vm)?;
    }
    let module = vm.new_module("watch_natives", names, None);
    let loaded = vm.sys_module.get_attr("modules", vm)?;
    loaded.set_item("watch_natives", module.into(), vm)
}

fn run(program: &'static str) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs");
    let ended = spawn_engine_thread(program, move || {
        let script = Script::open(format!("{folder}/{program}.py")).expect("the program");
        let host = HostBuilder::new(Policy::imports_only(folder)).build().expect("the host starts");
        let ended = host.enter(|vm| {
            install(vm).expect("natives");
            let ended = load(vm, &script).map(drop).map_err(|error| {
                let mut text = String::new();
                vm.write_exception(&mut text, &error).expect("a string");
                text
            });
            MEMO.set(None);
            ended
        });
        host.finish();
        ended
    })
    .expect("a thread")
    .join()
    .expect("no panic");
    if let Err(traceback) = ended {
        panic!("{traceback}");
    }
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
