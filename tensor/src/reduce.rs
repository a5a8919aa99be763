//! Reductions in the fixed order that is part of their meaning.
//!
//! The elements of one result, in row-major order of the reduced dims, are taken in chunks of 4,096. Within a chunk element `k` goes to
//! lane `k % 32`, each lane is accumulated in order, and the lanes are combined pairwise: neighbours, then neighbours of those, a last
//! odd one staying. The results of the chunks are combined the same way. So neither vector width nor the number of threads shows.

use crate::{
    Tensor,
    context::{PARALLEL_FROM, Workers},
};
use taipan_ir::OpError;

/// Partial results kept side by side.
pub const LANES: usize = 32;
/// Elements between two combinations of the lanes.
pub const CHUNK: usize = 4096;
/// Results of one column block, whose lanes are kept together.
const COLUMNS: usize = 64;

/// A tensor laid out for a reduction: row-major over `outer × n × inner`, reducing `n`.
pub struct Arranged {
    /// Contiguous elements.
    pub data: Tensor,
    /// Results outside.
    pub outer: usize,
    /// Elements per result.
    pub n: usize,
    /// Results inside.
    pub inner: usize,
}

/// Lays a tensor out for reducing the dims marked; results come in row-major order of the dims kept.
pub fn arrange(tensor: &Tensor, reduced: &[bool]) -> Result<Arranged, OpError> {
    let sizes = tensor.sizes();
    let count = |range: std::ops::Range<usize>| sizes[range].iter().product::<i64>().max(0) as usize;
    let first = reduced.iter().position(|r| *r).unwrap_or(reduced.len());
    let block = reduced[first.min(reduced.len())..].iter().take_while(|r| **r).count();
    let end = first + block;
    let together = !reduced[end..].contains(&true);
    if together && tensor.is_contiguous() {
        return Ok(Arranged { data: tensor.clone(), outer: count(0..first), n: count(first..end), inner: count(end..sizes.len()) });
    }
    let mut order: Vec<usize> = (0..sizes.len()).filter(|d| !reduced[*d]).collect();
    order.extend((0..sizes.len()).filter(|d| reduced[*d]));
    let kept: i64 = sizes.iter().zip(reduced).filter(|(_, r)| !**r).map(|(n, _)| *n).product();
    let n: i64 = sizes.iter().zip(reduced).filter(|(_, r)| **r).map(|(n, _)| *n).product();
    let data = tensor.permuted(&order).contiguous()?;
    Ok(Arranged { data, outer: kept.max(0) as usize, n: n.max(0) as usize, inner: 1 })
}

/// Combines neighbours until one is left.
fn pairwise<A: Copy>(values: &mut [A], step: impl Fn(A, A) -> A) -> Option<A> {
    let mut n = values.len();
    while n > 1 {
        for i in 0..n / 2 {
            values[i] = step(values[2 * i], values[2 * i + 1]);
        }
        if n % 2 == 1 {
            values[n / 2] = values[n - 1];
        }
        n = n.div_ceil(2);
    }
    values.first().copied()
}

#[inline(always)]
fn reduce_chunk<T: Copy, A: Copy>(chunk: &[T], init: A, map: &impl Fn(T) -> A, step: &impl Fn(A, A) -> A) -> A {
    let mut lanes = [init; LANES];
    let blocks = chunk.chunks_exact(LANES);
    let rest = blocks.remainder();
    for block in blocks {
        for (lane, x) in lanes.iter_mut().zip(block) {
            *lane = step(*lane, map(*x));
        }
    }
    for (lane, x) in lanes.iter_mut().zip(rest) {
        *lane = step(*lane, map(*x));
    }
    let mut n = LANES;
    while n > 1 {
        for i in 0..n / 2 {
            lanes[i] = step(lanes[2 * i], lanes[2 * i + 1]);
        }
        n /= 2;
    }
    lanes[0]
}

/// Reduces one row of elements.
#[inline(always)]
pub fn reduce_row<T: Copy, A: Copy>(row: &[T], init: A, map: impl Fn(T) -> A, step: impl Fn(A, A) -> A) -> A {
    if row.len() <= CHUNK {
        return reduce_chunk(row, init, &map, &step);
    }
    let mut partial: Vec<A> = row.chunks(CHUNK).map(|c| reduce_chunk(c, init, &map, &step)).collect();
    pairwise(&mut partial, step).unwrap_or(init)
}

/// Reduces `outer × n × inner` elements to `outer × inner` results. `map` also gets the number of the result; `init` must leave a value
/// it is combined with as it is.
pub fn reduce<T, A>(
    workers: &Workers,
    data: &[T],
    shape: (usize, usize, usize),
    init: A,
    map: impl Fn(T, usize) -> A + Sync + Send,
    step: impl Fn(A, A) -> A + Sync + Send,
) -> Vec<A>
where
    T: Copy + Send + Sync,
    A: Copy + Send + Sync,
{
    let (outer, n, inner) = shape;
    let mut out = vec![init; outer * inner];
    if n == 0 || out.is_empty() {
        return out;
    }
    let work = Reduction { data, n, inner, init, map: &map, step: &step };
    if inner == 1 && outer == 1 && n > PARALLEL_FROM {
        let mut partial = vec![init; n.div_ceil(CHUNK)];
        workers.chunks(&mut partial, 4, n, |i, out| pulp::Arch::new().dispatch(Chunks { work, first: i * 4, out }));
        out[0] = pairwise(&mut partial, &step).unwrap_or(init);
    } else if inner == 1 {
        workers.rows(&mut out, 1, n, |first, out| pulp::Arch::new().dispatch(Rows { work, first, out }));
    } else {
        workers.rows(&mut out, inner, n * inner, |first, out| pulp::Arch::new().dispatch(Columns { work, first, out }));
    }
    out
}

/// What all pieces of one reduction share.
struct Reduction<'a, T, A, M, S> {
    data: &'a [T],
    n: usize,
    inner: usize,
    init: A,
    map: &'a M,
    step: &'a S,
}

impl<T, A: Copy, M, S> Clone for Reduction<'_, T, A, M, S> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, A: Copy, M, S> Copy for Reduction<'_, T, A, M, S> {}

/// Chunks of one long row, one partial result each. These pieces are no closures, since they must be inlined into code compiled for the
/// machine's widest vectors.
struct Chunks<'a, 'o, T, A, M, S> {
    work: Reduction<'a, T, A, M, S>,
    first: usize,
    out: &'o mut [A],
}

impl<T: Copy, A: Copy, M: Fn(T, usize) -> A, S: Fn(A, A) -> A> pulp::WithSimd for Chunks<'_, '_, T, A, M, S> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: pulp::Simd>(self, _: V) {
        let Reduction { data, n, init, map, step, .. } = self.work;
        for (k, o) in self.out.iter_mut().enumerate() {
            let start = (self.first + k) * CHUNK;
            *o = reduce_chunk(&data[start..(start + CHUNK).min(n)], init, &|x| map(x, 0), step);
        }
    }
}

/// Whole rows, one result each.
struct Rows<'a, 'o, T, A, M, S> {
    work: Reduction<'a, T, A, M, S>,
    first: usize,
    out: &'o mut [A],
}

impl<T: Copy, A: Copy, M: Fn(T, usize) -> A, S: Fn(A, A) -> A> pulp::WithSimd for Rows<'_, '_, T, A, M, S> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: pulp::Simd>(self, _: V) {
        let Reduction { data, n, init, map, step, .. } = self.work;
        for (k, o) in self.out.iter_mut().enumerate() {
            let row = self.first + k;
            *o = reduce_row(&data[row * n..(row + 1) * n], init, |x| map(x, row), step);
        }
    }
}

/// Rows of neighbouring columns, one result per column.
struct Columns<'a, 'o, T, A, M, S> {
    work: Reduction<'a, T, A, M, S>,
    first: usize,
    out: &'o mut [A],
}

impl<T: Copy, A: Copy, M: Fn(T, usize) -> A, S: Fn(A, A) -> A> pulp::WithSimd for Columns<'_, '_, T, A, M, S> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: pulp::Simd>(self, _: V) {
        let Reduction { data, n, inner, init, map, step } = self.work;
        for (k, out) in self.out.chunks_mut(inner).enumerate() {
            let o = self.first + k;
            let data = &data[o * n * inner..(o + 1) * n * inner];
            for column in (0..inner).step_by(COLUMNS) {
                let width = COLUMNS.min(inner - column);
                reduce_columns(data, n, inner, column, init, &|x, c| map(x, o * inner + c), step, &mut out[column..column + width]);
            }
        }
    }
}

/// As [`reduce_row`] for neighbouring columns at once, each in the same order as a row.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
fn reduce_columns<T: Copy, A: Copy>(
    data: &[T],
    n: usize,
    inner: usize,
    column: usize,
    init: A,
    map: &impl Fn(T, usize) -> A,
    step: &impl Fn(A, A) -> A,
    out: &mut [A],
) {
    let width = out.len();
    let mut partial: Vec<[A; COLUMNS]> = Vec::with_capacity(n.div_ceil(CHUNK));
    let mut lanes = [[init; COLUMNS]; LANES];
    for start in (0..n).step_by(CHUNK) {
        let count = CHUNK.min(n - start);
        lanes.iter_mut().for_each(|lane| lane.fill(init));
        for k in 0..count {
            let at = (start + k) * inner + column;
            let lane = &mut lanes[k % LANES][..width];
            for (c, (l, x)) in lane.iter_mut().zip(&data[at..at + width]).enumerate() {
                *l = step(*l, map(*x, column + c));
            }
        }
        let mut m = LANES;
        while m > 1 {
            for i in 0..m / 2 {
                let (left, right) = (lanes[2 * i], lanes[2 * i + 1]);
                for (o, (p, q)) in lanes[i][..width].iter_mut().zip(left.iter().zip(&right)) {
                    *o = step(*p, *q);
                }
            }
            m /= 2;
        }
        partial.push(lanes[0]);
    }
    for (c, o) in out.iter_mut().enumerate() {
        let mut column: Vec<A> = partial.iter().map(|p| p[c]).collect();
        *o = pairwise(&mut column, step).unwrap_or(init);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Context;

    fn sums(threads: usize, data: &[f32], shape: (usize, usize, usize)) -> Vec<f32> {
        reduce(&Context::with_threads(threads).workers(), data, shape, 0.0f32, |x, _| x, |a, b| a + b)
    }

    #[test]
    fn neither_threads_nor_layout_show_in_a_sum() {
        let n = 100_003;
        let data: Vec<f32> = (0..n).map(|i| ((i * 7919) % 1000) as f32 * 0.001 - 0.3).collect();
        let one = sums(1, &data, (1, n, 1));
        assert_eq!(one[0].to_bits(), sums(4, &data, (1, n, 1))[0].to_bits());
        let mut columns = vec![0.0; n * 3];
        (0..n).for_each(|i| (0..3).for_each(|c| columns[i * 3 + c] = data[i]));
        sums(2, &columns, (1, n, 3)).iter().for_each(|s| assert_eq!(s.to_bits(), one[0].to_bits()));
        let exact: f64 = data.iter().map(|x| f64::from(*x)).sum();
        assert!((f64::from(one[0]) - exact).abs() / exact.abs() < 1e-6);
    }
}
