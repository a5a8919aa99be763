//! Sizes that may be symbolic, and the one trait through which a rule may look at them.

use crate::OpError;
use std::fmt;

/// An expression over size symbols, hash-consed in the dim table of one compile.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct ExprId(pub u32);

/// A size, stride or offset in elements: a number, or an expression of one compile.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dim {
    /// A known number.
    Is(i64),
    /// An expression over symbols.
    Sym(ExprId),
}

/// Integer arithmetic on dims; division and remainder round towards negative infinity.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum DimOp {
    Add,
    Sub,
    Mul,
    FloorDiv,
    Mod,
    Max,
    Min,
}

/// A question about two dims.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Rel {
    Eq,
    Ne,
    Lt,
    Le,
    /// The first divides the second.
    Divides,
}

/// The only way a rule may look at a size. Plain execution answers from numbers; tracing answers and records a guard.
pub trait Dims {
    /// The result of an arithmetic operation.
    fn calc(&mut self, op: DimOp, a: Dim, b: Dim) -> Dim;
    /// Whether `a rel b` holds. Fails with [`OpError::DataDependent`] on a size only known at run time.
    fn decide(&mut self, rel: Rel, a: Dim, b: Dim) -> Result<bool, OpError>;
    /// A new size at least `low`, only known at run time.
    fn fresh(&mut self, low: i64) -> Dim;
    /// The number a dim stands for; on a symbol this specialises, recording a guard.
    fn number(&mut self, a: Dim) -> Result<i64, OpError>;
}

impl Dim {
    /// The number, where the dim is one.
    pub fn known(self) -> Option<i64> {
        match self {
            Dim::Is(n) => Some(n),
            Dim::Sym(_) => None,
        }
    }
}

impl From<i64> for Dim {
    fn from(n: i64) -> Dim {
        Dim::Is(n)
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dim::Is(n) => write!(f, "{n}"),
            Dim::Sym(e) => write!(f, "s{}", e.0),
        }
    }
}

/// [`Dims`] over numbers only.
#[derive(Default, Debug, Clone, Copy)]
pub struct NumberDims;

/// `a op b` on numbers; division by zero gives zero, which no valid rule reaches.
pub fn calc_numbers(op: DimOp, a: i64, b: i64) -> i64 {
    match op {
        DimOp::Add => a.wrapping_add(b),
        DimOp::Sub => a.wrapping_sub(b),
        DimOp::Mul => a.wrapping_mul(b),
        DimOp::FloorDiv if b == 0 => 0,
        DimOp::FloorDiv => a.div_euclid(b) - i64::from(b < 0 && a.rem_euclid(b) != 0),
        DimOp::Mod if b == 0 => 0,
        DimOp::Mod => {
            let r = a.rem_euclid(b);
            if b < 0 && r != 0 { r + b } else { r }
        }
        DimOp::Max => a.max(b),
        DimOp::Min => a.min(b),
    }
}

/// `a rel b` on numbers.
pub fn decide_numbers(rel: Rel, a: i64, b: i64) -> bool {
    match rel {
        Rel::Eq => a == b,
        Rel::Ne => a != b,
        Rel::Lt => a < b,
        Rel::Le => a <= b,
        Rel::Divides => a != 0 && b % a == 0,
    }
}

impl Dims for NumberDims {
    fn calc(&mut self, op: DimOp, a: Dim, b: Dim) -> Dim {
        match (a, b) {
            (Dim::Is(a), Dim::Is(b)) => Dim::Is(calc_numbers(op, a, b)),
            // A symbol never reaches plain execution; answering with it keeps the mistake visible in the result's facts.
            (Dim::Sym(_), _) => a,
            (_, Dim::Sym(_)) => b,
        }
    }

    fn decide(&mut self, rel: Rel, a: Dim, b: Dim) -> Result<bool, OpError> {
        match (a, b) {
            (Dim::Is(a), Dim::Is(b)) => Ok(decide_numbers(rel, a, b)),
            _ => Err(OpError::DataDependent),
        }
    }

    fn fresh(&mut self, low: i64) -> Dim {
        Dim::Is(low)
    }

    fn number(&mut self, a: Dim) -> Result<i64, OpError> {
        a.known().ok_or(OpError::DataDependent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_rounds_as_python_does() {
        for (a, b, q, r) in [(7, 2, 3, 1), (-7, 2, -4, 1), (7, -2, -4, -1), (-7, -2, 3, -1), (6, -2, -3, 0)] {
            assert_eq!(calc_numbers(DimOp::FloorDiv, a, b), q, "{a} // {b}");
            assert_eq!(calc_numbers(DimOp::Mod, a, b), r, "{a} % {b}");
        }
    }
}
