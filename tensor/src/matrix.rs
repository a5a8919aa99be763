//! Dense factorizations of small matrices, in `f64` and row-major order.

/// A general matrix factored with row exchanges: `P A = L U`.
pub struct Lu {
    /// L below the diagonal, whose own is one, and U.
    pub packed: Vec<f64>,
    /// The row each row was exchanged with, in order.
    pub exchanges: Vec<usize>,
    /// The first column without a pivot, where there is one.
    pub singular: Option<usize>,
}

/// Factors an `m × n` matrix.
pub fn lu(a: &[f64], m: usize, n: usize) -> Lu {
    let mut packed = a.to_vec();
    let mut exchanges = vec![];
    let mut singular = None;
    for k in 0..m.min(n) {
        let pivot = (k..m).fold(k, |best, r| if packed[r * n + k].abs() > packed[best * n + k].abs() { r } else { best });
        exchanges.push(pivot);
        if pivot != k {
            (0..n).for_each(|c| packed.swap(k * n + c, pivot * n + c));
        }
        let head = packed[k * n + k];
        if head == 0.0 {
            singular = singular.or(Some(k));
            continue;
        }
        for r in k + 1..m {
            let factor = packed[r * n + k] / head;
            packed[r * n + k] = factor;
            for c in k + 1..n {
                packed[r * n + c] -= factor * packed[k * n + c];
            }
        }
    }
    Lu { packed, exchanges, singular }
}

impl Lu {
    /// Solves `A X = B` for a square A; `b` has `columns` columns and becomes X.
    pub fn solve(&self, n: usize, b: &mut [f64], columns: usize) {
        for (k, pivot) in self.exchanges.iter().enumerate() {
            if *pivot != k {
                (0..columns).for_each(|c| b.swap(k * columns + c, pivot * columns + c));
            }
        }
        triangular(&self.packed, n, b, columns, false, true);
        triangular(&self.packed, n, b, columns, true, false);
    }

    /// 1 or -1: the sign of the row exchanges.
    pub fn sign(&self) -> f64 {
        let odd = self.exchanges.iter().enumerate().filter(|(k, p)| *k != **p).count() % 2 == 1;
        if odd { -1.0 } else { 1.0 }
    }
}

/// Solves `T X = B` for a triangle of a square matrix; `unit` means ones on its diagonal.
pub fn triangular(t: &[f64], n: usize, b: &mut [f64], columns: usize, upper: bool, unit: bool) {
    for step in 0..n {
        let r = if upper { n - 1 - step } else { step };
        let known = if upper { r + 1..n } else { 0..r };
        for c in 0..columns {
            let sum: f64 = known.clone().map(|k| t[r * n + k] * b[k * columns + c]).sum();
            let value = b[r * columns + c] - sum;
            b[r * columns + c] = if unit { value } else { value / t[r * n + r] };
        }
    }
}

/// The lower triangle L of `A = L Lᵀ`; the order of the first minor that isn't positive where there is none.
pub fn cholesky(a: &[f64], n: usize) -> Result<Vec<f64>, usize> {
    let mut l = vec![0.0; n * n];
    for r in 0..n {
        for c in 0..=r {
            let sum: f64 = (0..c).map(|k| l[r * n + k] * l[c * n + k]).sum();
            let rest = a[r * n + c] - sum;
            if r == c {
                if rest.is_nan() || rest <= 0.0 {
                    return Err(r + 1);
                }
                l[r * n + r] = rest.sqrt();
            } else {
                l[r * n + c] = rest / l[c * n + c];
            }
        }
    }
    Ok(l)
}

/// `A = Q R` by reflections, Q with `columns` columns and R with as many rows.
pub fn qr(a: &[f64], m: usize, n: usize, columns: usize) -> (Vec<f64>, Vec<f64>) {
    let mut r = a.to_vec();
    let mut reflections = vec![];
    for k in 0..m.min(n) {
        let tail: f64 = (k + 1..m).map(|i| r[i * n + k] * r[i * n + k]).sum();
        let head = r[k * n + k];
        if tail == 0.0 {
            reflections.push((vec![], 0.0));
            continue;
        }
        let beta = -(head * head + tail).sqrt().copysign(head);
        let mut v: Vec<f64> = (k..m).map(|i| r[i * n + k] / (head - beta)).collect();
        v[0] = 1.0;
        let tau = (beta - head) / beta;
        for c in k..n {
            let dot: f64 = v.iter().enumerate().map(|(i, v)| v * r[(k + i) * n + c]).sum();
            v.iter().enumerate().for_each(|(i, v)| r[(k + i) * n + c] -= tau * dot * v);
        }
        (k + 1..m).for_each(|i| r[i * n + k] = 0.0);
        reflections.push((v, tau));
    }
    let mut q = vec![0.0; m * columns];
    (0..columns.min(m)).for_each(|i| q[i * columns + i] = 1.0);
    for (k, (v, tau)) in reflections.iter().enumerate().rev() {
        for c in 0..columns {
            let dot: f64 = v.iter().enumerate().map(|(i, v)| v * q[(k + i) * columns + c]).sum();
            v.iter().enumerate().for_each(|(i, v)| q[(k + i) * columns + c] -= tau * dot * v);
        }
    }
    r.truncate(columns * n);
    (q, r)
}

/// Rounds of rotations after which all are taken to have converged; a dozen are enough for any matrix of doubles.
const SWEEPS: usize = 60;

/// Eigenvalues in ascending order and eigenvectors, as columns, of a symmetric matrix, by Jacobi's rotations.
pub fn eigh(a: &[f64], n: usize) -> (Vec<f64>, Vec<f64>) {
    let mut a = a.to_vec();
    let mut v = vec![0.0; n * n];
    (0..n).for_each(|i| v[i * n + i] = 1.0);
    let norm: f64 = a.iter().map(|x| x * x).sum();
    for _ in 0..SWEEPS {
        let off: f64 = (0..n).flat_map(|p| (0..p).map(move |q| (p, q))).map(|(p, q)| a[p * n + q] * a[p * n + q]).sum();
        if off <= norm * 1e-34 {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                if a[p * n + q] == 0.0 {
                    continue;
                }
                let (c, s) = rotation(a[p * n + p], a[q * n + q], a[p * n + q]);
                for k in 0..n {
                    let (x, y) = (a[k * n + p], a[k * n + q]);
                    (a[k * n + p], a[k * n + q]) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..n {
                    let (x, y) = (a[p * n + k], a[q * n + k]);
                    (a[p * n + k], a[q * n + k]) = (c * x - s * y, s * x + c * y);
                    let (x, y) = (v[k * n + p], v[k * n + q]);
                    (v[k * n + p], v[k * n + q]) = (c * x - s * y, s * x + c * y);
                }
            }
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|p, q| a[p * n + p].total_cmp(&a[q * n + q]));
    let values = order.iter().map(|k| a[k * n + k]).collect();
    let mut vectors = vec![0.0; n * n];
    for (to, from) in order.iter().enumerate() {
        (0..n).for_each(|k| vectors[k * n + to] = v[k * n + from]);
    }
    (values, vectors)
}

/// Cosine and sine of the rotation that takes the off-diagonal element `between` away.
fn rotation(first: f64, second: f64, between: f64) -> (f64, f64) {
    let theta = (second - first) / (2.0 * between);
    let t = 1.0f64.copysign(theta) / (theta.abs() + (theta * theta + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    (c, t * c)
}

/// `A = U diag(S) Vᵀ` of an `m × n` matrix with `k = min(m, n)` singular values in descending order: U is `m × k` and Vᵀ `k × n`.
pub fn svd(a: &[f64], m: usize, n: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    if m < n {
        let (u, s, vt) = svd(&transposed(a, m, n), n, m);
        return (transposed(&vt, m, m), s, transposed(&u, n, m));
    }
    // One-sided rotations make the columns orthogonal; their lengths are the singular values.
    let mut w = a.to_vec();
    let mut v = vec![0.0; n * n];
    (0..n).for_each(|i| v[i * n + i] = 1.0);
    for _ in 0..SWEEPS {
        let mut turned = false;
        for p in 0..n {
            for q in p + 1..n {
                let dot = |i: usize, j: usize, w: &[f64]| (0..m).map(|k| w[k * n + i] * w[k * n + j]).sum::<f64>();
                let (pp, qq, pq) = (dot(p, p, &w), dot(q, q, &w), dot(p, q, &w));
                if pq.abs() <= 1e-16 * (pp * qq).sqrt() || pq == 0.0 {
                    continue;
                }
                turned = true;
                let (c, s) = rotation(pp, qq, pq);
                for k in 0..m {
                    let (x, y) = (w[k * n + p], w[k * n + q]);
                    (w[k * n + p], w[k * n + q]) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..n {
                    let (x, y) = (v[k * n + p], v[k * n + q]);
                    (v[k * n + p], v[k * n + q]) = (c * x - s * y, s * x + c * y);
                }
            }
        }
        if !turned {
            break;
        }
    }
    let lengths: Vec<f64> = (0..n).map(|c| (0..m).map(|r| w[r * n + c] * w[r * n + c]).sum::<f64>().sqrt()).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|p, q| lengths[*q].total_cmp(&lengths[*p]));
    let greatest = lengths.iter().copied().fold(0.0, f64::max);
    let mut u = vec![0.0; m * n];
    let mut vt = vec![0.0; n * n];
    let mut missing = vec![];
    for (to, from) in order.iter().enumerate() {
        (0..n).for_each(|k| vt[to * n + k] = v[k * n + from]);
        if lengths[*from] > greatest * 1e-300 && lengths[*from] > 0.0 {
            (0..m).for_each(|k| u[k * n + to] = w[k * n + from] / lengths[*from]);
        } else {
            missing.push(to);
        }
    }
    complete(&mut u, m, n, &missing);
    let s = order.iter().map(|k| lengths[*k]).collect();
    (u, s, vt)
}

/// Fills the columns `missing` of an `m × n` matrix with unit vectors orthogonal to all others.
pub fn complete(u: &mut [f64], m: usize, n: usize, missing: &[usize]) {
    for (done, column) in missing.iter().enumerate() {
        let mut best = (vec![0.0; m], 0.0);
        for axis in 0..m {
            let mut x = vec![0.0; m];
            x[axis] = 1.0;
            // Twice, since once leaves what rounding has left.
            for _ in 0..2 {
                for c in (0..n).filter(|c| !missing[done..].contains(c)) {
                    let dot: f64 = (0..m).map(|k| u[k * n + c] * x[k]).sum();
                    (0..m).for_each(|k| x[k] -= dot * u[k * n + c]);
                }
            }
            let length = x.iter().map(|v| v * v).sum::<f64>().sqrt();
            if length > best.1 {
                best = (x, length);
            }
        }
        (0..m).for_each(|k| u[k * n + column] = best.0[k] / best.1);
    }
}

/// The transpose of an `m × n` matrix.
pub fn transposed(a: &[f64], m: usize, n: usize) -> Vec<f64> {
    (0..n).flat_map(|c| (0..m).map(move |r| a[r * n + c])).collect()
}

/// The product of an `m × k` and a `k × n` matrix.
pub fn product(a: &[f64], b: &[f64], m: usize, k: usize, n: usize) -> Vec<f64> {
    let mut out = vec![0.0; m * n];
    for r in 0..m {
        for i in 0..k {
            let x = a[r * k + i];
            (0..n).for_each(|c| out[r * n + c] += x * b[i * n + c]);
        }
    }
    out
}

/// The exponential of a square matrix: the Taylor series of a scaled-down matrix, squared up again.
pub fn exponential(a: &[f64], n: usize) -> Vec<f64> {
    let norm = (0..n).map(|c| (0..n).map(|r| a[r * n + c].abs()).sum::<f64>()).fold(0.0, f64::max);
    let mut halvings = 0;
    while norm > 0.5 * libm::exp2(f64::from(halvings)) && halvings < 1100 {
        halvings += 1;
    }
    let scale = libm::exp2(-f64::from(halvings));
    let small: Vec<f64> = a.iter().map(|x| x * scale).collect();
    let mut out = vec![0.0; n * n];
    (0..n).for_each(|i| out[i * n + i] = 1.0);
    let mut term = out.clone();
    for k in 1..=20 {
        term = product(&term, &small, n, n, n);
        term.iter_mut().for_each(|x| *x /= f64::from(k));
        out.iter_mut().zip(&term).for_each(|(o, t)| *o += t);
    }
    for _ in 0..halvings {
        out = product(&out, &out, n, n, n);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(m: usize, n: usize) -> Vec<f64> {
        (0..m * n).map(|i| ((i * i * 31 + i * 7 + 3) % 101) as f64 / 25.0 - 2.0).collect()
    }

    fn close(a: &[f64], b: &[f64]) {
        assert!(a.len() == b.len() && a.iter().zip(b).all(|(x, y)| (x - y).abs() < 1e-11), "{a:?} {b:?}");
    }

    fn scaled(u: &[f64], s: &[f64]) -> Vec<f64> {
        u.iter().enumerate().map(|(i, x)| x * s[i % s.len()]).collect()
    }

    #[test]
    fn factors_multiply_back() {
        for (m, n) in [(4, 3), (3, 4), (5, 5), (1, 3)] {
            let a = sample(m, n);
            let k = m.min(n);
            let (q, r) = qr(&a, m, n, k);
            close(&product(&q, &r, m, k, n), &a);
            let (u, s, vt) = svd(&a, m, n);
            close(&product(&scaled(&u, &s), &vt, m, k, n), &a);
            assert!(s.windows(2).all(|w| w[0] >= w[1]));
        }
        let a = sample(4, 4);
        let symmetric: Vec<f64> = a.iter().zip(transposed(&a, 4, 4)).map(|(x, y)| x + y).collect();
        let (values, vectors) = eigh(&symmetric, 4);
        close(&product(&scaled(&vectors, &values), &transposed(&vectors, 4, 4), 4, 4, 4), &symmetric);
        let positive = product(&a, &transposed(&a, 4, 4), 4, 4, 4);
        let l = cholesky(&positive, 4).unwrap();
        close(&product(&l, &transposed(&l, 4, 4), 4, 4, 4), &positive);
    }

    #[test]
    fn solutions_solve() {
        let (a, mut x) = (sample(4, 4), sample(4, 2));
        let b = x.clone();
        lu(&a, 4, 4).solve(4, &mut x, 2);
        close(&product(&a, &x, 4, 4, 2), &b);
        close(&exponential(&[0.0, 1.0, 0.0, 0.0], 2), &[1.0, 1.0, 0.0, 1.0]);
    }

    #[test]
    fn a_singular_matrix_has_a_whole_basis() {
        let (u, s, vt) = svd(&[1.0, 2.0, 2.0, 4.0], 2, 2);
        close(&product(&scaled(&u, &s), &vt, 2, 2, 2), &[1.0, 2.0, 2.0, 4.0]);
        close(&product(&transposed(&u, 2, 2), &u, 2, 2, 2), &[1.0, 0.0, 0.0, 1.0]);
    }
}
