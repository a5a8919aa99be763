//! Every sample call of the op registry gives the same compiled and not, and a traced function is told the truth about its results.

mod captured;

use captured::Captured;
use std::path::Path;
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
