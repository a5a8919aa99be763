//! Every sample call of every op against the numbers real PyTorch answered (`fixtures/ops/golden.jsonl`).
//!
//! `BLESS=1` writes the list of samples; `fixtures/ops/make.py` then asks PyTorch.

mod gradients;

use serde_json::Value;
use std::{collections::HashMap, fmt::Write, fs, path::PathBuf};
use taipan_ir::{DType, Number, OpError, bind, op::Entry};
use taipan_tensor::{Context, Tensor, registry, run, sample};

/// What runs are seeded with, here and in `make.py`.
const SEED: u64 = 0;

fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fixtures/ops")
}

fn samples() -> impl Iterator<Item = (&'static Entry, &'static str)> {
    registry().entries().iter().flat_map(|entry| entry.op.0.samples.iter().map(move |sample| (entry, *sample)))
}

fn key(entry: &Entry, sample: &str) -> String {
    format!("{} | {sample}", entry.schema.name())
}

/// Calls at places where a derivative is a matter of choice: `edges.txt`, written by hand.
fn edges() -> Vec<(&'static Entry, String)> {
    let text = fs::read_to_string(fixtures().join("edges.txt")).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let parts = lines.map(|line| line.split_once(" | ").unwrap_or_else(|| panic!("`{line}` is no call")));
    parts.map(|(op, args)| (registry().find(op).unwrap_or_else(|| panic!("no op is called `{op}`")), args.to_owned())).collect()
}

/// The lines of `golden.jsonl`, by op and arguments.
fn golden() -> HashMap<String, Value> {
    let text = fs::read_to_string(fixtures().join("golden.jsonl")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.map(|line| (format!("{} | {}", line["op"].as_str().unwrap(), line["args"].as_str().unwrap()), line)).collect()
}

/// Runs one sample in a context of its own.
fn answer(entry: &'static Entry, text: &str) -> Result<Vec<Tensor>, OpError> {
    let call = sample::parse(text).unwrap_or_else(|e| panic!("{}: {e}", key(entry, text)));
    let bound = bind::bind(entry.schema.base, bind::CallForm::Function, std::iter::once(entry), &call.args, &call.named)?;
    let mut cx = Context::with_threads(1);
    cx.generators.seed(SEED);
    run(&mut cx, bound.op, &bound.args).map(|results| results.into_vec())
}

/// None where the run gave what PyTorch gave, else how they differ.
fn compare(entry: &'static Entry, text: &str, golden: &Value) -> Option<String> {
    match (answer(entry, text), golden.get("out").and_then(Value::as_array)) {
        (Ok(results), Some(wanted)) if results.len() == wanted.len() => {
            results.iter().zip(wanted).find_map(|(got, want)| compare_tensor(entry, got, want))
        }
        (Ok(results), Some(wanted)) => Some(format!("{} results, PyTorch has {}", results.len(), wanted.len())),
        (Ok(_), None) => Some(format!("no error; PyTorch has {}: {}", golden["error"], golden["text"])),
        (Err(e), Some(_)) => Some(format!("error: {e}")),
        (Err(OpError::Raised { kind, text }), None) => {
            let wanted = (golden["error"].as_str().unwrap_or(""), golden["text"].as_str().unwrap_or(""));
            let first = text.lines().next().unwrap_or("");
            ((kind.to_string().as_str(), first) != wanted).then(|| format!("{kind}: {first}; PyTorch has {}: {}", wanted.0, wanted.1))
        }
        (Err(e), None) => Some(format!("error: {e}")),
    }
}

fn compare_tensor(entry: &Entry, got: &Tensor, want: &Value) -> Option<String> {
    let dtype = got.dtype();
    if dtype.to_string() != want["dtype"].as_str().unwrap_or("") {
        return Some(format!("dtype {dtype}, PyTorch has {}", want["dtype"]));
    }
    let list = |name: &str| -> Vec<i64> { want[name].as_array().into_iter().flatten().filter_map(Value::as_i64).collect() };
    if got.sizes() != list("shape") {
        return Some(format!("shape {:?}, PyTorch has {}", got.sizes(), want["shape"]));
    }
    if got.strides() != list("stride") {
        return Some(format!("strides {:?}, PyTorch has {}", got.strides(), want["stride"]));
    }
    if Some(got.offset()) != want["offset"].as_i64() {
        return Some(format!("offset {}, PyTorch has {}", got.offset(), want["offset"]));
    }
    let numbers = match got.numbers() {
        Ok(numbers) => numbers,
        Err(e) => return Some(format!("can't be read: {e}")),
    };
    let wanted = floats(&want["values"]);
    let ulps = entry.op.0.ulps.iter().find(|(d, _)| *d == dtype).map_or(0, |(_, n)| *n);
    compare_numbers(&numbers, &wanted, f64::from(ulps) * epsilon(dtype))
}

/// None where all numbers, and their parts, are close: within `bound`, relative to the largest, as elements of a sum lose what its terms have in common.
fn compare_numbers(numbers: &[Number], wanted: &[f64], bound: f64) -> Option<String> {
    let scale = wanted.iter().filter(|x| x.is_finite()).fold(0.0f64, |a, b| a.max(b.abs()));
    let parts = numbers.iter().flat_map(|number| match *number {
        Number::Complex(re, im) => vec![re, im],
        other => vec![other.as_f64()],
    });
    parts.zip(wanted).enumerate().find_map(|(i, (got, want))| {
        let close = got == *want || (got.is_nan() && want.is_nan()) || (got - want).abs() <= bound * scale.max(want.abs());
        (!close).then(|| format!("element {i} is {got:?}, PyTorch has {want:?}"))
    })
}

/// The numbers of a list of the file; both parts of complex ones.
fn floats(values: &Value) -> Vec<f64> {
    let both = |value: &Value| value.as_array().map_or_else(|| vec![float(value)], |parts| parts.iter().map(float).collect());
    values.as_array().into_iter().flatten().flat_map(both).collect()
}

/// A number of the file; what JSON has not is a string there.
fn float(value: &Value) -> f64 {
    match value {
        Value::Bool(b) => Number::Bool(*b).as_f64(),
        Value::String(text) => text.parse().unwrap_or(f64::NAN),
        _ => value.as_f64().unwrap_or(f64::NAN),
    }
}

/// The distance from 1 to the next number of this type.
fn epsilon(dtype: DType) -> f64 {
    match dtype.real() {
        DType::F16 => 2f64.powi(-10),
        DType::BF16 => 2f64.powi(-7),
        DType::F32 => f64::from(f32::EPSILON),
        DType::F64 => f64::EPSILON,
        _ => 0.0,
    }
}

#[test]
fn samples_match_pytorch() {
    let list: Vec<String> = samples().map(|(entry, sample)| key(entry, sample)).collect();
    if std::env::var_os("BLESS").is_some() {
        fs::write(fixtures().join("samples.txt"), list.join("\n") + "\n").unwrap();
        return;
    }
    let golden = golden();
    let (mut report, mut compared, mut unknown) = (String::new(), 0, 0);
    for ((entry, sample), key) in samples().zip(&list) {
        match golden.get(key) {
            None => writeln!(report, "{key}: no golden numbers; see fixtures/ops/make.py").unwrap(),
            Some(line) if line.get("absent").is_some() => unknown += 1,
            Some(line) => {
                compared += 1;
                if let Some(difference) = compare(entry, sample, line) {
                    writeln!(report, "{key}: {difference}").unwrap();
                }
            }
        }
    }
    println!("{compared} samples compared; {unknown} of ops that PyTorch has not");
    assert!(report.is_empty(), "{} of {} samples differ:\n{report}", report.lines().count(), list.len());
}
