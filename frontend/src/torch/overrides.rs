//! `__torch_function__`: objects that are no tensors but stand for some, such as nested tensors, answer ops themselves.
//!
//! An op asks only once its arguments fit none of its overloads, so calls on tensors pay nothing, and an object that doesn't
//! answer is refused as any other object of a wrong type.

use super::variable::Variable;
use rustpython_vm::{
    AsObject, PyObject, PyObjectRef, PyResult, VirtualMachine,
    builtins::{PyList, PyTuple},
    function::FuncArgs,
};

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
        let named = vm.ctx.new_dict();
        for (name, value) in &args.kwargs {
            named.set_item(&**name, value.clone(), vm)?;
        }
        let arguments = vec![function.to_owned(), types.clone(), positional.clone(), named.into()];
        let answer = vm.call_method(class, "__torch_function__", arguments)?;
        if !answer.is(&vm.ctx.not_implemented) {
            return Ok(Some(answer));
        }
    }
    let names: Vec<String> = classes.iter().map(|class| Ok(class.repr(vm)?.to_string())).collect::<PyResult<_>>()?;
    let name = function.get_attr("__name__", vm)?.str(vm)?;
    Err(vm.new_type_error(format!(
        "no implementation found for 'torch.{name}' on types that implement __torch_function__: [{}]",
        names.join(", ")
    )))
}

/// Adds the overriding class of an object, or of the items of a list, once; a subclass goes before its bases.
fn collect(object: &PyObject, classes: &mut Vec<PyObjectRef>, vm: &VirtualMachine) -> PyResult<()> {
    if object.downcast_ref::<Variable>().is_some() {
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
