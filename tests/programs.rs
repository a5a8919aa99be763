//! The programs a user reads first: each prints what real PyTorch prints, and its forwards are whole graphs that are reused.

mod captured;

use captured::Captured;
use libtest_mimic::{Arguments, Failed, Trial};
use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{Arc, Mutex, PoisonError},
};
use taipan::{Engine, Event, Policy, settings::Environment};

/// How far a printed number may be from PyTorch's: `1e-5` absolutely and relatively.
const TOLERANCE: f64 = 1e-5;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/programs");
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let mut programs: Vec<PathBuf> = entries.filter(|path| path.with_extension("expected").exists() && has_extension(path, "py")).collect();
    programs.sort();
    let mut trials = Vec::new();
    for path in programs {
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        for (mode, disable) in [("plain", true), ("graph", false)] {
            let path = path.clone();
            trials.push(Trial::test(format!("{name} {mode}"), move || run(&path, disable).map_err(Failed::from)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn has_extension(path: &Path, wanted: &str) -> bool {
    path.extension().is_some_and(|extension| extension == wanted)
}

fn run(path: &Path, disable: bool) -> Result<(), String> {
    let expected = fs::read_to_string(path.with_extension("expected")).map_err(|error| error.to_string())?;
    let output = Captured::default();
    let events: Arc<Mutex<Vec<Event>>> = Arc::default();
    let seen = Arc::clone(&events);
    let engine = Engine::builder()
        .policy(Policy::user())
        .environment(Environment::new())
        .setting("verify", "true")
        .setting("disable", if disable { "true" } else { "false" })
        .stdout(output.clone())
        .observer(move |event| lock(&seen).push(event.clone()))
        .build()
        .map_err(|error| error.to_string())?;
    let code = engine.run_script(path, &[]).map_err(|error| error.to_string())?;
    if code != 0 {
        return Err(format!("exit code {code}"));
    }
    compare(&expected, &output.text())?;
    let events = lock(&events);
    if disable {
        return Ok(());
    }
    let told = || events.iter().map(|event| format!("\n  {event}")).collect::<String>();
    if events.iter().any(|event| matches!(event, Event::Broke { .. } | Event::Refused { .. } | Event::LimitHit { .. })) {
        return Err(format!("a forward isn't one graph:{}", told()));
    }
    let count = |of: fn(&Event) -> bool| events.iter().filter(|event| of(event)).count();
    let compiled = count(|event| matches!(event, Event::Compiled { .. }));
    let reused = count(|event| matches!(event, Event::Reused { .. }));
    let recompiled = count(|event| matches!(event, Event::Recompiled { failures, .. } if !failures.is_empty()));
    if compiled == 0 || reused == 0 || recompiled == 0 {
        return Err(format!("expected a compile, a reuse and a recompile with its reason:{}", told()));
    }
    Ok(())
}

/// Whether two texts are the same but for small differences of their numbers.
fn compare(expected: &str, got: &str) -> Result<(), String> {
    let (expected, got): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), got.lines().collect());
    for index in 0..expected.len().max(got.len()) {
        let (left, right) = (expected.get(index).copied(), got.get(index).copied());
        let same = matches!((left, right), (Some(left), Some(right)) if same_line(left, right));
        if !same {
            let show = |line: Option<&str>| line.unwrap_or("(nothing)").to_owned();
            return Err(format!("line {}\n  expected  {}\n  got       {}", index + 1, show(left), show(right)));
        }
    }
    Ok(())
}

fn same_line(expected: &str, got: &str) -> bool {
    let pieces = |line: &str| -> Vec<String> {
        let mut pieces = vec![String::new()];
        let mut in_number = false;
        for letter in line.chars() {
            let number = letter.is_ascii_digit() || ".+-e".contains(letter);
            if number != in_number {
                pieces.push(String::new());
                in_number = number;
            }
            if let Some(piece) = pieces.last_mut().filter(|_| !letter.is_whitespace()) {
                piece.push(letter);
            }
        }
        pieces.into_iter().filter(|piece| !piece.is_empty()).collect()
    };
    let (expected, got) = (pieces(expected), pieces(got));
    expected.len() == got.len()
        && expected.iter().zip(&got).all(|(left, right)| match (left.parse::<f64>(), right.parse::<f64>()) {
            (Ok(left), Ok(right)) => (left - right).abs() <= TOLERANCE * (1.0 + left.abs()),
            _ => left == right,
        })
}

fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
