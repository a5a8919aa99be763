//! Normal numbers in blocks of sixteen, as PyTorch's vector kernel draws them from sixteen or more at once.
//!
//! The bits depend on the approximations of logarithm, sine and cosine that kernel uses (the single-precision ones of the Cephes
//! library) and on where its compiler fused a multiplication with an addition, so both are spelled out here.

use crate::{element::Arithmetic, random::Twister};
use std::f32::consts::{FRAC_1_SQRT_2, PI};

/// Fills at least sixteen elements.
pub fn fill_f32(generator: &mut Twister, mean: f64, std: f64, out: &mut [f32]) {
    out.iter_mut().for_each(|x| *x = generator.uniform_f32());
    let whole = out.len() / 16 * 16;
    out[..whole].chunks_exact_mut(16).for_each(|block| turn(block, mean as f32, std as f32));
    if whole < out.len() {
        // The last sixteen are drawn again, over some that are done.
        let start = out.len() - 16;
        out[start..].iter_mut().for_each(|x| *x = generator.uniform_f32());
        turn(&mut out[start..], mean as f32, std as f32);
    }
}

/// As [`fill_f32`].
pub fn fill_f64(generator: &mut Twister, mean: f64, std: f64, out: &mut [f64]) {
    let turn = |block: &mut [f64]| {
        for j in 0..8 {
            let (first, second) = (1.0 - block[j], block[j + 8]);
            let radius = (-2.0 * first.ln()).sqrt();
            let theta = 2.0 * std::f64::consts::PI * second;
            block[j] = (radius * theta.cos()).mul_add(std, mean);
            block[j + 8] = (radius * theta.sin()).mul_add(std, mean);
        }
    };
    out.iter_mut().for_each(|x| *x = generator.uniform_f64());
    let whole = out.len() / 16 * 16;
    out[..whole].chunks_exact_mut(16).for_each(turn);
    if whole < out.len() {
        let start = out.len() - 16;
        out[start..].iter_mut().for_each(|x| *x = generator.uniform_f64());
        turn(&mut out[start..]);
    }
}

/// As [`fill_f32`] for half types, by way of `f32`. Nothing is drawn for what the last block draws over.
pub fn fill_half<T: Arithmetic>(generator: &mut Twister, mean: f64, std: f64, out: &mut [T]) {
    let mut block = [0.0; 16];
    let mut fill = |chunk: &mut [T]| {
        block.iter_mut().for_each(|x| *x = generator.uniform_f32());
        turn(&mut block, mean as f32, std as f32);
        chunk.iter_mut().zip(block).for_each(|(o, x)| *o = T::from_f64(f64::from(x)));
    };
    let whole = out.len() / 16 * 16;
    out[..whole].chunks_exact_mut(16).for_each(&mut fill);
    if whole < out.len() {
        let start = out.len() - 16;
        fill(&mut out[start..]);
    }
}

/// Eight pairs of uniform numbers become eight pairs of normal ones (Box and Muller).
fn turn(block: &mut [f32], mean: f32, std: f32) {
    for j in 0..8 {
        let radius = (-2.0 * log(1.0 - block[j])).sqrt();
        let (sin, cos) = sin_cos(2.0 * PI * block[j + 8]);
        block[j] = (radius * cos).mul_add(std, mean);
        block[j + 8] = (radius * sin).mul_add(std, mean);
    }
}

/// The logarithm of a positive number.
fn log(x: f32) -> f32 {
    let bits = x.max(f32::MIN_POSITIVE).to_bits();
    let mut e = ((bits >> 23) as i32 - 127) as f32 + 1.0;
    let mut m = f32::from_bits(bits & !0x7f80_0000 | 0.5f32.to_bits());
    let low = m < FRAC_1_SQRT_2;
    let again = if low { m } else { 0.0 };
    m -= 1.0;
    if low {
        e -= 1.0;
    }
    m += again;
    let z = m * m;
    const P: [f32; 9] = [
        7.037_683_6e-2,
        -1.151_461e-1,
        1.167_699_84e-1,
        -1.242_014_1e-1,
        1.424_932_3e-1,
        -1.666_805_8e-1,
        2.000_071_4e-1,
        -2.499_999_4e-1,
        3.333_333e-1,
    ];
    let mut y = P[1..].iter().fold(P[0], |y, p| y.mul_add(m, *p)) * m;
    y = y.mul_add(z, e * -2.121_944_4e-4);
    y = z.mul_add(-0.5, y);
    e.mul_add(0.693_359_4, m + y)
}

/// Sine and cosine of a number between 0 and 2π.
fn sin_cos(x: f32) -> (f32, f32) {
    let octant = ((x * 1.273_239_5) as i32 + 1) & !1;
    let y = octant as f32;
    let r = [-0.785_156_25f32, -2.418_756_5e-4, -3.774_895e-8].iter().fold(x, |r, part| y.mul_add(*part, r));
    let z = r * r;
    let mut cos = 2.443_315_7e-5f32.mul_add(z, -1.388_731_6e-3).mul_add(z, 4.166_664_6e-2);
    cos = (cos * z).mul_add(z, -(z * 0.5)) + 1.0;
    let mut sin = (-1.951_529_6e-4f32).mul_add(z, 8.332_161e-3).mul_add(z, -1.666_665_5e-1);
    sin = (sin * z).mul_add(r, r);
    let (sin, cos) = if octant & 2 == 0 { (sin, cos) } else { (cos, sin) };
    let sin = if octant & 4 != 0 { -sin } else { sin };
    let cos = if !(octant - 2) & 4 != 0 { -cos } else { cos };
    (sin, cos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_what_pytorch_draws() {
        let mut out = [0.0; 20];
        fill_f32(&mut Twister::new(0), 0.0, 1.0, &mut out);
        assert_eq!(out.map(f32::to_bits), EXPECTED.map(f32::to_bits));
    }

    const EXPECTED: [f32; 20] = [
        -1.1258398,
        -1.1523602,
        -0.25057858,
        -0.4338788,
        0.59883946,
        -1.5550951,
        -0.3413604,
        1.8530061,
        0.4680964,
        -0.15771244,
        1.4436601,
        0.2660494,
        1.3893661,
        1.5863342,
        0.94629836,
        -0.84367675,
        0.9318266,
        1.2590092,
        2.0049806,
        0.053736903,
    ];
}
