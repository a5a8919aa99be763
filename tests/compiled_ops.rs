//! Every sample call of the op registry gives the same compiled and not, and a traced function is told the truth about its results.

use std::{
    io,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};
use taipan::{Engine, Policy, settings::Environment};

/// At least so many calls are compared: the script finds most ops by their names.
const LEAST: u32 = 2500;

#[test]
fn compiled_calls_agree_with_plain_ones() {
    let output = Captured::default();
    let builder = Engine::builder().policy(Policy::user()).environment(Environment::new()).setting("verify", "true");
    let engine = builder.stdout(output.clone()).build().expect("the engine starts");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/ops/compiled.py");
    assert_eq!(engine.run_script(script, &[]).expect("it runs"), 0);
    let text = output.text();
    let counts = text.lines().last().and_then(|line| {
        let (calls, rest) = line.split_once(" calls, ")?;
        Some((calls.parse::<u32>().ok()?, rest.strip_suffix(" differences")?.parse::<u32>().ok()?))
    });
    let Some((calls, differences)) = counts else { panic!("no count: {text}") };
    assert_eq!(differences, 0, "{text}");
    assert!(calls >= LEAST, "{calls} calls");
}

/// Output that can be read while an engine writes it.
#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl Captured {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

impl io::Write for Captured {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(data);
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
