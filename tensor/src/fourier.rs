//! Fourier transforms along dims of a tensor, of any length.

use crate::{
    Tensor,
    complex::Part,
    context::Workers,
    layout::{self, Sizes},
};
use num_complex::Complex;
use rustfft::{FftDirection, FftPlanner};
use taipan_ir::OpError;

/// Elements in row-major order over some sizes, transformed one dim at a time.
pub struct Spectrum<F> {
    data: Vec<Complex<F>>,
    sizes: Sizes,
}

impl<F: Part> Spectrum<F> {
    /// The elements of a tensor with its dims in another order. The tensor is complex or has the type of the parts.
    ///
    /// # Errors
    /// Where the storage is too small for the tensor.
    pub fn new(x: &Tensor, order: &[usize]) -> Result<Spectrum<F>, OpError> {
        let turned = x.permuted(order);
        let data = match x.dtype().is_complex() {
            true => turned.elements::<Complex<F>>()?.to_vec(),
            false => turned.elements::<F>()?.iter().map(|re| Complex::new(*re, F::zero())).collect(),
        };
        Ok(Spectrum { data, sizes: turned.sizes().into() })
    }

    /// Transforms along a dim.
    pub fn transform(&mut self, workers: &Workers, dim: usize, direction: FftDirection) {
        let n = self.sizes[dim] as usize;
        if n <= 1 || self.data.is_empty() {
            return;
        }
        let last = dim + 1 == self.sizes.len();
        let mut order: Sizes = self.sizes.clone();
        order.remove(dim);
        order.push(n as i64);
        let strides = layout::row_major(&self.sizes);
        let mut turned: Sizes = strides.clone();
        let along = turned.remove(dim);
        turned.push(along);
        let plan = FftPlanner::<F>::new().plan_fft(n, direction);
        let rows = |data: &mut [Complex<F>]| {
            // The work on a row is about that on `n * log n` elements.
            workers.rows(data, n, n * (n.ilog2() as usize + 1), |_, rows| {
                let mut scratch = vec![Complex::new(F::zero(), F::zero()); plan.get_inplace_scratch_len()];
                plan.process_with_scratch(rows, &mut scratch);
            });
        };
        if last {
            return rows(&mut self.data);
        }
        let mut lines = vec![Complex::new(F::zero(), F::zero()); self.data.len()];
        layout::gather(&self.data, &order, &turned, 0, &mut lines);
        rows(&mut lines);
        layout::scatter(&lines, &mut self.data, &order, &turned, 0);
    }

    /// Keeps the first `n` elements along the last dim.
    pub fn truncate(&mut self, n: usize) {
        let Some(size) = self.sizes.last_mut() else { return };
        let old = std::mem::replace(size, n as i64) as usize;
        if n < old {
            self.data = self.data.chunks(old).flat_map(|row| row[..n].iter().copied()).collect();
        }
    }

    /// Completes the last dim to `n` elements, so that the elements behind the middle are conjugates of those before it. Imaginary parts
    /// that such a spectrum can't have are dropped.
    pub fn complete(&mut self, n: usize) {
        let Some(size) = self.sizes.last_mut() else { return };
        let half = std::mem::replace(size, n as i64) as usize;
        let whole = |row: &[Complex<F>]| {
            let mut line = vec![Complex::new(F::zero(), F::zero()); n];
            line[..half.min(n)].copy_from_slice(&row[..half.min(n)]);
            line[0].im = F::zero();
            if n.is_multiple_of(2) {
                line[n / 2].im = F::zero();
            }
            (n / 2 + 1..n).for_each(|k| line[k] = line[n - k].conj());
            line
        };
        self.data = self.data.chunks(half.max(1)).flat_map(whole).collect();
    }

    /// Multiplies every element by a number.
    pub fn scale(&mut self, factor: f64) {
        if factor != 1.0 {
            let factor = F::of(factor);
            self.data.iter_mut().for_each(|z| *z = *z * factor);
        }
    }

    /// The elements as a tensor of `sizes`, whose dims in `order` are those here; `real` drops the imaginary parts.
    pub fn into_tensor(self, sizes: &[i64], order: &[usize], real: bool) -> Tensor {
        let dtype = <F as crate::Element>::DTYPE;
        let dense = match real {
            true => Tensor::build(dtype, &self.sizes, |out: &mut [F]| out.iter_mut().zip(&self.data).for_each(|(o, z)| *o = z.re)),
            false => Tensor::build(dtype.complex(), &self.sizes, |out: &mut [Complex<F>]| out.copy_from_slice(&self.data)),
        };
        let row_major = layout::row_major(&self.sizes);
        let mut strides: Sizes = sizes.into();
        order.iter().zip(&row_major).for_each(|(dim, stride)| strides[*dim] = *stride);
        dense.with_layout(dense.dtype(), sizes, &strides, 0)
    }
}
