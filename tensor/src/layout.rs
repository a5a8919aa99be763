//! Sizes and strides as numbers: walking, merging and comparing layouts.

use smallvec::{SmallVec, smallvec};

/// Sizes or strides, outermost first.
pub type Sizes = SmallVec<[i64; 5]>;

/// Number of elements.
pub fn numel(sizes: &[i64]) -> usize {
    sizes.iter().product::<i64>().max(0) as usize
}

/// Row-major strides; a size of zero counts as one.
pub fn row_major(sizes: &[i64]) -> Sizes {
    let mut strides: Sizes = smallvec![1; sizes.len()];
    for i in (1..sizes.len()).rev() {
        strides[i - 1] = strides[i] * sizes[i].max(1);
    }
    strides
}

/// Whether the layout is row-major without gaps.
pub fn is_contiguous(sizes: &[i64], strides: &[i64]) -> bool {
    let mut expected = 1;
    for (size, stride) in sizes.iter().zip(strides).rev() {
        if *size == 0 {
            return true;
        }
        if *size != 1 {
            if *stride != expected {
                return sizes.contains(&0);
            }
            expected *= size;
        }
    }
    true
}

/// Whether two different indices may reach the same element.
pub fn may_overlap_itself(sizes: &[i64], strides: &[i64]) -> bool {
    if sizes.contains(&0) {
        return false;
    }
    let mut dims: SmallVec<[(i64, i64); 5]> = sizes.iter().zip(strides).filter(|(n, _)| **n > 1).map(|(n, s)| (s.abs(), *n)).collect();
    dims.sort_unstable();
    let mut reach = 0;
    for (stride, size) in dims {
        if stride <= reach {
            return true;
        }
        reach += stride * (size - 1);
    }
    false
}

/// Whether the elements fill one piece of memory, each place once.
pub fn is_dense(sizes: &[i64], strides: &[i64]) -> bool {
    let (low, high) = extent(sizes, strides);
    !may_overlap_itself(sizes, strides) && low == 0 && high + 1 == numel(sizes).max(1) as i64
}

/// Whether some dim of more than one element has stride zero, as an expanded tensor has.
pub fn is_expanded(sizes: &[i64], strides: &[i64]) -> bool {
    sizes.iter().zip(strides).any(|(n, s)| *n > 1 && *s == 0)
}

/// The least and the greatest index of an element reached, relative to the offset.
pub fn extent(sizes: &[i64], strides: &[i64]) -> (i64, i64) {
    let (mut low, mut high) = (0i64, 0i64);
    for (n, s) in sizes.iter().zip(strides) {
        let last = s.saturating_mul(n - 1);
        low = low.saturating_add(last.min(0));
        high = high.saturating_add(last.max(0));
    }
    (low, high)
}

/// Several layouts over the same sizes, with dims of size one dropped and dims merged where all layouts allow it.
pub struct Merged {
    /// Sizes, outermost first; at least one.
    pub sizes: Sizes,
    /// Strides of each layout.
    pub strides: SmallVec<[Sizes; 4]>,
}

/// Merges dims.
pub fn merge(sizes: &[i64], strides: &[&[i64]]) -> Merged {
    let mut out = Merged { sizes: Sizes::new(), strides: strides.iter().map(|_| Sizes::new()).collect() };
    for i in 0..sizes.len() {
        if sizes[i] == 1 {
            continue;
        }
        let fits = |(s, merged): (&&[i64], &Sizes)| merged.last() == Some(&(s[i] * sizes[i]));
        if !out.sizes.is_empty() && strides.iter().zip(&out.strides).all(fits) {
            let last = out.sizes.len() - 1;
            out.sizes[last] *= sizes[i];
            out.strides.iter_mut().zip(strides).for_each(|(merged, s)| merged[last] = s[i]);
        } else {
            out.sizes.push(sizes[i]);
            out.strides.iter_mut().zip(strides).for_each(|(merged, s)| merged.push(s[i]));
        }
    }
    if out.sizes.is_empty() {
        out.sizes.push(1);
        out.strides.iter_mut().for_each(|merged| merged.push(0));
    }
    out
}

/// Calls `row(starts, steps, length)` for each innermost row, in row-major order.
pub fn for_each_row<const N: usize>(
    sizes: &[i64],
    strides: [&[i64]; N],
    offsets: [i64; N],
    mut row: impl FnMut([i64; N], [i64; N], usize),
) {
    if sizes.contains(&0) {
        return;
    }
    let merged = merge(sizes, &strides);
    let inner = merged.sizes.len() - 1;
    let steps = std::array::from_fn(|k| merged.strides[k][inner]);
    let length = merged.sizes[inner] as usize;
    let mut index: Sizes = smallvec![0; inner];
    let mut starts = offsets;
    'rows: loop {
        row(starts, steps, length);
        for d in (0..inner).rev() {
            index[d] += 1;
            (0..N).for_each(|k| starts[k] += merged.strides[k][d]);
            if index[d] < merged.sizes[d] {
                continue 'rows;
            }
            (0..N).for_each(|k| starts[k] -= merged.strides[k][d] * merged.sizes[d]);
            index[d] = 0;
        }
        return;
    }
}

/// Copies a strided tensor into row-major order.
pub fn gather<T: Copy>(source: &[T], sizes: &[i64], strides: &[i64], offset: i64, out: &mut [T]) {
    let mut at = 0;
    for_each_row(sizes, [strides], [offset], |[start], [step], length| {
        let out = &mut out[at..at + length];
        at += length;
        let start = start as usize;
        match step {
            1 => out.copy_from_slice(&source[start..start + length]),
            0 => out.fill(source[start]),
            _ => {
                let mut i = start as i64;
                for o in out {
                    *o = source[i as usize];
                    i += step;
                }
            }
        }
    });
}

/// Copies row-major elements into a strided tensor.
pub fn scatter<T: Copy>(source: &[T], target: &mut [T], sizes: &[i64], strides: &[i64], offset: i64) {
    let mut at = 0;
    for_each_row(sizes, [strides], [offset], |[start], [step], length| {
        let source = &source[at..at + length];
        at += length;
        if step == 1 {
            let start = start as usize;
            target[start..start + length].copy_from_slice(source);
        } else {
            let mut i = start;
            for s in source {
                target[i as usize] = *s;
                i += step;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gathering_a_transposed_tensor_reads_columns() {
        let source: Vec<i32> = (0..6).collect();
        let mut out = [0; 6];
        gather(&source, &[3, 2], &[1, 3], 0, &mut out);
        assert_eq!(out, [0, 3, 1, 4, 2, 5]);
        let mut back = [0; 6];
        scatter(&out, &mut back, &[3, 2], &[1, 3], 0);
        assert_eq!(back.to_vec(), source);
    }

    #[test]
    fn overlap_is_seen() {
        assert!(may_overlap_itself(&[2, 3], &[0, 1]));
        assert!(may_overlap_itself(&[3, 3], &[1, 1]));
        assert!(!may_overlap_itself(&[2, 3], &[3, 1]));
        assert!(!may_overlap_itself(&[3, 2], &[1, 3]));
    }
}
