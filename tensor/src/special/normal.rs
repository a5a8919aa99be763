//! The error function's relatives, and those of the normal distribution.

use std::f64::consts::{FRAC_1_SQRT_2, PI, SQRT_2};

/// The inverse of the error function, by Newton's method from a rough start.
pub fn erfinv(y: f64) -> f64 {
    if y.is_nan() || y.abs() > 1.0 {
        return f64::NAN;
    }
    if y.abs() == 1.0 {
        return f64::INFINITY.copysign(y);
    }
    // Winitzki's closed form is within 2e-3, and each step roughly squares the error.
    let log = libm::log1p(-y * y);
    let half = 2.0 / (std::f64::consts::PI * 0.147) + log / 2.0;
    let mut x = (libm::sqrt(libm::sqrt(half * half - log / 0.147) - half)).copysign(y);
    for _ in 0..4 {
        let error = if y.abs() < 0.5 { libm::erf(x) - y } else { ((1.0 - y.abs()) - libm::erfc(x.abs())) * x.signum() };
        let slope = std::f64::consts::FRAC_2_SQRT_PI * libm::exp(-x * x);
        if slope == 0.0 {
            break;
        }
        x -= error / slope;
    }
    x
}

/// `exp(x²) erfc(x)`: as it is for small x, by Lentz's evaluation of Laplace's continued fraction above 2.
pub fn erfcx(x: f64) -> f64 {
    if x.is_nan() {
        return x;
    }
    if x < 2.0 {
        return libm::exp(x * x) * libm::erfc(x);
    }
    if x > 1e8 {
        return 1.0 / (x * PI.sqrt());
    }
    // erfcx(x) √π = 1 / (x + (1/2) / (x + (2/2) / (x + (3/2) / …))).
    let mut tail = x;
    for k in (1..=120).rev() {
        tail = x + f64::from(k) * 0.5 / tail;
    }
    1.0 / (tail * PI.sqrt())
}

/// The logarithm of the normal distribution function.
pub fn log_ndtr(x: f64) -> f64 {
    let z = x * FRAC_1_SQRT_2;
    if x < -1.0 { libm::log(erfcx(-z) * 0.5) - z * z } else { libm::log1p(-libm::erfc(z) * 0.5) }
}

/// The inverse of the normal distribution function: Newton's method on the logarithm of the lower tail.
pub fn ndtri(p: f64) -> f64 {
    if p.is_nan() || !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    if p == 0.0 {
        return f64::NEG_INFINITY;
    }
    if p == 1.0 {
        return f64::INFINITY;
    }
    if p == 0.5 {
        return 0.0;
    }
    // 1 - p is exact from 1/2 upwards, so the lower tail is as good there.
    if p > 0.5 {
        return -ndtri(1.0 - p);
    }
    let goal = libm::log(p);
    let mut x = if p > 1e-3 { SQRT_2 * erfinv(2.0 * p - 1.0) } else { -(-2.0 * goal).sqrt() };
    for _ in 0..30 {
        let have = log_ndtr(x);
        // The slope of log Φ is φ / Φ.
        let slope = libm::exp(-x * x * 0.5 - have) / (2.0 * PI).sqrt();
        let step = (have - goal) / slope;
        x -= step;
        if step.abs() <= 1e-16 * x.abs() {
            break;
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn erfinv_inverts_erf() {
        for y in [-0.999999, -0.9, -0.3, 0.0, 1e-9, 0.4, 0.7, 0.99999] {
            assert!((libm::erf(erfinv(y)) - y).abs() < 1e-14, "{y}");
        }
    }

    #[test]
    fn ndtri_inverts_the_normal_distribution() {
        for p in [1e-300, 1e-20, 1e-6, 0.01, 0.3, 0.5, 0.75, 0.999_999] {
            let back = libm::exp(log_ndtr(ndtri(p)));
            assert!((back - p).abs() <= 1e-12 * p, "{p}: {back}");
        }
    }

    #[test]
    fn erfcx_is_continuous_where_the_method_changes() {
        assert!((erfcx(2.0 - 1e-12) / erfcx(2.0) - 1.0).abs() < 1e-11);
        assert!((erfcx(30.0) - 0.018_795_888_861_416_75).abs() < 1e-17);
    }
}
