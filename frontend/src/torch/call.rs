//! Functions and methods of `torch`: objects that carry their overloads, and what happens when they are called.

use super::{
    create,
    execute::{Computed, execute},
    operand::{keyword, operand},
    overrides::{asked, overridden},
    state::{TorchState, raise},
    variable::Variable,
};
use crate::vm::guarded;
use rustpython_vm::{
    AsObject, Py, PyObject, PyObjectRef, PyPayload, PyRef, PyResult, VirtualMachine,
    builtins::PyBoundMethod,
    function::FuncArgs,
    pyclass,
    types::{Callable, GetDescriptor, Representable},
};
use std::rc::Rc;
use taipan_ir::{
    Arg, DType, Dim, Gradient, Meaning, Number,
    bind::{Bound, CallForm, Operand, bind, bind_reading},
    op::{Entry, Family, Forms},
    schema::Kind,
};
use taipan_tensor::{Tensor, ops::refusal::dtypes::scalar_type_name, registry, tape::Var, write};

/// All overloads that one name of `torch` stands for.
#[derive(Debug)]
pub struct OverloadSet {
    name: &'static str,
    entries: Vec<&'static Entry>,
    /// Whether the ops make tensors from nothing, and so take `requires_grad=`.
    factory: bool,
    /// Whether the functions take a number for the tensor on their left: `torch.mul(2, x)`.
    numeric: bool,
}

impl OverloadSet {
    /// The ops of base name `name` that have this form.
    pub fn find(name: &'static str, form: Forms) -> Option<Self> {
        Self::of(name, |entry| entry.op.0.forms.has(form))
    }

    /// The ops of base name `name` that operators and indexing are made of: all but those of `torch.nn.functional` alone.
    pub(super) fn find_internal(name: &'static str) -> Option<Self> {
        Self::of(name, |entry| entry.op.0.forms != Forms::NN)
    }

    fn of(name: &'static str, belongs: impl Fn(&Entry) -> bool) -> Option<Self> {
        let entries: Vec<_> = registry().overloads(name).filter(|entry| belongs(entry)).collect();
        let factory = entries.iter().any(|entry| entry.schema.position("requires_grad").is_some());
        let numeric = entries.iter().all(|entry| {
            let mut kinds = entry.schema.params.iter().map(|param| param.kind);
            matches!((kinds.next(), kinds.next()), (Some(Kind::Tensor), Some(Kind::TensorOrScalar)))
        });
        (!entries.is_empty()).then_some(Self { name, entries, factory, numeric })
    }

    /// The name that error texts show: the ops' base name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The overloads in the order in which they are tried.
    pub fn entries(&self) -> &[&'static Entry] {
        &self.entries
    }

    /// Whether the op computes each element from the elements in its place alone, in every form it has.
    ///
    /// What [`Meaning`] doesn't say of a form, as it is a composite, holds if all the form adds is an `inplace` flag.
    pub fn is_pointwise(&self) -> bool {
        let pointwise = |entry: &Entry| matches!(entry.op.0.meaning, Meaning::Pointwise { .. });
        let derived = |entry: &Entry| match entry.op.0.meaning {
            Meaning::Mutate { pure, .. } => registry().find(pure).is_some_and(pointwise),
            Meaning::Composite(_) => entry.schema.position("inplace").is_some() && registry().overloads(self.name).any(pointwise),
            _ => false,
        };
        self.entries.iter().all(|entry| pointwise(entry) || derived(entry))
    }

    /// Whether a call takes `requires_grad=`, which is about the tensor object made and so no business of the op.
    pub fn is_factory(&self) -> bool {
        self.factory
    }
}

/// A function of `torch`, `torch.nn.functional` and so on.
#[pyclass(module = false, name = "builtin_function_or_method")]
#[derive(Debug, PyPayload)]
pub struct OpFunction {
    overloads: Rc<OverloadSet>,
    state: Rc<TorchState>,
    /// The name it is reached by.
    shown: &'static str,
    module: &'static str,
}

/// A method of `torch.Tensor`, unbound.
#[pyclass(module = false, name = "method_descriptor")]
#[derive(Debug, PyPayload)]
pub struct OpMethod {
    overloads: Rc<OverloadSet>,
}

impl OpFunction {
    pub(super) fn new(overloads: Rc<OverloadSet>, state: Rc<TorchState>, shown: &'static str, module: &'static str) -> Self {
        Self { overloads, state, shown, module }
    }
}

impl OpMethod {
    pub(super) fn new(overloads: Rc<OverloadSet>) -> Self {
        Self { overloads }
    }
}

/// The overloads behind a function or method of `torch`, and how a call of the object is written.
pub fn op_of(object: &PyObject) -> Option<(&Rc<OverloadSet>, CallForm)> {
    if let Some(function) = object.downcast_ref::<OpFunction>() {
        return Some((&function.overloads, CallForm::Function));
    }
    object.downcast_ref::<OpMethod>().map(|method| (&method.overloads, CallForm::Method))
}

#[pyclass(with(Callable, Representable), flags(DISALLOW_INSTANTIATION, HAS_WEAKREF))]
impl OpFunction {
    #[pygetset]
    fn __name__(zelf: &Py<Self>) -> &'static str {
        zelf.shown
    }

    #[pygetset]
    fn __qualname__(zelf: &Py<Self>) -> &'static str {
        zelf.shown
    }

    #[pygetset]
    fn __module__(zelf: &Py<Self>) -> &'static str {
        zelf.module
    }

    #[pygetset]
    fn __doc__(zelf: &Py<Self>) -> String {
        documentation(&zelf.overloads)
    }

    /// Whether the op works element by element, whatever the sizes.
    #[pygetset]
    fn _pointwise(zelf: &Py<Self>) -> bool {
        zelf.overloads.is_pointwise()
    }

    /// Pickled, and copied, by name.
    #[pymethod]
    fn __reduce__(zelf: &Py<Self>) -> &'static str {
        zelf.shown
    }
}

impl Callable for OpFunction {
    type Args = FuncArgs;

    fn call(zelf: &Py<Self>, args: FuncArgs, vm: &VirtualMachine) -> PyResult {
        zelf.state.call(zelf.as_object(), &zelf.overloads, CallForm::Function, &args, vm)
    }
}

impl Representable for OpFunction {
    fn repr_str(zelf: &Py<Self>, _vm: &VirtualMachine) -> PyResult<String> {
        Ok(format!("<built-in function {}>", zelf.shown))
    }
}

#[pyclass(with(Callable, GetDescriptor, Representable), flags(DISALLOW_INSTANTIATION, METHOD_DESCRIPTOR, HAS_WEAKREF))]
impl OpMethod {
    #[pygetset]
    fn __name__(zelf: &Py<Self>) -> &'static str {
        zelf.overloads.name
    }

    #[pygetset]
    fn __qualname__(zelf: &Py<Self>) -> String {
        format!("TensorBase.{}", zelf.overloads.name)
    }

    #[pygetset]
    fn __doc__(zelf: &Py<Self>) -> String {
        documentation(&zelf.overloads)
    }

    /// Whether the op works element by element, whatever the sizes.
    #[pygetset]
    fn _pointwise(zelf: &Py<Self>) -> bool {
        zelf.overloads.is_pointwise()
    }

    #[pygetset]
    fn __objclass__(_zelf: &Py<Self>, vm: &VirtualMachine) -> PyObjectRef {
        Variable::class(&vm.ctx).to_owned().into()
    }
}

impl Callable for OpMethod {
    type Args = FuncArgs;

    fn call(zelf: &Py<Self>, args: FuncArgs, vm: &VirtualMachine) -> PyResult {
        let receiver = args.args.first();
        if let Some(variable) = receiver.and_then(|receiver| receiver.downcast_ref::<Variable>()) {
            return variable.state().call(zelf.as_object(), &zelf.overloads, CallForm::Method, &args, vm);
        }
        if let Some(answer) = overridden(zelf.as_object(), &args, vm)? {
            return Ok(answer);
        }
        match receiver {
            Some(other) => Err(vm.new_type_error(format!(
                "descriptor '{}' for 'torch._C.TensorBase' objects doesn't apply to a '{}' object",
                zelf.overloads.name,
                other.class().name()
            ))),
            None => Err(vm.new_type_error(format!("unbound method TensorBase.{}() needs an argument", zelf.overloads.name))),
        }
    }
}

impl GetDescriptor for OpMethod {
    fn descr_get(zelf: &PyObject, object: Option<&PyObject>, _class: Option<&PyObject>, vm: &VirtualMachine) -> PyResult {
        match object {
            Some(object) if !vm.is_none(object) => Ok(PyBoundMethod::new(object.to_owned(), zelf.to_owned()).into_ref(&vm.ctx).into()),
            _ => Ok(zelf.to_owned()),
        }
    }
}

impl Representable for OpMethod {
    fn repr_str(zelf: &Py<Self>, _vm: &VirtualMachine) -> PyResult<String> {
        Ok(format!("<method '{}' of 'torch._C.TensorBase' objects>", zelf.overloads.name))
    }
}

fn documentation(overloads: &OverloadSet) -> String {
    overloads.entries.iter().map(|entry| entry.schema.text).collect::<Vec<_>>().join("\n")
}

impl TorchState {
    /// Calls the op behind `function`, an [`OpFunction`] or [`OpMethod`], by Python arguments.
    fn call(
        self: &Rc<Self>,
        function: &PyObject,
        overloads: &OverloadSet,
        form: CallForm,
        args: &FuncArgs,
        vm: &VirtualMachine,
    ) -> PyResult {
        if asked(self, args.args.iter().chain(args.kwargs.values()), vm)
            && let Some(answer) = overridden(function, args, vm)?
        {
            return Ok(answer);
        }
        let mut own = |variable: &Py<Variable>| variable.to_owned();
        let mut positional = Vec::with_capacity(args.args.len());
        for object in &args.args {
            positional.push(operand(object, &mut own, vm)?);
        }
        if overloads.numeric
            && form == CallForm::Function
            && let [left, rest @ ..] = positional.as_mut_slice()
        {
            *left = create::scalar_operand(self, left, rest.first().unwrap_or(&Operand::None), vm)?;
        }
        let mut named = Vec::with_capacity(args.kwargs.len());
        let mut requires_grad = false;
        for (name, object) in args.kwargs.iter() {
            match keyword(name) {
                "requires_grad" if overloads.factory => requires_grad = object.clone().try_to_bool(vm)?,
                name => named.push((name, operand(object, &mut own, vm)?)),
            }
        }
        let bound = match bind(overloads.name, form, overloads.entries.iter().copied(), &positional, &named) {
            Ok(bound) => bound,
            Err(error) => match bind_reading(overloads.entries.iter().copied(), &positional, &named, &number) {
                Some(bound) => bound,
                None => return overridden(function, args, vm)?.ok_or_else(|| raise(error, vm)),
            },
        };
        let result = self.run_bound(bound, vm)?;
        if requires_grad && let Some(variable) = result.downcast_ref::<Variable>() {
            create::require_grad(variable, vm)?;
        }
        Ok(result)
    }

    /// Calls the op `name` by operands: what operators, indexing and attributes are made of.
    pub(super) fn call_named(
        self: &Rc<Self>,
        name: &'static str,
        positional: &[Operand<PyRef<Variable>>],
        named: &[(&str, Operand<PyRef<Variable>>)],
        vm: &VirtualMachine,
    ) -> PyResult {
        let overloads = self.internal(name).ok_or_else(|| vm.new_not_implemented_error(format!("the op '{name}' is not available")))?;
        let bound = bind(name, CallForm::Method, overloads.entries.iter().copied(), positional, named).map_err(|error| raise(error, vm))?;
        self.run_bound(bound, vm)
    }

    fn run_bound(self: &Rc<Self>, bound: Bound<PyRef<Variable>>, vm: &VirtualMachine) -> PyResult {
        let Some(entry) = registry().entry(bound.op) else {
            return Err(vm.new_not_implemented_error(format!("the op '{}' is not registered", bound.op.name())));
        };
        let recording = self.grad_enabled();
        let writes = entry.schema.written().next().is_some();
        let before = self.with_context(|context| context.last_sequence());
        let results = guarded(vm, bound.op.name(), || {
            self.with_context(|context| execute(context, recording, bound.op, &bound.args)).map_err(|error| raise(error, vm))
        })?;
        if recording && self.watches_nodes() {
            let vars: Vec<Var> = results.iter().map(Computed::as_var).collect();
            super::anomaly::look_at(self, &vars, before, vm)?;
        }
        if recording && writes {
            Variable::note_write();
        }
        if let Some(out) = &bound.out {
            return self.write_out(entry, &bound.args, out, results.into_iter().map(Computed::var).collect(), vm);
        }
        let mut objects = Vec::with_capacity(results.len());
        for (index, result) in results.into_iter().enumerate() {
            objects.push(self.result(entry, index, result, &bound.args, vm));
        }
        self.pack(entry, objects, vm)
    }

    /// The object for one result: the argument itself where the op wrote into it or handed it through.
    fn result(
        self: &Rc<Self>,
        entry: &Entry,
        index: usize,
        result: Computed,
        args: &[Arg<PyRef<Variable>>],
        vm: &VirtualMachine,
    ) -> PyObjectRef {
        let alias = entry.schema.returns.get(index).or(entry.schema.returns.first()).and_then(|result| result.alias);
        if let Some(alias) = alias.filter(|alias| alias.write) {
            let position = entry.schema.params.iter().position(|param| param.alias == Some(alias));
            if let Some(Arg::Tensor(target)) = position.and_then(|position| args.get(position)) {
                return target.clone().into();
            }
        }
        let var = match result {
            Computed::Argument(variable) => return variable.into(),
            Computed::New(var) => var,
        };
        if self.inference_mode() {
            var.meta.mark_inference();
        }
        let object = self.wrap_var(var, vm);
        let viewed = alias.and_then(|alias| entry.schema.params.iter().position(|param| param.alias == Some(alias)));
        if let Some(Arg::Tensor(source)) = viewed.and_then(|position| args.get(position)) {
            object.know_base(source);
        }
        object.into()
    }

    fn pack(&self, entry: &Entry, mut objects: Vec<PyObjectRef>, vm: &VirtualMachine) -> PyResult {
        let returns = &entry.schema.returns;
        match returns.as_slice() {
            [] => Ok(vm.ctx.none()),
            [one] if !one.list => objects.pop().ok_or_else(|| vm.new_runtime_error("the op gave no result")),
            [_] => Ok(vm.ctx.new_tuple(objects).into()),
            several => match several.iter().map(|result| result.name).collect::<Option<Vec<_>>>() {
                Some(fields) => self.result_object(entry.schema.base, &fields, objects, vm),
                None => Ok(vm.ctx.new_tuple(objects).into()),
            },
        }
    }

    /// Puts results into the tensors given as `out=`.
    fn write_out(
        self: &Rc<Self>,
        entry: &Entry,
        args: &[Arg<PyRef<Variable>>],
        out: &Operand<PyRef<Variable>>,
        results: Vec<Var>,
        vm: &VirtualMachine,
    ) -> PyResult {
        let name = entry.schema.base;
        if results.iter().any(Var::requires_grad) {
            return Err(
                vm.new_runtime_error("out=... arguments don't support automatic differentiation, but one of the arguments requires grad.")
            );
        }
        let targets: Vec<PyRef<Variable>> = match out {
            Operand::Tensor(target) => vec![target.clone()],
            Operand::List(items, _) => items
                .iter()
                .filter_map(|item| match item {
                    Operand::Tensor(target) => Some(target.clone()),
                    _ => None,
                })
                .collect(),
            other => {
                return Err(vm.new_type_error(format!("{name}(): argument 'out' must be Tensor, not {}", other.type_name())));
            }
        };
        if targets.len() != results.len() {
            return Err(vm.new_type_error(format!("'out' must hold {} tensors, not {}", results.len(), targets.len())));
        }
        let meaning = entry.op.0.meaning;
        let mut read = vec![];
        args.iter().for_each(|arg| arg.for_each(|variable| read.push(variable.data())));
        for (target, result) in targets.iter().zip(results) {
            let (own, sharing) = (target.data(), write::Sharing::of(meaning));
            read.iter().try_for_each(|tensor| write::check_sharing(sharing, &own, tensor)).map_err(|error| raise(error, vm))?;
            if own.dtype() != result.data.dtype() && keeps_dtype(entry, result.data.dtype()) {
                return Err(vm.new_runtime_error(format!(
                    "Expected out tensor to have dtype {}, but got {} instead",
                    scalar_type_name(result.data.dtype()),
                    scalar_type_name(own.dtype())
                )));
            }
            self.write_one(target, result.data, vm)?;
        }
        let mut objects: Vec<PyObjectRef> = targets.into_iter().map(Into::into).collect();
        match (out, objects.len()) {
            (Operand::Tensor(_), 1) => objects.pop().ok_or_else(|| vm.new_runtime_error("the op gave no result")),
            _ => Ok(vm.ctx.new_tuple(objects).into()),
        }
    }

    fn write_one(self: &Rc<Self>, target: &PyRef<Variable>, data: Tensor, vm: &VirtualMachine) -> PyResult<()> {
        let (old, new) = (target.data(), &data);
        if !taipan_ir::emit::can_cast(new.dtype(), old.dtype()) {
            return Err(vm.new_runtime_error(format!(
                "result type {} can't be cast to the desired output type {}",
                new.dtype().scalar_name(),
                old.dtype().scalar_name()
            )));
        }
        if old.sizes() == new.sizes() {
            let value = self.wrap(data, vm);
            self.call_named("copy_", &[Operand::Tensor(target.clone()), Operand::Tensor(value)], &[], vm)?;
        } else {
            target.set_data(data);
        }
        Ok(())
    }
}

/// The element of a tensor that may stand for a number: one of no dims, for which no gradient is wanted.
fn number<T>(variable: &PyRef<Variable>) -> Option<Operand<T>> {
    let data = variable.data();
    if !data.sizes().is_empty() || variable.requires_grad() {
        return None;
    }
    Some(match data.item().ok()? {
        Number::Bool(value) => Operand::Bool(value),
        Number::Int(value) => Operand::Int(Dim::Is(value)),
        Number::Float(value) => Operand::Float(value),
        Number::Complex(..) => return None,
    })
}

/// Whether `out=` must have the dtype of the result, rather than any that the result can be cast to.
fn keeps_dtype(entry: &Entry, result: DType) -> bool {
    match entry.op.0.meaning {
        Meaning::Kernel { family: Family::MatMul | Family::Sort | Family::Normalize | Family::Gather | Family::Scatter, .. } => true,
        // Places of extremes are integers, and what comes with them isn't cast either.
        Meaning::Kernel { family: Family::Reduce, .. } => {
            entry.schema.returns.len() > 1 || (result == DType::I64 && matches!(entry.op.0.gradient, Gradient::Constant))
        }
        _ => false,
    }
}
