//! Calling ops by name from decompositions.

use crate::registry;
use taipan_ir::{Arg, DType, Dim, Emitter, Number, OpError, Val, op::Vals, schema::Schema};

/// Emits the op `name`; arguments left out at the end get their defaults.
pub fn call(e: &mut dyn Emitter, name: &str, args: &[Arg<Val>]) -> Result<Vals, OpError> {
    let entry = registry().find(name).ok_or_else(|| OpError::not_implemented(format!("no op is called `{name}`")))?;
    let mut all = args.to_vec();
    all.extend(defaults(&entry.schema, args.len()));
    e.emit(entry.op, &all)
}

/// As [`call`], for an op of one result.
pub fn one(e: &mut dyn Emitter, name: &str, args: &[Arg<Val>]) -> Result<Val, OpError> {
    call(e, name, args)?.first().copied().ok_or_else(|| OpError::runtime(format!("{name} has no result")))
}

/// The defaults of the parameters from number `from`.
pub fn defaults<T>(schema: &Schema, from: usize) -> impl Iterator<Item = Arg<T>> + '_ {
    schema.params.iter().skip(from).map(|p| p.default.as_ref().map_or(Arg::Absent, Arg::without_tensors))
}

/// A tensor argument.
pub fn t(value: Val) -> Arg<Val> {
    Arg::Tensor(value)
}

/// A float argument.
pub fn f(x: f64) -> Arg<Val> {
    Arg::Number(Number::Float(x))
}

/// A number argument that is an integer.
pub fn n(x: i64) -> Arg<Val> {
    Arg::Number(Number::Int(x))
}

/// An integer argument.
pub fn i(x: i64) -> Arg<Val> {
    Arg::Int(Dim::Is(x))
}

/// A list of integers.
pub fn ints(xs: impl IntoIterator<Item = i64>) -> Arg<Val> {
    Arg::Ints(xs.into_iter().map(Dim::Is).collect())
}

/// A list of sizes.
pub fn dims(xs: impl IntoIterator<Item = Dim>) -> Arg<Val> {
    Arg::Ints(xs.into_iter().collect())
}

/// `add`.
pub fn add(e: &mut dyn Emitter, a: Val, b: Arg<Val>) -> Result<Val, OpError> {
    one(e, "add.Tensor", &[t(a), b])
}

/// `sub`.
pub fn sub(e: &mut dyn Emitter, a: Val, b: Arg<Val>) -> Result<Val, OpError> {
    one(e, "sub.Tensor", &[t(a), b])
}

/// `mul`.
pub fn mul(e: &mut dyn Emitter, a: Val, b: Arg<Val>) -> Result<Val, OpError> {
    one(e, "mul.Tensor", &[t(a), b])
}

/// `div`.
pub fn div(e: &mut dyn Emitter, a: Val, b: Arg<Val>) -> Result<Val, OpError> {
    one(e, "div.Tensor", &[t(a), b])
}

/// An op of one tensor argument.
pub fn unary(e: &mut dyn Emitter, name: &str, a: Val) -> Result<Val, OpError> {
    one(e, name, &[t(a)])
}

/// The value with elements of another dtype, the value itself where it has that already.
pub fn cast(e: &mut dyn Emitter, value: Val, dtype: DType) -> Result<Val, OpError> {
    if e.facts(value).dtype == dtype {
        return Ok(value);
    }
    one(e, "_to_copy", &[t(value), Arg::DType(dtype)])
}

/// A copy with memory of its own.
pub fn copied(e: &mut dyn Emitter, value: Val) -> Result<Val, OpError> {
    one(e, "clone", &[t(value)])
}

/// The value in the type half types compute in, and the type to round the end result to. Composites do so first, so that they round once.
pub fn widened(e: &mut dyn Emitter, value: Val) -> Result<(Val, DType), OpError> {
    let dtype = e.facts(value).dtype;
    let wide = cast(e, value, taipan_ir::promote::compute_type(dtype))?;
    Ok((wide, dtype))
}
