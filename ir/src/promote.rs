//! The common element type of an op's arguments.
//!
//! Tensors with dims have the highest priority of their category, zero-dim tensors the next, Python numbers the lowest: an argument of
//! lower priority matters only where its category is above that of all arguments of higher priority.

use crate::{
    DType, Facts,
    dtype::Category,
    op::{Arg, Promotion},
};

/// The types a pointwise op runs in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Types {
    /// The common type of the arguments (`torch.result_type`).
    pub common: DType,
    /// The type of the result.
    pub result: DType,
}

impl Types {
    /// The type a body computes in: `f32` for half types.
    pub fn compute(self) -> DType {
        compute_type(self.common)
    }
}

/// `f32` for half types, otherwise the type itself.
pub fn compute_type(dtype: DType) -> DType {
    if dtype.is_half() { DType::F32 } else { dtype }
}

/// `torch.result_type` of the tensors and numbers among `args`.
pub fn result_type<'a>(args: impl IntoIterator<Item = &'a Arg<&'a Facts>>, default_float: DType) -> DType {
    let mut found: [Option<DType>; 3] = [None; 3];
    let mut add = |priority: usize, dtype: DType| found[priority] = Some(found[priority].map_or(dtype, |d| d.promote(dtype)));
    for arg in args {
        match arg {
            Arg::Number(n) => add(2, n.dtype(default_float)),
            other => other.for_each(|f| add(usize::from(f.dims.is_empty()), f.dtype)),
        }
    }
    let mut result: Option<DType> = None;
    for dtype in found.into_iter().flatten() {
        result = Some(match result {
            None => dtype,
            // The precision is that of floats of higher priority.
            Some(high) if dtype.is_complex() && high.is_float() => high.complex(),
            Some(high) if dtype.category() > high.category() => dtype,
            Some(high) => high,
        });
    }
    result.unwrap_or(default_float)
}

/// The types of a pointwise op whose promoted arguments are `args`.
pub fn types(promotion: Promotion, args: &[Arg<&Facts>], default_float: DType) -> Types {
    let common = match promotion {
        Promotion::First => match args.first() {
            Some(Arg::Tensor(f)) => f.dtype,
            _ => default_float,
        },
        Promotion::Select => result_type(&args[1..], default_float),
        _ => result_type(args, default_float),
    };
    match promotion {
        Promotion::Float if common.category() < Category::Float => Types { common: default_float, result: default_float },
        Promotion::Compare => Types { common, result: DType::Bool },
        _ => Types { common, result: common },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Device, Dim, Number};

    fn facts(dtype: DType, dims: &[i64]) -> Facts {
        let dims = dims.iter().map(|d| Dim::Is(*d)).collect();
        Facts::contiguous(&mut crate::dims::NumberDims, dtype, Device::CPU, dims).unwrap()
    }

    #[test]
    fn numbers_and_zero_dim_tensors_give_way() {
        let (vector, zero_dim) = (facts(DType::F32, &[2]), facts(DType::F64, &[]));
        assert_eq!(result_type(&[Arg::Tensor(&vector), Arg::Tensor(&zero_dim)], DType::F32), DType::F32);
        let ints = facts(DType::I32, &[2]);
        assert_eq!(result_type(&[Arg::Tensor(&ints), Arg::Number(Number::Int(1))], DType::F32), DType::I32);
        assert_eq!(result_type(&[Arg::Tensor(&ints), Arg::Number(Number::Float(1.0))], DType::F32), DType::F32);
        assert_eq!(result_type(&[Arg::Tensor(&ints), Arg::Tensor(&zero_dim)], DType::F32), DType::F64);
        let imaginary = Arg::Number(Number::Complex(0.0, 1.0));
        assert_eq!(result_type(&[Arg::Tensor(&ints), imaginary.clone()], DType::F32), DType::C64);
        assert_eq!(result_type(&[Arg::Tensor(&facts(DType::F64, &[2])), imaginary], DType::F32), DType::C128);
        assert_eq!(result_type(&[Arg::Tensor(&vector), Arg::Tensor(&facts(DType::C128, &[]))], DType::F32), DType::C64);
    }
}
