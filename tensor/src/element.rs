//! Rust types of elements, and dispatch from a [`DType`] to them.

use bytemuck::Pod;
use half::{bf16, f16};
use num_complex::Complex;
use taipan_ir::{DType, Number};

/// A Rust type that is the element type of some [`DType`].
pub trait Element: Copy + Send + Sync + PartialEq + 'static {
    /// The dtype.
    const DTYPE: DType;
    /// How an element lies in memory; for all but `bool` the type itself.
    type Plain: Pod + Send + Sync;
    /// Reads an element.
    fn load(plain: Self::Plain) -> Self;
    /// Writes an element.
    fn store(self) -> Self::Plain;
    /// The value as a Python number.
    fn number(self) -> Number;
    /// The number as an element, converted as a cast does.
    fn from_number(number: Number) -> Self;
}

/// An element type that can be added and multiplied: its memory form is itself.
pub trait Additive: Element<Plain = Self> + Pod + Default {
    /// Rounded from `f64`.
    fn from_f64(x: f64) -> Self;
    /// The sum, integers wrapping.
    fn plus(self, other: Self) -> Self;
    /// The product, integers wrapping.
    fn times(self, other: Self) -> Self;
    /// Zero.
    fn zero() -> Self {
        Self::default()
    }
    /// One.
    fn one() -> Self;
}

/// An element type whose values have an order.
pub trait Arithmetic: Additive + PartialOrd {
    /// Whether the value is NaN.
    fn is_nan(self) -> bool;
    /// The value as `f64`.
    fn as_f64(self) -> f64;
    /// The value as an integer, truncated.
    fn as_i64(self) -> i64;
    /// The least value; minus infinity for floats.
    fn least() -> Self;
    /// The greatest value; infinity for floats.
    fn greatest() -> Self;
    /// The difference, integers wrapping.
    fn minus(self, other: Self) -> Self;
    /// The quotient by a positive count, rounded down among integers.
    fn over(self, count: i64) -> Self;
}

/// A type that kernels of floats compute in.
pub trait Real:
    Arithmetic
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
    + std::ops::Neg<Output = Self>
{
    /// The square root.
    fn root(self) -> Self;
}
impl Real for f32 {
    fn root(self) -> f32 {
        self.sqrt()
    }
}
impl Real for f64 {
    fn root(self) -> f64 {
        self.sqrt()
    }
}

/// A float becomes an integer as on x86-64: out of range and NaN give the least value.
pub fn float_to_i64(x: f64) -> i64 {
    if x >= 9_223_372_036_854_775_808.0 || x.is_nan() { i64::MIN } else { x as i64 }
}

/// As [`float_to_i64`] for 32 bits.
pub fn float_to_i32(x: f64) -> i32 {
    if (-2_147_483_649.0..2_147_483_648.0).contains(&x) { x as i32 } else { i32::MIN }
}

macro_rules! integers {
    ($($t:ident $d:ident $from_float:expr;)*) => {$(
        impl Element for $t {
            const DTYPE: DType = DType::$d;
            type Plain = $t;
            fn load(plain: $t) -> $t { plain }
            fn store(self) -> $t { self }
            fn number(self) -> Number { Number::Int(self as i64) }
            fn from_number(number: Number) -> $t {
                match number {
                    Number::Bool(b) => b as $t,
                    Number::Int(i) => i as $t,
                    Number::Float(x) | Number::Complex(x, _) => $from_float(x) as $t,
                }
            }
        }
        impl Additive for $t {
            fn from_f64(x: f64) -> $t { $from_float(x) as $t }
            fn plus(self, other: $t) -> $t { self.wrapping_add(other) }
            fn times(self, other: $t) -> $t { self.wrapping_mul(other) }
            fn one() -> $t { 1 }
        }
        impl Arithmetic for $t {
            fn is_nan(self) -> bool { false }
            fn as_f64(self) -> f64 { self as f64 }
            fn as_i64(self) -> i64 { self as i64 }
            fn least() -> $t { $t::MIN }
            fn greatest() -> $t { $t::MAX }
            fn minus(self, other: $t) -> $t { self.wrapping_sub(other) }
            fn over(self, count: i64) -> $t { (self as i64).div_euclid(count) as $t }
        }
    )*};
}
integers! { u8 U8 float_to_i32; i8 I8 float_to_i32; i16 I16 float_to_i32; i32 I32 float_to_i32; i64 I64 float_to_i64; }

macro_rules! floats {
    ($($t:ident $d:ident $to:expr, $from:expr;)*) => {$(
        impl Element for $t {
            const DTYPE: DType = DType::$d;
            type Plain = $t;
            fn load(plain: $t) -> $t { plain }
            fn store(self) -> $t { self }
            fn number(self) -> Number { Number::Float($to(self)) }
            fn from_number(number: Number) -> $t { $from(number.as_f64()) }
        }
        impl Additive for $t {
            fn from_f64(x: f64) -> $t { $from(x) }
            fn plus(self, other: $t) -> $t { self + other }
            fn times(self, other: $t) -> $t { self * other }
            fn one() -> $t { $from(1.0) }
        }
        impl Arithmetic for $t {
            fn is_nan(self) -> bool { $t::is_nan(self) }
            fn as_f64(self) -> f64 { $to(self) }
            fn as_i64(self) -> i64 { float_to_i64($to(self)) }
            fn least() -> $t { $t::NEG_INFINITY }
            fn greatest() -> $t { $t::INFINITY }
            fn minus(self, other: $t) -> $t { self - other }
            fn over(self, count: i64) -> $t { $from(self.as_f64() / count as f64) }
        }
    )*};
}
floats! {
    f16 F16 f16::to_f64, |x: f64| f16::from_f32(x as f32);
    bf16 BF16 bf16::to_f64, |x: f64| bf16::from_f32(x as f32);
    f32 F32 f64::from, |x: f64| x as f32;
    f64 F64 f64::from, |x: f64| x;
}

macro_rules! complexes {
    ($($part:ident $d:ident;)*) => {$(
        impl Element for Complex<$part> {
            const DTYPE: DType = DType::$d;
            type Plain = Self;
            fn load(plain: Self) -> Self { plain }
            fn store(self) -> Self { self }
            fn number(self) -> Number { Number::Complex(f64::from(self.re), f64::from(self.im)) }
            fn from_number(number: Number) -> Self {
                let (re, im) = number.parts();
                Complex::new(re as $part, im as $part)
            }
        }
        impl Additive for Complex<$part> {
            fn from_f64(x: f64) -> Self { Complex::new(x as $part, 0.0) }
            fn plus(self, other: Self) -> Self { self + other }
            fn times(self, other: Self) -> Self { self * other }
            fn one() -> Self { Complex::new(1.0, 0.0) }
        }
    )*};
}
complexes! { f32 C64; f64 C128; }

impl Element for bool {
    const DTYPE: DType = DType::Bool;
    type Plain = u8;
    fn load(plain: u8) -> bool {
        plain != 0
    }
    fn store(self) -> u8 {
        u8::from(self)
    }
    fn number(self) -> Number {
        Number::Bool(self)
    }
    fn from_number(number: Number) -> bool {
        number.truth()
    }
}

/// Runs `$body` with `$t` as the memory type of a dtype; `bool` is `u8`.
#[macro_export]
macro_rules! with_plain {
    ($dtype:expr, $t:ident => $body:expr) => {
        match $dtype {
            taipan_ir::DType::Bool | taipan_ir::DType::U8 => {
                type $t = u8;
                $body
            }
            taipan_ir::DType::I8 => {
                type $t = i8;
                $body
            }
            taipan_ir::DType::I16 => {
                type $t = i16;
                $body
            }
            taipan_ir::DType::I32 => {
                type $t = i32;
                $body
            }
            taipan_ir::DType::I64 => {
                type $t = i64;
                $body
            }
            taipan_ir::DType::F16 => {
                type $t = half::f16;
                $body
            }
            taipan_ir::DType::BF16 => {
                type $t = half::bf16;
                $body
            }
            taipan_ir::DType::F32 => {
                type $t = f32;
                $body
            }
            taipan_ir::DType::F64 => {
                type $t = f64;
                $body
            }
            taipan_ir::DType::C64 => {
                type $t = num_complex::Complex<f32>;
                $body
            }
            taipan_ir::DType::C128 => {
                type $t = num_complex::Complex<f64>;
                $body
            }
        }
    };
}

/// Runs `$body` with `$t` as the unsigned integer of an element's size: for kernels that only move elements.
#[macro_export]
macro_rules! with_bits {
    ($dtype:expr, $t:ident => $body:expr) => {
        match $dtype.size() {
            1 => {
                type $t = u8;
                $body
            }
            2 => {
                type $t = u16;
                $body
            }
            4 => {
                type $t = u32;
                $body
            }
            16 => {
                type $t = u128;
                $body
            }
            _ => {
                type $t = u64;
                $body
            }
        }
    };
}

/// Runs `$body` with `$t` as the type of the parts of a complex dtype.
#[macro_export]
macro_rules! with_parts {
    ($dtype:expr, $t:ident => $body:expr) => {
        if $dtype == taipan_ir::DType::C128 {
            type $t = f64;
            $body
        } else {
            type $t = f32;
            $body
        }
    };
}

/// Runs `$body` with `$t` as `f32` or `f64`, the types kernels of floats compute in.
#[macro_export]
macro_rules! with_real {
    ($dtype:expr, $t:ident => $body:expr) => {
        if $dtype == taipan_ir::DType::F64 {
            type $t = f64;
            $body
        } else {
            type $t = f32;
            $body
        }
    };
}

/// Runs `$body` with `$t` as the type [`crate::write::comparable`] gives tensors of a dtype: `f32`, `f64` or `i64`.
#[macro_export]
macro_rules! with_comparable {
    ($dtype:expr, $t:ident => $body:expr) => {
        match $dtype {
            taipan_ir::DType::F64 => {
                type $t = f64;
                $body
            }
            taipan_ir::DType::F32 => {
                type $t = f32;
                $body
            }
            _ => {
                type $t = i64;
                $body
            }
        }
    };
}
