//! What a Rust program does with a VM's objects: exchange values, call, read attributes. Every exception is a [`ScriptError`].

use crate::{
    torch::{self, Variable},
    vm::{Host, Script, ScriptError, describe, flush, in_turn, load},
};
use rustpython_vm::{
    AsObject, PyObject, PyObjectRef, PyRef, PyResult, VirtualMachine,
    builtins::{PyBaseExceptionRef, PyDict, PyFloat, PyFunction, PyInt, PyList, PyStr, PyTuple},
    function::{FuncArgs, KwArgs},
    vm::thread::try_with_current_vm,
};
use std::path::Path;
use taipan_tensor::Tensor;

/// A counted reference to a Python object; stays on its VM's thread.
pub type Object = PyObjectRef;

/// A Python value as Rust data; `O` is how other objects are referred to.
#[derive(Clone, Debug)]
pub enum Exchange<O> {
    /// `None`.
    None,
    /// A `bool`.
    Bool(bool),
    /// An `int` of 64 bits.
    Int(i64),
    /// A `float`.
    Float(f64),
    /// A `str`.
    Str(String),
    /// A `torch.Tensor`, whose storage both sides then share.
    Tensor(Tensor),
    /// A `list`.
    List(Vec<Exchange<O>>),
    /// A `tuple`.
    Tuple(Vec<Exchange<O>>),
    /// A `dict`, in its order.
    Dict(Vec<(Exchange<O>, Exchange<O>)>),
    /// Any other object.
    Object(O),
}

impl<O> Exchange<O> {
    /// The same value with other references to objects.
    ///
    /// # Errors
    /// The first error of `convert`.
    pub fn try_map<P, E>(self, convert: &mut dyn FnMut(O) -> Result<P, E>) -> Result<Exchange<P>, E> {
        let mut all = |items: Vec<Exchange<O>>| items.into_iter().map(|item| item.try_map(convert)).collect::<Result<Vec<_>, E>>();
        Ok(match self {
            Exchange::None => Exchange::None,
            Exchange::Bool(value) => Exchange::Bool(value),
            Exchange::Int(value) => Exchange::Int(value),
            Exchange::Float(value) => Exchange::Float(value),
            Exchange::Str(value) => Exchange::Str(value),
            Exchange::Tensor(value) => Exchange::Tensor(value),
            Exchange::List(items) => Exchange::List(all(items)?),
            Exchange::Tuple(items) => Exchange::Tuple(all(items)?),
            Exchange::Dict(pairs) => {
                let pair = |(key, value): (Exchange<O>, Exchange<O>)| Ok((key.try_map(convert)?, value.try_map(convert)?));
                Exchange::Dict(pairs.into_iter().map(pair).collect::<Result<_, E>>()?)
            }
            Exchange::Object(object) => Exchange::Object(convert(object)?),
        })
    }
}

macro_rules! data {
    ($($variant:ident($type:ty): $from:ty as $convert:expr;)*) => {$(
        impl<O> From<$from> for Exchange<O> {
            fn from(value: $from) -> Self {
                let convert: fn($from) -> $type = $convert;
                Exchange::$variant(convert(value))
            }
        }
    )*};
}

data! {
    Bool(bool): bool as |value| value;
    Int(i64): i64 as |value| value;
    Int(i64): i32 as i64::from;
    Float(f64): f64 as |value| value;
    Float(f64): f32 as f64::from;
    Str(String): String as |value| value;
    Str(String): &str as str::to_owned;
    Tensor(Tensor): Tensor as |value| value;
    Tensor(Tensor): &Tensor as Tensor::clone;
}

impl<O> From<()> for Exchange<O> {
    fn from((): ()) -> Self {
        Exchange::None
    }
}

impl<O, T: Into<Exchange<O>>> From<Vec<T>> for Exchange<O> {
    fn from(items: Vec<T>) -> Self {
        Exchange::List(items.into_iter().map(Into::into).collect())
    }
}

impl<O, T: Into<Exchange<O>>> From<Option<T>> for Exchange<O> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Exchange::None, Into::into)
    }
}

/// Arguments of a call: by position, then by name.
#[derive(Clone, Debug)]
pub struct Arguments<O> {
    /// By position.
    pub positional: Vec<Exchange<O>>,
    /// By name.
    pub named: Vec<(String, Exchange<O>)>,
}

impl<O> Arguments<O> {
    /// The same arguments with other references to objects.
    ///
    /// # Errors
    /// The first error of `convert`.
    pub fn try_map<P, E>(self, convert: &mut dyn FnMut(O) -> Result<P, E>) -> Result<Arguments<P>, E> {
        let positional = self.positional.into_iter().map(|value| value.try_map(convert)).collect::<Result<_, E>>()?;
        let named = self.named.into_iter().map(|(name, value)| Ok((name, value.try_map(convert)?)));
        Ok(Arguments { positional, named: named.collect::<Result<_, E>>()? })
    }
}

impl Host {
    /// Runs a script's text as the module it names; returns the module.
    ///
    /// # Errors
    /// The exception that left it.
    pub fn load(&self, script: &Script) -> Result<Object, ScriptError> {
        self.attempt(|vm| load(vm, script).map(Into::into))
    }

    /// Calls an object.
    ///
    /// # Errors
    /// The exception that left it; for arguments that don't fit, with the line of the `def`.
    pub fn call(&self, callee: &Object, arguments: Arguments<Object>) -> Result<Object, ScriptError> {
        let called = self.attempt(|vm| {
            let positional = arguments.positional.into_iter().map(|value| object_of(value, vm)).collect::<PyResult<Vec<_>>>()?;
            let named = arguments.named.into_iter().map(|(name, value)| Ok((name, object_of(value, vm)?)));
            let named: KwArgs = named.collect::<PyResult<Vec<_>>>()?.into_iter().collect();
            callee.call(FuncArgs::new(positional, named), vm)
        });
        called.map_err(|mut error| {
            if error.place.is_none() {
                error.place = self.enter(|vm| definition(callee, vm));
            }
            error
        })
    }

    /// Reads an attribute.
    ///
    /// # Errors
    /// The exception, an `AttributeError` for one that isn't there.
    pub fn attribute(&self, object: &Object, name: &str) -> Result<Object, ScriptError> {
        self.attempt(|vm| object.get_attr(vm.ctx.intern_str(name), vm))
    }

    /// Imports a module by its dotted name.
    ///
    /// # Errors
    /// The exception, an `ImportError` for one that can't be found.
    pub fn import(&self, name: &str) -> Result<Object, ScriptError> {
        self.attempt(|vm| {
            vm.import(vm.ctx.intern_str(name), 0)?;
            vm.sys_module.get_attr("modules", vm)?.get_item(name, vm)
        })
    }

    /// The value of an object: data for `None`, numbers, text, tensors and the built-in containers, otherwise the object.
    ///
    /// # Errors
    /// A `ValueError` for containers nested too deeply, as those that contain themselves are.
    pub fn value_of(&self, object: &Object) -> Result<Exchange<Object>, ScriptError> {
        self.attempt(|vm| value_of(object, MAX_DEPTH, vm))
    }

    /// `repr` of an object.
    ///
    /// # Errors
    /// The exception that left it.
    pub fn repr(&self, object: &Object) -> Result<String, ScriptError> {
        self.attempt(|vm| Ok(object.repr(vm)?.to_string()))
    }

    /// Sets `sys.argv`.
    ///
    /// # Errors
    /// None that a script can cause.
    pub fn set_arguments(&self, arguments: &[String]) -> Result<(), ScriptError> {
        self.attempt(|vm| {
            let items = arguments.iter().map(|argument| vm.ctx.new_str(argument.as_str()).into()).collect();
            vm.sys_module.set_attr("argv", vm.ctx.new_list(items), vm)
        })
    }

    /// Allows imports from `folder` and searches it before all others.
    ///
    /// # Errors
    /// The script has replaced `sys.path` by something that is no list.
    pub fn import_from(&self, folder: &Path) -> Result<(), ScriptError> {
        self.allow_import(folder);
        self.attempt(|vm| {
            let path = vm.sys_module.get_attr("path", vm)?;
            let folder = vm.ctx.new_str(folder.to_string_lossy());
            let known = vm.call_method(&path, "__contains__", (folder.clone(),))?.try_to_bool(vm)?;
            if known { Ok(()) } else { vm.call_method(&path, "insert", (0, folder)).map(drop) }
        })
    }

    /// Sets how many threads ops use, this one included.
    ///
    /// # Errors
    /// `torch` can't be imported.
    pub fn set_threads(&self, threads: usize) -> Result<(), ScriptError> {
        self.attempt(|vm| {
            torch::state(vm)?.with_context(|context| context.set_threads(threads));
            Ok(())
        })
    }

    /// Runs `body`; what it printed is written out before its exception is handed on.
    fn attempt<R>(&self, body: impl FnOnce(&VirtualMachine) -> PyResult<R>) -> Result<R, ScriptError> {
        self.enter(|vm| {
            let ended = body(vm).map_err(|exception: PyBaseExceptionRef| describe(vm, &exception));
            flush(vm);
            ended
        })
    }
}

/// How deep containers may be nested in an exchanged value.
const MAX_DEPTH: u32 = 64;

fn object_of(value: Exchange<Object>, vm: &VirtualMachine) -> PyResult {
    let all = |items: Vec<Exchange<Object>>| items.into_iter().map(|item| object_of(item, vm)).collect::<PyResult<Vec<_>>>();
    Ok(match value {
        Exchange::None => vm.ctx.none(),
        Exchange::Bool(value) => vm.ctx.new_bool(value).into(),
        Exchange::Int(value) => vm.ctx.new_int(value).into(),
        Exchange::Float(value) => vm.ctx.new_float(value).into(),
        Exchange::Str(value) => vm.ctx.new_str(value).into(),
        Exchange::Tensor(value) => torch::state(vm)?.wrap(value, vm).into(),
        Exchange::List(items) => vm.ctx.new_list(all(items)?).into(),
        Exchange::Tuple(items) => vm.ctx.new_tuple(all(items)?).into(),
        Exchange::Dict(pairs) => {
            let dict = vm.ctx.new_dict();
            for (key, value) in pairs {
                dict.set_item(&*object_of(key, vm)?, object_of(value, vm)?, vm)?;
            }
            dict.into()
        }
        Exchange::Object(object) => object,
    })
}

fn value_of(object: &Object, depth: u32, vm: &VirtualMachine) -> PyResult<Exchange<Object>> {
    let Some(deeper) = depth.checked_sub(1) else {
        return Err(vm.new_value_error("the value is nested too deeply to be exchanged"));
    };
    let all = |items: &[Object]| items.iter().map(|item| value_of(item, deeper, vm)).collect::<PyResult<Vec<_>>>();
    if vm.is_none(object) {
        return Ok(Exchange::None);
    }
    if let Some(value) = object.downcast_ref::<Variable>() {
        return Ok(Exchange::Tensor(value.data()));
    }
    if let Some(value) = object.downcast_ref::<PyInt>() {
        if object.class().is(vm.ctx.types.bool_type) {
            return Ok(Exchange::Bool(value.as_bigint() != &0.into()));
        }
        // An integer beyond 64 bits stays an object.
        return Ok(value.try_to_primitive(vm).map_or_else(|_| Exchange::Object(object.clone()), Exchange::Int));
    }
    if let Some(value) = object.downcast_ref::<PyFloat>() {
        return Ok(Exchange::Float(value.to_f64()));
    }
    if let Some(value) = object.downcast_ref::<PyStr>() {
        return Ok(Exchange::Str(value.to_string()));
    }
    if let Some(list) = object.downcast_ref_if_exact::<PyList>(vm) {
        // Cloned, so that the list isn't locked while its items are looked at.
        let items = list.borrow_vec().to_vec();
        return Ok(Exchange::List(all(&items)?));
    }
    if let Some(tuple) = object.downcast_ref::<PyTuple>() {
        return Ok(Exchange::Tuple(all(tuple.as_slice())?));
    }
    if let Some(dict) = object.downcast_ref::<PyDict>() {
        let pairs = dict.items_vec().into_iter();
        let pair = |(key, value): (Object, Object)| Ok((value_of(&key, deeper, vm)?, value_of(&value, deeper, vm)?));
        return Ok(Exchange::Dict(pairs.map(pair).collect::<PyResult<_>>()?));
    }
    Ok(Exchange::Object(object.clone()))
}

/// Where a function, a method, or the `forward` or `__init__` behind a callable is defined.
fn definition(callee: &PyObject, vm: &VirtualMachine) -> Option<(String, u32)> {
    let function: Option<PyRef<PyFunction>> = ["__func__", "forward", "__init__"].into_iter().find_map(|name| {
        let part = callee.get_attr(name, vm).ok()?;
        let part = part.get_attr("__func__", vm).unwrap_or(part);
        part.downcast().ok()
    });
    let function: Object = function.map_or_else(|| callee.to_owned(), Into::into);
    let code = function.get_attr("__code__", vm).ok()?;
    let file = code.get_attr("co_filename", vm).ok()?.str(vm).ok()?.to_string();
    let line = code.get_attr("co_firstlineno", vm).ok()?.try_to_value(vm).ok()?;
    Some((file, line))
}

/// The line that runs in the innermost frame whose code is of `file`, on the VM of this thread. For observers, who are told of
/// events while a script waits in a call.
pub fn running_line(file: &str) -> Option<u32> {
    in_turn(|| {
        try_with_current_vm(|vm| {
            let mut frame = vm.current_frame();
            while let Some(current) = frame {
                if current.iframe().code().source_path().as_str() == file {
                    return current.as_object().get_attr("f_lineno", vm).ok()?.try_to_value(vm).ok();
                }
                frame = current.as_object().get_attr("f_back", vm).ok()?.downcast().ok();
            }
            None
        })
    })
    .flatten()
}
