//! The engine as a Rust program uses it: values both ways, threads, limits, several engines at once.

mod captured;

use captured::Captured;
use std::{
    io,
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
    time::{Duration, Instant},
};
use taipan::{Engine, Error, Event, IntoArguments, Object, Tensor, Value, settings::Environment};

fn engine() -> Engine {
    Engine::builder().environment(Environment::new()).build().expect("the engine starts")
}

const MODEL: &str = "\
import torch

class Scale(torch.nn.Module):
    def __init__(self, width, factor=1.0):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)
        self.factor = factor
        with torch.no_grad():
            self.linear.weight.copy_(torch.eye(width))
            self.linear.bias.zero_()

    def forward(self, x):
        return self.linear(x) * self.factor

def echo(*args, **kwargs):
    return args, kwargs
";

#[test]
fn a_module_is_constructed_and_called() {
    let engine = engine();
    let script = engine.load_str("model", MODEL).expect("loads");
    let net = script.construct("Scale", (2,).named("factor", 3.0)).expect("a Scale");
    let x = taipan::tensor(&[1.0_f32, 2.0, 3.0, 4.0], &[2, 2]).expect("a tensor");
    let y: Tensor = net.call((&x,)).expect("the call");
    assert_eq!(y.sizes(), [2, 2]);
    assert_eq!(y.to_vec::<f32>().expect("floats"), [3.0, 6.0, 9.0, 12.0]);
    assert_eq!(net.attr::<f64>("factor").expect("a number"), 3.0);
    let weight: Tensor = net.attribute("linear").expect("an attribute").attr("weight").expect("a tensor");
    assert_eq!(weight.to_vec::<f32>().expect("floats"), [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(format!("{:?}", net.attribute("linear").expect("an attribute")), "Linear(in_features=2, out_features=2, bias=True)");
}

#[test]
fn an_engine_can_live_on_the_callers_thread() {
    let body = || {
        let engine = Engine::here().expect("the engine starts");
        let script = engine.load_str("model", MODEL).expect("loads");
        let net = script.construct("Scale", (2, 0.5)).expect("a Scale").compile().expect("compiles");
        let x = taipan::tensor(&[1.0_f32, 2.0], &[1, 2]).expect("a tensor");
        for _ in 0..3 {
            let y: Tensor = net.call((&x,)).expect("the call");
            assert_eq!(y.to_vec::<f32>().expect("floats"), [0.5, 1.0]);
        }
        assert!(matches!(Engine::here(), Err(Error::Start(_))), "one engine at a time");
        let elsewhere = engine.clone();
        let asked = thread::spawn(move || elsewhere.versions()).join().expect("no panic");
        assert!(matches!(asked, Err(Error::OtherThread)));
        // A handle may go anywhere.
        thread::spawn(move || drop(net)).join().expect("no panic");
        assert_eq!(script.function("echo").expect("a function").call::<Value>(()).map(|_| ()).ok(), Some(()));
        drop((script, engine));
        // Once it has ended, the thread is free for another one.
        let again = Engine::here().expect("another engine");
        assert!(again.load_str("model", MODEL).is_ok());
    };
    thread::Builder::new().stack_size(taipan::STACK_BYTES).spawn(body).expect("a thread").join().expect("no panic");
}

#[test]
fn an_engine_does_not_start_on_a_small_stack() {
    let body = || Engine::here().map(|_| ());
    let ended = thread::Builder::new().stack_size(1 << 20).spawn(body).expect("a thread").join().expect("no panic");
    assert!(matches!(ended, Err(Error::Start(text)) if text.contains("stack")));
}

#[test]
fn a_compiled_module_gives_the_same() {
    let engine = engine();
    let script = engine.load_str("model", MODEL).expect("loads");
    let net = script.construct("Scale", (2, 0.5)).expect("a Scale");
    let compiled = net.compile().expect("compiles");
    let x = taipan::tensor(&[1.0_f32, 2.0], &[1, 2]).expect("a tensor");
    for _ in 0..3 {
        let y: Tensor = compiled.call((&x,)).expect("the call");
        assert_eq!(y.to_vec::<f32>().expect("floats"), [0.5, 1.0]);
    }
}

#[test]
fn weights_come_from_a_file() {
    let header = r#"{"linear.weight":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]},"linear.bias":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}"#;
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(&3.0_f32.to_le_bytes());
    bytes.extend_from_slice(&0.5_f32.to_le_bytes());
    let path = std::env::temp_dir().join(format!("taipan-weights-{}.safetensors", std::process::id()));
    std::fs::write(&path, bytes).expect("a file");
    let net = engine().load_str("model", MODEL).expect("loads").construct("Scale", (1,)).expect("a Scale");
    let loaded = net.load_safetensors(&path);
    let _ = std::fs::remove_file(&path);
    loaded.expect("the weights fit");
    let x = taipan::tensor(&[2.0_f32], &[1]).expect("a tensor");
    assert_eq!(net.call::<f64>((x,)).expect("the call"), 6.5);
}

#[test]
fn values_cross_both_ways() {
    let engine = engine();
    let echo = engine.load_str("model", MODEL).expect("loads").function("echo").expect("echo");
    let arguments = (true, 7, 1.5, "text", vec![1, 2], Value::None).named("key", "value");
    type Echoed = (bool, i64, f64, String, Vec<i64>, Option<String>);
    let ((flag, number, float, text, list, none), named): (Echoed, Value) = echo.call(arguments).expect("the call");
    assert_eq!((flag, number, float, text.as_str(), list, none), (true, 7, 1.5, "text", vec![1, 2], None));
    assert!(matches!(named, Value::Dict(pairs) if pairs.len() == 1));
    // An object stays the object it is.
    let same: ((Object,), Value) = echo.call((echo.clone(),)).expect("the call");
    let again: ((i64,), Value) = same.0.0.call((1,)).expect("the call");
    assert_eq!(again.0.0, 1);
}

#[test]
fn handles_work_on_any_thread() {
    let engine = engine();
    let net = engine.load_str("model", MODEL).expect("loads").construct("Scale", (2, 2.0)).expect("a Scale");
    thread::scope(|scope| {
        for start in 0..4_i16 {
            let net = net.clone();
            scope.spawn(move || {
                for step in 0..20_i16 {
                    let value = f32::from(start * 100 + step);
                    let x = taipan::tensor(&[value, -value], &[2]).expect("a tensor");
                    let y: Tensor = net.call((x,)).expect("the call");
                    assert_eq!(y.to_vec::<f32>().expect("floats"), [2.0 * value, -2.0 * value]);
                }
            });
        }
    });
    // Objects may outlive the handle they came from.
    drop(engine);
    assert_eq!(net.attr::<f64>("factor").expect("a number"), 2.0);
}

#[test]
fn engines_with_different_settings_run_at_once() {
    let text =
        "import torch\n\n@torch.compile\ndef f(x):\n    return x * 2\n\nfor n in range(1, 6):\n    print(f(torch.ones(n)).sum().item())\n";
    let run = |limit: &'static str| {
        thread::spawn(move || {
            let output = Captured::default();
            let limits: Arc<Mutex<usize>> = Arc::default();
            let seen = Arc::clone(&limits);
            let engine = Engine::builder()
                .environment(Environment::new())
                .setting("recompile_limit", limit)
                .stdout(output.clone())
                .observer(move |event| {
                    if matches!(event, Event::LimitHit { .. }) {
                        *seen.lock().unwrap_or_else(PoisonError::into_inner) += 1;
                    }
                })
                .build()
                .expect("the engine starts");
            assert_eq!(engine.run_text("script.py", text).expect("runs"), 0);
            let versions = engine.versions().expect("the versions").len();
            let hits = *limits.lock().unwrap_or_else(PoisonError::into_inner);
            (output.text(), versions, hits)
        })
    };
    let (few, many) = (run("2"), run("8"));
    let (few, many) = (few.join().expect("no panic"), many.join().expect("no panic"));
    assert_eq!(few.0, "2.0\n4.0\n6.0\n8.0\n10.0\n");
    assert_eq!(few.0, many.0);
    assert_eq!((few.1, few.2), (2, 1));
    assert_eq!((many.1, many.2), (5, 0));
}

#[test]
fn a_deadline_stops_a_script() {
    let engine = Engine::builder().environment(Environment::new()).deadline(Duration::from_millis(100)).build().expect("the engine starts");
    let start = Instant::now();
    let error = engine.load_str("endless", "while True:\n    pass\n").expect_err("it is stopped");
    assert!(matches!(&error, Error::Script(error) if error.kind == "KeyboardInterrupt"), "{error}");
    assert!(start.elapsed() < Duration::from_secs(10));
    assert_eq!(engine.run_text("after.py", "x = 1\n").expect("usable"), 0);
}

#[test]
fn an_interrupt_stops_a_script() {
    let engine = engine();
    let other = engine.clone();
    let (stopped, stop) = mpsc::channel::<()>();
    // Again and again: an interrupt that comes before the script's first instruction may be lost.
    let stopper = thread::spawn(move || {
        while stop.recv_timeout(Duration::from_millis(20)).is_err() {
            other.interrupt();
        }
    });
    let error = engine.load_str("endless", "while True:\n    pass\n").expect_err("it is stopped");
    assert!(matches!(&error, Error::Script(error) if error.kind == "KeyboardInterrupt"), "{error}");
    stopped.send(()).expect("the stopper is there");
    stopper.join().expect("no panic");
}

#[test]
fn engines_take_turns() {
    let busy = engine();
    let (stopped, stop) = mpsc::channel::<()>();
    let endless = {
        let busy = busy.clone();
        thread::spawn(move || busy.load_str("endless", "while True:\n    pass\n").map(|_| ()))
    };
    let stopper = {
        let busy = busy.clone();
        thread::spawn(move || {
            stop.recv().expect("the test goes on");
            while stop.recv_timeout(Duration::from_millis(20)).is_err() {
                busy.interrupt();
            }
        })
    };
    // Starts, runs and ends beside a script that never gives way by itself.
    let net = engine().load_str("model", MODEL).expect("loads").construct("Scale", (2, 2.0)).expect("a Scale");
    assert_eq!(net.attr::<f64>("factor").expect("a number"), 2.0);
    drop(net);
    stopped.send(()).expect("the stopper is there");
    let ended = endless.join().expect("no panic");
    stopped.send(()).expect("the stopper is there");
    stopper.join().expect("no panic");
    assert!(matches!(ended, Err(Error::Script(error)) if error.kind == "KeyboardInterrupt"));
}

/// A stream that asks an engine for each thing written to it.
struct Asking(Object);

impl io::Write for Asking {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let asked: ((i64,), Value) = self.0.call((7,)).map_err(io::Error::other)?;
        if asked.0.0 == 7 { Ok(data.len()) } else { Err(io::Error::other("another answer")) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_engine_may_wait_for_another() {
    let echo = engine().load_str("model", MODEL).expect("loads").function("echo").expect("echo");
    let builder = Engine::builder().environment(Environment::new()).stdout(Asking(echo.clone()));
    // An observer may even start one.
    let asking = builder.observer(|_| drop(engine().load_str("empty", "x = 1\n").expect("loads"))).build().expect("the engine starts");
    let text = "import torch\n\n@torch.compile\ndef f(x):\n    return x * 2\n\nprint(f(torch.ones(1)))\n";
    assert_eq!(asking.run_text("script.py", text).expect("runs"), 0);
}

#[test]
fn a_sleeping_script_can_be_stopped() {
    let engine = Engine::builder().environment(Environment::new()).deadline(Duration::from_millis(50)).build().expect("the engine starts");
    let start = Instant::now();
    let error = engine.run_text("sleep.py", "import time\ntime.sleep(1000)\n").expect_err("it is stopped");
    assert!(matches!(&error, Error::Script(error) if error.kind == "KeyboardInterrupt"), "{error}");
    assert!(start.elapsed() < Duration::from_secs(100));
    let error = engine.run_text("sleep.py", "import time\ntime.sleep(-1)\n").expect_err("a mistake");
    assert!(error.to_string().contains("sleep length must be non-negative"), "{error}");
}

#[test]
fn exit_codes_and_output_are_the_scripts() {
    let output = Captured::default();
    let engine = Engine::builder().environment(Environment::new()).stdout(output.clone()).build().expect("the engine starts");
    assert_eq!(engine.run_text("script.py", "import sys\nprint('one', end='')\nsys.exit(3)\n").expect("it exits"), 3);
    assert_eq!(output.text(), "one");
}

#[cfg(feature = "ndarray")]
#[test]
fn arrays_become_tensors_and_back() {
    let array = ndarray::arr2(&[[1.0_f64, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    let tensor = taipan::from_array(&array.t()).expect("a tensor");
    assert_eq!(tensor.sizes(), [2, 3]);
    assert_eq!(taipan::to_array::<f64>(&tensor).expect("an array"), array.t().into_dyn());
}
