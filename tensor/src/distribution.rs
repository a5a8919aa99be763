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
