//! The `taipan` program as a user sees it: output, errors, exit codes, rights.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Output},
};

/// A folder of its own for one test, removed afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("taipan-cli-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(&path, text).expect("a file");
        path.to_string_lossy().into_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn taipan(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_taipan"));
    command.args(arguments).env_remove("TAIPAN_PATH");
    command
}

fn run(arguments: &[&str]) -> (i32, String, String) {
    read(taipan(arguments).output().expect("the program starts"))
}

fn read(output: Output) -> (i32, String, String) {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("an exit code"), text(output.stdout), text(output.stderr))
}

#[test]
fn a_script_prints_takes_arguments_and_exits() {
    let folder = Folder::new("exit");
    let script = folder.file("script.py", "import sys\nprint(sys.argv[1:])\nprint('to stderr', file=sys.stderr)\nsys.exit(7)\n");
    assert_eq!(run(&["run", &script, "--steps", "3", "-x"]), (7, "['--steps', '3', '-x']\n".to_owned(), "to stderr\n".to_owned()));
}

#[test]
fn an_exception_is_shown_as_python_shows_it() {
    let folder = Folder::new("exception");
    let script = folder.file("script.py", "def f():\n    return 1 / 0\n\nf()\n");
    let (code, output, errors) = run(&["run", &script]);
    assert_eq!((code, output.as_str()), (1, ""));
    assert!(errors.starts_with("Traceback (most recent call last):\n"), "{errors}");
    assert!(errors.contains("script.py\", line 2, in f\n    return 1 / 0\n"), "{errors}");
    assert!(errors.ends_with("ZeroDivisionError: division by zero\n"), "{errors}");
}

#[test]
fn a_wrong_command_line_is_exit_code_two() {
    let (code, _, errors) = run(&["run", "no/such/script.py"]);
    assert_eq!(code, 2);
    assert!(errors.starts_with("taipan: can't open file 'no/such/script.py'"), "{errors}");
    assert_eq!(run(&["walk"]).0, 2);
    assert_eq!(run(&["run"]).0, 2);
    let folder = Folder::new("setting");
    let script = folder.file("script.py", "");
    let (code, _, errors) = read(taipan(&["run", &script]).env("TAIPAN_TRACE_NODES", "lots").output().expect("the program starts"));
    assert_eq!(code, 2);
    assert_eq!(errors, "taipan: setting `trace_nodes` is an int of at least 0, not `lots`\n");
}

#[test]
fn a_sandbox_opens_only_what_it_is_told_to() {
    let folder = Folder::new("sandbox");
    let data = folder.file("data/numbers.txt", "1 2 3\n");
    let text = format!("import os\nprint(os.environ.get('SEEN'), os.environ.get('UNSEEN'))\nprint(open({data:?}).read())\n");
    let script = folder.file("script.py", &text);
    let command =
        |arguments: &[&str]| read(taipan(arguments).env("SEEN", "yes").env("UNSEEN", "yes").output().expect("the program starts"));
    let (code, output, _) = command(&["run", &script]);
    assert_eq!((code, output.as_str()), (0, "yes yes\n1 2 3\n\n"));
    let (code, output, errors) = command(&["run", "--sandbox", &script]);
    assert_eq!((code, output.as_str()), (1, "None None\n"));
    assert!(errors.contains("PermissionError") && errors.contains("--allow-read"), "{errors}");
    let readable = folder.0.join("data");
    let (code, output, errors) =
        command(&["run", "--sandbox", "--allow-read", &readable.to_string_lossy(), "--allow-env", "SEEN", &script]);
    assert_eq!((code, output.as_str()), (0, "yes None\n1 2 3\n\n"), "{errors}");
    assert_eq!(run(&["run", "--allow-read", ".", &script]).0, 2);
}

#[test]
fn imports_come_from_the_folders_named() {
    let folder = Folder::new("imports");
    folder.file("near.py", "where = 'beside'\n");
    folder.file("one/first.py", "where = 'path'\n");
    folder.file("two/second.py", "where = 'variable'\n");
    let script = folder.file("script.py", "import near, first, second\nprint(near.where, first.where, second.where)\n");
    let (one, two) = (folder.0.join("one"), folder.0.join("two"));
    let mut command = taipan(&["run", "--path", &one.to_string_lossy(), &script]);
    let (code, output, errors) = read(command.env("TAIPAN_PATH", two).output().expect("the program starts"));
    assert_eq!((code, output.as_str()), (0, "beside path variable\n"), "{errors}");
}

#[test]
fn explain_tells_what_was_compiled() {
    let folder = Folder::new("explain");
    let text = "import torch\n\n@torch.compile\ndef f(x):\n    y = x * 2\n    print('seen')\n    return y + 1\n\nf(torch.ones(2))\nf(torch.ones(3))\n";
    let script = folder.file("script.py", text);
    let (code, output, errors) = run(&["explain", &script]);
    assert_eq!(code, 0, "{errors}");
    assert!(output.starts_with("seen\nseen\n"), "{output}");
    for part in ["f#1", "f+1#1", "mul a, 2", "[visible-effect]", "    print('seen')", "    ^^^^^^^^^^^^^", "x.size(0) was 2, is 3", "hint:"]
    {
        assert!(output.contains(part), "`{part}` is missing from:\n{output}");
    }
    let plain = folder.file("plain.py", "print(1)\n");
    assert_eq!(run(&["explain", &plain]).1, "1\n\nnothing was compiled: no call went through torch.compile\n");
}

#[test]
fn ops_are_listed() {
    let (code, output, _) = run(&["ops", "relu"]);
    assert_eq!(code, 0);
    assert!(output.contains("relu(Tensor self)") && output.contains("differentiable"), "{output}");
    let numbers = "  u8 i8 i16 i32 i64 f16 bf16 f32 f64  ";
    assert!(output.lines().any(|line| line.ends_with("  relu(Tensor self) -> Tensor") && line.contains(numbers)), "{output}");
    let (_, any, _) = run(&["ops", "clone"]);
    assert!(any.lines().any(|line| line.contains("clone(Tensor self") && line.contains("  all  ")), "{any}");
    let (_, page, _) = run(&["ops", "--markdown", "bitwise_and"]);
    assert!(page.contains("| `bitwise_and.Tensor(") && page.contains("bool u8 i8 i16 i32 i64"), "{page}");
    assert_eq!(run(&["ops", "no_such_op"]).0, 1);
}

#[test]
fn help_has_examples() {
    for arguments in [&["--help"][..], &["run", "--help"], &["explain", "--help"]] {
        let (code, output, _) = run(arguments);
        assert_eq!(code, 0);
        assert!(output.contains("Examples:"), "{output}");
    }
}
