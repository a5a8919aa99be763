//! Python objects as operands of ops.

use super::{
    constants::{PyDType, PyDevice, PyLayout, PyMemoryFormat},
    generator::PyGenerator,
    legacy::LegacyType,
    variable::Variable,
};
use rustpython_vm::{
    AsObject, Py, PyObject, PyResult, VirtualMachine,
    builtins::{PyComplex, PyFloat, PyInt, PyList, PyStr, PyTuple, PyType},
    common::wtf8::Wtf8,
};
use taipan_ir::{DType, Dim, bind::Operand};

/// An object as an operand; `tensor` says what stands for a tensor.
///
/// Runs no Python code: an object that only *could* become a number stays [`Operand::Other`].
///
/// # Errors
/// An integer beyond 64 bits.
pub fn operand<T>(object: &PyObject, tensor: &mut dyn FnMut(&Py<Variable>) -> T, vm: &VirtualMachine) -> PyResult<Operand<T>> {
    if let Some(variable) = object.downcast_ref::<Variable>() {
        return Ok(Operand::Tensor(tensor(variable)));
    }
    if vm.is_none(object) {
        return Ok(Operand::None);
    }
    if let Some(int) = object.downcast_ref::<PyInt>() {
        if object.class().is(vm.ctx.types.bool_type) {
            return Ok(Operand::Bool(int.as_bigint() != &0.into()));
        }
        let value = int.try_to_primitive(vm).map_err(|_| vm.new_overflow_error("int too big to convert"))?;
        return Ok(Operand::Int(Dim::Is(value)));
    }
    if let Some(float) = object.downcast_ref::<PyFloat>() {
        return Ok(Operand::Float(float.to_f64()));
    }
    if let Some(complex) = object.downcast_ref::<PyComplex>() {
        let value = complex.to_complex64();
        return Ok(Operand::Complex(value.re, value.im));
    }
    if let Some(tuple) = object.downcast_ref::<PyTuple>() {
        let items = tuple.as_slice().iter().map(|item| operand(item, tensor, vm)).collect::<PyResult<_>>()?;
        return Ok(Operand::List(items, true));
    }
    if let Some(list) = object.downcast_ref::<PyList>() {
        // Cloned, so that the list isn't locked while its items are looked at.
        let items = list.borrow_vec().to_vec();
        let items = items.iter().map(|item| operand(item, tensor, vm)).collect::<PyResult<_>>()?;
        return Ok(Operand::List(items, false));
    }
    if let Some(text) = object.downcast_ref::<PyStr>() {
        return Ok(Operand::Str(text.to_string().into()));
    }
    Ok(constant(object, vm).unwrap_or_else(|| Operand::Other(type_name(object))))
}

/// The operands that are objects of `torch` themselves.
fn constant<T>(object: &PyObject, vm: &VirtualMachine) -> Option<Operand<T>> {
    if let Some(dtype) = object.downcast_ref::<PyDType>() {
        return Some(Operand::DType(dtype.0));
    }
    if let Some(device) = object.downcast_ref::<PyDevice>() {
        return Some(Operand::Device(device.0.clone()));
    }
    if object.downcast_ref::<PyLayout>().is_some_and(|layout| layout.is_strided()) {
        return Some(Operand::Layout);
    }
    if let Some(format) = object.downcast_ref::<PyMemoryFormat>() {
        return Some(Operand::MemoryFormat(format.0));
    }
    if let Some(generator) = object.downcast_ref::<PyGenerator>() {
        return Some(Operand::Generator(generator.number()));
    }
    if let Some(class) = object.downcast_ref::<LegacyType>() {
        return Some(Operand::DType(class.dtype()));
    }
    object.downcast_ref::<PyType>().and_then(|class| python_dtype(class, vm)).map(Operand::DType)
}

/// `float`, `int`, `bool` and `complex` given as a dtype.
fn python_dtype(class: &Py<PyType>, vm: &VirtualMachine) -> Option<DType> {
    let types = &vm.ctx.types;
    let pairs =
        [(types.float_type, DType::F64), (types.int_type, DType::I64), (types.bool_type, DType::Bool), (types.complex_type, DType::C128)];
    pairs.iter().find(|(known, _)| class.is(*known)).map(|(_, dtype)| *dtype)
}

/// The text of a keyword. One that isn't Unicode is no parameter's name, so it doesn't matter what it reads as.
pub(super) fn keyword(name: &Wtf8) -> &str {
    name.as_str().unwrap_or_default()
}

/// The dtype that an object names.
pub fn dtype_of(object: &PyObject, vm: &VirtualMachine) -> Option<DType> {
    match constant::<()>(object, vm)? {
        Operand::DType(dtype) => Some(dtype),
        _ => None,
    }
}

/// The name of an object's type as PyTorch's messages write it.
pub(super) fn type_name(object: &PyObject) -> String {
    object.class().name().to_string()
}
