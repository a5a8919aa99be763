//! Training from a seed: scripts print the losses that real PyTorch prints, and need no more memory as they go on.

use std::{
    fs, io,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};
use taipan::{Engine, Policy, settings::Environment};

/// How far the first loss that is printed, at step 10, may be from PyTorch's.
const FIRST: f64 = 1e-5;

/// How far the later ones may be, unless PyTorch's own runs at one and at two threads are a tenth of that apart.
const LATER: f64 = 1e-4;

/// How much larger the process may be after the last step than after the second line, a tenth of the way.
const GROWTH: f64 = 1.05;

#[test]
fn char_gpt_learns_as_in_pytorch() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/training/char_gpt.py");
    let golden = fs::read_to_string(path.with_extension("expected")).expect("the golden file");
    let [one, two] = runs(&golden);
    let output = Output::default();
    let engine =
        Engine::builder().policy(Policy::user()).environment(Environment::new()).stdout(output.clone()).build().expect("an engine");
    let code = engine.run_script(&path, &[]).expect("the script runs");
    assert_eq!(code, 0);
    let lines = output.lines();
    assert_eq!(lines.len(), one.len(), "one line for every tenth step");
    for (index, (line, memory)) in lines.iter().enumerate() {
        let (step, loss) = parsed(line);
        let (wanted_step, wanted) = one[index];
        let spread = (wanted - two[index].1).abs();
        let allowed = if index == 0 { FIRST } else { LATER.max(10.0 * spread) };
        assert_eq!(step, wanted_step);
        assert!((loss - wanted).abs() <= allowed, "step {step}: loss {loss}, PyTorch's is {wanted}, allowed {allowed:e}");
        if let (Some(first), Some(now)) = (lines[1].1, *memory) {
            let growth = now as f64 / first as f64;
            assert!(growth <= GROWTH, "step {step}: {now} pages are resident, after step 20 there were {first}");
        }
    }
}

/// The steps and losses of the runs at one and at two threads.
fn runs(golden: &str) -> [Vec<(u32, f64)>; 2] {
    let run = |threads: u32| {
        let from = golden.lines().skip_while(|line| *line != format!("threads {threads}")).skip(1);
        from.take_while(|line| line.starts_with("step ")).map(parsed).collect()
    };
    [run(1), run(2)]
}

/// The step and the loss of a line such as `step 10 loss 2.5 norm 0.7`.
fn parsed(line: &str) -> (u32, f64) {
    let words: Vec<&str> = line.split_whitespace().collect();
    (words[1].parse().expect("a step"), words[3].parse().expect("a loss"))
}

/// What a script prints, line by line, with how many pages of the process were resident then, where the system says.
#[derive(Clone, Default)]
struct Output(Arc<Mutex<Written>>);

#[derive(Default)]
struct Written {
    text: String,
    lines: Vec<(String, Option<u64>)>,
}

impl Output {
    fn lines(&self) -> Vec<(String, Option<u64>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).lines.clone()
    }
}

impl io::Write for Output {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let mut written = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        written.text.push_str(&String::from_utf8_lossy(data));
        while let Some((line, rest)) = written.text.split_once('\n').map(|(line, rest)| (line.to_owned(), rest.to_owned())) {
            written.text = rest;
            written.lines.push((line, resident()));
        }
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The resident pages of this process; None where there is no `/proc`.
fn resident() -> Option<u64> {
    fs::read_to_string("/proc/self/statm").ok()?.split_whitespace().nth(1)?.parse().ok()
}
