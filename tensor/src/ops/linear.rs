//! Linear algebra made of products and factorizations: solutions, norms, pseudo-inverses, powers.

use super::{
    args,
    call::{self, call, f, i, ints, n, one, t},
    define::{composite, constant, no_complex, refusing, samples, ulps},
    factor::{WITHIN, check_matrix},
    refusal::shapes,
    rules::{self, wrap_dim},
};
use smallvec::smallvec;
use taipan_ir::{
    Arg, DType, Dim, Emitter, Op, OpError, Rel, Val,
    op::{CompositeRule, Forms, Vals},
};

const BOTH: Forms = Forms::BOTH;
const LINALG: Forms = Forms::LINALG;

/// A composite of products and factorizations, with samples.
pub const fn part(schema: &'static str, forms: Forms, rule: CompositeRule, examples: &'static [&'static str]) -> Op {
    ulps(samples(composite(schema, forms, rule), examples), WITHIN)
}

/// The op tables of this file.
pub static OPS: &[Op] = &[
    part("inverse(Tensor self) -> Tensor", BOTH, |e, a| call(e, "linalg_inv", a), &["f32[3,3]", "f32[2,3]"]),
    part("det(Tensor self) -> Tensor", BOTH, |e, a| call(e, "linalg_det", a), &["f32[3,3]"]),
    part("slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)", BOTH, |e, a| call(e, "linalg_slogdet", a), &["f32[3,3]"]),
    part(
        "logdet(Tensor self) -> Tensor",
        BOTH,
        |e, a| {
            let parts = call(e, "linalg_slogdet", a)?;
            let negative = one(e, "lt.Tensor", &[t(parts[0]), n(0)])?;
            call(e, "masked_fill.Scalar", &[t(parts[1]), t(negative), f(f64::NAN)])
        },
        &["f32[3,3]", "f64[2,2,2]"],
    ),
    part("matrix_exp(Tensor self) -> Tensor", BOTH, |e, a| call(e, "linalg_matrix_exp", a), &["f32[2,2]"]),
    part(
        "linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor",
        LINALG,
        solve,
        &[
            "f32[3,3], f32[3]",
            "f32[3,3], f32[3,2]",
            "f64[2,3,3], f64[2,3,2]",
            "f32[3,3], f32[2,3], left=False",
            "f32[3,3], f32[4]",
            "f32[2,3], f32[2]",
            "f32[2,2], f64[2]",
        ],
    ),
    refusing(
        part(
            "linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False) -> Tensor",
            LINALG,
            |e, a| triangular(e, *args::tensor(a, 0)?, *args::tensor(a, 1)?, args::flag(a, 2), args::flag(a, 3), args::flag(a, 4)),
            &[
                "f32[3,3], f32[3,2], upper=True",
                "f64[2,3,3], f64[2,3,2], upper=False",
                "f32[3,3], f32[3,2], upper=True, unitriangular=True",
            ],
        ),
        shapes::solve_triangular,
    ),
    part(
        "triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)",
        BOTH,
        |e, a| {
            let (b, mut x) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
            let mut upper = args::flag(a, 2);
            let coefficient = column_major_copy(e, x)?;
            if args::flag(a, 3) {
                x = one(e, "transpose.int", &[t(x), i(-2), i(-1)])?;
                upper = !upper;
            }
            let solution = triangular(e, x, b, upper, true, args::flag(a, 4))?[0];
            Ok(smallvec![solution, coefficient])
        },
        &["f32[3,2], f32[3,3]"],
    ),
    refusing(
        part(
            "cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor",
            BOTH,
            |e, a| {
                let (b, l) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
                let other = one(e, "transpose.int", &[t(l), i(-2), i(-1)])?;
                let (lower, upper) = if args::flag(a, 2) { (other, l) } else { (l, other) };
                let half = triangular(e, lower, b, false, true, false)?[0];
                triangular(e, upper, half, true, true, false)
            },
            &["f32[3,2], f32[3,3]"],
        ),
        shapes::cholesky_solve,
    ),
    part(
        "cholesky_inverse(Tensor self, bool upper=False) -> Tensor",
        BOTH,
        |e, a| {
            let x = *args::tensor(a, 0)?;
            let facts = e.facts(x).clone();
            let size = facts.dims[facts.rank() - 1];
            let eye = one(e, "eye.m", &[Arg::Int(size), Arg::Int(size), Arg::DType(facts.dtype)])?;
            let eye = one(e, "expand", &[t(eye), Arg::Ints(facts.dims)])?;
            call(e, "cholesky_solve", &[t(eye), t(x), a[1].clone()])
        },
        &["f32[3,3]"],
    ),
    part(
        "linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor",
        LINALG,
        |e, a| lu_solve(e, *args::tensor(a, 0)?, *args::tensor(a, 1)?, *args::tensor(a, 2)?, args::flag(a, 4)),
        &[],
    ),
    part(
        "lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor",
        BOTH,
        |e, a| lu_solve(e, *args::tensor(a, 1)?, *args::tensor(a, 2)?, *args::tensor(a, 0)?, false),
        &[],
    ),
    part(
        "linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)",
        LINALG,
        |e, a| {
            let factors = call(e, "_lu_factor", &a[..1])?;
            lu_unpack(e, factors[0], factors[1])
        },
        &["f32[3,3]", "f32[4,3]", "f64[2,3,4]"],
    ),
    part(
        "lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> (Tensor P, Tensor L, Tensor U)",
        Forms::FUNCTION,
        |e, a| lu_unpack(e, *args::tensor(a, 0)?, *args::tensor(a, 1)?),
        &[],
    ),
    part(
        "linalg_matrix_power(Tensor self, int n) -> Tensor",
        LINALG,
        matrix_power,
        &["f32[3,3], 3", "f32[3,3], 5", "f32[3,3], -2", "f64[2,2,2], 0", "f32[2,3], 2"],
    ),
    part("matrix_power(Tensor self, int n) -> Tensor", BOTH, matrix_power, &["f32[3,3], 2"]),
    part(
        "linalg_multi_dot(Tensor[] tensors) -> Tensor",
        LINALG,
        multi_dot,
        &["[f32[2,3], f32[3,4], f32[4,2]]", "[f32[3], f32[3,4], f32[4]]"],
    ),
    part("chain_matmul(Tensor[] matrices) -> Tensor", Forms::FUNCTION, multi_dot, &["[f32[2,3], f32[3,4], f32[4,2]]"]),
    part("linalg_matmul(Tensor self, Tensor other) -> Tensor", LINALG, |e, a| call(e, "matmul", a), &["f32[2,3], f32[3,2]"]),
    part(
        "linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)",
        LINALG,
        |e, a| call(e, "diagonal", a),
        &["f32[2,3,3]"],
    ),
    part("linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor", LINALG, |e, a| cross(e, a), &["f32[2,3], f32[2,3]"]),
    part(
        "cross(Tensor self, Tensor other, int? dim=None) -> Tensor",
        BOTH,
        |e, a| {
            let facts = e.facts(*args::tensor(a, 0)?).clone();
            let d = match args::optional_int(a, 2)? {
                Some(d) => d,
                None => {
                    let mut found = None;
                    for (k, size) in facts.dims.iter().enumerate() {
                        if found.is_none() && e.dims().decide(Rel::Eq, *size, Dim::Is(3))? {
                            found = Some(k as i64);
                        }
                    }
                    found.ok_or_else(|| OpError::runtime("no dimension of size 3 in input"))?
                }
            };
            cross(e, &[a[0].clone(), a[1].clone(), i(d)])
        },
        &["f32[2,3], f32[2,3]", "f32[3,2], f32[3,2], 0", "f32[2,2], f32[2,2]", "f32[3], f32[2,3], 1"],
    ),
    no_complex(
        part(
            "linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor",
            LINALG,
            |e, a| {
                let product = call::mul(e, *args::tensor(a, 0)?, a[1].clone())?;
                call(e, "sum.dim_IntList", &[t(product), Arg::Ints(smallvec![args::dim(a, 2)?])])
            },
            &["f32[2,3], f32[2,3]", "f32[2,3], f32[2,3], dim=0"],
        ),
        "linalg.vecdot of '{}' is not supported",
    ),
    no_complex(
        part("vdot(Tensor self, Tensor other) -> Tensor", BOTH, |e, a| call(e, "dot", a), &["f32[3], f32[3]"]),
        "vdot of '{}' is not supported",
    ),
    part(
        "linalg_pinv(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor",
        LINALG,
        |e, a| pinv(e, *args::tensor(a, 0)?, args::number(a, 1).map(|x| x.as_f64()), args::number(a, 2).map(|x| x.as_f64())),
        &["f32[3,2]", "f64[2,2,3]", "f32[3,3], rtol=0.5"],
    ),
    part(
        "linalg_pinv.rcond(Tensor self, float rcond, bool hermitian=False) -> Tensor",
        LINALG,
        |e, a| pinv(e, *args::tensor(a, 0)?, Some(0.0), Some(args::float(a, 1, 0.0))),
        &["f32[3,2], 0.1"],
    ),
    part(
        "_pinverse(Tensor self, float rcond=1e-15) -> Tensor",
        Forms::INTERNAL,
        |e, a| pinv(e, *args::tensor(a, 0)?, Some(0.0), Some(args::float(a, 1, 1e-15))),
        &[],
    ),
    constant(part(
        "linalg_matrix_rank(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor",
        LINALG,
        |e, a| {
            let x = *args::tensor(a, 0)?;
            let values = one(e, "linalg_svdvals", &[t(x)])?;
            let bound = tolerance(e, x, values, args::number(a, 1).map(|x| x.as_f64()), args::number(a, 2).map(|x| x.as_f64()))?;
            let above = one(e, "gt.Tensor", &[t(values), t(bound)])?;
            call(e, "sum.dim_IntList", &[t(above), ints([-1])])
        },
        &["f32[3,2]", "f64[2,3,3]"],
    )),
    part(
        "svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)",
        BOTH,
        |e, a| {
            let parts = call(e, "linalg_svd", &[a[0].clone(), Arg::Bool(!args::flag(a, 1))])?;
            let v = one(e, "transpose.int", &[t(parts[2]), i(-2), i(-1)])?;
            Ok(smallvec![parts[0], parts[1], v])
        },
        &[],
    ),
    part(
        "linalg_lstsq(Tensor self, Tensor b, float? rcond=None, *, str? driver=None) -> (Tensor solution, Tensor residuals, Tensor rank, Tensor singular_values)",
        LINALG,
        lstsq,
        &["f32[4,2], f32[4,1]", "f64[5,3], f64[5,2]"],
    ),
    part(
        "linalg_tensorinv(Tensor self, int ind=2) -> Tensor",
        LINALG,
        |e, a| {
            let x = *args::tensor(a, 0)?;
            let (facts, ind) = (e.facts(x).clone(), args::int(a, 1)?);
            if ind <= 0 {
                return Err(OpError::runtime("Expected a strictly positive integer for 'ind'"));
            }
            let at = (ind as usize).min(facts.rank());
            let rows = facts.dims[..at].iter().fold(Dim::Is(1), |n, d| e.dims().calc(taipan_ir::DimOp::Mul, n, *d));
            let columns = facts.dims[at..].iter().fold(Dim::Is(1), |n, d| e.dims().calc(taipan_ir::DimOp::Mul, n, *d));
            let flat = one(e, "reshape", &[t(x), call::dims([rows, columns])])?;
            let inverse = one(e, "linalg_inv", &[t(flat)])?;
            let sizes = facts.dims[at..].iter().chain(&facts.dims[..at]).copied();
            call(e, "reshape", &[t(inverse), call::dims(sizes)])
        },
        &["f64[4,2,2], 1"],
    ),
];

/// A copy whose matrices lie column by column.
fn column_major_copy(e: &mut dyn Emitter, x: Val) -> Result<Val, OpError> {
    let turned = one(e, "transpose.int", &[t(x), i(-2), i(-1)])?;
    let copied = one(e, "clone", &[t(turned), Arg::MemoryFormat(taipan_ir::MemoryFormat::Contiguous)])?;
    one(e, "transpose.int", &[t(copied), i(-2), i(-1)])
}

/// Both values with their batch dims broadcast.
fn batched(e: &mut dyn Emitter, x: Val, y: Val) -> Result<(Val, Val), OpError> {
    let (p, q) = (e.facts(x).dims.clone(), e.facts(y).dims.clone());
    let batch = rules::broadcast_pair(e.dims(), &p[..p.len() - 2], &q[..q.len() - 2])?;
    let widen = |e: &mut dyn Emitter, v: Val, own: &[Dim]| {
        let sizes: Vec<Dim> = batch.iter().chain(&own[own.len() - 2..]).copied().collect();
        if sizes == own { Ok(v) } else { one(e, "expand", &[t(v), call::dims(sizes)]) }
    };
    Ok((widen(e, x, &p)?, widen(e, y, &q)?))
}

fn solve(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let (x, b) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
    let (x_facts, b_facts) = (e.facts(x).clone(), e.facts(b).clone());
    check_matrix(&x_facts, "linalg.solve")?;
    let rank = x_facts.rank();
    let (m, size) = (x_facts.dims[rank - 2], x_facts.dims[rank - 1]);
    if m != size && !e.dims().decide(Rel::Eq, m, size)? {
        return Err(OpError::runtime(format!("linalg.solve: A must be batches of square matrices, but they are {m} by {size} matrices")));
    }
    if x_facts.dtype != b_facts.dtype {
        return Err(OpError::runtime(format!(
            "linalg.solve: Expected A and B to have the same dtype, but found A of type {} and B of type {} instead",
            x_facts.dtype.scalar_name(),
            b_facts.dtype.scalar_name()
        )));
    }
    let vector = b_facts.rank() == 1 || (b_facts.rank() + 1 == rank && b_facts.dims[..] == x_facts.dims[..rank - 1]);
    let left = args::flag(a, 2);
    let mut right = if vector { one(e, "unsqueeze", &[t(b), i(-1)])? } else { b };
    let mut x = x;
    if !left {
        x = one(e, "transpose.int", &[t(x), i(-2), i(-1)])?;
        right = one(e, "transpose.int", &[t(right), i(-2), i(-1)])?;
    }
    let sizes = e.facts(right).dims.clone();
    let (rows, columns) = (sizes[sizes.len() - 2], sizes[sizes.len() - 1]);
    if rows != size && !e.dims().decide(Rel::Eq, rows, size)? {
        let (rows, columns, equation) = if left { (rows, columns, "AX = B") } else { (columns, rows, "XA = B") };
        return Err(OpError::runtime(format!(
            "linalg.solve: Incompatible shapes of A and B for the equation {equation} ({size}x{size} and {rows}x{columns})"
        )));
    }
    let (x, right) = batched(e, x, right)?;
    let mut out = one(e, "_linalg_solve", &[t(x), t(right)])?;
    if !left {
        out = one(e, "transpose.int", &[t(out), i(-2), i(-1)])?;
    }
    Ok(smallvec![if vector { one(e, "squeeze.dim", &[t(out), i(-1)])? } else { out }])
}

fn triangular(e: &mut dyn Emitter, x: Val, b: Val, upper: bool, left: bool, unit: bool) -> Result<Vals, OpError> {
    check_matrix(&e.facts(x).clone(), "linalg.solve_triangular")?;
    let (mut x, mut b, mut upper) = (x, b, upper);
    if !left {
        x = one(e, "transpose.int", &[t(x), i(-2), i(-1)])?;
        b = one(e, "transpose.int", &[t(b), i(-2), i(-1)])?;
        upper = !upper;
    }
    let (x, b) = batched(e, x, b)?;
    let out = one(e, "_solve_triangular", &[t(x), t(b), Arg::Bool(upper), Arg::Bool(unit)])?;
    Ok(smallvec![if left { out } else { one(e, "transpose.int", &[t(out), i(-2), i(-1)])? }])
}

/// P, L and U of packed factors.
fn lu_unpack(e: &mut dyn Emitter, packed: Val, pivots: Val) -> Result<Vals, OpError> {
    let facts = e.facts(packed).clone();
    let rank = facts.rank();
    let (m, size) = (facts.dims[rank - 2], facts.dims[rank - 1]);
    let k = e.dims().calc(taipan_ir::DimOp::Min, m, size);
    let lower = one(e, "narrow", &[t(packed), i(-1), i(0), Arg::Int(k)])?;
    let lower = one(e, "tril", &[t(lower), i(-1)])?;
    let eye = one(e, "eye.m", &[Arg::Int(m), Arg::Int(k), Arg::DType(facts.dtype)])?;
    let lower = call::add(e, lower, t(eye))?;
    let lower = one(e, "contiguous", &[t(lower)])?;
    let upper = one(e, "narrow", &[t(packed), i(-2), i(0), Arg::Int(k)])?;
    let upper = one(e, "triu", &[t(upper)])?;
    let upper = one(e, "clone", &[t(upper), Arg::MemoryFormat(taipan_ir::MemoryFormat::Contiguous)])?;
    let lower = one(e, "clone", &[t(lower), Arg::MemoryFormat(taipan_ir::MemoryFormat::Contiguous)])?;
    let permutation = one(e, "_lu_permutation", &[t(pivots), Arg::Int(m), Arg::DType(facts.dtype)])?;
    Ok(smallvec![permutation, lower, upper])
}

fn lu_solve(e: &mut dyn Emitter, packed: Val, pivots: Val, b: Val, adjoint: bool) -> Result<Vals, OpError> {
    let parts = lu_unpack(e, packed, pivots)?;
    let turned = |e: &mut dyn Emitter, v: Val| one(e, "transpose.int", &[t(v), i(-2), i(-1)]);
    if adjoint {
        let (upper, lower) = (turned(e, parts[2])?, turned(e, parts[1])?);
        let half = triangular(e, upper, b, false, true, false)?[0];
        let rest = triangular(e, lower, half, true, true, true)?[0];
        return call(e, "matmul", &[t(parts[0]), t(rest)]);
    }
    let exchanged = turned(e, parts[0])?;
    let b = one(e, "matmul", &[t(exchanged), t(b)])?;
    let half = triangular(e, parts[1], b, false, true, true)?[0];
    triangular(e, parts[2], half, true, true, false)
}

fn matrix_power(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let (x, power) = (*args::tensor(a, 0)?, args::int(a, 1)?);
    let facts = e.facts(x).clone();
    let rank = facts.rank();
    if rank < 2 {
        return Err(OpError::runtime("linalg.matrix_power: The input tensor A must have at least 2 dimensions."));
    }
    let (m, size) = (facts.dims[rank - 2], facts.dims[rank - 1]);
    if m != size && !e.dims().decide(Rel::Eq, m, size)? {
        return Err(OpError::runtime(format!(
            "linalg.matrix_power: A must be batches of square matrices, but they are {m} by {size} matrices"
        )));
    }
    if power == 0 {
        let eye = one(e, "eye.m", &[Arg::Int(size), Arg::Int(size), Arg::DType(facts.dtype)])?;
        let eye = one(e, "expand", &[t(eye), Arg::Ints(facts.dims)])?;
        return call(e, "clone", &[t(eye), Arg::MemoryFormat(taipan_ir::MemoryFormat::Contiguous)]);
    }
    let mut square = if power < 0 { one(e, "linalg_inv", &[t(x)])? } else { x };
    let mut left = power.unsigned_abs();
    if left == 1 {
        return if power < 0 { Ok(smallvec![square]) } else { call(e, "clone", &[t(square)]) };
    }
    let mut result: Option<Val> = None;
    while left > 0 {
        if left & 1 == 1 {
            result = Some(match result {
                Some(r) => one(e, "matmul", &[t(r), t(square)])?,
                None => square,
            });
        }
        left >>= 1;
        if left > 0 {
            square = one(e, "matmul", &[t(square), t(square)])?;
        }
    }
    Ok(result.into_iter().collect())
}

/// Products from left to right; a vector at an end counts as a row or a column.
fn multi_dot(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let list = args::tensors(a, 0)?;
    let Some((first, rest)) = list.split_first().filter(|(_, rest)| !rest.is_empty()) else {
        return Err(OpError::runtime(format!("multi_dot(): expected at least 2 tensors but got {}", list.len())));
    };
    let mut out = *first;
    for other in rest {
        out = one(e, "matmul", &[t(out), t(*other)])?;
    }
    Ok(smallvec![out])
}

fn cross(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let (x, y) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
    let (p, q) = (e.facts(x).clone(), e.facts(y).clone());
    if p.rank() != q.rank() {
        return Err(OpError::runtime("linalg.cross: inputs must have the same number of dimensions."));
    }
    let d = wrap_dim(args::int(a, 2)?, p.rank())?;
    for facts in [&p, &q] {
        if !e.dims().decide(Rel::Eq, facts.dims[d], Dim::Is(3))? {
            return Err(OpError::runtime(format!(
                "linalg.cross: inputs dimension {d} must have length 3. Got {} and {}",
                p.dims[d], q.dims[d]
            )));
        }
    }
    let turned = |e: &mut dyn Emitter, v: Val, by: i64| one(e, "roll", &[t(v), ints([by]), ints([d as i64])]);
    let (x_next, y_last) = (turned(e, x, -1)?, turned(e, y, 1)?);
    let (x_last, y_next) = (turned(e, x, 1)?, turned(e, y, -1)?);
    let first = call::mul(e, x_next, t(y_last))?;
    let second = call::mul(e, x_last, t(y_next))?;
    Ok(smallvec![call::sub(e, first, t(second))?])
}

/// Below what singular values count as zero, for each matrix.
fn tolerance(e: &mut dyn Emitter, x: Val, values: Val, atol: Option<f64>, rtol: Option<f64>) -> Result<Val, OpError> {
    let facts = e.facts(x).clone();
    let rank = facts.rank();
    let (m, size) = (e.dims().number(facts.dims[rank - 2])?, e.dims().number(facts.dims[rank - 1])?);
    let epsilon = if facts.dtype == DType::F64 { f64::EPSILON } else { f64::from(f32::EPSILON) };
    let relative = rtol.unwrap_or(if atol.is_some_and(|a| a > 0.0) { 0.0 } else { epsilon * m.max(size) as f64 });
    let greatest = one(e, "narrow", &[t(values), i(-1), i(0), i(1)])?;
    let bound = call::mul(e, greatest, f(relative))?;
    one(e, "clamp_min", &[t(bound), f(atol.unwrap_or(0.0))])
}

fn pinv(e: &mut dyn Emitter, x: Val, atol: Option<f64>, rtol: Option<f64>) -> Result<Vals, OpError> {
    check_matrix(&e.facts(x).clone(), "linalg.pinv")?;
    let parts = call(e, "linalg_svd", &[t(x), Arg::Bool(false)])?;
    let bound = tolerance(e, x, parts[1], atol, rtol)?;
    let above = one(e, "gt.Tensor", &[t(parts[1]), t(bound)])?;
    let inverse = call::unary(e, "reciprocal", parts[1])?;
    let inverse = one(e, "where.self", &[t(above), t(inverse), f(0.0)])?;
    let v = one(e, "transpose.int", &[t(parts[2]), i(-2), i(-1)])?;
    let row = one(e, "unsqueeze", &[t(inverse), i(-2)])?;
    let v = call::mul(e, v, t(row))?;
    let ut = one(e, "transpose.int", &[t(parts[0]), i(-2), i(-1)])?;
    call(e, "matmul", &[t(v), t(ut)])
}

/// The solution by `A = Q R`, for matrices of full rank with no fewer rows than columns; by the pseudo-inverse otherwise.
fn lstsq(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let (x, b) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
    let facts = e.facts(x).clone();
    check_matrix(&facts, "torch.linalg.lstsq")?;
    let rank = facts.rank();
    let (m, size) = (facts.dims[rank - 2], facts.dims[rank - 1]);
    let vector = e.facts(b).rank() + 1 == rank;
    let right = if vector { one(e, "unsqueeze", &[t(b), i(-1)])? } else { b };
    let solution = if e.dims().decide(Rel::Le, size, m)? {
        let parts = call(e, "linalg_qr", &[t(x)])?;
        let turned = one(e, "transpose.int", &[t(parts[0]), i(-2), i(-1)])?;
        let projected = one(e, "matmul", &[t(turned), t(right)])?;
        triangular(e, parts[1], projected, true, true, false)?[0]
    } else {
        let inverse = pinv(e, x, None, None)?[0];
        one(e, "matmul", &[t(inverse), t(right)])?
    };
    // The default driver gives no residuals.
    let wanted = matches!(args::text(a, 3), "gels" | "gelsd" | "gelss");
    let residuals = if wanted && e.dims().decide(Rel::Lt, size, m)? {
        let reached = one(e, "matmul", &[t(x), t(solution)])?;
        let difference = call::sub(e, reached, t(right))?;
        let squares = call::mul(e, difference, t(difference))?;
        one(e, "sum.dim_IntList", &[t(squares), ints([-2])])?
    } else {
        one(e, "new_empty", &[t(x), ints([0])])?
    };
    let below = e.dims().calc(taipan_ir::DimOp::Sub, m, size);
    let solution = if e.dims().decide(Rel::Lt, Dim::Is(0), below)? {
        // LAPACK leaves the solution in the place of the right side.
        let mut shape = e.facts(solution).dims.clone();
        let at = shape.len() - 2;
        shape[at] = below;
        let rest = one(e, "new_zeros", &[t(solution), Arg::Ints(shape)])?;
        let whole = one(e, "cat", &[Arg::Tensors(vec![solution, rest]), i(-2)])?;
        let whole = column_major_copy(e, whole)?;
        one(e, "narrow", &[t(whole), i(-2), i(0), Arg::Int(size)])?
    } else {
        solution
    };
    let solution = if vector { one(e, "squeeze.dim", &[t(solution), i(-1)])? } else { solution };
    let none = one(e, "new_empty", &[t(x), ints([0])])?;
    let rank = one(e, "linalg_matrix_rank", &[t(x)])?;
    Ok(smallvec![solution, residuals, rank, none])
}
