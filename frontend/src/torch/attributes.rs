//! What can be asked of a tensor without an op: `shape`, `dtype`, `grad`, `requires_grad`, `T` and their like.

use super::{autograd::GradientNode, create::expect_tensor, variable::Variable};
use rustpython_vm::{AsObject, Py, PyObjectRef, PyRef, PyResult, VirtualMachine, builtins::PyType, function::PySetterValue};
use taipan_ir::{Dim, bind::Operand};

/// Puts the attributes into the class.
pub(super) fn install(class: &'static Py<PyType>, vm: &VirtualMachine) {
    macro_rules! readonly {
        ($($name:literal: $get:expr,)*) => {
            $(class.set_attr(vm.ctx.intern_str($name), vm.ctx.new_readonly_getset($name, class, $get).into());)*
        };
    }
    macro_rules! writable {
        ($($name:literal: $get:expr, $set:expr,)*) => {
            $(class.set_attr(vm.ctx.intern_str($name), vm.ctx.new_getset($name, class, $get, $set).into());)*
        };
    }
    readonly! {
        "shape": shape,
        "dtype": |zelf: PyRef<Variable>| zelf.state().dtype_object(zelf.with_data(|data| data.dtype())),
        "device": |zelf: PyRef<Variable>, vm: &VirtualMachine| {
            zelf.state().device_object(&zelf.with_data(|data| data.storage().device().clone()), vm)
        },
        "layout": |zelf: PyRef<Variable>| zelf.state().constants().strided(),
        "ndim": |zelf: PyRef<Variable>| zelf.with_data(|data| data.rank()),
        "itemsize": |zelf: PyRef<Variable>| zelf.with_data(|data| data.dtype().size()),
        "nbytes": |zelf: PyRef<Variable>| zelf.with_data(|data| data.numel() * data.dtype().size()),
        "is_leaf": |zelf: PyRef<Variable>| zelf.is_leaf(),
        "grad_fn": |zelf: PyRef<Variable>, vm: &VirtualMachine| GradientNode::of(&zelf, vm),
        "_base": |zelf: PyRef<Variable>, vm: &VirtualMachine| zelf.base(vm),
        "retains_grad": |zelf: PyRef<Variable>| zelf.meta().retains_grad(),
        "output_nr": |zelf: PyRef<Variable>| zelf.var().edge().map_or(0, |edge| edge.slot),
        "_version": |zelf: PyRef<Variable>| zelf.with_data(|data| data.storage().version()),
        "T": |zelf: PyRef<Variable>, vm: &VirtualMachine| reversed(zelf, vm),
        "mT": |zelf: PyRef<Variable>, vm: &VirtualMachine| matrix_transposed("mT", zelf, vm),
        "H": |zelf: PyRef<Variable>, vm: &VirtualMachine| adjoint("H", zelf, vm),
        "mH": |zelf: PyRef<Variable>, vm: &VirtualMachine| adjoint("mH", zelf, vm),
        "real": |zelf: PyRef<Variable>, vm: &VirtualMachine| by_op("real", zelf, vm),
        "imag": |zelf: PyRef<Variable>, vm: &VirtualMachine| by_op("imag", zelf, vm),
        "is_cpu": |zelf: PyRef<Variable>| zelf.with_data(|data| data.storage().device().is_cpu()),
        "is_cuda": |_zelf: PyRef<Variable>| false,
        "is_mps": |_zelf: PyRef<Variable>| false,
        "is_xpu": |_zelf: PyRef<Variable>| false,
        "is_meta": |_zelf: PyRef<Variable>| false,
        "is_sparse": |_zelf: PyRef<Variable>| false,
        "is_sparse_csr": |_zelf: PyRef<Variable>| false,
        "is_mkldnn": |_zelf: PyRef<Variable>| false,
        "is_quantized": |_zelf: PyRef<Variable>| false,
        "is_nested": |_zelf: PyRef<Variable>| false,
        "_backward_hooks": |_zelf: PyRef<Variable>| Option::<PyObjectRef>::None,
    }
    writable! {
        "requires_grad": |zelf: PyRef<Variable>| zelf.requires_grad(), set_requires_grad,
        "grad": |zelf: PyRef<Variable>, vm: &VirtualMachine| zelf.grad(vm), set_grad,
        "data": |zelf: PyRef<Variable>, vm: &VirtualMachine| zelf.state().wrap(zelf.data(), vm), set_data,
    }
}

pub(super) fn shape(zelf: PyRef<Variable>, vm: &VirtualMachine) -> PyResult<PyObjectRef> {
    // Making Python objects may run finalizers, so the data isn't borrowed meanwhile.
    let data = zelf.data();
    zelf.state().size_object(data.sizes(), vm)
}

fn set_requires_grad(zelf: PyRef<Variable>, value: PySetterValue<bool>, vm: &VirtualMachine) -> PyResult<()> {
    match value {
        PySetterValue::Assign(flag) => zelf.set_requires_grad(flag, vm),
        PySetterValue::Delete => Err(vm.new_runtime_error("Can't delete requires_grad attribute")),
    }
}

fn set_grad(zelf: PyRef<Variable>, value: PySetterValue<PyObjectRef>, vm: &VirtualMachine) -> PyResult<()> {
    let grad = match value {
        PySetterValue::Delete => None,
        PySetterValue::Assign(grad) if vm.is_none(&grad) => None,
        PySetterValue::Assign(grad) => Some(grad),
    };
    if let Some(grad) = &grad {
        let Some(variable) = grad.downcast_ref::<Variable>() else {
            let got = grad.class().name().to_string();
            return Err(vm.new_type_error(format!("assigned grad expected to be a Tensor or None but got grad of type {got}")));
        };
        if variable.is(&zelf) {
            return Err(vm.new_runtime_error("can't assign Variable as its own grad"));
        }
        let (own, data) = (zelf.data(), variable.data());
        if own.sizes() != data.sizes() {
            return Err(vm.new_runtime_error(format!(
                "attempting to assign a gradient of size '{:?}' to a tensor of size '{:?}'. Please ensure that the gradient and the tensor \
                 are the same size",
                data.sizes(),
                own.sizes()
            )));
        }
        if own.dtype() != data.dtype() {
            return Err(vm.new_runtime_error(format!(
                "attempting to assign a gradient with dtype '{}' to a tensor with grad_dtype '{}'. The gradient must match the tensor's \
                 dtype.",
                data.dtype().torch_name(),
                own.dtype().torch_name()
            )));
        }
    }
    zelf.set_grad(grad);
    Ok(())
}

fn set_data(zelf: PyRef<Variable>, value: PySetterValue<PyObjectRef>, vm: &VirtualMachine) -> PyResult<()> {
    let PySetterValue::Assign(value) = value else {
        return Err(vm.new_runtime_error("Deleting tensor data is not allowed. Delete tensor instead!"));
    };
    match value.downcast_ref::<Variable>() {
        Some(variable) => {
            zelf.set_data(variable.data());
            Ok(())
        }
        None => Err(vm.new_type_error(format!("Variable data has to be a tensor, but got {}", value.class().name()))),
    }
}

/// `x.T`: all dims in reverse order.
fn reversed(zelf: PyRef<Variable>, vm: &VirtualMachine) -> PyResult<PyRef<Variable>> {
    let rank = zelf.with_data(|data| data.rank()) as i64;
    let order = (0..rank).rev().map(|dim| Operand::Int(Dim::Is(dim))).collect();
    let state = zelf.state().clone();
    expect_tensor(state.call_named("permute", &[Operand::Tensor(zelf), Operand::List(order, true)], &[], vm)?, vm)
}

/// What the op of this name makes of the tensor.
fn by_op(name: &'static str, zelf: PyRef<Variable>, vm: &VirtualMachine) -> PyResult<PyRef<Variable>> {
    let state = zelf.state().clone();
    expect_tensor(state.call_named(name, &[Operand::Tensor(zelf)], &[], vm)?, vm)
}

/// `x.mH`: the conjugate, transposed.
fn adjoint(name: &str, zelf: PyRef<Variable>, vm: &VirtualMachine) -> PyResult<PyRef<Variable>> {
    by_op("conj", matrix_transposed(name, zelf, vm)?, vm)
}

fn matrix_transposed(name: &str, zelf: PyRef<Variable>, vm: &VirtualMachine) -> PyResult<PyRef<Variable>> {
    let rank = zelf.with_data(|data| data.rank());
    if name == "H" && rank != 2 {
        let hint = if rank > 2 { ". For batches of matrices, consider using tensor.mH" } else { "." };
        let text = format!("tensor.H is only supported on matrices (2-D tensors). Got {rank}-D tensor{hint}");
        return Err(vm.new_runtime_error(text));
    }
    if rank < 2 {
        let text = format!("tensor.{name} is only supported on matrices or batches of matrices. Got {rank}-D tensor.");
        return Err(vm.new_runtime_error(text));
    }
    let [first, second] = [-2, -1].map(|dim| Operand::Int(Dim::Is(dim)));
    let state = zelf.state().clone();
    expect_tensor(state.call_named("transpose", &[Operand::Tensor(zelf), first, second], &[], vm)?, vm)
}
