//! Bad input: each gives a clear error with the script's line, and the engine stays usable afterwards.

use std::{fs, path::PathBuf};
use taipan::{Engine, Error, Value, settings::Environment};

fn engine() -> Engine {
    Engine::builder().environment(Environment::new()).build().expect("the engine starts")
}

/// A script that the engine must still run after each error.
fn assert_usable(engine: &Engine) {
    let module = engine.load_str("afterwards", "import torch\ndef f(x):\n    return x * 2 + 1\n").expect("the engine is usable");
    let x = taipan::tensor(&[1.0_f32, 2.0], &[2]).expect("a tensor");
    let y: taipan::Tensor = module.function("f").expect("f").call((x,)).expect("the call");
    assert_eq!(y.to_vec::<f32>().expect("floats"), [3.0, 5.0]);
}

/// One kind of bad script: what it is, its text, the class of the exception, a part of the message, the line.
struct Bad {
    what: &'static str,
    text: &'static str,
    kind: &'static str,
    message: &'static str,
    line: u32,
}

const BAD_SCRIPTS: &[Bad] = &[
    Bad { what: "a syntax error", text: "import torch\nx = (1,\n", kind: "SyntaxError", message: "", line: 2 },
    Bad {
        what: "a wrong argument type",
        text: "import torch\ntorch.add(torch.ones(2), 'two')\n",
        kind: "TypeError",
        message: "add()",
        line: 2,
    },
    Bad {
        what: "a wrong shape",
        text: "import torch\n\nx = torch.ones(2, 3) @ torch.ones(2, 3)\n",
        kind: "RuntimeError",
        message: "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)",
        line: 3,
    },
    Bad {
        what: "an unknown torch name",
        text: "import torch\ntorch.rellu(torch.ones(2))\n",
        kind: "AttributeError",
        message: "module 'torch' has no attribute 'rellu'",
        line: 2,
    },
    Bad {
        what: "a module that raises while traced",
        text: "import torch\n@torch.compile\ndef f(x):\n    y = x + 1\n    raise ValueError('not today')\nf(torch.ones(2))\n",
        kind: "ValueError",
        message: "not today",
        line: 5,
    },
    Bad {
        what: "endless recursion",
        text: "def f(x):\n    return f(x) + 1\nf(1)\n",
        kind: "RecursionError",
        message: "maximum recursion depth exceeded",
        line: 2,
    },
    Bad {
        what: "endless recursion in a compiled function",
        text: "import torch\n@torch.compile\ndef f(x):\n    return f(x) + 1\nf(torch.ones(2))\n",
        kind: "RecursionError",
        message: "maximum recursion depth exceeded",
        line: 4,
    },
    Bad {
        what: "a file that the policy keeps closed",
        text: "open('/etc/hostname')\n",
        kind: "PermissionError",
        message: "--allow-read",
        line: 1,
    },
    Bad {
        what: "a module that isn't there",
        text: "import no_such_module\n",
        kind: "ModuleNotFoundError",
        message: "no_such_module",
        line: 1,
    },
];

#[test]
fn bad_scripts_say_what_and_where() {
    let engine = engine();
    for bad in BAD_SCRIPTS {
        let error = engine.load_str("bad", bad.text).expect_err(bad.what);
        let Error::Script(exception) = &error else { panic!("{}: {error}", bad.what) };
        assert_eq!(exception.kind, bad.kind, "{}: {error}", bad.what);
        assert!(exception.message.contains(bad.message), "{}: {error}", bad.what);
        assert_eq!(error.place(), Some(("bad.py", bad.line)), "{}: {error}", bad.what);
        assert!(exception.traceback.contains(&format!("bad.py\", line {}", bad.line)), "{}: {error}", bad.what);
        assert_usable(&engine);
    }
}

#[test]
fn an_unknown_name_tells_what_is_near() {
    let error = engine().load_str("bad", "import torch\ntorch.rellu\n").expect_err("no such name");
    assert!(error.to_string().contains("relu"), "{error}");
}

#[test]
fn wrong_arguments_from_rust_name_the_definition() {
    let engine = engine();
    let module = engine
        .load_str("model", "def f(x, y):\n    return x\n\nclass Net:\n    def __init__(self, width):\n        pass\n")
        .expect("loads");
    let f = module.function("f").expect("f");
    let error = f.call::<Value>((1,)).expect_err("one argument is missing");
    assert!(error.to_string().contains("f() missing 1 required positional argument: 'y'"), "{error}");
    assert_eq!(error.place(), Some(("model.py", 1)));
    let error = f.call::<Value>((1, 2, 3)).expect_err("one argument is too many");
    assert!(error.to_string().contains("f() takes 2 positional arguments but 3 were given"), "{error}");
    let error = module.construct("Net", ()).expect_err("one argument is missing");
    assert!(error.to_string().contains("missing 1 required positional argument: 'width'"), "{error}");
    assert_eq!(error.place(), Some(("model.py", 5)));
    let error = module.function("g").expect_err("there is no g");
    assert!(error.to_string().contains("has no attribute 'g'"), "{error}");
    assert_usable(&engine);
}

#[test]
fn results_of_another_type_are_named() {
    let engine = engine();
    let module = engine.load_str("model", "def f():\n    return [1, 2]\n").expect("loads");
    let f = module.function("f").expect("f");
    let error = f.call::<taipan::Tensor>(()).expect_err("a list is no tensor");
    assert_eq!(error.to_string(), "expected a tensor, the script gave a list of 2");
    assert_eq!(f.call::<Vec<i64>>(()).expect("a list"), [1, 2]);
    assert_eq!(f.call::<(i64, i64)>(()).expect("a pair"), (1, 2));
}

#[test]
fn a_missing_file_is_named() {
    let engine = engine();
    let error = engine.load("no/such/script.py").expect_err("no file");
    assert!(error.to_string().starts_with("can't open file 'no/such/script.py'"), "{error}");
    let error = engine.run_script("no/such/script.py", &[]).expect_err("no file");
    assert!(matches!(error, Error::File { .. }), "{error}");
    assert_usable(&engine);
}

#[test]
fn damaged_weights_are_refused() {
    let engine = engine();
    let text = "import torch\nclass Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = torch.nn.Linear(2, 2)\n";
    let net = engine.load_str("model", text).expect("loads").construct("Net", ()).expect("a Net");
    let folder = Folder::new("weights");
    for (what, bytes) in [
        ("empty", &b""[..]),
        ("short", b"\x05\0\0\0"),
        ("no header", b"\xff\xff\xff\xff\xff\xff\xff\x7f{}"),
        ("no json", b"\x02\0\0\0\0\0\0\0{]"),
    ] {
        let path = folder.0.join("net.safetensors");
        fs::write(&path, bytes).expect("a file");
        let error = net.load_safetensors(&path).expect_err(what);
        assert!(matches!(error, Error::Weights { .. }), "{what}: {error}");
        assert!(error.to_string().contains("net.safetensors"), "{what}: {error}");
    }
    assert!(matches!(net.load_safetensors(folder.0.join("none.safetensors")), Err(Error::File { .. })));
    assert_usable(&engine);
}

#[test]
fn an_object_of_another_engine_is_refused() {
    let (one, other) = (engine(), engine());
    let object = one.load_str("model", "class Thing: pass\nthing = Thing()\n").expect("loads").get("thing").expect("a thing");
    let identity = other.load_str("model", "def f(x):\n    return x\n").expect("loads").function("f").expect("f");
    assert!(matches!(identity.call::<Value>((object,)), Err(Error::OtherEngine)));
    assert_usable(&other);
}

#[test]
fn a_wrong_setting_is_named() {
    let environment = Environment::from([("TAIPAN_TRACE_NODES".to_owned(), "lots".to_owned())]);
    let error = Engine::builder().environment(environment).build().expect_err("not a number");
    assert_eq!(error.to_string(), "setting `trace_nodes` is an int of at least 0, not `lots`");
    let error = Engine::builder().environment(Environment::new()).setting("trace_node", "1").build().expect_err("no such setting");
    assert!(error.to_string().contains("did you mean `trace_nodes`?"), "{error}");
}

/// A folder of its own for one test, removed afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("taipan-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
