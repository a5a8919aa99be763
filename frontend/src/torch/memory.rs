//! Tensors to and from bytes, files' contents, and the arrays of `numpy`.
//!
//! What reads and writes checkpoints is Python (`torch.serialization`, `safetensors.torch`); this is the part that moves bytes. Files
//! are opened by Python, through the engine's policy.

use super::{
    create::expect_tensor,
    operand::{dtype_of, type_name},
    state::{TorchState, raise},
    variable::Variable,
};
use rustpython_vm::{
    AsObject, Py, PyObject, PyObjectRef, PyRef, PyResult, VirtualMachine,
    builtins::{PyDict, PyFloat, PyInt, PyModule, PyStr},
    function::{ArgBytesLike, FuncArgs},
};
use std::{collections::HashMap, rc::Rc};
use taipan_ir::bind::Operand;
use taipan_tensor::{Tensor, safetensors, storage::Bytes};

/// The attribute by which arrays and scalars of `numpy` offer their data as a tensor.
const ARRAY_DATA: &str = "_taipan_tensor";

/// Puts the functions of this file into `torch._C`.
pub(super) fn install(module: &Py<PyModule>, state: &Rc<TorchState>, vm: &VirtualMachine) -> PyResult<()> {
    let (for_bytes, for_files) = (Rc::clone(state), Rc::clone(state));
    let from_bytes = move |data: ArgBytesLike, dtype: PyObjectRef, vm: &VirtualMachine| from_bytes(&for_bytes, &data, &dtype, vm);
    let read = move |data: ArgBytesLike, vm: &VirtualMachine| read_safetensors(&for_files, &data, vm);
    module.set_attr("_from_bytes", vm.new_function("_from_bytes", from_bytes), vm)?;
    module.set_attr("_tensor_bytes", vm.new_function("_tensor_bytes", tensor_bytes), vm)?;
    module.set_attr("_storage_bytes", vm.new_function("_storage_bytes", storage_bytes), vm)?;
    module.set_attr("_over_memory", vm.new_function("_over_memory", over_memory), vm)?;
    module.set_attr("_read_safetensors", vm.new_function("_read_safetensors", read), vm)?;
    module.set_attr("_write_safetensors", vm.new_function("_write_safetensors", write_safetensors), vm)?;
    module.set_attr("from_numpy", vm.new_function("from_numpy", from_numpy), vm)
}

/// The tensor behind an array or a scalar of `numpy`. Plain Python data is not asked.
pub(super) fn array_data(object: &PyObject, vm: &VirtualMachine) -> PyResult<Option<PyRef<Variable>>> {
    let types = &vm.ctx.types;
    let class = object.class();
    let plain = [types.float_type, types.int_type, types.bool_type, types.list_type, types.tuple_type, types.str_type, types.dict_type];
    if plain.iter().any(|known| class.is(*known)) || object.downcastable::<Variable>() {
        return Ok(None);
    }
    // A class without such an attribute is not asked through `__getattr__`.
    if !class.has_attr(vm.ctx.intern_str(ARRAY_DATA)) {
        return Ok(None);
    }
    expect_tensor(object.get_attr(ARRAY_DATA, vm)?, vm).map(Some)
}

/// `x.numpy()`: an array over the same memory.
pub(super) fn numpy(zelf: PyRef<Variable>, args: FuncArgs, vm: &VirtualMachine) -> PyResult {
    let force = args.kwargs.get("force").map(|force| force.clone().try_to_bool(vm)).transpose()?.unwrap_or(false);
    if zelf.requires_grad() && !force {
        return Err(vm.new_runtime_error("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."));
    }
    let detached = zelf.state().clone().call_named("detach", &[Operand::Tensor(zelf)], &[], vm)?;
    vm.import("numpy", 0)?.get_attr("_over", vm)?.call((detached,), vm)
}

/// `x.__array__(dtype=None)`.
pub(super) fn array(zelf: PyRef<Variable>, args: FuncArgs, vm: &VirtualMachine) -> PyResult {
    let array = numpy(zelf, FuncArgs::default(), vm)?;
    match args.args.into_iter().next().filter(|dtype| !vm.is_none(dtype)) {
        Some(dtype) => vm.call_method(&array, "astype", (dtype,)),
        None => Ok(array),
    }
}

/// `torch.from_numpy(array)`: a tensor over the same memory.
fn from_numpy(array: PyObjectRef, vm: &VirtualMachine) -> PyResult {
    match array_data(&array, vm)? {
        Some(tensor) if !array.downcastable::<PyFloat>() && !array.downcastable::<PyInt>() => {
            tensor.state().clone().call_named("detach", &[Operand::Tensor(tensor)], &[], vm)
        }
        _ => Err(vm.new_type_error(format!("expected np.ndarray (got {})", type_name(&array)))),
    }
}

/// A tensor with one dim of these elements, which are copied; bytes at the end too few for an element are left out.
fn from_bytes(state: &Rc<TorchState>, data: &ArgBytesLike, dtype: &PyObject, vm: &VirtualMachine) -> PyResult {
    let dtype = dtype_of(dtype, vm).ok_or_else(|| vm.new_type_error("_from_bytes(): the second argument must be a dtype"))?;
    let tensor = data.with_ref(|data| {
        let count = data.len() / dtype.size();
        let mut bytes = Bytes::zeroed(count * dtype.size());
        bytes.elements_mut::<u8>().copy_from_slice(&data[..count * dtype.size()]);
        Tensor::from_bytes(dtype, &[count as i64], bytes)
    });
    Ok(state.wrap(tensor, vm).into())
}

/// A tensor over the memory of another that is no view of it, as checkpoints hold tensors that share a storage.
fn over_memory(base: PyRef<Variable>, offset: i64, sizes: Vec<i64>, strides: Vec<i64>, vm: &VirtualMachine) -> PyResult {
    let data = base.data();
    let wrong = |what: &str| vm.new_value_error(format!("a tensor of size {sizes:?}, stride {strides:?} and offset {offset} {what}"));
    if sizes.len() != strides.len() || offset < 0 || sizes.iter().chain(&strides).any(|n| *n < 0) {
        return Err(wrong("can't be"));
    }
    let numel = sizes.iter().try_fold(1_i64, |count, size| count.checked_mul(*size));
    let last = sizes.iter().zip(&strides).try_fold(offset, |last, (size, stride)| last.checked_add((size - 1).checked_mul(*stride)?));
    let elements = (data.storage().nbytes() / data.dtype().size()) as i64;
    match (numel, last) {
        (Some(0), _) => {}
        (Some(_), Some(last)) if last < elements => {}
        _ => return Err(wrong(&format!("lies beyond its storage of {elements} elements"))),
    }
    Ok(base.state().wrap(data.with_layout(data.dtype(), &sizes, &strides, offset), vm).into())
}

/// The elements in row-major order.
fn tensor_bytes(tensor: PyRef<Variable>, vm: &VirtualMachine) -> PyResult {
    let dense = tensor.data().contiguous().map_err(|error| raise(error, vm))?;
    let (start, length) = (dense.offset() as usize * dense.dtype().size(), dense.numel() * dense.dtype().size());
    let memory = dense.storage().read();
    match memory.elements::<u8>().get(start..start + length) {
        Some(bytes) => Ok(vm.ctx.new_bytes(bytes.to_vec()).into()),
        None => Err(vm.new_runtime_error("the tensor's storage is smaller than the tensor")),
    }
}

/// All bytes of the storage that the tensor is a view of.
fn storage_bytes(tensor: PyRef<Variable>, vm: &VirtualMachine) -> PyObjectRef {
    let bytes = tensor.with_data(|data| data.storage().read().elements::<u8>().to_vec());
    vm.ctx.new_bytes(bytes).into()
}

/// The tensors of a safetensors file's bytes, as a dictionary, and the file's metadata, as another.
fn read_safetensors(state: &Rc<TorchState>, data: &ArgBytesLike, vm: &VirtualMachine) -> PyResult {
    let file = data.with_ref(safetensors::read).map_err(|error| vm.new_value_error(error.to_string()))?;
    let tensors = vm.ctx.new_dict();
    for (name, tensor) in file.tensors {
        tensors.set_item(name.as_str(), state.wrap(tensor, vm).into(), vm)?;
    }
    let metadata = vm.ctx.new_dict();
    for (name, text) in file.metadata {
        metadata.set_item(name.as_str(), vm.ctx.new_str(text).into(), vm)?;
    }
    Ok(vm.new_tuple((tensors, metadata)).into())
}

/// The bytes of a safetensors file with the tensors of a dictionary, and metadata: a dictionary of texts, or None.
fn write_safetensors(tensors: PyRef<PyDict>, metadata: Option<PyRef<PyDict>>, vm: &VirtualMachine) -> PyResult {
    let mut named = Vec::with_capacity(tensors.__len__());
    for (name, tensor) in tensors {
        let tensor = tensor.downcast::<Variable>().map_err(|other| {
            vm.new_value_error(format!("safetensors holds tensors only: `{}` is a {}", shown(&name), type_name(&other)))
        })?;
        named.push((text(&name, vm)?, tensor.data()));
    }
    let metadata = match metadata {
        Some(entries) => {
            let mut texts = HashMap::new();
            for (name, value) in entries {
                texts.insert(text(&name, vm)?, text(&value, vm)?);
            }
            Some(texts)
        }
        None => None,
    };
    let bytes = safetensors::write(named.iter().map(|(name, tensor)| (name.as_str(), tensor)), metadata);
    Ok(vm.ctx.new_bytes(bytes.map_err(|error| vm.new_value_error(error.to_string()))?).into())
}

fn text(object: &PyObject, vm: &VirtualMachine) -> PyResult<String> {
    match object.downcast_ref::<PyStr>() {
        Some(text) => Ok(text.to_string()),
        None => Err(vm.new_type_error(format!("safetensors names and metadata must be str, not {}", type_name(object)))),
    }
}

fn shown(object: &PyObject) -> String {
    object.downcast_ref::<PyStr>().map_or_else(|| type_name(object), ToString::to_string)
}
