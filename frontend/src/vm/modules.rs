//! The native modules the VM lacks without its operating-system layer. Their bodies are Python frozen
//! by `build.rs`; being built-in modules, the standard library finds them where it expects them.

use crate::code::keep_in_place;
use rustpython_vm::{
    Context, Py, PyResult, VirtualMachine,
    builtins::{PyModule, PyModuleDef},
    import,
    scope::Scope,
};

/// `posix`, `_signal` and a `marshal` that decodes nothing.
pub(super) fn definitions(ctx: &Context) -> [&'static PyModuleDef; 3] {
    [posix::module_def(ctx), signal::module_def(ctx), marshal::module_def(ctx)]
}

/// Runs the frozen module `body` in the namespace of `module`.
fn fill(module: &Py<PyModule>, body: &str, vm: &VirtualMachine) -> PyResult<()> {
    let code = import::make_frozen(vm, body)?;
    keep_in_place(&code);
    vm.run_code_obj(code, Scope::with_builtins(None, module.dict(), vm))?;
    Ok(())
}

#[rustpython_vm::pymodule(name = "posix")]
mod posix {
    use super::*;

    pub(crate) fn module_exec(vm: &VirtualMachine, module: &Py<PyModule>) -> PyResult<()> {
        __module_exec(vm, module);
        fill(module, "_taipan_posix", vm)
    }
}

#[rustpython_vm::pymodule(name = "_signal")]
mod signal {
    use super::*;

    pub(crate) fn module_exec(vm: &VirtualMachine, module: &Py<PyModule>) -> PyResult<()> {
        __module_exec(vm, module);
        fill(module, "_taipan_signal", vm)
    }
}

#[rustpython_vm::pymodule(name = "marshal")]
mod marshal {
    use super::*;

    pub(crate) fn module_exec(vm: &VirtualMachine, module: &Py<PyModule>) -> PyResult<()> {
        __module_exec(vm, module);
        fill(module, "_taipan_marshal", vm)
    }
}
