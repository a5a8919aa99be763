//! Weights from files.

use crate::Error;
use std::path::Path;
use taipan_tensor::{Tensor, safetensors};

/// The tensors of a safetensors file, in the order of their names.
///
/// # Errors
/// The file can't be read, or it is damaged.
pub fn read(path: &Path) -> Result<Vec<(String, Tensor)>, Error> {
    let shown = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| Error::File { path: shown.clone(), reason: error.to_string() })?;
    safetensors::read(&bytes).map(|file| file.tensors).map_err(|error| Error::Weights { path: shown, reason: error.to_string() })
}
