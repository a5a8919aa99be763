//! Calling into the VM, and exceptions, for the engine. Unlike the rest of this module these run user code.

use super::{Object, Vm};
use rustpython_vm::{
    AsObject, Py, PyResult,
    builtins::{PyBaseException, PyBaseExceptionRef, PyBoundMethod, PyFunction, PyTypeRef},
    function::FuncArgs,
};

/// Arguments of a call.
pub type Args = FuncArgs;

/// A Python function.
pub type Function = Py<PyFunction>;

/// A result, or the exception that was raised.
pub type CallResult<T = Object> = PyResult<T>;

/// A raised exception.
pub type Raised = PyBaseExceptionRef;

/// Imports a module.
pub fn import(name: &str, vm: &Vm) -> CallResult {
    vm.import(&vm.ctx.new_utf8_str(name), 0)
}

/// Calls an object.
pub fn call(callee: &Object, args: Args, vm: &Vm) -> CallResult {
    callee.call(args, vm)
}

/// The function behind a function or bound method, and the arguments with the receiver first.
pub fn unbind(target: &Object, mut args: Args, vm: &Vm) -> Result<(rustpython_vm::PyRef<PyFunction>, Args), Args> {
    if let Ok(function) = target.clone().downcast::<PyFunction>() {
        return Ok((function, args));
    }
    if target.downcast_ref::<PyBoundMethod>().is_some()
        && let (Some(function), Some(receiver)) =
            (super::native_attribute(target, "__func__", vm), super::native_attribute(target, "__self__", vm))
        && let Ok(function) = function.downcast::<PyFunction>()
    {
        args.prepend_arg(receiver);
        return Ok((function, args));
    }
    Err(args)
}

/// Whether calls of a function inside a compiled region are traced as regions of their own: user code is, the standard library and
/// the machinery of `torch` are not.
pub fn is_traceable(function: &Function, vm: &Vm) -> bool {
    let Ok(code) = crate::code::code_of(function, vm) else { return false };
    let path = code.source_path().as_str();
    !path.starts_with('<') && !MACHINERY.iter().any(|folder| path.starts_with(folder))
}

/// Whether a function imports modules, whose bodies then run plainly too.
pub fn is_import_machinery(function: &Function, vm: &Vm) -> bool {
    crate::code::code_of(function, vm).is_ok_and(|code| code.source_path().as_str().starts_with("<frozen importlib"))
}

/// Folders of our own library whose functions run plainly.
const MACHINERY: [&str; 8] = [
    "/taipan/torch/_dynamo",
    "/taipan/torch/_compile",
    "/taipan/torch/compiler",
    "/taipan/torch/fx",
    "/taipan/torch/testing",
    "/taipan/torch/utils",
    "/taipan/torch/optim",
    "/taipan/torch/__init__",
];

fn raised(class: PyTypeRef, text: &str, vm: &Vm) -> Raised {
    vm.new_exception_msg(class, text.to_owned().into())
}

/// An exception of a class of `torch._dynamo.exc`; a `RuntimeError` where that module can't be imported.
fn dynamo(class: &str, text: &str, vm: &Vm) -> Raised {
    let found = vm
        .import("torch._dynamo.exc", 0)
        .ok()
        .and_then(|_| super::module_attribute("torch._dynamo.exc", vm.ctx.intern_str(class), vm))
        .and_then(|c| c.downcast().ok());
    raised(found.unwrap_or_else(|| vm.ctx.exceptions.runtime_error.to_owned()), text, vm)
}

/// `torch._dynamo.exc.Unsupported`: a break where none is allowed.
pub fn unsupported(text: &str, vm: &Vm) -> Raised {
    dynamo("Unsupported", text, vm)
}

/// `torch._dynamo.exc.InvalidBackend`.
pub fn invalid_backend(text: &str, vm: &Vm) -> Raised {
    dynamo("InvalidBackend", text, vm)
}

/// `torch._dynamo.exc.RecompileError`: a recompile where none is allowed.
pub fn recompile_error(text: &str, vm: &Vm) -> Raised {
    dynamo("RecompileError", text, vm)
}

/// `torch._dynamo.exc.BackendCompilerFailed` with what a backend raised as its cause; an interruption stays what it is.
pub fn backend_failed(backend: &Object, raised: Raised, vm: &Vm) -> Raised {
    if !raised.fast_isinstance(vm.ctx.exceptions.exception_type) {
        return raised;
    }
    let class = vm.import("torch._dynamo.exc", 0).ok();
    let class = class.and_then(|_| super::module_attribute("torch._dynamo.exc", vm.ctx.intern_str("BackendCompilerFailed"), vm));
    let made = class.map(|class| class.call((backend.clone(), raised.clone()), vm));
    match made.map(|made| made.map(|made| made.downcast::<PyBaseException>())) {
        Some(Ok(Ok(failed))) if failed.as_object().set_attr("__cause__", raised.clone(), vm).is_ok() => failed,
        _ => raised,
    }
}

/// An exception's class and text.
pub fn exception_text(raised: &Raised, vm: &Vm) -> String {
    let class = raised.class().name().to_string();
    match raised.as_object().str(vm) {
        Ok(text) => format!("{class}: {}", text.to_string_lossy()),
        Err(_) => class,
    }
}

/// `RuntimeError`.
pub fn runtime_error(text: &str, vm: &Vm) -> Raised {
    raised(vm.ctx.exceptions.runtime_error.to_owned(), text, vm)
}

/// `AttributeError`.
pub fn attribute_error(text: &str, vm: &Vm) -> Raised {
    raised(vm.ctx.exceptions.attribute_error.to_owned(), text, vm)
}

/// `TypeError`.
pub fn type_error(text: &str, vm: &Vm) -> Raised {
    raised(vm.ctx.exceptions.type_error.to_owned(), text, vm)
}

/// `SystemError`: a fault of ours.
pub fn system_error(text: &str, vm: &Vm) -> Raised {
    raised(vm.ctx.exceptions.system_error.to_owned(), text, vm)
}

/// `MemoryError`.
pub fn memory_error(vm: &Vm) -> Raised {
    raised(vm.ctx.exceptions.memory_error.to_owned(), "a result could not be made", vm)
}
