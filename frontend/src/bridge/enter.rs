//! How a call becomes a frame: the first of a chain, or one more.

use super::FrameState;
use crate::code::{CodeInfo, FunctionView, make_cell};
use rustpython_vm::{
    AsObject, Py, PyObjectRef, PyResult, VirtualMachine,
    builtins::{PyFunction, PyStr, PyTuple, PyType},
    bytecode::Opcode,
    function::{FuncArgs, KwArgs},
    types::PyTypeFlags,
};

/// The frame that calling `function` would start with: behind RESUME, cells made. Nothing has run. `None` if the call can
/// only be made plainly: it is ill-formed (and raises its `TypeError` then), makes a generator, or isn't compiler-made.
pub fn enter(function: &Py<PyFunction>, args: &FuncArgs, vm: &VirtualMachine) -> PyResult<Option<FrameState>> {
    let view = FunctionView::new(function, vm)?;
    match CodeInfo::of(&view.code, vm)? {
        Some(info) if !info.is_generator() => {}
        _ => return Ok(None),
    }
    start(&view, args, vm)
}

/// The same for any function, a generator's included: the state its body starts with.
pub(super) fn start(view: &FunctionView, args: &FuncArgs, vm: &VirtualMachine) -> PyResult<Option<FrameState>> {
    let Some(info) = CodeInfo::of(&view.code, vm)? else {
        return Ok(None);
    };
    let Some(mut slots) = view.bind(args, vm)? else {
        return Ok(None);
    };
    for name in &info.meta.cell_variables {
        if let Some(index) = info.slots.iter().position(|slot| slot.is(*name)) {
            slots[index] = Some(make_cell(slots[index].take(), vm)?);
        }
    }
    Ok(Some(FrameState {
        pc: info.start,
        info,
        globals: view.globals.clone(),
        slots,
        stack: Vec::new(),
        handled: vm.current_exception(),
        in_call: false,
        post: None,
    }))
}

/// If the innermost frame stands at a call of a Python function, makes the chain one frame longer in place of running the
/// call: CALL and CALL_KW of functions, bound methods and plain classes, FOR_ITER of a Python iterator. Anything else is
/// left as it is. Answers whether the chain grew.
pub fn follow(chain: &mut Vec<FrameState>, vm: &VirtualMachine) -> PyResult<bool> {
    let Some(frame) = chain.last_mut() else {
        return Ok(false);
    };
    let Some(call) = call_at(frame, vm) else {
        return Ok(false);
    };
    let Some((function, args, post)) = resolve(call.callable, call.args, vm)? else {
        return Ok(false);
    };
    let args = FuncArgs::new(args, call.keywords);
    let Some(mut callee) = enter(&function, &args, vm)? else {
        return Ok(false);
    };
    frame.stack.truncate(call.depth);
    frame.in_call = true;
    frame.post = post;
    // A function sees what its caller handles.
    callee.handled = frame.handled.clone();
    chain.push(callee);
    Ok(true)
}

/// A call that a frame is about to make.
struct PendingCall {
    callable: PyObjectRef,
    args: Vec<PyObjectRef>,
    keywords: KwArgs,
    /// Stack of the caller while the call runs.
    depth: usize,
}

fn call_at(frame: &FrameState, vm: &VirtualMachine) -> Option<PendingCall> {
    let instruction = frame.info.program.instructions.get(frame.pc)?;
    let stack = &frame.stack;
    match instruction.op {
        Opcode::Call | Opcode::CallKw => {
            let names = usize::from(instruction.op == Opcode::CallKw);
            let depth = stack.len().checked_sub(instruction.arg as usize + 2 + names)?;
            let callable = stack[depth].clone()?;
            let end = stack.len() - names;
            // A NULL in place of self is no argument.
            let mut args: Vec<_> = stack[depth + 1..end].iter().flatten().cloned().collect();
            let mut keywords = KwArgs::default();
            if names == 1 {
                let names = stack.last()?.as_ref()?.downcast_ref::<PyTuple>()?;
                let values = args.split_off(args.len().checked_sub(names.len())?);
                keywords = names
                    .iter()
                    .zip(values)
                    .map(|(name, value)| Some((name.downcast_ref::<PyStr>()?.as_wtf8().to_owned(), value)))
                    .collect::<Option<_>>()?;
            }
            Some(PendingCall { callable, args, keywords, depth })
        }
        Opcode::ForIter => {
            let iterator = stack.last()?.clone()?;
            let next = iterator.class().get_attr(vm.ctx.intern_str("__next__"))?;
            Some(PendingCall { callable: next, args: vec![iterator], keywords: KwArgs::default(), depth: stack.len() })
        }
        _ => None,
    }
}

type Resolved = (rustpython_vm::PyRef<PyFunction>, Vec<PyObjectRef>, Option<PyObjectRef>);

/// The Python function behind a callable, its arguments, and the new object if the callable is a class.
fn resolve(callable: PyObjectRef, mut args: Vec<PyObjectRef>, vm: &VirtualMachine) -> PyResult<Option<Resolved>> {
    let mut post = None;
    let mut function = callable;
    if function.class().is(vm.ctx.types.bound_method_type) {
        args.insert(0, function.get_attr("__self__", vm)?);
        function = function.get_attr("__func__", vm)?;
    } else if let Some(class) = function.downcast_ref::<PyType>() {
        let Some((init, new)) = instantiate(class, vm)? else {
            return Ok(None);
        };
        args.insert(0, new.clone());
        post = Some(new);
        function = init;
    }
    Ok(function.downcast::<PyFunction>().ok().map(|function| (function, args, post)))
}

/// For a plain class with a Python `__init__` and `object`'s `__new__`: its `__init__` and a new, empty object.
fn instantiate(class: &Py<PyType>, vm: &VirtualMachine) -> PyResult<Option<(PyObjectRef, PyObjectRef)>> {
    let object = vm.ctx.types.object_type;
    let address = |class: &Py<PyType>| class.slots().new.load().map(|new| new as usize);
    let plain = class.class().is(vm.ctx.types.type_type)
        && address(class) == address(object)
        && !class.slots().flags.has_feature(PyTypeFlags::IS_ABSTRACT);
    let Some(init) = class.get_attr(vm.ctx.intern_str("__init__")) else {
        return Ok(None);
    };
    if !plain || !init.class().is(vm.ctx.types.function_type) {
        return Ok(None);
    }
    let new = object.as_object().get_attr("__new__", vm)?;
    Ok(Some((init, new.call((class.to_owned(),), vm)?)))
}
