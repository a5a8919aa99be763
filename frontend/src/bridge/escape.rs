//! Whether somebody holds the object of the running frame: then the frame must stay the one it is.
//!
//! The VM itself holds a frame object a number of times that depends on how frames are run, with tracing or without, so
//! that number is measured once on each thread.

use crate::{hook, thread};
use rustpython_vm::{AsObject, PyResult, VirtualMachine, builtins::PyFunction, compiler, frame, function::FuncArgs};

/// References to a frame object that the VM itself holds: without and with `use_tracing`.
pub(super) type OwnReferences = [usize; 2];

/// Whether the running Python frame's object is held by anybody but the VM.
pub(super) fn escaped(vm: &VirtualMachine) -> bool {
    let own = thread::with(|t| t.bridges.own_references.get()).unwrap_or_default();
    held() > own[usize::from(vm.use_tracing.get())]
}

/// Measures what the VM holds after a frame object was made and let go of, as `locals()` does.
pub(super) fn calibrate(vm: &VirtualMachine) -> PyResult<()> {
    const SOURCE: &str = "lambda make, held: (make(), held())[1]";
    let code =
        vm.compile(SOURCE, compiler::Mode::Eval, "<calibrate>".to_owned()).map_err(|error| vm.new_system_error(error.to_string()))?;
    let function = vm.run_code_obj(code, vm.new_scope_with_builtins())?.try_downcast::<PyFunction>(vm)?;
    let make = vm.builtins.get_attr("locals", vm)?;
    let held = vm.new_function("held", held);
    let mut own = OwnReferences::default();
    let tracing = vm.use_tracing.get();
    for mode in [false, true] {
        vm.use_tracing.set(mode);
        let args = FuncArgs::from(vec![make.clone(), held.clone().into()]);
        let counted = hook::run_original(&function, args, vm);
        vm.use_tracing.set(tracing);
        own[usize::from(mode)] = counted?.try_to_value(vm)?;
    }
    thread::with(|t| t.bridges.own_references.set(Some(own)));
    Ok(())
}

fn held() -> usize {
    frame::current_thread_frame().map_or(0, |frame| frame.as_object().strong_count())
}
