//! Running scripts: results, exit codes, exceptions as Python shows them, and the doors that stay shut.

mod running;

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};
use taipan_frontend::{
    torch,
    vm::{HostBuilder, Policy, Script, ScriptError, guarded, load, spawn_engine_thread},
};

fn run_with(policy: Policy, path: &str, text: &str) -> (Result<i32, ScriptError>, String) {
    running::run(policy, Script::main(path, text))
}

fn run(text: &str) -> (Result<i32, ScriptError>, String) {
    run_with(Policy::imports_only("."), "model.py", text)
}

/// A folder of its own for one test, removed afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("taipan-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).expect("a folder");
        }
        std::fs::write(&path, text).expect("a file");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_script_prints_and_ends() {
    let (ended, output) = run("import sys\nprint('é', 1 + 1, sys.argv[1:], __name__, __file__)\n");
    assert_eq!(ended.expect("no exception"), 0);
    assert_eq!(output, "é 2 ['--steps=3'] __main__ model.py\n");
}

/// Modules of processes, event loops and threads import, say what is true here, and refuse the rest.
#[test]
fn packages_may_ask_for_processes_and_loops() {
    let text = "\
import asyncio, multiprocessing, sysconfig, threading
from multiprocessing.context import BaseContext

class Settings(threading.local):
    def __init__(self, **values):
        self.__dict__.update(values)

async def work():
    pass

print(multiprocessing.current_process().name, isinstance(multiprocessing.get_context('spawn'), BaseContext), Settings(depth=3).depth)
print(asyncio.iscoroutinefunction(work), asyncio.iscoroutinefunction(print), bool(sysconfig.get_path('stdlib')))
for wrong in (lambda: asyncio.get_running_loop(), lambda: asyncio.run(work()), multiprocessing.Process(target=print).start, multiprocessing.Pool):
    try:
        wrong()
    except (OSError, RuntimeError) as error:
        print(type(error).__name__, error)
";
    let (ended, output) = run(text);
    assert_eq!(ended.expect("no exception"), 0);
    let expected = "\
MainProcess True 3
True False True
RuntimeError no running event loop
RuntimeError this engine has no event loop
OSError this engine starts no processes
OSError this engine starts no processes
";
    assert_eq!(output, expected);
}

/// Modules of sockets, processes, foreign code and images import; what would use them is refused.
#[test]
fn packages_may_ask_for_sockets_libraries_and_images() {
    let text = "\
import ctypes, gzip, http.client, importlib.metadata, io, socket, ssl, subprocess, tarfile, urllib.request, xml.etree.ElementTree, zipfile
from concurrent.futures import ThreadPoolExecutor
from ctypes.util import find_library
from distutils.version import LooseVersion
from PIL import Image, ImageDraw, ImageOps
import torch

class Draw(ImageDraw.ImageDraw):
    pass

print(gzip.decompress(gzip.compress(b'abc')), xml.etree.ElementTree.fromstring('<a><b>1</b></a>')[0].text)
print(ctypes.sizeof(ctypes.c_long), ctypes.c_uint8(300).value, ctypes.c_int8(200).value, find_library('m'))
print(importlib.metadata.version('torch') == torch.__version__, importlib.metadata.version('numpy').split('+')[0] >= '2')
print(LooseVersion('1.10.0') > '1.9', isinstance(torch.ones(1), Image.Image), Image.BILINEAR == Image.Resampling.BILINEAR, issubclass(TimeoutError, socket.timeout))
seen = torch.library.register_fake('taipan_tests::later')(lambda x: torch.empty_like(x))
torch.library.define('taipan_tests::later', '(Tensor x) -> Tensor')
torch.library.impl('taipan_tests::later', 'cpu', lambda x: x + 1)
print(torch.ops.taipan_tests.later(torch.ones(2)))
for wrong in (
    lambda: urllib.request.urlopen('http://localhost'), socket.socket, lambda: subprocess.run(['ls']), lambda: ctypes.CDLL('libm.so'),
    lambda: Image.open('a.png'), ImageOps.invert, Draw, lambda: torch.ops.load_library('a.so'), lambda: torch.hub.load('a', 'b'),
    lambda: torch.onnx.export(None), lambda: torch.export.export(None), lambda: torch.distributed.all_reduce(torch.ones(1)),
):
    try:
        wrong()
        print('no error')
    except Exception as error:
        print(type(error).__name__, error)
";
    let (ended, output) = run(text);
    assert_eq!(ended.expect("no exception"), 0);
    let expected = "\
b'abc' 1
8 44 -56 None
True True
True False True True
tensor([2., 2.])
URLError <urlopen error this engine opens no sockets>
OSError this engine opens no sockets
OSError this engine starts no processes
OSError this engine loads no libraries and looks into no memory: ctypes is not available
NotImplementedError this engine has no images: PIL's functions are not available
NotImplementedError this engine has no images: PIL's functions are not available
NotImplementedError this engine has no images: PIL's functions are not available
OSError a.so: this engine loads no libraries
RuntimeError torch.hub has no repositories: there is no network here
OnnxExporterError torch.onnx.export is not available: there is no exporter here
RuntimeError torch.export is not available: there is no exporter here; use torch.compile
RuntimeError torch.distributed is not available
";
    assert_eq!(output, expected);
}

#[test]
fn exit_codes() {
    assert_eq!(run("raise SystemExit").0.ok(), Some(0));
    assert_eq!(run("import sys; sys.exit(3)").0.ok(), Some(3));
    let (ended, output) = run("import sys; sys.exit('bad input')");
    assert_eq!(ended.ok(), Some(1));
    assert_eq!(output, "bad input\n");
}

#[test]
fn an_exception_is_shown_as_python_shows_it() {
    let text = "def halve(x):\n    return x / (x - x)\n\nprint('before')\nhalve(3)\n";
    let (ended, output) = run(text);
    let error = ended.expect_err("an exception");
    assert_eq!(output, "before\n");
    assert_eq!((error.kind.as_str(), error.message.as_str()), ("ZeroDivisionError", "division by zero"));
    assert_eq!(error.place, Some(("model.py".to_owned(), 2)));
    assert_eq!(
        error.traceback,
        "Traceback (most recent call last):\n\
         \x20 File \"model.py\", line 5, in <module>\n\
         \x20   halve(3)\n\
         \x20   ~~~~~^^^\n\
         \x20 File \"model.py\", line 2, in halve\n\
         \x20   return x / (x - x)\n\
         \x20          ~~^~~~~~~~~\n\
         ZeroDivisionError: division by zero\n"
    );
}

#[test]
fn a_syntax_error_has_line_and_caret() {
    let error = run("x = 1\ny = = 2\n").0.expect_err("a syntax error");
    assert_eq!(error.kind, "SyntaxError");
    assert_eq!(error.place, Some(("model.py".to_owned(), 2)));
    assert!(error.traceback.starts_with("  File \"model.py\", line 2\n    y = = 2\n        ^\nSyntaxError:"), "{}", error.traceback);
}

#[test]
fn chained_exceptions_and_notes() {
    let error = run("try:\n    {}['a']\nexcept KeyError as e:\n    raise ValueError('no a') from e\n").0.expect_err("an exception");
    assert!(error.traceback.contains("direct cause"), "{}", error.traceback);
    assert!(error.traceback.ends_with("ValueError: no a\n"));
}

#[test]
fn neighbours_are_imported_with_their_lines() {
    let folder = Folder::new("neighbours");
    folder.file("layers.py", "def f(x):\n    return x.shape\n");
    folder.file("pack/__init__.py", "from .inner import g\n");
    folder.file("pack/inner.py", "def g():\n    return __file__\n");
    folder.file("space/deep.py", "value = 7\n");
    let script = folder.file(
        "main.py",
        "import layers, pack, space.deep, inspect\n\
         print(pack.g() == pack.inner.__file__, space.deep.value, inspect.getsource(layers.f))\n\
         layers.f(1)\n",
    );
    let text = std::fs::read_to_string(&script).expect("the script");
    let (ended, output) = run_with(Policy::imports_only(&folder.0), &script.to_string_lossy(), &text);
    let error = ended.expect_err("int has no shape");
    assert_eq!(output, "True 7 def f(x):\n    return x.shape\n\n");
    assert!(error.traceback.contains("line 2, in f\n    return x.shape\n"), "{}", error.traceback);
    assert!(!error.traceback.contains("importlib"), "{}", error.traceback);
}

#[test]
fn an_error_inside_an_import_shows_no_importer_frames() {
    let folder = Folder::new("broken");
    folder.file("broken.py", "x = 1\ny = x.missing\n");
    let (ended, _) = run_with(Policy::imports_only(&folder.0), "main.py", "import broken\n");
    let error = ended.expect_err("an exception");
    assert_eq!(error.traceback.matches("File \"").count(), 2, "{}", error.traceback);
}

#[test]
fn a_sandboxed_script_reads_nothing() {
    let folder = Folder::new("sandbox");
    let secret = folder.file("secret.txt", "42");
    let text = format!(
        "import os\n\
         path = {:?}\n\
         for act in (open, os.listdir, os.remove, os.stat):\n\
         \x20   try:\n\
         \x20       print(act(path))\n\
         \x20   except PermissionError as e:\n\
         \x20       print(e)\n\
         print(os.path.exists(path), dict(os.environ))\n",
        secret.to_string_lossy()
    );
    let (ended, output) = run_with(Policy::imports_only(folder.0.join("none")), "main.py", &text);
    ended.expect("no exception");
    let lines: Vec<_> = output.lines().collect();
    assert_eq!(lines.len(), 5, "{output}");
    assert!(lines[0].contains("--allow-read DIR") && lines[0].contains("secret.txt"), "{output}");
    assert!(lines[2].contains("--allow-write DIR"), "{output}");
    assert_eq!(lines[4], "False {}");
}

#[test]
fn files_as_in_python() {
    let folder = Folder::new("files");
    let text = format!(
        "import os, io, json, pathlib, tempfile\n\
         os.chdir = None\n\
         root = {:?}\n\
         path = os.path.join(root, 'a.txt')\n\
         with open(path, 'w') as f:\n\
         \x20   f.write('one\\ntwo\\n')\n\
         with open(path, 'a') as f:\n\
         \x20   print('three', file=f)\n\
         print(open(path).read().split(), open(path, 'rb').read(3), list(open(path)))\n\
         with open(path, 'r+b') as f:\n\
         \x20   f.seek(4); f.write(b'TWO'); f.seek(0); print(f.read())\n\
         os.makedirs(os.path.join(root, 'x', 'y'), exist_ok=True)\n\
         print(sorted(os.listdir(root)), os.path.isdir(root), os.path.isfile(path), os.path.getsize(path))\n\
         p = pathlib.Path(root) / 'c.json'\n\
         p.write_text(json.dumps(dict(a=1))); print(json.loads(p.read_text()), p.exists(), p.suffix)\n\
         print([q.name for q in sorted(pathlib.Path(root).glob('*.json'))])\n\
         with tempfile.TemporaryDirectory(dir=root) as d:\n\
         \x20   with tempfile.NamedTemporaryFile('w+', dir=d) as f:\n\
         \x20       f.write('hi'); f.seek(0); print(f.read())\n\
         print(os.path.exists(d))\n\
         try: open(os.path.join(root, 'none'))\n\
         except FileNotFoundError as e: print(e.errno, e.strerror)\n",
        folder.0.to_string_lossy()
    );
    let (ended, output) = run_with(Policy::imports_only(".").allow_write(&folder.0), "m.py", &text);
    ended.unwrap_or_else(|error| panic!("{output}{error}"));
    assert_eq!(
        output,
        "['one', 'two', 'three'] b'one' ['one\\n', 'two\\n', 'three\\n']\n\
         b'one\\nTWO\\nthree\\n'\n\
         ['a.txt', 'x'] True True 14\n\
         {'a': 1} True .json\n\
         ['c.json']\n\
         hi\n\
         False\n\
         2 No such file or directory\n"
    );
}

#[test]
fn the_standard_library_is_there() {
    let (ended, output) =
        run("import abc, argparse, ast, bisect, collections.abc, contextlib, copy, copyreg, dataclasses, datetime, decimal, \
         difflib, dis, enum, fractions, functools, gc, glob, hashlib, heapq, importlib, importlib.util, inspect, io, itertools, json, \
         linecache, logging, math, numbers, operator, os, os.path, pathlib, pickle, platform, pprint, random, re, shutil, signal, \
         statistics, string, struct, sys, tempfile, textwrap, threading, time, timeit, traceback, types, typing, unittest, \
         unittest.mock, uuid, warnings, weakref, zlib\n\
         random.seed(0)\nprint(random.random(), os.getpid() > 0, len(os.urandom(4)), time.perf_counter() > 0)\n");
    ended.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(output, "0.8444218515250481 True 4 True\n");
}

#[test]
fn byte_code_cannot_be_forged_and_recursion_ends() {
    let (ended, output) = run("import types, sys, marshal\n\
         def f(): return f()\n\
         for act in (lambda: types.CodeType(), lambda: f.__code__.replace(co_name='x'), lambda: marshal.loads(b''),\n\
         \x20           lambda: __import__('_imp').get_frozen_object('os', b'x'), lambda: f()):\n\
         \x20   try: print(act())\n\
         \x20   except Exception as e: print(type(e).__name__)\n\
         sys.setrecursionlimit(10**8)\n\
         print(sys.getrecursionlimit())\n\
         try: f()\n\
         except RecursionError as e: print(e)\n\
         try: eval('(' * 4000 + '1' + ')' * 4000)\n\
         except Exception as e: print(type(e).__name__)\n\
         try: eval('-' * 100000 + '1')\n\
         except Exception as e: print(type(e).__name__)\n");
    ended.unwrap_or_else(|error| panic!("{error}"));
    let lines: Vec<_> = output.lines().collect();
    assert_eq!(lines[..6], ["TypeError", "AttributeError", "ValueError", "TypeError", "RecursionError", "5000"]);
    assert!(lines[6].starts_with("maximum recursion depth exceeded"), "{output}");
}

#[test]
fn a_deadline_stops_a_loop() {
    let elapsed = spawn_engine_thread("test", || {
        let host = HostBuilder::new(Policy::imports_only(".")).build().expect("the host starts");
        let started = Instant::now();
        let guard = host.interrupter().deadline(Duration::from_millis(100));
        let error = host
            .run(&Script::main("loop.py", "while True:\n    try:\n        while True: pass\n    except Exception: pass\n"))
            .expect_err("the deadline");
        drop(guard);
        assert_eq!(error.kind, "KeyboardInterrupt");
        assert!(error.message.contains("deadline"), "{error}");
        // The host runs on.
        assert_eq!(host.run(&Script::main("next.py", "x = 1")).ok(), Some(0));
        started.elapsed()
    })
    .expect("a thread")
    .join()
    .expect("no panic");
    assert!(elapsed < Duration::from_secs(5));
}

#[test]
fn modules_are_loaded_by_name_and_panics_stop_at_the_boundary() {
    spawn_engine_thread("test", || {
        let host = HostBuilder::new(Policy::imports_only(".")).build().expect("the host starts");
        host.enter(|vm| {
            let script = Script { module: "model".to_owned(), path: "model.py".to_owned(), text: "scale = 3\n".to_owned() };
            let module = load(vm, &script).expect("a module");
            let scale = module.get_attr("scale", vm).expect("an attribute");
            assert_eq!(scale.try_to_value::<i32>(vm).ok(), Some(3));
            let caught = guarded(vm, "a test", || -> rustpython_vm::PyResult<()> { panic!("boom") });
            let text = taipan_frontend::vm::describe(vm, &caught.expect_err("an exception"));
            assert!(text.message.contains("boom") && text.message.contains("a test"));
        });
        assert_eq!(host.run(&Script::main("user.py", "import model\nassert model.scale == 3")).ok(), Some(0));
    })
    .expect("a thread")
    .join()
    .expect("no panic");
}

#[test]
fn a_thread_may_host_one_vm_after_another() {
    spawn_engine_thread("test", || {
        for turn in 0..3 {
            let host = HostBuilder::new(Policy::imports_only(".")).native_module(torch::definition).build().expect("the host starts");
            let text = "import torch\nx = torch.tensor([1.0, 2.0]) + 1\nassert x.tolist() == [2.0, 3.0], x\nassert x.relu()[1] == 3\n";
            let ended = host.run(&Script::main(format!("turn{turn}.py"), text));
            assert_eq!(ended.expect("no exception"), 0);
            host.finish();
        }
    })
    .expect("a thread")
    .join()
    .expect("no panic");
}

#[test]
fn a_missing_script_says_so() {
    let error = Script::open(Path::new("no/such/script.py")).expect_err("no file");
    assert!(error.to_string().contains("no/such/script.py"), "{error}");
}
