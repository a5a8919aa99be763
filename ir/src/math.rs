//! Mathematical functions in the body language, so that every executor computes the same bits.
//!
//! The `f32` forms are within 2 ulp (most within 1), the `f64` forms too where they are expanded; the rest of `f64` is left to
//! [`Function`] routines. Polynomials are minimax fits on the stated interval, lowest power first.

use crate::{
    DType, Number,
    body::{Binary, Body, Compare, Function, Node, Scalar, Unary},
};
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_PI, LN_2, LN_10, LOG2_E};

/// Of `(exp(r) - 1 - r) / r²` for `|r| <= ln(2)/2`; relative error of the exponential 3e-9.
const EXP_F32: [f64; 5] = [0.5000000095362138, 0.16666518878432493, 0.04166620469316617, 0.008368881045382227, 0.0013950571059830428];
/// As [`EXP_F32`], relative error 1e-12: for `f32` functions that pass through `f64`.
const EXP_MIDDLE: [f64; 7] = [
    0.4999999999952997,
    0.166666667873733,
    0.041666667045524054,
    0.008333281103073116,
    0.0013888797978894706,
    0.00019909332971572945,
    2.4886843417306788e-05,
];
/// As [`EXP_F32`], relative error 5e-20.
const EXP_F64: [f64; 11] = [
    0.5,
    0.16666666666666685,
    0.04166666666666672,
    0.008333333333316706,
    0.001388888888885948,
    0.0001984126989713234,
    2.480158737204448e-05,
    2.7557234173991764e-06,
    2.7557234591609494e-07,
    2.5112257631467363e-08,
    2.092661355108939e-09,
];
/// Of `(log1p(f) - f + f²/2) / f³` for `f` between `√½ - 1` and `√2 - 1`.
const LOG_F32: [f64; 9] = [
    0.333333124821361,
    -0.25000008962295667,
    0.200021222784085,
    -0.16668026814779133,
    0.1421955897857802,
    -0.12405160592957505,
    0.11887469934262661,
    -0.1167736161351934,
    0.06750220334666028,
];
/// Of `(log((1+s)/(1-s)) - 2s) / s³` in `s²`, for the same range of `f = 2s/(1-s)`.
const LOG_MIDDLE: [f64; 4] = [0.6666666564501568, 0.40000335261312514, 0.28537304934372976, 0.2358220973831838];
/// As [`LOG_MIDDLE`], relative error 2e-20.
const LOG_F64: [f64; 8] = [
    0.6666666666666666,
    0.4000000000000624,
    0.28571428569087676,
    0.2222222264652894,
    0.18181775686763874,
    0.1538708983337661,
    0.13250138901698597,
    0.13251140565161076,
];
/// Of `erf(x) / x - 1` in `x²` for `|x| <= 0.92`.
const ERF_SMALL: [f64; 7] = [
    0.1283791666493765,
    -0.3761263385031883,
    0.1128369727188998,
    -0.02685949746868726,
    0.005201280151162909,
    -0.0008145535881968967,
    8.382149651067247e-05,
];
/// Of `log(1 - erf(x))` for `0.92 <= x <= 4`.
const ERF_LARGE: [f64; 8] = [
    0.00017499963726343628,
    -1.129516478437835,
    -0.6333437101291701,
    -0.1082836841345553,
    0.02512180446259169,
    -0.004171986654254477,
    0.0004346577174632992,
    -2.1112318914357877e-05,
];
/// Of `(sin(r)/r - 1) / r²` in `r²` for `|r| <= π/4`; the second form is exact to `f64`.
const SIN_MIDDLE: [f64; 4] = [-0.1666666664161507, 0.008333329384998912, -0.00019839334616840074, 2.7183097987672874e-06];
const SIN_F64: [f64; 6] = [
    -0.16666666666666632,
    0.008333333333322342,
    -0.0001984126982976227,
    2.755731367877275e-06,
    -2.505075636617936e-08,
    1.5896708360282452e-10,
];
/// Of `(cos(r) - 1 + r²/2) / r⁴` in `r²` for `|r| <= π/4`; the second form is exact to `f64`.
const COS_MIDDLE: [f64; 4] = [0.041666666622778466, -0.0013888883749434947, 2.4799519055671966e-05, -2.7210166918896005e-07];
const COS_F64: [f64; 6] = [
    0.0416666666666666,
    -0.0013888888888874125,
    2.480158728948445e-05,
    -2.7557314353431203e-07,
    2.0875723478316606e-09,
    -1.1359661033896558e-11,
];
/// Adding and subtracting this rounds a small `f32` to an integer, which then stands in the low bits.
const ROUND_F32: f64 = 12582912.0;
/// The same for `f64`.
const ROUND_F64: f64 = 6755399441055744.0;
/// `ln 2` in two parts whose first has few enough bits for `n * HIGH` to be exact.
const LN_2_F32: (f64, f64) = (0.693145751953125, 1.4286068203094173e-06);
const LN_2_F64: (f64, f64) = (0.6931471803691238, 1.9082149292705877e-10);
/// `π/2` in three parts of 33 bits.
const HALF_PI: (f64, f64, f64) = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21);
/// Beyond this the parts of `π/2` no longer suffice.
const TRIG_RANGE: f64 = 1e5;

impl Body {
    /// A polynomial with coefficients from the lowest power, by Horner's rule with fused steps.
    pub fn polynomial(&mut self, x: Scalar, coefficients: &[f64]) -> Scalar {
        let mut rest = coefficients.iter().rev();
        let mut sum = self.number(x, rest.next().copied().unwrap_or(0.0));
        for c in rest {
            let c = self.number(x, *c);
            sum = self.fma(sum, x, c);
        }
        sum
    }

    fn is_f64(&self, x: Scalar) -> bool {
        self.dtype(x) == DType::F64
    }

    /// An `f32` function computed by an `f64` expansion, or the routine on `f64` itself.
    fn through_f64(&mut self, x: Scalar, function: Function, expand: fn(&mut Body, Scalar) -> Scalar) -> Scalar {
        if self.is_f64(x) {
            return self.call(function, x);
        }
        let dtype = self.dtype(x);
        let wide = self.cast(x, DType::F64);
        let y = expand(self, wide);
        self.cast(y, dtype)
    }

    /// `e^x`.
    pub fn exp(&mut self, x: Scalar) -> Scalar {
        if self.is_f64(x) { self.exp_f64(x, &EXP_F64) } else { self.exp_f32(x) }
    }

    fn exp_f32(&mut self, x: Scalar) -> Scalar {
        let (low, high) = (self.number(x, -104.0), self.number(x, 89.0));
        let x = self.max(x, low);
        let x = self.min(x, high);
        let (scale, magic) = (self.number(x, LOG2_E), self.number(x, ROUND_F32));
        let shifted = self.fma(x, scale, magic);
        let n = self.sub(shifted, magic);
        let (h, l) = (self.number(x, -LN_2_F32.0), self.number(x, -LN_2_F32.1));
        let r = self.fma(n, h, x);
        let r = self.fma(n, l, r);
        let y = self.exp_near_zero(r, &EXP_F32);
        let bits = self.bitcast(shifted, DType::I32);
        let bias = self.constant(Number::Int(0x4B40_0000), DType::I32);
        let n = self.sub(bits, bias);
        self.scale_by_power(y, n, 127, 23)
    }

    fn exp_f64(&mut self, x: Scalar, coefficients: &[f64]) -> Scalar {
        let (low, high) = (self.number(x, -746.0), self.number(x, 710.0));
        let x = self.max(x, low);
        let x = self.min(x, high);
        let (scale, magic) = (self.number(x, LOG2_E), self.number(x, ROUND_F64));
        let shifted = self.fma(x, scale, magic);
        let n = self.sub(shifted, magic);
        let (h, l) = (self.number(x, -LN_2_F64.0), self.number(x, -LN_2_F64.1));
        let r = self.fma(n, h, x);
        let r = self.fma(n, l, r);
        let y = self.exp_near_zero(r, coefficients);
        let bits = self.bitcast(shifted, DType::I64);
        let bias = self.constant(Number::Int(ROUND_F64.to_bits() as i64), DType::I64);
        let n = self.sub(bits, bias);
        self.scale_by_power(y, n, 1023, 52)
    }

    /// `1 + r + r² P(r)`.
    fn exp_near_zero(&mut self, r: Scalar, coefficients: &[f64]) -> Scalar {
        let p = self.polynomial(r, coefficients);
        let square = self.mul(r, r);
        let y = self.fma(p, square, r);
        self.add_number(y, 1.0)
    }

    /// `y * 2^n` in two steps, so that results below the normal range come out right.
    fn scale_by_power(&mut self, y: Scalar, n: Scalar, bias: i64, shift: i64) -> Scalar {
        let (float, int) = (self.dtype(y), self.dtype(n));
        let one = self.constant(Number::Int(1), int);
        let (bias, shift) = (self.constant(Number::Int(bias), int), self.constant(Number::Int(shift), int));
        let first = self.binary(Binary::Shr, n, one);
        let second = self.sub(n, first);
        let mut result = y;
        for half in [first, second] {
            let exponent = self.add(half, bias);
            let bits = self.binary(Binary::Shl, exponent, shift);
            let power = self.bitcast(bits, float);
            result = self.mul(result, power);
        }
        result
    }

    /// The natural logarithm.
    pub fn log(&mut self, x: Scalar) -> Scalar {
        if self.is_f64(x) {
            return self.log_f64(x, &LOG_F64);
        }
        // Numbers below the normal range are lifted into it.
        let tiny = self.compare_number(Compare::Lt, x, f64::from(f32::MIN_POSITIVE));
        let lifted = self.mul_number(x, 8388608.0);
        let y = self.select(tiny, lifted, x);
        let (zero, lift) = (self.number(x, 0.0), self.number(x, -23.0));
        let correction = self.select(tiny, lift, zero);
        let (f, e) = self.split_near_one(y, DType::I32, i64::from(std::f32::consts::FRAC_1_SQRT_2.to_bits()), 23);
        let e = self.add(e, correction);
        let p = self.polynomial(f, &LOG_F32);
        let square = self.mul(f, f);
        let cube = self.mul(square, f);
        let low = self.number(x, LN_2_F32.1);
        let tail = self.mul(e, low);
        let tail = self.fma(cube, p, tail);
        let minus_half = self.number(x, -0.5);
        let tail = self.fma(square, minus_half, tail);
        let sum = self.add(tail, f);
        let high = self.number(x, LN_2_F32.0);
        let result = self.fma(e, high, sum);
        self.log_edges(x, result)
    }

    fn log_f64(&mut self, x: Scalar, coefficients: &[f64]) -> Scalar {
        let tiny = self.compare_number(Compare::Lt, x, f64::MIN_POSITIVE);
        let lifted = self.mul_number(x, 4503599627370496.0);
        let y = self.select(tiny, lifted, x);
        let (zero, lift) = (self.number(x, 0.0), self.number(x, -52.0));
        let correction = self.select(tiny, lift, zero);
        let (f, e) = self.split_near_one(y, DType::I64, FRAC_1_SQRT_2.to_bits() as i64, 52);
        let e = self.add(e, correction);
        // log(1+f) = f - (f²/2 - s (f²/2 + R)), with s = f / (2 + f).
        let two_f = self.add_number(f, 2.0);
        let s = self.div(f, two_f);
        let z = self.mul(s, s);
        let p = self.polynomial(z, coefficients);
        let r = self.mul(z, p);
        let square = self.mul(f, f);
        let half_square = self.mul_number(square, 0.5);
        let low = self.number(x, LN_2_F64.1);
        let tail = self.mul(e, low);
        let inner = self.add(half_square, r);
        let tail = self.fma(s, inner, tail);
        let tail = self.sub(half_square, tail);
        let sum = self.sub(f, tail);
        let high = self.number(x, LN_2_F64.0);
        let result = self.fma(e, high, sum);
        self.log_edges(x, result)
    }

    /// `x = (1 + f) * 2^e` with `1 + f` between `√½` and `√2`.
    fn split_near_one(&mut self, x: Scalar, int: DType, root_half: i64, shift: i64) -> (Scalar, Scalar) {
        let float = self.dtype(x);
        let bits = self.bitcast(x, int);
        let (root, shift) = (self.constant(Number::Int(root_half), int), self.constant(Number::Int(shift), int));
        let above = self.sub(bits, root);
        let e = self.binary(Binary::Shr, above, shift);
        let exponent = self.binary(Binary::Shl, e, shift);
        let mantissa = self.sub(bits, exponent);
        let m = self.bitcast(mantissa, float);
        let f = self.add_number(m, -1.0);
        (f, self.cast(e, float))
    }

    /// Zero, infinity, negative numbers and NaN.
    fn log_edges(&mut self, x: Scalar, result: Scalar) -> Scalar {
        let infinity = self.number(x, f64::INFINITY);
        let ordinary = self.compare(Compare::Lt, x, infinity);
        let result = self.select(ordinary, result, x);
        let minus = self.number(x, f64::NEG_INFINITY);
        let zero = self.compare_number(Compare::Eq, x, 0.0);
        let result = self.select(zero, minus, result);
        let negative = self.compare_number(Compare::Lt, x, 0.0);
        let nan = self.number(x, f64::NAN);
        self.select(negative, nan, result)
    }

    /// `log(1 + x)`.
    pub fn log1p(&mut self, x: Scalar) -> Scalar {
        self.through_f64(x, Function::Log1p, |b, x| {
            let sum = b.add_number(x, 1.0);
            let log = b.log_f64(sum, &LOG_F64);
            // Below this `x + 1` loses what the result consists of, and two terms of the series are enough.
            let size = b.abs(x);
            let small = b.compare_number(Compare::Lt, size, 1e-5);
            let half = b.mul_number(x, -0.5);
            let series = b.fma(half, x, x);
            b.select(small, series, log)
        })
    }

    /// `log2(x)`.
    pub fn log2(&mut self, x: Scalar) -> Scalar {
        self.through_f64(x, Function::Log2, |b, x| {
            let log = b.log_f64(x, &LOG_MIDDLE);
            b.mul_number(log, 1.0 / LN_2)
        })
    }

    /// `log10(x)`.
    pub fn log10(&mut self, x: Scalar) -> Scalar {
        self.through_f64(x, Function::Log10, |b, x| {
            let log = b.log_f64(x, &LOG_MIDDLE);
            b.mul_number(log, 1.0 / LN_10)
        })
    }

    /// `2^x`.
    pub fn exp2(&mut self, x: Scalar) -> Scalar {
        self.through_f64(x, Function::Exp2, |b, x| {
            let scaled = b.mul_number(x, LN_2);
            b.exp_f64(scaled, &EXP_MIDDLE)
        })
    }

    /// `e^x - 1`.
    pub fn expm1(&mut self, x: Scalar) -> Scalar {
        self.through_f64(x, Function::Expm1, |b, x| {
            let e = b.exp_f64(x, &EXP_F64);
            let difference = b.add_number(e, -1.0);
            let size = b.abs(x);
            let small = b.compare_number(Compare::Lt, size, 1e-5);
            let half = b.mul_number(x, 0.5);
            let series = b.fma(half, x, x);
            let result = b.select(small, series, difference);
            // The sum of zeros of both signs is positive.
            let none = b.compare_number(Compare::Eq, x, 0.0);
            b.select(none, x, result)
        })
    }

    /// `1 / (1 + e^-x)`.
    pub fn sigmoid(&mut self, x: Scalar) -> Scalar {
        let minus = self.neg(x);
        let e = self.exp(minus);
        let sum = self.add_number(e, 1.0);
        self.number_div(1.0, sum)
    }

    /// The hyperbolic tangent.
    pub fn tanh(&mut self, x: Scalar) -> Scalar {
        self.through_f64(x, Function::Tanh, |b, x| {
            let twice = b.mul_number(x, 2.0);
            let (low, high) = (b.number(x, -40.0), b.number(x, 40.0));
            let twice = b.max(twice, low);
            let twice = b.min(twice, high);
            let e = b.exp_f64(twice, &EXP_MIDDLE);
            let (above, below) = (b.add_number(e, -1.0), b.add_number(e, 1.0));
            let t = b.div(above, below);
            // x - x³/3 where e - 1 has lost too many bits.
            let size = b.abs(x);
            let small = b.compare_number(Compare::Lt, size, 4e-3);
            let square = b.mul(x, x);
            let series = b.polynomial(square, &[1.0, -1.0 / 3.0, 2.0 / 15.0]);
            let series = b.mul(series, x);
            b.select(small, series, t)
        })
    }

    /// The hyperbolic sine.
    pub fn sinh(&mut self, x: Scalar) -> Scalar {
        self.through_f64(x, Function::Sinh, |b, x| b.call(Function::Sinh, x))
    }

    /// The hyperbolic cosine.
    pub fn cosh(&mut self, x: Scalar) -> Scalar {
        self.through_f64(x, Function::Cosh, |b, x| {
            let size = b.abs(x);
            let e = b.exp_f64(size, &EXP_MIDDLE);
            let inverse = b.number_div(1.0, e);
            let sum = b.add(e, inverse);
            b.mul_number(sum, 0.5)
        })
    }

    /// The error function.
    pub fn erf(&mut self, x: Scalar) -> Scalar {
        if self.is_f64(x) {
            return self.call(Function::Erf, x);
        }
        let size = self.abs(x);
        let square = self.mul(x, x);
        let p = self.polynomial(square, &ERF_SMALL);
        let near = self.fma(p, x, x);
        let four = self.number(x, 4.0);
        let bounded = self.min(size, four);
        let q = self.polynomial(bounded, &ERF_LARGE);
        let e = self.exp(q);
        let far = self.number_sub(1.0, e);
        let minus = self.neg(far);
        let negative = self.compare_number(Compare::Lt, x, 0.0);
        let far = self.select(negative, minus, far);
        let small = self.compare_number(Compare::Lt, size, 0.92);
        self.select(small, near, far)
    }

    /// The sine.
    pub fn sin(&mut self, x: Scalar) -> Scalar {
        self.sine_wave(x, Function::Sin, 0)
    }

    /// The cosine.
    pub fn cos(&mut self, x: Scalar) -> Scalar {
        self.sine_wave(x, Function::Cos, 1)
    }

    /// The sine `quarters` quarter turns ahead, by reduction to `|r| <= π/4`; large arguments go to the routine.
    fn sine_wave(&mut self, x: Scalar, function: Function, quarters: i64) -> Scalar {
        let dtype = self.dtype(x);
        let (sin, cos): (&[f64], &[f64]) = if dtype == DType::F64 { (&SIN_F64, &COS_F64) } else { (&SIN_MIDDLE, &COS_MIDDLE) };
        let wide = self.cast(x, DType::F64);
        let (scale, magic) = (self.number(wide, FRAC_2_PI), self.number(wide, ROUND_F64));
        let shifted = self.fma(wide, scale, magic);
        let n = self.sub(shifted, magic);
        let mut r = wide;
        for part in [HALF_PI.0, HALF_PI.1, HALF_PI.2] {
            let part = self.number(r, -part);
            r = self.fma(n, part, r);
        }
        let z = self.mul(r, r);
        let p = self.polynomial(z, sin);
        let cube = self.mul(z, r);
        let bent = self.fma(p, cube, r);
        // The sum of zeros of both signs is positive.
        let none = self.compare_number(Compare::Eq, r, 0.0);
        let sine = self.select(none, r, bent);
        let q = self.polynomial(z, cos);
        let (half, one) = (self.number(z, -0.5), self.number(z, 1.0));
        let fourth = self.mul(z, z);
        let bend = self.mul(fourth, q);
        let bend = self.fma(z, half, bend);
        let cosine = self.add(one, bend);
        let bits = self.bitcast(shifted, DType::I64);
        let turns = self.constant(Number::Int(quarters), DType::I64);
        let quadrant = self.add(bits, turns);
        let (first, second) = (self.constant(Number::Int(1), DType::I64), self.constant(Number::Int(2), DType::I64));
        let odd = self.binary(Binary::And, quadrant, first);
        let odd = self.truth(odd);
        let upper = self.binary(Binary::And, quadrant, second);
        let upper = self.truth(upper);
        let y = self.select(odd, cosine, sine);
        let minus = self.neg(y);
        let y = self.select(upper, minus, y);
        let fast = self.cast(y, dtype);
        let size = self.abs(x);
        let guard = self.compare_number(Compare::Lt, size, TRIG_RANGE);
        self.push(Node::Rescue { guard, fast, function, x }, dtype)
    }

    /// The tangent.
    pub fn tan(&mut self, x: Scalar) -> Scalar {
        self.call(Function::Tan, x)
    }

    /// `base` to the power of `exponent`, floats.
    pub fn pow(&mut self, base: Scalar, exponent: Scalar) -> Scalar {
        self.call2(Function::Pow, base, exponent)
    }

    /// `base` to the power of a constant, floats: the common powers by multiplication and roots.
    pub fn pow_number(&mut self, x: Scalar, exponent: f64) -> Scalar {
        if exponent == 2.0 {
            return self.mul(x, x);
        }
        if exponent == 3.0 {
            let square = self.mul(x, x);
            return self.mul(square, x);
        }
        if exponent == 1.0 {
            return x;
        }
        if exponent == 0.5 {
            return self.sqrt(x);
        }
        if exponent == -1.0 {
            return self.number_div(1.0, x);
        }
        if exponent == -2.0 {
            let square = self.mul(x, x);
            return self.number_div(1.0, square);
        }
        if exponent == -0.5 {
            let root = self.sqrt(x);
            return self.number_div(1.0, root);
        }
        let n = self.number(x, exponent);
        self.pow(x, n)
    }

    /// An `f32` rounded to the nearest value of a half type, by its bits.
    pub(crate) fn round_to_half(&mut self, x: Scalar, half: DType) -> Scalar {
        let dropped = if half == DType::BF16 { 16 } else { 13 };
        let int = |b: &mut Body, n: i64| b.constant(Number::Int(n), DType::I32);
        let bits = self.bitcast(x, DType::I32);
        let count = int(self, dropped);
        let last = self.binary(Binary::Shr, bits, count);
        let one = int(self, 1);
        let odd = self.binary(Binary::And, last, one);
        let below_half = int(self, (1 << (dropped - 1)) - 1);
        let raised = self.add(bits, below_half);
        let raised = self.add(raised, odd);
        let kept = int(self, !((1 << dropped) - 1));
        let cut = self.binary(Binary::And, raised, kept);
        let mut result = self.bitcast(cut, DType::F32);
        if half == DType::F16 {
            let size = self.abs(result);
            let large = self.compare_number(Compare::Gt, size, 65504.0);
            let infinite = self.mul_number(result, f64::INFINITY);
            result = self.select(large, infinite, result);
            // Below the least normal number the steps are those of f32 just above 1/2.
            let own = self.abs(x);
            let shifted = self.add_number(own, 0.5);
            let small = self.add_number(shifted, -0.5);
            let minus = self.neg(small);
            let negative = self.compare_number(Compare::Lt, x, 0.0);
            let small = self.select(negative, minus, small);
            let tiny = self.compare_number(Compare::Lt, own, 6.103_515_625e-5);
            result = self.select(tiny, small, result);
        }
        let ordinary = self.compare(Compare::Eq, x, x);
        self.select(ordinary, result, x)
    }

    /// -1, 0 or 1; NaN counts as zero.
    pub fn sign(&mut self, x: Scalar) -> Scalar {
        let dtype = self.dtype(x);
        if dtype == DType::Bool {
            return x;
        }
        let (positive, negative) = (self.compare_number(Compare::Gt, x, 0.0), self.compare_number(Compare::Lt, x, 0.0));
        let (one, zero) = (self.number(x, 1.0), self.number(x, 0.0));
        let minus = self.number(x, -1.0);
        let rest = if dtype == DType::U8 { zero } else { self.select(negative, minus, zero) };
        self.select(positive, one, rest)
    }

    /// The largest integer not above `a / b`, as Python's `//`.
    pub fn floor_div(&mut self, a: Scalar, b: Scalar) -> Scalar {
        if self.dtype(a).is_float() {
            // From the remainder, so that the quotient is right where the division rounds up to an integer.
            let remainder = self.binary(Binary::Rem, a, b);
            let exact = self.sub(a, remainder);
            let quotient = self.div(exact, b);
            let wrong_side = self.opposite_signs(remainder, b);
            let less = self.add_number(quotient, -1.0);
            let quotient = self.select(wrong_side, less, quotient);
            let floor = self.unary(Unary::Floor, quotient);
            let off = self.sub(quotient, floor);
            let far = self.compare_number(Compare::Gt, off, 0.5);
            let next = self.add_number(floor, 1.0);
            let rounded = self.select(far, next, floor);
            // A zero quotient has the sign of the true one; a zero divisor gives the infinity or NaN of a plain division.
            let plain = self.div(a, b);
            let zero = self.compare_number(Compare::Eq, quotient, 0.0);
            let signed = self.mul_number(plain, 0.0);
            let rounded = self.select(zero, signed, rounded);
            let by_zero = self.compare_number(Compare::Eq, b, 0.0);
            return self.select(by_zero, plain, rounded);
        }
        let quotient = self.div(a, b);
        if self.dtype(a) == DType::U8 || self.dtype(a) == DType::Bool {
            return quotient;
        }
        let remainder = self.binary(Binary::Rem, a, b);
        let wrong_side = self.opposite_signs(remainder, b);
        let less = self.add_number(quotient, -1.0);
        self.select(wrong_side, less, quotient)
    }

    /// The remainder with the sign of the divisor, as Python's `%`.
    pub fn remainder(&mut self, a: Scalar, b: Scalar) -> Scalar {
        let remainder = self.binary(Binary::Rem, a, b);
        if self.dtype(a) == DType::U8 || self.dtype(a) == DType::Bool {
            return remainder;
        }
        let wrong_side = self.opposite_signs(remainder, b);
        let moved = self.add(remainder, b);
        self.select(wrong_side, moved, remainder)
    }

    /// Whether `a` is not zero and has the other sign than `b`.
    fn opposite_signs(&mut self, a: Scalar, b: Scalar) -> Scalar {
        let (a_low, b_low) = (self.compare_number(Compare::Lt, a, 0.0), self.compare_number(Compare::Lt, b, 0.0));
        let differ = self.binary(Binary::Xor, a_low, b_low);
        let nonzero = self.compare_number(Compare::Ne, a, 0.0);
        self.binary(Binary::And, nonzero, differ)
    }
}
