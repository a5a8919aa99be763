//! `__torch_function__`: subclasses of `Tensor`, and objects that are no tensors but stand for some, answer ops themselves.
//!
//! Subclasses are asked before an op runs; plain tensors and parameters are told by a look at their class. Of other objects an op
//! asks only once its arguments fit none of its overloads, so an object that doesn't answer is refused as any other of a wrong type.

use super::{state::TorchState, variable::Variable};
use rustpython_vm::{
    AsObject, PyObject, PyObjectRef, PyResult, VirtualMachine,
    builtins::{PyList, PyTuple},
    function::FuncArgs,
};

/// Whether one of the arguments is of a subclass of `Tensor` that answers functions of `torch`, and subclasses are to be asked.
pub(super) fn asked<'a>(state: &TorchState, mut arguments: impl Iterator<Item = &'a PyObjectRef>, vm: &VirtualMachine) -> bool {
    let answers = |object: &PyObjectRef| {
        object.downcast_ref::<Variable>().is_some() && !object.class().is(state.tensor_type()) && answers_itself(object, vm)
    };
    state.asks_subclasses()
        && arguments.any(|object| match (object.downcast_ref::<PyTuple>(), object.downcast_ref::<PyList>()) {
            (Some(tuple), _) => tuple.as_slice().iter().any(answers),
            (_, Some(list)) => list.borrow_vec().iter().any(answers),
            _ => answers(object),
        })
}

/// [`overridden`] for an operator, which is known by the name of the method it stands for.
pub(super) fn overridden_operator(name: &str, operands: &[&PyObject], vm: &VirtualMachine) -> PyResult<Option<PyObjectRef>> {
    let Some(variable) = operands.iter().find_map(|object| object.downcast_ref::<Variable>()) else { return Ok(None) };
    let state = variable.state();
    // Two plain tensors, or one and a number, are the common case.
    let plain = |object: &&PyObject| object.class().is(state.tensor_type()) || object.downcast_ref::<Variable>().is_none();
    if operands.iter().all(plain) {
        return Ok(None);
    }
    let operands: Vec<PyObjectRef> = operands.iter().map(|object| (*object).to_owned()).collect();
    if !asked(state, operands.iter(), vm) {
        return Ok(None);
    }
    let function = state.tensor_type().as_object().get_attr(vm.ctx.intern_str(name), vm)?;
    overridden(&function, &operands.into(), vm)
}

/// Whether the object's class has a `__torch_function__` that isn't the one by which classes decline.
fn answers_itself(object: &PyObject, vm: &VirtualMachine) -> bool {
    let answer = object.class().get_attr(vm.ctx.intern_str("__torch_function__"));
    // Classes decline by a function of this name that is native, so theirs isn't a classmethod.
    answer.is_some_and(|answer| answer.class().is(vm.ctx.types.classmethod_type) || answer.class().is(vm.ctx.types.function_type))
}

/// What the arguments' classes answer to a call of `function`; nothing if none of them overrides functions of `torch`.
///
/// # Errors
/// What an override raises, and a `TypeError` where each of them declines.
pub(super) fn overridden(function: &PyObject, args: &FuncArgs, vm: &VirtualMachine) -> PyResult<Option<PyObjectRef>> {
    let mut classes = Vec::new();
    for object in args.args.iter().chain(args.kwargs.values()) {
        collect(object, &mut classes, vm)?;
    }
    if classes.is_empty() {
        return Ok(None);
    }
    let types: PyObjectRef = vm.ctx.new_tuple(classes.clone()).into();
    let positional: PyObjectRef = vm.ctx.new_tuple(args.args.clone()).into();
    for class in &classes {
        let named = match args.kwargs.is_empty() {
            true => vm.ctx.none(),
            false => {
                let named = vm.ctx.new_dict();
                for (name, value) in &args.kwargs {
                    named.set_item(&**name, value.clone(), vm)?;
                }
                named.into()
            }
        };
        let arguments = vec![function.to_owned(), types.clone(), positional.clone(), named];
        let answer = vm.call_method(class, "__torch_function__", arguments)?;
        if !answer.is(&vm.ctx.not_implemented) {
            return Ok(Some(answer));
        }
    }
    let names: Vec<String> =
        classes.iter().map(|class| Ok(format!("\n\n  - tensor subclass {}", class.repr(vm)?))).collect::<PyResult<_>>()?;
    let name = function.get_attr("__name__", vm)?.str(vm)?;
    Err(vm.new_type_error(format!(
        "Multiple dispatch failed for 'torch.{name}'; all __torch_function__ handlers returned NotImplemented:{}",
        names.concat()
    )))
}

/// Adds the overriding class of an object, or of the items of a list, once; a subclass goes before its bases.
fn collect(object: &PyObject, classes: &mut Vec<PyObjectRef>, vm: &VirtualMachine) -> PyResult<()> {
    if let Some(variable) = object.downcast_ref::<Variable>()
        && (!variable.state().asks_subclasses() || object.class().is(variable.state().tensor_type()) || !answers_itself(object, vm))
    {
        return Ok(());
    }
    let items = match (object.downcast_ref::<PyTuple>(), object.downcast_ref::<PyList>()) {
        (Some(tuple), _) => tuple.as_slice().to_vec(),
        (_, Some(list)) => list.borrow_vec().to_vec(),
        _ => {
            let class = object.class();
            let known = classes.iter().any(|known| known.is(class));
            if !known && class.get_attr(vm.ctx.intern_str("__torch_function__")).is_some() {
                let before = classes.iter().position(|base| object.is_instance(base, vm).unwrap_or(false));
                classes.insert(before.unwrap_or(classes.len()), class.to_owned().into());
            }
            return Ok(());
        }
    };
    items.iter().try_for_each(|item| collect(item, classes, vm))
}
