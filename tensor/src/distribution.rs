//! One number of a distribution from a random stream, by the arithmetic of PyTorch's kernels for processors.
//!
//! Logarithm, exponential and tangent are the platform's, as PyTorch's are: in double precision the last bit is PyTorch's where the C
//! library is glibc, in single precision everywhere but for a number in a few hundred million.

use crate::random::Twister;
use std::f64::consts::PI;
use taipan_ir::DType;

/// The digits of an element type's mantissa, the hidden one included; `None` for types of integers.
pub fn mantissa(dtype: DType) -> Option<u32> {
    Some(match dtype {
        DType::F16 => 11,
        DType::BF16 => 8,
        DType::F32 => f32::MANTISSA_DIGITS,
        DType::F64 => f64::MANTISSA_DIGITS,
        _ => return None,
    })
}

/// Time until an event of this rate.
pub fn exponential(generator: &mut Twister, rate: f64) -> f64 {
    -1.0 / rate * (-generator.uniform_f64()).ln_1p()
}

/// Tries up to the first success of this probability.
pub fn geometric(generator: &mut Twister, p: f64) -> f64 {
    (generator.uniform_f64().ln() / (-p).ln_1p()).ceil()
}

/// Cauchy's distribution.
pub fn cauchy(generator: &mut Twister, median: f64, sigma: f64) -> f64 {
    sigma.mul_add((PI * (generator.uniform_f64() - 0.5)).tan(), median)
}

/// A normal number of this mean and spread.
pub fn normal(generator: &mut Twister, mean: f64, std: f64) -> f64 {
    generator.normal_f64().mul_add(std, mean)
}

/// A number whose logarithm is normal.
pub fn log_normal(generator: &mut Twister, mean: f64, std: f64) -> f64 {
    normal(generator, mean, std).exp()
}

/// Events of this rate in a unit of time: by multiplying uniform numbers where there are few, else by Hörmann's transformed rejection.
pub fn poisson(generator: &mut Twister, rate: f64) -> f64 {
    if rate == 0.0 {
        return 0.0;
    }
    if rate < 10.0 {
        let limit = (-rate).exp();
        let (mut count, mut product) = (0.0, 1.0);
        loop {
            product *= generator.uniform_f64();
            if product <= limit {
                return count;
            }
            count += 1.0;
        }
    }
    let b = 0.931 + 2.53 * rate.sqrt();
    let a = -0.059 + 0.02483 * b;
    let inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    let accepted = 0.9277 - 3.6224 / (b - 2.0);
    loop {
        let u = generator.uniform_f64() - 0.5;
        let v = generator.uniform_f64();
        let distance = 0.5 - u.abs();
        let count = ((2.0 * a / distance + b) * u + rate + 0.43).floor();
        if distance >= 0.07 && v <= accepted {
            return count;
        }
        if count < 0.0 || (distance < 0.013 && v > distance) {
            continue;
        }
        let density = -rate + count * rate.ln() - libm::lgamma(count + 1.0);
        if v.ln() + inverse_alpha.ln() - (a / (distance * distance) + b).ln() <= density {
            return count;
        }
    }
}

/// A number of the gamma distribution of this shape and rate one, by Marsaglia's and Tsang's rejection. What is made of the shape alone
/// is rounded as a number of the shape's type, which is `f32` where `single`.
pub fn gamma(generator: &mut Twister, shape: f64, single: bool) -> f64 {
    let round = |x: f64| if single { f64::from(x as f32) } else { x };
    // Smaller shapes have no such rejection: a draw of the next shape is scaled down.
    let (scale, shape) = if shape < 1.0 {
        if shape == 0.0 {
            return 0.0;
        }
        ((1.0 - generator.uniform_f64()).powf(round(1.0 / shape)), round(shape + 1.0))
    } else {
        (1.0, shape)
    };
    // The third is of single precision whatever the type.
    let d = round(shape - f64::from(1.0_f32 / 3.0));
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let (x, y) = loop {
            let x = generator.normal_f64();
            let y = 1.0 + c * x;
            if y > 0.0 {
                break (x, y);
            }
        };
        let v = y * y * y;
        let u = 1.0 - generator.uniform_f64();
        let square = x * x;
        if u < 1.0 - 0.0331 * square * square || u.ln() < 0.5 * square + d * (1.0 - v + v.ln()) {
            return scale * d * v;
        }
    }
}

/// Successes of this probability in `count` tries: by the gaps between them where they are few, else by Hörmann's transformed rejection.
pub fn binomial(generator: &mut Twister, count: f64, p: f64) -> f64 {
    if count <= 0.0 || p <= 0.0 {
        return 0.0;
    }
    if p >= 1.0 {
        return count;
    }
    if p > 0.5 {
        return count - fewer_half(generator, count, 1.0 - p);
    }
    // What isn't a number draws as the gaps do.
    fewer_half(generator, count, p)
}

fn fewer_half(generator: &mut Twister, count: f64, p: f64) -> f64 {
    if count * p >= 10.0 {
        return binomial_by_rejection(generator, count, p);
    }
    let log = (-p).ln_1p();
    let (mut tries, mut successes) = (0.0, 0.0);
    loop {
        tries += (generator.uniform_f64().ln() / log).ceil();
        if tries > count || tries.is_nan() {
            return successes;
        }
        successes += 1.0;
    }
}

fn binomial_by_rejection(generator: &mut Twister, n: f64, p: f64) -> f64 {
    let spread = (n * p * (1.0 - p)).sqrt();
    let b = 1.15 + 2.53 * spread;
    let a = -0.0873 + 0.0248 * b + 0.01 * p;
    let c = n * p + 0.5;
    let accepted = 0.92 - 4.2 / b;
    let odds = p / (1.0 - p);
    let alpha = (2.83 + 5.1 / b) * spread;
    let m = ((n + 1.0) * p).floor();
    loop {
        let u = generator.uniform_f64() - 0.5;
        let v = generator.uniform_f64();
        let distance = 0.5 - u.abs();
        let k = ((2.0 * a / distance + b) * u + c).floor();
        if distance >= 0.07 && v <= accepted {
            return k;
        }
        if !(0.0..=n).contains(&k) {
            continue;
        }
        let v = (v * alpha / (a / (distance * distance) + b)).ln();
        let density = (m + 0.5) * ((m + 1.0) / (odds * (n - m + 1.0))).ln()
            + (n + 1.0) * ((n - m + 1.0) / (n - k + 1.0)).ln()
            + (k + 0.5) * (odds * (n - k + 1.0) / (k + 1.0)).ln()
            + stirling_rest(m)
            + stirling_rest(n - m)
            - stirling_rest(k)
            - stirling_rest(n - k);
        if v <= density {
            return k;
        }
    }
}

/// What Stirling's formula lacks of `ln k!`.
fn stirling_rest(k: f64) -> f64 {
    if k <= 9.0 {
        let exact = libm::lgamma(k + 1.0);
        return exact - ((k + 0.5) * (k + 1.0).ln() - (k + 1.0) + 0.5 * (2.0 * PI).ln());
    }
    let square = (k + 1.0) * (k + 1.0);
    (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 / square) / square) / (k + 1.0)
}
