//! Compiles Python at build time: the part of the standard library scripts need, the embedder's own
//! Python (`src/vm/python`, `src/torch/python`) and the `torch` packages (`pylib`).
//!
//! Writes two files to `OUT_DIR`: `frozen.bin`, the code of all of them, and `sources.rs`, the texts of
//! `pylib`, which tracebacks and `inspect` show.

use rustpython_compiler::{CompileOpts, Mode, compile};
use rustpython_compiler_core::frozen::{FrozenCodeObject, FrozenLib, FrozenModule};
use std::{
    env,
    error::Error,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

/// The modules of the standard library that are frozen. A name without a slash stands for the module, or
/// for the whole package; one with a slash for that file alone.
const STANDARD_LIBRARY: &[&str] = &[
    "__future__",
    "_ast_unparse",
    "_collections_abc",
    "_colorize",
    "_compat_pickle",
    "_markupbase",
    "_opcode_metadata",
    "_py_abc",
    "_py_warnings",
    "_pydatetime",
    "_pydecimal",
    "_pylong",
    "_strptime",
    "_threading_local",
    "_weakrefset",
    "abc",
    "annotationlib",
    "argparse",
    "ast",
    "base64",
    "bisect",
    "bz2",
    "calendar",
    "codecs",
    "codeop",
    "collections",
    "colorsys",
    "compression",
    "concurrent",
    "configparser",
    "contextlib",
    "contextvars",
    "copy",
    "copyreg",
    "csv",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "dis",
    "email",
    "encodings/__init__",
    "encodings/aliases",
    "encodings/ascii",
    "encodings/cp437",
    "encodings/idna",
    "encodings/latin_1",
    "encodings/utf_16",
    "encodings/utf_32",
    "encodings/utf_8",
    "encodings/utf_8_sig",
    "enum",
    "filecmp",
    "fnmatch",
    "fractions",
    "functools",
    "genericpath",
    "getopt",
    "getpass",
    "gettext",
    "glob",
    "graphlib",
    "gzip",
    "hashlib",
    "heapq",
    "hmac",
    "html",
    "http/__init__",
    "http/client",
    "http/cookiejar",
    "http/cookies",
    "importlib/__init__",
    "importlib/_abc",
    "importlib/_bootstrap",
    "importlib/_bootstrap_external",
    "importlib/abc",
    "importlib/machinery",
    "importlib/metadata/__init__",
    "importlib/metadata/_adapters",
    "importlib/metadata/_collections",
    "importlib/metadata/_functools",
    "importlib/metadata/_itertools",
    "importlib/metadata/_meta",
    "importlib/metadata/_text",
    "importlib/resources/__init__",
    "importlib/resources/_adapters",
    "importlib/resources/_common",
    "importlib/resources/_functional",
    "importlib/resources/_itertools",
    "importlib/resources/abc",
    "importlib/resources/readers",
    "importlib/resources/simple",
    "importlib/util",
    "inspect",
    "io",
    "ipaddress",
    "json",
    "keyword",
    "linecache",
    "locale",
    "logging/__init__",
    "logging/handlers",
    "lzma",
    "mimetypes",
    "modulefinder",
    "netrc",
    "ntpath",
    "numbers",
    "opcode",
    "operator",
    "optparse",
    "os",
    "pathlib",
    "pickle",
    "pkgutil",
    "platform",
    "posixpath",
    "pprint",
    "queue",
    "quopri",
    "random",
    "re",
    "reprlib",
    "sched",
    "secrets",
    "shlex",
    "shutil",
    "signal",
    "sre_compile",
    "sre_constants",
    "sre_parse",
    "stat",
    "statistics",
    "string",
    "stringprep",
    "struct",
    "symtable",
    "sysconfig",
    "tarfile",
    "tempfile",
    "textwrap",
    "threading",
    "timeit",
    "token",
    "tokenize",
    "tomllib",
    "traceback",
    "types",
    "typing",
    "unittest",
    "urllib/__init__",
    "urllib/error",
    "urllib/parse",
    "urllib/request",
    "urllib/response",
    "uuid",
    "warnings",
    "weakref",
    "xml/__init__",
    "xml/etree/ElementInclude",
    "xml/etree/ElementPath",
    "xml/etree/ElementTree",
    "xml/etree/__init__",
    "xml/parsers/__init__",
    "xml/parsers/expat",
    "zipfile",
    "zipimport",
];

/// A Python file to freeze.
struct Source {
    /// Dotted module name.
    name: String,
    /// Whether it is a package's `__init__`.
    package: bool,
    /// Where the text is.
    path: PathBuf,
    /// Path below the root it was found in, with `/`.
    relative: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let manifest = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let embedder = ["src/vm/python", "src/torch/python"].map(|folder| manifest.join(folder));
    let pylib = manifest.join("pylib");
    println!("cargo:rerun-if-changed=build.rs");
    for folder in embedder.iter().chain([&pylib]) {
        println!("cargo:rerun-if-changed={}", folder.display());
    }

    let mut modules = Vec::new();
    for source in python_files(Path::new(rustpython_pylib::LIB_PATH))? {
        if in_standard_library(source.relative.trim_end_matches(".py")) {
            modules.push(freeze(&source, &format!("<frozen {}>", source.name))?);
        }
    }
    for source in embedder.iter().map(|folder| python_files(folder)).collect::<Result<Vec<_>, _>>()?.into_iter().flatten() {
        // The frames of the importer are taken out of tracebacks by the name of this file.
        let file = match source.name.as_str() {
            "_taipan_import" => "<frozen importlib._bootstrap_external>".to_owned(),
            name => format!("<frozen {name}>"),
        };
        modules.push(freeze(&source, &file)?);
    }
    let mut table = String::from("&[\n");
    let mut ours = python_files(&pylib)?;
    ours.sort_by(|a, b| a.name.cmp(&b.name));
    for source in ours {
        let virtual_path = format!("/taipan/{}", source.relative);
        modules.push(freeze(&source, &virtual_path)?);
        writeln!(
            table,
            "    FrozenSource {{ name: {:?}, package: {}, path: {virtual_path:?}, text: include_str!({:?}) }},",
            source.name, source.package, source.path
        )?;
    }
    table.push_str("]\n");

    let frozen = FrozenLib::encode(modules.iter().map(|(name, module)| {
        let code = FrozenCodeObject { bytes: module.code.bytes.as_slice() };
        (name.as_str(), FrozenModule { code, package: module.package })
    }));
    fs::write(out.join("frozen.bin"), &frozen.bytes)?;
    fs::write(out.join("sources.rs"), table)?;
    Ok(())
}

/// Whether the file of this path (without `.py`) below the standard library's root is wanted.
fn in_standard_library(relative: &str) -> bool {
    STANDARD_LIBRARY
        .iter()
        .any(|kept| relative == *kept || (!kept.contains('/') && relative.strip_prefix(kept).is_some_and(|rest| rest.starts_with('/'))))
}

/// All `.py` files below `root`; none when there is no such folder.
fn python_files(root: &Path) -> Result<Vec<Source>, Box<dyn Error>> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        if !folder.is_dir() {
            continue;
        }
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "py") {
                let relative = path.strip_prefix(root)?.to_string_lossy().replace('\\', "/");
                let stem = relative.trim_end_matches(".py");
                let package = stem == "__init__" || stem.ends_with("/__init__");
                found.push(Source { name: stem.trim_end_matches("/__init__").replace('/', "."), package, path, relative });
            }
        }
    }
    Ok(found)
}

/// A module's name and its code.
type Frozen = (String, FrozenModule<Vec<u8>>);

fn freeze(source: &Source, file: &str) -> Result<Frozen, Box<dyn Error>> {
    let text = fs::read_to_string(&source.path)?;
    let code = compile(&text, Mode::Exec, file, CompileOpts::default()).map_err(|error| format!("{}: {error}", source.path.display()))?;
    Ok((source.name.clone(), FrozenModule { code: FrozenCodeObject::encode(&code), package: source.package }))
}
