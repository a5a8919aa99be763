//! `torch.FloatTensor`, `torch.LongTensor` and so on: old names of "a tensor of this dtype".

use super::{create::legacy_constructor, state::TorchState, variable::Variable};
use rustpython_vm::{
    Py, PyObjectRef, PyPayload, PyResult, VirtualMachine,
    builtins::PyModule,
    class::PyClassImpl,
    function::FuncArgs,
    pyclass,
    types::{Callable, Representable},
};
use std::rc::Rc;
use taipan_ir::DType;

/// One of the names. Calling it makes a tensor, and `isinstance` asks it about dtypes.
#[pyclass(module = "torch", name = "tensortype")]
#[derive(Debug, PyPayload)]
pub struct LegacyType {
    dtype: DType,
    state: Rc<TorchState>,
}

impl LegacyType {
    /// The dtype it stands for.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    fn shown_name(&self) -> String {
        format!("{}Tensor", self.dtype.scalar_name())
    }
}

#[pyclass(with(Callable, Representable), flags(DISALLOW_INSTANTIATION))]
impl LegacyType {
    #[pymethod]
    fn __instancecheck__(zelf: &Py<Self>, object: PyObjectRef) -> bool {
        object.downcast_ref::<Variable>().is_some_and(|variable| variable.with_data(|data| data.dtype() == zelf.dtype))
    }

    #[pygetset(name = "dtype")]
    fn dtype_attribute(zelf: &Py<Self>) -> PyObjectRef {
        zelf.state.dtype_object(zelf.dtype)
    }

    #[pygetset]
    fn __name__(zelf: &Py<Self>) -> String {
        zelf.shown_name()
    }

    #[pygetset]
    fn __module__(_zelf: &Py<Self>) -> &'static str {
        "torch"
    }
}

impl Callable for LegacyType {
    type Args = FuncArgs;

    fn call(zelf: &Py<Self>, args: FuncArgs, vm: &VirtualMachine) -> PyResult {
        let data = legacy_constructor(&zelf.state, zelf.dtype, &args, vm)?;
        if data.dtype() != zelf.dtype {
            let (wanted, got) = (zelf.shown_name(), data.dtype().scalar_name());
            return Err(vm.new_type_error(format!("expected torch.{wanted}, got torch.{got}Tensor")));
        }
        Ok(zelf.state.wrap(data, vm).into())
    }
}

impl Representable for LegacyType {
    fn repr_str(zelf: &Py<Self>, _vm: &VirtualMachine) -> PyResult<String> {
        Ok(format!("<class 'torch.{}'>", zelf.shown_name()))
    }
}

/// Puts the names into `torch._C`.
pub(super) fn install(module: &Py<PyModule>, state: &Rc<TorchState>, vm: &VirtualMachine) -> PyResult<()> {
    let _ = LegacyType::make_static_type();
    for dtype in DType::ALL {
        let class = LegacyType { dtype, state: Rc::clone(state) };
        let name = vm.ctx.intern_str(class.shown_name());
        module.set_attr(name, class.into_pyobject(vm), vm)?;
    }
    Ok(())
}
