//! Runs the Python programs beside this file, each on an engine thread of its own.

use rustpython_vm::{PyObjectRef, PyResult, VirtualMachine};
use taipan_frontend::vm::{HostBuilder, Policy, Script, describe, load, spawn_engine_thread};

/// Runs a program: `body` prepares the VM and calls its second argument, which is the program. An exception that leaves
/// it, a failed assertion for one, fails the test.
pub fn run<F>(program: &'static str, body: F)
where
    F: FnOnce(&VirtualMachine, &dyn Fn() -> PyResult<()>) -> PyResult<()> + Send + 'static,
{
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs");
    let ended = spawn_engine_thread(program, move || {
        let script = Script::open(format!("{folder}/{program}.py")).expect("the program");
        let host = HostBuilder::new(Policy::imports_only(folder)).build().expect("the host starts");
        let ended = host.enter(|vm| {
            let ended = body(vm, &|| load(vm, &script).map(drop));
            ended.map_err(|error| describe(vm, &error).traceback)
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

/// Lets programs import `natives` from a module.
pub fn add_module(name: &'static str, natives: &[(&'static str, PyObjectRef)], vm: &VirtualMachine) -> PyResult<()> {
    let names = vm.ctx.new_dict();
    for (name, native) in natives {
        names.set_item(*name, native.clone(), vm)?;
    }
    let module = vm.new_module(name, names, None);
    vm.sys_module.get_attr("modules", vm)?.set_item(name, module.into(), vm)
}
