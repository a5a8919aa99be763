//! The table of all ops.

use crate::ops;
use std::sync::LazyLock;
use taipan_ir::Registry;

/// Every op of every family. Immutable, so that it may be shared by all engines.
pub fn registry() -> &'static Registry {
    static REGISTRY: LazyLock<Registry> = LazyLock::new(|| match Registry::new(ops::TABLES) {
        Ok(registry) => registry,
        // The table is a constant of this crate, and a test builds it.
        Err(e) => unreachable!("{e}"),
    });
    &REGISTRY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_reads() {
        let registry = Registry::new(ops::TABLES).unwrap();
        let mut names: Vec<&str> = registry.entries().iter().map(|e| e.schema.base).filter(|n| !n.ends_with('_')).collect();
        names.sort_unstable();
        names.dedup();
        assert!(names.len() >= 120, "{} ops", names.len());
    }
}
