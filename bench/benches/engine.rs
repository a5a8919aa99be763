//! What the engine costs around the work itself: starting, importing, tracing, checking guards, calling.
//!
//! ```sh
//! cargo bench --package taipan-bench --ignore-rust-version
//! ```

use criterion::{BatchSize, Criterion, criterion_main};
use std::{
    cell::Cell,
    hint::black_box,
    io,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};
use taipan::{Engine, Event, Module, Tensor, Value};

fn engine() -> Engine {
    Engine::builder().stdout(io::sink()).threads(1).build().expect("the engine starts")
}

fn start(criterion: &mut Criterion) {
    criterion.bench_function("start: an engine", |bencher| bencher.iter(engine));
    criterion.bench_function("start: import torch", |bencher| {
        bencher.iter_batched(engine, |engine| engine.load_str("model", "import torch").map(|_| engine), BatchSize::PerIteration);
    });
}

/// Times `loop_NAME` of the script, which does its thing as often as it is told.
fn in_vm(criterion: &mut Criterion, script: &Module, what: &str, name: &str) {
    let body = script.function(name).expect("a loop");
    criterion.bench_function(what, |bencher| {
        bencher.iter_custom(|count| {
            let start = Instant::now();
            body.call::<()>((i64::try_from(count).unwrap_or(i64::MAX),)).expect("the loop runs");
            start.elapsed()
        });
    });
}

fn calls(criterion: &mut Criterion) {
    let engine = engine();
    let script = engine.load_str("calls", include_str!("calls.py")).expect("the script runs");
    in_vm(criterion, &script, "call from the VM: plain function", "loop_plain");
    in_vm(criterion, &script, "call from the VM: compiled, guards hold", "loop_hit");
    in_vm(criterion, &script, "call from the VM: compiled, one break", "loop_break");
    in_vm(criterion, &script, "call from the VM: compiled, 64 modules guarded", "loop_deep");
    in_vm(criterion, &script, "hook on a miss: eight versions that don't fit, then plain", "loop_miss");
    in_vm(criterion, &script, "hook on a miss: the same, and a plain call", "loop_miss_call");
    in_vm(criterion, &script, "hook on a hit: a turn of a loop that can't be traced, with a call that can", "loop_inside");
    in_vm(criterion, &script, "fifty small ops: plain", "loop_fifty_ops_plain");
    in_vm(criterion, &script, "fifty small ops: evaluator", "loop_fifty_ops");

    let hit = script.function("hit").expect("a function");
    let x = taipan::tensor(&[1.0_f32], &[1]).expect("a tensor");
    criterion.bench_function("call from Rust: compiled, guards hold", |bencher| {
        bencher.iter(|| hit.call::<Tensor>((black_box(&x),)).expect("the call"));
    });
}

/// Times the check of one version's guards, by the events that the setting `probe_guards` puts around it.
fn guards(criterion: &mut Criterion) {
    let spent: Arc<Mutex<[Duration; 2]>> = Arc::default();
    let (told, start) = (Arc::clone(&spent), Cell::new(Instant::now()));
    let observer = move |event: &Event| match event {
        Event::Checking { .. } => start.set(Instant::now()),
        Event::Checked { in_full, .. } => told.lock().expect("no panic")[usize::from(*in_full)] = start.get().elapsed(),
        _ => {}
    };
    let engine = Engine::builder().stdout(io::sink()).threads(1).observer(observer).build().expect("the engine starts");
    let script = engine.load_str("calls", include_str!("calls.py")).expect("the script runs");
    for (what, name, in_full) in [
        ("guard check: one tensor", "hit", false),
        ("guard check: 64 modules", "deep", false),
        ("guard check: 64 modules, each guard evaluated", "deep", true),
    ] {
        let function = script.function(name).expect("a function");
        let x = taipan::tensor(&[1.0_f32], &[1]).expect("a tensor");
        criterion.bench_function(what, |bencher| {
            bencher.iter_custom(|count| {
                engine.reset().expect("the engine answers");
                engine.set("probe_guards", &count.to_string()).expect("a setting");
                function.call::<Value>((&x,)).expect("the call");
                spent.lock().expect("no panic")[usize::from(in_full)]
            });
        });
    }
}

fn gpt(criterion: &mut Criterion) {
    let engine = engine();
    let script = engine.load(concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/programs/gpt.py")).expect("the GPT runs");
    let model = script.get("compiled").expect("the model");
    let tokens: Vec<i64> = (0..32).map(|index| index % 27).collect();
    let tokens = taipan::tensor(&tokens, &[1, 32]).expect("a tensor");
    criterion.bench_function("GPT: forward, traced before", |bencher| {
        bencher.iter(|| model.call::<Value>((black_box(&tokens),)).expect("the call"));
    });
    criterion.bench_function("GPT: trace and first forward", |bencher| {
        bencher.iter_batched(
            || engine.reset().expect("the engine answers"),
            |()| model.call::<Value>((black_box(&tokens),)).expect("the call"),
            BatchSize::PerIteration,
        );
    });
}

mod groups {
    //! What criterion generates, which has no documentation.
    #![allow(missing_docs, reason = "generated by criterion")]

    criterion::criterion_group!(benches, super::start, super::calls, super::guards, super::gpt);
}

criterion_main!(groups::benches);
