//! What all tensors of one engine share: the context ops run in, the gradient mode, and the objects of `torch._C`.

use super::{call::OverloadSet, constants::Constants, print::PrintOptions, variable::Variable};
use rustpython_vm::{
    PyObjectRef, PyPayload, PyRef, PyResult, VirtualMachine,
    builtins::{PyBaseExceptionRef, PyTuple, PyTypeRef},
    pyclass,
};
use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    fmt,
    rc::Rc,
};
use taipan_ir::{DType, Device, ErrorKind, OpError};
use taipan_tensor::{
    Context, Tensor,
    tape::{Host, Node, Var},
};

/// The state of `torch` in one VM.
pub struct TorchState {
    context: RefCell<Context>,
    grad_enabled: Cell<bool>,
    inference_mode: Cell<bool>,
    constants: Constants,
    tensor_type: PyTypeRef,
    size_type: PyTypeRef,
    make_result_type: PyObjectRef,
    result_types: RefCell<HashMap<&'static str, PyTypeRef>>,
    internal: RefCell<HashMap<&'static str, Rc<OverloadSet>>>,
    print_options: RefCell<PrintOptions>,
    /// An exception on its way through the tape, which carries none.
    pending: RefCell<Option<PyBaseExceptionRef>>,
    /// What `torch.autograd.graph.saved_tensors_hooks` has put in force, innermost last: pack and unpack.
    saved_hooks: RefCell<Vec<(PyObjectRef, PyObjectRef)>>,
    /// What `torch.autograd.set_detect_anomaly` has set: whether nodes are to tell their place in the script, and NaN is refused.
    anomaly: Cell<(bool, bool)>,
    /// Whether subclasses of `Tensor` answer functions of `torch`.
    asks_subclasses: Cell<bool>,
}

impl TorchState {
    pub(super) fn new(vm: &VirtualMachine) -> PyResult<Rc<Self>> {
        let helpers = vm.import("_taipan_tensors", 0)?;
        let size_type = helpers.get_attr("Size", vm)?.downcast().map_err(|_| vm.new_runtime_error("torch.Size must be a class"))?;
        Ok(Rc::new(Self {
            context: RefCell::new(Context::default()),
            grad_enabled: Cell::new(true),
            inference_mode: Cell::new(false),
            constants: Constants::new(&vm.ctx),
            tensor_type: Variable::make_tensor_type(vm)?,
            size_type,
            make_result_type: helpers.get_attr("result_type", vm)?,
            result_types: RefCell::default(),
            internal: RefCell::default(),
            print_options: RefCell::default(),
            pending: RefCell::default(),
            saved_hooks: RefCell::default(),
            anomaly: Cell::new((false, true)),
            asks_subclasses: Cell::new(true),
        }))
    }

    /// Lends out the context that ops run in. `body` must not come back here.
    pub fn with_context<R>(&self, body: impl FnOnce(&mut Context) -> R) -> R {
        body(&mut self.context.borrow_mut())
    }

    /// Whether what is computed is recorded for differentiation.
    pub fn grad_enabled(&self) -> bool {
        self.grad_enabled.get()
    }

    /// Sets [`TorchState::grad_enabled`] and answers with the old value.
    pub fn set_grad_enabled(&self, enabled: bool) -> bool {
        self.grad_enabled.replace(enabled)
    }

    /// Whether `torch.inference_mode` is in force.
    pub fn inference_mode(&self) -> bool {
        self.inference_mode.get()
    }

    /// Sets [`TorchState::inference_mode`] and answers with the old value.
    pub fn set_inference_mode(&self, enabled: bool) -> bool {
        self.inference_mode.replace(enabled)
    }

    /// The dtype of new floating-point tensors.
    pub fn default_dtype(&self) -> DType {
        self.context.borrow().default_float
    }

    /// Sets [`TorchState::default_dtype`].
    pub fn set_default_dtype(&self, dtype: DType) {
        self.context.borrow_mut().default_float = dtype;
    }

    /// What `torch.set_printoptions` has set.
    pub fn print_options(&self) -> PrintOptions {
        self.print_options.borrow().clone()
    }

    pub(super) fn set_print_options(&self, options: PrintOptions) {
        *self.print_options.borrow_mut() = options;
    }

    /// A plain `torch.Tensor` object over `data`.
    pub fn wrap(self: &Rc<Self>, data: Tensor, vm: &VirtualMachine) -> PyRef<Variable> {
        self.object(Variable::new(data, Rc::clone(self)), vm)
    }

    /// A plain `torch.Tensor` object over data that has its place on the tape.
    pub(super) fn wrap_var(self: &Rc<Self>, var: Var, vm: &VirtualMachine) -> PyRef<Variable> {
        self.object(Variable::over(var, Rc::clone(self)), vm)
    }

    fn object(&self, variable: Variable, vm: &VirtualMachine) -> PyRef<Variable> {
        PyRef::new_ref(variable, self.tensor_type.clone(), Some(vm.ctx.new_dict()))
    }

    /// The class `torch.Tensor`.
    pub fn tensor_type(&self) -> &PyTypeRef {
        &self.tensor_type
    }

    /// The object `torch.float32`, and so on.
    pub fn dtype_object(&self, dtype: DType) -> PyObjectRef {
        self.constants.dtype(dtype)
    }

    /// A `torch.device`.
    pub fn device_object(&self, device: &Device, vm: &VirtualMachine) -> PyObjectRef {
        self.constants.device(device, &vm.ctx)
    }

    /// A `torch.Size`.
    pub fn size_object(&self, sizes: &[i64], vm: &VirtualMachine) -> PyResult<PyObjectRef> {
        let items: Vec<PyObjectRef> = sizes.iter().map(|size| vm.ctx.new_int(*size).into()).collect();
        self.named_tuple(items, self.size_type.clone(), vm)
    }

    /// The class `torch.Size`.
    pub fn size_type(&self) -> &PyTypeRef {
        &self.size_type
    }

    pub(super) fn constants(&self) -> &Constants {
        &self.constants
    }

    /// The results of an op with named results, as `torch.return_types.<name>`.
    pub fn result_object(
        &self,
        name: &'static str,
        fields: &[&'static str],
        items: Vec<PyObjectRef>,
        vm: &VirtualMachine,
    ) -> PyResult<PyObjectRef> {
        let known = self.result_types.borrow().get(name).cloned();
        let class = match known {
            Some(class) => class,
            None => {
                let fields = fields.iter().map(|field| vm.ctx.new_str(*field).into()).collect();
                let class = self.make_result_type.call((name, vm.ctx.new_tuple(fields)), vm)?;
                let class: PyTypeRef = class.downcast().map_err(|_| vm.new_runtime_error("a result type must be a class"))?;
                self.result_types.borrow_mut().insert(name, class.clone());
                class
            }
        };
        self.named_tuple(items, class, vm)
    }

    fn named_tuple(&self, items: Vec<PyObjectRef>, class: PyTypeRef, vm: &VirtualMachine) -> PyResult<PyObjectRef> {
        Ok(PyTuple::new_unchecked(items.into_boxed_slice()).into_ref_with_type(vm, class)?.into())
    }

    /// The ops that operators and indexing are made of, looked up once.
    pub(super) fn internal(&self, name: &'static str) -> Option<Rc<OverloadSet>> {
        if let Some(set) = self.internal.borrow().get(name) {
            return Some(Rc::clone(set));
        }
        let set = Rc::new(OverloadSet::find_internal(name)?);
        self.internal.borrow_mut().insert(name, Rc::clone(&set));
        Some(set)
    }
}

impl TorchState {
    /// A function object for ops that have no place in `torch`: what graphs shown to Python call.
    pub(super) fn internal_function(self: &Rc<Self>, name: &'static str, vm: &VirtualMachine) -> Option<PyObjectRef> {
        let overloads = self.internal(name)?;
        Some(super::call::OpFunction::new(overloads, Rc::clone(self), name, "torch.ops.aten").into_ref(&vm.ctx).into())
    }
}

impl TorchState {
    /// Keeps an exception until the tape has passed on that there was one.
    pub(super) fn hold_exception(&self, exception: PyBaseExceptionRef) -> OpError {
        *self.pending.borrow_mut() = Some(exception);
        OpError::runtime("an exception was raised while gradients were computed")
    }

    /// The hooks on what nodes keep, innermost last.
    pub(super) fn saved_hooks(&self) -> &RefCell<Vec<(PyObjectRef, PyObjectRef)>> {
        &self.saved_hooks
    }

    /// What `torch.autograd.set_detect_anomaly` has set: the mode, and whether NaN is refused.
    pub(super) fn anomaly(&self) -> &Cell<(bool, bool)> {
        &self.anomaly
    }

    /// Whether subclasses of `Tensor` answer functions of `torch`: not while one of them computes its answer.
    pub(super) fn asks_subclasses(&self) -> bool {
        self.asks_subclasses.get()
    }

    /// Sets [`Self::asks_subclasses`]; what it was.
    pub(super) fn set_asks_subclasses(&self, asks: bool) -> bool {
        self.asks_subclasses.replace(asks)
    }

    /// Whether each recorded node has to be seen by the frontend, so that ops must run one by one.
    pub fn watches_nodes(&self) -> bool {
        self.anomaly.get().0 || !self.saved_hooks.borrow().is_empty()
    }

    /// The exception an error of the tape stands for.
    pub(super) fn raise_held(&self, error: OpError, vm: &VirtualMachine) -> PyBaseExceptionRef {
        let held = self.pending.borrow_mut().take();
        held.unwrap_or_else(|| raise(error, vm))
    }
}

impl Host for TorchState {
    fn step(&self, work: &mut dyn FnMut(&mut Context) -> Result<(), OpError>) -> Result<(), OpError> {
        self.with_context(work)
    }

    fn refuses_nan(&self) -> bool {
        self.anomaly.get() == (true, true)
    }

    fn failed_at(&self, node: &Node) {
        if self.anomaly.get().0 {
            super::anomaly::warn(node);
        }
    }
}

impl fmt::Debug for TorchState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TorchState").field("grad_enabled", &self.grad_enabled).finish_non_exhaustive()
    }
}

/// `torch._C._state`: by which native code finds the state of its VM.
#[pyclass(module = "torch._C", name = "State")]
#[derive(Debug, PyPayload)]
pub(super) struct StateHandle(pub(super) Rc<TorchState>);

#[pyclass(flags(DISALLOW_INSTANTIATION))]
impl StateHandle {}

/// The state of this VM's `torch`, which is loaded if it wasn't.
///
/// # Errors
/// When `torch._C` can't be imported.
pub fn state(vm: &VirtualMachine) -> PyResult<Rc<TorchState>> {
    let handle = native_module(vm)?.get_attr("_state", vm)?;
    match handle.downcast_ref::<StateHandle>() {
        Some(handle) => Ok(Rc::clone(&handle.0)),
        None => Err(vm.new_runtime_error("torch._C._state was replaced")),
    }
}

/// The module `torch._C`, loaded if it wasn't.
pub(super) fn native_module(vm: &VirtualMachine) -> PyResult {
    let loaded = vm.sys_module.get_attr("modules", vm)?;
    if let Ok(module) = loaded.get_item("torch._C", vm) {
        return Ok(module);
    }
    vm.import("torch._C", 0)?;
    loaded.get_item("torch._C", vm)
}

/// The exception an op's error becomes.
pub fn raise(error: OpError, vm: &VirtualMachine) -> PyBaseExceptionRef {
    match error {
        OpError::Raised { kind, text } => match kind {
            ErrorKind::Runtime => vm.new_runtime_error(text),
            ErrorKind::Type => vm.new_type_error(text),
            ErrorKind::Value => vm.new_value_error(text),
            ErrorKind::Index => vm.new_index_error(text),
            ErrorKind::NotImplemented => vm.new_not_implemented_error(text),
            ErrorKind::Assertion => vm.new_exception_msg(vm.ctx.exceptions.assertion_error.to_owned(), text.into()),
            ErrorKind::Memory => vm.new_exception_msg(vm.ctx.exceptions.memory_error.to_owned(), text.into()),
        },
        OpError::DataDependent => vm.new_runtime_error(error.to_string()),
    }
}
