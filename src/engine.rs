//! The engine: a VM with its JIT on a thread of its own, and the handle by which any thread uses it; or on a thread of the program,
//! which alone uses it then.
//!
//! Handles send closures to the engine's thread and wait. Python objects never leave it: a [`Module`] or [`Object`] is a number
//! there, released when the last handle goes.

use crate::{
    Error,
    builder::EngineBuilder,
    report::VersionReport,
    seat::{ObjectId, Seat},
    value::{self, FromValue, IntoArguments, Value},
};
use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    rc::Rc,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Sender},
    },
    thread::{self, JoinHandle, ThreadId},
};
use taipan_frontend::{
    embed::{Arguments, Exchange},
    vm::{self as here, Interrupter, STACK_BYTES, Script, panic_text, pause, spawn_engine_thread, stack_suffices},
};

/// What runs on the engine's thread.
type Job = Box<dyn FnOnce(&Seat) + Send>;

/// A handle to an engine. Clones are handles to the same engine, which ends with the last of them.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

struct Shared {
    home: Home,
    id: ThreadId,
    interrupter: Interrupter,
}

/// Where an engine lives.
enum Home {
    /// On a thread of its own, which takes jobs. `None` once the engine is ending.
    Own { jobs: Option<Sender<Job>>, thread: Option<JoinHandle<()>> },
    /// On a thread of the program, which does its jobs itself. Objects whose last handle went elsewhere wait for the next job.
    Here { released: Mutex<Vec<ObjectId>> },
}

/// A loaded script.
#[derive(Clone, Debug)]
pub struct Module {
    object: Object,
}

/// An object of a script: a function, an `nn.Module`, a class, anything.
#[derive(Clone)]
pub struct Object {
    held: Arc<Held>,
}

struct Held {
    engine: Engine,
    id: ObjectId,
}

impl Engine {
    /// Starts describing an engine.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// An engine with the defaults on the current thread; see [`EngineBuilder::build_here`].
    ///
    /// # Errors
    /// As there.
    pub fn here() -> Result<Self, Error> {
        Self::builder().build_here()
    }

    pub(crate) fn start_here(builder: EngineBuilder) -> Result<Self, Error> {
        stack_suffices().map_err(|left| Error::Start(format!("it needs a stack of {STACK_BYTES} bytes, this thread has {left}")))?;
        if here::kept().is_some() {
            return Err(Error::Start("this thread has an engine".to_owned()));
        }
        let seat = builder.seat()?;
        let interrupter = seat.interrupter();
        // Nothing else keeps anything on a thread.
        let _ = here::keep(Rc::new(seat));
        let home = Home::Here { released: Mutex::default() };
        Ok(Self { shared: Arc::new(Shared { home, id: thread::current().id(), interrupter }) })
    }

    pub(crate) fn start(builder: EngineBuilder) -> Result<Self, Error> {
        let (jobs, waiting) = mpsc::channel::<Job>();
        let (ready, started) = mpsc::channel();
        let thread = spawn_engine_thread("taipan", move || {
            let seat = match builder.seat() {
                Ok(seat) => seat,
                Err(error) => {
                    // Whoever waits for the engine to start gets the error; if nobody does, nobody misses it.
                    let _ = ready.send(Err(error));
                    return;
                }
            };
            let _ = ready.send(Ok(seat.interrupter()));
            while let Ok(job) = waiting.recv() {
                job(&seat);
            }
            seat.finish();
        })
        .map_err(|error| Error::Start(error.to_string()))?;
        let id = thread.thread().id();
        let interrupter = pause(|| started.recv()).unwrap_or(Err(Error::Ended))?;
        let home = Home::Own { jobs: Some(jobs), thread: Some(thread) };
        Ok(Self { shared: Arc::new(Shared { home, id, interrupter }) })
    }

    /// Runs a script as `__main__`, with these arguments behind its name in `sys.argv`; returns its exit code: 0, or what
    /// `SystemExit` carried. Its folder is searched first for imports.
    ///
    /// # Errors
    /// The file can't be read, or an exception left the script.
    pub fn run_script(&self, path: impl AsRef<Path>, arguments: &[String]) -> Result<i32, Error> {
        let script = Script::open(path.as_ref())?;
        let mut argv = vec![script.path.clone()];
        argv.extend_from_slice(arguments);
        self.on_thread(move |seat| seat.run(&script, &argv))
    }

    /// Runs a text as `__main__` under the file name `path`; returns its exit code.
    ///
    /// # Errors
    /// An exception left the script.
    pub fn run_text(&self, path: &str, text: &str) -> Result<i32, Error> {
        let script = Script::main(path, text);
        self.on_thread(move |seat| seat.run(&script, std::slice::from_ref(&script.path)))
    }

    /// Runs a script as a module named like its file; its folder is searched for imports.
    ///
    /// # Errors
    /// The file can't be read, or an exception left the script.
    pub fn load(&self, path: impl AsRef<Path>) -> Result<Module, Error> {
        let path = path.as_ref();
        let mut script = Script::open(path)?;
        if let Some(stem) = path.file_stem() {
            script.module = stem.to_string_lossy().into_owned();
        }
        self.load_script(script)
    }

    /// Runs a text as a module called `name`.
    ///
    /// # Errors
    /// An exception left the text, a `SyntaxError` included.
    pub fn load_str(&self, name: &str, text: &str) -> Result<Module, Error> {
        self.load_script(Script { module: name.to_owned(), path: format!("{name}.py"), text: text.to_owned() })
    }

    /// The versions the engine holds, in order of their names.
    ///
    /// # Errors
    /// The engine can't be reached.
    pub fn versions(&self) -> Result<Vec<VersionReport>, Error> {
        self.on_thread(|seat| Ok(seat.versions()))
    }

    /// A list of the calls of compiled functions from outside so far, as `(compiled function, arguments by position, arguments by
    /// name)`; empty unless the setting `keep_calls` is on.
    ///
    /// # Errors
    /// The engine can't be reached.
    pub fn calls(&self) -> Result<Object, Error> {
        let id = self.on_thread(|seat| Ok(seat.calls()))?;
        Ok(self.object(id))
    }

    /// Sets a setting from a text, as environment variables write it.
    ///
    /// # Errors
    /// There is no such setting, or it doesn't take such a value.
    pub fn set(&self, name: &str, value: &str) -> Result<(), Error> {
        let (name, value) = (name.to_owned(), value.to_owned());
        self.on_thread(move |seat| Ok(seat.settings().borrow_mut().set_text(&name, &value)?))
    }

    /// Forgets every version and what the program has set; Python objects stay as they are.
    ///
    /// # Errors
    /// The engine can't be reached.
    pub fn reset(&self) -> Result<(), Error> {
        self.on_thread(|seat| {
            seat.reset();
            Ok(())
        })
    }

    /// Raises `KeyboardInterrupt` in what the engine is running. Any thread may call this, also while another waits for a result.
    pub fn interrupt(&self) {
        self.shared.interrupter.interrupt("interrupted");
    }

    fn load_script(&self, script: Script) -> Result<Module, Error> {
        let id = self.on_thread(move |seat| seat.load(&script))?;
        Ok(Module { object: self.object(id) })
    }

    fn object(&self, id: ObjectId) -> Object {
        Object { held: Arc::new(Held { engine: self.clone(), id }) }
    }

    /// Runs `body` on the engine's thread and waits for what it gives. A panic in it ends here.
    fn on_thread<R: Send + 'static>(&self, body: impl FnOnce(&Seat) -> Result<R, Error> + Send + 'static) -> Result<R, Error> {
        let is_here = thread::current().id() == self.shared.id;
        let jobs = match &self.shared.home {
            Home::Here { released } => return if is_here { on_this_thread(released, body) } else { Err(Error::OtherThread) },
            Home::Own { .. } if is_here => return Err(Error::Reentered),
            Home::Own { jobs, .. } => jobs.as_ref().ok_or(Error::Ended)?,
        };
        let (done, result) = mpsc::sync_channel(1);
        let job = move |seat: &Seat| {
            // The receiver is waiting below.
            let _ = done.send(caught(seat, body));
        };
        jobs.send(Box::new(job)).map_err(|_| Error::Ended)?;
        // An engine that waits for another one lets it run.
        pause(|| result.recv()).unwrap_or(Err(Error::Ended))
    }

    /// Calls the object with this number, or one of its attributes.
    fn call(&self, callee: ObjectId, attribute: Option<String>, arguments: Arguments<Object>) -> Result<Value, Error> {
        let this = Arc::downgrade(&self.shared);
        let value = self.on_thread(move |seat| {
            // The handles are dropped here, behind the references taken from them.
            let arguments = arguments.try_map(&mut |object: Object| {
                if this.as_ptr() == Arc::as_ptr(&object.held.engine.shared) { seat.object(object.held.id) } else { Err(Error::OtherEngine) }
            })?;
            seat.call(callee, attribute.as_deref(), arguments)
        })?;
        self.value(value)
    }

    /// A value with numbers for objects as one with handles.
    fn value(&self, value: Exchange<ObjectId>) -> Result<Value, Error> {
        value.try_map(&mut |id| Ok(self.object(id)))
    }
}

impl Module {
    /// The object called `name` in the module.
    ///
    /// # Errors
    /// There is none: an `AttributeError`.
    pub fn get(&self, name: &str) -> Result<Object, Error> {
        self.object.attribute(name)
    }

    /// The function called `name`; [`Module::get`] under the name a reader expects.
    ///
    /// # Errors
    /// There is none: an `AttributeError`.
    pub fn function(&self, name: &str) -> Result<Object, Error> {
        self.get(name)
    }

    /// Makes an object of the class called `name`.
    ///
    /// # Errors
    /// There is no such class, or the exception that its `__init__` raised.
    pub fn construct(&self, name: &str, arguments: impl IntoArguments) -> Result<Object, Error> {
        self.get(name)?.call_for_object(arguments)
    }
}

impl Object {
    /// Calls it and reads the result as `R`, [`Value`] for anything.
    ///
    /// # Errors
    /// The exception that left it, for arguments that don't fit too; or the result is no `R`.
    pub fn call<R: FromValue>(&self, arguments: impl IntoArguments) -> Result<R, Error> {
        let engine = &self.held.engine;
        value::read(engine.call(self.held.id, None, arguments.into_arguments())?)
    }

    /// Calls the method called `name`.
    ///
    /// # Errors
    /// As for [`Object::call`]; an `AttributeError` where there is no such method.
    pub fn call_method<R: FromValue>(&self, name: &str, arguments: impl IntoArguments) -> Result<R, Error> {
        let engine = &self.held.engine;
        value::read(engine.call(self.held.id, Some(name.to_owned()), arguments.into_arguments())?)
    }

    /// Reads an attribute as `R`.
    ///
    /// # Errors
    /// An `AttributeError` where there is none, or it is no `R`.
    pub fn attr<R: FromValue>(&self, name: &str) -> Result<R, Error> {
        let (engine, id, name) = (&self.held.engine, self.held.id, name.to_owned());
        let value = engine.on_thread(move |seat| seat.attribute_value(id, &name))?;
        value::read(engine.value(value)?)
    }

    /// An attribute as an object, whatever it is.
    ///
    /// # Errors
    /// An `AttributeError` where there is none.
    pub fn attribute(&self, name: &str) -> Result<Object, Error> {
        let (engine, id, name) = (&self.held.engine, self.held.id, name.to_owned());
        let id = engine.on_thread(move |seat| seat.attribute(id, &name))?;
        Ok(engine.object(id))
    }

    /// `torch.compile` of it.
    ///
    /// # Errors
    /// It can't be called, or `torch` can't be imported.
    pub fn compile(&self) -> Result<Object, Error> {
        let (engine, id) = (&self.held.engine, self.held.id);
        let id = engine.on_thread(move |seat| seat.compile(id))?;
        Ok(engine.object(id))
    }

    /// Gives an `nn.Module` the weights in a safetensors file, as `load_state_dict` does. The program reads the file, so the
    /// engine's policy isn't asked.
    ///
    /// # Errors
    /// The file can't be read or is damaged, or `load_state_dict` raises since names or shapes don't fit.
    pub fn load_safetensors(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let weights = crate::weights::read(path.as_ref())?;
        let pairs = weights.into_iter().map(|(name, tensor)| (name.into(), tensor.into())).collect();
        self.call_method::<Value>("load_state_dict", (Value::Dict(pairs),)).map(drop)
    }

    fn call_for_object(&self, arguments: impl IntoArguments) -> Result<Object, Error> {
        self.call(arguments)
    }
}

/// Runs a job, and ends a panic in it.
fn caught<R>(seat: &Seat, body: impl FnOnce(&Seat) -> Result<R, Error>) -> Result<R, Error> {
    let ended = catch_unwind(AssertUnwindSafe(|| body(seat)));
    ended.unwrap_or_else(|panic| Err(Error::Internal(panic_text(&*panic).to_owned())))
}

/// What the engine of this thread works with.
fn seat_here() -> Option<Rc<Seat>> {
    here::kept()?.downcast().ok()
}

/// Runs a job of the engine that lives on this thread, behind what waits for one.
fn on_this_thread<R>(released: &Mutex<Vec<ObjectId>>, body: impl FnOnce(&Seat) -> Result<R, Error>) -> Result<R, Error> {
    let seat = seat_here().ok_or(Error::Ended)?;
    let waiting = std::mem::take(&mut *released.lock().unwrap_or_else(PoisonError::into_inner));
    waiting.into_iter().for_each(|id| seat.release(id));
    let _working = seat.begin().ok_or(Error::Reentered)?;
    caught(&seat, body)
}

impl Drop for Shared {
    fn drop(&mut self) {
        let is_here = thread::current().id() == self.id;
        match &mut self.home {
            Home::Own { jobs, thread } => {
                // The thread ends when its queue does.
                *jobs = None;
                if let Some(thread) = thread.take().filter(|_| !is_here) {
                    // A panic of the engine's thread has nobody left to be told of.
                    let _ = pause(|| thread.join());
                }
            }
            Home::Here { .. } if is_here => {
                // While a job is running it has a share, and the VM can't be ended under it.
                if let Some(seat) = here::release().and_then(|seat| seat.downcast().ok()).and_then(Rc::<Seat>::into_inner) {
                    seat.finish();
                }
            }
            // Its VM can't be reached from here.
            Home::Here { .. } => {}
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let id = self.id;
        match &self.engine.shared.home {
            // Once the thread has ended, so have its objects.
            Home::Own { jobs, .. } => drop(jobs.as_ref().map(|jobs| jobs.send(Box::new(move |seat: &Seat| seat.release(id))))),
            Home::Here { .. } if thread::current().id() == self.engine.shared.id => {
                if let Some(seat) = seat_here() {
                    seat.release(id);
                }
            }
            Home::Here { released } => released.lock().unwrap_or_else(PoisonError::into_inner).push(id),
        }
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").finish_non_exhaustive()
    }
}

impl fmt::Debug for Object {
    /// As `repr` shows it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.held.id;
        match self.held.engine.on_thread(move |seat| seat.repr(id)) {
            Ok(text) => f.write_str(&text),
            Err(_) => f.write_str("Object"),
        }
    }
}
