//! Devices: a registered name and an index.

use std::{fmt, sync::Arc};

/// Where a tensor's memory lives. The name is one that an engine has registered; `cpu` always is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Device {
    name: Option<Arc<str>>,
    index: Option<u32>,
}

impl Device {
    /// The host's processor, without an index.
    pub const CPU: Device = Device { name: None, index: None };

    /// The device `name` with an optional index.
    pub fn new(name: &str, index: Option<u32>) -> Device {
        let name = if name == "cpu" { None } else { Some(Arc::from(name)) };
        Device { name, index }
    }

    /// The registered name, such as `cpu`.
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or("cpu")
    }

    /// The index, where one was given.
    pub fn index(&self) -> Option<u32> {
        self.index
    }

    /// Whether the memory is the host's own.
    pub fn is_cpu(&self) -> bool {
        self.name.is_none()
    }

    /// Reads `cpu` or `name:1`.
    pub fn parse(text: &str) -> Option<Device> {
        let (name, index) = match text.split_once(':') {
            Some((name, index)) => (name, Some(index.parse().ok()?)),
            None => (text, None),
        };
        let word = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        word.then(|| Device::new(name, index))
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            Some(i) => write!(f, "{}:{i}", self.name()),
            None => f.write_str(self.name()),
        }
    }
}
