//! `torch.autograd` on the tape of the crate below: walking back, hooks, functions with a backward of their own, and nodes as Python sees
//! them.

use super::{
    operand::type_name,
    state::{TorchState, raise},
    variable::Variable,
};
use crate::vm::guarded;
use rustpython_vm::{
    AsObject, Py, PyObject, PyObjectRef, PyPayload, PyRef, PyResult, VirtualMachine,
    builtins::{PyModule, PyTuple, PyType},
    class::PyClassImpl,
    common::hash::PyHash,
    function::{FuncArgs, PyComparisonValue},
    pyclass,
    types::{Comparable, Constructor, Hashable, PyComparisonOp, Representable},
    vm::thread::with_current_vm,
};
use std::{
    cell::RefCell,
    fmt,
    rc::{Rc, Weak},
};
use taipan_ir::{OpError, gradient::Place};
use taipan_tensor::{
    Tensor,
    tape::{self, Custom, Edge, Hook, Node, Removal, Request, Var},
};

/// Puts the functions into `torch._C`.
pub(super) fn install_functions(module: &Py<PyModule>, state: &Rc<TorchState>, vm: &VirtualMachine) -> PyResult<()> {
    let own = state.clone();
    let run = vm.new_function("_run_backward", move |args: FuncArgs, vm: &VirtualMachine| run_backward(&own, args, vm));
    module.set_attr("_run_backward", run, vm)?;
    let own = state.clone();
    let record = vm.new_function("_record_function", move |args: FuncArgs, vm: &VirtualMachine| record_function(&own, args, vm));
    module.set_attr("_record_function", record, vm)?;
    // A class exists once per thread, and must before its first instance.
    let _ = HookHandle::make_static_type();
    module.set_attr("_SavedTensors", SavedTensors::make_static_type(), vm)?;
    module.set_attr("_Node", GradientNode::make_static_type(), vm)
}

/// Puts the methods into the class of tensors.
pub(super) fn install_methods(class: &'static Py<PyType>, vm: &VirtualMachine) {
    macro_rules! methods {
        ($($name:literal: $function:expr,)*) => {
            $(class.set_attr(vm.ctx.intern_str($name), vm.new_method($name, class, $function).into());)*
        };
    }
    methods! {
        "backward": backward,
        "retain_grad": retain_grad,
        "register_hook": register_hook,
        "register_post_accumulate_grad_hook": register_after_hook,
        "detach_": detach_in_place,
    }
}

/// `x.backward(...)`: what `torch.autograd.backward` does with one tensor.
fn backward(mut args: FuncArgs, vm: &VirtualMachine) -> PyResult {
    vm.import("torch.autograd", 0)?;
    let module = vm.sys_module.get_attr("modules", vm)?.get_item("torch.autograd", vm)?;
    // `backward(gradient, retain_graph, create_graph, inputs)`.
    if let Some(gradient) = args.kwargs.swap_remove("gradient") {
        args.kwargs.insert("grad_tensors".into(), gradient);
    }
    if args.args.len() > 4 {
        let inputs = args.args.remove(4);
        args.kwargs.insert("inputs".into(), inputs);
    }
    module.get_attr("backward", vm)?.call(args, vm)
}

/// `_run_backward(outputs, grads, keep_graph, create_graph, inputs, allow_unused, accumulate)`: gradients of the inputs, or None.
fn run_backward(state: &Rc<TorchState>, args: FuncArgs, vm: &VirtualMachine) -> PyResult {
    let [outputs, grads, keep_graph, create_graph, inputs, allow_unused, gather] = args.args.as_slice() else {
        return Err(vm.new_type_error("_run_backward() takes 7 arguments"));
    };
    let flag = |object: &PyObjectRef| object.clone().try_to_bool(vm);
    let (keep_graph, create_graph, allow_unused, gather) = (flag(keep_graph)?, flag(create_graph)?, flag(allow_unused)?, flag(gather)?);
    let outputs = variables(outputs, vm)?;
    let grads = variables(grads, vm)?;
    let mut roots = vec![];
    for (i, (output, grad)) in outputs.iter().zip(&grads).enumerate() {
        let edge = output
            .var()
            .gradient_edge()
            .ok_or_else(|| vm.new_runtime_error(format!("element {i} of tensors does not require grad and does not have a grad_fn")))?;
        roots.push((edge, grad.var()));
    }
    let inputs = if vm.is_none(inputs) { None } else { Some(variables(inputs, vm)?) };
    let edges: Option<Vec<Edge>> = match &inputs {
        None => None,
        Some(inputs) => {
            let edge = |input: &PyRef<Variable>| {
                let missing = || vm.new_runtime_error("One of the differentiated Tensors does not require grad");
                input.var().gradient_edge().ok_or_else(missing)
            };
            Some(inputs.iter().map(edge).collect::<PyResult<_>>()?)
        }
    };
    let mode = GradMode::set(state, create_graph);
    let found = guarded(vm, "backward", || {
        tape::backward(state.as_ref(), Request { roots, keep_graph, create_graph, inputs: edges })
            .map_err(|error| state.raise_held(error, vm))
    })?;
    let Some(inputs) = inputs else { return Ok(vm.ctx.none()) };
    let mut objects = vec![];
    for (i, (input, grad)) in inputs.iter().zip(found).enumerate() {
        match grad {
            Some(grad) if gather => {
                tape::accumulate(state.as_ref(), &input.var(), grad, create_graph).map_err(|error| state.raise_held(error, vm))?;
            }
            Some(grad) => objects.push(state.wrap_var(grad, vm).into()),
            None if gather || allow_unused => objects.push(vm.ctx.none()),
            None => {
                return Err(vm.new_runtime_error(format!(
                    "The differentiated Tensor at index {i} appears to not have been used in the graph. Set allow_unused=True if this is \
                     the desired behavior."
                )));
            }
        }
    }
    drop(mode);
    Ok(vm.ctx.new_tuple(objects).into())
}

/// The gradient mode while a walk runs; put back when it goes.
struct GradMode<'a> {
    state: &'a TorchState,
    old: bool,
}

impl<'a> GradMode<'a> {
    fn set(state: &'a TorchState, enabled: bool) -> GradMode<'a> {
        GradMode { state, old: state.set_grad_enabled(enabled) }
    }
}

impl Drop for GradMode<'_> {
    fn drop(&mut self) {
        self.state.set_grad_enabled(self.old);
    }
}

fn variables(object: &PyObjectRef, vm: &VirtualMachine) -> PyResult<Vec<PyRef<Variable>>> {
    vm.extract_elements_with(object, |item| {
        item.downcast::<Variable>().map_err(|item| vm.new_type_error(format!("expected a Tensor, not {}", type_name(&item))))
    })
}

fn retain_grad(zelf: PyRef<Variable>, vm: &VirtualMachine) -> PyResult<()> {
    if !zelf.requires_grad() {
        return Err(vm.new_runtime_error("can't retain_grad on Tensor that has requires_grad=False"));
    }
    zelf.var().retain_grad();
    Ok(())
}

fn detach_in_place(zelf: PyRef<Variable>, vm: &VirtualMachine) -> PyResult<PyRef<Variable>> {
    if zelf.meta().base().is_some() {
        return Err(vm.new_runtime_error(
            "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for training, and \
             gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() cannot be called on these \
             gradients. To fix this error, please refer to the Optimizer.zero_grad() function in torch/optim/optimizer.py as a solution.",
        ));
    }
    zelf.detach();
    Ok(zelf)
}

/// Calls a Python hook with a gradient.
fn hook_of(state: &Rc<TorchState>, function: PyObjectRef) -> Hook {
    let state = state.clone();
    Rc::new(move |grad: &Var| {
        with_current_vm(|vm| {
            let object = state.wrap_var(grad.clone(), vm);
            let answer = function.call((object,), vm).map_err(|raised| state.hold_exception(raised))?;
            if vm.is_none(&answer) {
                return Ok(None);
            }
            match answer.downcast_ref::<Variable>() {
                Some(variable) => Ok(Some(variable.var())),
                None => Err(OpError::type_error(format!("hook returned {}, a Tensor or None was expected", type_name(&answer)))),
            }
        })
    })
}

fn register_hook(zelf: PyRef<Variable>, function: PyObjectRef, vm: &VirtualMachine) -> PyResult {
    if !zelf.requires_grad() {
        return Err(vm.new_runtime_error("cannot register a hook on a tensor that doesn't require gradient"));
    }
    let remove = zelf.var().add_hook(hook_of(zelf.state(), function));
    Ok(HookHandle::new(remove).into_ref(&vm.ctx).into())
}

fn register_after_hook(zelf: PyRef<Variable>, function: PyObjectRef, vm: &VirtualMachine) -> PyResult {
    if !zelf.requires_grad() {
        return Err(vm.new_runtime_error("cannot register a hook on a tensor that doesn't require gradient"));
    }
    if !zelf.is_leaf() {
        return Err(vm.new_runtime_error("post accumulate grad hooks cannot be registered on non-leaf tensors"));
    }
    let state = zelf.state().clone();
    let weak = zelf.as_object().downgrade(None, vm)?;
    let hook = Rc::new(move || {
        with_current_vm(|vm| match weak.upgrade() {
            Some(variable) => function.call((variable,), vm).map(drop).map_err(|raised| state.hold_exception(raised)),
            None => Ok(()),
        })
    });
    let remove = zelf.var().add_after_hook(hook);
    Ok(HookHandle::new(remove).into_ref(&vm.ctx).into())
}

/// What registering a hook answers with.
#[pyclass(module = "torch.utils.hooks", name = "RemovableHandle")]
#[derive(PyPayload)]
struct HookHandle {
    remove: Removal,
}

impl HookHandle {
    fn new(remove: Removal) -> Self {
        Self { remove }
    }
}

impl fmt::Debug for HookHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HookHandle")
    }
}

#[pyclass(flags(DISALLOW_INSTANTIATION, HAS_WEAKREF))]
impl HookHandle {
    /// Removes the hook; does nothing the second time.
    #[pymethod]
    fn remove(zelf: PyRef<Self>) {
        (zelf.remove)();
    }

    #[pymethod]
    fn __enter__(zelf: PyRef<Self>) -> PyRef<Self> {
        zelf
    }

    #[pymethod]
    fn __exit__(zelf: PyRef<Self>, _args: FuncArgs) {
        (zelf.remove)();
    }
}

/// `x.grad_fn`: a node of the tape.
#[pyclass(module = "torch.autograd.graph", name = "Node")]
#[derive(PyPayload)]
pub(super) struct GradientNode {
    node: Rc<Node>,
    state: Rc<TorchState>,
}

impl GradientNode {
    /// The object of the node that a tensor came from: for a function with a backward of its own, its `ctx`.
    pub(super) fn of(variable: &Py<Variable>, vm: &VirtualMachine) -> Option<PyObjectRef> {
        let edge = variable.var().edge()?;
        Some(Self::object(edge.node, variable.state(), vm))
    }

    fn object(node: Rc<Node>, state: &Rc<TorchState>, vm: &VirtualMachine) -> PyObjectRef {
        Self { node, state: state.clone() }.into_ref(&vm.ctx).into()
    }
}

impl fmt::Debug for GradientNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GradientNode").field(&self.node.name()).finish()
    }
}

#[pyclass(with(Representable, Hashable, Comparable), flags(DISALLOW_INSTANTIATION, HAS_WEAKREF))]
impl GradientNode {
    /// Its name; PyTorch's nodes that belong to no op have their C++ names here.
    #[pymethod]
    fn name(zelf: &Py<Self>) -> String {
        let name = zelf.node.name();
        if matches!(name.as_str(), "CopySlices" | "AccumulateGrad") { format!("torch::autograd::{name}") } else { name }
    }

    /// The nodes its gradients go to, each with the number of the result.
    #[pygetset]
    fn next_functions(zelf: &Py<Self>, vm: &VirtualMachine) -> PyObjectRef {
        let pair = |edge: Edge| {
            let slot = vm.ctx.new_int(edge.slot).into();
            vm.ctx.new_tuple(vec![Self::object(edge.node, &zelf.state, vm), slot]).into()
        };
        vm.ctx.new_tuple(zelf.node.next().into_iter().map(pair).collect()).into()
    }

    /// The leaf whose gradient the node gathers.
    #[pygetset]
    fn variable(zelf: &Py<Self>, vm: &VirtualMachine) -> PyResult {
        match zelf.node.leaf() {
            Some(leaf) => Ok(zelf.state.wrap_var(leaf, vm).into()),
            None => Err(vm.new_attribute_error(format!("'{}' object has no attribute 'variable'", zelf.node.name()))),
        }
    }
}

impl Representable for GradientNode {
    fn repr_str(zelf: &Py<Self>, _vm: &VirtualMachine) -> PyResult<String> {
        let name = zelf.node.name();
        // The nodes of ops end in a number, those of functions written in Python don't.
        let module = if name.ends_with("Backward") { "torch.autograd.function." } else { "" };
        Ok(format!("<{module}{name} object at {:#x}>", Rc::as_ptr(&zelf.node).addr()))
    }
}

impl Hashable for GradientNode {
    fn hash(zelf: &Py<Self>, _vm: &VirtualMachine) -> PyResult<PyHash> {
        Ok((Rc::as_ptr(&zelf.node).addr() >> 4) as PyHash)
    }
}

impl Comparable for GradientNode {
    fn cmp(zelf: &Py<Self>, other: &PyObject, op: PyComparisonOp, _vm: &VirtualMachine) -> PyResult<PyComparisonValue> {
        op.eq_only(|| {
            Ok(match other.downcast_ref::<Self>() {
                Some(other) => PyComparisonValue::Implemented(Rc::ptr_eq(&zelf.node, &other.node)),
                None => PyComparisonValue::NotImplemented,
            })
        })
    }
}

/// A function with a backward of its own: calls `cls._backward(ctx, grads)`.
struct PythonFunction {
    name: String,
    call: PyObjectRef,
    saved: Option<PyRef<SavedTensors>>,
    state: Rc<TorchState>,
}

impl Custom for PythonFunction {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn backward(&self, grads: Vec<Option<Var>>, needed: &[Place]) -> Result<Vec<(Place, Var)>, OpError> {
        with_current_vm(|vm| {
            let object = |grad: Option<Var>| grad.map_or_else(|| vm.ctx.none(), |grad| self.state.wrap_var(grad, vm).into());
            let grads = vm.ctx.new_tuple(grads.into_iter().map(object).collect());
            let answer = self.call.call((grads,), vm).map_err(|raised| self.state.hold_exception(raised))?;
            let answers: PyRef<PyTuple> =
                answer.downcast().map_err(|_| OpError::runtime(format!("{} didn't return a tuple", self.name)))?;
            let mut given = vec![];
            for place in needed {
                let Some(grad) = answers.as_slice().get(place.param as usize) else { continue };
                if vm.is_none(grad) {
                    continue;
                }
                let variable = grad
                    .downcast_ref::<Variable>()
                    .ok_or_else(|| OpError::type_error(format!("expected Variable or None (got {})", type_name(grad))))?;
                given.push((*place, variable.var()));
            }
            Ok(given)
        })
    }

    fn release(&self) {
        if let Some(saved) = &self.saved {
            let old = saved.kept.borrow_mut().take();
            drop(old);
        }
    }
}

/// `_record_function(name, call, inputs, outputs, saved)`: the outputs, tensors just made, come from `call` from now on. `inputs` has one item per
/// argument; those that are tensors and require grad get what `call(grads)` answers at their place.
fn record_function(state: &Rc<TorchState>, args: FuncArgs, vm: &VirtualMachine) -> PyResult<()> {
    let [name, call, inputs, outputs, saved] = args.args.as_slice() else {
        return Err(vm.new_type_error("_record_function() takes 5 arguments"));
    };
    let name = name.str(vm)?.to_string();
    let inputs: Vec<PyObjectRef> = vm.extract_elements_with(inputs, Ok)?;
    let outputs = variables(outputs, vm)?;
    let edges: Vec<(Place, Edge)> = inputs
        .iter()
        .enumerate()
        .filter_map(|(i, input)| Some((Place::of(i), input.downcast_ref::<Variable>()?.var().gradient_edge()?)))
        .collect();
    let saved = saved.clone().downcast::<SavedTensors>().ok();
    let custom = PythonFunction { name, call: call.clone(), saved: saved.clone(), state: state.clone() };
    let results: Vec<Tensor> = outputs.iter().map(|output| output.data()).collect();
    let sequence = state.with_context(|context| context.next_sequence());
    let node = Node::of_custom(sequence, Rc::new(custom), &edges, &results);
    if let Some(saved) = saved {
        saved.know_outputs(&node, &outputs);
    }
    for (slot, output) in outputs.iter().enumerate() {
        output.var().come_from(Edge { node: node.clone(), slot });
    }
    Variable::note_write();
    Ok(())
}

/// What `ctx.save_for_backward` keeps: tensors as they were, with their versions.
#[pyclass(module = "torch._C", name = "_SavedTensors")]
#[derive(PyPayload)]
struct SavedTensors {
    kept: RefCell<Option<Vec<Kept>>>,
    state: Rc<TorchState>,
}

enum Kept {
    /// An object as it is, with the version its memory had.
    Object(PyObjectRef, Option<u64>),
    /// An output of the function itself: the node would otherwise keep itself alive.
    Output(Tensor, u64, Weak<Node>, usize),
}

impl fmt::Debug for SavedTensors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SavedTensors")
    }
}

impl SavedTensors {
    fn know_outputs(&self, node: &Rc<Node>, outputs: &[PyRef<Variable>]) {
        for kept in self.kept.borrow_mut().iter_mut().flatten() {
            let Kept::Object(object, _) = &kept else { continue };
            let Some(slot) = outputs.iter().position(|output| output.as_object().is(object)) else { continue };
            let data = outputs[slot].data();
            let version = data.storage().version();
            *kept = Kept::Output(data, version, Rc::downgrade(node), slot);
        }
    }
}

#[pyclass(with(Constructor), flags(HAS_WEAKREF))]
impl SavedTensors {
    /// The tensors again.
    #[pymethod]
    fn get(zelf: PyRef<Self>, vm: &VirtualMachine) -> PyResult {
        let kept = zelf.kept.borrow();
        let Some(kept) = kept.as_ref() else {
            return Err(raise(tape::second_time(), vm));
        };
        let mut objects: Vec<PyObjectRef> = vec![];
        for one in kept {
            let (data, version) = match one {
                Kept::Object(object, version) => {
                    objects.push(object.clone());
                    (object.downcast_ref::<Variable>().map(|variable| variable.data()), *version)
                }
                Kept::Output(data, version, node, slot) => {
                    let var = match node.upgrade() {
                        Some(node) => Var::from_node(data.clone(), Edge { node, slot: *slot }),
                        None => Var::new(data.clone()),
                    };
                    objects.push(zelf.state.wrap_var(var, vm).into());
                    (Some(data.clone()), Some(*version))
                }
            };
            if let (Some(data), Some(version)) = (data, version) {
                tape::check_version(&data, version, None).map_err(|error| raise(error, vm))?;
            }
        }
        Ok(vm.ctx.new_tuple(objects).into())
    }

    /// Lets go of the tensors.
    #[pymethod]
    fn release(zelf: PyRef<Self>) {
        let old = zelf.kept.borrow_mut().take();
        drop(old);
    }
}

impl Constructor for SavedTensors {
    type Args = (PyObjectRef,);

    fn py_new(_class: &Py<PyType>, (tensors,): Self::Args, vm: &VirtualMachine) -> PyResult<Self> {
        let keep = |object: PyObjectRef| {
            let version = object.downcast_ref::<Variable>().map(|variable| variable.with_data(|data| data.storage().version()));
            if version.is_none() && !vm.is_none(&object) {
                return Err(
                    vm.new_type_error(format!("save_for_backward can only save variables, but argument is of type {}", type_name(&object)))
                );
            }
            Ok(Kept::Object(object, version))
        };
        let kept = vm.extract_elements_with(&tensors, keep)?;
        Ok(Self { kept: RefCell::new(Some(kept)), state: super::state(vm)? })
    }
}
