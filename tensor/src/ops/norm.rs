//! Norms of matrices, and condition numbers.

use super::{
    args,
    call::{self, call, cast, f, i, ints, n, one, t},
    factor::check_matrix,
    linear::part,
    rules::{self, wrap_dim},
};
use smallvec::smallvec;
use taipan_ir::{
    Arg, Dim, Emitter, Op, OpError, Val,
    op::{Forms, Vals},
};

const LINALG: Forms = Forms::LINALG;

/// The op tables of this file.
pub static OPS: &[Op] = &[
    part(
        "linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2,-1], bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        LINALG,
        |e, a| matrix_norm(e, *args::tensor(a, 0)?, Order::Number(args::float(a, 1, 2.0)), &a[2..]),
        &["f32[3,4], 1", "f32[2,3,4], inf", "f32[3,4], 2", "f32[3,4], -1", "f64[2,3,4], -2, keepdim=True"],
    ),
    part(
        "linalg_matrix_norm.str_ord(Tensor self, str ord='fro', int[] dim=[-2,-1], bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        LINALG,
        |e, a| matrix_norm(e, *args::tensor(a, 0)?, Order::named(args::text(a, 1), "linalg.matrix_norm")?, &a[2..]),
        &["f32[3,4]", "f32[2,3,4], 'nuc'", "f32[3,4], 'x'", "f32[4]", "f32[3,2,4], 'fro', [0,2]"],
    ),
    part(
        "linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        LINALG,
        norm,
        &[
            "f32[4]",
            "f32[2,3]",
            "f32[2,3], 1",
            "f32[4], 3",
            "f32[2,3], None, 1",
            "f32[2,3], inf, [0,1]",
            "f32[2,3,4], 2, [1,2], True",
            "f32[2,3,4]",
            "i64[3]",
        ],
    ),
    part(
        "linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        LINALG,
        |e, a| {
            let x = *args::tensor(a, 0)?;
            let dims = match args::optional_dims(a, 2) {
                Some(d) => Arg::Ints(d.into()),
                None if e.facts(x).rank() == 2 => ints([0, 1]),
                None => {
                    return Err(OpError::runtime(format!(
                        "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {}D.",
                        e.facts(x).rank()
                    )));
                }
            };
            matrix_norm(e, x, Order::named(args::text(a, 1), "linalg.norm")?, &[dims, a[3].clone(), a[4].clone()])
        },
        &["f32[2,3], 'fro'", "f32[2,3], 'nuc'"],
    ),
    part(
        "frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
        Forms::FUNCTION,
        |e, a| call(e, "linalg_vector_norm", &[a[0].clone(), n(2), a[1].clone(), a[2].clone()]),
        &["f32[2,3], [0,1]"],
    ),
    part(
        "nuclear_norm(Tensor self, bool keepdim=False) -> Tensor",
        Forms::FUNCTION,
        |e, a| matrix_norm(e, *args::tensor(a, 0)?, Order::Nuclear, &[ints([0, 1]), a[1].clone(), Arg::Absent]),
        &["f32[2,3]"],
    ),
    part(
        "linalg_cond(Tensor self, Scalar? p=None) -> Tensor",
        LINALG,
        |e, a| {
            let x = *args::tensor(a, 0)?;
            check_matrix(&e.facts(x).clone(), "linalg.cond")?;
            let p = args::number(a, 1).map_or(2.0, |x| x.as_f64());
            if p.abs() == 2.0 {
                let values = one(e, "linalg_svdvals", &[t(x)])?;
                let (first, last) = (one(e, "select.int", &[t(values), i(-1), i(0)])?, one(e, "select.int", &[t(values), i(-1), i(-1)])?);
                return Ok(smallvec![if p > 0.0 { call::div(e, first, t(last))? } else { call::div(e, last, t(first))? }]);
            }
            let inverse = call(e, "linalg_inv_ex", &[t(x)])?[0];
            let rest = [ints([-2, -1]), Arg::Bool(false), Arg::Absent];
            let own = matrix_norm(e, x, Order::Number(p), &rest)?[0];
            let other = matrix_norm(e, inverse, Order::Number(p), &rest)?[0];
            Ok(smallvec![call::mul(e, own, t(other))?])
        },
        &["f32[3,3]", "f32[3,3], 1", "f64[2,3,3], inf"],
    ),
];

/// What a matrix norm is taken of.
enum Order {
    Number(f64),
    Frobenius,
    Nuclear,
}

impl Order {
    fn named(name: &str, function: &str) -> Result<Order, OpError> {
        match name {
            "fro" => Ok(Order::Frobenius),
            "nuc" => Ok(Order::Nuclear),
            other => Err(OpError::runtime(format!("{function}: Order {other} not supported."))),
        }
    }
}

/// The norm of matrices; `rest` is dims, whether they are kept, and the dtype.
fn matrix_norm(e: &mut dyn Emitter, x: Val, order: Order, rest: &[Arg<Val>]) -> Result<Vals, OpError> {
    let facts = e.facts(x).clone();
    if facts.rank() < 2 {
        return Err(OpError::runtime("linalg.matrix_norm: The input tensor A must have at least 2 dimensions."));
    }
    if !facts.dtype.is_float() {
        return Err(OpError::not_implemented(format!(
            "linalg.matrix_norm: Expected a floating point or complex tensor as input. Got {}",
            facts.dtype.scalar_name()
        )));
    }
    let dims = args::ints(rest, 0)?;
    if dims.len() != 2 {
        return Err(OpError::runtime(format!("linalg.matrix_norm: dim must be a 2-tuple. Got {}", rules::shown(args::dims(rest, 0)?))));
    }
    let (row, column) = (wrap_dim(dims[0], facts.rank())? as i64, wrap_dim(dims[1], facts.rank())? as i64);
    if row == column {
        return Err(OpError::runtime(format!("linalg.matrix_norm: dims must be different. Got ({}, {})", dims[0], dims[1])));
    }
    let keep = args::flag(rest, 1);
    let x = cast(e, x, args::dtype(rest, 2).unwrap_or(facts.dtype))?;
    let singular = |e: &mut dyn Emitter| {
        let moved = one(e, "movedim.intlist", &[t(x), ints([row, column]), ints([-2, -1])])?;
        one(e, "linalg_svdvals", &[t(moved)])
    };
    // Dims as they are kept, in the places they had.
    let finish = |e: &mut dyn Emitter, v: Val| -> Result<Vals, OpError> {
        if !keep {
            return Ok(smallvec![v]);
        }
        let (low, high) = (row.min(column), row.max(column));
        let v = one(e, "unsqueeze", &[t(v), i(low)])?;
        Ok(smallvec![one(e, "unsqueeze", &[t(v), i(high)])?])
    };
    match order {
        Order::Frobenius => call(e, "linalg_vector_norm", &[t(x), n(2), ints([row, column]), Arg::Bool(keep)]),
        Order::Nuclear => {
            let values = singular(e)?;
            let sum = one(e, "sum.dim_IntList", &[t(values), ints([-1])])?;
            finish(e, sum)
        }
        Order::Number(p) if p.abs() == 2.0 => {
            let values = singular(e)?;
            let pick = one(e, if p > 0.0 { "amax" } else { "amin" }, &[t(values), ints([-1])])?;
            finish(e, pick)
        }
        Order::Number(p) if p.abs() == 1.0 || p.is_infinite() => {
            let (summed, picked) = if p.abs() == 1.0 { (row, column) } else { (column, row) };
            let sums = one(e, "linalg_vector_norm", &[t(x), n(1), ints([summed]), Arg::Bool(true)])?;
            let out = one(e, if p > 0.0 { "amax" } else { "amin" }, &[t(sums), ints([picked]), Arg::Bool(true)])?;
            if keep {
                return Ok(smallvec![out]);
            }
            call(e, "squeeze.dims", &[t(out), ints([row, column])])
        }
        Order::Number(p) => Err(OpError::runtime(format!("linalg.matrix_norm: Order {} not supported.", taipan_ir::number::float_text(p)))),
    }
}

fn norm(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let x = *args::tensor(a, 0)?;
    let rank = e.facts(x).rank();
    let order = args::number(a, 1).map(|o| o.as_f64());
    let dims = args::optional_dims(a, 2);
    if let Some(dims) = dims
        && !(dims.len() == 1 || dims.len() == 2)
        && order.is_some()
    {
        return Err(OpError::runtime(format!("linalg.norm: If dim is specified, it must be of length 1 or 2. Got {}", rules::shown(dims))));
    }
    let Some(order) = order else {
        return call(e, "linalg_vector_norm", &[a[0].clone(), n(2), a[2].clone(), a[3].clone(), a[4].clone()]);
    };
    match dims.map_or(rank, <[Dim]>::len) {
        1 => call(e, "linalg_vector_norm", &[a[0].clone(), f(order), a[2].clone(), a[3].clone(), a[4].clone()]),
        2 => {
            let dims = if a[2].is_absent() { ints([0, 1]) } else { a[2].clone() };
            matrix_norm(e, x, Order::Number(order), &[dims, a[3].clone(), a[4].clone()])
        }
        rank => Err(OpError::runtime(format!("linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {rank}D."))),
    }
}
