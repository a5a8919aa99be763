//! Scripts about `torch` itself print what real PyTorch prints.
//!
//! `tests/torch/NAME.expected` is the output of `python tests/torch/NAME.py` under PyTorch 2.15 and NumPy 2.4. Those in `tests/files`
//! read files that `tests/files/make.py` has written with PyTorch; what `hostile.py` prints is our own.

mod running;

use std::{fs, path::Path};
use taipan_frontend::vm::{Policy, Script};

#[test]
fn programs_print_what_pytorch_prints() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/torch");
    // Reading too, as tracebacks show lines of the source.
    run_all(&folder, &Policy::imports_only(&folder).allow_read(&folder));
}

#[test]
fn programs_read_what_pytorch_wrote() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    run_all(&folder, &Policy::imports_only(&folder).allow_read(&folder));
}

/// Runs every script of the folder but the one that made its files.
fn run_all(folder: &Path, policy: &Policy) {
    let mut names: Vec<_> = fs::read_dir(folder)
        .expect("the folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "py") && !path.ends_with("make.py"))
        .collect();
    names.sort();
    assert!(!names.is_empty());
    let mut failed = Vec::new();
    for path in names {
        let expected = fs::read_to_string(path.with_extension("expected")).expect("expected output");
        let (ended, output) = running::run(policy.clone(), Script::open(&path).expect("the script"));
        if let Err(error) = ended {
            failed.push(format!("{}: {error}", path.display()));
            continue;
        }
        for (number, (got, wanted)) in output.lines().zip(expected.lines()).enumerate() {
            if got != wanted {
                failed.push(format!("{}, line {} of the output:\n  got    {got}\n  wanted {wanted}", path.display(), number + 1));
                break;
            }
        }
        if output.lines().count() != expected.lines().count() {
            failed.push(format!("{}: {} lines, wanted {}", path.display(), output.lines().count(), expected.lines().count()));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
