//! Closes the doors through which Python could run unchecked byte code or overflow the native stack.

use rustpython_vm::{
    PyRef, PyResult, VirtualMachine,
    builtins::{PyCode, PyTypeRef, PyUtf8StrRef},
    common::rc::PyRc,
    function::FuncArgs,
    import,
};

/// The highest recursion limit a script can set. Compiling an expression nested this deep fits the stack
/// that `STACK_BYTES` gives.
pub const RECURSION_LIMIT: usize = 5000;

/// Built-in modules that reach past the language: other interpreters, byte code, debugging by address.
const REMOVED: &[&str] = &["_testinternalcapi", "_interpreters", "_interpchannels", "_interpqueues", "_remote_debugging"];

/// Takes dangerous built-in modules away. Runs before the VM starts.
pub(super) fn remove_modules(vm: &mut VirtualMachine) {
    if let Some(state) = PyRc::get_mut(&mut vm.state) {
        for name in REMOVED {
            state.module_defs.remove(name);
        }
    }
}

/// Forbids forged code objects and clamps `sys.setrecursionlimit`.
pub(super) fn close_doors(vm: &VirtualMachine) -> PyResult<()> {
    let code = vm.ctx.types.code_type;
    code.slots().new.store(Some(refuse_code));
    code.modified();
    for name in ["replace", "__replace__", "__new__"] {
        code.attributes().remove(vm.ctx.intern_str(name));
    }
    let limit = vm.new_function("setrecursionlimit", set_recursion_limit);
    vm.sys_module.set_attr("setrecursionlimit", limit, vm)?;
    // The original also decodes byte code that it is handed.
    let imp = vm.import("_imp", 0)?;
    let frozen = vm.new_function("get_frozen_object", frozen_object);
    imp.set_attr("get_frozen_object", frozen, vm)
}

fn refuse_code(_class: PyTypeRef, _args: FuncArgs, vm: &VirtualMachine) -> PyResult {
    Err(vm.new_type_error("code objects can't be made from Python in this engine"))
}

fn set_recursion_limit(limit: i64, vm: &VirtualMachine) -> PyResult<()> {
    match usize::try_from(limit) {
        Ok(limit) if limit > 0 => {
            vm.recursion_limit.set(limit.min(RECURSION_LIMIT));
            Ok(())
        }
        _ => Err(vm.new_value_error("recursion limit must be greater or equal than 1")),
    }
}

fn frozen_object(name: PyUtf8StrRef, vm: &VirtualMachine) -> PyResult<PyRef<PyCode>> {
    import::make_frozen(vm, name.as_str())
}
