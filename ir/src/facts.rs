//! What an op rule may see of a tensor.

use crate::{DType, Device, Dim, DimOp, Dims, OpError, Rel};
use smallvec::SmallVec;
use std::fmt;

/// Sizes or strides, outermost first.
pub type Shape = SmallVec<[Dim; 5]>;

/// Element type, device and layout of a tensor: all that an op's rules may depend on. Strides and offset count elements.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Facts {
    /// Element type.
    pub dtype: DType,
    /// Device of the memory.
    pub device: Device,
    /// Sizes, outermost first.
    pub dims: Shape,
    /// Elements between neighbours along each dim.
    pub strides: Shape,
    /// Index of the first element in the storage.
    pub offset: Dim,
}

impl Facts {
    /// A row-major tensor of its own storage.
    pub fn contiguous(dims_table: &mut dyn Dims, dtype: DType, device: Device, dims: Shape) -> Result<Facts, OpError> {
        let strides = row_major(dims_table, &dims)?;
        Ok(Facts { dtype, device, dims, strides, offset: Dim::Is(0) })
    }

    /// Number of dims.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// The sizes as numbers; on symbols this specialises.
    pub fn sizes(&self, dims: &mut dyn Dims) -> Result<SmallVec<[i64; 5]>, OpError> {
        self.dims.iter().map(|d| dims.number(*d)).collect()
    }

    /// Number of elements.
    pub fn numel(&self, dims: &mut dyn Dims) -> Dim {
        self.dims.iter().fold(Dim::Is(1), |n, d| dims.calc(DimOp::Mul, n, *d))
    }

    /// Whether the elements lie in row-major order without gaps (`is_contiguous()`).
    pub fn is_contiguous(&self, dims: &mut dyn Dims) -> Result<bool, OpError> {
        let n = self.numel(dims);
        if dims.decide(Rel::Eq, n, Dim::Is(0))? {
            return Ok(true);
        }
        let mut expected = Dim::Is(1);
        for (size, stride) in self.dims.iter().zip(&self.strides).rev() {
            if dims.decide(Rel::Eq, *size, Dim::Is(1))? {
                continue;
            }
            if !dims.decide(Rel::Eq, *stride, expected)? {
                return Ok(false);
            }
            expected = dims.calc(DimOp::Mul, expected, *size);
        }
        Ok(true)
    }
}

/// Row-major strides; a size of zero counts as one, as in PyTorch.
pub fn row_major(dims: &mut dyn Dims, sizes: &[Dim]) -> Result<Shape, OpError> {
    let mut strides: Shape = SmallVec::from_elem(Dim::Is(1), sizes.len());
    for i in (1..sizes.len()).rev() {
        let size = dims.calc(DimOp::Max, sizes[i], Dim::Is(1));
        strides[i - 1] = dims.calc(DimOp::Mul, strides[i], size);
    }
    Ok(strides)
}

impl fmt::Display for Facts {
    /// `f32[4,8]`; strides, offset and device are shown where they are not the default: `f32[4,8] strides [1,4] offset 2 on gpu:0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.dtype, Bracketed(&self.dims))?;
        let default = row_major(&mut crate::dims::NumberDims, &self.dims).ok();
        if default.as_ref() != Some(&self.strides) {
            write!(f, " strides {}", Bracketed(&self.strides))?;
        }
        if self.offset != Dim::Is(0) {
            write!(f, " offset {}", self.offset)?;
        }
        if self.device != Device::CPU {
            write!(f, " on {}", self.device)?;
        }
        Ok(())
    }
}

/// `[4,8]`.
pub(crate) struct Bracketed<'a>(pub &'a [Dim]);

impl fmt::Display for Bracketed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (i, d) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            write!(f, "{d}")?;
        }
        f.write_str("]")
    }
}
