//! What tracer and engine need of `torch`: tensors, ops and ambient state seen from outside, and tensors made.

use super::{
    call::{OverloadSet, op_of},
    constants::{PyDType, PyDevice, PyLayout},
    operand,
    state::state,
    variable::Variable,
};
use crate::inspect::{Object, Vm};
use rustpython_vm::{AsObject, Py, builtins::PyType, class::StaticType};
use std::rc::Rc;
use taipan_ir::{DType, Device, Facts, bind::CallForm, op::Entry};
use taipan_tensor::{Tensor, tape::Var};

/// A tensor object, seen from outside.
pub struct TensorView<'a> {
    variable: &'a Py<Variable>,
    data: Tensor,
}

impl<'a> TensorView<'a> {
    /// The tensor an object is, of whatever subclass.
    #[inline]
    pub fn of(object: &'a Object) -> Option<TensorView<'a>> {
        let variable = object.downcast_ref::<Variable>()?;
        Some(TensorView { variable, data: variable.data() })
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.data.dtype()
    }

    /// Device of the memory.
    pub fn device(&self) -> Device {
        self.data.storage().device().clone()
    }

    /// Sizes.
    pub fn sizes(&self) -> &[i64] {
        self.data.sizes()
    }

    /// Strides in elements.
    pub fn strides(&self) -> &[i64] {
        self.data.strides()
    }

    /// Whether it asks for gradients.
    pub fn requires_grad(&self) -> bool {
        self.variable.requires_grad()
    }

    /// Whether it wasn't computed from tensors that ask for gradients.
    pub fn is_leaf(&self) -> bool {
        self.variable.is_leaf()
    }

    /// Element type, device and layout.
    pub fn facts(&self) -> Facts {
        self.data.facts()
    }

    /// The data, sharing its storage.
    pub fn tensor(&self) -> Tensor {
        self.data.clone()
    }

    /// The data with its place on the tape.
    pub fn var(&self) -> Var {
        self.variable.var()
    }
}

/// A function or method of `torch`.
#[derive(Clone, Debug)]
pub struct OpCallable {
    overloads: Rc<OverloadSet>,
    /// Whether argument 0 is the receiver.
    pub is_method: bool,
}

impl OpCallable {
    /// What an object calls, if it is one of ours.
    pub fn of(object: &Object) -> Option<OpCallable> {
        let (overloads, form) = op_of(object)?;
        Some(OpCallable { overloads: overloads.clone(), is_method: form == CallForm::Method })
    }

    /// The base name of its overloads.
    pub fn name(&self) -> &'static str {
        self.overloads.name()
    }

    /// The overloads in the order in which they are tried.
    pub fn entries(&self) -> &[&'static Entry] {
        self.overloads.entries()
    }

    /// Whether it takes `requires_grad=` and its like.
    pub fn is_factory(&self) -> bool {
        self.overloads.is_factory()
    }
}

/// Ambient facts of `torch` in one word: compared first by every version.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ambient(u32);

const GRAD: u32 = 1;
const INFERENCE: u32 = 2;
const WATCHED: u32 = 4;
const DTYPE_SHIFT: u32 = 8;

impl Ambient {
    /// The state in force.
    pub fn now(vm: &Vm) -> Ambient {
        let Ok(state) = state(vm) else { return Ambient(GRAD | (DType::F32 as u32) << DTYPE_SHIFT) };
        let watched = if state.watches_nodes() { WATCHED } else { 0 };
        let modes = u32::from(state.grad_enabled()) | u32::from(state.inference_mode()) << 1 | watched;
        Ambient(modes | (state.default_dtype() as u32) << DTYPE_SHIFT)
    }

    /// Makes it the state in force.
    pub fn set(self, vm: &Vm) {
        if let Ok(state) = state(vm) {
            state.set_grad_enabled(self.grad_enabled());
            state.set_inference_mode(self.inference_mode());
        }
    }

    /// Whether ops are recorded for gradients.
    pub fn grad_enabled(self) -> bool {
        self.0 & GRAD != 0
    }

    /// Whether inference mode is on.
    pub fn inference_mode(self) -> bool {
        self.0 & INFERENCE != 0
    }

    /// Whether each op that is recorded has to be seen as it is: `saved_tensors_hooks` or anomaly detection is in force.
    pub fn watches_nodes(self) -> bool {
        self.0 & WATCHED != 0
    }

    /// The dtype floats become.
    pub fn default_dtype(self) -> DType {
        DType::ALL.into_iter().find(|d| *d as u32 == self.0 >> DTYPE_SHIFT).unwrap_or(DType::F32)
    }

    /// With gradients on or off.
    pub fn with_grad(self, on: bool) -> Ambient {
        Ambient(if on { self.0 | GRAD } else { self.0 & !GRAD })
    }

    /// With inference mode on or off.
    pub fn with_inference(self, on: bool) -> Ambient {
        Ambient(if on { self.0 | INFERENCE } else { self.0 & !INFERENCE })
    }

    /// What is not the default: `grad off`, `default dtype f64`.
    pub fn text(self) -> String {
        let mut parts = vec![];
        if !self.grad_enabled() {
            parts.push("no grad".to_owned());
        }
        if self.inference_mode() {
            parts.push("inference mode".to_owned());
        }
        if self.default_dtype() != DType::F32 {
            parts.push(format!("default dtype {}", self.default_dtype()));
        }
        parts.join(", ")
    }
}

/// A new tensor object over data that has its place on the tape. `sources` may hold the tensor it is a view of, or another view of that.
pub fn make_tensor<'a>(var: Var, sources: impl IntoIterator<Item = &'a Object>, vm: &Vm) -> Option<Object> {
    let base = var.meta.base().map(|base| base.meta.clone());
    let state = state(vm).ok()?;
    if state.inference_mode() {
        var.meta.mark_inference();
    }
    let object = state.wrap_var(var, vm);
    if let Some(base) = base {
        let related = |variable: &Py<Variable>| {
            Rc::ptr_eq(variable.meta(), &base) || variable.meta().base().is_some_and(|own| Rc::ptr_eq(&own.meta, &base))
        };
        let source = sources.into_iter().find(|source| source.downcast_ref::<Variable>().is_some_and(related));
        if let Some(source) = source.and_then(|source| source.clone().downcast::<Variable>().ok()) {
            object.know_base(&source);
        }
    }
    Some(object.into())
}

/// Runs with the context of this VM's ops: generators and threads.
pub fn with_context<R>(vm: &Vm, body: impl FnOnce(&mut taipan_tensor::Context) -> R) -> Option<R> {
    Some(state(vm).ok()?.with_context(body))
}

/// Types and constants of `torch`, by identity.
pub mod torch_type {
    use super::*;
    use crate::{inspect, watch};
    use taipan_ir::bind::Operand;

    /// `torch.Tensor`.
    pub fn tensor(vm: &Vm) -> Object {
        state(vm).map_or_else(|_| Variable::static_type().to_owned().into(), |s| s.tensor_type().clone().into())
    }

    /// `torch.Size`.
    pub fn size(vm: &Vm) -> Object {
        state(vm).map_or_else(|_| vm.ctx.types.tuple_type.to_owned().into(), |s| s.size_type().clone().into())
    }

    /// Whether a class is `torch.Size`.
    pub fn is_size(class: &Object, vm: &Vm) -> bool {
        class.is(&size(vm))
    }

    /// Whether a class is our native dict.
    pub fn is_watched_dict(class: &Object, _vm: &Vm) -> bool {
        class.is(watch::WatchedDict::static_type())
    }

    /// Whether a class is a tensor's.
    pub fn is_tensor(class: &Object, _vm: &Vm) -> bool {
        class.downcast_ref::<PyType>().is_some_and(|c| c.fast_issubclass(Variable::static_type()))
    }

    /// Whether a class is `Tensor`, `Parameter` or `Buffer`: those whose operations give plain tensors.
    pub fn is_plain_tensor(class: &Object, vm: &Vm) -> bool {
        if class.is(&tensor(vm)) {
            return true;
        }
        is_tensor(class, vm)
            && ["Parameter", "Buffer"].iter().any(|name| {
                inspect::module_attribute("torch.nn.parameter", inspect::name(name, vm), vm).is_some_and(|known| known.is(class))
            })
    }

    /// Whether a class is the native base of modules or derives from it.
    pub fn is_module_class(class: &Object, _vm: &Vm) -> bool {
        class.downcast_ref::<PyType>().is_some_and(|c| c.fast_issubclass(watch::ModuleBase::static_type()))
    }

    /// The native base of modules.
    pub fn module_base(_vm: &Vm) -> Object {
        watch::ModuleBase::static_type().to_owned().into()
    }

    /// The class of an op's named results; `tuple` where it can't be made.
    pub fn result_class(base: &'static str, vm: &Vm) -> Object {
        named_result(base, vec![], vm).map_or_else(|| vm.ctx.types.tuple_type.to_owned().into(), |o| inspect::class_of(&o))
    }

    /// An op's named results.
    pub fn named_result(base: &'static str, items: Vec<Object>, vm: &Vm) -> Option<Object> {
        let entries = taipan_tensor::registry().overloads(base);
        let names = |e: &taipan_ir::op::Entry| e.schema.returns.iter().map(|r| r.name).collect::<Option<Vec<_>>>();
        let fields = entries.filter(|e| e.schema.returns.len() > 1).find_map(names)?;
        state(vm).ok()?.result_object(base, &fields, items, vm).ok()
    }

    /// A `torch.Size`.
    pub fn make_size(items: Vec<Object>, vm: &Vm) -> Option<Object> {
        inspect::call_native(&size(vm), vec![inspect::make_tuple(items, vm)], vm)
    }

    /// The object of a dtype.
    pub fn dtype_object(dtype: DType, vm: &Vm) -> Object {
        state(vm).map_or_else(|_| vm.ctx.none(), |s| s.dtype_object(dtype))
    }

    /// The object of a device.
    pub fn device_object(device: &Device, vm: &Vm) -> Object {
        state(vm).map_or_else(|_| vm.ctx.none(), |s| s.device_object(device, vm))
    }

    /// `torch.strided`.
    pub fn layout_object(vm: &Vm) -> Object {
        state(vm).map_or_else(|_| vm.ctx.none(), |s| s.constants().strided())
    }

    /// A dtype, device, layout, memory format or generator as an operand; `None` for other objects.
    pub fn constant_operand<T>(object: &Object, vm: &Vm) -> Option<Operand<T>> {
        let is_one = object.downcast_ref::<PyDType>().is_some()
            || object.downcast_ref::<PyDevice>().is_some()
            || object.downcast_ref::<PyLayout>().is_some()
            || object.downcast_ref::<super::super::PyMemoryFormat>().is_some()
            || object.downcast_ref::<super::super::PyGenerator>().is_some()
            || object.downcast_ref::<PyType>().is_some();
        if !is_one {
            return None;
        }
        let operand = operand::operand(object, &mut |_| unreachable_tensor(), vm).ok()?;
        match operand {
            Operand::Other(_) => None,
            Operand::DType(d) => Some(Operand::DType(d)),
            Operand::Device(d) => Some(Operand::Device(d)),
            Operand::Layout => Some(Operand::Layout),
            Operand::MemoryFormat(m) => Some(Operand::MemoryFormat(m)),
            Operand::Generator(g) => Some(Operand::Generator(g)),
            _ => None,
        }
    }

    /// Whether an object is immutable and torch's own: a dtype, device, layout, memory format, `finfo` or `iinfo`.
    pub fn is_constant(object: &Object) -> bool {
        object.downcast_ref::<PyDType>().is_some()
            || object.downcast_ref::<PyDevice>().is_some()
            || object.downcast_ref::<PyLayout>().is_some()
            || object.downcast_ref::<super::super::PyMemoryFormat>().is_some()
            || object.downcast_ref::<super::super::constants::PyFloatInfo>().is_some()
            || object.downcast_ref::<super::super::constants::PyIntInfo>().is_some()
    }

    /// Whether calling a class makes such an object.
    pub fn makes_constant(class: &Object, _vm: &Vm) -> bool {
        class.is(PyDevice::static_type())
            || class.is(super::super::constants::PyFloatInfo::static_type())
            || class.is(super::super::constants::PyIntInfo::static_type())
    }

    /// Whether an object is a function wrapped by `disable()`.
    pub fn is_plain_function(object: &Object) -> bool {
        object.downcast_ref::<crate::torch::PlainFunction>().is_some()
    }

    /// Whether an object is a compiled function.
    pub fn is_compiled_function(object: &Object) -> bool {
        object.downcast_ref::<crate::torch::CompiledFunction>().is_some()
    }

    /// A constant holds no tensor, so what stands for one never matters.
    fn unreachable_tensor() {}
}
