//! The object through which the engine's Python (`src/vm/python`) touches the machine.
//!
//! It is handed to that Python as `_taipan.host`; `open`, `os`, the importer and the standard streams are
//! built on it. Each method asks the policy first.

use super::{
    frozen,
    policy::{Policy, Refusal, Right},
    turn::pause,
};
use crate::code::keep_in_place;
use rustpython_vm::{
    AsObject, Py, PyObjectRef, PyPayload, PyRef, PyResult, VirtualMachine,
    builtins::{PyBaseExceptionRef, PyCode, PyStr},
    convert::ToPyObject,
    function::{ArgBytesLike, FsPath},
    pyclass,
};
use std::{
    cell::RefCell,
    fmt,
    fs::{self, File, Metadata, OpenOptions},
    io::{self, IsTerminal, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    rc::Rc,
    thread,
    time::SystemTime,
};

const EACCES: i32 = 13;
const EBADF: i32 = 9;
const EIO: i32 = 5;

/// Where the standard streams of a script go.
pub(super) struct Streams {
    pub(super) input: Box<dyn Read>,
    pub(super) output: Box<dyn Write>,
    pub(super) errors: Box<dyn Write>,
    /// Whether input, output and errors are a person's terminal.
    pub(super) terminals: [bool; 3],
}

impl Streams {
    /// The streams of the process.
    pub(super) fn of_process() -> Self {
        Self {
            terminals: [io::stdin().is_terminal(), io::stdout().is_terminal(), io::stderr().is_terminal()],
            input: Box::new(io::stdin()),
            output: Box::new(io::stdout()),
            errors: Box::new(io::stderr()),
        }
    }
}

/// `_taipan.host`.
#[pyclass(module = "_taipan", name = "Host")]
#[derive(PyPayload)]
pub(super) struct HostAccess {
    /// Shared with the host, which may allow more folders for imports.
    policy: Rc<RefCell<Policy>>,
    streams: RefCell<Streams>,
}

impl fmt::Debug for HostAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostAccess").field("policy", &self.policy).finish_non_exhaustive()
    }
}

impl HostAccess {
    pub(super) fn new(policy: Rc<RefCell<Policy>>, streams: Streams) -> Self {
        Self { policy, streams: RefCell::new(streams) }
    }

    fn check(&self, right: Right, path: &str, vm: &VirtualMachine) -> PyResult<PathBuf> {
        self.policy.borrow().check(right, Path::new(path)).map_err(|refusal| refused(refusal, path, vm))
    }
}

/// Kind of a directory entry, as the engine's `posix` names it.
fn entry_kind(kind: fs::FileType) -> &'static str {
    if kind.is_symlink() {
        "link"
    } else if kind.is_dir() {
        "dir"
    } else if kind.is_file() {
        "file"
    } else {
        "other"
    }
}

#[pyclass(flags(DISALLOW_INSTANTIATION))]
impl HostAccess {
    /// `path` as text: what `os.fspath` gives, decoded.
    #[pymethod]
    fn path(_zelf: &Py<Self>, path: PyObjectRef, vm: &VirtualMachine) -> PyResult<String> {
        let path = FsPath::try_from_path_like(path, true, vm)?;
        Ok(path.to_path_buf(vm)?.to_string_lossy().into_owned())
    }

    /// The folder that holds the file.
    #[pymethod]
    fn parent(_zelf: &Py<Self>, path: String) -> String {
        Path::new(&path).parent().map_or_else(String::new, |folder| folder.to_string_lossy().into_owned())
    }

    #[pymethod]
    #[expect(clippy::too_many_arguments, reason = "one flag of `open` each, called from one place in Python")]
    fn open(
        zelf: &Py<Self>,
        path: String,
        read: bool,
        write: bool,
        create: bool,
        exclusive: bool,
        truncate: bool,
        append: bool,
        vm: &VirtualMachine,
    ) -> PyResult<PyRef<HostFile>> {
        let right = if write { Right::Write } else { Right::Read };
        let real = zelf.check(right, &path, vm)?;
        let file = OpenOptions::new()
            .read(read)
            .write(write)
            .create(create && write)
            .create_new(exclusive && write)
            .truncate(truncate && write)
            .append(append)
            .open(&real)
            .map_err(|error| system_error(&error, &path, vm))?;
        if file.metadata().is_ok_and(|facts| facts.is_dir()) {
            return Err(numbered_error(21, "Is a directory", &path, vm));
        }
        Ok(HostFile { file: RefCell::new(Some(file)) }.into_ref(&vm.ctx))
    }

    #[pymethod]
    fn stat(zelf: &Py<Self>, path: String, follow_links: bool, vm: &VirtualMachine) -> PyResult<PyObjectRef> {
        // A link is judged by where it leads, also when only the link itself is asked about.
        let real = zelf.check(Right::Read, &path, vm)?;
        let facts = if follow_links { fs::metadata(&real) } else { fs::symlink_metadata(&path) };
        let facts = facts.map_err(|error| system_error(&error, &path, vm))?;
        Ok(stat_tuple(&facts, vm))
    }

    #[pymethod]
    fn scan(zelf: &Py<Self>, path: String, vm: &VirtualMachine) -> PyResult<Vec<PyObjectRef>> {
        let real = zelf.check(Right::Read, &path, vm)?;
        let fail = |error: io::Error| system_error(&error, &path, vm);
        let mut found = Vec::new();
        for entry in fs::read_dir(real).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let kind = entry_kind(entry.file_type().map_err(fail)?);
            let name = entry.file_name().to_string_lossy().into_owned();
            found.push(vm.new_tuple((name, kind)).into());
        }
        Ok(found)
    }

    #[pymethod]
    fn readlink(zelf: &Py<Self>, path: String, vm: &VirtualMachine) -> PyResult<String> {
        zelf.check(Right::Read, &path, vm)?;
        let target = fs::read_link(&path).map_err(|error| system_error(&error, &path, vm))?;
        Ok(target.to_string_lossy().into_owned())
    }

    #[pymethod]
    fn mkdir(zelf: &Py<Self>, path: String, vm: &VirtualMachine) -> PyResult<()> {
        let real = zelf.check(Right::Write, &path, vm)?;
        fs::create_dir(real).map_err(|error| system_error(&error, &path, vm))
    }

    #[pymethod]
    fn rmdir(zelf: &Py<Self>, path: String, vm: &VirtualMachine) -> PyResult<()> {
        let real = zelf.check(Right::Write, &path, vm)?;
        fs::remove_dir(real).map_err(|error| system_error(&error, &path, vm))
    }

    #[pymethod]
    fn remove(zelf: &Py<Self>, path: String, vm: &VirtualMachine) -> PyResult<()> {
        zelf.check(Right::Write, &path, vm)?;
        // By the name given: a link is removed, not what it leads to.
        fs::remove_file(&path).map_err(|error| system_error(&error, &path, vm))
    }

    #[pymethod]
    fn rename(zelf: &Py<Self>, from: String, to: String, vm: &VirtualMachine) -> PyResult<()> {
        zelf.check(Right::Write, &from, vm)?;
        zelf.check(Right::Write, &to, vm)?;
        fs::rename(&from, &to).map_err(|error| system_error(&error, &from, vm))
    }

    #[pymethod]
    fn getcwd(zelf: &Py<Self>, vm: &VirtualMachine) -> PyResult<String> {
        let folder = std::env::current_dir().map_err(|error| system_error(&error, ".", vm))?;
        let text = folder.to_string_lossy().into_owned();
        zelf.check(Right::Read, &text, vm)?;
        Ok(text)
    }

    /// The visible environment, as bytes like `posix.environ`.
    #[pymethod]
    fn environ(zelf: &Py<Self>, vm: &VirtualMachine) -> PyResult<PyObjectRef> {
        let variables = vm.ctx.new_dict();
        for (name, value) in zelf.policy.borrow().environment() {
            let name = vm.ctx.new_bytes(name.into_bytes());
            let value = vm.ctx.new_bytes(value.into_bytes());
            variables.set_item(name.as_object(), value.into(), vm)?;
        }
        Ok(variables.into())
    }

    /// File name and whether it is a package, of a module that is part of the engine; else None.
    #[pymethod]
    fn engine_module(_zelf: &Py<Self>, name: String, vm: &VirtualMachine) -> Option<PyObjectRef> {
        let source = frozen::source(&name)?;
        Some(vm.new_tuple((source.path, source.package)).into())
    }

    /// The code of a module, ready to run.
    #[pymethod]
    fn prepared(_zelf: &Py<Self>, code: PyRef<PyCode>) -> PyRef<PyCode> {
        keep_in_place(&code);
        code
    }

    /// File name and text of a module that is part of the engine.
    #[pymethod]
    fn engine_source(_zelf: &Py<Self>, name: String, vm: &VirtualMachine) -> PyResult<PyObjectRef> {
        match frozen::source(&name) {
            Some(source) => Ok(vm.new_tuple((source.path, source.text)).into()),
            None => Err(vm.new_import_error(format!("'{name}' is not part of the engine"), vm.ctx.new_str(name))),
        }
    }

    /// What `folder` has for the module `name` (without dots): the file and `"module"` or `"package"`, the
    /// folder and `"namespace"`, or None. A folder that may not be imported from has nothing.
    #[pymethod]
    fn find_module(zelf: &Py<Self>, folder: String, name: String, vm: &VirtualMachine) -> Option<PyObjectRef> {
        let here = if folder.is_empty() { "." } else { &folder };
        let real = zelf.policy.borrow().check(Right::Import, Path::new(here)).ok()?;
        let inner = real.join(&name);
        let candidates = [(inner.join("__init__.py"), "package"), (real.join(format!("{name}.py")), "module")];
        for (file, kind) in candidates {
            if file.is_file() {
                return Some(vm.new_tuple((file.to_string_lossy().as_ref(), kind)).into());
            }
        }
        let namespace = inner.to_string_lossy();
        inner.is_dir().then(|| vm.new_tuple((namespace.as_ref(), "namespace")).into())
    }

    /// The text of a Python file that may be imported. UTF-8 is required, a byte order mark skipped.
    #[pymethod]
    fn read_source(zelf: &Py<Self>, path: String, vm: &VirtualMachine) -> PyResult<String> {
        let real = zelf.check(Right::Import, &path, vm)?;
        read_text(&real).map_err(|error| system_error(&error, &path, vm))
    }

    #[pymethod]
    fn is_terminal(zelf: &Py<Self>, descriptor: usize) -> bool {
        zelf.streams.borrow().terminals.get(descriptor).copied().unwrap_or(false)
    }

    #[pymethod]
    fn read_input(zelf: &Py<Self>, size: usize, vm: &VirtualMachine) -> PyResult<PyObjectRef> {
        let mut data = vec![0; size];
        let read = pause(|| zelf.streams.borrow_mut().input.read(&mut data)).map_err(|error| system_error(&error, "<stdin>", vm))?;
        data.truncate(read);
        Ok(vm.ctx.new_bytes(data).into())
    }

    #[pymethod]
    fn write_output(zelf: &Py<Self>, descriptor: usize, data: ArgBytesLike, vm: &VirtualMachine) -> PyResult<usize> {
        let mut streams = zelf.streams.borrow_mut();
        let (stream, name) = if descriptor == 2 { (&mut streams.errors, "<stderr>") } else { (&mut streams.output, "<stdout>") };
        data.with_ref(|data| pause(|| stream.write_all(data).and_then(|()| stream.flush())).map(|()| data.len()))
            .map_err(|error| system_error(&error, name, vm))
    }

    #[pymethod]
    fn process_id(_zelf: &Py<Self>) -> u32 {
        std::process::id()
    }

    #[pymethod]
    fn random_bytes(_zelf: &Py<Self>, size: usize, vm: &VirtualMachine) -> PyResult<PyObjectRef> {
        let mut data = vec![0; size];
        getrandom::fill(&mut data).map_err(|error| numbered_error(EIO, &error.to_string(), "urandom", vm))?;
        Ok(vm.ctx.new_bytes(data).into())
    }

    #[pymethod]
    fn cpu_count(_zelf: &Py<Self>) -> usize {
        thread::available_parallelism().map_or(1, usize::from)
    }

    #[pymethod]
    fn error_text(_zelf: &Py<Self>, code: i32) -> String {
        message(&io::Error::from_raw_os_error(code))
    }

    /// Operating system and processor, spelt as `uname` does.
    #[pymethod]
    fn platform(_zelf: &Py<Self>, vm: &VirtualMachine) -> PyObjectRef {
        let system = match std::env::consts::OS {
            "linux" => "Linux",
            "macos" => "Darwin",
            "windows" => "Windows",
            other => other,
        };
        vm.new_tuple((system, std::env::consts::ARCH)).into()
    }
}

/// An open file.
#[pyclass(module = "_taipan", name = "File")]
#[derive(Debug, PyPayload)]
pub(super) struct HostFile {
    /// None once closed.
    file: RefCell<Option<File>>,
}

impl HostFile {
    fn with<R>(zelf: &Py<Self>, vm: &VirtualMachine, body: impl FnOnce(&mut File) -> io::Result<R>) -> PyResult<R> {
        match zelf.file.borrow_mut().as_mut() {
            Some(file) => body(file).map_err(|error| system_error(&error, "", vm)),
            None => Err(numbered_error(EBADF, "Bad file descriptor", "", vm)),
        }
    }
}

#[pyclass(flags(DISALLOW_INSTANTIATION))]
impl HostFile {
    /// At most `size` bytes; all that is left when it is negative.
    #[pymethod]
    fn read(zelf: &Py<Self>, size: i64, vm: &VirtualMachine) -> PyResult<PyObjectRef> {
        let data = Self::with(zelf, vm, |file| {
            let mut data = Vec::new();
            match u64::try_from(size) {
                Ok(size) => pause(|| file.take(size).read_to_end(&mut data))?,
                Err(_) => pause(|| file.read_to_end(&mut data))?,
            };
            Ok(data)
        })?;
        Ok(vm.ctx.new_bytes(data).into())
    }

    #[pymethod]
    fn write(zelf: &Py<Self>, data: ArgBytesLike, vm: &VirtualMachine) -> PyResult<usize> {
        Self::with(zelf, vm, |file| data.with_ref(|data| pause(|| file.write_all(data)).map(|()| data.len())))
    }

    #[pymethod]
    fn seek(zelf: &Py<Self>, offset: i64, whence: i32, vm: &VirtualMachine) -> PyResult<u64> {
        let target = match whence {
            0 => u64::try_from(offset).map(SeekFrom::Start).map_err(|_| vm.new_value_error(format!("negative seek value {offset}")))?,
            1 => SeekFrom::Current(offset),
            2 => SeekFrom::End(offset),
            _ => return Err(vm.new_value_error(format!("invalid whence ({whence})"))),
        };
        Self::with(zelf, vm, |file| file.seek(target))
    }

    #[pymethod]
    fn truncate(zelf: &Py<Self>, size: u64, vm: &VirtualMachine) -> PyResult<u64> {
        Self::with(zelf, vm, |file| file.set_len(size).map(|()| size))
    }

    #[pymethod]
    fn stat(zelf: &Py<Self>, vm: &VirtualMachine) -> PyResult<PyObjectRef> {
        let facts = Self::with(zelf, vm, |file| file.metadata())?;
        Ok(stat_tuple(&facts, vm))
    }

    #[pymethod]
    fn close(zelf: &Py<Self>) {
        zelf.file.borrow_mut().take();
    }
}

/// The text of a source file, without a byte order mark. An error when it isn't UTF-8.
pub(super) fn read_text(path: &Path) -> io::Result<String> {
    let text = fs::read_to_string(path)?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

/// mode, inode, device, links, user, group, size, then access, change and creation time in nanoseconds.
fn stat_tuple(facts: &Metadata, vm: &VirtualMachine) -> PyObjectRef {
    let [mode, inode, device, links, user, group] = unix_facts(facts);
    let nanoseconds = |time: io::Result<SystemTime>| {
        time.ok().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok()).map_or(0, |since| since.as_nanos() as u64)
    };
    let numbers = [
        mode,
        inode,
        device,
        links,
        user,
        group,
        facts.len(),
        nanoseconds(facts.accessed()),
        nanoseconds(facts.modified()),
        nanoseconds(facts.created().or_else(|_| facts.modified())),
    ];
    let items = numbers.map(|number| number.to_pyobject(vm));
    vm.ctx.new_tuple(items.to_vec()).into()
}

#[cfg(unix)]
fn unix_facts(facts: &Metadata) -> [u64; 6] {
    use std::os::unix::fs::MetadataExt;
    [facts.mode().into(), facts.ino(), facts.dev(), facts.nlink(), facts.uid().into(), facts.gid().into()]
}

#[cfg(not(unix))]
fn unix_facts(facts: &Metadata) -> [u64; 6] {
    let kind = if facts.is_dir() { 0o040_777 } else { 0o100_666 };
    [kind, 0, 0, 1, 0, 0]
}

fn refused(refusal: Refusal, path: &str, vm: &VirtualMachine) -> PyBaseExceptionRef {
    match refusal {
        Refusal::Denied(right) => numbered_error(EACCES, &right.to_string(), path, vm),
        Refusal::System(error) => system_error(&error, path, vm),
    }
}

/// The `OSError` for a failure of the system, with the path when there is one.
fn system_error(error: &io::Error, path: &str, vm: &VirtualMachine) -> PyBaseExceptionRef {
    numbered_error(error.raw_os_error().unwrap_or(EIO), &message(error), path, vm)
}

/// The system's text without the number that Rust adds.
fn message(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// `OSError(number, text, path)`: the constructor picks the subclass, `FileNotFoundError` and so on.
fn numbered_error(number: i32, text: &str, path: &str, vm: &VirtualMachine) -> PyBaseExceptionRef {
    let mut arguments: Vec<PyObjectRef> = vec![vm.ctx.new_int(number).into(), text_object(text, vm)];
    if !path.is_empty() {
        arguments.push(text_object(path, vm));
    }
    vm.invoke_exception(vm.ctx.exceptions.os_error, arguments).unwrap_or_else(|error| error)
}

fn text_object(text: &str, vm: &VirtualMachine) -> PyObjectRef {
    PyStr::from(text).into_ref(&vm.ctx).into()
}
