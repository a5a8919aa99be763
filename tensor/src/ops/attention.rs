//! Attention.

use super::{
    args,
    call::{self, call, cast, f, i, n, one, t, widened},
    define::{composite, refusing, samples, ulps},
    refusal::shapes,
    rules,
};
use smallvec::smallvec;
use taipan_ir::{
    Arg, DType, Dim, Emitter, Op, OpError, Val,
    op::{Forms, Vals},
};

/// The op tables of this file.
pub static OPS: &[Op] = &[ulps(
    samples(
        refusing(
            composite(
                "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
                Forms::NN,
                attention,
            ),
            shapes::attention,
        ),
        &[
            "f32[2,2,3,4], f32[2,2,3,4], f32[2,2,3,4]",
            "f32[2,2,3,4], f32[2,2,3,4], f32[2,2,3,4], is_causal=True",
            "f32[2,3,4], f32[2,5,4], f32[2,5,4], bool[3,5]",
            "f32[2,3,4], f32[2,5,4], f32[2,5,4], f32[3,5], scale=0.3",
        ],
    ),
    &[(DType::F32, 32), (DType::F64, 32), (DType::F16, 2), (DType::BF16, 2)],
)];

fn attention(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let query = *args::tensor(a, 0)?;
    let layout = e.facts(query).clone();
    for k in 0..3 {
        let rank = e.facts(*args::tensor(a, k)?).rank();
        if rank < 2 {
            return Err(OpError::runtime(format!(
                "scaled_dot_product_attention: Expected query, key, and value to all be  at least 2 dimensional, but got query.dim(): {}, key.dim(): {}, value.dim(): {} instead.",
                layout.rank(),
                e.facts(*args::tensor(a, 1)?).rank(),
                e.facts(*args::tensor(a, 2)?).rank()
            )));
        }
    }
    if args::flag(a, 5) && !a[3].is_absent() {
        return Err(OpError::runtime("scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"));
    }
    let (q, dtype) = widened(e, query)?;
    let (mut k, _) = widened(e, *args::tensor(a, 1)?)?;
    let (mut v, _) = widened(e, *args::tensor(a, 2)?)?;
    if args::flag(a, 7) {
        k = repeat_heads(e, k, &layout)?;
        v = repeat_heads(e, v, &layout)?;
    }
    let width = e.dims().number(layout.dims[layout.rank() - 1])?;
    let scale = match a[6] {
        Arg::Number(s) => s.as_f64(),
        _ => 1.0 / (width as f64).sqrt(),
    };
    let turned = one(e, "transpose.int", &[t(k), i(-2), i(-1)])?;
    let scores = one(e, "matmul", &[t(q), t(turned)])?;
    let mut scores = call::mul(e, scores, f(scale))?;
    if args::flag(a, 5) {
        let shape = e.facts(scores).dims.clone();
        let square = shape[shape.len() - 2..].iter().copied();
        let ones = one(e, "ones", &[call::dims(square), Arg::DType(DType::Bool)])?;
        let allowed = one(e, "tril", &[t(ones)])?;
        let refused = one(e, "logical_not", &[t(allowed)])?;
        scores = one(e, "masked_fill.Scalar", &[t(scores), t(refused), f(f64::NEG_INFINITY)])?;
    }
    if let Arg::Tensor(mask) = a[3] {
        if e.facts(mask).dtype == DType::Bool {
            let refused = one(e, "logical_not", &[t(mask)])?;
            scores = one(e, "masked_fill.Scalar", &[t(scores), t(refused), f(f64::NEG_INFINITY)])?;
        } else {
            let compute = e.facts(scores).dtype;
            let mask = cast(e, mask, compute)?;
            scores = call::add(e, scores, t(mask))?;
        }
    }
    let mut weights = one(e, "softmax.int", &[t(scores), i(-1)])?;
    if let Arg::Tensor(mask) = a[3]
        && e.facts(mask).dtype == DType::Bool
    {
        // A row in which everything is refused attends to nothing.
        let empty = one(e, "isnan", &[t(weights)])?;
        weights = one(e, "masked_fill.Scalar", &[t(weights), t(empty), n(0)])?;
    }
    let dropped = args::float(a, 4, 0.0);
    if dropped > 0.0 {
        weights = one(e, "dropout", &[t(weights), f(dropped), Arg::Bool(true)])?;
    }
    let out = one(e, "matmul", &[t(weights), t(v)])?;
    let out = cast(e, out, dtype)?;
    laid_like(e, out, &layout)
}

/// Keys or values with each head repeated until there are as many as queries have.
fn repeat_heads(e: &mut dyn Emitter, value: Val, query: &taipan_ir::Facts) -> Result<Val, OpError> {
    let facts = e.facts(value).clone();
    let at = facts.rank().checked_sub(3).ok_or_else(|| OpError::runtime("enable_gqa needs a dim of heads"))?;
    let (own, wanted) = (e.dims().number(facts.dims[at])?, e.dims().number(query.dims[query.rank() - 3])?);
    if own == wanted {
        return Ok(value);
    }
    if own == 0 || wanted % own != 0 {
        return Err(OpError::runtime("Number of heads in key and value must divide the number of heads in query"));
    }
    one(e, "repeat_interleave.self_int", &[t(value), i(wanted / own), i(at as i64)])
}

/// PyTorch's kernel lays four-dimensional results out as the query lies.
fn laid_like(e: &mut dyn Emitter, out: Val, query: &taipan_ir::Facts) -> Result<Vals, OpError> {
    let plain = query.rank() != 4 || query.is_contiguous(e.dims())?;
    if plain {
        return Ok(smallvec![out]);
    }
    let strides: Vec<i64> = query.strides.iter().map(|s| e.dims().number(*s)).collect::<Result<_, _>>()?;
    let mut order: Vec<usize> = (0..4).collect();
    order.sort_by_key(|d| std::cmp::Reverse(strides[*d]));
    if order == [0, 1, 2, 3] || !rules::is_dense(e.dims(), query)? {
        return Ok(smallvec![out]);
    }
    let there = one(e, "permute", &[t(out), call::ints(order.iter().map(|d| *d as i64))])?;
    let dense = one(e, "clone", &[t(there), Arg::MemoryFormat(taipan_ir::MemoryFormat::Contiguous)])?;
    let mut back = vec![Dim::Is(0); 4];
    order.iter().enumerate().for_each(|(k, d)| back[*d] = Dim::Is(k as i64));
    call(e, "permute", &[t(dense), call::dims(back)])
}
