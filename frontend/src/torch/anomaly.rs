//! Looking at nodes as they are recorded: hooks on what they keep, and where in the script they come from.

use super::{operand::type_name, state::TorchState, variable::Variable};
use rustpython_vm::{AsObject, Py, PyObjectRef, PyResult, VirtualMachine, builtins::PyModule, vm::thread::with_current_vm};
use std::rc::Rc;
use taipan_ir::OpError;
use taipan_tensor::tape::{Node, Unpack, Var, recorded_since};

/// Puts the functions into `torch._C`.
pub(super) fn install(module: &Py<PyModule>, state: &Rc<TorchState>, vm: &VirtualMachine) -> PyResult<()> {
    let own = state.clone();
    let push = vm.new_function("_push_saved_hooks", move |pack: PyObjectRef, unpack: PyObjectRef| {
        own.saved_hooks().borrow_mut().push((pack, unpack));
    });
    module.set_attr("_push_saved_hooks", push, vm)?;
    let own = state.clone();
    let pop = vm.new_function("_pop_saved_hooks", move || {
        let old = own.saved_hooks().borrow_mut().pop();
        drop(old);
    });
    module.set_attr("_pop_saved_hooks", pop, vm)?;
    let own = state.clone();
    let innermost = vm.new_function("_saved_hooks", move |vm: &VirtualMachine| -> PyObjectRef {
        let innermost = own.saved_hooks().borrow().last().cloned();
        innermost.map_or_else(|| vm.ctx.none(), |(pack, unpack)| vm.ctx.new_tuple(vec![pack, unpack]).into())
    });
    module.set_attr("_saved_hooks", innermost, vm)?;
    let own = state.clone();
    let set = vm.new_function("_set_anomaly", move |enabled: bool, check_nan: bool| own.anomaly().set((enabled, check_nan)));
    module.set_attr("_set_anomaly", set, vm)?;
    let own = state.clone();
    let get = vm.new_function("_anomaly", move |vm: &VirtualMachine| {
        let (enabled, check_nan) = own.anomaly().get();
        vm.ctx.new_tuple(vec![vm.ctx.new_bool(enabled).into(), vm.ctx.new_bool(check_nan).into()])
    });
    module.set_attr("_anomaly", get, vm)
}

/// Does with the nodes recorded since `before`, which `results` came from, what the modes in force want.
pub(super) fn look_at(state: &Rc<TorchState>, results: &[Var], before: u64, vm: &VirtualMachine) -> PyResult<()> {
    let nodes = recorded_since(results, before);
    if state.anomaly().get().0 {
        let place = stack_text(vm);
        nodes.iter().for_each(|node| node.set_note(place.clone()));
    }
    let hooks = state.saved_hooks().borrow().last().cloned();
    let Some((pack, unpack)) = hooks else { return Ok(()) };
    // What the hook computes is neither recorded nor packed itself.
    let outer = state.saved_hooks().take();
    let grad = state.set_grad_enabled(false);
    let mut keep = |var: &Var| -> Result<Rc<dyn Unpack>, OpError> {
        let object = state.wrap_var(var.clone(), vm);
        let packed = pack.call((object,), vm).map_err(|raised| state.hold_exception(raised))?;
        Ok(Rc::new(Packed { packed, unpack: unpack.clone(), state: state.clone() }))
    };
    let packed = nodes.iter().try_for_each(|node| node.pack(&mut keep));
    state.set_grad_enabled(grad);
    drop(state.saved_hooks().replace(outer));
    packed.map_err(|error| state.raise_held(error, vm))
}

/// What a pack hook made of a tensor.
struct Packed {
    packed: PyObjectRef,
    unpack: PyObjectRef,
    state: Rc<TorchState>,
}

impl Unpack for Packed {
    fn unpack(&self) -> Result<Var, OpError> {
        with_current_vm(|vm| {
            let object = self.unpack.call((self.packed.clone(),), vm).map_err(|raised| self.state.hold_exception(raised))?;
            match object.downcast_ref::<Variable>() {
                Some(variable) => Ok(variable.var()),
                None => Err(OpError::type_error(format!(
                    "Output of saved tensor unpack_hook expected to be a Tensor but got result of type {}",
                    type_name(&object)
                ))),
            }
        })
    }
}

/// The calls that lead to where the VM is, outermost first, as tracebacks show them.
fn stack_text(vm: &VirtualMachine) -> String {
    let mut calls = vec![];
    let mut frame = vm.current_frame();
    while let Some(current) = frame {
        let object = current.as_object();
        let text = (|| -> PyResult<String> {
            let code = object.get_attr("f_code", vm)?;
            let file = code.get_attr("co_filename", vm)?.str(vm)?.to_string();
            let name = code.get_attr("co_name", vm)?.str(vm)?.to_string();
            let line: usize = object.get_attr("f_lineno", vm)?.try_to_value(vm)?;
            let source = vm.import("linecache", 0)?.get_attr("getline", vm)?.call((file.as_str(), line), vm)?.str(vm)?.to_string();
            let source = source.trim();
            let shown = if source.is_empty() { String::new() } else { format!("    {source}\n") };
            Ok(format!("  File \"{file}\", line {line}, in {name}\n{shown}"))
        })();
        calls.extend(text.ok());
        frame = current.f_back(vm);
    }
    calls.reverse();
    calls.concat()
}

/// Warns that the gradient of a node failed, with the place in the script where its op was called.
pub(super) fn warn(node: &Node) {
    with_current_vm(|vm| {
        let text = match node.note() {
            Some(place) => {
                format!("Error detected in {}. Traceback of forward call that caused the error:\n{place}", node.name())
            }
            None => format!(
                "Error detected in {}. No forward pass information available. Enable detect anomaly during forward pass for more \
                 information.",
                node.name()
            ),
        };
        let warned = vm.import("warnings", 0).and_then(|module| module.get_attr("warn", vm)).and_then(|warn| warn.call((text,), vm));
        // A warning turned into an exception must not hide the error that is on its way.
        drop(warned);
    });
}
