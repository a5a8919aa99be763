//! The embedded VM: rustpython as published, without its operating-system layer, and with the engine's own
//! modules, files, importer, limits and rights in place.

mod boundary;
mod deadline;
mod frozen;
mod harden;
mod host;
mod host_access;
mod lru_cache;
mod modules;
mod policy;
mod script;
mod turn;

pub use crate::thread::{keep, kept, release};
pub use boundary::{STACK_BYTES, guarded, panic_text, spawn_engine_thread, stack_suffices};
pub use deadline::{Deadline, Interrupter};
pub use frozen::{FrozenSource, source, sources};
pub use harden::RECURSION_LIMIT;
pub use host::{Host, HostBuilder};
pub use lru_cache::LruCache;
pub use policy::{Access, EnvAccess, Policy};
pub use script::{Script, ScriptError, ScriptFileError, describe, flush, load};
pub(crate) use turn::ThreadTurn;
pub use turn::{compute, in_turn, pause};
