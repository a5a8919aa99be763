//! The native module `torch._C`: constants, classes, every op of the registry, and the few functions that are not ops.

use super::{
    anomaly, attributes, autograd,
    call::{OpFunction, OpMethod, OverloadSet},
    compiler,
    constants::{PyDType, PyDevice, PyFloatInfo, PyIntInfo, PyLayout, PyMemoryFormat},
    create, generator, legacy, memory, methods, modes, near,
    state::{StateHandle, TorchState},
    storage::PyStorage,
    variable::Variable,
};
use crate::watch::{ModuleBase, WatchedDict};
use rustpython_vm::{
    Context, Py, PyObjectRef, PyPayload, PyRef, PyResult, VirtualMachine,
    builtins::{PyModule, PyModuleDef},
    class::{PyClassImpl, StaticType},
    function::FuncArgs,
};
use std::rc::Rc;
use taipan_ir::op::Forms;
use taipan_tensor::registry;

/// The definition of `torch._C`, for [`crate::vm::HostBuilder::native_module`].
pub fn definition(ctx: &Context) -> &'static PyModuleDef {
    native::module_def(ctx)
}

#[rustpython_vm::pymodule(name = "torch._C")]
mod native {
    use super::*;

    pub(crate) fn module_exec(vm: &VirtualMachine, module: &Py<PyModule>) -> PyResult<()> {
        __module_exec(vm, module);
        fill(module, vm)
    }
}

fn fill(module: &Py<PyModule>, vm: &VirtualMachine) -> PyResult<()> {
    make_classes();
    let state = TorchState::new(vm)?;
    let set = |name: &'static str, value: PyObjectRef| module.set_attr(vm.ctx.intern_str(name), value, vm);
    set("_state", StateHandle(Rc::clone(&state)).into_ref(&vm.ctx).into())?;
    set("TensorBase", Variable::static_type().to_owned().into())?;
    set("Tensor", state.tensor_type().clone().into())?;
    set("UntypedStorage", PyStorage::static_type().to_owned().into())?;
    set("Size", state.size_type().clone().into())?;
    set("ModuleBase", ModuleBase::static_type().to_owned().into())?;
    set("WatchedDict", WatchedDict::static_type().to_owned().into())?;
    for (name, value) in state.constants().names(&vm.ctx) {
        set(name, value)?;
    }
    generator::install(module, &state, vm)?;
    legacy::install(module, &state, vm)?;
    memory::install(module, &state, vm)?;
    modes::install(module, &state, vm)?;
    autograd::install_functions(module, &state, vm)?;
    anomaly::install(module, &state, vm)?;
    install_functions(module, &state, vm)?;
    let class = Variable::static_type();
    attributes::install(class, vm);
    methods::install(class, vm);
    autograd::install_methods(class, vm);
    install_ops(module, &state, vm)?;
    near::install(module, vm)?;
    near::install_function(module, vm)?;
    set("_compiler", compiler_module(vm)?)
}

/// Classes exist once per thread, and must before their first instance.
fn make_classes() {
    let _ = (
        Variable::make_static_type(),
        OpFunction::make_static_type(),
        OpMethod::make_static_type(),
        StateHandle::make_static_type(),
        generator::PyGenerator::make_static_type(),
        PyStorage::make_static_type(),
    );
    let _ = (
        PyDType::make_static_type(),
        PyDevice::make_static_type(),
        PyFloatInfo::make_static_type(),
        PyIntInfo::make_static_type(),
        PyLayout::make_static_type(),
        PyMemoryFormat::make_static_type(),
    );
}

/// The places where ops are found: form, attribute of `torch._C` (none: the module itself), name that functions show.
const NAMESPACES: [(Forms, &str, &str); 5] = [
    (Forms::FUNCTION, "", "torch"),
    (Forms::NN, "_nn", "torch._C._nn"),
    (Forms::SPECIAL, "_special", "torch._C._special"),
    (Forms::LINALG, "_linalg", "torch._C._linalg"),
    (Forms::FFT, "_fft", "torch._C._fft"),
];

fn install_ops(module: &Py<PyModule>, state: &Rc<TorchState>, vm: &VirtualMachine) -> PyResult<()> {
    let loaded = vm.sys_module.get_attr("modules", vm)?;
    for (form, attribute, shown_module) in NAMESPACES {
        let names = vm.ctx.new_dict();
        for set in overload_sets(form) {
            let shown = shown_name(set.name(), form);
            let function = OpFunction::new(Rc::clone(&set), Rc::clone(state), shown, shown_module).into_ref(&vm.ctx);
            names.set_item(shown, function.into(), vm)?;
        }
        if attribute.is_empty() {
            for (name, function) in names {
                module.dict().set_item(&*name, function, vm)?;
            }
        } else {
            let inner = vm.new_module(shown_module, names, None);
            near::install(&inner, vm)?;
            loaded.set_item(shown_module, inner.clone().into(), vm)?;
            module.set_attr(vm.ctx.intern_str(attribute), inner, vm)?;
        }
    }
    let class = Variable::static_type();
    for set in overload_sets(Forms::METHOD) {
        let name = vm.ctx.intern_str(set.name());
        // What is written for the class by hand stays.
        if !class.attributes().contains(name) {
            class.set_attr(name, OpMethod::new(set).into_ref(&vm.ctx).into());
        }
    }
    Ok(())
}

/// The overloads of every op name that has this form, each once.
fn overload_sets(form: Forms) -> Vec<Rc<OverloadSet>> {
    let mut seen = std::collections::HashSet::new();
    registry()
        .entries()
        .iter()
        .filter(|entry| entry.op.0.forms.has(form) && seen.insert(entry.schema.base))
        .filter_map(|entry| OverloadSet::find(entry.schema.base, form).map(Rc::new))
        .collect()
}

/// `linalg_norm` is `norm` in `torch.linalg`.
fn shown_name(base: &'static str, form: Forms) -> &'static str {
    let prefix = match form {
        Forms::SPECIAL => "special_",
        Forms::LINALG => "linalg_",
        Forms::FFT => "fft_",
        _ => "",
    };
    base.strip_prefix(prefix).unwrap_or(base)
}

fn install_functions(module: &Py<PyModule>, state: &Rc<TorchState>, vm: &VirtualMachine) -> PyResult<()> {
    macro_rules! functions {
        ($($name:literal: $function:expr,)*) => {
            $(module.set_attr(vm.ctx.intern_str($name), vm.new_function($name, $function), vm)?;)*
        };
    }
    let (for_tensor, for_as_tensor) = (Rc::clone(state), Rc::clone(state));
    let tensor_class: PyObjectRef = state.tensor_type().clone().into();
    functions! {
        "tensor": move |args: FuncArgs, vm: &VirtualMachine| create::tensor("tensor", &for_tensor, args, vm),
        "as_tensor": move |args: FuncArgs, vm: &VirtualMachine| create::as_tensor(&for_as_tensor, args, vm),
        "is_tensor": move |object: PyObjectRef, vm: &VirtualMachine| object.is_instance(&tensor_class, vm),
        "is_floating_point": |tensor: PyRef<Variable>| tensor.with_data(|data| data.dtype().is_float()),
        "is_complex": |tensor: PyRef<Variable>| tensor.with_data(|data| data.dtype().is_complex()),
        "is_conj": |_tensor: PyRef<Variable>| false,
        "is_neg": |_tensor: PyRef<Variable>| false,
        "numel": |tensor: PyRef<Variable>| tensor.with_data(|data| data.numel()),
        "_rebuild_tensor": methods::rebuild,
    }
    Ok(())
}

/// `torch._C._compiler`. Without an engine's compiler, compiled functions run plainly.
fn compiler_module(vm: &VirtualMachine) -> PyResult {
    const NAME: &str = "torch._C._compiler";
    let module = vm.new_module(NAME, vm.ctx.new_dict(), None);
    compiler::install(&module, vm)?;
    vm.sys_module.get_attr("modules", vm)?.set_item(NAME, module.clone().into(), vm)?;
    Ok(module.into())
}
