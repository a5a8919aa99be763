//! The Python that is part of the binary: compiled by `build.rs`, decoded when it is imported.

use rustpython_compiler_core::frozen::FrozenLib;

/// A module of the `torch` packages with its text.
#[derive(Debug)]
pub struct FrozenSource {
    /// Dotted name.
    pub name: &'static str,
    /// Whether the text is a package's `__init__.py`.
    pub package: bool,
    /// The file name that code objects and `__file__` carry; no such file need exist.
    pub path: &'static str,
    /// The text.
    pub text: &'static str,
}

static CODE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/frozen.bin"));
static SOURCES: &[FrozenSource] = include!(concat!(env!("OUT_DIR"), "/sources.rs"));

/// The code of all frozen modules.
pub(crate) fn code() -> &'static FrozenLib {
    FrozenLib::from_ref(CODE)
}

/// The module of that name, when it is one of the `torch` packages.
pub fn source(name: &str) -> Option<&'static FrozenSource> {
    // `build.rs` writes the table sorted by name.
    let index = SOURCES.binary_search_by(|source| source.name.cmp(name)).ok()?;
    SOURCES.get(index)
}

/// All modules of the `torch` packages, by name.
pub fn sources() -> &'static [FrozenSource] {
    SOURCES
}
