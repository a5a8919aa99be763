//! The compiler itself: what it decides at each entry.

use super::{
    backend::{self, Callable},
    owner::{Closed, Entry, Owner},
    version::{ChainRoots, Version, Work},
};
use crate::{
    report::{Break, Event, Failure, Names, Observer, Place, VersionName, VersionReport},
    settings::{SettingStore, Settings},
};
use std::{
    cell::{Cell, RefCell},
    rc::{Rc, Weak},
};
use taipan_frontend::{
    bridge::{self, FrameState},
    hook::{self, CallHook, Called, Region},
    inspect::{self, Args, CallResult, Const, Function, Object, Vm},
    torch::{Ambient, CompiledObject, install_compiler},
};
use taipan_ir::{DType, dims::NumberDims};
use taipan_tensor::{evaluate::Plan, registry};
use taipan_tracer::{EntryFrame, Exit, Limits, Outcome, Stop, Trace, stop};

/// What to do at an entry.
pub(super) enum Decision {
    /// Run this version, whose guards captured these values.
    Run(Rc<Version>, Vec<Option<Object>>),
    /// Run one instruction plainly.
    Step,
    /// Run to the end plainly; what is called is compiled.
    Plain,
    /// Run to the end plainly, with everything that is called.
    AllPlain,
}

/// The compiler of one engine.
pub struct Jit {
    pub(super) settings: Rc<RefCell<SettingStore>>,
    pub(super) observer: Observer,
    names: RefCell<Names>,
    owners: RefCell<Vec<Weak<Owner>>>,
    /// Owners that outlive their function, by the setting `keep_versions`.
    kept: RefCell<Vec<Rc<Owner>>>,
    /// Owners of the regions that are running, innermost last.
    pub(super) running: RefCell<Vec<Rc<Owner>>>,
    /// Calls of Python functions that the hook has offered.
    offered: Cell<u64>,
    /// Calls of compiled functions that are running, compiled or not.
    depth: Cell<usize>,
    /// By the setting `keep_calls`: `(compiled function, arguments by position, arguments by name)` of each outermost call.
    calls: RefCell<Vec<Object>>,
}

impl Jit {
    /// Makes a compiler and puts it into the VM of this thread.
    pub fn install(settings: Rc<RefCell<SettingStore>>, observer: Observer, vm: &Vm) -> CallResult<Rc<Jit>> {
        let jit = Rc::new(Jit {
            settings,
            observer,
            names: RefCell::default(),
            owners: RefCell::default(),
            kept: RefCell::default(),
            running: RefCell::default(),
            offered: Cell::new(0),
            depth: Cell::new(0),
            calls: RefCell::default(),
        });
        inspect::import("_taipan_polyfills", vm)?;
        hook::install(jit.clone(), vm)?;
        install_compiler(jit.clone());
        Ok(jit)
    }

    /// The versions held.
    pub fn versions(&self) -> Vec<VersionReport> {
        let owners: Vec<Rc<Owner>> = self.owners.borrow().iter().filter_map(Weak::upgrade).collect();
        let mut all: Vec<VersionReport> = owners.iter().flat_map(|o| o.versions()).map(|v| report(&v)).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    /// The calls kept so far, as a list of `(compiled function, arguments by position, arguments by name)`.
    pub fn calls(&self, vm: &Vm) -> Object {
        inspect::make_list(self.calls.borrow().clone(), vm)
    }

    /// Lets go of every object of the script.
    pub fn finish(&self) {
        self.forget();
        let calls = self.calls.take();
        drop(calls);
    }

    /// Forgets every version and every name.
    pub fn forget(&self) {
        let owners: Vec<Rc<Owner>> = self.owners.borrow().iter().filter_map(Weak::upgrade).collect();
        owners.iter().for_each(|o| o.clear());
        self.kept.borrow_mut().clear();
        *self.names.borrow_mut() = Names::default();
    }

    fn snapshot(&self) -> Settings {
        self.settings.borrow().snapshot()
    }

    pub(super) fn next_failure(&self) -> Option<usize> {
        self.settings.borrow().current().inject_failure.map(|n| n as usize)
    }

    pub(super) fn owner(&self, compiled: &CompiledObject) -> Option<Rc<Owner>> {
        let options = compiled.options();
        let mut made = false;
        let owner = compiled.cache(|| {
            made = true;
            Owner::new(options.fullgraph, options.backend.clone())
        })?;
        if made {
            let mut owners = self.owners.borrow_mut();
            owners.retain(|o| o.strong_count() > 0);
            owners.push(Rc::downgrade(&owner));
            if self.settings.borrow().current().keep_versions {
                self.kept.borrow_mut().push(owner.clone());
            }
        }
        Some(owner)
    }

    /// What to do at the entry a chain stands at.
    pub(super) fn decide(&self, owner: &Rc<Owner>, chain: &[FrameState], vm: &Vm) -> CallResult<Decision> {
        if self.settings.borrow().current().stumble {
            return Ok(Decision::Step);
        }
        let Some(entry) = owner.entry(chain, &self.names) else { return Ok(Decision::Plain) };
        let versions = entry.versions.borrow().clone();
        if let Some((version, captured)) = self.find(&versions, chain, vm) {
            if version.recipe().is_none() {
                return Ok(Decision::Step);
            }
            self.tell(Event::Reused { version: version.name.clone() });
            self.probe(&version, chain, vm);
            return Ok(Decision::Run(version, captured));
        }
        match entry.closed.get() {
            Closed::No if Ambient::now(vm).watches_nodes() => return Ok(Decision::Plain),
            Closed::No => {}
            Closed::Refused => return Ok(Decision::Plain),
            Closed::Full => return Ok(Decision::AllPlain),
        }
        let settings = self.snapshot();
        if versions.len() as u64 >= settings.recompile_limit || owner.total.get() >= settings.accumulated_recompile_limit {
            entry.closed.set(Closed::Full);
            let (setting, limit) = if versions.len() as u64 >= settings.recompile_limit {
                ("recompile_limit", settings.recompile_limit)
            } else {
                ("accumulated_recompile_limit", settings.accumulated_recompile_limit)
            };
            self.tell(Event::LimitHit { entry: entry.name.clone(), setting, limit });
            if settings.fail_on_recompile_limit_hit {
                return Err(inspect::unsupported(&format!("{setting} of {limit} reached for {}", entry.name), vm));
            }
            return Ok(Decision::AllPlain);
        }
        match settings.stance.as_str() {
            "eager_on_recompile" => return Ok(Decision::Plain),
            "fail_on_recompile" => {
                let text = format!("{} has no version for this call, and the stance is 'fail_on_recompile'", entry.name);
                return Err(inspect::runtime_error(&self.with_reasons(text, &versions, chain, vm), vm));
            }
            _ => {}
        }
        if settings.error_on_recompile && !versions.is_empty() {
            let text = format!("{} would be compiled again, and error_on_recompile is set", entry.name);
            return Err(inspect::recompile_error(&self.with_reasons(text, &versions, chain, vm), vm));
        }
        self.compile(owner, &entry, &versions, chain, &settings, vm)
    }

    /// A text with the guards that fail of the version that comes nearest.
    fn with_reasons(&self, mut text: String, versions: &[Rc<Version>], chain: &[FrameState], vm: &Vm) -> String {
        if let Some((version, failures)) = self.nearest(versions, chain, Ambient::now(vm), vm) {
            text.extend(failures.iter().map(|f| format!("\n  {version}: {}", f.text)));
        }
        text
    }

    fn compile(
        &self,
        owner: &Rc<Owner>,
        entry: &Rc<Entry>,
        versions: &[Rc<Version>],
        chain: &[FrameState],
        settings: &Settings,
        vm: &Vm,
    ) -> CallResult<Decision> {
        let ambient = Ambient::now(vm);
        let limits = Limits {
            instructions: settings.trace_instructions as usize,
            nodes: settings.trace_nodes as usize,
            stop_at: settings.inject_refusal.map(|n| n as usize),
        };
        let outcome = {
            let _plain = Region::plain(vm);
            let frames: Vec<EntryFrame<'_>> = chain.iter().map(|f| entry_frame(f, vm)).collect();
            taipan_tracer::trace(&frames, ambient, limits, vm)
        };
        let trace = match outcome {
            Outcome::Traced(trace) => *trace,
            Outcome::Refused(stop, place) => {
                let place = place.map(|p| place_of(&p.info, p.pc)).unwrap_or_else(|| chain_place(chain));
                let at = break_of(&stop, place);
                if owner.fullgraph {
                    return Err(fullgraph_error(&at, vm));
                }
                self.tell(Event::Refused { entry: entry.name.clone(), at });
                entry.closed.set(Closed::Refused);
                return Ok(Decision::Plain);
            }
        };
        let nearest = self.nearest(versions, chain, ambient, vm);
        let number = entry.made.get() + 1;
        let name = entry.name.version(number);
        let broke = match &trace.exit {
            Exit::Break { stop, place, .. } | Exit::Stay { stop, place } => Some((stop.clone(), place_of(&place.info, place.pc))),
            Exit::Return { .. } => None,
        };
        let at = broke.map(|(stop, place)| (std::ptr::eq(stop.reason, &stop::RAISES), break_of(&stop, place)));
        if let Some((raises, at)) = &at
            && owner.fullgraph
            && !raises
            && settings.inject_refusal.is_none()
        {
            return Err(fullgraph_error(at, vm));
        }
        let at = at.map(|(_, at)| at);
        self.reveal(&trace, chain);
        entry.made.set(number);
        owner.total.set(owner.total.get() + 1);
        let stays = matches!(trace.exit, Exit::Stay { .. });
        match nearest {
            _ if stays => {}
            None => self.tell(Event::Compiled { version: name.clone() }),
            Some((nearest, failures)) => self.tell(Event::Recompiled { version: name.clone(), nearest, failures }),
        }
        if let Some(at) = &at {
            self.tell(Event::Broke { version: (!stays).then(|| name.clone()), at: at.clone() });
        }
        let version = match self.version(owner, name, ambient, trace, at, settings, chain, vm) {
            Ok(version) => Rc::new(version),
            Err(raised) if settings.suppress_errors => {
                let at = Break {
                    place: chain_place(chain),
                    reason: "backend",
                    detail: inspect::exception_text(&raised, vm),
                    why: "the backend failed",
                    hint: "the call runs plainly, as suppress_errors asks; call without it to see the error",
                };
                self.tell(Event::Refused { entry: entry.name.clone(), at });
                entry.closed.set(Closed::Refused);
                return Ok(Decision::Plain);
            }
            Err(raised) => return Err(raised),
        };
        entry.versions.borrow_mut().push(version.clone());
        if stays {
            return Ok(Decision::Step);
        }
        // A new version's guards hold for the very values it was traced for; if not, that is our bug, and plain is right.
        match self.find(std::slice::from_ref(&version), chain, vm) {
            Some((version, captured)) => {
                self.probe(&version, chain, vm);
                Ok(Decision::Run(version, captured))
            }
            None => {
                let failures = version.program.failures(&ChainRoots { chain, vm }, vm);
                let why: Vec<String> = failures.into_iter().map(|f| f.text).collect();
                let at = Break {
                    place: chain_place(chain),
                    reason: "internal",
                    detail: why.join(", "),
                    why: "a guard did not hold for the values it was made from, which is a fault of Taipan",
                    hint: "please report it; the call runs plainly",
                };
                self.tell(Event::Refused { entry: entry.name.clone(), at });
                entry.versions.borrow_mut().retain(|v| !Rc::ptr_eq(v, &version));
                entry.closed.set(Closed::Refused);
                Ok(Decision::Plain)
            }
        }
    }

    /// Checks the guards of a version that hasn't run yet as often as the setting `probe_guards` says.
    fn probe(&self, version: &Version, chain: &[FrameState], vm: &Vm) {
        let times = self.settings.borrow().current().probe_guards;
        if times == 0 || version.runs.get() > 0 {
            return;
        }
        let roots = ChainRoots { chain, vm };
        let mut captured = vec![];
        // What a check may leave out is known from the second one on.
        for _ in 0..3 {
            version.program.check(&roots, vm, &mut captured);
            version.program.holds_in_full(&roots, vm);
        }
        let _region = Region::compiled(vm);
        for in_full in [false, true] {
            let name = version.name.clone();
            self.tell(Event::Checking { version: version.name.clone() });
            let before = self.offered.get();
            let held = if in_full {
                (0..times).filter(|_| version.program.holds_in_full(&roots, vm)).count()
            } else {
                (0..times).filter(|_| version.program.check(&roots, vm, &mut captured)).count()
            };
            self.tell(Event::Checked { version: name, in_full, held: held as u64, calls: self.offered.get() - before });
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one version, put together once")]
    fn version(
        &self,
        owner: &Owner,
        name: VersionName,
        ambient: Ambient,
        trace: Trace,
        ends_at: Option<Break>,
        settings: &Settings,
        chain: &[FrameState],
        vm: &Vm,
    ) -> CallResult<Version> {
        let Trace { graph, inputs, sources, guards, exit, instructions, .. } = trace;
        let (graph, stays) = graph.compacted(|_| true);
        let mut captures: Vec<_> = inputs.into_iter().zip(stays).filter(|(_, stays)| *stays).map(|(s, _)| s).collect();
        if let Exit::Return { recipe, .. } | Exit::Break { recipe, .. } = &exit {
            captures.extend(recipe.sources.iter().copied());
        }
        if settings.verify {
            verify(&graph, ambient.default_dtype()).map_err(|e| inspect::system_error(&e, vm))?;
        }
        let program = taipan_guards::Program::new(sources, guards, &captures);
        let has_work = !graph.nodes().is_empty() || !graph.outputs().is_empty();
        let work = match (&owner.backend, has_work) {
            (_, false) => None,
            (Some(backend), true) if inspect::constant(backend, vm).is_none() => {
                let mut captured = vec![];
                program.check(&ChainRoots { chain, vm }, vm, &mut captured);
                let examples: Vec<Object> = captured.into_iter().take(graph.inputs().len()).flatten().collect();
                // The backend's own code is not part of the region.
                let _plain = Region::plain(vm);
                Some(Work::Python(Rc::new(Callable::new(backend, &graph, &examples, vm)?)))
            }
            (named, true) => {
                let name = match named.as_ref().and_then(|b| inspect::constant(b, vm)) {
                    Some(Const::Str(s)) => s.to_string(),
                    _ => settings.backend.clone(),
                };
                if !backend::NAMES.contains(&name.as_str()) {
                    let text = format!("Invalid backend: '{name}', see `torch._dynamo.list_backends()` for available backends.");
                    return Err(inspect::invalid_backend(&text, vm));
                }
                Some(Work::Plan(Plan::new(&graph)))
            }
        };
        Ok(Version { name, ambient, program, graph, work, exit, ends_at, instructions, runs: Cell::new(0) })
    }

    /// The version with the fewest guards that fail, the latest of several, and those.
    fn nearest(&self, versions: &[Rc<Version>], chain: &[FrameState], ambient: Ambient, vm: &Vm) -> Option<(VersionName, Vec<Failure>)> {
        let roots = ChainRoots { chain, vm };
        let mut best: Option<(VersionName, Vec<Failure>)> = None;
        for version in versions.iter().filter(|v| v.recipe().is_some()) {
            let mut failures: Vec<Failure> = version
                .program
                .failures(&roots, vm)
                .into_iter()
                .map(|f| Failure { kind: f.kind.word(), text: f.text, line: f.line })
                .collect();
            if version.ambient != ambient {
                let word = |a: Ambient| if a.text().is_empty() { "the default".to_owned() } else { a.text() };
                let text = format!("ambient state was {}, is {}", word(version.ambient), word(ambient));
                failures.insert(0, Failure { kind: "ambient", text, line: 0 });
            }
            if best.as_ref().is_none_or(|(_, b)| failures.len() <= b.len()) {
                best = Some((version.name.clone(), failures));
            }
        }
        best
    }

    fn reveal(&self, trace: &Trace, chain: &[FrameState]) {
        for (line, text) in &trace.revealed {
            let mut place = chain_place(chain);
            place.line = *line;
            place.end_line = *line;
            self.tell(Event::Revealed { place, text: text.clone() });
        }
    }

    pub(super) fn enter(&self, owner: &Rc<Owner>, function: &Function, args: Args, vm: &Vm) -> CallResult {
        let Some(frame) = bridge::enter(function, &args, vm)? else { return hook::run_original(function, args, vm) };
        drop(args);
        self.trampoline(owner, vec![frame], vm)
    }
}

/// A call of a compiled function that is running.
pub(super) struct Call<'a>(&'a Jit);

impl<'a> Call<'a> {
    pub(super) fn begin(jit: &'a Jit, compiled: &CompiledObject, args: &Args, vm: &Vm) -> Self {
        if jit.depth.get() == 0 && jit.settings.borrow().current().keep_calls {
            let named = inspect::make_dict(vm);
            for (name, value) in &args.kwargs {
                inspect::dict_set(
                    &named,
                    &inspect::make_const(&Const::Str(name.as_str().unwrap_or_default().into()), vm),
                    Some(value.clone()),
                    vm,
                );
            }
            let positional = inspect::make_tuple(args.args.clone(), vm);
            let call = inspect::make_tuple(vec![compiled.to_owned().into(), positional, named], vm);
            jit.calls.borrow_mut().push(call);
        }
        jit.depth.set(jit.depth.get() + 1);
        Self(jit)
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.0.depth.set(self.0.depth.get() - 1);
    }
}

/// Takes an owner off the stack of running ones on every way out.
pub(super) struct Running<'a>(pub(super) &'a Jit);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let owner = self.0.running.borrow_mut().pop();
        drop(owner);
    }
}

impl CallHook for Jit {
    fn on_call(&self, function: &Function, args: Args, vm: &Vm) -> Called {
        self.offered.set(self.offered.get() + 1);
        let owner = self.running.borrow().last().cloned();
        match owner {
            Some(owner) if inspect::is_traceable(function, vm) => match bridge::enter(function, &args, vm) {
                Ok(Some(frame)) => {
                    drop(args);
                    Called::Done(self.trampoline(&owner, vec![frame], vm))
                }
                Ok(None) => Called::Declined(args),
                Err(e) => Called::Done(Err(e)),
            },
            Some(_) if inspect::is_import_machinery(function, vm) => {
                let _region = Region::plain(vm);
                Called::Done(hook::run_original(function, args, vm))
            }
            _ => Called::Declined(args),
        }
    }

    fn resume(&self, chain: Vec<FrameState>, vm: &Vm) -> CallResult {
        let owner = self.running.borrow().last().cloned();
        match owner {
            Some(owner) => self.trampoline(&owner, chain, vm),
            None => bridge::finish(chain, vm),
        }
    }
}

fn entry_frame<'a>(frame: &'a FrameState, vm: &Vm) -> EntryFrame<'a> {
    let globals: Object = frame.globals.clone().into();
    EntryFrame {
        info: frame.info.clone(),
        pc: frame.pc,
        slots: &frame.slots,
        stack: &frame.stack,
        builtins: inspect::builtins_of(&globals, vm),
        globals,
        handled: frame.handled.clone().map(Into::into),
        post: frame.post.clone(),
    }
}

/// The graph obeys the rules, and its text reads back as itself.
fn verify(graph: &taipan_ir::graph::Graph, default: DType) -> Result<(), String> {
    taipan_ir::verify::verify(graph, registry(), &mut NumberDims, default).map_err(|e| e.to_string())?;
    let text = taipan_ir::text::write(graph, registry());
    match taipan_ir::text::parse(&text, registry()) {
        Ok(read) if read == *graph => Ok(()),
        Ok(_) => Err(format!("the text of a graph reads back as another one:\n{text}")),
        Err(e) => Err(format!("the text of a graph does not read back: {e}\n{text}")),
    }
}

pub(super) fn report(version: &Version) -> VersionReport {
    let mut guards = version.program.text();
    if !version.ambient.text().is_empty() {
        guards.insert(0, format!("ambient  {}", version.ambient.text()));
    }
    VersionReport {
        name: version.name.clone(),
        graph: taipan_ir::text::write(&version.graph, registry()),
        guards,
        instructions: version.instructions,
        looked_at: version.program.looked_at(),
        ends_at: version.ends_at.clone(),
    }
}

fn break_of(stop: &Stop, place: Place) -> Break {
    Break { place, reason: stop.reason.name, detail: stop.detail.clone(), why: stop.reason.why, hint: stop.reason.hint }
}

fn place_of(info: &taipan_frontend::code::CodeInfo, pc: usize) -> Place {
    let location = info.program.instructions.get(pc).and_then(|i| i.location);
    let (line, column, end_line, end_column) = location.map_or((0, 0, 0, 0), |(start, end)| {
        let column = |l: &taipan_frontend::code::SourcePlace| l.character_offset.to_zero_indexed() as u32;
        (start.line.get() as u32, column(&start), end.line.get() as u32, column(&end))
    });
    Place { file: info.meta.file.as_str().into(), line, column, end_line, end_column, function: info.meta.qualified_name.as_str().into() }
}

fn chain_place(chain: &[FrameState]) -> Place {
    match chain.last() {
        Some(frame) => place_of(&frame.info, frame.pc),
        None => Place { file: "".into(), line: 0, column: 0, end_line: 0, end_column: 0, function: "".into() },
    }
}

fn fullgraph_error(at: &Break, vm: &Vm) -> inspect::Raised {
    let text = format!(
        "fullgraph=True, but {}: {}{}\n  {} in {}\n  hint: {}",
        at.reason,
        at.why,
        if at.detail.is_empty() { String::new() } else { format!(" ({})", at.detail) },
        at.place,
        at.place.function,
        at.hint
    );
    inspect::unsupported(&text, vm)
}
