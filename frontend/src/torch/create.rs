//! Tensors from Python data: `torch.tensor`, `torch.as_tensor`, `torch.Tensor(...)`.

use super::{
    memory,
    operand::{dtype_of, keyword as name_of, operand, type_name},
    state::{TorchState, raise},
    variable::Variable,
};
use half::{bf16, f16};
use num_complex::{Complex32, Complex64};
use rustpython_vm::{
    AsObject, Py, PyObject, PyObjectRef, PyRef, PyResult, VirtualMachine,
    builtins::{PyComplex, PyDict, PyFloat, PyInt, PyList, PyStr, PyTuple},
    function::FuncArgs,
};
use std::rc::Rc;
use taipan_ir::{DType, Dim, Number, bind::Operand, dtype::Category};
use taipan_tensor::{Element, Tensor};

/// Nesting beyond this is no tensor.
const MOST_DIMS: usize = 128;

/// `torch.tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False)`, called under `name`.
pub(super) fn tensor(name: &str, state: &Rc<TorchState>, args: FuncArgs, vm: &VirtualMachine) -> PyResult {
    let given = Given::parse(name, args, 1, vm)?.with_array_data(vm)?;
    let data = match given.data.downcast_ref::<Variable>() {
        Some(variable) => converted(state, &variable.data(), given.dtype, true, vm)?,
        None => from_python(state, &given.data, given.dtype, vm)?,
    };
    let variable = state.wrap(data, vm);
    if given.requires_grad {
        require_grad(&variable, vm)?;
    }
    Ok(variable.into())
}

/// `torch.as_tensor(data, dtype=None, device=None)`: a tensor that fits already is handed through.
pub(super) fn as_tensor(state: &Rc<TorchState>, args: FuncArgs, vm: &VirtualMachine) -> PyResult {
    let given = Given::parse("as_tensor", args, 3, vm)?.with_array_data(vm)?;
    let data = match given.data.downcast_ref::<Variable>() {
        Some(variable) => {
            let dtype = variable.with_data(|data| data.dtype());
            if given.dtype.is_none_or(|wanted| wanted == dtype) {
                return Ok(given.data);
            }
            converted(state, &variable.data(), given.dtype, false, vm)?
        }
        None => from_python(state, &given.data, given.dtype, vm)?,
    };
    Ok(state.wrap(data, vm).into())
}

/// The arguments that the functions of this file share.
struct Given {
    data: PyObjectRef,
    dtype: Option<DType>,
    requires_grad: bool,
}

impl Given {
    fn parse(name: &str, args: FuncArgs, most_positional: usize, vm: &VirtualMachine) -> PyResult<Self> {
        let FuncArgs { args: positional, kwargs } = args;
        if positional.len() > most_positional {
            return Err(vm.new_type_error(format!(
                "{name}() takes {most_positional} positional argument{} but {} were given",
                if most_positional == 1 { "" } else { "s" },
                positional.len()
            )));
        }
        let mut positional = positional.into_iter();
        let mut data = positional.next();
        let mut dtype = positional.next();
        let mut device = positional.next();
        let mut requires_grad = false;
        for (keyword, value) in kwargs {
            match name_of(&keyword) {
                "data" if data.is_none() => data = Some(value),
                "dtype" if dtype.is_none() => dtype = Some(value),
                "device" if device.is_none() => device = Some(value),
                "requires_grad" if most_positional == 1 => requires_grad = value.try_to_bool(vm)?,
                "pin_memory" if most_positional == 1 => {}
                other => return Err(vm.new_type_error(format!("{name}() got an unexpected keyword argument '{other}'"))),
            }
        }
        let Some(data) = data else {
            return Err(vm.new_type_error(format!("{name}() missing 1 required positional arguments: \"data\"")));
        };
        check_device(name, device.as_deref(), vm)?;
        Ok(Self { data, dtype: wanted_dtype(name, dtype.as_deref(), vm)?, requires_grad })
    }
}

impl Given {
    /// The same with the data of an array as a tensor over its memory.
    fn with_array_data(mut self, vm: &VirtualMachine) -> PyResult<Self> {
        if let Some(tensor) = memory::array_data(&self.data, vm)? {
            self.data = tensor.into();
        }
        Ok(self)
    }
}

fn wanted_dtype(name: &str, dtype: Option<&PyObject>, vm: &VirtualMachine) -> PyResult<Option<DType>> {
    match dtype {
        None => Ok(None),
        Some(dtype) if vm.is_none(dtype) => Ok(None),
        Some(dtype) => match dtype_of(dtype, vm) {
            Some(dtype) => Ok(Some(dtype)),
            None => Err(vm.new_type_error(format!("{name}(): argument 'dtype' must be torch.dtype, not {}", type_name(dtype)))),
        },
    }
}

/// Only the CPU has memory here.
pub(super) fn check_device(name: &str, device: Option<&PyObject>, vm: &VirtualMachine) -> PyResult<()> {
    let Some(device) = device.filter(|device| !vm.is_none(device)) else { return Ok(()) };
    let device = match operand::<()>(device, &mut |_| (), vm)? {
        Operand::Device(device) => Some(device),
        Operand::Str(text) => taipan_ir::Device::parse(&text),
        _ => None,
    };
    match device {
        Some(device) if device.is_cpu() => Ok(()),
        Some(device) => Err(vm.new_runtime_error(format!("the device '{device}' is not available: this engine has only 'cpu'"))),
        None => Err(vm.new_type_error(format!("{name}(): argument 'device' must be torch.device"))),
    }
}

/// What `requires_grad=True` does to a tensor just made.
pub(super) fn require_grad(variable: &Py<Variable>, vm: &VirtualMachine) -> PyResult<()> {
    if !variable.with_data(|data| data.dtype().has_gradients()) {
        return Err(vm.new_runtime_error("Only Tensors of floating point and complex dtype can require gradients"));
    }
    variable.set_requires_grad(true, vm)
}

/// The data in another dtype; a copy when `fresh` or when the dtype changes.
fn converted(state: &Rc<TorchState>, data: &Tensor, dtype: Option<DType>, fresh: bool, vm: &VirtualMachine) -> PyResult<Tensor> {
    match dtype.filter(|wanted| *wanted != data.dtype()) {
        Some(dtype) => {
            let variable = state.wrap(data.clone(), vm);
            let result = state.call_named("to", &[Operand::Tensor(variable), Operand::DType(dtype)], &[], vm)?;
            Ok(expect_tensor(result, vm)?.data())
        }
        None if fresh => data.copied().map_err(|error| raise(error, vm)),
        None => Ok(data.clone()),
    }
}

/// The tensor that an op gave.
pub(super) fn expect_tensor(object: PyObjectRef, vm: &VirtualMachine) -> PyResult<PyRef<Variable>> {
    object.downcast().map_err(|_| vm.new_type_error("the op gave no tensor"))
}

/// A Python number, or nothing when the object is none.
pub(super) fn number(object: &PyObject, vm: &VirtualMachine) -> PyResult<Option<Number>> {
    Ok(match operand::<()>(object, &mut |_| (), vm)? {
        Operand::Bool(value) => Some(Number::Bool(value)),
        Operand::Int(Dim::Is(value)) => Some(Number::Int(value)),
        Operand::Float(value) => Some(Number::Float(value)),
        Operand::Complex(re, im) => Some(Number::Complex(re, im)),
        _ => None,
    })
}

/// The number `left` as a tensor without dims, of the dtype that an op with the tensor `right` has.
pub(super) fn scalar_operand(
    state: &Rc<TorchState>,
    left: &Operand<PyRef<Variable>>,
    right: &Operand<PyRef<Variable>>,
    vm: &VirtualMachine,
) -> PyResult<Operand<PyRef<Variable>>> {
    let number = match left {
        Operand::Bool(value) => Number::Bool(*value),
        Operand::Int(Dim::Is(value)) => Number::Int(*value),
        Operand::Float(value) => Number::Float(*value),
        Operand::Complex(re, im) => Number::Complex(*re, *im),
        _ => return Ok(left.clone()),
    };
    let own = number.dtype(state.default_dtype());
    let dtype = match right {
        Operand::Tensor(variable) => {
            let other = variable.with_data(|data| data.dtype());
            match own.category() > other.category() {
                true if own.is_complex() && other.is_float() => other.complex(),
                true => own,
                false => other,
            }
        }
        _ => own,
    };
    Ok(Operand::Tensor(state.wrap(Tensor::full(dtype, &[], number), vm)))
}

/// A tensor of nested sequences of numbers.
///
/// # Errors
/// PyTorch's: ragged sequences, values that aren't numbers or don't fit the dtype.
pub(super) fn from_python(state: &Rc<TorchState>, object: &PyObject, dtype: Option<DType>, vm: &VirtualMachine) -> PyResult<Tensor> {
    if object.downcastable::<PyStr>() {
        return Err(vm.new_type_error("new(): invalid data type 'str'"));
    }
    let sizes = sizes(object, vm)?;
    let dtype = match dtype {
        Some(dtype) => dtype,
        None => infer(object, state.default_dtype(), vm)?.unwrap_or(state.default_dtype()),
    };
    let mut numbers = Vec::new();
    collect(object, &sizes, 0, dtype, &mut numbers, vm)?;
    from_numbers(&numbers, &sizes, dtype, vm)
}

/// The items of a sequence, or nothing when the object is a single value.
fn items(object: &PyObject, vm: &VirtualMachine) -> PyResult<Option<Vec<PyObjectRef>>> {
    if let Some(list) = object.downcast_ref::<PyList>() {
        return Ok(Some(list.borrow_vec().to_vec()));
    }
    if let Some(tuple) = object.downcast_ref::<PyTuple>() {
        return Ok(Some(tuple.as_slice().to_vec()));
    }
    let single = object.downcastable::<Variable>()
        || object.downcastable::<PyFloat>()
        || object.downcastable::<PyInt>()
        || object.downcastable::<PyComplex>()
        || object.downcastable::<PyStr>()
        || object.downcastable::<PyDict>()
        || object.class().slots().as_sequence.item.load().is_none();
    if single { Ok(None) } else { Ok(Some(vm.extract_elements_with(object, Ok)?)) }
}

fn sizes(object: &PyObject, vm: &VirtualMachine) -> PyResult<Vec<i64>> {
    let mut sizes = Vec::new();
    let mut object = object.to_owned();
    loop {
        if object.downcastable::<PyStr>() {
            return Err(vm.new_value_error("too many dimensions 'str'"));
        }
        let Some(items) = items(&object, vm)? else { return Ok(sizes) };
        sizes.push(items.len() as i64);
        if sizes.len() > MOST_DIMS {
            return Err(vm.new_value_error(format!("too many dimensions '{}'", type_name(&object))));
        }
        match items.into_iter().next() {
            Some(first) => object = first,
            None => return Ok(sizes),
        }
    }
}

/// The common dtype of all values; nothing when there are none.
fn infer(object: &PyObject, default: DType, vm: &VirtualMachine) -> PyResult<Option<DType>> {
    if let Some(items) = items(object, vm)? {
        let mut common = None;
        for item in &items {
            let dtype = infer(item, default, vm)?;
            common = match (common, dtype) {
                (Some(common), Some(dtype)) => Some(DType::promote(common, dtype)),
                (common, dtype) => common.or(dtype),
            };
        }
        return Ok(common);
    }
    if let Some(variable) = object.downcast_ref::<Variable>() {
        return Ok(Some(variable.with_data(|data| data.dtype())));
    }
    if let Some(scalar) = memory::array_data(object, vm)? {
        return Ok(Some(scalar.with_data(|data| data.dtype())));
    }
    if object.downcastable::<PyInt>() && !object.class().is(vm.ctx.types.bool_type) {
        return Ok(Some(DType::I64));
    }
    match number(object, vm)? {
        Some(number) => Ok(Some(number.dtype(default))),
        None => Err(vm.new_runtime_error(format!("Could not infer dtype of {}", type_name(object)))),
    }
}

fn collect(object: &PyObject, sizes: &[i64], dim: usize, dtype: DType, numbers: &mut Vec<Number>, vm: &VirtualMachine) -> PyResult<()> {
    let Some(size) = sizes.get(dim) else {
        numbers.push(value(object, dtype, vm)?);
        return Ok(());
    };
    let Some(items) = items(object, vm)? else {
        return Err(vm.new_type_error("not a sequence"));
    };
    if items.len() as i64 != *size {
        return Err(vm.new_value_error(format!("expected sequence of length {size} at dim {dim} (got {})", items.len())));
    }
    items.iter().try_for_each(|item| collect(item, sizes, dim + 1, dtype, numbers, vm))
}

/// One element.
fn value(object: &PyObject, dtype: DType, vm: &VirtualMachine) -> PyResult<Number> {
    if let Some(variable) = object.downcast_ref::<Variable>() {
        return match variable.data().item() {
            Ok(number) => Ok(number),
            Err(_) if dtype.has_gradients() => Err(vm.new_value_error("only one element tensors can be converted to Python scalars")),
            Err(_) => Err(vm.new_type_error("only integer tensors of a single element can be converted to an index")),
        };
    }
    if let Some(int) = object.downcast_ref::<PyInt>()
        && !object.class().is(vm.ctx.types.bool_type)
    {
        if dtype.has_gradients() {
            return Ok(Number::Float(int.as_object().try_float(vm)?.to_f64()));
        }
        return match int.try_to_primitive(vm) {
            Ok(value) => Ok(Number::Int(value)),
            Err(_) => Err(vm.new_value_error("Overflow when unpacking long long")),
        };
    }
    if let Some(number) = number(object, vm)?
        && (dtype.is_complex() || !matches!(number, Number::Complex(..)))
    {
        return Ok(number);
    }
    let wanted = if dtype.has_gradients() { "must be real number, not" } else { "object cannot be interpreted as an integer" };
    Err(vm.new_type_error(match dtype.has_gradients() {
        true => format!("{wanted} {}", type_name(object)),
        false => format!("'{}' {wanted}", type_name(object)),
    }))
}

/// A tensor of these values, each checked to fit.
fn from_numbers(numbers: &[Number], sizes: &[i64], dtype: DType, vm: &VirtualMachine) -> PyResult<Tensor> {
    if !numbers.iter().all(|number| fits(*number, dtype)) {
        return Err(vm.new_runtime_error(format!("value cannot be converted to type {} without overflow", dtype.torch_name())));
    }
    let floats = || numbers.iter().map(|number| number.as_f64());
    let ints = || numbers.iter().map(|number| number.as_i64());
    let tensor = match dtype {
        DType::Bool => Tensor::from_slice(&numbers.iter().map(|number| number.truth()).collect::<Vec<_>>(), sizes),
        DType::U8 => Tensor::from_slice(&ints().map(|value| value as u8).collect::<Vec<_>>(), sizes),
        DType::I8 => Tensor::from_slice(&ints().map(|value| value as i8).collect::<Vec<_>>(), sizes),
        DType::I16 => Tensor::from_slice(&ints().map(|value| value as i16).collect::<Vec<_>>(), sizes),
        DType::I32 => Tensor::from_slice(&ints().map(|value| value as i32).collect::<Vec<_>>(), sizes),
        DType::I64 => Tensor::from_slice(&ints().collect::<Vec<_>>(), sizes),
        DType::F16 => Tensor::from_slice(&floats().map(f16::from_f64).collect::<Vec<_>>(), sizes),
        DType::BF16 => Tensor::from_slice(&floats().map(bf16::from_f64).collect::<Vec<_>>(), sizes),
        DType::F32 => Tensor::from_slice(&floats().map(|value| value as f32).collect::<Vec<_>>(), sizes),
        DType::F64 => Tensor::from_slice(&floats().collect::<Vec<_>>(), sizes),
        DType::C64 => Tensor::from_slice(&numbers.iter().map(|number| Complex32::from_number(*number)).collect::<Vec<_>>(), sizes),
        DType::C128 => Tensor::from_slice(&numbers.iter().map(|number| Complex64::from_number(*number)).collect::<Vec<_>>(), sizes),
    };
    tensor.map_err(|error| raise(error, vm))
}

/// Whether an integer dtype can hold the value. Negative numbers wrap in unsigned types.
fn fits(number: Number, dtype: DType) -> bool {
    if dtype.category() != Category::Integer {
        return true;
    }
    let (low, high) = match dtype {
        DType::U8 => (-255.0, 255.0),
        DType::I8 => (f64::from(i8::MIN), f64::from(i8::MAX)),
        DType::I16 => (f64::from(i16::MIN), f64::from(i16::MAX)),
        DType::I32 => (f64::from(i32::MIN), f64::from(i32::MAX)),
        _ => (i64::MIN as f64, i64::MAX as f64),
    };
    match number {
        Number::Float(value) => value >= low && value <= high,
        number => (low..=high).contains(&(number.as_i64() as f64)),
    }
}

/// `torch.Tensor()`, `torch.Tensor(sizes…)`, `torch.Tensor(data)`: the data in this dtype.
pub(super) fn legacy_constructor(state: &Rc<TorchState>, dtype: DType, args: &FuncArgs, vm: &VirtualMachine) -> PyResult<Tensor> {
    let [first, ..] = args.args.as_slice() else { return Ok(Tensor::zeros(dtype, &[0])) };
    if let Some(variable) = first.downcast_ref::<Variable>() {
        return Ok(variable.data());
    }
    if first.class().is(state.size_type()) || first.downcastable::<PyInt>() {
        let dims = if first.downcastable::<PyInt>() { args.args.clone() } else { items(first, vm)?.unwrap_or_default() };
        let sizes = dims.iter().map(|size| size.try_to_value::<i64>(vm)).collect::<PyResult<Vec<_>>>()?;
        if let Some(negative) = sizes.iter().find(|size| **size < 0) {
            return Err(vm.new_runtime_error(format!("Trying to create tensor with negative dimension {negative}: {sizes:?}")));
        }
        return Ok(Tensor::zeros(dtype, &sizes));
    }
    if items(first, vm)?.is_none() {
        return Err(vm.new_type_error(format!("new(): data must be a sequence (got {})", type_name(first))));
    }
    from_python(state, first, Some(dtype), vm)
}
