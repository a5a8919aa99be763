//! Generated programs, compiled and plain: whatever can be seen of a call must be the same.
//!
//! Each case is a Python function that the seed of its number makes. It is called with inputs of other shapes, dtypes, layouts, aliases,
//! flags and objects in turn, so that guards have to tell them apart. A case that differs is made smaller as long as it still does, and
//! printed. `CASES=2000 FIRST=500 cargo test --test generated` runs as many cases from there on.

#[path = "../captured/mod.rs"]
mod captured;
mod chain;
mod grammar;
mod program;
mod shrink;

use captured::Captured;
use grammar::Grammar;
use program::Program;
use std::{
    env,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};
use taipan::{Engine, Event, Object, Policy, settings::Environment};

/// Runs a program both ways and tells where they differ.
const OUTCOME: &str = include_str!("outcome.py");

/// Cases of each kind, unless `CASES` says otherwise.
const CASES: u64 = 150;

/// Cases that one engine runs before another takes over, so that none grows without end.
const CASES_OF_AN_ENGINE: u64 = 40;

#[test]
fn programs_agree() {
    agree(&grammar::PROGRAMS, "programs");
}

#[test]
fn chains_of_ops_agree() {
    agree(&chain::CHAINS, "chains");
}

/// What the engines did, so that a test in which nothing is compiled fails.
#[derive(Default)]
struct Work {
    compiled: AtomicU64,
    reused: AtomicU64,
    recompiled: AtomicU64,
}

fn agree(grammar: &Grammar, kind: &str) {
    let number = |name: &str, default: u64| env::var(name).map_or(default, |text| text.parse().expect("a number"));
    let (first, cases) = (number("FIRST", 0), number("CASES", CASES));
    let work = Arc::new(Work::default());
    let mut runner = Runner::new(kind, &work);
    for seed in first..first + cases {
        if seed % CASES_OF_AN_ENGINE == 0 {
            runner = Runner::new(kind, &work);
        }
        let program = Program::new(grammar, seed);
        if runner.difference(&program).is_some() {
            let smallest = shrink::smallest(program, |smaller| runner.difference(smaller).is_some());
            let difference = runner.difference(&smallest).unwrap_or_default();
            panic!("case {seed} of the {kind}:\n\n{}\n{difference}", smallest.text());
        }
    }
    let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let [compiled, reused, recompiled] = [count(&work.compiled), count(&work.reused), count(&work.recompiled)];
    println!("{cases} {kind}: {compiled} entries compiled, {recompiled} recompiled, {reused} reused");
    assert!(compiled.min(reused).min(recompiled) >= cases, "the cases don't make the JIT work");
}

/// An engine that compares runs.
struct Runner {
    compare: Object,
    kind: String,
    errors: Captured,
}

impl Runner {
    fn new(kind: &str, work: &Arc<Work>) -> Runner {
        let errors = Captured::default();
        let work = Arc::clone(work);
        let observer = move |event: &Event| {
            let counter = match event {
                Event::Compiled { .. } => &work.compiled,
                Event::Recompiled { .. } => &work.recompiled,
                Event::Reused { .. } => &work.reused,
                _ => return,
            };
            counter.fetch_add(1, Ordering::Relaxed);
        };
        let builder = Engine::builder().policy(Policy::user()).environment(Environment::new()).setting("verify", "true");
        let engine = builder.stderr(errors.clone()).observer(observer).build().expect("the engine starts");
        let outcome = engine.load_str("outcome", OUTCOME).expect("it loads");
        Runner { compare: outcome.function("difference").expect("a function"), kind: kind.to_owned(), errors }
    }

    /// Where a run differs from the plain one. An internal error is a difference too, though the call then runs plainly.
    fn difference(&self, program: &Program) -> Option<String> {
        let before = self.errors.text().len();
        let found: String = self.compare.call((program.text(), self.kind.as_str())).unwrap_or_else(|error| error.to_string());
        let errors = self.errors.text()[before..].to_owned();
        let all = found + &errors;
        (!all.is_empty()).then_some(all)
    }
}
