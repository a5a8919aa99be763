//! Benchmarks of the engine: see `benches/`. This crate has no code of its own, so that nothing else builds criterion.
