//! The engine on its own thread: the VM, its settings, and the objects that handles elsewhere stand for.

use crate::{
    Error,
    compile::Jit,
    report::{Observer, VersionReport},
    settings::SettingStore,
};
use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    rc::Rc,
    time::Duration,
};
use taipan_frontend::{
    embed::{Arguments, Exchange, Object},
    vm::{Host, Interrupter, Script, ScriptError, in_turn},
};

/// The number of an object that a handle stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ObjectId(u64);

pub(crate) struct Seat {
    host: Host,
    jit: Rc<Jit>,
    settings: Rc<RefCell<SettingStore>>,
    objects: RefCell<HashMap<ObjectId, Object>>,
    next: Cell<u64>,
    deadline: Option<Duration>,
    /// Whether a job is running, where jobs don't wait for each other.
    busy: Cell<bool>,
}

/// A job that is running.
pub(crate) struct Working<'a>(&'a Cell<bool>);

impl Drop for Working<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

impl Seat {
    pub(crate) fn new(
        host: Host,
        settings: SettingStore,
        observer: Observer,
        threads: Option<usize>,
        deadline: Option<Duration>,
    ) -> Result<Self, Error> {
        let settings = Rc::new(RefCell::new(settings));
        if let Some(threads) = threads {
            host.set_threads(threads)?;
        }
        let installed = host.enter(|vm| Jit::install(settings.clone(), observer, vm));
        let jit = installed.map_err(|_| Error::Start("the call hook can't be installed".to_owned()))?;
        Ok(Self { host, jit, settings, objects: RefCell::default(), next: Cell::new(0), deadline, busy: Cell::new(false) })
    }

    /// Begins a job, unless one is running.
    pub(crate) fn begin(&self) -> Option<Working<'_>> {
        (!self.busy.replace(true)).then(|| Working(&self.busy))
    }

    pub(crate) fn interrupter(&self) -> Interrupter {
        self.host.interrupter().clone()
    }

    pub(crate) fn settings(&self) -> &RefCell<SettingStore> {
        &self.settings
    }

    pub(crate) fn versions(&self) -> Vec<VersionReport> {
        self.jit.versions()
    }

    /// The calls kept by the setting `keep_calls`.
    pub(crate) fn calls(&self) -> ObjectId {
        self.hold(self.host.enter(|vm| self.jit.calls(vm)))
    }

    /// Forgets every version and what the program has set.
    pub(crate) fn reset(&self) {
        self.host.enter(|_| self.jit.forget());
        self.settings.borrow_mut().reset();
    }

    pub(crate) fn run(&self, script: &Script, argv: &[String]) -> Result<i32, Error> {
        self.within_deadline(|host| {
            host.set_arguments(argv)?;
            host.import_from(&script.folder())?;
            host.run(script)
        })
    }

    pub(crate) fn load(&self, script: &Script) -> Result<ObjectId, Error> {
        let module = self.within_deadline(|host| {
            host.import_from(&script.folder())?;
            host.load(script)
        })?;
        Ok(self.hold(module))
    }

    /// Calls an object, or its attribute of that name.
    pub(crate) fn call(
        &self,
        callee: ObjectId,
        attribute: Option<&str>,
        arguments: Arguments<Object>,
    ) -> Result<Exchange<ObjectId>, Error> {
        let callee = self.object(callee)?;
        let result = self.within_deadline(|host| {
            let callee = match attribute {
                Some(name) => host.attribute(&callee, name)?,
                None => callee,
            };
            host.call(&callee, arguments)
        })?;
        self.value(&result)
    }

    pub(crate) fn attribute(&self, id: ObjectId, name: &str) -> Result<ObjectId, Error> {
        let object = self.object(id)?;
        let found = self.within_deadline(|host| host.attribute(&object, name))?;
        Ok(self.hold(found))
    }

    pub(crate) fn attribute_value(&self, id: ObjectId, name: &str) -> Result<Exchange<ObjectId>, Error> {
        let object = self.object(id)?;
        let found = self.within_deadline(|host| host.attribute(&object, name))?;
        self.value(&found)
    }

    /// `torch.compile` of an object.
    pub(crate) fn compile(&self, id: ObjectId) -> Result<ObjectId, Error> {
        let object = self.object(id)?;
        let compiled = self.within_deadline(|host| {
            let compile = host.attribute(&host.import("torch")?, "compile")?;
            host.call(&compile, Arguments { positional: vec![Exchange::Object(object)], named: Vec::new() })
        })?;
        Ok(self.hold(compiled))
    }

    pub(crate) fn repr(&self, id: ObjectId) -> Result<String, Error> {
        let object = self.object(id)?;
        self.within_deadline(|host| host.repr(&object))
    }

    /// The object a handle stands for.
    pub(crate) fn object(&self, id: ObjectId) -> Result<Object, Error> {
        self.objects.borrow().get(&id).cloned().ok_or(Error::OtherEngine)
    }

    /// Lets go of an object whose last handle has gone.
    pub(crate) fn release(&self, id: ObjectId) {
        let object = self.objects.borrow_mut().remove(&id);
        // Inside the VM and behind the borrow: dropping may run Python.
        self.host.enter(|_| drop(object));
    }

    /// Ends the VM, behind every object that was held.
    pub(crate) fn finish(self) {
        let objects = self.objects.take();
        self.host.enter(|_| {
            self.jit.finish();
            drop(objects);
        });
        self.host.finish();
    }

    fn hold(&self, object: Object) -> ObjectId {
        let id = ObjectId(self.next.get());
        self.next.set(id.0 + 1);
        self.objects.borrow_mut().insert(id, object);
        id
    }

    fn value(&self, object: &Object) -> Result<Exchange<ObjectId>, Error> {
        self.host.value_of(object)?.try_map(&mut |object| Ok(self.hold(object)))
    }

    fn within_deadline<R>(&self, body: impl FnOnce(&Host) -> Result<R, ScriptError>) -> Result<R, Error> {
        // Waiting for other engines doesn't count.
        in_turn(|| {
            let deadline = self.deadline.map(|limit| self.host.interrupter().deadline(limit));
            let ended = body(&self.host);
            drop(deadline);
            Ok(ended?)
        })
    }
}
