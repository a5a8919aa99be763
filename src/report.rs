//! Reports: what the JIT did, as values. An [`Observer`] is told of each as it happens; the engine lists the versions it holds.
//!
//! Names are stable, so that fixtures and people can speak about them: no addresses, no counters of the process.

use std::{collections::HashMap, fmt, rc::Rc, sync::Arc};

pub use taipan_guards::{Path, PathStep};

/// Who is told what happens, on the engine's thread.
pub type Observer = Rc<dyn Fn(&Event)>;

/// Something the JIT did.
#[derive(Clone, Debug)]
pub enum Event {
    /// An entry was compiled for the first time.
    Compiled {
        /// The new version.
        version: VersionName,
    },
    /// A call ran a version whose guards held.
    Reused {
        /// The version.
        version: VersionName,
    },
    /// No version's guards held, and another one was compiled.
    Recompiled {
        /// The new version.
        version: VersionName,
        /// The version with the fewest failed guards; the latest of several.
        nearest: VersionName,
        /// Its failed guards.
        failures: Vec<Failure>,
    },
    /// A trace stopped; what came before it was compiled, and what comes behind it is an entry of its own.
    Broke {
        /// The version that ends here; `None` where there is nothing in front of the break to compile.
        version: Option<VersionName>,
        /// The break.
        at: Break,
    },
    /// An entry was not compiled and runs plainly.
    Refused {
        /// The entry.
        entry: EntryName,
        /// Why.
        at: Break,
    },
    /// A limit was reached: from now on the entry runs plainly where no version fits.
    LimitHit {
        /// The entry.
        entry: EntryName,
        /// The setting that holds the limit.
        setting: &'static str,
        /// Its value.
        limit: u64,
    },
    /// By the setting `probe_guards`: from now on a version's guards are checked, and nothing else is done.
    Checking {
        /// The version.
        version: VersionName,
    },
    /// The checks since [`Event::Checking`] are done.
    Checked {
        /// The version.
        version: VersionName,
        /// Whether each check evaluated every guard, instead of those alone that a watch doesn't answer for.
        in_full: bool,
        /// How many checks held; all should.
        held: u64,
        /// Calls of Python functions made by them.
        calls: u64,
    },
    /// `taipan.reveal(value)` was traced.
    Revealed {
        /// The call.
        place: Place,
        /// What the tracer knows of the value.
        text: String,
    },
}

/// Why a trace stopped, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Break {
    /// The expression or statement.
    pub place: Place,
    /// Name of the row of the reason table.
    pub reason: &'static str,
    /// What was met: a name, a type, an op.
    pub detail: String,
    /// The row's explanation.
    pub why: &'static str,
    /// What the script's author can do.
    pub hint: &'static str,
}

/// A guard that did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Its kind: `size`, `value`, `identity`, …
    pub kind: &'static str,
    /// What was assumed and what was seen: `x.size(0) was 4, is 6`.
    pub text: String,
    /// Line of the script that needed the guard; 0 where there is none.
    pub line: u32,
}

/// A stretch of source text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The file, as the code object names it.
    pub file: Arc<str>,
    /// First line, from 1.
    pub line: u32,
    /// Column of the first character, in bytes from 0.
    pub column: u32,
    /// Last line.
    pub end_line: u32,
    /// Column behind the last character.
    pub end_column: u32,
    /// Qualified name of the function.
    pub function: Arc<str>,
}

/// The name of an entry: `scale` where the call starts, `scale+1` behind its first break.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryName {
    /// The compiled function, unique in its engine.
    pub function: Arc<str>,
    /// 0 for the call itself; continuations are numbered in order of first appearance.
    pub continuation: u32,
}

/// The name of a version: `scale#2`, `scale+1#1`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VersionName {
    /// The entry.
    pub entry: EntryName,
    /// From 1, in order of compilation.
    pub number: u32,
}

/// A version that the engine holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionReport {
    /// Its name.
    pub name: VersionName,
    /// The text of its graph, one line per node.
    pub graph: String,
    /// Its guards, one line each.
    pub guards: Vec<String>,
    /// Instructions that were traced.
    pub instructions: usize,
    /// Where the values are that its guards speak about, each once.
    pub looked_at: Vec<Path>,
    /// The break it ends at; `None` where it returns or raises.
    pub ends_at: Option<Break>,
}

/// Hands out names that are unique in one engine.
#[derive(Debug, Default)]
pub struct Names {
    functions: HashMap<String, u32>,
    continuations: HashMap<Arc<str>, u32>,
}

impl Names {
    /// The name of a newly compiled function called `name`: that, or `name.2` for the second one called so.
    pub fn function(&mut self, name: &str) -> EntryName {
        let count = self.functions.entry(name.to_owned()).or_default();
        *count += 1;
        let function = if *count == 1 { Arc::from(name) } else { Arc::from(format!("{name}.{count}")) };
        EntryName { function, continuation: 0 }
    }

    /// The name of a new continuation of the function that `entry` is of.
    pub fn continuation(&mut self, entry: &EntryName) -> EntryName {
        let count = self.continuations.entry(entry.function.clone()).or_default();
        *count += 1;
        EntryName { function: entry.function.clone(), continuation: *count }
    }
}

impl EntryName {
    /// The name of its `number`th version.
    pub fn version(&self, number: u32) -> VersionName {
        VersionName { entry: self.clone(), number }
    }
}

impl fmt::Display for EntryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.continuation {
            0 => f.write_str(&self.function),
            number => write!(f, "{}+{number}", self.function),
        }
    }
}

impl fmt::Display for VersionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.entry, self.number)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column + 1)
    }
}

impl fmt::Display for Break {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {}", self.reason, self.why)?;
        if self.detail.is_empty() { Ok(()) } else { write!(f, " ({})", self.detail) }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Compiled { version } => write!(f, "compile {version}"),
            Event::Reused { version } => write!(f, "reuse {version}"),
            Event::Recompiled { version, failures, .. } => {
                write!(f, "recompile {version}")?;
                for (index, failure) in failures.iter().enumerate() {
                    let comma = if index > 0 { "," } else { "" };
                    write!(f, "{comma} [{}] {:?}", failure.kind, failure.text)?;
                }
                Ok(())
            }
            Event::Broke { at, .. } => write!(f, "break {at} at {}", at.place),
            Event::Refused { entry, at } => write!(f, "interpret {entry} {at} at {}", at.place),
            Event::LimitHit { entry, setting, limit } => write!(f, "interpret {entry}: {setting} of {limit} reached"),
            Event::Checking { version } => write!(f, "checking {version}"),
            Event::Checked { version, held, .. } => write!(f, "checked {version}: held {held} times"),
            Event::Revealed { place, text } => write!(f, "reveal {text} at {place}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_stable() {
        let mut names = Names::default();
        let scale = names.function("scale");
        assert_eq!(scale.version(2).to_string(), "scale#2");
        assert_eq!(names.continuation(&scale).version(1).to_string(), "scale+1#1");
        assert_eq!(names.continuation(&scale).to_string(), "scale+2");
        assert_eq!(names.function("scale").to_string(), "scale.2");
    }
}
