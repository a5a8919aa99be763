//! Everything that can go wrong for a Rust program: one value, with the script's traceback where a script was running.

use crate::settings::SettingError;
use taipan_frontend::vm::{ScriptError, ScriptFileError};
use taipan_ir::OpError;

/// Why an engine gave no result. The engine stays usable, except after [`Error::Ended`].
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// An exception left the script; shown as Python shows it.
    #[error("{0}")]
    Script(#[from] ScriptError),
    /// A script or weight file can't be read.
    #[error("can't open file '{path}': {reason}")]
    File {
        /// The file.
        path: String,
        /// What the system said.
        reason: String,
    },
    /// A weight file is not what it should be.
    #[error("'{path}': {reason}")]
    Weights {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A setting doesn't exist or doesn't take such a value.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// A tensor can't be made or read as asked.
    #[error("{0}")]
    Tensor(#[from] OpError),
    /// A result isn't of the Rust type it was to be read as.
    #[error("expected {expected}, the script gave {found}")]
    Conversion {
        /// What the caller asked for.
        expected: &'static str,
        /// What there was.
        found: String,
    },
    /// A handle was given to another engine than the one it belongs to.
    #[error("this object belongs to another engine")]
    OtherEngine,
    /// The engine was called from its own thread, an observer for one, which would wait for itself.
    #[error("an engine can't be called from its own thread")]
    Reentered,
    /// An engine that lives on a thread of the program was called from another one.
    #[error("an engine made for its caller's thread can only be called there")]
    OtherThread,
    /// The engine's thread couldn't be started.
    #[error("the engine can't start: {0}")]
    Start(String),
    /// The engine's thread has ended.
    #[error("the engine has ended")]
    Ended,
    /// A bug in Taipan.
    #[error("internal error: {0} (this is a bug in Taipan)")]
    Internal(String),
}

impl Error {
    /// File and line (from 1) of the script that the error is about, where it is about one.
    pub fn place(&self) -> Option<(&str, u32)> {
        match self {
            Error::Script(error) => error.place.as_ref().map(|(file, line)| (file.as_str(), *line)),
            _ => None,
        }
    }

    /// The Python exception, where it is one.
    pub fn script(&self) -> Option<&ScriptError> {
        if let Error::Script(error) = self { Some(error) } else { None }
    }
}

impl From<ScriptFileError> for Error {
    fn from(error: ScriptFileError) -> Self {
        Error::File { path: error.path.display().to_string(), reason: error.source.to_string() }
    }
}
