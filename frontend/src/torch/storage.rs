//! `x.untyped_storage()`: the memory that tensors share, as an object of its own.

use super::{state::TorchState, variable::Variable};
use rustpython_vm::{
    AsObject, FromArgs, Py, PyObject, PyObjectRef, PyPayload, PyRef, PyResult, VirtualMachine, atomic_func,
    common::hash::PyHash,
    function::{OptionalArg, PyComparisonValue},
    protocol::PySequenceMethods,
    pyclass,
    types::{AsSequence, Comparable, Hashable, PyComparisonOp, Representable},
};
use std::{fmt, rc::Rc, sync::Arc};
use taipan_tensor::{Storage, Tensor, layout};

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

/// The arguments of `x.set_`.
#[derive(FromArgs)]
pub(super) struct View {
    #[pyarg(any, optional)]
    source: OptionalArg<PyObjectRef>,
    #[pyarg(any, default = 0)]
    storage_offset: i64,
    #[pyarg(any, optional)]
    size: OptionalArg<PyObjectRef>,
    #[pyarg(any, optional)]
    stride: OptionalArg<PyObjectRef>,
}

/// `x.set_(source, storage_offset, size, stride)`: makes `x` a view of the memory of another tensor or of a storage, which grows where the view
/// needs more; without a source, of none.
///
/// # Errors
/// Where the source has another dtype or is neither.
pub(super) fn set(zelf: PyRef<Variable>, view: View, vm: &VirtualMachine) -> PyResult<PyRef<Variable>> {
    let own = zelf.data();
    let size = list(&view.size, vm)?;
    let (whole, default) = match view.source.as_option() {
        None => (Tensor::zeros(own.dtype(), &[0]), vec![0]),
        Some(source) => match (source.downcast_ref::<Variable>(), source.downcast_ref::<PyStorage>()) {
            (Some(tensor), _) => {
                let data = tensor.data();
                if data.dtype() != own.dtype() {
                    return Err(vm.new_runtime_error(format!(
                        "Could not set tensor of type {} to a tensor of type {}",
                        data.dtype().native_name(),
                        own.dtype().native_name()
                    )));
                }
                if size.is_none() {
                    zelf.set_data(data);
                    return Ok(zelf);
                }
                (data, vec![])
            }
            (_, Some(storage)) => {
                let count = storage.storage.nbytes() / own.dtype().size();
                (own.with_storage(Arc::clone(&storage.storage)), vec![count as i64])
            }
            _ => {
                return Err(vm.new_type_error(format!(
                    "set_(): argument 'source' (position 1) must be Tensor or UntypedStorage, not {}",
                    source.class().name()
                )));
            }
        },
    };
    let size = size.unwrap_or(default);
    let stride = list(&view.stride, vm)?.unwrap_or_else(|| layout::row_major(&size).to_vec());
    if stride.len() != size.len() {
        return Err(vm.new_runtime_error(format!("unequal size length ({}) and stride length ({})", size.len(), stride.len())));
    }
    if view.storage_offset < 0 || size.iter().any(|n| *n < 0) || stride.iter().any(|n| *n < 0) {
        return Err(
            vm.new_runtime_error(format!("Tensor: invalid storage offset {}, sizes {size:?} or strides {stride:?}", view.storage_offset))
        );
    }
    let data = whole.with_layout(own.dtype(), &size, &stride, view.storage_offset);
    if data.numel() > 0 {
        let last = size.iter().zip(&stride).try_fold(view.storage_offset, |at, (n, step)| (n - 1).checked_mul(*step)?.checked_add(at));
        let needed = last.and_then(|last| usize::try_from(last).ok()?.checked_add(1)?.checked_mul(own.dtype().size()));
        let needed = needed.filter(|bytes| Vec::<u8>::new().try_reserve_exact(*bytes).is_ok());
        let Some(needed) = needed else {
            return Err(vm.new_runtime_error(format!("Storage size calculation overflowed with sizes={size:?} and strides={stride:?}")));
        };
        if needed > data.storage().nbytes() {
            data.storage().resize(needed);
        }
    }
    zelf.set_data(data);
    Ok(zelf)
}

fn list(given: &OptionalArg<PyObjectRef>, vm: &VirtualMachine) -> PyResult<Option<Vec<i64>>> {
    given.as_option().map(|numbers| numbers.try_to_value(vm)).transpose()
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
