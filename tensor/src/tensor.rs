//! Tensors: a layout over shared storage. Data only; identity, gradients and hooks belong to the crates above.

use crate::{
    Storage,
    element::Element,
    layout::{self, Sizes},
    storage::Bytes,
    with_bits, with_plain,
};
use bytemuck::Pod;
use parking_lot::{MappedRwLockReadGuard, RwLockReadGuard};
use std::{fmt, ops::Deref, sync::Arc};
use taipan_ir::{DType, Device, Dim, Facts, Number, OpError};

/// A tensor. Cloning shares the storage.
#[derive(Clone)]
pub struct Tensor {
    storage: Arc<Storage>,
    dtype: DType,
    sizes: Sizes,
    strides: Sizes,
    offset: i64,
}

impl Tensor {
    /// A row-major tensor of zeros with storage of its own.
    pub fn zeros(dtype: DType, sizes: &[i64]) -> Tensor {
        Tensor::from_bytes(dtype, sizes, Bytes::zeroed(layout::numel(sizes) * dtype.size()))
    }

    /// A row-major tensor over these bytes, which must be enough.
    pub fn from_bytes(dtype: DType, sizes: &[i64], bytes: Bytes) -> Tensor {
        let storage = Arc::new(Storage::new(Device::CPU, bytes));
        Tensor { storage, dtype, sizes: sizes.into(), strides: layout::row_major(sizes), offset: 0 }
    }

    /// A row-major tensor whose memory `fill` writes; it starts as zeros. `T` must have the size of `dtype`.
    pub fn build<T: Pod>(dtype: DType, sizes: &[i64], fill: impl FnOnce(&mut [T])) -> Tensor {
        let mut bytes = Bytes::zeroed(layout::numel(sizes) * dtype.size());
        fill(bytes.elements_mut());
        Tensor::from_bytes(dtype, sizes, bytes)
    }

    /// As [`Tensor::build`] where filling may fail.
    pub fn try_build<T: Pod>(dtype: DType, sizes: &[i64], fill: impl FnOnce(&mut [T]) -> Result<(), OpError>) -> Result<Tensor, OpError> {
        let mut bytes = Bytes::zeroed(layout::numel(sizes) * dtype.size());
        fill(bytes.elements_mut())?;
        Ok(Tensor::from_bytes(dtype, sizes, bytes))
    }

    /// A row-major tensor of these elements.
    ///
    /// # Errors
    /// Where the number of elements is not that of the sizes.
    pub fn from_slice<T: Element>(elements: &[T], sizes: &[i64]) -> Result<Tensor, OpError> {
        if elements.len() != layout::numel(sizes) || sizes.iter().any(|n| *n < 0) {
            return Err(OpError::runtime(format!("shape '{:?}' is invalid for input of size {}", sizes, elements.len())));
        }
        Ok(Tensor::build(T::DTYPE, sizes, |out: &mut [T::Plain]| {
            out.iter_mut().zip(elements).for_each(|(o, e)| *o = e.store());
        }))
    }

    /// A zero-dim tensor.
    pub fn scalar<T: Element>(value: T) -> Tensor {
        Tensor::build(T::DTYPE, &[], |out: &mut [T::Plain]| out[0] = value.store())
    }

    /// A row-major tensor of `dtype` with every element `number`.
    pub fn full(dtype: DType, sizes: &[i64], number: Number) -> Tensor {
        with_plain!(dtype, T => Tensor::build(dtype, sizes, |out: &mut [T]| out.fill(plain_number::<T>(dtype, number))))
    }

    /// The storage.
    pub fn storage(&self) -> &Arc<Storage> {
        &self.storage
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Sizes, outermost first.
    pub fn sizes(&self) -> &[i64] {
        &self.sizes
    }

    /// Elements between neighbours along each dim.
    pub fn strides(&self) -> &[i64] {
        &self.strides
    }

    /// Index of the first element in the storage.
    pub fn offset(&self) -> i64 {
        self.offset
    }

    /// Number of dims.
    pub fn rank(&self) -> usize {
        self.sizes.len()
    }

    /// Number of elements.
    pub fn numel(&self) -> usize {
        layout::numel(&self.sizes)
    }

    /// Whether the elements lie in row-major order without gaps.
    pub fn is_contiguous(&self) -> bool {
        layout::is_contiguous(&self.sizes, &self.strides)
    }

    /// Whether two tensors are the same view of the same storage.
    pub fn same_view(&self, other: &Tensor) -> bool {
        Arc::ptr_eq(&self.storage, &other.storage)
            && self.dtype == other.dtype
            && self.sizes == other.sizes
            && self.strides == other.strides
            && self.offset == other.offset
    }

    /// What an op's rules may see.
    pub fn facts(&self) -> Facts {
        Facts {
            dtype: self.dtype,
            device: self.storage.device().clone(),
            dims: self.sizes.iter().map(|n| Dim::Is(*n)).collect(),
            strides: self.strides.iter().map(|n| Dim::Is(*n)).collect(),
            offset: Dim::Is(self.offset),
        }
    }

    /// Another view of the same storage. Nothing is checked until it is read.
    pub fn with_layout(&self, dtype: DType, sizes: &[i64], strides: &[i64], offset: i64) -> Tensor {
        Tensor { storage: self.storage.clone(), dtype, sizes: sizes.into(), strides: strides.into(), offset }
    }

    /// The same view of another storage.
    pub fn with_storage(&self, storage: Arc<Storage>) -> Tensor {
        Tensor { storage, ..self.clone() }
    }

    /// The view that `facts`, which must be numbers, describe.
    pub fn with_facts(&self, facts: &Facts) -> Result<Tensor, OpError> {
        let known = |d: &Dim| d.known().ok_or(OpError::DataDependent);
        Ok(Tensor {
            storage: self.storage.clone(),
            dtype: facts.dtype,
            sizes: facts.dims.iter().map(known).collect::<Result<_, _>>()?,
            strides: facts.strides.iter().map(known).collect::<Result<_, _>>()?,
            offset: known(&facts.offset)?,
        })
    }

    /// A view with these sizes, dims of stride zero where this tensor is broadcast. The sizes must be broadcastable.
    pub fn broadcast_to(&self, sizes: &[i64]) -> Tensor {
        let lead = sizes.len() - self.rank();
        let strides: Sizes = (0..sizes.len())
            .map(|i| if i < lead || (self.sizes[i - lead] == 1 && sizes[i] != 1) { 0 } else { self.strides[i - lead] })
            .collect();
        self.with_layout(self.dtype, sizes, &strides, self.offset)
    }

    /// A row-major view with other sizes of the same number of elements; this tensor must be contiguous.
    pub fn reshaped(&self, sizes: &[i64]) -> Tensor {
        self.with_layout(self.dtype, sizes, &layout::row_major(sizes), self.offset)
    }

    /// A view with dims in another order.
    pub fn permuted(&self, order: &[usize]) -> Tensor {
        let sizes: Sizes = order.iter().map(|d| self.sizes[*d]).collect();
        let strides: Sizes = order.iter().map(|d| self.strides[*d]).collect();
        self.with_layout(self.dtype, &sizes, &strides, self.offset)
    }

    /// Fails where the storage has no memory for some element.
    pub fn check_bounds(&self, nbytes: usize) -> Result<(), OpError> {
        if self.numel() == 0 {
            return Ok(());
        }
        let (low, high) = layout::extent(&self.sizes, &self.strides);
        let item = self.dtype.size() as i64;
        let needed = (self.offset.saturating_add(high).saturating_add(1)).saturating_mul(item);
        if self.offset + low < 0 || needed > nbytes as i64 {
            return Err(OpError::runtime(format!(
                "setStorage: sizes {:?}, strides {:?}, storage offset {}, and itemsize {item} requiring a storage size of {needed} are out of bounds for storage of size {nbytes}",
                self.sizes.as_slice(),
                self.strides.as_slice(),
                self.offset
            )));
        }
        Ok(())
    }

    /// The whole storage as elements of memory type `T`, for kernels that follow strides themselves; bounds are checked.
    pub fn read<T: Pod>(&self) -> Result<MappedRwLockReadGuard<'_, [T]>, OpError> {
        let bytes = self.storage.read();
        self.check_bounds(bytes.len())?;
        Ok(RwLockReadGuard::map(bytes, |b| b.elements::<T>()))
    }

    /// The elements in row-major order, borrowed where they lie so.
    pub fn elements<T: Pod>(&self) -> Result<Elements<'_, T>, OpError> {
        debug_assert_eq!(size_of::<T>(), self.dtype.size());
        let n = self.numel();
        let whole = self.read::<T>()?;
        if n == 0 {
            return Ok(Elements::Owned(vec![]));
        }
        if self.is_contiguous() {
            let start = self.offset as usize;
            return Ok(Elements::Borrowed(MappedRwLockReadGuard::map(whole, |b| &b[start..start + n])));
        }
        let mut out = bytemuck::zeroed_vec(n);
        layout::gather(&whole, &self.sizes, &self.strides, self.offset, &mut out);
        Ok(Elements::Owned(out))
    }

    /// The same elements in row-major order: this tensor where it is contiguous, otherwise a copy.
    pub fn contiguous(&self) -> Result<Tensor, OpError> {
        if self.is_contiguous() { Ok(self.clone()) } else { self.copied() }
    }

    /// A row-major copy with storage of its own.
    pub fn copied(&self) -> Result<Tensor, OpError> {
        with_bits!(self.dtype, T => {
            let whole = self.read::<T>()?;
            Ok(Tensor::build(self.dtype, &self.sizes, |out: &mut [T]| layout::gather(&whole, &self.sizes, &self.strides, self.offset, out)))
        })
    }

    /// The elements in row-major order.
    ///
    /// # Errors
    /// Where `T` is not the type of the elements, or the storage has been resized below them.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>, OpError> {
        if T::DTYPE != self.dtype {
            return Err(OpError::type_error(format!("expected elements of {}, the tensor has {}", T::DTYPE, self.dtype)));
        }
        Ok(self.elements::<T::Plain>()?.iter().map(|p| T::load(*p)).collect())
    }

    /// The only element, as a Python number.
    ///
    /// # Errors
    /// Where there is more than one, or none.
    pub fn item(&self) -> Result<Number, OpError> {
        if self.numel() != 1 {
            return Err(OpError::runtime(format!("a Tensor with {} elements cannot be converted to Scalar", self.numel())));
        }
        Ok(self.numbers()?[0])
    }

    /// The elements in row-major order, as Python numbers.
    pub fn numbers(&self) -> Result<Vec<Number>, OpError> {
        if self.dtype == DType::Bool {
            return Ok(self.elements::<u8>()?.iter().map(|b| Number::Bool(*b != 0)).collect());
        }
        with_plain!(self.dtype, T => Ok(self.elements::<T>()?.iter().map(|x| x.number()).collect()))
    }
}

/// A number as memory of `dtype`, whose memory type `T` is.
pub fn plain_number<T: Element<Plain = T>>(dtype: DType, number: Number) -> T {
    if dtype == DType::Bool { T::from_number(Number::Int(i64::from(number.truth()))) } else { T::from_number(number) }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.facts())?;
        if self.numel() <= 16 {
            let items: Vec<String> = self.numbers().unwrap_or_default().iter().map(Number::to_string).collect();
            write!(f, " = [{}]", items.join(", "))?;
        }
        Ok(())
    }
}

/// Elements in row-major order.
pub enum Elements<'a, T> {
    /// As they lie in the storage, which stays locked for reading.
    Borrowed(MappedRwLockReadGuard<'a, [T]>),
    /// Collected.
    Owned(Vec<T>),
}

impl<T> Deref for Elements<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Elements::Borrowed(b) => b,
            Elements::Owned(v) => v,
        }
    }
}
