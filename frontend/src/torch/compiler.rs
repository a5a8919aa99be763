//! `torch._C._compiler`: compiled functions, and what scripts ask of the compiler. The compiler itself is an engine's, behind
//! [`Compiler`].

use crate::{inspect::Object, thread, vm::guarded};
use rustpython_vm::{
    AsObject, FromArgs, Py, PyObject, PyObjectRef, PyPayload, PyRef, PyResult, Traverse, VirtualMachine,
    builtins::{PyBoundMethod, PyFunction, PyModule, PyStr},
    function::FuncArgs,
    pyclass,
    types::{Callable, GetDescriptor, Representable},
};
use std::{any::Any, cell::OnceCell, rc::Rc};

/// What `torch.compile` was told.
#[derive(Clone, Debug, Default)]
pub struct CompileOptions {
    /// A break is an error.
    pub fullgraph: bool,
    /// Whether sizes are symbolic, where the script said.
    pub dynamic: Option<bool>,
    /// The backend: `None` is the engine's default, a `str` its name, anything else a callable.
    pub backend: Option<Object>,
    /// Run plainly.
    pub disable: bool,
}

/// The compiler of an engine.
pub trait Compiler {
    /// Calls a compiled function.
    fn call(&self, compiled: &Py<CompiledFunction>, args: FuncArgs, vm: &VirtualMachine) -> PyResult;
    /// Calls a function of a script without compiling it or what it calls.
    fn call_plainly(&self, function: &Object, args: FuncArgs, vm: &VirtualMachine) -> PyResult;
    /// Forgets every version.
    fn reset(&self);
    /// What `torch._dynamo.explain(f)(*args)` reports, as a dict of counts and lists.
    fn explain(&self, function: Object, args: FuncArgs, vm: &VirtualMachine) -> PyResult;
    /// A setting by its name.
    fn setting(&self, name: &str, vm: &VirtualMachine) -> PyResult;
    /// Sets a setting.
    fn set_setting(&self, name: &str, value: Object, vm: &VirtualMachine) -> PyResult<()>;
    /// Names of the backends.
    fn backends(&self) -> Vec<String>;
}

/// Makes `compiler` the one of this thread.
pub fn install_compiler(compiler: Rc<dyn Compiler>) {
    let replaced = thread::with(|t| t.compiler.replace(Some(compiler)));
    drop(replaced);
}

fn compiler(vm: &VirtualMachine) -> PyResult<Rc<dyn Compiler>> {
    thread::with(|t| t.compiler.borrow().clone()).ok_or_else(|| vm.new_runtime_error("no compiler is installed in this engine"))
}

/// A function that is compiled when it is called. Its versions are its own and die with it.
#[pyclass(module = "torch", name = "CompiledFunction", traverse)]
#[derive(PyPayload)]
pub struct CompiledFunction {
    target: PyObjectRef,
    #[pytraverse(skip)]
    options: CompileOptions,
    #[pytraverse(skip)]
    cache: OnceCell<Rc<dyn Any>>,
}

impl std::fmt::Debug for CompiledFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CompiledFunction")
    }
}

/// A compiled function object.
pub type CompiledObject = Py<CompiledFunction>;

impl CompiledFunction {
    /// A compiled function made by the engine.
    pub fn make(target: Object, backend: Option<Object>, vm: &VirtualMachine) -> Object {
        let options = CompileOptions { backend, ..CompileOptions::default() };
        Self { target, options, cache: OnceCell::new() }.into_ref(&vm.ctx).into()
    }

    /// The compiled function an object is.
    pub fn of(object: &Object) -> Option<&CompiledObject> {
        object.downcast_ref::<Self>()
    }

    /// The function it compiles.
    pub fn target(&self) -> &Object {
        &self.target
    }

    /// What `torch.compile` was told.
    pub fn options(&self) -> &CompileOptions {
        &self.options
    }

    /// The compiler's own data for it, made on first use.
    pub fn cache<T: Any>(&self, make: impl FnOnce() -> T) -> Option<Rc<T>> {
        let cache = self.cache.get_or_init(|| Rc::new(make())).clone();
        cache.downcast::<T>().ok()
    }
}

#[pyclass(with(Callable, GetDescriptor, Representable), flags(DISALLOW_INSTANTIATION, HAS_DICT, HAS_WEAKREF, METHOD_DESCRIPTOR))]
impl CompiledFunction {
    #[pygetset]
    fn __wrapped__(zelf: &Py<Self>) -> PyObjectRef {
        zelf.target.clone()
    }

    #[pygetset]
    fn __name__(zelf: &Py<Self>, vm: &VirtualMachine) -> PyResult {
        zelf.target.get_attr("__name__", vm)
    }

    #[pygetset]
    fn __qualname__(zelf: &Py<Self>, vm: &VirtualMachine) -> PyResult {
        zelf.target.get_attr("__qualname__", vm)
    }

    #[pygetset]
    fn __module__(zelf: &Py<Self>, vm: &VirtualMachine) -> PyResult {
        zelf.target.get_attr("__module__", vm)
    }

    #[pygetset]
    fn __doc__(zelf: &Py<Self>, vm: &VirtualMachine) -> PyResult {
        zelf.target.get_attr("__doc__", vm)
    }

    #[pygetset]
    fn __code__(zelf: &Py<Self>, vm: &VirtualMachine) -> PyResult {
        zelf.target.get_attr("__code__", vm)
    }

    #[pygetset]
    fn _torchdynamo_orig_callable(zelf: &Py<Self>) -> PyObjectRef {
        zelf.target.clone()
    }
}

impl Callable for CompiledFunction {
    type Args = FuncArgs;

    fn call(zelf: &Py<Self>, args: FuncArgs, vm: &VirtualMachine) -> PyResult {
        if zelf.options.disable {
            return zelf.target.call(args, vm);
        }
        match compiler(vm) {
            Ok(compiler) => guarded(vm, "a compiled function", || compiler.call(zelf, args, vm)),
            Err(_) => zelf.target.call(args, vm),
        }
    }
}

impl GetDescriptor for CompiledFunction {
    fn descr_get(zelf: &PyObject, object: Option<&PyObject>, _class: Option<&PyObject>, vm: &VirtualMachine) -> PyResult {
        match object {
            Some(object) if !vm.is_none(object) => Ok(PyBoundMethod::new(object.to_owned(), zelf.to_owned()).into_ref(&vm.ctx).into()),
            _ => Ok(zelf.to_owned()),
        }
    }
}

impl Representable for CompiledFunction {
    fn repr_str(zelf: &Py<Self>, vm: &VirtualMachine) -> PyResult<String> {
        Ok(format!("<compiled {}>", zelf.target.repr(vm)?))
    }
}

/// A function that runs plainly, with everything it calls, also inside a compiled region.
#[pyclass(module = "torch", name = "PlainFunction", traverse)]
#[derive(Debug, PyPayload)]
pub struct PlainFunction {
    target: PyObjectRef,
}

#[pyclass(with(Callable, GetDescriptor), flags(DISALLOW_INSTANTIATION, HAS_DICT, HAS_WEAKREF, METHOD_DESCRIPTOR))]
impl PlainFunction {
    #[pygetset]
    fn __wrapped__(zelf: &Py<Self>) -> PyObjectRef {
        zelf.target.clone()
    }

    #[pygetset]
    fn __name__(zelf: &Py<Self>, vm: &VirtualMachine) -> PyResult {
        zelf.target.get_attr("__name__", vm)
    }

    #[pygetset]
    fn __doc__(zelf: &Py<Self>, vm: &VirtualMachine) -> PyResult {
        zelf.target.get_attr("__doc__", vm)
    }
}

impl Callable for PlainFunction {
    type Args = FuncArgs;

    fn call(zelf: &Py<Self>, args: FuncArgs, vm: &VirtualMachine) -> PyResult {
        match compiler(vm) {
            Ok(compiler) => compiler.call_plainly(&zelf.target, args, vm),
            Err(_) => zelf.target.call(args, vm),
        }
    }
}

impl GetDescriptor for PlainFunction {
    fn descr_get(zelf: &PyObject, object: Option<&PyObject>, _class: Option<&PyObject>, vm: &VirtualMachine) -> PyResult {
        match object {
            Some(object) if !vm.is_none(object) => Ok(PyBoundMethod::new(object.to_owned(), zelf.to_owned()).into_ref(&vm.ctx).into()),
            _ => Ok(zelf.to_owned()),
        }
    }
}

#[derive(FromArgs)]
struct CompileArgs {
    #[pyarg(positional)]
    target: PyObjectRef,
    #[pyarg(named, default = false)]
    fullgraph: bool,
    #[pyarg(named, default)]
    dynamic: Option<bool>,
    #[pyarg(named, default)]
    backend: Option<PyObjectRef>,
    #[pyarg(named, default = false)]
    disable: bool,
    #[pyarg(named, default)]
    mode: Option<PyObjectRef>,
    #[pyarg(named, default)]
    options: Option<PyObjectRef>,
}

/// Fills the module `torch._C._compiler`.
pub(super) fn install(module: &Py<PyModule>, vm: &VirtualMachine) -> PyResult<()> {
    let put = |name: &'static str, object: PyObjectRef| module.set_attr(vm.ctx.intern_str(name), object, vm);
    put("CompiledFunction", CompiledFunction::make_class_object(vm))?;
    put("compile", vm.new_function("compile", compile).into())?;
    put(
        "reset",
        vm.new_function("reset", |vm: &VirtualMachine| {
            if let Ok(compiler) = compiler(vm) {
                compiler.reset()
            }
        })
        .into(),
    )?;
    put("is_compiling", vm.new_function("is_compiling", || false).into())?;
    put("graph_break", vm.new_function("graph_break", |_args: FuncArgs| {}).into())?;
    put("reveal", vm.new_function("reveal", |value: PyObjectRef| value).into())?;
    put("disable", vm.new_function("disable", disable).into())?;
    put("explain", vm.new_function("explain", explain).into())?;
    let get = |name: PyRef<PyStr>, vm: &VirtualMachine| -> PyResult { compiler(vm)?.setting(name.as_ref(), vm) };
    put("settings_get", vm.new_function("settings_get", get).into())?;
    let set = |name: PyRef<PyStr>, value: PyObjectRef, vm: &VirtualMachine| -> PyResult<()> {
        compiler(vm)?.set_setting(name.as_ref(), value, vm)
    };
    put("settings_set", vm.new_function("settings_set", set).into())?;
    let list = |vm: &VirtualMachine| -> PyResult {
        let names = compiler(vm)?.backends().into_iter().map(|n| vm.ctx.new_str(n).into()).collect();
        Ok(vm.ctx.new_list(names).into())
    };
    put("list_backends", vm.new_function("list_backends", list).into())
}

impl CompiledFunction {
    fn make_class_object(vm: &VirtualMachine) -> PyObjectRef {
        use rustpython_vm::class::PyClassImpl;
        let _ = (PlainFunction::make_static_type(), vm);
        Self::make_static_type().into()
    }
}

fn compile(args: CompileArgs, vm: &VirtualMachine) -> PyResult {
    let _ = (args.mode, args.options);
    let is_function = args.target.downcast_ref::<PyFunction>().is_some() || args.target.downcast_ref::<PyBoundMethod>().is_some();
    if !is_function {
        return Err(vm.new_type_error(format!("a function is compiled, not a {}", args.target.class().name())));
    }
    let options = CompileOptions { fullgraph: args.fullgraph, dynamic: args.dynamic, backend: args.backend, disable: args.disable };
    Ok(CompiledFunction { target: args.target, options, cache: OnceCell::new() }.into_ref(&vm.ctx).into())
}

/// `disable(fn=None, recursive=True, *, reason=None)`, as decorator with and without arguments.
fn disable(args: FuncArgs, vm: &VirtualMachine) -> PyResult {
    match args.args.first() {
        Some(function) if !vm.is_none(function) => Ok(PlainFunction { target: function.clone() }.into_ref(&vm.ctx).into()),
        _ => {
            let decorate =
                |function: PyObjectRef, vm: &VirtualMachine| -> PyObjectRef { PlainFunction { target: function }.into_ref(&vm.ctx).into() };
            Ok(vm.new_function("disable", decorate).into())
        }
    }
}

fn explain(function: PyObjectRef, vm: &VirtualMachine) -> PyResult {
    let call = move |args: FuncArgs, vm: &VirtualMachine| compiler(vm)?.explain(function.clone(), args, vm);
    Ok(vm.new_function("explain", call).into())
}
