//! The gamma function's relatives.

use std::f64::consts::PI;

/// The logarithmic derivative of the gamma function: recurrence up to 10, then the asymptotic series.
pub fn digamma(mut x: f64) -> f64 {
    if x == 0.0 {
        return f64::NEG_INFINITY.copysign(-x);
    }
    let mut result = 0.0;
    if x < 0.0 {
        if x == libm::floor(x) {
            return f64::NAN;
        }
        let turn = PI * (x - libm::round(x));
        return digamma(1.0 - x) - PI / libm::tan(turn);
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

/// The derivative of the digamma function: reflection below 1/2, recurrence up to 10, then the asymptotic series.
pub fn trigamma(mut x: f64) -> f64 {
    if x < 0.5 {
        let sine = libm::sin(PI * x);
        return PI * PI / (sine * sine) - trigamma(1.0 - x);
    }
    let mut result = 0.0;
    while x < 10.0 {
        result += 1.0 / (x * x);
        x += 1.0;
    }
    let z = 1.0 / (x * x);
    let series = [1.0 / 6.0, -1.0 / 30.0, 1.0 / 42.0, -1.0 / 30.0, 5.0 / 66.0, -691.0 / 2730.0, 7.0 / 6.0];
    let tail = series.iter().rev().fold(0.0, |sum, c| sum * z + c) * z / x;
    result + 1.0 / x + 0.5 * z + tail
}

/// The Hurwitz zeta function, the sum of `(k + q)^-x`: some terms, then Euler and Maclaurin's formula for the rest.
pub fn zeta(x: f64, q: f64) -> f64 {
    const TERMS: i32 = 12;
    if x == 1.0 {
        return f64::INFINITY;
    }
    if x < 1.0 {
        return f64::NAN;
    }
    if q <= 0.0 {
        if q == libm::floor(q) {
            return f64::INFINITY;
        }
        if x != libm::floor(x) {
            return f64::NAN;
        }
    }
    if x.is_nan() || q.is_nan() {
        return f64::NAN;
    }
    if x.is_infinite() {
        // PyTorch answers NaN beyond 1.
        return if q.abs() < 1.0 {
            f64::INFINITY
        } else if q == 1.0 {
            1.0
        } else {
            f64::NAN
        };
    }
    let mut sum = 0.0;
    // Terms below 1 are few: q is stepped up until the formula holds.
    let mut a = q;
    let mut count = 0;
    while count < TERMS || a < 9.0 {
        sum += libm::pow(a, -x);
        a += 1.0;
        count += 1;
    }
    let power = libm::pow(a, -x);
    sum += power * a / (x - 1.0) + 0.5 * power;
    // B_2j / (2j)! of j = 1, 2, …
    let bernoulli = [
        1.0 / 12.0,
        -1.0 / 720.0,
        1.0 / 30240.0,
        -1.0 / 1_209_600.0,
        1.0 / 47_900_160.0,
        -691.0 / 1_307_674_368_000.0,
        1.0 / 74_724_249_600.0,
    ];
    let (mut factor, mut term) = (x, power / a);
    for (j, b) in bernoulli.iter().enumerate() {
        sum += b * factor * term;
        let k = 2.0 * j as f64;
        factor *= (x + k + 1.0) * (x + k + 2.0);
        term /= a * a;
    }
    sum
}

/// What both incomplete gamma functions answer at the edges, as (lower, upper).
fn edge(a: f64, x: f64) -> Option<(f64, f64)> {
    if a < 0.0 || x < 0.0 {
        return Some((f64::NAN, f64::NAN));
    }
    if a == 0.0 {
        return Some(if x > 0.0 { (1.0, 0.0) } else { (f64::NAN, f64::NAN) });
    }
    if x == 0.0 {
        return Some((0.0, 1.0));
    }
    if a.is_infinite() {
        return Some(if x.is_infinite() { (f64::NAN, f64::NAN) } else { (0.0, 1.0) });
    }
    if x.is_infinite() {
        return Some((1.0, 0.0));
    }
    (a.is_nan() || x.is_nan()).then_some((f64::NAN, f64::NAN))
}

/// `x^a e^-x / Γ(a)`
fn front(a: f64, x: f64) -> f64 {
    libm::exp(a * libm::log(x) - x - libm::lgamma(a))
}

/// The power series of the lower function, which converges fast for x below a.
fn series(a: f64, x: f64) -> f64 {
    let (mut term, mut sum, mut k) = (1.0 / a, 1.0 / a, a);
    for _ in 0..100_000 {
        k += 1.0;
        term *= x / k;
        sum += term;
        if term <= sum * 1e-17 {
            break;
        }
    }
    sum * front(a, x)
}

/// The continued fraction of the upper function, by Lentz's method.
fn fraction(a: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let mut b = x + 1.0 - a;
    let mut c = 1.0 / TINY;
    let mut d = 1.0 / b;
    let mut h = d;
    for i in 1..100_000 {
        let n = -f64::from(i) * (f64::from(i) - a);
        b += 2.0;
        d = n * d + b;
        d = if d.abs() < TINY { TINY } else { d };
        c = b + n / c;
        c = if c.abs() < TINY { TINY } else { c };
        d = 1.0 / d;
        let step = d * c;
        h *= step;
        if (step - 1.0).abs() < 1e-16 {
            break;
        }
    }
    h * front(a, x)
}

/// The lower regularised incomplete gamma function.
pub fn lower(a: f64, x: f64) -> f64 {
    match edge(a, x) {
        Some((lower, _)) => lower,
        None if x < a + 1.0 => series(a, x),
        None => 1.0 - fraction(a, x),
    }
}

/// The upper regularised incomplete gamma function.
pub fn upper(a: f64, x: f64) -> f64 {
    match edge(a, x) {
        Some((_, upper)) => upper,
        None if x < a + 1.0 => 1.0 - series(a, x),
        None => fraction(a, x),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digamma_at_known_points() {
        assert!((digamma(1.0) + 0.577_215_664_901_532_9).abs() < 1e-14);
        assert!((digamma(0.5) + 1.963_510_026_021_423_5).abs() < 1e-13);
    }

    #[test]
    fn zeta_and_trigamma_at_known_points() {
        assert!((zeta(2.0, 1.0) - PI * PI / 6.0).abs() < 1e-14);
        assert!((zeta(3.0, 1.0) - 1.202_056_903_159_594_3).abs() < 1e-14);
        assert!((trigamma(1.0) - PI * PI / 6.0).abs() < 1e-13);
        assert!((trigamma(-0.5) - 8.934_802_200_544_679).abs() < 1e-12);
    }

    #[test]
    fn both_incomplete_gammas_add_up() {
        for (a, x) in [(0.5, 0.2), (1.0, 1.0), (3.0, 2.5), (3.0, 9.0), (60.0, 58.0)] {
            assert!((lower(a, x) + upper(a, x) - 1.0).abs() < 1e-13);
        }
        assert!((lower(1.0, 1.0) - (1.0 - libm::exp(-1.0))).abs() < 1e-15);
    }
}
