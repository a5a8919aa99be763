//! What gradient rules are written with.
//!
//! A rule answers with gradients of any shape that the argument was broadcast to; whoever runs it sums and converts ([`sum_to`]).

pub mod activation;
pub mod arithmetic;
pub mod complex;
pub mod factor;
pub mod fourier;
pub mod gather;
pub mod matmul;
pub mod names;
pub mod normalize;
pub mod reduce;
pub mod scan;
pub mod special;
pub mod unary;
pub mod view;
pub mod window;

use super::{
    args,
    call::{cast, dims, one, t},
};
use taipan_ir::{Arg, Dim, Emitter, Facts, Number, OpError, Val, facts::row_major, gradient::Backward, op::RuleContext};

/// The ops rules are made of, as methods.
pub trait Maths {
    /// An op of one result; arguments left out at the end get their defaults.
    ///
    /// # Errors
    /// The op's.
    fn op(&mut self, name: &str, args: &[Arg<Val>]) -> Result<Val, OpError>;

    /// `a + b`.
    ///
    /// # Errors
    /// The op's.
    fn add(&mut self, a: Val, b: impl Into<Arg<Val>>) -> Result<Val, OpError> {
        self.op("add.Tensor", &[t(a), b.into()])
    }

    /// `a - b`.
    ///
    /// # Errors
    /// The op's.
    fn sub(&mut self, a: Val, b: impl Into<Arg<Val>>) -> Result<Val, OpError> {
        self.op("sub.Tensor", &[t(a), b.into()])
    }

    /// `a * b`.
    ///
    /// # Errors
    /// The op's.
    fn mul(&mut self, a: Val, b: impl Into<Arg<Val>>) -> Result<Val, OpError> {
        self.op("mul.Tensor", &[t(a), b.into()])
    }

    /// `a / b`.
    ///
    /// # Errors
    /// The op's.
    fn div(&mut self, a: Val, b: impl Into<Arg<Val>>) -> Result<Val, OpError> {
        self.op("div.Tensor", &[t(a), b.into()])
    }

    /// `a ** exponent`.
    ///
    /// # Errors
    /// The op's.
    fn pow(&mut self, a: Val, exponent: impl Into<Arg<Val>>) -> Result<Val, OpError> {
        self.op("pow.Tensor_Tensor", &[t(a), exponent.into()])
    }

    /// `-a`.
    ///
    /// # Errors
    /// The op's.
    fn neg(&mut self, a: Val) -> Result<Val, OpError> {
        self.op("neg", &[t(a)])
    }

    /// `name(a)`, for an op of one tensor.
    ///
    /// # Errors
    /// The op's.
    fn of(&mut self, name: &str, a: Val) -> Result<Val, OpError> {
        self.op(name, &[t(a)])
    }

    /// The comparison `name` of `a` and `b`.
    ///
    /// # Errors
    /// The op's.
    fn compare(&mut self, name: &str, a: Val, b: impl Into<Arg<Val>>) -> Result<Val, OpError> {
        self.op(name, &[t(a), b.into()])
    }

    /// `value` where the mask holds, zeros elsewhere.
    ///
    /// # Errors
    /// The op's.
    fn masked(&mut self, value: Val, mask: Val) -> Result<Val, OpError> {
        self.op("where.self", &[t(mask), t(value), Arg::Number(Number::Int(0))])
    }

    /// Zeros of these sizes and dtype.
    ///
    /// # Errors
    /// The op's.
    fn zeros(&mut self, like: &Facts) -> Result<Val, OpError> {
        self.op("zeros", &[Arg::Ints(like.dims.clone()), Arg::DType(like.dtype)])
    }
}

impl Maths for Backward<'_> {
    fn op(&mut self, name: &str, args: &[Arg<Val>]) -> Result<Val, OpError> {
        one(self.emitter, name, args)
    }
}

/// The gradient of a view: zeros, with the gradient where the view lies. Right for every view whose layout rule accepts a row-major tensor.
///
/// # Errors
/// Those of the ops.
pub fn of_view(b: &mut Backward<'_>) -> Result<(), OpError> {
    let like = b.facts(0)?;
    let rule = b.record().facts.ok_or_else(|| OpError::runtime("a view without a layout rule"))?;
    let default_float = b.emitter.default_float();
    let strides = row_major(b.emitter.dims(), &like.dims)?;
    let own = Facts { strides: strides.clone(), offset: Dim::Is(0), ..like.clone() };
    let a: Vec<Arg<&Facts>> = b.args().iter().map(|arg| arg.map(|_| &own)).collect();
    let layouts = rule(&mut RuleContext { dims: b.emitter.dims(), default_float }, &a)?;
    let mut grad = b.zeros(&like)?;
    for (i, layout) in layouts.into_iter().enumerate() {
        if let Some(part) = b.grad_of(i) {
            let [size, stride, offset] = [Arg::Ints(layout.dims), Arg::Ints(layout.strides), Arg::Int(layout.offset)];
            grad = b.op("_strided_put", &[t(grad), t(part), size, stride, offset, Arg::Ints(strides.clone())])?;
        }
    }
    b.give(0, grad);
    Ok(())
}

/// `as_strided`: as [`of_view`], by where the elements lie in memory.
///
/// # Errors
/// Those of the ops.
pub fn of_as_strided(b: &mut Backward<'_>) -> Result<(), OpError> {
    let base = b.facts(0)?;
    let offset = args::optional_dim(b.args(), 3).unwrap_or(base.offset);
    let offset = Arg::Int(Dim::Is(known(offset)? - known(base.offset)?));
    let (zeros, grad) = (b.zeros(&base)?, b.grad()?);
    let (size, stride) = (b.args()[1].clone(), b.args()[2].clone());
    let grad = b.op("_strided_put", &[t(zeros), t(grad), size, stride, offset, Arg::Ints(base.strides)])?;
    b.give(0, grad);
    Ok(())
}

/// The gradient passes through unchanged: to a tensor of the same elements in the same order, or one that was broadcast.
///
/// # Errors
/// Where there is no gradient.
pub fn through(b: &mut Backward<'_>) -> Result<(), OpError> {
    let grad = b.grad()?;
    b.give(0, grad);
    Ok(())
}

/// The gradient with the sizes of argument 0, whose elements the result has in the same order.
///
/// # Errors
/// Those of the ops.
pub fn reshaped(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (sizes, grad) = (b.facts(0)?.dims, b.grad()?);
    let grad = b.op("reshape", &[t(grad), Arg::Ints(sizes)])?;
    b.give(0, grad);
    Ok(())
}

/// The result doesn't change with small changes of the arguments: their gradients are zeros.
///
/// # Errors
/// Those of the ops.
pub fn zero(b: &mut Backward<'_>) -> Result<(), OpError> {
    for param in 0..b.args().len() {
        if b.needs(param) {
            let like = b.facts(param)?;
            let zeros = b.zeros(&like)?;
            b.give(param, zeros);
        }
    }
    Ok(())
}

/// Answers `grad * factor` for a parameter; the conjugate of a complex factor.
///
/// # Errors
/// Those of the ops.
pub fn give_times(b: &mut Backward<'_>, param: usize, factor: impl Into<Arg<Val>>) -> Result<(), OpError> {
    let (grad, factor) = (b.grad()?, complex::conj(b, factor.into())?);
    let product = b.mul(grad, factor)?;
    b.give(param, product);
    Ok(())
}

/// Answers the gradient where `mask` holds and zeros elsewhere.
///
/// # Errors
/// Those of the ops.
pub fn give_where(b: &mut Backward<'_>, param: usize, mask: Val) -> Result<(), OpError> {
    let grad = b.grad()?;
    let chosen = b.masked(grad, mask)?;
    b.give(param, chosen);
    Ok(())
}

fn known(dim: Dim) -> Result<i64, OpError> {
    dim.known().ok_or(OpError::DataDependent)
}

/// The value with dims of size one put back where a reduction has dropped them.
///
/// # Errors
/// Those of the ops.
pub fn restored(e: &mut dyn Emitter, value: Val, reduced: &[usize], keepdim: bool) -> Result<Val, OpError> {
    if keepdim || e.facts(value).rank() == 0 && reduced.is_empty() {
        return Ok(value);
    }
    let mut sizes: Vec<Dim> = e.facts(value).dims.iter().copied().collect();
    let mut reduced = reduced.to_vec();
    reduced.sort_unstable();
    for dim in reduced {
        sizes.insert(dim.min(sizes.len()), Dim::Is(1));
    }
    one(e, "view", &[t(value), dims(sizes)])
}

/// The sums over the dims in which `value` was broadcast from a tensor of `facts`.
///
/// # Errors
/// Where it can't have been.
pub fn sum_to(e: &mut dyn Emitter, value: Val, facts: &Facts) -> Result<Val, OpError> {
    let own = e.facts(value).clone();
    if own.dims == facts.dims {
        return Ok(value);
    }
    let misfit = || OpError::runtime("the sizes of a gradient don't fit those of its tensor");
    let lead = own.rank().checked_sub(facts.rank()).ok_or_else(misfit)?;
    let mut summed: Vec<i64> = (0..lead as i64).collect();
    for (i, dim) in facts.dims.iter().enumerate() {
        if own.dims[lead + i] != *dim {
            if *dim != Dim::Is(1) {
                return Err(misfit());
            }
            summed.push((lead + i) as i64);
        }
    }
    let value = one(e, "sum.dim_IntList", &[t(value), super::call::ints(summed), Arg::Bool(true)])?;
    if lead == 0 {
        return Ok(value);
    }
    one(e, "view", &[t(value), Arg::Ints(facts.dims.clone())])
}

/// The part of a base's gradient that belongs to a view of the base.
///
/// # Errors
/// Those of the ops.
pub fn part_of_base(e: &mut dyn Emitter, whole: Val, base: &Facts, view: &Facts) -> Result<Val, OpError> {
    let [size, stride, offset] = place(base, view)?;
    one(e, "_strided_part", &[t(whole), size, stride, offset, Arg::Ints(base.strides.clone())])
}

/// A base's gradient with the part of a view replaced; by zeros where nothing depends on what the view held.
///
/// # Errors
/// Those of the ops.
pub fn with_part(e: &mut dyn Emitter, whole: Val, part: Option<Val>, base: &Facts, view: &Facts) -> Result<Val, OpError> {
    let part = match part {
        Some(part) => {
            let part = sum_to(e, part, view)?;
            cast(e, part, base.dtype)?
        }
        None => one(e, "zeros", &[Arg::Ints(view.dims.clone()), Arg::DType(base.dtype)])?,
    };
    let [size, stride, offset] = place(base, view)?;
    one(e, "_strided_put", &[t(whole), t(part), size, stride, offset, Arg::Ints(base.strides.clone())])
}

fn place(base: &Facts, view: &Facts) -> Result<[Arg<Val>; 3], OpError> {
    if base.dtype != view.dtype {
        return Err(OpError::not_implemented("the derivative of a write into a view of another dtype than its base is not implemented"));
    }
    let offset = known(view.offset)? - known(base.offset)?;
    Ok([Arg::Ints(view.dims.clone()), Arg::Ints(view.strides.clone()), Arg::Int(Dim::Is(offset))])
}

/// An op that is its own transpose, as it moves elements or drops them: the same op on the gradient.
///
/// # Errors
/// Those of the ops.
pub fn same_op(b: &mut Backward<'_>) -> Result<(), OpError> {
    let (name, mut all) = (taipan_ir::OpRef(b.record()).name(), b.args().to_vec());
    all[0] = t(b.grad()?);
    let given = b.op(name, &all)?;
    b.give(0, given);
    Ok(())
}

/// `diag_embed`: the diagonal of the gradient.
///
/// # Errors
/// Those of the ops.
pub fn of_diag_embed(b: &mut Backward<'_>) -> Result<(), OpError> {
    let mut all = b.args().to_vec();
    all[0] = t(b.grad()?);
    let given = b.op("diagonal", &all)?;
    b.give(0, given);
    Ok(())
}
