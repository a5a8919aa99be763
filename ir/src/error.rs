//! What an op may answer instead of a result.

use std::fmt;

/// The Python exception class an op's error becomes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[allow(missing_docs)]
pub enum ErrorKind {
    Runtime,
    Type,
    Value,
    Index,
    NotImplemented,
    Memory,
    Assertion,
}

/// Why an op gave no result.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum OpError {
    /// The user's mistake, with PyTorch's text.
    #[error("{text}")]
    Raised {
        /// The exception class.
        kind: ErrorKind,
        /// The message.
        text: String,
    },
    /// A rule asked for a size that is only known at run time.
    #[error("the size is only known at run time")]
    DataDependent,
}

impl OpError {
    /// A `RuntimeError`.
    pub fn runtime(text: impl Into<String>) -> OpError {
        OpError::Raised { kind: ErrorKind::Runtime, text: text.into() }
    }

    /// A `TypeError`.
    pub fn type_error(text: impl Into<String>) -> OpError {
        OpError::Raised { kind: ErrorKind::Type, text: text.into() }
    }

    /// A `ValueError`.
    pub fn value(text: impl Into<String>) -> OpError {
        OpError::Raised { kind: ErrorKind::Value, text: text.into() }
    }

    /// An `IndexError`.
    pub fn index(text: impl Into<String>) -> OpError {
        OpError::Raised { kind: ErrorKind::Index, text: text.into() }
    }

    /// An `AssertionError`.
    pub fn assertion(text: impl Into<String>) -> OpError {
        OpError::Raised { kind: ErrorKind::Assertion, text: text.into() }
    }

    /// A `NotImplementedError`.
    pub fn not_implemented(text: impl Into<String>) -> OpError {
        OpError::Raised { kind: ErrorKind::NotImplemented, text: text.into() }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ErrorKind::Runtime => "RuntimeError",
            ErrorKind::Type => "TypeError",
            ErrorKind::Value => "ValueError",
            ErrorKind::Index => "IndexError",
            ErrorKind::NotImplemented => "NotImplementedError",
            ErrorKind::Memory => "MemoryError",
            ErrorKind::Assertion => "AssertionError",
        })
    }
}
