//! Quantiles: what lies at a share of the way through the elements in order.

use super::{
    args,
    call::{self, call, cast, f, i, ints, n, one, t},
    define::{composite, samples},
    rules::wrap_dim,
};
use smallvec::smallvec;
use taipan_ir::{
    Arg, DType, Dim, Emitter, Op, OpError, Rel, Val,
    op::{Forms, Vals},
};

const BOTH: Forms = Forms::BOTH;

/// The op tables of this file.
pub static OPS: &[Op] = &[
    samples(
        composite(
            "quantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor",
            BOTH,
            |e, a| quantile(e, a, false),
        ),
        &["f32[7], 0.4", "f32[2,5], 0.25, 1", "f64[4,3], 0.9, 0, True", "f32[7], 0.4, interpolation='nearest'", "f32[7], 1.4"],
    ),
    samples(
        composite(
            "quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor",
            BOTH,
            |e, a| quantile(e, a, false),
        ),
        &[],
    ),
    samples(
        composite(
            "nanquantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor",
            BOTH,
            |e, a| quantile(e, a, true),
        ),
        &["f32[7], 0.4", "f32[2,5], 0.25, 1", "f32[2,5], 0.3, -1, True, interpolation='midpoint'"],
    ),
    composite(
        "nanquantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor",
        BOTH,
        |e, a| quantile(e, a, true),
    ),
];

/// Quantiles along a dim: the elements in order, between the two nearest ranks.
fn quantile(e: &mut dyn Emitter, a: &[Arg<Val>], ignore_nan: bool) -> Result<Vals, OpError> {
    let x = *args::tensor(a, 0)?;
    let facts = e.facts(x).clone();
    let how = args::text(a, 4).to_owned();
    let name = "quantile()";
    if !matches!(facts.dtype, DType::F32 | DType::F64) {
        return Err(OpError::runtime(format!("{name} input tensor must be either float or double dtype")));
    }
    if !matches!(how.as_str(), "linear" | "lower" | "higher" | "midpoint" | "nearest") {
        return Err(OpError::runtime(format!(
            "{name} interpolation must be one of linear, lower, higher, midpoint or nearest, but got {how}"
        )));
    }
    let q = match a[1] {
        Arg::Tensor(q) => q,
        _ => {
            let value = args::float(a, 1, 0.0);
            if !(0.0..=1.0).contains(&value) {
                return Err(OpError::runtime(format!(
                    "{name} q must be in the range [0, 1] but got {}",
                    taipan_ir::number::float_text(value)
                )));
            }
            one(e, "scalar_tensor", &[f(value), Arg::DType(facts.dtype)])?
        }
    };
    let (q_facts, rank) = (e.facts(q).clone(), facts.rank());
    if q_facts.rank() > 1 {
        return Err(OpError::runtime(format!("{name} q must be a scalar or 1D tensor")));
    }
    if q_facts.dtype != facts.dtype {
        return Err(OpError::runtime(format!("{name} q tensor must be same dtype as the input tensor")));
    }
    let size = facts.numel(e.dims());
    if e.dims().decide(Rel::Eq, size, Dim::Is(0))? {
        return Err(OpError::runtime(format!("{name} input tensor must be non-empty")));
    }
    let whole = a[2].is_absent();
    let d = if whole { 0 } else { wrap_dim(args::int(a, 2)?, rank)? };
    // The dim in question last; sizes as they come out, the quantiles behind.
    let laid = if whole {
        one(e, "flatten.using_ints", &[t(x)])?
    } else if rank == 0 {
        one(e, "unsqueeze", &[t(x), i(0)])?
    } else {
        one(e, "movedim.int", &[t(x), i(d as i64), i(-1)])?
    };
    let sorted = call(e, "sort", &[t(laid), i(-1)])?[0];
    let laid_facts = e.facts(sorted).clone();
    let last = laid_facts.dims.last().copied().unwrap_or(Dim::Is(1));
    let count = e.dims().number(last)?;
    let nan = one(e, "isnan", &[t(sorted)])?;
    let q_row = if q_facts.rank() == 0 { one(e, "unsqueeze", &[t(q), i(0)])? } else { q };
    // Ranks as numbers of the input's type, one row of them for each row of elements.
    let ranks = if ignore_nan {
        let ordinary = one(e, "logical_not", &[t(nan)])?;
        let ordinary = one(e, "sum.dim_IntList", &[t(ordinary), ints([-1]), Arg::Bool(true)])?;
        let most = call::sub(e, ordinary, n(1))?;
        let ranks = call::mul(e, q_row, t(most))?;
        one(e, "clamp_min", &[t(ranks), n(0)])?
    } else {
        let last = call::mul(e, q_row, f((count - 1) as f64))?;
        let any = one(e, "any.dims", &[t(nan), ints([-1]), Arg::Bool(true)])?;
        one(e, "where.self", &[t(any), f((count - 1) as f64), t(last)])?
    };
    let ranks = match how.as_str() {
        "lower" => call::unary(e, "floor", ranks)?,
        "higher" => call::unary(e, "ceil", ranks)?,
        "nearest" => call::unary(e, "round", ranks)?,
        _ => ranks,
    };
    let ranks = cast(e, ranks, facts.dtype)?;
    let mut shape = laid_facts.dims.clone();
    if let Some(last) = shape.last_mut() {
        *last = e.facts(ranks).dims.last().copied().unwrap_or(Dim::Is(1));
    }
    let ranks = one(e, "expand", &[t(ranks), Arg::Ints(shape)])?;
    let low = call::unary(e, "floor", ranks)?;
    let low_at = cast(e, low, DType::I64)?;
    let mut values = one(e, "gather", &[t(sorted), i(-1), t(low_at)])?;
    if how == "linear" || how == "midpoint" {
        let high = call::unary(e, "ceil", ranks)?;
        let high_at = cast(e, high, DType::I64)?;
        let above = one(e, "gather", &[t(sorted), i(-1), t(high_at)])?;
        let weight = if how == "midpoint" { f(0.5) } else { t(call::sub(e, ranks, t(low))?) };
        values = one(e, "lerp.Tensor", &[t(values), t(above), weight])?;
    }
    // Quantiles first, then the other dims, a 1 in the dim's place where it is kept.
    let mut out = one(e, "movedim.int", &[t(values), i(-1), i(0)])?;
    if args::flag(a, 3) {
        if whole {
            let ones = std::iter::once(e.facts(out).dims[0]).chain(std::iter::repeat_n(Dim::Is(1), rank));
            let shape: Vec<Dim> = ones.collect();
            out = one(e, "view", &[t(out), call::dims(shape)])?;
        } else if rank > 0 {
            out = one(e, "unsqueeze", &[t(out), i(d as i64 + 1)])?;
        }
    }
    if q_facts.rank() == 0 {
        out = one(e, "squeeze.dim", &[t(out), i(0)])?;
    }
    Ok(smallvec![out])
}
