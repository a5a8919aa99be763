//! What scripts may touch: one value, asked at every access to files and environment.
//!
//! A script has no other door to the machine: the VM is built without its operating-system layer, and
//! `open`, `os` and the importer are ours (`host_access`).

use std::{
    env, fmt, io,
    path::{Component, Path, PathBuf},
};

/// The rights of the scripts of one engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Files that may be read, listed and asked for.
    pub read: Access,
    /// Files that may be made, written, renamed and removed.
    pub write: Access,
    /// Environment variables that scripts see.
    pub env: EnvAccess,
    /// Folders whose Python files may be imported, in the order in which they are searched.
    pub import: Vec<PathBuf>,
}

/// A set of files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// None.
    Nothing,
    /// Whatever lies in these folders, at any depth.
    Folders(Vec<PathBuf>),
    /// All that the process itself may touch.
    Everything,
}

/// A set of environment variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnvAccess {
    /// None.
    Nothing,
    /// Those with these names.
    Names(Vec<String>),
    /// All.
    Everything,
}

impl Policy {
    /// No rights at all.
    pub fn nothing() -> Self {
        Self { read: Access::Nothing, write: Access::Nothing, env: EnvAccess::Nothing, import: Vec::new() }
    }

    /// The library's default: nothing but imports from `folder`.
    pub fn imports_only(folder: impl Into<PathBuf>) -> Self {
        Self::nothing().allow_import(folder)
    }

    /// The rights of a user who runs a script of their own: files and environment as in Python.
    pub fn user() -> Self {
        Self { read: Access::Everything, write: Access::Everything, env: EnvAccess::Everything, import: Vec::new() }
    }

    /// Also allows reading what lies in `folder`.
    pub fn allow_read(mut self, folder: impl Into<PathBuf>) -> Self {
        self.read.add(folder.into());
        self
    }

    /// Also allows writing what lies in `folder`.
    pub fn allow_write(mut self, folder: impl Into<PathBuf>) -> Self {
        self.write.add(folder.into());
        self
    }

    /// Also shows the environment variable `name`.
    pub fn allow_env(mut self, name: impl Into<String>) -> Self {
        match &mut self.env {
            EnvAccess::Nothing => self.env = EnvAccess::Names(vec![name.into()]),
            EnvAccess::Names(names) => names.push(name.into()),
            EnvAccess::Everything => {}
        }
        self
    }

    /// Also allows imports from `folder`, which is searched after those allowed before.
    pub fn allow_import(mut self, folder: impl Into<PathBuf>) -> Self {
        self.import.push(folder.into());
        self
    }

    /// The variables that a script sees.
    pub fn environment(&self) -> Vec<(String, String)> {
        match &self.env {
            EnvAccess::Nothing => Vec::new(),
            EnvAccess::Names(names) => names.iter().filter_map(|name| Some((name.clone(), env::var(name).ok()?))).collect(),
            // Variables that are not Unicode have no place in a `str` dictionary.
            EnvAccess::Everything => {
                env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))).collect()
            }
        }
    }

    /// Answers with the absolute path, links resolved, when `right` covers it.
    pub(crate) fn check(&self, right: Right, path: &Path) -> Result<PathBuf, Refusal> {
        let real = resolve(path).map_err(Refusal::System)?;
        let allowed = match right {
            Right::Read => self.read.covers(&real) || self.write.covers(&real),
            Right::Write => self.write.covers(&real),
            Right::Import => self.read.covers(&real) || self.import.iter().any(|folder| inside(folder, &real)),
        };
        if allowed { Ok(real) } else { Err(Refusal::Denied(right)) }
    }
}

impl Access {
    fn add(&mut self, folder: PathBuf) {
        match self {
            Access::Nothing => *self = Access::Folders(vec![folder]),
            Access::Folders(folders) => folders.push(folder),
            Access::Everything => {}
        }
    }

    fn covers(&self, real: &Path) -> bool {
        match self {
            Access::Nothing => false,
            Access::Folders(folders) => folders.iter().any(|folder| inside(folder, real)),
            Access::Everything => true,
        }
    }
}

/// What a script wants to do with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Right {
    Read,
    Write,
    Import,
}

/// Why a path was not handed out.
#[derive(Debug)]
pub(crate) enum Refusal {
    Denied(Right),
    System(io::Error),
}

impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Right::Read => "reading is not allowed by this engine's policy; allow it with --allow-read DIR or Policy::allow_read",
            Right::Write => "writing is not allowed by this engine's policy; allow it with --allow-write DIR or Policy::allow_write",
            Right::Import => "importing from here is not allowed by this engine's policy; allow it with --path DIR or Policy::allow_import",
        })
    }
}

fn inside(folder: &Path, real: &Path) -> bool {
    resolve(folder).is_ok_and(|folder| real.starts_with(folder))
}

/// The absolute path without links and `..`; the part that doesn't exist is taken as written.
fn resolve(path: &Path) -> io::Result<PathBuf> {
    let absolute = std::path::absolute(path)?;
    if let Ok(real) = absolute.canonicalize() {
        return Ok(real);
    }
    let mut real = PathBuf::new();
    for part in absolute.components() {
        match part {
            Component::ParentDir => {
                real.pop();
            }
            Component::CurDir => {}
            part => {
                real.push(part);
                if let Ok(seen) = real.canonicalize() {
                    real = seen;
                }
            }
        }
    }
    Ok(real)
}
