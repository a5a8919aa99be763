//! `x[key]` and `x[key] = value` on real tensors.

use super::{
    create,
    index_plan::{Index, Item, Step, plan},
    operand::type_name,
    overrides::overridden_operator,
    state::raise,
    variable::Variable,
};
use rustpython_vm::{
    AsObject, Py, PyObject, PyObjectRef, PyRef, PyResult, VirtualMachine,
    builtins::{PyEllipsis, PyInt, PyList, PySlice, PyStr, PyTuple},
};
use taipan_ir::{DType, Dim, Number, bind::Operand, promote::compute_type};
use taipan_tensor::Tensor;

type Items = Vec<Item<PyRef<Variable>>>;

/// `zelf[key]`.
pub(super) fn get(zelf: &Py<Variable>, key: &PyObject, vm: &VirtualMachine) -> PyResult {
    if let Some(answer) = overridden_operator("__getitem__", &[zelf.as_object(), key], vm)? {
        return Ok(answer);
    }
    let items = parse(zelf, key, vm)?;
    let (view, indices) = take_views(zelf, &items, vm)?;
    match indices {
        Some(indices) => zelf.state().call_named("index", &[Operand::Tensor(view), indices], &[], vm),
        None => Ok(view.into()),
    }
}

/// `zelf[key] = value`; deleting isn't possible.
pub(super) fn set(zelf: &Py<Variable>, key: &PyObject, value: Option<PyObjectRef>, vm: &VirtualMachine) -> PyResult<()> {
    let Some(value) = value else {
        return Err(vm.new_type_error("Tensor does not support deleting items"));
    };
    if overridden_operator("__setitem__", &[zelf.as_object(), key, &value], vm)?.is_some() {
        return Ok(());
    }
    let state = zelf.state();
    if state.grad_enabled() && zelf.requires_grad() && zelf.is_leaf() {
        return Err(vm.new_runtime_error("a view of a leaf Variable that requires grad is being used in an in-place operation."));
    }
    let value = assigned(zelf, &value, vm)?;
    let items = parse(zelf, key, vm)?;
    let (view, indices) = take_views(zelf, &items, vm)?;
    let rank = view.with_data(|data| data.rank());
    match indices {
        Some(indices) => {
            let value = without_leading_ones(&value, 0, vm)?;
            state.call_named("index_put_", &[Operand::Tensor(view.clone()), indices, Operand::Tensor(value)], &[], vm)?;
        }
        None => {
            let value = fitted(&value, &view, rank, vm)?;
            state.call_named("copy_", &[Operand::Tensor(view.clone()), Operand::Tensor(value)], &[], vm)?;
        }
    }
    Ok(())
}

/// The parts of a key; a key that isn't a tuple has one.
fn parse(zelf: &Py<Variable>, key: &PyObject, vm: &VirtualMachine) -> PyResult<Items> {
    if let Some(tuple) = key.downcast_ref::<PyTuple>() {
        return tuple.as_slice().iter().map(|item| parse_item(zelf, item, vm)).collect();
    }
    if let Some(list) = key.downcast_ref::<PyList>() {
        let parts = list.borrow_vec().to_vec();
        // A list of more than numbers is read as a tuple, as old NumPy did.
        let structured = parts.iter().any(|part| {
            part.downcastable::<PyList>()
                || part.downcastable::<PyTuple>()
                || part.downcastable::<PySlice>()
                || part.downcastable::<Variable>()
                || part.downcastable::<PyEllipsis>()
                || vm.is_none(part)
        });
        if structured {
            return parts.iter().map(|item| parse_item(zelf, item, vm)).collect();
        }
    }
    Ok(vec![parse_item(zelf, key, vm)?])
}

fn parse_item(zelf: &Py<Variable>, item: &PyObject, vm: &VirtualMachine) -> PyResult<Item<PyRef<Variable>>> {
    if vm.is_none(item) {
        return Ok(Item::NewAxis);
    }
    if item.downcastable::<PyEllipsis>() {
        return Ok(Item::Ellipsis);
    }
    if let Some(int) = item.downcast_ref::<PyInt>() {
        return Ok(match item.class().is(vm.ctx.types.bool_type) {
            true => Item::Bool(int.as_bigint() != &0.into()),
            false => Item::Int(Dim::Is(int.try_to_primitive(vm)?)),
        });
    }
    if let Some(slice) = item.downcast_ref::<PySlice>() {
        let bound = |bound: Option<&PyObject>| match bound {
            Some(bound) if !vm.is_none(bound) => slice_bound(bound, vm).map(Some),
            _ => Ok(None),
        };
        return Ok(Item::Slice(bound(slice.start.as_deref())?, bound(Some(&slice.stop))?, bound(slice.step.as_deref())?));
    }
    if let Some(variable) = item.downcast_ref::<Variable>() {
        return tensor_item(variable, vm);
    }
    if item.downcastable::<PyStr>() {
        return Err(vm.new_type_error("new(): invalid data type 'str'"));
    }
    let sequence =
        item.downcastable::<PyList>() || item.downcastable::<PyTuple>() || item.class().slots().as_sequence.item.load().is_some();
    if sequence {
        let data = create::from_python(zelf.state(), item, None, vm)?;
        // An empty list has the default dtype, and selects nothing.
        let data = if data.numel() == 0 { Tensor::zeros(DType::I64, data.sizes()) } else { data };
        return tensor_item(&zelf.state().wrap(data, vm), vm);
    }
    match item.try_index_opt(vm) {
        Some(index) => Ok(Item::Int(Dim::Is(index?.try_to_primitive(vm)?))),
        None => Err(vm.new_index_error(format!(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got {})",
            type_name(item)
        ))),
    }
}

fn slice_bound(bound: &PyObject, vm: &VirtualMachine) -> PyResult<Dim> {
    let index = bound
        .try_index_opt(vm)
        .ok_or_else(|| vm.new_type_error("slice indices must be integers or None or have an __index__ method"))??;
    // Beyond 64 bits every bound means the end.
    let far = if *index.as_bigint() < Default::default() { i64::MIN } else { i64::MAX };
    Ok(Dim::Is(index.try_to_primitive(vm).unwrap_or(far)))
}

fn tensor_item(variable: &Py<Variable>, vm: &VirtualMachine) -> PyResult<Item<PyRef<Variable>>> {
    let (dtype, rank) = variable.with_data(|data| (data.dtype(), data.rank()));
    if rank == 0 && !dtype.has_gradients() {
        // A single integer, or flag, is an index like any other.
        let number = variable.data().item().map_err(|error| raise(error, vm))?;
        return Ok(match dtype {
            DType::Bool | DType::U8 => Item::Bool(number.truth()),
            _ => Item::Int(Dim::Is(number.as_i64())),
        });
    }
    Ok(Item::Tensor { value: variable.to_owned(), dtype, rank })
}

/// Runs the view steps; answers with the view and the list of tensor indices, if there are any.
#[expect(clippy::type_complexity, reason = "the operand type is spelt once")]
fn take_views(zelf: &Py<Variable>, items: &Items, vm: &VirtualMachine) -> PyResult<(PyRef<Variable>, Option<Operand<PyRef<Variable>>>)> {
    let sizes: Vec<Dim> = zelf.with_data(|data| data.sizes().iter().map(|size| Dim::Is(*size)).collect());
    let steps = plan(items, &sizes).map_err(|error| raise(error, vm))?;
    let state = zelf.state();
    let mut view = zelf.to_owned();
    let call = |name: &'static str, view: &mut PyRef<Variable>, rest: &[Operand<PyRef<Variable>>]| -> PyResult<()> {
        let mut operands = vec![Operand::Tensor(view.clone())];
        operands.extend_from_slice(rest);
        *view = create::expect_tensor(state.call_named(name, &operands, &[], vm)?, vm)?;
        Ok(())
    };
    let whole = |dim: usize| Operand::Int(Dim::Is(dim as i64));
    let mut indices = None;
    if !matches!(steps.first(), Some(Step::Select { .. } | Step::Slice { .. } | Step::Unsqueeze { .. })) && !ends_in_index(&steps) {
        call("alias", &mut view, &[])?;
    }
    for step in steps {
        match step {
            Step::Select { dim, index } => call("select", &mut view, &[whole(dim), Operand::Int(index)])?,
            Step::Slice { dim, start, stop, step } => {
                let bound = |bound: Option<Dim>| bound.map_or(Operand::None, Operand::Int);
                let step = Operand::Int(step.unwrap_or(Dim::Is(1)));
                call("slice", &mut view, &[whole(dim), bound(start), bound(stop), step])?;
            }
            Step::Unsqueeze { dim } => call("unsqueeze", &mut view, &[whole(dim)])?,
            Step::Index(list) => {
                let one = |index: Option<Index<PyRef<Variable>>>| match index {
                    None => Operand::None,
                    Some(Index::Tensor(tensor)) => Operand::Tensor(tensor),
                    Some(Index::Bool(value)) => Operand::Tensor(state.wrap(Tensor::full(DType::Bool, &[1], Number::Bool(value)), vm)),
                };
                indices = Some(Operand::List(list.into_iter().map(one).collect(), false));
            }
        }
    }
    Ok((view, indices))
}

fn ends_in_index<T>(steps: &[Step<T>]) -> bool {
    matches!(steps.last(), Some(Step::Index(_)))
}

/// The right side of an assignment as a tensor.
fn assigned(zelf: &Py<Variable>, value: &PyObject, vm: &VirtualMachine) -> PyResult<PyRef<Variable>> {
    if let Some(variable) = value.downcast_ref::<Variable>() {
        return Ok(variable.to_owned());
    }
    let dtype = zelf.with_data(|data| data.dtype());
    match create::number(value, vm)? {
        Some(number) => {
            taipan_tensor::ops::refusal::numbers::representable(number, compute_type(dtype)).map_err(|error| raise(error, vm))?;
            Ok(zelf.state().wrap(Tensor::full(dtype, &[], number), vm))
        }
        None => Err(vm.new_type_error(format!("can't assign a {} to a torch.{}Tensor", type_name(value), dtype.scalar_name()))),
    }
}

/// The value without leading dims of size one, as long as it has more than `rank` dims.
fn without_leading_ones(value: &PyRef<Variable>, rank: usize, vm: &VirtualMachine) -> PyResult<PyRef<Variable>> {
    let mut value = value.clone();
    while value.with_data(|data| data.rank() > rank && data.sizes()[0] == 1) {
        let operands = [Operand::Tensor(value.clone()), Operand::Int(Dim::Is(0)), Operand::Int(Dim::Is(0))];
        value = create::expect_tensor(value.state().call_named("select", &operands, &[], vm)?, vm)?;
    }
    Ok(value)
}

/// The value with the sizes of the view: leading dims of size one beyond `rank` go, and what is left is expanded.
fn fitted(value: &PyRef<Variable>, view: &PyRef<Variable>, rank: usize, vm: &VirtualMachine) -> PyResult<PyRef<Variable>> {
    let value = without_leading_ones(value, rank, vm)?;
    let (from, to) = (value.data(), view.data());
    if from.sizes() == to.sizes() {
        return Ok(value);
    }
    let sizes = to.sizes().iter().map(|size| Operand::Int(Dim::Is(*size))).collect();
    let operands = [Operand::Tensor(value.clone()), Operand::List(sizes, true)];
    create::expect_tensor(value.state().call_named("expand", &operands, &[], vm)?, vm)
}
