//! Modified Bessel functions.

use std::f64::consts::PI;

/// From here on the asymptotic series has more than the digits of a double.
const FAR: f64 = 40.0;
/// Below this the first term of K's series is the whole double.
const NEAR: f64 = 1e-20;
/// Euler's constant.
const EULER: f64 = 0.577_215_664_901_532_9;

/// `Σ (x²/4)^k / (k! (k + order)!)`, whose terms are all positive.
fn series(order: f64, x: f64) -> f64 {
    let square = x * x * 0.25;
    let (mut term, mut sum, mut k) = (1.0, 1.0, 0.0);
    while term > sum * 1e-18 {
        k += 1.0;
        term *= square / (k * (k + order));
        sum += term;
    }
    sum
}

/// The asymptotic series of `e^-x I_order(x) √(2πx)`.
fn asymptotic(order: f64, x: f64) -> f64 {
    let (mut term, mut sum) = (1.0, 1.0);
    for k in 1..30 {
        let odd = f64::from(2 * k - 1);
        term *= -(4.0 * order * order - odd * odd) / (8.0 * f64::from(k) * x);
        sum += term;
    }
    sum
}

/// I₀
pub fn i0(x: f64) -> f64 {
    let size = x.abs();
    if size < FAR { series(0.0, size) } else { half_exp(size, asymptotic(0.0, size) / root(size)) }
}

/// `e^-|x| I₀(x)`
pub fn i0e(x: f64) -> f64 {
    let size = x.abs();
    if size < FAR { series(0.0, size) * libm::exp(-size) } else { asymptotic(0.0, size) / root(size) }
}

/// I₁
pub fn i1(x: f64) -> f64 {
    let size = x.abs();
    let value = if size < FAR { series(1.0, size) * size * 0.5 } else { half_exp(size, asymptotic(1.0, size) / root(size)) };
    if x < 0.0 { -value } else { value }
}

/// `e^-|x| I₁(x)`
pub fn i1e(x: f64) -> f64 {
    let size = x.abs();
    let value = if size < FAR { series(1.0, size) * size * 0.5 * libm::exp(-size) } else { asymptotic(1.0, size) / root(size) };
    if x < 0.0 { -value } else { value }
}

/// `√(2πx)`, also where 2πx overflows.
fn root(x: f64) -> f64 {
    (2.0 * PI).sqrt() * x.sqrt()
}

/// `e^x factor`, also where e^x alone overflows.
fn half_exp(x: f64, factor: f64) -> f64 {
    let half = libm::exp(x * 0.5);
    half * factor * half
}

/// K₀ or K₁, times `e^x` where `scaled`: the trapezoidal rule on `∫ e^(-x cosh t) cosh(order t) dt`, which converges geometrically.
pub fn k(order: i32, x: f64, scaled: bool) -> f64 {
    const STEP: f64 = 1.0 / 32.0;
    if x.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    if x == 0.0 {
        return f64::INFINITY;
    }
    if x.is_infinite() {
        return 0.0;
    }
    if x >= FAR {
        // The same series as that of I with all signs positive.
        let value = (PI / 2.0).sqrt() / x.sqrt() * asymptotic(f64::from(order), -x);
        return if scaled { value } else { value * libm::exp(-x) };
    }
    if x < NEAR {
        return if order == 1 { 1.0 / x } else { -libm::log(x * 0.5) - EULER };
    }
    let (mut sum, mut t) = (0.5, STEP);
    loop {
        let grown = libm::cosh(t);
        let weight = if order == 1 { grown } else { 1.0 };
        let term = weight * libm::exp(-x * (grown - 1.0));
        sum += term;
        t += STEP;
        if term < sum * 1e-18 && x * grown > 1.0 {
            break;
        }
    }
    let value = sum * STEP;
    if scaled { value } else { value * libm::exp(-x) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a / b - 1.0).abs() < 1e-13, "{a} {b}");
    }

    #[test]
    fn at_known_points() {
        close(i0(1.0), 1.266_065_877_752_008_4);
        close(i1(1.0), 0.565_159_103_992_485);
        close(i0e(100.0), 0.039_944_379_299_096_68);
        close(k(0, 1.0, false), 0.421_024_438_240_708_34);
        close(k(1, 1.0, false), 0.601_907_230_197_234_6);
        close(k(0, FAR - 1e-9, true), k(0, FAR, true) * (1.0 + 0.5e-9 / FAR));
        close(k(1, 1e4, true), 0.012_533_611_351_270_505);
        close(k(0, NEAR, false), k(0, NEAR * 0.999_999_999, false) - 1e-9);
        close(k(1, f64::MIN_POSITIVE, true), 1.0 / f64::MIN_POSITIVE);
        close(i0(FAR - 1e-9), i0(FAR) * (1.0 - 1e-9 * (1.0 - 0.5 / FAR)));
    }
}
