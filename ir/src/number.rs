//! A Python number as an op sees it.

use crate::DType;
use std::fmt;

/// A Python `bool`, `int`, `float` or `complex` given where an op takes a scalar.
///
/// Equality is by kind and bits, so that `1` and `1.0`, and `0.0` and `-0.0`, are different constants of a graph.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// `True` or `False`.
    Bool(bool),
    /// An integer that fits 64 bits.
    Int(i64),
    /// A float.
    Float(f64),
    /// A real part and an imaginary part.
    Complex(f64, f64),
}

impl Number {
    /// The value as `f64`; of a complex number the real part. An op that doesn't know complex numbers is not given any.
    pub fn as_f64(self) -> f64 {
        match self {
            Number::Bool(b) => f64::from(u8::from(b)),
            Number::Int(i) => i as f64,
            Number::Float(x) | Number::Complex(x, _) => x,
        }
    }

    /// The value as `i64`, floats truncated towards zero; of a complex number the real part.
    pub fn as_i64(self) -> i64 {
        match self {
            Number::Bool(b) => i64::from(b),
            Number::Int(i) => i,
            Number::Float(x) | Number::Complex(x, _) => x as i64,
        }
    }

    /// Whether the value is not zero.
    pub fn truth(self) -> bool {
        match self {
            Number::Bool(b) => b,
            Number::Int(i) => i != 0,
            Number::Float(x) => x != 0.0,
            Number::Complex(re, im) => re != 0.0 || im != 0.0,
        }
    }

    /// The real part and the imaginary part.
    pub fn parts(self) -> (f64, f64) {
        match self {
            Number::Complex(re, im) => (re, im),
            other => (other.as_f64(), 0.0),
        }
    }

    /// Whether the value, or a part of it, is not a number.
    pub fn is_nan(self) -> bool {
        let (re, im) = self.parts();
        re.is_nan() || im.is_nan()
    }

    /// The dtype PyTorch gives a tensor made of this number under default dtype `float`.
    pub fn dtype(self, float: DType) -> DType {
        match self {
            Number::Bool(_) => DType::Bool,
            Number::Int(_) => DType::I64,
            Number::Float(_) => float,
            Number::Complex(..) => float.complex(),
        }
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Number) -> bool {
        match (self, other) {
            (Number::Bool(a), Number::Bool(b)) => a == b,
            (Number::Int(a), Number::Int(b)) => a == b,
            (Number::Float(a), Number::Float(b)) => a.to_bits() == b.to_bits(),
            (Number::Complex(a, b), Number::Complex(c, d)) => (a.to_bits(), b.to_bits()) == (c.to_bits(), d.to_bits()),
            _ => false,
        }
    }
}
impl Eq for Number {}

impl fmt::Display for Number {
    /// Python's text: `True`, `3`, `1e-05`, `inf`; of a complex number always with both parts, `(1.0+2.0j)`, so that it reads back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Number::Bool(true) => f.write_str("True"),
            Number::Bool(false) => f.write_str("False"),
            Number::Int(i) => write!(f, "{i}"),
            Number::Float(x) => f.write_str(&float_text(x)),
            Number::Complex(re, im) => {
                let sign = if im.is_sign_negative() && !im.is_nan() { "" } else { "+" };
                write!(f, "({}{sign}{}j)", float_text(re), float_text(im))
            }
        }
    }
}

/// `repr(x)` of a Python float: the shortest digits that read back, exponent form outside `1e-4 <= |x| < 1e16`.
pub fn float_text(x: f64) -> String {
    if x.is_nan() {
        return "nan".into();
    }
    if x.is_infinite() {
        return if x > 0.0 { "inf".into() } else { "-inf".into() };
    }
    if x == 0.0 || (1e-4..1e16).contains(&x.abs()) {
        let text = format!("{x}");
        return if text.contains('.') { text } else { text + ".0" };
    }
    let text = format!("{x:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::float_text;

    #[test]
    fn floats_print_as_python_prints_them() {
        for (x, text) in [
            (1.0, "1.0"),
            (1e-5, "1e-05"),
            (0.1, "0.1"),
            (1e16, "1e+16"),
            (1.5e300, "1.5e+300"),
            (123456.789, "123456.789"),
            (-0.0, "-0.0"),
        ] {
            assert_eq!(float_text(x), text);
        }
    }
}
