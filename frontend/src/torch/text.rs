//! Tensors as Python sees their elements: `repr`, `tolist`, `item`.

use super::{
    print::{Elements, PrintOptions, Printed, shown_indices, tensor_text},
    state::raise,
    variable::Variable,
};
use num_complex::Complex64;
use rustpython_vm::{AsObject, Py, PyObjectRef, PyResult, VirtualMachine};
use taipan_ir::{Number, OpError, dtype::Category};
use taipan_tensor::Tensor;

/// `repr(tensor)`.
pub(super) fn repr(zelf: &Py<Variable>) -> Result<String, OpError> {
    let state = zelf.state();
    let options = state.print_options();
    let data = zelf.data();
    let sizes = data.sizes().to_vec();
    let count = data.numel();
    let shown = if count > options.threshold { corners(&data, &options)? } else { elements(&data)? };
    let name = zelf.class().name().to_string();
    // Parameters print as plain tensors; their own `__repr__` says what they are.
    let prefix = if matches!(name.as_str(), "Tensor" | "Parameter") { "tensor(".to_owned() } else { format!("{name}(") };
    let gradient = match zelf.var().edge() {
        Some(edge) => Some(format!("grad_fn=<{}>", edge.node.name())),
        None => zelf.requires_grad().then(|| "requires_grad=True".to_owned()),
    };
    let device = data.storage().device();
    Ok(tensor_text(
        &Printed {
            dtype: data.dtype(),
            sizes: &sizes,
            elements: &shown,
            default_dtype: state.default_dtype(),
            prefix: &prefix,
            device: (!device.is_cpu()).then(|| device.to_string()),
            gradient,
        },
        &options,
    ))
}

/// All elements, row-major.
pub(super) fn elements(data: &Tensor) -> Result<Elements, OpError> {
    Ok(by_kind(data, data.numbers()?))
}

/// The elements that a summary shows. The others aren't read: there may be very many.
fn corners(data: &Tensor, options: &PrintOptions) -> Result<Elements, OpError> {
    let mut offsets = vec![data.offset()];
    for (size, stride) in data.sizes().iter().zip(data.strides()) {
        let shown = shown_indices(*size as usize, options);
        offsets = offsets.iter().flat_map(|start| shown.iter().map(move |index| start + *index as i64 * stride)).collect();
    }
    let one = |offset: &i64| data.with_layout(data.dtype(), &[], &[], *offset).item();
    Ok(by_kind(data, offsets.iter().map(one).collect::<Result<_, _>>()?))
}

fn by_kind(data: &Tensor, numbers: Vec<Number>) -> Elements {
    let numbers = numbers.into_iter();
    match data.dtype().category() {
        Category::Bool => Elements::Bools(numbers.map(Number::truth).collect()),
        Category::Integer => Elements::Ints(numbers.map(Number::as_i64).collect()),
        Category::Float => Elements::Floats(numbers.map(Number::as_f64).collect()),
        Category::Complex => Elements::Complexes(numbers.map(Number::parts).collect()),
    }
}

/// One element as a Python number.
pub(super) fn element_object(elements: &Elements, index: usize, vm: &VirtualMachine) -> PyObjectRef {
    match elements {
        Elements::Bools(values) => vm.ctx.new_bool(values[index]).into(),
        Elements::Ints(values) => vm.ctx.new_int(values[index]).into(),
        Elements::Floats(values) => vm.ctx.new_float(values[index]).into(),
        Elements::Complexes(values) => vm.ctx.new_complex(Complex64::new(values[index].0, values[index].1)).into(),
    }
}

/// `tensor.tolist()`: nested lists, or a number.
pub(super) fn to_list(data: &Tensor, vm: &VirtualMachine) -> PyResult {
    let elements = elements(data).map_err(|error| raise(error, vm))?;
    Ok(nested(&elements, data.sizes(), &mut 0, vm))
}

fn nested(elements: &Elements, sizes: &[i64], next: &mut usize, vm: &VirtualMachine) -> PyObjectRef {
    let Some((size, inner)) = sizes.split_first() else {
        *next += 1;
        return element_object(elements, *next - 1, vm);
    };
    let items = (0..*size).map(|_| nested(elements, inner, next, vm)).collect();
    vm.ctx.new_list(items).into()
}
