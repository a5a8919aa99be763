//! Graphs as Python sees them: a `torch.fx.GraphModule` for backends written in Python.

use super::{call::op_of, state::state, tracing::TensorView};
use crate::inspect::{self, Object, Vm};
use num_complex::Complex64;
use rustpython_vm::{
    PyResult,
    function::{FuncArgs, KwArgs},
};
use std::collections::HashMap;
use taipan_ir::{
    Dim, Number, OpRef, Val,
    graph::Graph,
    op::{Arg, Entry},
};
use taipan_tensor::{registry, tape::Var};

/// Hands a graph and example inputs to a backend; its answer is called with the inputs and gives the outputs.
pub fn compile(backend: &Object, graph: &Graph, examples: &[Object], vm: &Vm) -> PyResult {
    let module = module(graph, vm)?;
    backend.call((module, inspect::make_list(examples.to_vec(), vm)), vm).map_err(|raised| inspect::backend_failed(backend, raised, vm))
}

/// Calls what a backend made. Its result is a tensor, or a tuple or list of them, as many as the graph has outputs.
pub fn run(function: &Object, inputs: &[Object], vm: &Vm) -> PyResult<Vec<Var>> {
    let result = function.call(FuncArgs::from(inputs.to_vec()), vm)?;
    let items = match inspect::tuple_items(&result) {
        Some(items) => items.to_vec(),
        None => inspect::list_items(&result).unwrap_or_else(|| vec![result.clone()]),
    };
    let tensor = |o: &Object| TensorView::of(o).map(|t| t.var());
    items.iter().map(tensor).collect::<Option<Vec<_>>>().ok_or_else(|| vm.new_type_error("a backend's function must return tensors"))
}

/// The graph as a `GraphModule`.
fn module(graph: &Graph, vm: &Vm) -> PyResult {
    vm.import("torch.fx", 0)?;
    let attribute = |name: &'static str| {
        inspect::module_attribute("torch.fx", vm.ctx.intern_str(name), vm)
            .ok_or_else(|| vm.new_runtime_error(format!("torch.fx has no {name}")))
    };
    let fx = attribute("Graph")?.call((), vm)?;
    let mut nodes: HashMap<Val, Object> = HashMap::new();
    for input in graph.inputs() {
        nodes.insert(input.value, vm.call_method(&fx, "placeholder", (input.name.clone(),))?);
    }
    let mut grad = true;
    for node in graph.nodes() {
        if grad == node.no_grad {
            grad = !grad;
            set_grad_node(&fx, grad, vm)?;
        }
        let made = call_node(&fx, node.op, &node.args, &nodes, vm)?;
        match node.results.as_slice() {
            [one] if !returns_list(node.op) => {
                nodes.insert(*one, made);
            }
            several => {
                let getitem = operator_getitem(vm)?;
                for (i, value) in several.iter().enumerate() {
                    let args = inspect::make_tuple(vec![made.clone(), vm.ctx.new_int(i).into()], vm);
                    nodes.insert(*value, vm.call_method(&fx, "call_function", (getitem.clone(), args))?);
                }
            }
        }
    }
    if !grad {
        set_grad_node(&fx, true, vm)?;
    }
    let outputs: Vec<Object> = graph.outputs().iter().filter_map(|v| nodes.get(v).cloned()).collect();
    vm.call_method(&fx, "output", (inspect::make_tuple(outputs, vm),))?;
    attribute("GraphModule")?.call((inspect::make_dict(vm), fx), vm)
}

/// What is between such nodes is on the tape or off it.
fn set_grad_node(fx: &Object, enabled: bool, vm: &Vm) -> PyResult<()> {
    let function = inspect::module_attribute("torch._C", vm.ctx.intern_str("_set_grad_enabled"), vm)
        .ok_or_else(|| vm.new_runtime_error("torch._C has no _set_grad_enabled"))?;
    let args = inspect::make_tuple(vec![vm.ctx.new_bool(enabled).into()], vm);
    vm.call_method(fx, "call_function", (function, args)).map(drop)
}

fn returns_list(op: OpRef) -> bool {
    registry().entry(op).is_some_and(|e| e.schema.returns.iter().any(|r| r.list))
}

fn operator_getitem(vm: &Vm) -> PyResult {
    vm.import("operator", 0)?;
    inspect::module_attribute("operator", vm.ctx.intern_str("getitem"), vm)
        .ok_or_else(|| vm.new_runtime_error("operator.getitem is missing"))
}

/// One op as a call of the torch function of its name, or of the method where there is no function.
fn call_node(fx: &Object, op: OpRef, args: &[Arg<Val>], nodes: &HashMap<Val, Object>, vm: &Vm) -> PyResult {
    let Some(entry) = registry().entry(op) else { return Err(vm.new_runtime_error(format!("the op {} is not registered", op.name()))) };
    let (mut positional, mut named) = (vec![], KwArgs::default());
    let mut by_name = false;
    for (param, arg) in entry.schema.params.iter().zip(args) {
        let default = param.default.as_ref().is_some_and(|d| match (d, arg) {
            (Arg::Absent, Arg::Absent) => true,
            (d, a) => &d.map(|()| Val(u32::MAX)) == a,
        });
        if default {
            by_name = true;
            continue;
        }
        let value = object(arg, nodes, vm)?;
        if by_name || param.keyword_only {
            by_name = true;
            named.insert(param.name.to_owned().into(), value);
        } else {
            positional.push(value);
        }
    }
    let keywords = inspect::make_dict(vm);
    for (name, value) in named {
        inspect::dict_set(&keywords, &vm.ctx.new_str(name).into(), Some(value), vm);
    }
    let args = inspect::make_tuple(positional, vm);
    match function_of(entry, vm) {
        Some(function) => vm.call_method(fx, "call_function", (function, args, keywords)),
        None => vm.call_method(fx, "call_method", (entry.schema.base, args, keywords)),
    }
}

/// The torch function of an op: of `torch._C`, else of `torch._C._nn`; the other way round for the `nn` overload, whose arguments
/// may be in another order than those of the function of the same name.
fn function_of(entry: &Entry, vm: &Vm) -> Option<Object> {
    let base = entry.schema.base;
    let places = if entry.schema.overload == "nn" { ["torch._C._nn", "torch._C"] } else { ["torch._C", "torch._C._nn"] };
    // A method may have the name of a function that is another op.
    let is_op = |found: &Object| op_of(found).is_some_and(|(overloads, _)| overloads.entries().iter().any(|known| known.op == entry.op));
    places
        .iter()
        .find_map(|module| inspect::module_attribute(module, vm.ctx.intern_str(base), vm).filter(is_op))
        .or_else(|| state(vm).ok()?.internal_function(base, vm))
}

fn object(arg: &Arg<Val>, nodes: &HashMap<Val, Object>, vm: &Vm) -> PyResult {
    let node = |v: &Val| nodes.get(v).cloned().unwrap_or_else(|| vm.ctx.none());
    let int = |d: &Dim| Object::from(vm.ctx.new_int(d.known().unwrap_or(0)));
    let state = state(vm)?;
    Ok(match arg {
        Arg::Tensor(v) => node(v),
        Arg::Tensors(vs) => inspect::make_list(vs.iter().map(node).collect(), vm),
        Arg::OptionalTensors(vs) => inspect::make_list(vs.iter().map(|v| v.as_ref().map_or_else(|| vm.ctx.none(), node)).collect(), vm),
        Arg::Number(Number::Bool(b)) | Arg::Bool(b) => vm.ctx.new_bool(*b).into(),
        Arg::Number(Number::Int(i)) => vm.ctx.new_int(*i).into(),
        Arg::Number(Number::Float(x)) => vm.ctx.new_float(*x).into(),
        Arg::Number(Number::Complex(re, im)) => vm.ctx.new_complex(Complex64::new(*re, *im)).into(),
        Arg::Int(d) => int(d),
        Arg::Ints(ds) => inspect::make_tuple(ds.iter().map(int).collect(), vm),
        Arg::Floats(xs) => inspect::make_list(xs.iter().map(|x| vm.ctx.new_float(*x).into()).collect(), vm),
        Arg::DType(d) => state.dtype_object(*d),
        Arg::Device(d) => state.device_object(d, vm),
        Arg::MemoryFormat(m) => state.constants().memory_format(*m),
        Arg::Str(s) => vm.ctx.new_str(&**s).into(),
        Arg::Generator(_) | Arg::Absent => vm.ctx.none(),
    })
}
