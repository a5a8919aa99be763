//! Running scripts: as `__main__` like Python does, or as a named module that the program keeps.

use super::{host::Host, host_access};
use crate::code::keep_in_place;
use rustpython_vm::{
    AsObject, Py, PyObject, PyObjectRef, PyRef, PyResult, VirtualMachine,
    builtins::{PyBaseException, PyInt, PyModule, PyTraceback},
    compiler::Mode,
    scope::Scope,
};
use std::{
    fmt,
    path::{Path, PathBuf},
};

/// A Python text that runs as a module.
#[derive(Clone, Debug)]
pub struct Script {
    /// Name of the module it becomes: `__main__`, or one by which other scripts can import it.
    pub module: String,
    /// File name that tracebacks and `__file__` show.
    pub path: String,
    /// The text.
    pub text: String,
}

/// An exception that left a script.
#[derive(Clone, Debug)]
pub struct ScriptError {
    /// Name of the exception's class, with its module where that isn't `builtins`.
    pub kind: String,
    /// `str` of the exception.
    pub message: String,
    /// Where it was raised: file name and line (from 1) of the innermost frame, or of the syntax error.
    pub place: Option<(String, u32)>,
    /// What Python prints, traceback and all, ending with a line break.
    pub traceback: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.traceback.trim_end())
    }
}

impl std::error::Error for ScriptError {}

impl Script {
    /// A text that runs as `__main__` under the file name `path`.
    pub fn main(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self { module: "__main__".to_owned(), path: path.into(), text: text.into() }
    }

    /// The script in a file, to run as `__main__`. The program itself reads it, so the policy isn't asked.
    ///
    /// # Errors
    /// As Python words it, when the file can't be read.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, ScriptFileError> {
        let path = path.into();
        let text = host_access::read_text(&path).map_err(|source| ScriptFileError { path: path.clone(), source })?;
        Ok(Self::main(path.to_string_lossy(), text))
    }

    /// The folder of the script's file, in which its neighbours lie; `.` when the name has none.
    pub fn folder(&self) -> PathBuf {
        match Path::new(&self.path).parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        }
    }
}

/// A script file that can't be read.
#[derive(Debug, thiserror::Error)]
#[error("can't open file '{}': {source}", path.display())]
pub struct ScriptFileError {
    /// The file.
    pub path: PathBuf,
    /// What the system said.
    pub source: std::io::Error,
}

impl Host {
    /// Runs a script to its end and returns its exit code: 0, or what `SystemExit` carried.
    ///
    /// # Errors
    /// The exception that left it.
    pub fn run(&self, script: &Script) -> Result<i32, ScriptError> {
        self.enter(|vm| {
            let ended = load(vm, script);
            let code = match ended {
                Ok(_) => Ok(0),
                Err(exception) if exception.fast_isinstance(vm.ctx.exceptions.system_exit) => Ok(exit_code(vm, &exception)),
                Err(exception) => Err(describe(vm, &exception)),
            };
            flush(vm);
            code
        })
    }
}

/// Runs a script's text as the module it names and returns the module.
///
/// # Errors
/// The exception that left it, a `SyntaxError` included; the module then isn't in `sys.modules`.
pub fn load(vm: &VirtualMachine, script: &Script) -> PyResult<PyRef<PyModule>> {
    let modules = vm.sys_module.get_attr("modules", vm)?;
    let names = vm.ctx.new_dict();
    let module = vm.new_module(&script.module, names.clone(), None);
    let file: PyObjectRef = vm.ctx.new_str(script.path.as_str()).into();
    names.set_item("__file__", file.clone(), vm)?;
    names.set_item("__cached__", vm.ctx.none(), vm)?;
    // Tracebacks and `inspect` ask this for the text: the file may be unreadable, or not a file at all.
    names.set_item("__loader__", text_loader(vm, script)?, vm)?;
    let code = vm.compile(&script.text, Mode::Exec, script.path.clone()).map_err(|error| error.into_pyexception(vm, Some(&script.text)))?;
    keep_in_place(&code);
    modules.set_item(script.module.as_str(), module.clone().into(), vm)?;
    let scope = Scope::with_builtins(None, names, vm);
    if let Err(exception) = vm.run_code_obj(code, scope) {
        // What went wrong may still be looked at in `__main__`; a half-made module must not be imported.
        if script.module != "__main__" {
            modules.del_item(script.module.as_str(), vm)?;
        }
        return Err(exception);
    }
    Ok(module)
}

/// An exception as data. Never fails: where the exception's own code does, what is known is shown.
pub fn describe(vm: &VirtualMachine, exception: &Py<PyBaseException>) -> ScriptError {
    let class = exception.class();
    let kind = match text_attribute(vm, class.as_object(), "__module__") {
        Some(module) if module != "builtins" => format!("{module}.{}", class.name()),
        _ => class.name().to_string(),
    };
    let message = exception.as_object().str(vm).map_or_else(|_| "<exception str() failed>".to_owned(), |text| text.to_string());
    ScriptError { kind, message, place: place(vm, exception), traceback: traceback(vm, exception) }
}

/// Writes out what the script has printed so far.
pub fn flush(vm: &VirtualMachine) {
    for name in ["stdout", "stderr"] {
        if let Ok(stream) = vm.sys_module.get_attr(name, vm) {
            // A stream that the script closed or replaced can't be flushed, and needn't be.
            let _ = vm.call_method(&stream, "flush", ());
        }
    }
}

fn text_loader(vm: &VirtualMachine, script: &Script) -> PyResult {
    let importer = vm.import("_taipan_import", 0)?;
    let loader = importer.get_attr("TextLoader", vm)?;
    loader.call((script.module.as_str(), script.path.as_str(), script.text.as_str()), vm)
}

fn exit_code(vm: &VirtualMachine, exit: &Py<PyBaseException>) -> i32 {
    let code = exit.as_object().get_attr("code", vm).unwrap_or_else(|_| vm.ctx.none());
    if vm.is_none(&code) {
        return 0;
    }
    if let Some(number) = code.downcast_ref::<PyInt>() {
        return number.try_to_primitive::<i32>(vm).unwrap_or(-1);
    }
    if let (Ok(text), Ok(stderr)) = (code.str(vm), vm.sys_module.get_attr("stderr", vm)) {
        // As in Python, a closed stream swallows the message.
        let _ = vm.call_method(&stderr, "write", (format!("{text}\n"),));
    }
    1
}

/// What the module `traceback` prints; when that fails, the VM's plainer form.
fn traceback(vm: &VirtualMachine, exception: &Py<PyBaseException>) -> String {
    let formatted = (|| -> PyResult<String> {
        let module = vm.import("traceback", 0)?;
        let lines = vm.call_method(&module, "format_exception", (exception.to_owned(),))?;
        let empty: PyObjectRef = vm.ctx.new_str("").into();
        let text = vm.call_method(&empty, "join", (lines,))?;
        Ok(text.str(vm)?.to_string())
    })();
    formatted.unwrap_or_else(|_| {
        let mut text = String::new();
        // Writing to a `String` can't fail.
        let _ = vm.write_exception(&mut text, exception);
        text
    })
}

fn place(vm: &VirtualMachine, exception: &Py<PyBaseException>) -> Option<(String, u32)> {
    if exception.fast_isinstance(vm.ctx.exceptions.syntax_error) {
        let file = text_attribute(vm, exception.as_object(), "filename")?;
        let line = exception.as_object().get_attr("lineno", vm).ok()?;
        return Some((file, line.try_to_value(vm).ok()?));
    }
    // Our own Python is no place a user could mend, unless nothing else ran.
    let of = |entry: &Py<PyTraceback>| entry.frame.iframe().code().source_path().to_string();
    let traceback = exception.traceback()?;
    let innermost = traceback
        .iter()
        .filter(|entry| !of(entry).starts_with("/taipan/") && !of(entry).starts_with("<frozen"))
        .last()
        .or_else(|| traceback.iter().last())?;
    Some((of(&innermost), u32::try_from(innermost.lineno.get()).ok()?))
}

fn text_attribute(vm: &VirtualMachine, object: &PyObject, name: &'static str) -> Option<String> {
    let value = object.get_attr(name, vm).ok()?;
    Some(value.str(vm).ok()?.to_string())
}
