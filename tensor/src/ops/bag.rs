//! Sums, means and maxima over bags of rows of a table.

use super::{
    args,
    call::{self, cast, dims, f, i, ints, n, one, t},
    define::{close, composite, samples},
};
use smallvec::smallvec;
use taipan_ir::{
    Arg, DType, Dim, DimOp, Emitter, Op, OpError, Val,
    op::{Forms, Vals},
};

/// The op tables of this file.
pub static OPS: &[Op] = &[
    close(samples(
        composite(
            "embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int? padding_idx=None) -> (Tensor, Tensor, Tensor, Tensor)",
            Forms::FUNCTION,
            |e, a| {
                let bags = Bags {
                    weight: *args::tensor(a, 0)?,
                    indices: *args::tensor(a, 1)?,
                    offsets: *args::tensor(a, 2)?,
                    mode: args::int(a, 4)?,
                    factors: args::optional_tensor(a, 6).copied(),
                    has_end: args::flag(a, 7),
                    padding: args::optional_int(a, 8)?.filter(|p| *p >= 0),
                };
                bags.reduced(e)
            },
        ),
        &["f32[5,3], i64[4]%5, i64[1]%1"],
    )),
    close(samples(
        composite(
            "embedding_bag.nn(Tensor input, Tensor weight, Tensor? offsets=None, float? max_norm=None, float norm_type=2, bool scale_grad_by_freq=False, str mode='mean', bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int? padding_idx=None) -> Tensor",
            Forms::NN,
            functional,
        ),
        &[
            "i64[2,3]%5, f32[5,3]",
            "i64[2,3]%5, f32[5,3], mode='sum'",
            "i64[2,3]%5, f32[5,3], mode='max'",
            "i64[2,3]%5, f32[5,3], mode='sum', per_sample_weights=f32[2,3]",
            "i64[2,3]%5, f32[5,3], padding_idx=2",
            "i64[4]%5, f32[5,3], i64[1]%1",
            "i64[4]%5, f32[5,3]",
            "i64[2,3]%5, f32[5,3], mode='x'",
        ],
    )),
];

fn functional(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let (mut indices, weight) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
    let facts = e.facts(indices).clone();
    let mut factors = args::optional_tensor(a, 8).copied();
    if let Some(factors) = factors
        && e.facts(factors).dims != facts.dims
    {
        return Err(OpError::value(format!(
            "embedding_bag: If per_sample_weights ({}) is not None, then it must have the same shape as the input ({})",
            super::rules::shown(&e.facts(factors).dims.clone()),
            super::rules::shown(&facts.dims)
        )));
    }
    let offsets = match (facts.rank(), args::optional_tensor(a, 2)) {
        (2, Some(_)) => {
            return Err(OpError::value(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length sequences. However, found offsets of type <class 'torch.Tensor'>",
            ));
        }
        (2, None) => {
            let (rows, columns) = (e.dims().number(facts.dims[0])?, e.dims().number(facts.dims[1])?);
            indices = one(e, "reshape", &[t(indices), ints([-1])])?;
            factors = factors.map(|v| one(e, "reshape", &[t(v), ints([-1])])).transpose()?;
            let places = one(e, "arange", &[n(rows)])?;
            call::mul(e, places, n(columns))?
        }
        (1, Some(offsets)) => *offsets,
        (1, None) => return Err(OpError::value("offsets has to be a 1D Tensor but got None")),
        (rank, _) => return Err(OpError::value(format!("input has to be 1D or 2D Tensor, but got Tensor of dimension {rank}"))),
    };
    let mode = match args::text(a, 6) {
        "sum" => 0,
        "mean" => 1,
        "max" => 2,
        _ => return Err(OpError::value("mode has to be one of sum, mean or max")),
    };
    if !a[3].is_absent() {
        return Err(OpError::not_implemented("embedding_bag with max_norm"));
    }
    if factors.is_some() && mode != 0 {
        return Err(OpError::not_implemented(format!(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got mode='{}'). Please open a feature request on GitHub.",
            args::text(a, 6)
        )));
    }
    let rows = e.facts(weight).dims.first().copied().unwrap_or(Dim::Is(0));
    let padding = match args::optional_int(a, 10)? {
        Some(p) if p < 0 => Some(p + e.dims().number(rows)?),
        other => other,
    };
    let bags = Bags { weight, indices, offsets, mode, factors, has_end: args::flag(a, 9), padding };
    Ok(smallvec![bags.reduced(e)?[0]])
}

/// Bags of rows: where each begins among the indices, and what is done with its rows.
struct Bags {
    weight: Val,
    indices: Val,
    offsets: Val,
    /// 0 sums, 1 takes the mean, 2 the maximum.
    mode: i64,
    factors: Option<Val>,
    has_end: bool,
    padding: Option<i64>,
}

impl Bags {
    /// The bags' values, for each index its bag, the sizes of the bags, and where maxima stood.
    fn reduced(&self, e: &mut dyn Emitter) -> Result<Vals, OpError> {
        let (weight, dtype) = (self.weight, e.facts(self.weight).dtype);
        let width = e.facts(weight).dims.last().copied().unwrap_or(Dim::Is(1));
        let mut count = e.facts(self.offsets).dims.first().copied().unwrap_or(Dim::Is(0));
        let mut offsets = cast(e, self.offsets, DType::I64)?;
        if self.has_end {
            count = e.dims().calc(DimOp::Add, count, Dim::Is(-1));
            offsets = one(e, "narrow", &[t(offsets), i(0), i(0), Arg::Int(count)])?;
        }
        let total = e.facts(self.indices).dims.first().copied().unwrap_or(Dim::Is(0));
        let total = e.dims().number(total)?;
        let places = one(e, "arange", &[n(total)])?;
        let bag = one(e, "bucketize.Tensor", &[t(places), t(offsets), Arg::Bool(false), Arg::Bool(true)])?;
        let bag = call::sub(e, bag, n(1))?;
        let mut rows = one(e, "embedding", &[t(weight), t(self.indices)])?;
        if let Some(factors) = self.factors {
            let column = one(e, "unsqueeze", &[t(factors), i(-1)])?;
            rows = call::mul(e, rows, t(column))?;
        }
        let ones = one(e, "ones_like", &[t(bag)])?;
        let used = match self.padding {
            Some(p) => {
                let used = one(e, "ne.Tensor", &[t(self.indices), n(p)])?;
                cast(e, used, DType::I64)?
            }
            None => ones,
        };
        let zeros = one(e, "zeros", &[dims([count]), Arg::DType(DType::I64)])?;
        let sizes = one(e, "index_add", &[t(zeros), i(0), t(bag), t(used)])?;
        let column = one(e, "unsqueeze", &[t(used), i(-1)])?;
        let unused = one(e, "eq.Tensor", &[t(column), n(0)])?;
        let empty = one(e, "zeros", &[dims([count, width]), Arg::DType(dtype)])?;
        let size_column = one(e, "unsqueeze", &[t(sizes), i(-1)])?;
        let out = if self.mode == 2 {
            let rows = one(e, "masked_fill.Scalar", &[t(rows), t(unused), f(f64::NEG_INFINITY)])?;
            let least = one(e, "full_like", &[t(empty), f(f64::NEG_INFINITY)])?;
            let shape = e.facts(rows).dims.clone();
            let index = one(e, "unsqueeze", &[t(bag), i(-1)])?;
            let index = one(e, "expand", &[t(index), Arg::Ints(shape)])?;
            let high = one(e, "scatter_reduce.two", &[t(least), i(0), t(index), t(rows), Arg::Str("amax".into())])?;
            let none = one(e, "eq.Tensor", &[t(size_column), n(0)])?;
            one(e, "masked_fill.Scalar", &[t(high), t(none), n(0)])?
        } else {
            let rows = if self.padding.is_some() { one(e, "masked_fill.Scalar", &[t(rows), t(unused), n(0)])? } else { rows };
            let sums = one(e, "index_add", &[t(empty), i(0), t(bag), t(rows)])?;
            if self.mode == 1 {
                let divisor = one(e, "clamp_min", &[t(size_column), n(1)])?;
                let divisor = cast(e, divisor, dtype)?;
                call::div(e, sums, t(divisor))?
            } else {
                sums
            }
        };
        let none = one(e, "zeros", &[ints([0]), Arg::DType(DType::I64)])?;
        let of_index = if self.mode == 0 && self.padding.is_none() { none } else { bag };
        // Sums don't need the sizes, so PyTorch doesn't count them.
        let sizes = if self.mode == 0 && self.padding.is_none() { one(e, "zeros_like", &[t(sizes)])? } else { sizes };
        let places = if self.mode == 0 { one(e, "zeros_like", &[t(sizes)])? } else { none };
        Ok(smallvec![out, of_index, sizes, places])
    }
}
