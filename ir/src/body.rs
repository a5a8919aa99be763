//! Scalar bodies: the one text of a pointwise op's maths.
//!
//! A body is a list of typed nodes in evaluation order. Every executor runs the same nodes: the block evaluator one node at a time over
//! a block of elements, machine code all of them per element. So what a node means is fixed here to the last bit: IEEE arithmetic
//! rounded to nearest even in the node's own type, no implicit fused multiply-add, integers wrapping. Half types never appear: they
//! are read to `f32` and rounded when the result is stored. Mathematical functions are expanded into nodes ([`crate::math`]), or are
//! [`Node::Call`]s of one named routine.

use crate::{DType, Number, op::Arg};

/// A value of a body under construction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Scalar(pub u32);

/// A body under construction: a list of nodes in evaluation order.
#[derive(Clone, Debug, Default)]
pub struct Body {
    nodes: Vec<(Node, DType)>,
    /// The half type whose values these are, where they are computed in `f32` for its sake.
    half: Option<DType>,
    /// Values that the half type holds exactly.
    halves: Vec<Scalar>,
}

/// One step of a body. The type of its result stands beside it in the list.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Node {
    /// The element of an input.
    Input(u32),
    /// A number, converted to the node's type.
    Constant(Number),
    /// An operation on one value of the node's type.
    Unary(Unary, Scalar),
    /// An operation on two values of the node's type.
    Binary(Binary, Scalar, Scalar),
    /// A comparison of two values of one type; its result is `bool`.
    Compare(Compare, Scalar, Scalar),
    /// The second value where the first, a `bool`, holds; else the third.
    Select(Scalar, Scalar, Scalar),
    /// Conversion to the node's type. A float becomes an integer as on x86-64: truncated, out of range and NaN giving the least value
    /// of a 32- or 64-bit type; narrower types are the low bits of that. Anything but zero is a true `bool`.
    Cast(Scalar),
    /// The same bits read as the node's type, which has the same size.
    Bitcast(Scalar),
    /// `a * b + c`, rounded once.
    Fma(Scalar, Scalar, Scalar),
    /// A routine evaluated in `f64` and rounded to the node's type.
    Call(Function, Scalar, Option<Scalar>),
    /// `fast` where `guard` holds; elsewhere `function` of `x`, as [`Node::Call`].
    Rescue {
        /// A `bool`.
        guard: Scalar,
        /// The value in the common case.
        fast: Scalar,
        /// The routine for the rest.
        function: Function,
        /// Its argument.
        x: Scalar,
    },
}

/// Operations on one value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Unary {
    Neg,
    Abs,
    Sqrt,
    Floor,
    Ceil,
    Trunc,
    /// To the nearest integer, halves to the even one.
    Round,
    /// Logical on `bool`, of all bits on integers.
    Not,
}

/// Operations on two values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    /// Integers round towards zero; an integer divisor of zero is an error of the whole op.
    Div,
    /// The remainder of [`Binary::Div`], with the sign of the dividend; `fmod` on floats.
    Rem,
    /// NaN if either is.
    Min,
    /// NaN if either is.
    Max,
    And,
    Or,
    Xor,
    /// Zero where the count is negative or not less than the width.
    Shl,
    /// Arithmetic; the sign where the count is negative or not less than the width.
    Shr,
}

/// Comparisons.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// Routines too long for a body.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Function {
    Exp2,
    Expm1,
    Log2,
    Log10,
    Log1p,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Erf,
    Erfc,
    ErfInv,
    Lgamma,
    Digamma,
    Pow,
    Atan2,
    Hypot,
    BesselI0,
    BesselI0e,
    BesselI1,
    BesselI1e,
    BesselJ0,
    BesselJ1,
    BesselK0,
    BesselK0e,
    BesselK1,
    BesselK1e,
    BesselY0,
    BesselY1,
    /// The lower regularised incomplete gamma function of (a, x).
    GammaP,
    /// The upper one.
    GammaQ,
    /// The scaled complementary error function.
    Erfcx,
    /// The logarithm of the normal distribution function.
    LogNdtr,
    /// The inverse of the normal distribution function.
    Ndtri,
    /// The Hurwitz zeta function of (x, q).
    Zeta,
    Trigamma,
}

impl Body {
    /// The nodes with their types, in evaluation order.
    pub fn nodes(&self) -> &[(Node, DType)] {
        &self.nodes
    }

    /// The half type whose elements the body is computed for, where it is.
    pub fn half(&self) -> Option<DType> {
        self.half
    }

    /// Says that the body is computed for the elements of a half type.
    pub fn set_half(&mut self, half: Option<DType>) {
        self.half = half;
    }

    /// Notes that the half type holds this value exactly.
    pub fn note_half(&mut self, value: Scalar) {
        self.halves.push(value);
    }

    /// The value as an element of the op's type: rounded where that is a half type. Ops whose numbers PyTorch rounds before it computes,
    /// or whose steps it rounds, do so by this.
    pub fn rounded(&mut self, value: Scalar) -> Scalar {
        let Some(half) = self.half.filter(|_| self.dtype(value) == DType::F32) else { return value };
        if self.halves.contains(&value) {
            return value;
        }
        let result = match self.known(value) {
            Some(number) => self.constant(Number::Float(half.round(number.as_f64())), DType::F32),
            None => self.round_to_half(value, half),
        };
        self.note_half(result);
        result
    }

    /// The type of a value.
    pub fn dtype(&self, value: Scalar) -> DType {
        self.nodes[value.0 as usize].1
    }

    /// The number a value is, where it is a constant.
    pub fn known(&self, value: Scalar) -> Option<Number> {
        match self.nodes[value.0 as usize].0 {
            Node::Constant(number) => Some(number),
            _ => None,
        }
    }

    /// Appends a node, or finds the same node made before.
    pub fn push(&mut self, node: Node, dtype: DType) -> Scalar {
        if let Some(at) = self.nodes.iter().position(|(n, d)| *d == dtype && *n == node) {
            return Scalar(at as u32);
        }
        self.nodes.push((node, dtype));
        Scalar(self.nodes.len() as u32 - 1)
    }

    /// Input number `index`, read as `dtype`.
    pub fn input(&mut self, index: u32, dtype: DType) -> Scalar {
        self.push(Node::Input(index), dtype)
    }

    /// A constant of type `dtype`.
    pub fn constant(&mut self, number: Number, dtype: DType) -> Scalar {
        self.push(Node::Constant(number), dtype)
    }

    /// A constant of the type of `like`.
    pub fn number(&mut self, like: Scalar, number: f64) -> Scalar {
        let dtype = self.dtype(like);
        let number = if dtype.is_float() { Number::Float(number) } else { Number::Int(number as i64) };
        self.constant(number, dtype)
    }

    /// The argument as a value of the type of `like`: a tensor's element, or a number.
    pub fn operand(&mut self, like: Scalar, arg: &Arg<Scalar>) -> Scalar {
        let dtype = self.dtype(like);
        match arg {
            Arg::Tensor(s) => self.cast(*s, dtype),
            Arg::Number(n) => self.constant(*n, dtype),
            Arg::Bool(b) => self.constant(Number::Bool(*b), dtype),
            Arg::Int(d) => self.constant(Number::Int(d.known().unwrap_or(0)), dtype),
            // The schema has made sure that nothing else comes here.
            _ => self.constant(Number::Int(0), dtype),
        }
    }

    /// One operation on one value.
    pub fn unary(&mut self, op: Unary, a: Scalar) -> Scalar {
        let dtype = self.dtype(a);
        self.push(Node::Unary(op, a), dtype)
    }

    /// One operation on two values of the type of the first.
    pub fn binary(&mut self, op: Binary, a: Scalar, b: Scalar) -> Scalar {
        let dtype = self.dtype(a);
        let b = self.cast(b, dtype);
        self.push(Node::Binary(op, a, b), dtype)
    }

    /// A comparison.
    pub fn compare(&mut self, op: Compare, a: Scalar, b: Scalar) -> Scalar {
        let b = self.cast(b, self.dtype(a));
        self.push(Node::Compare(op, a, b), DType::Bool)
    }

    /// A comparison with a number.
    pub fn compare_number(&mut self, op: Compare, a: Scalar, b: f64) -> Scalar {
        let b = self.number(a, b);
        self.compare(op, a, b)
    }

    /// `yes` where `condition` holds, else `no`.
    pub fn select(&mut self, condition: Scalar, yes: Scalar, no: Scalar) -> Scalar {
        let dtype = self.dtype(yes);
        let no = self.cast(no, dtype);
        self.push(Node::Select(condition, yes, no), dtype)
    }

    /// Conversion; nothing where the type is the same.
    pub fn cast(&mut self, a: Scalar, dtype: DType) -> Scalar {
        if self.dtype(a) == dtype {
            return a;
        }
        self.push(Node::Cast(a), dtype)
    }

    /// Whether the value is not zero.
    pub fn truth(&mut self, a: Scalar) -> Scalar {
        self.cast(a, DType::Bool)
    }

    /// The same bits as another type of the same size.
    pub fn bitcast(&mut self, a: Scalar, dtype: DType) -> Scalar {
        self.push(Node::Bitcast(a), dtype)
    }

    /// `a * b + c` rounded once.
    pub fn fma(&mut self, a: Scalar, b: Scalar, c: Scalar) -> Scalar {
        let dtype = self.dtype(a);
        self.push(Node::Fma(a, b, c), dtype)
    }

    /// A routine of one argument.
    pub fn call(&mut self, function: Function, a: Scalar) -> Scalar {
        let dtype = self.dtype(a);
        self.push(Node::Call(function, a, None), dtype)
    }

    /// A routine of two arguments.
    pub fn call2(&mut self, function: Function, a: Scalar, b: Scalar) -> Scalar {
        let dtype = self.dtype(a);
        self.push(Node::Call(function, a, Some(b)), dtype)
    }

    /// `a + b`.
    pub fn add(&mut self, a: Scalar, b: Scalar) -> Scalar {
        self.binary(Binary::Add, a, b)
    }

    /// `a - b`.
    pub fn sub(&mut self, a: Scalar, b: Scalar) -> Scalar {
        self.binary(Binary::Sub, a, b)
    }

    /// `a * b`.
    pub fn mul(&mut self, a: Scalar, b: Scalar) -> Scalar {
        self.binary(Binary::Mul, a, b)
    }

    /// `a / b`.
    pub fn div(&mut self, a: Scalar, b: Scalar) -> Scalar {
        self.binary(Binary::Div, a, b)
    }

    /// The lesser, NaN if either is.
    pub fn min(&mut self, a: Scalar, b: Scalar) -> Scalar {
        self.binary(Binary::Min, a, b)
    }

    /// The greater, NaN if either is.
    pub fn max(&mut self, a: Scalar, b: Scalar) -> Scalar {
        self.binary(Binary::Max, a, b)
    }

    /// `-a`.
    pub fn neg(&mut self, a: Scalar) -> Scalar {
        self.unary(Unary::Neg, a)
    }

    /// `|a|`.
    pub fn abs(&mut self, a: Scalar) -> Scalar {
        self.unary(Unary::Abs, a)
    }

    /// The square root.
    pub fn sqrt(&mut self, a: Scalar) -> Scalar {
        self.unary(Unary::Sqrt, a)
    }

    /// `a + n`.
    pub fn add_number(&mut self, a: Scalar, n: f64) -> Scalar {
        let n = self.number(a, n);
        self.add(a, n)
    }

    /// `a * n`.
    pub fn mul_number(&mut self, a: Scalar, n: f64) -> Scalar {
        let n = self.number(a, n);
        self.mul(a, n)
    }

    /// `n - a`.
    pub fn number_sub(&mut self, n: f64, a: Scalar) -> Scalar {
        let n = self.number(a, n);
        self.sub(n, a)
    }

    /// `n / a`.
    pub fn number_div(&mut self, n: f64, a: Scalar) -> Scalar {
        let n = self.number(a, n);
        self.div(n, a)
    }
}

impl Unary {
    /// Whether the operation is defined on floats only.
    pub const fn float_only(self) -> bool {
        matches!(self, Unary::Sqrt | Unary::Floor | Unary::Ceil | Unary::Trunc | Unary::Round)
    }
}
