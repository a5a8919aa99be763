//! The check program: a guard set flattened into a tree over the entry's roots, in which every source is read once.

use crate::{
    guard::{Check, Failure, FailureKind, Guard},
    memo::Memo,
    source::{self, Path, Source, SourceId, SourceTable},
};
use std::{
    cell::{Cell, RefCell},
    collections::HashSet,
};
use taipan_frontend::inspect::{self, Object, Vm};

/// The frames of an entry, as guards see them.
pub trait Roots {
    /// A localsplus slot; `None` where it is unbound.
    fn slot(&self, frame: u16, index: u16) -> Option<&Object>;
    /// A place on the value stack; `None` where it is NULL.
    fn stack(&self, frame: u16, depth: u16) -> Option<&Object>;
    /// The namespace globals are looked up in.
    fn globals(&self, frame: u16) -> Option<Object>;
    /// The namespace behind it.
    fn builtins(&self, frame: u16) -> Option<Object>;
    /// The exception the frame is handling.
    fn handled(&self, frame: u16) -> Option<Object>;
    /// The new object that the frame's callee is filling.
    fn post(&self, frame: u16) -> Option<Object>;
}

/// Values the program read on its way, in the order they were asked for; `None` where one is absent.
pub type Captured = Vec<Option<Object>>;

/// One source to be read, with the checks of its value.
pub(crate) struct Step {
    pub source: Source,
    pub parent: Option<u32>,
    /// The step of the second source a read needs ([`Source::SuperAttr`]).
    pub other: Option<u32>,
    pub checks: Vec<u32>,
}

/// A compiled guard set.
pub struct Program {
    sources: SourceTable,
    guards: Vec<Guard>,
    steps: Vec<Step>,
    /// Checks that compare several values: `(guard, steps)`.
    joint: Vec<(u32, Vec<u32>)>,
    captures: Vec<u32>,
    /// Values of the running check, by step; kept so that a check allocates nothing.
    scratch: RefCell<Captured>,
    /// What the last full check that held made unnecessary.
    memo: RefCell<Option<Memo>>,
    /// Whether enough is anchored for a memo.
    can_remember: Cell<bool>,
    /// Full checks so far.
    full_checks: Cell<u64>,
}

impl Program {
    /// Compiles guards, and captures of the values at `captures`.
    pub fn new(sources: SourceTable, guards: Vec<Guard>, captures: &[SourceId]) -> Program {
        let mut needed = vec![false; sources.len()];
        let mut need = |id: SourceId| {
            let mut stack = vec![id];
            while let Some(id) = stack.pop() {
                if std::mem::replace(&mut needed[id.0 as usize], true) {
                    continue;
                }
                let source = sources.get(id);
                stack.extend(source.parent());
                if let Source::SuperAttr(_, after, _) = source {
                    stack.push(*after);
                }
            }
        };
        for guard in &guards {
            need(guard.at);
            match &guard.check {
                Check::SameAs(other) => need(*other),
                Check::NotAmong(all) => all.iter().for_each(|s| need(*s)),
                _ => {}
            }
        }
        captures.iter().for_each(|s| need(*s));
        let mut step_of = vec![u32::MAX; sources.len()];
        let mut steps: Vec<Step> = vec![];
        for id in (0..sources.len() as u32).map(SourceId).filter(|id| needed[id.0 as usize]) {
            step_of[id.0 as usize] = steps.len() as u32;
            let source = sources.get(id).clone();
            let parent = source.parent().map(|p| step_of[p.0 as usize]);
            let other = match &source {
                Source::SuperAttr(_, after, _) => Some(step_of[after.0 as usize]),
                _ => None,
            };
            steps.push(Step { source, parent, other, checks: vec![] });
        }
        let mut joint = vec![];
        for (i, guard) in guards.iter().enumerate() {
            let at = step_of[guard.at.0 as usize];
            match &guard.check {
                Check::SameAs(other) => joint.push((i as u32, vec![at, step_of[other.0 as usize]])),
                Check::NotAmong(all) => {
                    let others = all.iter().map(|s| step_of[s.0 as usize]);
                    joint.push((i as u32, std::iter::once(at).chain(others).collect()));
                }
                _ => steps[at as usize].checks.push(i as u32),
            }
        }
        let captures = captures.iter().map(|s| step_of[s.0 as usize]).collect();
        Program {
            sources,
            guards,
            steps,
            joint,
            captures,
            scratch: RefCell::default(),
            memo: RefCell::default(),
            can_remember: Cell::new(true),
            full_checks: Cell::new(0),
        }
    }

    /// The guards, in the order they were made.
    pub fn guards(&self) -> &[Guard] {
        &self.guards
    }

    /// Where the values are that the guards speak about, each once.
    pub fn looked_at(&self) -> Vec<Path> {
        let mut seen = HashSet::new();
        self.guards.iter().filter(|guard| seen.insert(guard.at)).map(|guard| self.sources.path(guard.at)).collect()
    }

    /// The sources they speak about.
    pub fn sources(&self) -> &SourceTable {
        &self.sources
    }

    /// Whether every guard holds; if so, the captured values are left in `captured`.
    pub fn check(&self, roots: &dyn Roots, vm: &Vm, captured: &mut Captured) -> bool {
        captured.clear();
        let root = |step: u32| self.read_root(&self.steps[step as usize].source, roots);
        if let Some(memo) = &*self.memo.borrow()
            && memo.holds(root, vm)
        {
            return self.check_open(memo, roots, vm, captured);
        }
        self.full_checks.set(self.full_checks.get() + 1);
        let mut values = self.scratch.take();
        let holds = self.evaluate(roots, vm, &mut values);
        if holds {
            captured.extend(self.captures.iter().map(|s| values[*s as usize].clone()));
            // The second time is when remembering begins to pay.
            if self.full_checks.get() > 1 && self.can_remember.get() {
                let memo = Memo::new(&self.steps, &self.guards, &self.joint, &self.captures, &values, vm);
                // What makes values anchored is guarded, so it will not be otherwise next time.
                self.can_remember.set(memo.is_some());
                let replaced = self.memo.replace(memo);
                drop(replaced);
            }
        }
        values.clear();
        self.scratch.replace(values);
        holds
    }

    /// Whether every guard holds, each evaluated; nothing is remembered or captured.
    pub fn holds_in_full(&self, roots: &dyn Roots, vm: &Vm) -> bool {
        let mut values = self.scratch.take();
        let holds = self.evaluate(roots, vm, &mut values);
        values.clear();
        self.scratch.replace(values);
        holds
    }

    /// Reads every step's value, as far as all guards hold.
    fn evaluate(&self, roots: &dyn Roots, vm: &Vm, values: &mut Captured) -> bool {
        values.clear();
        for step in &self.steps {
            let value = self.read(&step.source, step.parent, step.other, values, roots, vm);
            if !step.checks.iter().all(|g| self.guards[*g as usize].check.holds(value.as_ref(), vm)) {
                return false;
            }
            values.push(value);
        }
        self.joint.iter().all(|(g, steps)| joint_holds(&self.guards[*g as usize].check, steps, values))
    }

    /// The open part of a check whose anchored part holds.
    fn check_open(&self, memo: &Memo, roots: &dyn Roots, vm: &Vm, captured: &mut Captured) -> bool {
        let mut values = self.scratch.take();
        values.clear();
        values.extend(memo.held.iter().map(inspect::Pin::object));
        let mut holds = true;
        for open in &memo.open {
            let step = &self.steps[open.step as usize];
            let value = self.read(&step.source, open.parent, open.other, &values, roots, vm);
            if !step.checks.iter().all(|g| self.guards[*g as usize].check.holds(value.as_ref(), vm)) {
                holds = false;
                break;
            }
            values.push(value);
        }
        holds = holds && memo.joint.iter().all(|(g, places)| joint_holds(&self.guards[*g as usize].check, places, &values));
        if holds {
            captured.extend(memo.captures.iter().map(|p| values.get(*p as usize).cloned().flatten()));
        }
        values.clear();
        self.scratch.replace(values);
        holds
    }

    /// How many checks were made in full, and whether the next one need not be.
    pub fn effort(&self) -> (u64, bool) {
        (self.full_checks.get(), self.memo.borrow().is_some())
    }

    /// The guards that do not hold: the first of each value, and none about what is reached from a value that is another one.
    pub fn failures(&self, roots: &dyn Roots, vm: &Vm) -> Vec<Failure> {
        let mut values: Captured = vec![];
        for step in &self.steps {
            let value = self.read(&step.source, step.parent, step.other, &values, roots, vm);
            values.push(value);
        }
        let mut failures = vec![];
        // Whether a step or one it is reached from has failed.
        let mut failed = vec![false; self.steps.len()];
        for (index, (step, value)) in self.steps.iter().zip(&values).enumerate() {
            failed[index] = step.parent.into_iter().chain(step.other).any(|parent| failed[parent as usize]);
            if failed[index] {
                continue;
            }
            let mut guards = step.checks.iter().map(|g| &self.guards[*g as usize]);
            if let Some(guard) = guards.find(|guard| !guard.check.holds(value.as_ref(), vm)) {
                failed[index] = true;
                failures.push(self.failure(guard, value.as_ref(), vm));
            }
        }
        for (g, steps) in &self.joint {
            let guard = &self.guards[*g as usize];
            if !steps.iter().any(|step| failed[*step as usize]) && !joint_holds(&guard.check, steps, &values) {
                failures.push(self.failure(guard, values[steps[0] as usize].as_ref(), vm));
            }
        }
        failures
    }

    /// One line per guard, sources aligned: what `explain` and fixtures show.
    pub fn text(&self) -> Vec<String> {
        // A presence that a stronger guard at the same source implies is not shown.
        let implied =
            |g: &Guard| matches!(g.check, Check::Present) && self.guards.iter().any(|o| o.at == g.at && !matches!(o.check, Check::Present));
        let shown: Vec<(String, String)> =
            self.guards.iter().filter(|g| !implied(g)).map(|g| (self.sources.text(g.at), g.check.text(&self.sources))).collect();
        let width = shown.iter().map(|(s, _)| s.chars().count()).max().unwrap_or(0);
        shown.into_iter().map(|(s, c)| format!("{s:width$}  {c}")).collect()
    }

    fn failure(&self, guard: &Guard, value: Option<&Object>, vm: &Vm) -> Failure {
        let (kind, text): (FailureKind, String) = guard.check.explain(&self.sources.short_text(guard.at), value, vm);
        Failure { kind, text, line: guard.line }
    }

    fn read_root(&self, source: &Source, roots: &dyn Roots) -> Option<Object> {
        match source {
            Source::Slot { frame, index, .. } => roots.slot(*frame, *index).cloned(),
            Source::Stack { frame, depth } => roots.stack(*frame, *depth).cloned(),
            Source::Globals { frame } => roots.globals(*frame),
            Source::Builtins { frame } => roots.builtins(*frame),
            Source::Handled { frame } => roots.handled(*frame),
            Source::Post { frame } => roots.post(*frame),
            Source::Known(index) => Some(self.sources.known_object(*index).clone()),
            _ => None,
        }
    }

    #[inline]
    fn read(
        &self,
        source: &Source,
        parent: Option<u32>,
        other: Option<u32>,
        values: &[Option<Object>],
        roots: &dyn Roots,
        vm: &Vm,
    ) -> Option<Object> {
        match parent {
            None => self.read_root(source, roots),
            Some(parent) => {
                let parent = values.get(parent as usize)?.as_ref()?;
                let second = other.and_then(|o| values.get(o as usize)?.as_ref());
                source::read(source, parent, second, vm)
            }
        }
    }
}

fn joint_holds(check: &Check, steps: &[u32], values: &[Option<Object>]) -> bool {
    let value = |s: u32| values[s as usize].as_ref();
    match check {
        Check::SameAs(_) => matches!((value(steps[0]), value(steps[1])), (Some(a), Some(b)) if inspect::same(a, b)),
        Check::NotAmong(_) => match value(steps[0]) {
            Some(one) => steps[1..].iter().all(|s| value(*s).is_none_or(|other| !inspect::same(one, other))),
            None => true,
        },
        _ => true,
    }
}
