//! How a number drawn from a gamma or beta distribution moves with a parameter, its place among all draws being held.
//!
//! With `F(x, p)` the distribution function that is `-(∂F/∂p) / (∂F/∂x)`. The numerator is an integral of the density times the
//! derivative of its logarithm, from the end of the range that is nearer to `x`; divided by the density at `x`, the integrand is
//! smooth and dies out, and a double exponential change of variable sums it to rounding.

use super::gamma::digamma;
use std::f64::consts::FRAC_PI_2;

/// `dx/da` of a draw `x` from the gamma distribution of shape `a` and rate one.
pub fn gamma(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let digamma = digamma(a);
    if x < a {
        let log = x.ln() - digamma;
        return -x * half_line(1.0 / a, |v| (log - v) * (-a * v - x * (-v).exp_m1()).exp());
    }
    half_line(1.0, |s| ((x + s).ln() - digamma) * ((a - 1.0) * (s / x).ln_1p() - s).exp())
}

/// `dx/da` over `1 - x` of a draw `x` from the beta distribution of `a` and `total - a`.
pub fn beta(x: f64, a: f64, total: f64) -> f64 {
    if !(x > 0.0 && x < 1.0) {
        return 0.0;
    }
    let (b, y) = (total - a, 1.0 - x);
    let offset = digamma(total) - digamma(a);
    if x * total < a {
        let log = x.ln() + offset;
        let rise = |v: f64| (b - 1.0) * ((-x * (-v).exp_m1()) / y).ln_1p();
        return -x / y * half_line(1.0 / a, |v| (log - v) * (rise(v) - a * v).exp());
    }
    let rise = |v: f64| (a - 1.0) * ((-y * (-v).exp_m1()) / x).ln_1p();
    half_line(1.0 / b, |v| ((-y * (-v).exp()).ln_1p() + offset) * (rise(v) - b * v).exp())
}

/// The integral from zero to infinity of a function that dies out after some multiples of `scale`.
fn half_line(scale: f64, f: impl Fn(f64) -> f64) -> f64 {
    const STEP: f64 = 1.0 / 32.0;
    let sum: f64 = (-144..=144)
        .map(|k| {
            let place = f64::from(k) * STEP;
            let at = scale * (FRAC_PI_2 * place.sinh()).exp();
            let term = f(at) * at * place.cosh();
            if term.is_finite() { term } else { 0.0 }
        })
        .sum();
    sum * STEP * FRAC_PI_2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beta_with_one_has_a_closed_form() {
        // F = x^a, so that dx/da = -x ln x / a.
        for (x, a) in [(0.1f64, 0.5f64), (0.5, 2.0), (0.9, 3.0), (0.001, 0.2), (0.999, 20.0)] {
            let exact = -x * x.ln() / a / (1.0 - x);
            assert!((beta(x, a, a + 1.0) - exact).abs() < 1e-10 * exact.abs(), "{x} {a}");
        }
    }

    #[test]
    fn gamma_agrees_with_differences() {
        use super::super::gamma::lower;
        for (x, a) in [(0.2, 0.7), (1.0, 1.0), (3.0, 2.0), (9.0, 12.0), (60.0, 50.0)] {
            let h = 1e-5;
            let along_a = (lower(a + h, x) - lower(a - h, x)) / (2.0 * h);
            let along_x = (lower(a, x + h) - lower(a, x - h)) / (2.0 * h);
            let exact = -along_a / along_x;
            assert!((gamma(a, x) - exact).abs() < 1e-5 * exact.abs(), "{x} {a} {} {exact}", gamma(a, x));
        }
    }
}
