//! The routines that bodies call by name, on `f64`.

use taipan_ir::body::Function;

/// The routine's value; `y` is ignored where it takes one argument.
pub fn call(function: Function, x: f64, y: f64) -> f64 {
    match function {
        Function::Exp2 => libm::exp2(x),
        Function::Expm1 => libm::expm1(x),
        Function::Log2 => libm::log2(x),
        Function::Log10 => libm::log10(x),
        Function::Log1p => libm::log1p(x),
        Function::Sin => libm::sin(x),
        Function::Cos => libm::cos(x),
        Function::Tan => libm::tan(x),
        Function::Asin => libm::asin(x),
        Function::Acos => libm::acos(x),
        Function::Atan => libm::atan(x),
        Function::Sinh => libm::sinh(x),
        Function::Cosh => libm::cosh(x),
        Function::Tanh => libm::tanh(x),
        Function::Asinh => libm::asinh(x),
        Function::Acosh => libm::acosh(x),
        Function::Atanh => libm::atanh(x),
        Function::Erf => libm::erf(x),
        Function::Erfc => libm::erfc(x),
        Function::ErfInv => erfinv(x),
        Function::Lgamma => libm::lgamma(x),
        Function::Digamma => digamma(x),
        Function::Pow => libm::pow(x, y),
        Function::Atan2 => libm::atan2(x, y),
        Function::Hypot => libm::hypot(x, y),
    }
}

/// The inverse of the error function, by Newton's method from a rough start.
fn erfinv(y: f64) -> f64 {
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

/// The logarithmic derivative of the gamma function: recurrence up to 10, then the asymptotic series.
fn digamma(mut x: f64) -> f64 {
    if x == 0.0 {
        return f64::NEG_INFINITY.copysign(-x);
    }
    let mut result = 0.0;
    if x < 0.0 {
        if x == libm::floor(x) {
            return f64::NAN;
        }
        let turn = std::f64::consts::PI * (x - libm::floor(x));
        return digamma(1.0 - x) - std::f64::consts::PI / libm::tan(turn);
    }
    while x < 10.0 {
        result -= 1.0 / x;
        x += 1.0;
    }
    let z = 1.0 / (x * x);
    let series = [1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0, 1.0 / 132.0, -691.0 / 32760.0, 1.0 / 12.0];
    let tail = series.iter().rev().fold(0.0, |sum, c| sum * z + c) * z;
    result + libm::log(x) - 0.5 / x - tail
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
    fn digamma_at_known_points() {
        assert!((digamma(1.0) + 0.577_215_664_901_532_9).abs() < 1e-14);
        assert!((digamma(0.5) + 1.963_510_026_021_423_5).abs() < 1e-13);
    }
}
