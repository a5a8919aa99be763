//! Reading and writing safetensors files.

use crate::{Tensor, storage::Bytes};
use safetensors::{Dtype, SafeTensors, View, serialize, tensor::SafeTensorError};
use std::{borrow::Cow, collections::HashMap};
use taipan_ir::{DType, OpError};

/// Why a safetensors file could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The bytes are not such a file.
    #[error("not a readable safetensors file: {0}")]
    Corrupt(String),
    /// A tensor's element type is not one of ours.
    #[error("tensor `{name}` has elements of type {dtype}, which is not supported")]
    DType {
        /// The tensor.
        name: String,
        /// The type as the file names it.
        dtype: String,
    },
    /// A tensor could not be read.
    #[error("tensor `{name}`: {error}")]
    Tensor {
        /// The tensor.
        name: String,
        /// Why.
        error: OpError,
    },
}

/// The tensors of a file by name, in the order of their names, and its metadata.
#[derive(Debug, Default)]
pub struct File {
    /// Names and tensors.
    pub tensors: Vec<(String, Tensor)>,
    /// What else the file says.
    pub metadata: HashMap<String, String>,
}

/// Reads a file's bytes. Every tensor gets storage of its own.
///
/// # Errors
/// Where the header is no JSON, offsets lie outside the file, or an element type is unknown.
pub fn read(bytes: &[u8]) -> Result<File, FileError> {
    let corrupt = |e: SafeTensorError| FileError::Corrupt(explain(&e, bytes.len()));
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(corrupt)?;
    let file = SafeTensors::deserialize(bytes).map_err(corrupt)?;
    let mut tensors = vec![];
    for (name, view) in file.iter() {
        let dtype =
            from_file(view.dtype()).ok_or_else(|| FileError::DType { name: name.to_owned(), dtype: format!("{:?}", view.dtype()) })?;
        let sizes: Vec<i64> = view.shape().iter().map(|n| *n as i64).collect();
        let mut memory = Bytes::zeroed(view.data().len());
        memory.elements_mut::<u8>().copy_from_slice(view.data());
        tensors.push((name.to_owned(), Tensor::from_bytes(dtype, &sizes, memory)));
    }
    tensors.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(File { tensors, metadata: header.metadata().clone().unwrap_or_default() })
}

/// The bytes of a file with these tensors.
///
/// # Errors
/// Where a tensor's storage is smaller than the tensor, or the format has no such element type.
pub fn write<'a>(
    tensors: impl IntoIterator<Item = (&'a str, &'a Tensor)>,
    metadata: Option<HashMap<String, String>>,
) -> Result<Vec<u8>, FileError> {
    let mut views = vec![];
    for (name, tensor) in tensors {
        let failed = |error: OpError| FileError::Tensor { name: name.to_owned(), error };
        let dense = tensor.contiguous().map_err(failed)?;
        let data = crate::with_bits!(dense.dtype(), T => {
            let elements = dense.elements::<T>().map_err(failed)?;
            bytemuck::cast_slice::<T, u8>(&elements).to_vec()
        });
        let unknown = || FileError::DType { name: name.to_owned(), dtype: tensor.dtype().torch_name().to_owned() };
        let dtype = to_file(tensor.dtype()).ok_or_else(unknown)?;
        let shape = tensor.sizes().iter().map(|n| *n as usize).collect();
        views.push((name, Dense { dtype, shape, data }));
    }
    serialize(views, metadata).map_err(|e| FileError::Corrupt(e.to_string()))
}

struct Dense {
    dtype: Dtype,
    shape: Vec<usize>,
    data: Vec<u8>,
}

impl View for Dense {
    fn dtype(&self) -> Dtype {
        self.dtype
    }
    fn shape(&self) -> &[usize] {
        &self.shape
    }
    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.data)
    }
    fn data_len(&self) -> usize {
        self.data.len()
    }
}

fn explain(error: &SafeTensorError, length: usize) -> String {
    match error {
        SafeTensorError::HeaderTooSmall => format!("it has {length} bytes, fewer than the header's length takes"),
        SafeTensorError::HeaderTooLarge | SafeTensorError::InvalidHeaderLength => {
            format!("its header claims more bytes than the {length} the file has")
        }
        SafeTensorError::MetadataIncompleteBuffer => format!("its tensors claim more or fewer bytes than the {length} the file has"),
        other => other.to_string(),
    }
}

fn from_file(dtype: Dtype) -> Option<DType> {
    Some(match dtype {
        Dtype::BOOL => DType::Bool,
        Dtype::U8 => DType::U8,
        Dtype::I8 => DType::I8,
        Dtype::I16 => DType::I16,
        Dtype::I32 => DType::I32,
        Dtype::I64 => DType::I64,
        Dtype::F16 => DType::F16,
        Dtype::BF16 => DType::BF16,
        Dtype::F32 => DType::F32,
        Dtype::F64 => DType::F64,
        Dtype::C64 => DType::C64,
        _ => return None,
    })
}

/// The file's name of an element type, where it has one.
fn to_file(dtype: DType) -> Option<Dtype> {
    Some(match dtype {
        DType::Bool => Dtype::BOOL,
        DType::U8 => Dtype::U8,
        DType::I8 => Dtype::I8,
        DType::I16 => Dtype::I16,
        DType::I32 => Dtype::I32,
        DType::I64 => Dtype::I64,
        DType::F16 => Dtype::F16,
        DType::BF16 => Dtype::BF16,
        DType::F32 => Dtype::F32,
        DType::F64 => Dtype::F64,
        DType::C64 => Dtype::C64,
        DType::C128 => return None,
    })
}
