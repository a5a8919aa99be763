//! Reading arguments by position. The binder has checked their kinds, so an error here means a node built wrongly.

use taipan_ir::{Arg, DType, Device, Dim, Dims, MemoryFormat, Number, OpError};

fn wrong(i: usize, wanted: &str) -> OpError {
    OpError::type_error(format!("argument {} must be {wanted}", i + 1))
}

/// A tensor.
pub fn tensor<T>(args: &[Arg<T>], i: usize) -> Result<&T, OpError> {
    optional_tensor(args, i).ok_or_else(|| wrong(i, "Tensor"))
}

/// A tensor, where one was given.
pub fn optional_tensor<T>(args: &[Arg<T>], i: usize) -> Option<&T> {
    match args.get(i) {
        Some(Arg::Tensor(t)) => Some(t),
        _ => None,
    }
}

/// A list of tensors.
pub fn tensors<T>(args: &[Arg<T>], i: usize) -> Result<&[T], OpError> {
    match args.get(i) {
        Some(Arg::Tensors(ts)) => Ok(ts),
        _ => Err(wrong(i, "tuple of Tensors")),
    }
}

/// An integer that may be symbolic.
pub fn dim<T>(args: &[Arg<T>], i: usize) -> Result<Dim, OpError> {
    optional_dim(args, i).ok_or_else(|| wrong(i, "int"))
}

/// An integer that may be symbolic, where one was given.
pub fn optional_dim<T>(args: &[Arg<T>], i: usize) -> Option<Dim> {
    match args.get(i) {
        Some(Arg::Int(d)) => Some(*d),
        _ => None,
    }
}

/// An integer that must be known.
pub fn int<T>(args: &[Arg<T>], i: usize) -> Result<i64, OpError> {
    dim(args, i)?.known().ok_or(OpError::DataDependent)
}

/// An integer that must be known, where one was given.
pub fn optional_int<T>(args: &[Arg<T>], i: usize) -> Result<Option<i64>, OpError> {
    optional_dim(args, i).map(|d| d.known().ok_or(OpError::DataDependent)).transpose()
}

/// A list of integers that may be symbolic.
pub fn dims<T>(args: &[Arg<T>], i: usize) -> Result<&[Dim], OpError> {
    optional_dims(args, i).ok_or_else(|| wrong(i, "tuple of ints"))
}

/// A list of integers, where one was given.
pub fn optional_dims<T>(args: &[Arg<T>], i: usize) -> Option<&[Dim]> {
    match args.get(i) {
        Some(Arg::Ints(ds)) => Some(ds),
        _ => None,
    }
}

/// A list of integers that must be known.
pub fn ints<T>(args: &[Arg<T>], i: usize) -> Result<Vec<i64>, OpError> {
    dims(args, i)?.iter().map(|d| d.known().ok_or(OpError::DataDependent)).collect()
}

/// A list of integers as numbers; on symbols this specialises.
pub fn numbers_of<T>(table: &mut dyn Dims, args: &[Arg<T>], i: usize) -> Result<Vec<i64>, OpError> {
    dims(args, i)?.iter().map(|d| table.number(*d)).collect()
}

/// A flag; false where none was given.
pub fn flag<T>(args: &[Arg<T>], i: usize) -> bool {
    matches!(args.get(i), Some(Arg::Bool(true)))
}

/// A number, where one was given.
pub fn number<T>(args: &[Arg<T>], i: usize) -> Option<Number> {
    match args.get(i) {
        Some(Arg::Number(n)) => Some(*n),
        Some(Arg::Int(d)) => d.known().map(Number::Int),
        Some(Arg::Bool(b)) => Some(Number::Bool(*b)),
        _ => None,
    }
}

/// A number as a float.
pub fn float<T>(args: &[Arg<T>], i: usize, otherwise: f64) -> f64 {
    number(args, i).map_or(otherwise, Number::as_f64)
}

/// A dtype, where one was given.
pub fn dtype<T>(args: &[Arg<T>], i: usize) -> Option<DType> {
    match args.get(i) {
        Some(Arg::DType(d)) => Some(*d),
        _ => None,
    }
}

/// A device; the host's processor where none was given.
pub fn device<T>(args: &[Arg<T>], i: usize) -> Device {
    match args.get(i) {
        Some(Arg::Device(d)) => d.clone(),
        _ => Device::CPU,
    }
}

/// A memory format, where one was given.
pub fn memory_format<T>(args: &[Arg<T>], i: usize) -> Option<MemoryFormat> {
    match args.get(i) {
        Some(Arg::MemoryFormat(m)) => Some(*m),
        _ => None,
    }
}

/// A word; empty where none was given.
pub fn text<T>(args: &[Arg<T>], i: usize) -> &str {
    match args.get(i) {
        Some(Arg::Str(s)) => s,
        _ => "",
    }
}

/// A generator's number; the default one where none was given.
pub fn generator<T>(args: &[Arg<T>], i: usize) -> u32 {
    match args.get(i) {
        Some(Arg::Generator(g)) => *g,
        _ => 0,
    }
}
