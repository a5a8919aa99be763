//! A Python object around a data tensor, with what belongs to the object and not to the data.
//!
//! Its native class is `torch._C.TensorBase`, which has all the methods. `torch.Tensor` is a subclass that belongs to one VM, as
//! scripts patch it.
//!
//! Identity, gradient state, attributes and subclass live here; storage, layout and dtype in `taipan_tensor::Tensor`, which
//! `x.data = y` may swap.

use super::{operators, state::TorchState};
use rustpython_vm::{
    AsObject, Py, PyObject, PyObjectRef, PyPayload, PyRef, PyResult, Traverse, VirtualMachine, atomic_func,
    builtins::{PyType, PyTypeRef},
    class::PyClassImpl,
    common::{hash::PyHash, lock::PyMutex},
    function::{Either, FuncArgs, PyComparisonValue},
    protocol::{PyMappingMethods, PyNumberMethods, PySequenceMethods},
    pyclass,
    types::{AsMapping, AsNumber, AsSequence, Constructor, Hashable, Iterable, PyComparisonOp, Representable},
};
use std::{cell::RefCell, fmt, rc::Rc};
use taipan_tensor::{
    Tensor,
    tape::{Meta, Var},
};

/// A tensor object of Python: the payload of `torch.Tensor` and of its subclasses.
#[pyclass(module = "torch._C", name = "TensorBase", traverse)]
#[derive(PyPayload)]
pub struct Variable {
    #[pytraverse(skip)]
    data: RefCell<Tensor>,
    /// Its place on the tape.
    #[pytraverse(skip)]
    meta: Rc<Meta>,
    /// The object of its gradient, once somebody has seen it.
    grad: PyMutex<Option<PyObjectRef>>,
    /// The object of the tensor it is a view of.
    base: PyMutex<Option<PyObjectRef>>,
    #[pytraverse(skip)]
    state: Rc<TorchState>,
}

/// A tensor that guards may have looked at is not what it was.
fn changed() {
    crate::thread::with(|t| t.tensor_epoch.set(t.tensor_epoch.get() + 1));
}

impl Variable {
    /// The class `torch.Tensor` of one VM.
    pub(super) fn make_tensor_type(vm: &VirtualMachine) -> PyResult<PyTypeRef> {
        let names = vm.ctx.new_dict();
        names.set_item("__module__", vm.ctx.new_str("torch").into(), vm)?;
        let bases = vm.new_tuple((Variable::make_static_type(),));
        let class = vm.ctx.types.type_type.as_object().call(("Tensor", bases, names), vm)?;
        class.downcast().map_err(|_| vm.new_system_error("a class of tensors must be a type"))
    }

    pub(super) fn new(data: Tensor, state: Rc<TorchState>) -> Self {
        Self::over(Var::new(data), state)
    }

    pub(super) fn over(var: Var, state: Rc<TorchState>) -> Self {
        Self { data: RefCell::new(var.data), meta: var.meta, grad: PyMutex::new(None), base: PyMutex::new(None), state }
    }

    /// The data and its place on the tape.
    pub fn var(&self) -> Var {
        Var { data: self.data(), meta: self.meta.clone() }
    }

    /// Its place on the tape.
    pub fn meta(&self) -> &Rc<Meta> {
        &self.meta
    }

    /// The data: shares its storage.
    pub fn data(&self) -> Tensor {
        self.data.borrow().clone()
    }

    /// Looks at the data without taking a share.
    pub fn with_data<R>(&self, look: impl FnOnce(&Tensor) -> R) -> R {
        look(&self.data.borrow())
    }

    /// Puts other data into the same object, as `x.data = y` does.
    pub fn set_data(&self, data: Tensor) {
        self.meta.replace_data(data.clone());
        *self.data.borrow_mut() = data;
        changed();
    }

    /// The state of the VM it belongs to.
    pub fn state(&self) -> &Rc<TorchState> {
        &self.state
    }

    /// Whether gradients flow to or through it.
    pub fn requires_grad(&self) -> bool {
        self.with_data(|data| self.meta.requires_grad(data))
    }

    /// Whether it wasn't computed from tensors that require grad.
    pub fn is_leaf(&self) -> bool {
        self.with_data(|data| self.meta.is_leaf(data))
    }

    /// `x.requires_grad = flag`.
    ///
    /// # Errors
    /// On tensors that aren't floating-point, and on computed ones when the flag is taken away.
    pub fn set_requires_grad(&self, flag: bool, vm: &VirtualMachine) -> PyResult<()> {
        if flag && !self.with_data(|data| data.dtype().has_gradients()) {
            return Err(vm.new_runtime_error("only Tensors of floating point and complex dtype can require gradients"));
        }
        if !flag && !self.is_leaf() {
            return Err(vm.new_runtime_error(
                "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a subgraph \
                 that doesn't require differentiation use var_no_grad = var.detach().",
            ));
        }
        // On a computed tensor the flag is true already.
        if self.is_leaf() {
            self.meta.ask_for_grad(flag);
            changed();
        }
        Ok(())
    }

    /// `x.detach_()`: a leaf that doesn't require grad.
    pub(super) fn detach(&self) {
        self.meta.detach();
        changed();
    }

    /// Tells guards that a recorded op has written into it.
    pub(super) fn note_write() {
        changed();
    }

    /// `x.grad`.
    pub fn grad(&self, vm: &VirtualMachine) -> Option<PyObjectRef> {
        let grad = self.meta.grad()?;
        let mut known = self.grad.lock();
        let same = |object: &PyObjectRef| object.downcast_ref::<Variable>().is_some_and(|own| Rc::ptr_eq(&own.meta, &grad.meta));
        if let Some(object) = known.as_ref().filter(|object| same(object)) {
            return Some(object.clone());
        }
        let object: PyObjectRef = self.state.wrap_var(grad, vm).into();
        let old = known.replace(object.clone());
        drop(known);
        drop(old);
        Some(object)
    }

    /// Sets `x.grad` to a tensor object or nothing, unchecked.
    pub fn set_grad(&self, grad: Option<PyObjectRef>) {
        self.meta.set_grad(grad.as_deref().and_then(|grad| grad.downcast_ref::<Variable>()).map(|grad| grad.var()));
        // The old one is dropped after the lock is released: dropping may run Python.
        let old = std::mem::replace(&mut *self.grad.lock(), grad);
        drop(old);
    }

    /// The tensor whose memory it is a view of; that one is no view itself.
    pub fn base(&self, vm: &VirtualMachine) -> Option<PyObjectRef> {
        let base = self.meta.base()?.clone();
        let mut known = self.base.lock();
        Some(known.get_or_insert_with(|| self.state.wrap_var(base, vm).into()).clone())
    }

    /// Tells it the object of the tensor that it is a view of, where `source` is that tensor or another view of it.
    pub(super) fn know_base(&self, source: &PyRef<Variable>) {
        let Some(base) = self.meta.base() else { return };
        let object = match Rc::ptr_eq(&base.meta, &source.meta) {
            true => Some(source.clone().into()),
            false => source.base.lock().clone(),
        };
        let old = std::mem::replace(&mut *self.base.lock(), object);
        drop(old);
    }
}

impl fmt::Debug for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Variable").field("meta", &self.meta).finish_non_exhaustive()
    }
}

/// `Tensor(...)` itself: PyTorch's old constructor.
impl Constructor for Variable {
    type Args = FuncArgs;

    fn slot_new(class: PyTypeRef, args: FuncArgs, vm: &VirtualMachine) -> PyResult {
        let state = super::state(vm)?;
        let data = super::create::legacy_constructor(&state, state.default_dtype(), &args, vm)?;
        Ok(Variable::new(data, state).into_ref_with_type(vm, class)?.into())
    }

    fn py_new(_class: &Py<PyType>, _args: FuncArgs, vm: &VirtualMachine) -> PyResult<Self> {
        Err(vm.new_type_error("a Tensor is made by its class"))
    }
}

#[pyclass(with(Constructor, AsNumber, AsMapping, AsSequence, Iterable, Hashable, Representable), flags(BASETYPE, HAS_DICT, HAS_WEAKREF))]
impl Variable {
    #[pyslot]
    fn slot_richcompare(
        left: &PyObject,
        right: &PyObject,
        op: PyComparisonOp,
        vm: &VirtualMachine,
    ) -> PyResult<Either<PyObjectRef, PyComparisonValue>> {
        operators::compare(left, right, op, vm)
    }
}

impl AsNumber for Variable {
    fn as_number() -> &'static PyNumberMethods {
        &operators::NUMBER
    }
}

impl AsMapping for Variable {
    fn as_mapping() -> &'static PyMappingMethods {
        static MAPPING: PyMappingMethods = PyMappingMethods {
            length: atomic_func!(|mapping, vm| length(Variable::mapping_downcast(mapping), vm)),
            subscript: atomic_func!(|mapping, key, vm| super::index::get(Variable::mapping_downcast(mapping), key, vm)),
            ass_subscript: atomic_func!(|mapping, key, value, vm| {
                super::index::set(Variable::mapping_downcast(mapping), key, value, vm)
            }),
        };
        &MAPPING
    }
}

impl AsSequence for Variable {
    fn as_sequence() -> &'static PySequenceMethods {
        static SEQUENCE: PySequenceMethods = PySequenceMethods {
            contains: atomic_func!(|sequence, item, vm| operators::contains(Variable::sequence_downcast(sequence), item, vm)),
            ..PySequenceMethods::NOT_IMPLEMENTED
        };
        &SEQUENCE
    }
}

impl Iterable for Variable {
    fn iter(zelf: PyRef<Self>, vm: &VirtualMachine) -> PyResult {
        if zelf.with_data(|data| data.sizes().is_empty()) {
            return Err(vm.new_type_error("iteration over a 0-d tensor"));
        }
        let state = Rc::clone(&zelf.state);
        let parts = state.call_named("unbind", &[taipan_ir::bind::Operand::Tensor(zelf)], &[], vm)?;
        Ok(parts.get_iter(vm)?.into())
    }
}

impl Hashable for Variable {
    fn hash(zelf: &Py<Self>, _vm: &VirtualMachine) -> PyResult<PyHash> {
        // The lowest bits of an address are always zero.
        Ok((zelf.get_id() >> 4) as PyHash)
    }
}

impl Representable for Variable {
    fn repr_str(zelf: &Py<Self>, vm: &VirtualMachine) -> PyResult<String> {
        super::text::repr(zelf).map_err(|error| super::state::raise(error, vm))
    }
}

fn length(zelf: &Py<Variable>, vm: &VirtualMachine) -> PyResult<usize> {
    match zelf.with_data(|data| data.sizes().first().copied()) {
        Some(size) => Ok(size as usize),
        None => Err(vm.new_type_error("len() of a 0-d tensor")),
    }
}
