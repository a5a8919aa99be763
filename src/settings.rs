//! Settings: one typed table, and the store that decides which value of an entry is in force.
//!
//! Every entry has a name, a type, a default and a sentence; its two environment variables follow from the name:
//! `TAIPAN_VERIFY` gives another default, `TAIPAN_FORCE_VERIFY` a value that the program can't change. In order of strength:
//! what an alias stands for, the forcing variable, what the program has set, the default variable, the default.
//!
//! A compile takes a [`Settings`] snapshot along; nothing reads the store behind its back. The environment is a map handed over
//! when the engine is built.

use std::{collections::BTreeMap, fmt};

/// The environment an engine is built with.
pub type Environment = BTreeMap<String, String>;

/// The value of a setting, as scripts and fixtures exchange it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingValue {
    /// Not set; what `None` means is part of the entry.
    None,
    /// A flag.
    Bool(bool),
    /// A number.
    Int(u64),
    /// A text.
    Text(String),
}

/// A name that no entry has, or a value that its entry doesn't take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// No entry has this name.
    #[error("there is no setting `{name}`{}", near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
    Unknown {
        /// The name.
        name: String,
        /// The entry with the most similar name, if one is similar.
        near: Option<&'static str>,
    },
    /// The entry has another type.
    #[error("setting `{name}` is {expected}, not {found}")]
    Type {
        /// The entry.
        name: &'static str,
        /// What it takes.
        expected: &'static str,
        /// What it was given.
        found: String,
    },
}

/// One row of the table.
#[derive(Debug)]
pub struct Setting {
    /// The name, in Python and Rust.
    pub name: &'static str,
    /// What it takes, in words.
    pub takes: &'static str,
    /// What it does.
    pub doc: &'static str,
    read: fn(&Settings) -> SettingValue,
    write: fn(&mut Settings, SettingValue) -> bool,
}

/// Another name for an entry, which always reads and writes that entry.
#[derive(Debug)]
pub struct Alias {
    /// The name.
    pub name: &'static str,
    /// The entry it stands for.
    pub of: &'static str,
}

/// The types of entries.
trait Typed: Sized {
    const TAKES: &'static str;
    fn show(&self) -> SettingValue;
    fn take(value: SettingValue) -> Option<Self>;
}

macro_rules! settings {
    ($($(#[doc = $doc:literal])+ $name:ident: $type:ty = $default:expr;)*) => {
        /// A value of every setting: what one compile goes by.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Settings {
            $($(#[doc = $doc])+ pub $name: $type,)*
        }

        impl Default for Settings {
            fn default() -> Self {
                Self { $($name: $default,)* }
            }
        }

        /// Every entry.
        pub static TABLE: &[Setting] = &[$(Setting {
            name: stringify!($name),
            takes: <$type as Typed>::TAKES,
            doc: concat!($($doc, "\n"),+).trim_ascii(),
            read: |settings| settings.$name.show(),
            write: |settings, value| <$type as Typed>::take(value).map(|value| settings.$name = value).is_some(),
        }),*];
    };
}

settings! {
    /// Name of the backend where `torch.compile` is given none.
    backend: String = "eager".to_owned();
    /// Instructions one trace may follow. Copying containers that are written to again and again counts too.
    trace_instructions: u64 = 50_000;
    /// Nodes one graph may have.
    trace_nodes: u64 = 5_000;
    /// Versions one entry may have; beyond it calls run plainly.
    recompile_limit: u64 = 8;
    /// Versions all entries of one function may have together.
    accumulated_recompile_limit: u64 = 256;
    /// Whether reaching a limit is an error.
    fail_on_recompile_limit_hit: bool = false;
    /// Whether a second version of an entry is an error.
    error_on_recompile: bool = false;
    /// Whether a call whose backend fails runs plainly instead.
    suppress_errors: bool = false;
    /// Whether compiled functions run plainly altogether.
    disable: bool = false;
    /// What a call without a fitting version does: `default` compiles, `eager_on_recompile` runs plainly, `fail_on_recompile` is
    /// an error. With `force_eager` all calls run plainly.
    stance: String = "default".to_owned();
    /// Whether every verifier runs: graphs after each pass, their text read back, bridges, versions.
    verify: bool = false;
    /// Whether versions are held when their function is gone, so that a report shows them.
    keep_versions: bool = false;
    /// For tests: every trace breaks after each instruction that can be resumed.
    stumble: bool = false;
    /// For tests and benchmarks: before a version runs for the first time its guards are checked so often, and once more each in
    /// full, between events that say so.
    probe_guards: u64 = 0;
    /// For tests: every call of a compiled function from outside is kept with its arguments, to be made again.
    keep_calls: bool = false;
    /// For tests: the trace gives up before this instruction, counted from 0 in each trace.
    inject_refusal: Option<u64> = None;
    /// For tests: running a graph fails before this node, counted from 0 in each run.
    inject_failure: Option<u64> = None;
}

impl Settings {
    /// Whether compiled functions run plainly altogether.
    pub fn runs_plainly(&self) -> bool {
        self.disable || self.stance == "force_eager"
    }
}

/// Every other name.
pub static ALIASES: &[Alias] = &[
    Alias { name: "cache_size_limit", of: "recompile_limit" },
    Alias { name: "accumulated_cache_size_limit", of: "accumulated_recompile_limit" },
];

/// The settings of one engine, with where their values come from.
#[derive(Clone, Debug)]
pub struct SettingStore {
    /// Values by default and by environment, forced ones included.
    start: Settings,
    /// Names of entries whose value the environment forces.
    forced: Vec<&'static str>,
    now: Settings,
}

impl SettingStore {
    /// The settings an environment asks for.
    ///
    /// # Errors
    /// A variable of an entry has a value that the entry doesn't take.
    pub fn new(environment: &Environment) -> Result<Self, SettingError> {
        let mut start = Settings::default();
        let mut forced = Vec::new();
        for row in TABLE {
            if let Some(text) = environment.get(&row.variable()) {
                row.write_text(&mut start, text)?;
            }
            if let Some(text) = environment.get(&row.forcing_variable()) {
                row.write_text(&mut start, text)?;
                forced.push(row.name);
            }
        }
        Ok(Self { now: start.clone(), start, forced })
    }

    /// The values in force, to be taken along.
    pub fn snapshot(&self) -> Settings {
        self.now.clone()
    }

    /// The values in force.
    pub fn current(&self) -> &Settings {
        &self.now
    }

    /// The value in force of one entry.
    ///
    /// # Errors
    /// There is no such entry.
    pub fn get(&self, name: &str) -> Result<SettingValue, SettingError> {
        Ok((find(name)?.read)(&self.now))
    }

    /// Sets one entry. Where the environment forces a value, that value stays in force.
    ///
    /// # Errors
    /// There is no such entry, or it doesn't take such a value.
    pub fn set(&mut self, name: &str, value: SettingValue) -> Result<(), SettingError> {
        let row = find(name)?;
        let mut changed = self.now.clone();
        row.write(&mut changed, value)?;
        if !self.forced.contains(&row.name) {
            self.now = changed;
        }
        Ok(())
    }

    /// Sets one entry from a text, as environment variables and fixtures write values: `true`, `1`, `8`, `none`, `eager`.
    ///
    /// # Errors
    /// As for [`SettingStore::set`].
    pub fn set_text(&mut self, name: &str, text: &str) -> Result<(), SettingError> {
        let row = find(name)?;
        let mut changed = self.now.clone();
        row.write_text(&mut changed, text)?;
        if !self.forced.contains(&row.name) {
            self.now = changed;
        }
        Ok(())
    }

    /// Takes back what the program has set.
    pub fn reset(&mut self) {
        self.now = self.start.clone();
    }
}

impl Setting {
    /// The environment variable that gives another default.
    pub fn variable(&self) -> String {
        format!("TAIPAN_{}", self.name.to_uppercase())
    }

    /// The environment variable whose value the program can't change.
    pub fn forcing_variable(&self) -> String {
        format!("TAIPAN_FORCE_{}", self.name.to_uppercase())
    }

    /// The value without environment and program.
    pub fn default(&self) -> SettingValue {
        (self.read)(&Settings::default())
    }

    fn write(&self, settings: &mut Settings, value: SettingValue) -> Result<(), SettingError> {
        let found = value.to_string();
        if (self.write)(settings, value) { Ok(()) } else { Err(SettingError::Type { name: self.name, expected: self.takes, found }) }
    }

    /// Tries the readings of a text until the entry takes one; a text entry takes it as it is.
    fn write_text(&self, settings: &mut Settings, text: &str) -> Result<(), SettingError> {
        let text = text.trim();
        let readings = [
            text.parse().ok().map(SettingValue::Int),
            match text.to_ascii_lowercase().as_str() {
                "1" | "true" | "yes" | "on" => Some(SettingValue::Bool(true)),
                "0" | "false" | "no" | "off" => Some(SettingValue::Bool(false)),
                "none" | "auto" | "" => Some(SettingValue::None),
                _ => None,
            },
            Some(SettingValue::Text(text.to_owned())),
        ];
        for reading in readings.into_iter().flatten() {
            if (self.write)(settings, reading) {
                return Ok(());
            }
        }
        Err(SettingError::Type { name: self.name, expected: self.takes, found: format!("`{text}`") })
    }
}

impl fmt::Display for SettingValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingValue::None => f.write_str("None"),
            SettingValue::Bool(true) => f.write_str("True"),
            SettingValue::Bool(false) => f.write_str("False"),
            SettingValue::Int(number) => write!(f, "{number}"),
            SettingValue::Text(text) => write!(f, "{text:?}"),
        }
    }
}

impl Typed for bool {
    const TAKES: &'static str = "a bool";

    fn show(&self) -> SettingValue {
        SettingValue::Bool(*self)
    }

    fn take(value: SettingValue) -> Option<Self> {
        if let SettingValue::Bool(value) = value { Some(value) } else { None }
    }
}

impl Typed for u64 {
    const TAKES: &'static str = "an int of at least 0";

    fn show(&self) -> SettingValue {
        SettingValue::Int(*self)
    }

    fn take(value: SettingValue) -> Option<Self> {
        if let SettingValue::Int(value) = value { Some(value) } else { None }
    }
}

impl Typed for String {
    const TAKES: &'static str = "a str";

    fn show(&self) -> SettingValue {
        SettingValue::Text(self.clone())
    }

    fn take(value: SettingValue) -> Option<Self> {
        if let SettingValue::Text(value) = value { Some(value) } else { None }
    }
}

impl Typed for Option<u64> {
    const TAKES: &'static str = "an int of at least 0 or None";

    fn show(&self) -> SettingValue {
        self.as_ref().map_or(SettingValue::None, Typed::show)
    }

    fn take(value: SettingValue) -> Option<Self> {
        if value == SettingValue::None { Some(None) } else { u64::take(value).map(Some) }
    }
}

fn find(name: &str) -> Result<&'static Setting, SettingError> {
    let target = ALIASES.iter().find(|alias| alias.name == name).map_or(name, |alias| alias.of);
    TABLE.iter().find(|row| row.name == target).ok_or_else(|| SettingError::Unknown { name: name.to_owned(), near: nearest(name) })
}

/// The known name that shares the longest run of letters with `name`, if that is most of it.
fn nearest(name: &str) -> Option<&'static str> {
    let shared = |known: &str| {
        let (name, known) = (name.as_bytes(), known.as_bytes());
        let run = |i: usize, j: usize| name[i..].iter().zip(&known[j..]).take_while(|(a, b)| a == b).count();
        (0..name.len()).flat_map(|i| (0..known.len()).map(move |j| (i, j))).map(|(i, j)| run(i, j)).max().unwrap_or(0)
    };
    let names = TABLE.iter().map(|row| row.name).chain(ALIASES.iter().map(|alias| alias.name));
    // Of two that share as much, the shorter one is the nearer.
    let (best, length) = names.map(|known| (known, shared(known))).max_by_key(|(known, length)| (*length, usize::MAX - known.len()))?;
    (length * 2 > name.len().max(best.len())).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Environment {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn the_stronger_source_wins() {
        let mut plain = SettingStore::new(&environment(&[])).expect("no variables");
        assert_eq!(plain.get("recompile_limit"), Ok(SettingValue::Int(8)));
        plain.set("recompile_limit", SettingValue::Int(3)).expect("a number");
        assert_eq!(plain.snapshot().recompile_limit, 3);

        let mut default = SettingStore::new(&environment(&[("TAIPAN_RECOMPILE_LIMIT", "5")])).expect("a number");
        assert_eq!(default.snapshot().recompile_limit, 5);
        default.set("recompile_limit", SettingValue::Int(3)).expect("a number");
        assert_eq!(default.snapshot().recompile_limit, 3);
        default.reset();
        assert_eq!(default.snapshot().recompile_limit, 5);

        let both = [("TAIPAN_RECOMPILE_LIMIT", "5"), ("TAIPAN_FORCE_RECOMPILE_LIMIT", "6")];
        let mut forced = SettingStore::new(&environment(&both)).expect("numbers");
        forced.set("recompile_limit", SettingValue::Int(3)).expect("a number");
        assert_eq!(forced.snapshot().recompile_limit, 6);
    }

    #[test]
    fn an_alias_is_its_entry() {
        let mut store = SettingStore::new(&environment(&[])).expect("no variables");
        store.set("cache_size_limit", SettingValue::Int(2)).expect("a number");
        assert_eq!(store.get("recompile_limit"), Ok(SettingValue::Int(2)));
        assert!(ALIASES.iter().all(|alias| TABLE.iter().any(|row| row.name == alias.of)));
    }

    #[test]
    fn texts_are_read_by_type() {
        let mut store = SettingStore::new(&environment(&[("TAIPAN_VERIFY", "1")])).expect("a flag");
        assert!(store.snapshot().verify);
        store.set_text("inject_refusal", "1").expect("a number");
        assert_eq!(store.snapshot().inject_refusal, Some(1));
        store.set_text("inject_refusal", "auto").expect("none");
        assert_eq!(store.snapshot().inject_refusal, None);
        store.set_text("backend", "eager").expect("a text");
    }

    #[test]
    fn mistakes_are_named() {
        let mut store = SettingStore::new(&environment(&[])).expect("no variables");
        let unknown = store.get("recompile_limits").expect_err("no such entry");
        assert_eq!(unknown.to_string(), "there is no setting `recompile_limits`; did you mean `recompile_limit`?");
        let wrong = store.set("verify", SettingValue::Text("x".into())).expect_err("a text");
        assert_eq!(wrong.to_string(), "setting `verify` is a bool, not \"x\"");
        let variable = SettingStore::new(&environment(&[("TAIPAN_RECOMPILE_LIMIT", "many")])).expect_err("a text");
        assert_eq!(variable.to_string(), "setting `recompile_limit` is an int of at least 0, not `many`");
    }
}
