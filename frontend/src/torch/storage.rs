//! `x.untyped_storage()`: the memory that tensors share, as an object of its own.

use super::{state::TorchState, variable::Variable};
use rustpython_vm::{
    Py, PyObject, PyObjectRef, PyPayload, PyRef, PyResult, VirtualMachine, atomic_func,
    common::hash::PyHash,
    function::PyComparisonValue,
    protocol::PySequenceMethods,
    pyclass,
    types::{AsSequence, Comparable, Hashable, PyComparisonOp, Representable},
};
use std::{fmt, rc::Rc, sync::Arc};
use taipan_tensor::Storage;

/// A storage object. Two of them are equal when the memory is the same.
#[pyclass(module = "torch", name = "UntypedStorage")]
#[derive(PyPayload)]
pub struct PyStorage {
    storage: Arc<Storage>,
    state: Rc<TorchState>,
}

impl PyStorage {
    /// The storage behind a tensor.
    pub(super) fn of(variable: PyRef<Variable>, vm: &VirtualMachine) -> PyRef<PyStorage> {
        let storage = variable.with_data(|data| Arc::clone(data.storage()));
        PyStorage { storage, state: Rc::clone(variable.state()) }.into_ref(&vm.ctx)
    }

    fn bytes(&self) -> Vec<u8> {
        self.storage.read().elements::<u8>().to_vec()
    }
}

impl fmt::Debug for PyStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PyStorage").field(&self.storage).finish()
    }
}

#[pyclass(with(AsSequence, Comparable, Hashable, Representable), flags(DISALLOW_INSTANTIATION, HAS_WEAKREF))]
impl PyStorage {
    #[pymethod]
    fn nbytes(zelf: &Py<Self>) -> usize {
        zelf.storage.nbytes()
    }

    #[pymethod]
    fn size(zelf: &Py<Self>) -> usize {
        zelf.storage.nbytes()
    }

    #[pymethod]
    fn data_ptr(zelf: &Py<Self>) -> usize {
        let bytes = zelf.storage.read();
        if bytes.is_empty() { 0 } else { bytes.elements::<u8>().as_ptr().addr() }
    }

    /// Changes the size in bytes, under the tensors that look at it.
    #[pymethod]
    fn resize_(zelf: PyRef<Self>, size: usize) -> PyRef<Self> {
        zelf.storage.resize(size);
        zelf
    }

    #[pymethod]
    fn tolist(zelf: &Py<Self>) -> Vec<u8> {
        zelf.bytes()
    }

    #[pygetset]
    fn device(zelf: &Py<Self>, vm: &VirtualMachine) -> PyObjectRef {
        zelf.state.device_object(zelf.storage.device(), vm)
    }

    #[pygetset]
    fn is_cuda(_zelf: &Py<Self>) -> bool {
        false
    }
}

impl AsSequence for PyStorage {
    fn as_sequence() -> &'static PySequenceMethods {
        static SEQUENCE: PySequenceMethods = PySequenceMethods {
            length: atomic_func!(|sequence, _vm| Ok(PyStorage::sequence_downcast(sequence).storage.nbytes())),
            ..PySequenceMethods::NOT_IMPLEMENTED
        };
        &SEQUENCE
    }
}

impl Comparable for PyStorage {
    fn cmp(zelf: &Py<Self>, other: &PyObject, op: PyComparisonOp, _vm: &VirtualMachine) -> PyResult<PyComparisonValue> {
        op.eq_only(|| {
            Ok(match other.downcast_ref::<PyStorage>() {
                Some(other) => PyComparisonValue::Implemented(Arc::ptr_eq(&zelf.storage, &other.storage)),
                None => PyComparisonValue::NotImplemented,
            })
        })
    }
}

impl Hashable for PyStorage {
    fn hash(zelf: &Py<Self>, _vm: &VirtualMachine) -> PyResult<PyHash> {
        Ok((Arc::as_ptr(&zelf.storage).addr() >> 4) as PyHash)
    }
}

impl Representable for PyStorage {
    fn repr_str(zelf: &Py<Self>, _vm: &VirtualMachine) -> PyResult<String> {
        let mut text: String = zelf.bytes().iter().map(|byte| format!(" {byte}\n")).collect();
        text.push_str(&format!("[torch.storage.UntypedStorage(device={}) of size {}]", zelf.storage.device(), zelf.storage.nbytes()));
        Ok(text)
    }
}
