//! The VM of one engine: built once on the engine's thread, with the policy's doors and no others.

use super::{
    deadline::Interrupter,
    frozen, harden,
    host_access::{HostAccess, HostFile, Streams},
    lru_cache, modules,
    policy::Policy,
    turn::{self, Contender, Leave, TakeOnDrop},
};
use crate::thread::ReleaseOnDrop;
use rustpython_vm::{
    Interpreter, PyObject, PyObjectRef, PyPayload, PyResult, Settings, VirtualMachine, builtins::PyModuleDef, class::PyClassImpl,
    signal::user_signal_channel,
};
use std::{
    cell::RefCell,
    fmt,
    io::{Read, Write},
    path::PathBuf,
    rc::Rc,
    thread,
    time::{Duration, Instant},
};

/// Makes a native module known; called with the VM's context before it starts.
type ModuleDefinition = fn(&rustpython_vm::Context) -> &'static PyModuleDef;

/// What a [`Host`] is made from.
pub struct HostBuilder {
    policy: Policy,
    argv: Vec<String>,
    streams: Streams,
    modules: Vec<ModuleDefinition>,
}

/// A VM with the engine's modules, bound to the thread that built it.
pub struct Host {
    /// Before everything else: objects are dropped in turn.
    _take: TakeOnDrop,
    /// Before the interpreter: what the thread state holds goes first.
    release: ReleaseOnDrop,
    interpreter: Interpreter,
    interrupter: Interrupter,
    policy: Rc<RefCell<Policy>>,
    /// Behind everything else.
    _leave: Leave,
}

impl HostBuilder {
    /// A host whose scripts have these rights.
    pub fn new(policy: Policy) -> Self {
        Self { policy, argv: vec![String::new()], streams: Streams::of_process(), modules: Vec::new() }
    }

    /// What `sys.argv` holds.
    pub fn argv(mut self, argv: Vec<String>) -> Self {
        self.argv = argv;
        self
    }

    /// Sends what scripts print to `output` instead of the process's standard output.
    pub fn stdout(mut self, output: impl Write + 'static) -> Self {
        self.streams.output = Box::new(output);
        self.streams.terminals[1] = false;
        self
    }

    /// Sends what scripts write to `sys.stderr` to `errors`.
    pub fn stderr(mut self, errors: impl Write + 'static) -> Self {
        self.streams.errors = Box::new(errors);
        self.streams.terminals[2] = false;
        self
    }

    /// Lets scripts read their standard input from `input`.
    pub fn stdin(mut self, input: impl Read + 'static) -> Self {
        self.streams.input = Box::new(input);
        self.streams.terminals[0] = false;
        self
    }

    /// Adds a native module.
    pub fn native_module(mut self, definition: ModuleDefinition) -> Self {
        self.modules.push(definition);
        self
    }

    /// Starts the VM on this thread.
    ///
    /// # Errors
    /// The text of the exception, should the engine's own Python fail to load.
    pub fn build(self) -> Result<Host, String> {
        let contender = Contender::new();
        let _turn = turn::take();
        let mut settings = Settings::default();
        settings.hash_seed = Some(0);
        settings.utf8_mode = 1;
        settings.install_signal_handlers = false;
        settings.allow_external_library = false;
        settings.import_site = false;
        settings.argv = self.argv;
        let builder = Interpreter::builder(settings);
        let standard = rustpython_stdlib::stdlib_module_defs(&builder.ctx);
        let ours = modules::definitions(&builder.ctx);
        let added: Vec<_> = self.modules.iter().map(|definition| definition(&builder.ctx)).collect();
        let (sender, receiver) = user_signal_channel();
        let interpreter = builder
            .add_native_modules(&standard)
            .add_native_modules(&ours)
            .add_native_modules(&added)
            .add_frozen_modules(frozen::code())
            .init_hook(move |vm| {
                vm.set_user_signal_channel(receiver);
                harden::remove_modules(vm);
            })
            .build();
        let policy = Rc::new(RefCell::new(self.policy));
        let access = HostAccess::new(Rc::clone(&policy), self.streams);
        interpreter
            .enter(|vm| install(access, &policy.borrow(), vm).map_err(|exception| super::script::describe(vm, &exception).traceback))?;
        contender.reached_by(sender.clone());
        let interrupter = Interrupter::new(sender);
        Ok(Host { _take: TakeOnDrop, release: ReleaseOnDrop, interpreter, interrupter, policy, _leave: Leave(contender) })
    }
}

impl Host {
    /// Runs `body` in the VM, once it is this thread's turn.
    pub fn enter<R>(&self, body: impl FnOnce(&VirtualMachine) -> R) -> R {
        let _turn = turn::take();
        self.interpreter.enter(body)
    }

    /// A handle by which any thread can stop what runs here.
    pub fn interrupter(&self) -> &Interrupter {
        &self.interrupter
    }

    /// Also allows imports from `folder`.
    pub fn allow_import(&self, folder: impl Into<PathBuf>) {
        self.policy.borrow_mut().import.push(folder.into());
    }

    /// Ends the VM: exit functions run and buffered output is written.
    pub fn finish(self) {
        let _turn = turn::take();
        self.interpreter.enter(|_| drop(self.release));
        self.interpreter.finalize(None);
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").finish_non_exhaustive()
    }
}

impl fmt::Debug for HostBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostBuilder").field("policy", &self.policy).field("argv", &self.argv).finish_non_exhaustive()
    }
}

/// Puts the engine's importer, files, streams and limits in place of the VM's.
fn install(access: HostAccess, policy: &Policy, vm: &VirtualMachine) -> PyResult<()> {
    // Instances can only be made once their class exists on this thread.
    let _ = (HostAccess::make_static_type(), HostFile::make_static_type());
    crate::watch::install(vm)?;
    lru_cache::install(vm)?;
    let names = vm.ctx.new_dict();
    names.set_item("host", access.into_pyobject(vm), vm)?;
    let loaded = vm.sys_module.get_attr("modules", vm)?;
    let module = vm.new_module("_taipan", names, None);
    loaded.set_item("_taipan", module.into(), vm)?;

    vm.import("_taipan_import", 0)?;
    let files = vm.import("_taipan_files", 0)?;
    let open = files.get_attr("open", vm)?;
    let io = vm.import("_io", 0)?;
    vm.builtins.set_attr("open", open.clone(), vm)?;
    io.set_attr("open", open.clone(), vm)?;
    io.set_attr("open_code", open, vm)?;
    io.set_attr("FileIO", files.get_attr("FileIO", vm)?, vm)?;

    vm.import("_taipan_thread", 0)?;
    let time = vm.import("time", 0)?;
    let original = time.get_attr("sleep", vm)?;
    let sleep = vm.new_function("sleep", move |length: PyObjectRef, vm: &VirtualMachine| sleep(&original, length, vm));
    time.set_attr("sleep", sleep, vm)?;

    let stream = files.get_attr("standard_stream", vm)?;
    for (descriptor, name) in ["stdin", "stdout", "stderr"].into_iter().enumerate() {
        let text = stream.call((descriptor, format!("<{name}>")), vm)?;
        let dunder = vm.ctx.intern_str(format!("__{name}__"));
        vm.sys_module.set_attr(dunder, text.clone(), vm)?;
        vm.sys_module.set_attr(vm.ctx.intern_str(name), text, vm)?;
    }

    let folders: Vec<PyObjectRef> = policy.import.iter().map(|folder| vm.ctx.new_str(folder.to_string_lossy()).into()).collect();
    let path = vm.ctx.new_list(folders);
    vm.sys_module.set_attr("path", path, vm)?;
    harden::close_doors(vm)
}

/// How long a sleeping script goes without looking whether it is interrupted.
const NAP: Duration = Duration::from_millis(20);

/// `time.sleep`, during which others may have the turn and which an interrupt ends.
fn sleep(original: &PyObject, length: PyObjectRef, vm: &VirtualMachine) -> PyResult<()> {
    let until = length.clone().try_into_value::<Duration>(vm).ok().and_then(|length| Instant::now().checked_add(length));
    let Some(until) = until else {
        // It says what is wrong with the length.
        return original.call((length,), vm).map(drop);
    };
    loop {
        let left = until.saturating_duration_since(Instant::now());
        turn::pause(|| thread::sleep(left.min(NAP)));
        vm.check_signals()?;
        if left <= NAP {
            return Ok(());
        }
    }
}
