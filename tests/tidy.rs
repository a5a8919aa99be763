//! The house rules, as tests: what a reviewer would otherwise have to see.
//!
//! Each test lists every offence it finds, with file and line. A rule that has exceptions names them in a table here, so that an
//! exception is seen in review.

use std::{
    collections::BTreeSet,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

/// Files longer than [`LONGEST`] lines, and why that is better than two files.
const LONG_FILES: &[(&str, &str)] = &[];

/// A file longer than this has more than one idea in it.
const LONGEST: usize = 800;

/// Files that may declare a `thread_local!`: the VM's slots are plain `fn` pointers.
const THREAD_LOCALS: &[&str] = &["frontend/src/thread.rs"];

/// Statics that may be written to, each once and to a value that doesn't depend on when.
const LAZY_STATICS: &[&str] = &["tensor/src/registry.rs: REGISTRY", "frontend/src/watch/dict.rs: METHODS"];

/// What is one for the process: the queue of the threads that want to run Python, since the VM's cache of attribute lookups is.
const PROCESS_STATICS: &[&str] = &["frontend/src/vm/turn.rs: QUEUE"];

/// How the types of statics begin that can't be written to.
const CONSTANT_KINDS: &[&str] = &["&", "PyNumberMethods", "PyMappingMethods", "PySequenceMethods"];

/// Which of our crates each crate may depend on.
const EDGES: &[(&str, &[&str])] = &[
    ("ir", &[]),
    ("tensor", &["taipan-ir"]),
    ("codegen", &["taipan-ir", "taipan-tensor"]),
    ("frontend", &["taipan-ir", "taipan-tensor"]),
    ("guards", &["taipan-frontend", "taipan-ir"]),
    ("tracer", &["taipan-guards", "taipan-frontend", "taipan-ir", "taipan-tensor"]),
    ("cli", &["taipan"]),
];

/// A Rust file of the project.
struct Source {
    path: String,
    text: String,
}

impl Source {
    fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Lines with their numbers, without those that are comments only.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line)).filter(|(_, line)| !line.trim_start().starts_with("//"))
    }

    /// As [`Source::code`], up to the unit tests, which stand at a file's end.
    fn product_code(&self) -> impl Iterator<Item = (usize, &str)> {
        let end = self.text.find("#[cfg(test)]").map_or(usize::MAX, |at| self.text[..at].lines().count());
        self.code().take_while(move |(line, _)| *line <= end)
    }

    fn is_test(&self) -> bool {
        self.path.starts_with("tests/") || self.path.contains("/tests/") || self.path.starts_with("bench/")
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file below `folder` with one of the extensions, by path from the root.
fn files(folder: &Path, extensions: &[&str], found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).expect("a folder of the project");
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() {
            if !name.starts_with('.') && name != "target" && name != "__pycache__" {
                files(&path, extensions, found);
            }
        } else if path.extension().and_then(|extension| extension.to_str()).is_some_and(|extension| extensions.contains(&extension)) {
            found.push(path);
        }
    }
}

fn texts(extensions: &[&str]) -> Vec<Source> {
    let mut found = Vec::new();
    files(root(), extensions, &mut found);
    let source = |path: PathBuf| Source {
        text: fs::read_to_string(&path).expect("a readable file"),
        path: path.strip_prefix(root()).expect("below the root").to_string_lossy().replace('\\', "/"),
    };
    found.into_iter().map(source).collect()
}

fn rust() -> Vec<Source> {
    texts(&["rs"])
}

/// Fails with the offences, if there are any.
fn none(rule: &str, offences: Vec<String>) {
    let mut text = String::new();
    for offence in &offences {
        // Writing to a `String` can't fail.
        let _ = write!(text, "\n  {offence}");
    }
    assert!(offences.is_empty(), "{rule}:{text}");
}

/// Every line of product code that contains one of the words, in files that `concerned` names.
fn lines_with(words: &[&str], concerned: impl Fn(&Source) -> bool) -> Vec<String> {
    let mut offences = Vec::new();
    for source in rust().iter().filter(|source| concerned(source)) {
        for (number, line) in source.product_code() {
            if words.iter().any(|word| contains_word(line, word)) {
                offences.push(format!("{}:{number}: {}", source.path, line.trim()));
            }
        }
    }
    offences
}

/// Whether `word` stands in `line` and not inside a longer name.
fn contains_word(line: &str, word: &str) -> bool {
    let letter = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back().is_some_and(letter);
        let after = line[at + word.len()..].chars().next().is_some_and(letter);
        !(before && word.starts_with(letter) || after && word.ends_with(letter))
    })
}

#[test]
fn every_file_says_what_it_is_for() {
    let silent = rust().into_iter().filter(|source| !source.text.starts_with("//! ")).map(|source| source.path).collect();
    none("a Rust file starts with a module comment", silent);
    let python = texts(&["py"]).into_iter();
    let product = python.filter(|source| source.path.starts_with("frontend/pylib/") || source.path.starts_with("frontend/src/"));
    let silent = product.filter(|source| !source.text.starts_with("\"\"\"")).map(|source| source.path).collect();
    none("a Python file of the engine starts with a docstring", silent);
}

#[test]
fn names_say_what_a_file_holds() {
    let empty = ["util", "utils", "misc", "helper", "helpers", "common"];
    // Scripts import `torch.utils` and its like by these names; of files, only packages may carry them.
    let offences = texts(&["rs", "py"]).into_iter().filter(|source| {
        let stem = source.name().rsplit_once('.').map_or(source.name(), |(stem, _)| stem);
        let is_public_name = source.path.starts_with("frontend/pylib/torch/") && source.name() == "utils.py";
        empty.contains(&stem) && !is_public_name
    });
    none("no file is called util, misc, helper or common", offences.map(|source| source.path).collect());
}

#[test]
fn files_hold_one_idea() {
    let long = rust().into_iter().filter_map(|source| {
        let lines = source.text.lines().count();
        let listed = LONG_FILES.iter().any(|(path, _)| *path == source.path);
        (lines > LONGEST && !listed).then(|| format!("{}: {lines} lines", source.path))
    });
    none("no file is longer than 800 lines", long.collect());
    let stale =
        LONG_FILES.iter().filter(|(path, _)| fs::read_to_string(root().join(path)).map_or(true, |text| text.lines().count() <= LONGEST));
    none("listed as long, but isn't", stale.map(|(path, _)| (*path).to_owned()).collect());
}

#[test]
fn python_stops_at_frontend() {
    let elsewhere = |source: &Source| !source.path.starts_with("frontend/") && !source.path.starts_with("tests/tidy");
    none("only `frontend` names rustpython", lines_with(&["rustpython_vm", "rustpython_stdlib", "rustpython_compiler_core"], elsewhere));
    let mut offences = Vec::new();
    for source in texts(&["toml"]).iter().filter(|source| source.path.contains('/') && !source.path.starts_with("frontend/")) {
        offences.extend(source.text.lines().filter(|line| line.starts_with("rustpython")).map(|line| format!("{}: {line}", source.path)));
    }
    none("only `frontend` depends on rustpython", offences);
}

#[test]
fn crates_depend_as_designed() {
    let mut offences = Vec::new();
    for (crate_name, allowed) in EDGES {
        let manifest = fs::read_to_string(root().join(crate_name).join("Cargo.toml")).expect("a manifest");
        let section = manifest.split("[dependencies]").nth(1).unwrap_or_default().split("\n[").next().unwrap_or_default();
        for line in section.lines() {
            let name = line.split(['.', ' ', '=']).next().unwrap_or_default();
            if name.starts_with("taipan") && !allowed.contains(&name) {
                offences.push(format!("{crate_name} depends on {name}"));
            }
        }
    }
    none("a crate depends on another only along the arrows of ARCHITECTURE.md", offences);
}

#[test]
fn state_belongs_to_an_engine() {
    let unlisted = |source: &Source| !source.is_test() && !THREAD_LOCALS.contains(&source.path.as_str());
    none("no `thread_local!` outside the listed file", lines_with(&["thread_local!"], unlisted));
    none("no `static mut`", lines_with(&["static mut"], |_| true));
    let mut offences = Vec::new();
    for source in rust().iter().filter(|source| !source.is_test()) {
        let mut in_thread_local = false;
        for (number, line) in source.product_code() {
            let line = line.trim();
            in_thread_local = line.starts_with("thread_local!") || (in_thread_local && line != "}");
            let prefixes = ["pub ", "pub(crate) ", "pub(super) "];
            let declaration = prefixes.iter().find_map(|prefix| line.strip_prefix(prefix)).unwrap_or(line);
            let Some(rest) = declaration.strip_prefix("static ") else { continue };
            let Some((name, kind)) = rest.split_once(':') else { continue };
            let kind = kind.trim_start();
            let key = format!("{}: {name}", source.path);
            let is_listed = LAZY_STATICS.contains(&key.as_str()) || PROCESS_STATICS.contains(&key.as_str());
            let is_constant = CONSTANT_KINDS.iter().any(|constant| kind.starts_with(constant));
            if !is_constant && !in_thread_local && !is_listed {
                offences.push(format!("{}:{number}: {line}", source.path));
            }
        }
    }
    none("no `static` can be written to, but those listed", offences);
}

#[test]
fn an_op_is_one_place() {
    let names = ["add", "mul", "matmul", "relu", "softmax", "view", "reshape", "transpose", "sum", "mean", "cat", "linear", "embedding"];
    let concerned = |source: &Source| {
        !source.is_test() && ["guards/", "tracer/", "codegen/", "src/"].iter().any(|folder| source.path.starts_with(folder))
    };
    let mut offences = Vec::new();
    for source in rust().iter().filter(|source| concerned(source)) {
        for (number, line) in source.product_code() {
            let compares = ["=>", "==", "matches!", "|"].iter().any(|sign| line.contains(sign));
            let asks = line.contains(".name()") || line.contains("schema") || line.contains("short_name");
            let named = names.iter().any(|name| line.contains(&format!("\"{name}\"")) || line.contains(&format!("\"{name}.")));
            if compares && named && asks {
                offences.push(format!("{}:{number}: {}", source.path, line.trim()));
            }
        }
    }
    none("passes match on an op's meaning, never on its name", offences);
}

#[test]
fn nothing_is_left_unfinished() {
    let ours = |source: &Source| !source.path.starts_with("tests/tidy");
    none("nothing unfinished is committed", lines_with(&["dbg!", "todo!", "unimplemented!"], ours));
    let mut offences = Vec::new();
    for source in texts(&["rs", "py", "md", "toml"]).iter().filter(|source| ours(source)) {
        for (index, line) in source.text.lines().enumerate() {
            // A fixture states wrong behaviour as it is, and says that it is wrong; the recipes say how.
            let stated = source.path.starts_with("fixtures/") || source.path == "docs/adding.md";
            let fixme = contains_word(line, "FIXME") && !stated;
            if fixme || contains_word(line, "TODO") || contains_word(line, "XXX") {
                offences.push(format!("{}:{}: {}", source.path, index + 1, line.trim()));
            }
        }
    }
    none("a known fault is a fixture, not a note", offences);
}

#[test]
fn users_cannot_reach_a_panic() {
    // An `expect` states what must hold; review judges whether it does.
    let words = [".unwrap()", "panic!"];
    // Build scripts and tests talk to us.
    let product = |source: &Source| !source.is_test() && source.name() != "build.rs" && !source.path.starts_with("examples/");
    none("product code doesn't unwrap", lines_with(&words, product));
}

#[test]
fn every_unsafe_block_says_why() {
    let mut offences = Vec::new();
    for source in rust().iter().filter(|source| !source.path.starts_with("tests/tidy")) {
        let lines: Vec<&str> = source.text.lines().collect();
        for (index, line) in lines.iter().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            let opens = contains_word(code, "unsafe") && !code.contains("unsafe_") && !code.contains("unsafe fn");
            let said = lines[index.saturating_sub(6)..index].iter().any(|above| above.contains("SAFETY:"));
            if opens && !said {
                offences.push(format!("{}:{}: {}", source.path, index + 1, line.trim()));
            }
        }
    }
    none("an `unsafe` block has a SAFETY comment above it", offences);
}

#[test]
fn the_map_is_right() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("ARCHITECTURE.md");
    let listed = map.split("```text").nth(1).and_then(|rest| rest.split("```").next()).expect("the code map");
    let named: BTreeSet<&str> =
        listed.lines().filter_map(|line| line.split_whitespace().next()).filter(|word| word.ends_with('/')).collect();
    let mut there: BTreeSet<String> = BTreeSet::new();
    for entry in fs::read_dir(root()).expect("the root") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() && !name.starts_with('.') && name != "target" {
            there.insert(format!("{name}/"));
        }
    }
    let there: BTreeSet<&str> = there.iter().map(String::as_str).collect();
    assert_eq!(named, there, "ARCHITECTURE.md names exactly the folders there are");
    let mut offences = Vec::new();
    for file in ["ARCHITECTURE.md", "README.md", "docs/adding.md"] {
        let text = fs::read_to_string(root().join(file)).expect("a page");
        for quoted in text.split('`').skip(1).step_by(2) {
            let is_path = quoted.contains('/') && quoted.chars().all(|c| c.is_alphanumeric() || "/._-".contains(c));
            if is_path && !root().join(quoted).exists() {
                offences.push(format!("{file}: `{quoted}`"));
            }
        }
    }
    none("a page names only files that exist", offences);
}
