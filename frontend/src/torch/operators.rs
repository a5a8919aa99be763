//! The operators of tensors: `+`, `@`, `<`, `bool()`, `in`.

use super::{
    create,
    operand::operand,
    overrides::overridden_operator,
    state::{TorchState, raise},
    variable::Variable,
};
use rustpython_vm::{
    AsObject, Py, PyObject, PyObjectRef, PyRef, PyResult, VirtualMachine,
    builtins::{PyComplex, PyType},
    function::{Either, PyComparisonValue},
    protocol::{PyNumber, PyNumberMethods},
    types::PyComparisonOp,
};
use std::rc::Rc;
use taipan_ir::bind::Operand;

type Operands = Operand<PyRef<Variable>>;

/// What `number op tensor` is made of.
#[derive(Clone, Copy)]
enum Reflected {
    /// The same op with its arguments as they stand.
    Same,
    /// Another op, tensor first.
    Swapped(&'static str),
    /// The reciprocal of the tensor times the number.
    Reciprocal,
    /// The same op, the number made a tensor.
    AsTensor,
}

/// The number protocol of `torch.Tensor`.
pub(super) static NUMBER: PyNumberMethods = PyNumberMethods {
    add: Some(|left, right, vm| binary("add", Reflected::Swapped("add"), left, right, vm)),
    subtract: Some(|left, right, vm| binary("sub", Reflected::Swapped("rsub"), left, right, vm)),
    multiply: Some(|left, right, vm| binary("mul", Reflected::Swapped("mul"), left, right, vm)),
    true_divide: Some(|left, right, vm| binary("div", Reflected::Reciprocal, left, right, vm)),
    floor_divide: Some(|left, right, vm| binary("floor_divide", Reflected::AsTensor, left, right, vm)),
    remainder: Some(|left, right, vm| binary("remainder", Reflected::Same, left, right, vm)),
    matrix_multiply: Some(|left, right, vm| tensors_only("matmul", left, right, vm)),
    power: Some(|left, right, modulus, vm| match vm.is_none(modulus) {
        true => binary("pow", Reflected::Same, left, right, vm),
        false => Ok(vm.ctx.not_implemented()),
    }),
    and: Some(|left, right, vm| binary("bitwise_and", Reflected::Swapped("bitwise_and"), left, right, vm)),
    or: Some(|left, right, vm| binary("bitwise_or", Reflected::Swapped("bitwise_or"), left, right, vm)),
    xor: Some(|left, right, vm| binary("bitwise_xor", Reflected::Swapped("bitwise_xor"), left, right, vm)),
    lshift: Some(|left, right, vm| binary("bitwise_left_shift", Reflected::AsTensor, left, right, vm)),
    rshift: Some(|left, right, vm| binary("bitwise_right_shift", Reflected::AsTensor, left, right, vm)),
    negative: Some(|number, vm| unary("neg", number, vm)),
    absolute: Some(|number, vm| unary("abs", number, vm)),
    invert: Some(|number, vm| unary("bitwise_not", number, vm)),
    positive: Some(|number, _vm| Ok(number.obj.to_owned())),
    inplace_add: Some(|left, right, vm| in_place("add_", left, right, vm)),
    inplace_subtract: Some(|left, right, vm| in_place("sub_", left, right, vm)),
    inplace_multiply: Some(|left, right, vm| in_place("mul_", left, right, vm)),
    inplace_true_divide: Some(|left, right, vm| in_place("div_", left, right, vm)),
    inplace_floor_divide: Some(|left, right, vm| in_place("floor_divide_", left, right, vm)),
    inplace_remainder: Some(|left, right, vm| in_place("remainder_", left, right, vm)),
    inplace_power: Some(|left, right, _modulus, vm| in_place("pow_", left, right, vm)),
    inplace_and: Some(|left, right, vm| in_place("bitwise_and_", left, right, vm)),
    inplace_or: Some(|left, right, vm| in_place("bitwise_or_", left, right, vm)),
    inplace_xor: Some(|left, right, vm| in_place("bitwise_xor_", left, right, vm)),
    boolean: Some(|number, vm| truth(receiver(number.obj, vm)?, vm)),
    int: Some(|number, vm| converted(number, vm.ctx.types.int_type, vm)),
    float: Some(|number, vm| converted(number, vm.ctx.types.float_type, vm)),
    index: Some(|number, vm| index_value(receiver(number.obj, vm)?, vm)),
    ..PyNumberMethods::NOT_IMPLEMENTED
};

fn receiver<'a>(object: &'a PyObject, vm: &VirtualMachine) -> PyResult<&'a Py<Variable>> {
    object.downcast_ref().ok_or_else(|| vm.new_type_error("a Tensor is required"))
}

/// An operand of an operator: a tensor or a number, else nothing.
fn arithmetic(object: &PyObject, vm: &VirtualMachine) -> PyResult<Option<Operands>> {
    Ok(match operand(object, &mut |variable| variable.to_owned(), vm)? {
        Operand::Other(_) => None,
        operand @ (Operand::Tensor(_) | Operand::Bool(_) | Operand::Int(_) | Operand::Float(_) | Operand::Complex(..)) => Some(operand),
        _ => None,
    })
}

fn state_of(operands: [&Operands; 2]) -> Option<&Rc<TorchState>> {
    operands.into_iter().find_map(|operand| match operand {
        Operand::Tensor(variable) => Some(variable.state()),
        _ => None,
    })
}

/// `left op right`, at least one of them a tensor.
fn binary(name: &'static str, reflected: Reflected, left: &PyObject, right: &PyObject, vm: &VirtualMachine) -> PyResult {
    let answer = match left.downcast_ref::<Variable>() {
        Some(_) => overridden_operator(name, &[left, right], vm)?,
        None => overridden_operator(reflected_method(name), &[right, left], vm)?,
    };
    if let Some(answer) = answer {
        return Ok(answer);
    }
    let (Some(left), Some(right)) = (arithmetic(left, vm)?, arithmetic(right, vm)?) else {
        return Ok(vm.ctx.not_implemented());
    };
    let Some(state) = state_of([&left, &right]).cloned() else {
        return Ok(vm.ctx.not_implemented());
    };
    if matches!(left, Operand::Tensor(_)) {
        return state.call_named(name, &[left, right], &[], vm);
    }
    match reflected {
        Reflected::Same => state.call_named(name, &[left, right], &[], vm),
        Reflected::Swapped(name) => state.call_named(name, &[right, left], &[], vm),
        Reflected::AsTensor => {
            let left = create::scalar_operand(&state, &left, &right, vm)?;
            state.call_named(name, &[left, right], &[], vm)
        }
        Reflected::Reciprocal => {
            let inverse = state.call_named("reciprocal", &[right], &[], vm)?;
            let inverse = create::expect_tensor(inverse, vm)?;
            state.call_named("mul", &[Operand::Tensor(inverse), left], &[], vm)
        }
    }
}

/// The method by which a tensor on the right answers.
fn reflected_method(name: &str) -> &'static str {
    match name {
        "add" => "__radd__",
        "sub" => "__rsub__",
        "mul" => "__rmul__",
        "div" => "__rtruediv__",
        "floor_divide" => "__rfloordiv__",
        "remainder" => "__rmod__",
        "pow" => "__rpow__",
        "bitwise_and" => "__rand__",
        "bitwise_or" => "__ror__",
        "bitwise_xor" => "__rxor__",
        "bitwise_left_shift" => "__rlshift__",
        _ => "__rrshift__",
    }
}

fn tensors_only(name: &'static str, left: &PyObject, right: &PyObject, vm: &VirtualMachine) -> PyResult {
    if let Some(answer) = overridden_operator(name, &[left, right], vm)? {
        return Ok(answer);
    }
    match (left.downcast_ref::<Variable>(), right.downcast_ref::<Variable>()) {
        (Some(left), Some(right)) => {
            let operands = [Operand::Tensor(left.to_owned()), Operand::Tensor(right.to_owned())];
            left.state().call_named(name, &operands, &[], vm)
        }
        _ => Ok(vm.ctx.not_implemented()),
    }
}

fn in_place(name: &'static str, left: &PyObject, right: &PyObject, vm: &VirtualMachine) -> PyResult {
    if let Some(answer) = overridden_operator(name, &[left, right], vm)? {
        return Ok(answer);
    }
    let (Some(target), Some(right)) = (left.downcast_ref::<Variable>(), arithmetic(right, vm)?) else {
        return Ok(vm.ctx.not_implemented());
    };
    target.state().call_named(name, &[Operand::Tensor(target.to_owned()), right], &[], vm)
}

fn unary(name: &'static str, number: PyNumber<'_>, vm: &VirtualMachine) -> PyResult {
    let variable = receiver(number.obj, vm)?;
    if let Some(answer) = overridden_operator(name, &[number.obj], vm)? {
        return Ok(answer);
    }
    variable.state().call_named(name, &[Operand::Tensor(variable.to_owned())], &[], vm)
}

/// Element-wise comparison; with anything but a tensor or a number, Python's own.
pub(super) fn compare(
    left: &PyObject,
    right: &PyObject,
    op: PyComparisonOp,
    vm: &VirtualMachine,
) -> PyResult<Either<PyObjectRef, PyComparisonValue>> {
    let name = match op {
        PyComparisonOp::Lt => "lt",
        PyComparisonOp::Le => "le",
        PyComparisonOp::Gt => "gt",
        PyComparisonOp::Ge => "ge",
        PyComparisonOp::Eq => "eq",
        PyComparisonOp::Ne => "ne",
    };
    if let Some(answer) = overridden_operator(name, &[left, right], vm)? {
        return Ok(Either::A(answer));
    }
    let (Some(variable), Some(right)) = (left.downcast_ref::<Variable>(), arithmetic(right, vm)?) else {
        return Ok(Either::B(PyComparisonValue::NotImplemented));
    };
    let result = variable.state().call_named(name, &[Operand::Tensor(variable.to_owned()), right], &[], vm)?;
    Ok(Either::A(result))
}

/// `item in tensor`: whether any element equals it.
pub(super) fn contains(zelf: &Py<Variable>, item: &PyObject, vm: &VirtualMachine) -> PyResult<bool> {
    let Some(item) = arithmetic(item, vm)? else {
        return Err(vm.new_runtime_error(format!(
            "Tensor.__contains__ only supports Tensor or scalar, but you passed in a {}.",
            item.class().as_object().repr(vm)?
        )));
    };
    let state = zelf.state();
    let equal = state.call_named("eq", &[Operand::Tensor(zelf.to_owned()), item], &[], vm)?;
    let any = state.call_named("any", &[Operand::Tensor(receiver(&equal, vm)?.to_owned())], &[], vm)?;
    truth(receiver(&any, vm)?, vm)
}

fn truth(zelf: &Py<Variable>, vm: &VirtualMachine) -> PyResult<bool> {
    let wrong = match zelf.with_data(|data| data.numel()) {
        1 => return item(zelf, vm)?.try_to_bool(vm),
        0 => "Boolean value of Tensor with no values is ambiguous",
        _ => "Boolean value of Tensor with more than one value is ambiguous",
    };
    Err(vm.new_runtime_error(wrong))
}

/// `tensor.item()`.
pub(super) fn item(zelf: &Py<Variable>, vm: &VirtualMachine) -> PyResult {
    let count = zelf.with_data(|data| data.numel());
    if count != 1 {
        return Err(vm.new_runtime_error(format!("a Tensor with {count} elements cannot be converted to Scalar")));
    }
    let elements = super::text::elements(&zelf.data()).map_err(|error| raise(error, vm))?;
    Ok(super::text::element_object(&elements, 0, vm))
}

/// `int(x)` and `float(x)`.
fn converted(number: PyNumber<'_>, class: &Py<PyType>, vm: &VirtualMachine) -> PyResult {
    let variable = receiver(number.obj, vm)?;
    if variable.with_data(|data| data.numel()) != 1 {
        return Err(vm.new_value_error("only one element tensors can be converted to Python scalars"));
    }
    let item = item(variable, vm)?;
    if let Some(complex) = item.downcast_ref::<PyComplex>() {
        let value = complex.to_complex64();
        if value.im != 0.0 {
            let name = if class.is(vm.ctx.types.int_type) { "int64_t" } else { "double" };
            return Err(vm.new_runtime_error(format!("value cannot be converted to type {name} without overflow")));
        }
        return class.as_object().call((value.re,), vm);
    }
    class.as_object().call((item,), vm)
}

fn index_value(zelf: &Py<Variable>, vm: &VirtualMachine) -> PyResult {
    let usable = zelf.with_data(|data| data.numel() == 1 && !data.dtype().has_gradients());
    if !usable {
        return Err(vm.new_type_error("only integer tensors of a single element can be converted to an index"));
    }
    let item = item(zelf, vm)?;
    Ok(item.try_index(vm)?.into())
}
