//! What an engine is made from.

use crate::{
    Engine, Error, Event,
    report::Observer,
    seat::Seat,
    settings::{Environment, SettingStore},
};
use std::{fmt, io, path::PathBuf, rc::Rc, time::Duration};
use taipan_frontend::{
    torch,
    vm::{HostBuilder, Policy},
};

/// An observer on its way to the thread of its engine.
type SentObserver = Box<dyn Fn(&Event) + Send>;

/// Describes an engine. By default scripts may touch nothing but Python files beside the script that was loaded, print to the
/// process's standard output, and see the settings that the process's environment asks for.
pub struct EngineBuilder {
    policy: Policy,
    environment: Environment,
    settings: Vec<(String, String)>,
    arguments: Vec<String>,
    output: Option<Box<dyn io::Write + Send>>,
    errors: Option<Box<dyn io::Write + Send>>,
    observer: Option<SentObserver>,
    threads: Option<usize>,
    deadline: Option<Duration>,
}

impl Default for EngineBuilder {
    fn default() -> Self {
        Self {
            policy: Policy::nothing(),
            environment: std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
                .collect(),
            settings: Vec::new(),
            arguments: vec![String::new()],
            output: None,
            errors: None,
            observer: None,
            threads: None,
            deadline: None,
        }
    }
}

impl EngineBuilder {
    /// What scripts may touch.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Allows and searches a folder for imports, behind those named before.
    pub fn path(mut self, folder: impl Into<PathBuf>) -> Self {
        self.policy = self.policy.allow_import(folder);
        self
    }

    /// The environment in which settings are looked up, instead of the process's.
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    /// Sets a setting, as a program may later, from a text: `true`, `8`, `none`, `eager`.
    pub fn setting(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.push((name.into(), value.into()));
        self
    }

    /// The backend of `torch.compile` where a script names none.
    pub fn backend(self, name: impl Into<String>) -> Self {
        self.setting("backend", name)
    }

    /// What `sys.argv` holds until a script is run.
    pub fn arguments(mut self, arguments: Vec<String>) -> Self {
        self.arguments = arguments;
        self
    }

    /// Where scripts print.
    pub fn stdout(mut self, output: impl io::Write + Send + 'static) -> Self {
        self.output = Some(Box::new(output));
        self
    }

    /// Where scripts write what goes to `sys.stderr`.
    pub fn stderr(mut self, errors: impl io::Write + Send + 'static) -> Self {
        self.errors = Some(Box::new(errors));
        self
    }

    /// Tells `observer` what the JIT does, on the engine's thread.
    pub fn observer(mut self, observer: impl Fn(&Event) + Send + 'static) -> Self {
        self.observer = Some(Box::new(observer));
        self
    }

    /// How many threads ops may use, the engine's own included; by default as many as the machine has processors. Results
    /// don't depend on it.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// How long each use of the engine may run Python before `KeyboardInterrupt` is raised in it.
    pub fn deadline(mut self, limit: Duration) -> Self {
        self.deadline = Some(limit);
        self
    }

    /// Starts the engine on a thread of its own.
    ///
    /// # Errors
    /// A setting is wrong, or the thread or its VM can't start.
    pub fn build(self) -> Result<Engine, Error> {
        Engine::start(self)
    }

    /// Starts the engine on the current thread, which runs every call itself, without the hand-over between threads that a call of
    /// another engine costs. Only this thread can use it, and it is best that the last handle goes here too: elsewhere the VM isn't
    /// ended, and its memory stays. One engine at a time can live on a thread.
    ///
    /// The thread needs a stack of [`STACK_BYTES`](crate::STACK_BYTES), which a program's first thread seldom has:
    ///
    /// ```
    /// let thread = std::thread::Builder::new().stack_size(taipan::STACK_BYTES).spawn(|| {
    ///     let engine = taipan::Engine::here()?;
    ///     let module = engine.load_str("double", "def double(x):\n    return 2 * x\n")?;
    ///     module.function("double")?.call::<i64>((21,))
    /// });
    /// assert_eq!(thread?.join().expect("no panic")?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A setting is wrong, the stack is too small, or the thread has an engine.
    pub fn build_here(self) -> Result<Engine, Error> {
        Engine::start_here(self)
    }

    /// The engine for the current thread, which must have the stack that [`taipan_frontend::vm::STACK_BYTES`] says.
    pub(crate) fn seat(self) -> Result<Seat, Error> {
        let mut settings = SettingStore::new(&self.environment)?;
        for (name, value) in &self.settings {
            settings.set_text(name, value)?;
        }
        let mut host = HostBuilder::new(self.policy).argv(self.arguments).native_module(torch::definition);
        if let Some(output) = self.output {
            host = host.stdout(output);
        }
        if let Some(errors) = self.errors {
            host = host.stderr(errors);
        }
        let host = host.build().map_err(Error::Start)?;
        let observer: Observer = match self.observer {
            Some(observer) => Rc::new(observer),
            None => Rc::new(|_| {}),
        };
        Seat::new(host, settings, observer, self.threads, self.deadline)
    }
}

impl fmt::Debug for EngineBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EngineBuilder").field("policy", &self.policy).field("settings", &self.settings).finish_non_exhaustive()
    }
}
