//! The loops of the block evaluator: one operation over slices of one element type.
//!
//! Everything here is inlined into the block evaluator, which is compiled once for each instruction set.

use crate::{
    element::{float_to_i32, float_to_i64},
    special,
};
use bytemuck::Pod;
use taipan_ir::body::{Binary, Compare, Function, Unary};

/// `f` of each element.
#[inline(always)]
pub fn zip1<A: Copy, R>(a: &[A], out: &mut [R], f: impl Fn(A) -> R) {
    for (o, a) in out.iter_mut().zip(a) {
        *o = f(*a);
    }
}

/// `f` of each pair.
#[inline(always)]
pub fn zip2<A: Copy, R>(a: &[A], b: &[A], out: &mut [R], f: impl Fn(A, A) -> R) {
    for ((o, a), b) in out.iter_mut().zip(a).zip(b) {
        *o = f(*a, *b);
    }
}

/// `f` of each triple.
#[inline(always)]
pub fn zip3<A: Copy>(a: &[A], b: &[A], c: &[A], out: &mut [A], f: impl Fn(A, A, A) -> A) {
    for (((o, a), b), c) in out.iter_mut().zip(a).zip(b).zip(c) {
        *o = f(*a, *b, *c);
    }
}

/// A polynomial of each element by Horner's rule, coefficients from the highest power.
#[inline(always)]
pub fn polynomial<T: Copy>(coefficients: &[f64], x: &[T], out: &mut [T], round: impl Fn(f64) -> T, fma: impl Fn(T, T, T) -> T) {
    const WIDTH: usize = 32;
    let Some((first, rest)) = coefficients.split_first() else { return };
    let whole = x.len() / WIDTH * WIDTH;
    for (o, x) in out[..whole].chunks_exact_mut(WIDTH).zip(x[..whole].chunks_exact(WIDTH)) {
        let mut sum = [round(*first); WIDTH];
        for c in rest {
            let c = round(*c);
            for k in 0..WIDTH {
                sum[k] = fma(sum[k], x[k], c);
            }
        }
        o.copy_from_slice(&sum);
    }
    for (o, x) in out[whole..].iter_mut().zip(&x[whole..]) {
        let mut sum = round(*first);
        for c in rest {
            sum = fma(sum, *x, round(*c));
        }
        *o = sum;
    }
}

/// The second where the first holds, else the third.
#[inline(always)]
pub fn select<T: Copy>(condition: &[u8], yes: &[T], no: &[T], out: &mut [T]) {
    for (((o, c), y), n) in out.iter_mut().zip(condition).zip(yes).zip(no) {
        *o = if *c != 0 { *y } else { *n };
    }
}

/// Whether each pair compares so.
#[inline(always)]
pub fn compare<T: Copy + PartialOrd>(op: Compare, a: &[T], b: &[T], out: &mut [u8]) {
    match op {
        Compare::Eq => zip2(a, b, out, |a, b| u8::from(a == b)),
        Compare::Ne => zip2(a, b, out, |a, b| u8::from(a != b)),
        Compare::Lt => zip2(a, b, out, |a, b| u8::from(a < b)),
        Compare::Le => zip2(a, b, out, |a, b| u8::from(a <= b)),
        Compare::Gt => zip2(a, b, out, |a, b| u8::from(a > b)),
        Compare::Ge => zip2(a, b, out, |a, b| u8::from(a >= b)),
    }
}

/// A routine of each element, or pair.
pub fn call<T: Copy>(function: Function, a: &[T], b: &[T], out: &mut [T], widen: fn(T) -> f64, round: fn(f64) -> T) {
    zip2(a, b, out, |a, b| round(special::call(function, widen(a), widen(b))));
}

/// `fast` where the guard holds, else the routine of `x`.
#[inline(always)]
pub fn rescue<T: Copy>(function: Function, guard: &[u8], fast: &[T], x: &[T], out: &mut [T], widen: fn(T) -> f64, round: fn(f64) -> T) {
    out.copy_from_slice(fast);
    if guard.iter().all(|g| *g != 0) {
        return;
    }
    for (i, o) in out.iter_mut().enumerate() {
        if guard[i] == 0 {
            *o = round(special::call(function, widen(x[i]), 0.0));
        }
    }
}

/// A register element.
pub trait Lane: Pod {
    /// One operation on one value each.
    fn unary(op: Unary, a: &[Self], out: &mut [Self]);
    /// One operation on two values each; false on an integer division by zero.
    fn binary(op: Binary, a: &[Self], b: &[Self], out: &mut [Self]) -> bool;
    /// The value as the widest type of its category.
    fn wide(self) -> Wide;
    /// Conversion, as a cast node means it.
    fn from_lane<F: Lane>(x: F) -> Self;
}

/// A value between two casts.
pub enum Wide {
    /// Of an integer or a `bool`.
    Integer(i64),
    /// Of a float.
    Float(f64),
}

/// A `bool` in memory.
#[derive(Clone, Copy, PartialEq, PartialOrd, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct Truth(u8);

macro_rules! float_lane {
    ($($t:ident)*) => {$(
        impl Lane for $t {
            #[inline(always)]
            fn unary(op: Unary, a: &[$t], out: &mut [$t]) {
                match op {
                    Unary::Neg => zip1(a, out, |x| -x),
                    Unary::Abs => zip1(a, out, |x| x.abs()),
                    Unary::Sqrt => zip1(a, out, |x| x.sqrt()),
                    Unary::Floor => zip1(a, out, |x| x.floor()),
                    Unary::Ceil => zip1(a, out, |x| x.ceil()),
                    Unary::Trunc => zip1(a, out, |x| x.trunc()),
                    Unary::Round => zip1(a, out, |x| x.round_ties_even()),
                    Unary::Not => zip1(a, out, |x| $t::from(u8::from(x == 0.0))),
                }
            }
            #[inline(always)]
            fn binary(op: Binary, a: &[$t], b: &[$t], out: &mut [$t]) -> bool {
                match op {
                    Binary::Add => zip2(a, b, out, |a, b| a + b),
                    Binary::Sub => zip2(a, b, out, |a, b| a - b),
                    Binary::Mul => zip2(a, b, out, |a, b| a * b),
                    Binary::Div => zip2(a, b, out, |a, b| a / b),
                    Binary::Rem => zip2(a, b, out, |a, b| a % b),
                    Binary::Min => zip2(a, b, out, |a, b| if a < b || a.is_nan() { a } else { b }),
                    Binary::Max => zip2(a, b, out, |a, b| if a > b || a.is_nan() { a } else { b }),
                    // Bits of floats are never combined: the op's rule refuses them.
                    Binary::And | Binary::Or | Binary::Xor | Binary::Shl | Binary::Shr => {}
                }
                true
            }
            #[inline(always)]
            fn wide(self) -> Wide { Wide::Float(f64::from(self)) }
            #[inline(always)]
            fn from_lane<F: Lane>(x: F) -> $t {
                match x.wide() {
                    Wide::Integer(i) => i as $t,
                    Wide::Float(x) => x as $t,
                }
            }
        }
    )*};
}
float_lane! { f32 f64 }

macro_rules! integer_lane {
    ($($t:ident $from_float:ident;)*) => {$(
        impl Lane for $t {
            #[inline(always)]
            fn unary(op: Unary, a: &[$t], out: &mut [$t]) {
                match op {
                    Unary::Neg => zip1(a, out, |x| x.wrapping_neg()),
                    #[allow(unused_comparisons)]
                    Unary::Abs => zip1(a, out, |x| if x < 0 { x.wrapping_neg() } else { x }),
                    Unary::Not => zip1(a, out, |x| !x),
                    Unary::Sqrt | Unary::Floor | Unary::Ceil | Unary::Trunc | Unary::Round => out.copy_from_slice(a),
                }
            }
            #[inline(always)]
            fn binary(op: Binary, a: &[$t], b: &[$t], out: &mut [$t]) -> bool {
                match op {
                    Binary::Add => zip2(a, b, out, $t::wrapping_add),
                    Binary::Sub => zip2(a, b, out, $t::wrapping_sub),
                    Binary::Mul => zip2(a, b, out, $t::wrapping_mul),
                    Binary::Div | Binary::Rem if b.contains(&0) => return false,
                    Binary::Div => zip2(a, b, out, $t::wrapping_div),
                    Binary::Rem => zip2(a, b, out, $t::wrapping_rem),
                    Binary::Min => zip2(a, b, out, $t::min),
                    Binary::Max => zip2(a, b, out, $t::max),
                    Binary::And => zip2(a, b, out, |a, b| a & b),
                    Binary::Or => zip2(a, b, out, |a, b| a | b),
                    Binary::Xor => zip2(a, b, out, |a, b| a ^ b),
                    Binary::Shl => zip2(a, b, out, |a, b| if (b as u64) < u64::from($t::BITS) { a << b } else { 0 }),
                    Binary::Shr => zip2(a, b, out, |a, b| a >> (b as u64).min(u64::from($t::BITS) - 1)),
                }
                true
            }
            #[inline(always)]
            fn wide(self) -> Wide { Wide::Integer(self as i64) }
            #[inline(always)]
            fn from_lane<F: Lane>(x: F) -> $t {
                match x.wide() {
                    Wide::Integer(i) => i as $t,
                    Wide::Float(x) => $from_float(x) as $t,
                }
            }
        }
    )*};
}
integer_lane! { u8 float_to_i32; i8 float_to_i32; i16 float_to_i32; i32 float_to_i32; i64 float_to_i64; }

impl Lane for Truth {
    #[inline(always)]
    fn unary(op: Unary, a: &[Truth], out: &mut [Truth]) {
        match op {
            Unary::Not => zip1(a, out, |x| Truth(x.0 ^ 1)),
            _ => out.copy_from_slice(a),
        }
    }
    #[inline(always)]
    fn binary(op: Binary, a: &[Truth], b: &[Truth], out: &mut [Truth]) -> bool {
        match op {
            Binary::Add | Binary::Or | Binary::Max => zip2(a, b, out, |a, b| Truth(a.0 | b.0)),
            Binary::Mul | Binary::And | Binary::Min => zip2(a, b, out, |a, b| Truth(a.0 & b.0)),
            Binary::Sub | Binary::Xor => zip2(a, b, out, |a, b| Truth(a.0 ^ b.0)),
            Binary::Div | Binary::Rem if b.contains(&Truth(0)) => return false,
            Binary::Div => out.copy_from_slice(a),
            Binary::Rem => out.fill(Truth(0)),
            Binary::Shl | Binary::Shr => out.copy_from_slice(a),
        }
        true
    }
    #[inline(always)]
    fn wide(self) -> Wide {
        Wide::Integer(i64::from(self.0))
    }
    #[inline(always)]
    fn from_lane<F: Lane>(x: F) -> Truth {
        match x.wide() {
            Wide::Integer(i) => Truth(u8::from(i != 0)),
            Wide::Float(x) => Truth(u8::from(x != 0.0)),
        }
    }
}
