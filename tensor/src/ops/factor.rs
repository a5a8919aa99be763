//! Factorizations of matrices and what solves by them: `torch.linalg`'s kernels. All work in `f64` and round once.

use super::{
    args,
    define::{gradient, kernel, samples, ulps},
    gradient::factor::*,
    rules,
};
use crate::{Context, KernelFn, Tensor, matrix, write};
use smallvec::smallvec;
use taipan_ir::{
    Arg, DType, Dim, DimOp, Facts, Op, OpError, Rel, Shape,
    op::{FactsList, Family, Forms, Kernel, RuleContext},
};

const LINALG: Forms = Forms::LINALG;
const INTERNAL: Forms = Forms::INTERNAL;
/// Relative to the largest element: PyTorch works in the type of the elements.
pub const WITHIN: &[(DType, u32)] = &[(DType::F32, 64), (DType::F64, 256)];

const fn factor(schema: &'static str, forms: Forms, facts: taipan_ir::op::FactsRule, run: Kernel, examples: &'static [&'static str]) -> Op {
    ulps(samples(kernel(schema, forms, Family::Other, facts, run), examples), WITHIN)
}

/// The op tables of this file.
pub static OPS: &[Op] = &[
    gradient(
        factor(
            "linalg_inv(Tensor A) -> Tensor",
            LINALG,
            |cx, a| {
                let x = square(cx, a, "linalg.inv")?;
                Ok(smallvec![column_major(cx, x, x.dtype, x.dims.clone())?])
            },
            Kernel(&(inv as KernelFn)),
            &["f32[3,3]", "f64[2,3,3]", "f32[3,3].t", "f32[2,3]", "i64[2,2]", "f32[3]"],
        ),
        "result",
        of_inv,
    ),
    gradient(
        factor(
            "linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
            LINALG,
            |cx, a| {
                let x = square(cx, a, "linalg.inv_ex")?;
                let mut out = FactsList::new();
                out.push(column_major(cx, x, x.dtype, x.dims.clone())?);
                out.extend(rules::fresh(cx, x, DType::I32, batch_of(x).into())?);
                Ok(out)
            },
            Kernel(&(inv_ex as KernelFn)),
            &["f32[3,3]"],
        ),
        "inverse",
        of_inv,
    ),
    factor("_lu_factor(Tensor A) -> (Tensor LU, Tensor pivots)", INTERNAL, lu_rule, Kernel(&(lu_factor as KernelFn)), &[]),
    factor(
        "_lu_permutation(Tensor pivots, int size, ScalarType dtype) -> Tensor",
        INTERNAL,
        |cx, a| {
            let x = *args::tensor(a, 0)?;
            let size = args::dim(a, 1)?;
            let dims: Shape = x.dims[..x.rank().max(1) - 1].iter().copied().chain([size, size]).collect();
            rules::fresh(cx, x, args::dtype(a, 2).unwrap_or(DType::F32), dims)
        },
        Kernel(&(permutation as KernelFn)),
        &[],
    ),
    factor(
        "linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)",
        LINALG,
        lu_rule,
        Kernel(&(lu_factor as KernelFn)),
        &["f32[3,3]", "f64[2,3,4]", "f32[4,3]"],
    ),
    gradient(
        factor(
            "linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)",
            LINALG,
            |cx, a| {
                let x = square(cx, a, "linalg.slogdet")?;
                let mut out = rules::fresh(cx, x, x.dtype, batch_of(x).into())?;
                out.extend(rules::fresh(cx, x, x.dtype, batch_of(x).into())?);
                Ok(out)
            },
            Kernel(&(slogdet as KernelFn)),
            &["f32[3,3]", "f64[2,2,2]"],
        ),
        "A",
        of_slogdet,
    ),
    gradient(
        factor(
            "linalg_det(Tensor A) -> Tensor",
            LINALG,
            |cx, a| {
                let x = square(cx, a, "linalg.det")?;
                rules::fresh(cx, x, x.dtype, batch_of(x).into())
            },
            Kernel(&(det as KernelFn)),
            &["f32[3,3]", "f64[2,2,2]", "f32[2,3]", "i64[2,2]"],
        ),
        "A, result",
        of_det,
    ),
    gradient(
        factor(
            "_linalg_solve(Tensor A, Tensor B) -> Tensor",
            INTERNAL,
            |cx, a| {
                let (x, b) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
                Ok(smallvec![column_major(cx, x, x.dtype, b.dims.clone())?])
            },
            Kernel(&(solve as KernelFn)),
            &["f32[3,3], f32[3,2]"],
        ),
        "A, result",
        of_solve,
    ),
    gradient(
        factor(
            "_solve_triangular(Tensor A, Tensor B, bool upper, bool unitriangular) -> Tensor",
            INTERNAL,
            |cx, a| {
                let (x, b) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
                Ok(smallvec![column_major(cx, x, x.dtype, b.dims.clone())?])
            },
            Kernel(&(solve_triangular as KernelFn)),
            &[],
        ),
        "A, result",
        of_solve_triangular,
    ),
    gradient(
        factor(
            "linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)",
            LINALG,
            |cx, a| {
                let x = square(cx, a, "linalg.cholesky_ex")?;
                let mut out = FactsList::new();
                out.push(column_major(cx, x, x.dtype, x.dims.clone())?);
                out.extend(rules::fresh(cx, x, DType::I32, batch_of(x).into())?);
                Ok(out)
            },
            Kernel(&(cholesky_ex as KernelFn)),
            &["f32[1,1]+"],
        ),
        "L",
        of_cholesky,
    ),
    gradient(
        factor(
            "linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor",
            LINALG,
            |cx, a| {
                let x = square(cx, a, "linalg.cholesky")?;
                Ok(smallvec![column_major(cx, x, x.dtype, x.dims.clone())?])
            },
            Kernel(&(cholesky as KernelFn)),
            &["f32[1,1]+", "f32[2,3]"],
        ),
        "result",
        of_cholesky,
    ),
    gradient(
        factor(
            "linalg_qr(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)",
            LINALG,
            qr_rule,
            Kernel(&(qr as KernelFn)),
            &["f32[4,3]", "f32[3,4]", "f64[2,3,3]", "f32[4,3], 'complete'", "f32[4,3], 'r'", "f32[4,3], 'x'", "f32[4]"],
        ),
        "Q, R",
        of_qr,
    ),
    gradient(
        factor(
            "linalg_eigh(Tensor self, str UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)",
            LINALG,
            |cx, a| {
                let x = square(cx, a, "linalg.eigh")?;
                let mut out = rules::fresh(cx, x, x.dtype, x.dims[..x.rank() - 1].into())?;
                out.push(column_major(cx, x, x.dtype, x.dims.clone())?);
                Ok(out)
            },
            Kernel(&(eigh as KernelFn)),
            &["f32[2,3]"],
        ),
        "eigenvalues, eigenvectors",
        of_eigh,
    ),
    gradient(
        factor(
            "linalg_eigvalsh(Tensor self, str UPLO='L') -> Tensor",
            LINALG,
            |cx, a| {
                let x = square(cx, a, "linalg.eigvalsh")?;
                rules::fresh(cx, x, x.dtype, x.dims[..x.rank() - 1].into())
            },
            Kernel(&(eigvalsh as KernelFn)),
            &["f32[3,3]", "f64[2,4,4]", "f32[3,3], 'U'"],
        ),
        "self",
        of_eigvalsh,
    ),
    gradient(
        factor(
            "linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)",
            LINALG,
            |cx, a| svd_rule(cx, a, args::flag(a, 1)),
            Kernel(&(svd as KernelFn)),
            &["f32[4]"],
        ),
        "U, S, Vh",
        of_svd,
    ),
    gradient(
        factor(
            "linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor",
            LINALG,
            |cx, a| {
                let x = *args::tensor(a, 0)?;
                check_matrix(x, "linalg.svdvals")?;
                let least = cx.dims.calc(DimOp::Min, x.dims[x.rank() - 1], x.dims[x.rank() - 2]);
                let dims: Shape = batch_of(x).iter().copied().chain([least]).collect();
                rules::fresh(cx, x, x.dtype, dims)
            },
            Kernel(&(svdvals as KernelFn)),
            &["f32[4,3]", "f64[2,3,4]"],
        ),
        "A",
        of_svdvals,
    ),
    gradient(
        factor(
            "linalg_matrix_exp(Tensor self) -> Tensor",
            LINALG,
            |cx, a| {
                let x = square(cx, a, "linalg.matrix_exp")?;
                rules::fresh(cx, x, x.dtype, x.dims.clone())
            },
            Kernel(&(matrix_exp as KernelFn)),
            &["f32[3,3]", "f64[2,2,2]"],
        ),
        "self",
        of_matrix_exp,
    ),
];

/// The dims before the last two.
fn batch_of(x: &Facts) -> &[Dim] {
    &x.dims[..x.rank() - 2]
}

/// Facts with the elements of each matrix column by column, as LAPACK leaves them.
fn column_major(cx: &mut RuleContext<'_>, like: &Facts, dtype: DType, dims: Shape) -> Result<Facts, OpError> {
    let rank = dims.len();
    let mut flipped = dims.clone();
    flipped.swap(rank - 1, rank - 2);
    let mut facts = Facts::contiguous(cx.dims, dtype, like.device.clone(), flipped)?;
    facts.dims = dims;
    facts.strides.swap(rank - 1, rank - 2);
    Ok(facts)
}

/// Fails where argument 0 is no batch of matrices of floats.
pub fn check_matrix(x: &Facts, name: &str) -> Result<(), OpError> {
    if x.rank() < 2 {
        return Err(OpError::runtime(format!("{name}: The input tensor A must have at least 2 dimensions.")));
    }
    if x.dtype.is_half() {
        return Err(OpError::not_implemented(format!("{name}: Low precision dtypes not supported. Got {}", x.dtype.scalar_name())));
    }
    if !x.dtype.is_float() {
        return Err(OpError::not_implemented(format!(
            "{name}: Expected a floating point or complex tensor as input. Got {}",
            x.dtype.scalar_name()
        )));
    }
    Ok(())
}

/// Argument 0, which must be a batch of square matrices.
fn square<'a>(cx: &mut RuleContext<'_>, a: &[Arg<&'a Facts>], name: &str) -> Result<&'a Facts, OpError> {
    let x = *args::tensor(a, 0)?;
    check_matrix(x, name)?;
    let (m, n) = (x.dims[x.rank() - 2], x.dims[x.rank() - 1]);
    if m != n && !cx.dims.decide(Rel::Eq, m, n)? {
        return Err(OpError::runtime(format!("{name}: A must be batches of square matrices, but they are {m} by {n} matrices")));
    }
    Ok(x)
}

/// The matrices of a batch, and their sizes.
struct Batch {
    elements: Vec<f64>,
    rows: usize,
    columns: usize,
}

impl Batch {
    fn of(cx: &mut Context, x: &Tensor) -> Result<Batch, OpError> {
        let rank = x.rank();
        let (rows, columns) = (x.sizes()[rank - 2] as usize, x.sizes()[rank - 1] as usize);
        Ok(Batch { elements: write::cast(cx, x, DType::F64)?.to_vec::<f64>()?, rows, columns })
    }

    fn matrices(&self) -> impl Iterator<Item = &[f64]> {
        self.elements.chunks((self.rows * self.columns).max(1))
    }
}

/// Row-major elements as the result that the facts describe.
fn result(cx: &mut Context, facts: &Facts, elements: &[f64]) -> Result<Tensor, OpError> {
    let sizes = super::reduce::sizes_of(facts)?;
    let target = super::create::filled(facts, taipan_ir::Number::Int(0))?;
    if !elements.is_empty() {
        write::fill_new(cx, &target, &Tensor::from_slice(elements, &sizes)?)?;
    }
    Ok(target)
}

/// `(Batch element 2): `, where there is a batch.
fn which(x: &Tensor, k: usize) -> String {
    if x.rank() > 2 { format!("(Batch element {k}): ") } else { String::new() }
}

fn identity(n: usize) -> Vec<f64> {
    (0..n * n).map(|i| f64::from(u8::from(i / n == i % n))).collect()
}

/// The inverses, and for each the order of the first pivot that is missing, or zero.
fn inverses(cx: &mut Context, x: &Tensor) -> Result<(Vec<f64>, Vec<i32>), OpError> {
    let batch = Batch::of(cx, x)?;
    let n = batch.rows;
    let (mut out, mut info) = (Vec::with_capacity(batch.elements.len()), vec![]);
    for a in batch.matrices() {
        let factors = matrix::lu(a, n, n);
        info.push(factors.singular.map_or(0, |k| k as i32 + 1));
        let mut inverse = identity(n);
        factors.solve(n, &mut inverse, n);
        out.extend(inverse);
    }
    Ok((out, info))
}

fn inv(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let (elements, info) = inverses(cx, x)?;
    if let Some(k) = info.iter().position(|i| *i != 0) {
        return Err(OpError::runtime(format!(
            "linalg.inv: {}The diagonal element {} is zero, the inversion could not be completed because the input matrix is singular.",
            which(x, k),
            info[k]
        )));
    }
    Ok(vec![result(cx, &facts[0], &elements)?])
}

fn inv_ex(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    if args::flag(a, 1) {
        inv(cx, a, facts)?;
    }
    let (elements, info) = inverses(cx, args::tensor(a, 0)?)?;
    let sizes = super::reduce::sizes_of(&facts[1])?;
    Ok(vec![result(cx, &facts[0], &elements)?, Tensor::from_slice(&info, &sizes)?])
}

fn lu_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let x = *args::tensor(a, 0)?;
    check_matrix(x, "torch.lu_factor")?;
    let least = cx.dims.calc(DimOp::Min, x.dims[x.rank() - 1], x.dims[x.rank() - 2]);
    let pivots: Shape = batch_of(x).iter().copied().chain([least]).collect();
    let mut out = FactsList::new();
    out.push(column_major(cx, x, x.dtype, x.dims.clone())?);
    out.extend(rules::fresh(cx, x, DType::I32, pivots)?);
    Ok(out)
}

fn lu_factor(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    if matches!(a.get(1), Some(Arg::Bool(false))) {
        return Err(OpError::runtime("linalg.lu_factor: LU without pivoting is not implemented on the CPU"));
    }
    let batch = Batch::of(cx, args::tensor(a, 0)?)?;
    let (mut packed, mut pivots) = (vec![], vec![]);
    for a in batch.matrices() {
        let factors = matrix::lu(a, batch.rows, batch.columns);
        packed.extend(factors.packed);
        pivots.extend(factors.exchanges.iter().map(|p| *p as i32 + 1));
    }
    let sizes = super::reduce::sizes_of(&facts[1])?;
    Ok(vec![result(cx, &facts[0], &packed)?, Tensor::from_slice(&pivots, &sizes)?])
}

/// The matrix whose product with `L U` undoes the exchanges, which are rows counted from one.
fn permutation(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let pivots = write::cast(cx, args::tensor(a, 0)?, DType::I64)?;
    let size = args::int(a, 1)? as usize;
    let each = pivots.sizes().last().copied().unwrap_or(1).max(1) as usize;
    let mut out = vec![];
    for exchanges in pivots.elements::<i64>()?.chunks(each) {
        let mut order: Vec<usize> = (0..size).collect();
        for (k, p) in exchanges.iter().enumerate() {
            let other = usize::try_from(p - 1).ok().filter(|p| *p < size && k < size);
            order.swap(k, other.ok_or_else(|| OpError::runtime("pivots given to lu_unpack must all be greater or equal to 1."))?);
        }
        let mut matrix = vec![0.0; size * size];
        order.iter().enumerate().for_each(|(k, from)| matrix[from * size + k] = 1.0);
        out.extend(matrix);
    }
    Ok(vec![result(cx, &facts[0], &out)?])
}

/// Signs and logarithms of the sizes of the determinants.
fn determinants(cx: &mut Context, x: &Tensor) -> Result<(Vec<f64>, Vec<f64>), OpError> {
    let batch = Batch::of(cx, x)?;
    let n = batch.rows;
    let count: i64 = x.sizes()[..x.rank() - 2].iter().product();
    let (mut signs, mut logs) = (vec![], vec![]);
    for a in batch.matrices() {
        let factors = matrix::lu(a, n, n);
        let diagonal = (0..n).map(|k| factors.packed[k * n + k]);
        signs.push(diagonal.clone().fold(factors.sign(), |s, d| if d == 0.0 { 0.0 } else { s * d.signum() }));
        logs.push(diagonal.map(|d| libm::log(d.abs())).sum());
    }
    // The determinant of an empty matrix is one.
    signs.resize(count.max(0) as usize, 1.0);
    logs.resize(count.max(0) as usize, 0.0);
    Ok((signs, logs))
}

fn slogdet(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let (signs, logs) = determinants(cx, args::tensor(a, 0)?)?;
    Ok(vec![result(cx, &facts[0], &signs)?, result(cx, &facts[1], &logs)?])
}

fn det(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let batch = Batch::of(cx, x)?;
    let n = batch.rows;
    let count: i64 = x.sizes()[..x.rank() - 2].iter().product();
    let mut values: Vec<f64> = batch
        .matrices()
        .map(|a| {
            let factors = matrix::lu(a, n, n);
            (0..n).fold(factors.sign(), |d, k| d * factors.packed[k * n + k])
        })
        .collect();
    values.resize(count.max(0) as usize, 1.0);
    Ok(vec![result(cx, &facts[0], &values)?])
}

fn solve(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let (left, mut right) = (Batch::of(cx, x)?, Batch::of(cx, args::tensor(a, 1)?)?);
    let (n, columns) = (left.rows, right.columns);
    for (k, (a, b)) in left.matrices().zip(right.elements.chunks_mut((n * columns).max(1))).enumerate() {
        let factors = matrix::lu(a, n, n);
        if factors.singular.is_some() {
            return Err(OpError::runtime(format!(
                "torch.linalg.solve: {}The solver failed because the input matrix is singular.",
                which(x, k)
            )));
        }
        factors.solve(n, b, columns);
    }
    Ok(vec![result(cx, &facts[0], &right.elements)?])
}

fn solve_triangular(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let (left, mut right) = (Batch::of(cx, args::tensor(a, 0)?)?, Batch::of(cx, args::tensor(a, 1)?)?);
    let (n, columns, upper, unit) = (left.rows, right.columns, args::flag(a, 2), args::flag(a, 3));
    for (a, b) in left.matrices().zip(right.elements.chunks_mut((n * columns).max(1))) {
        matrix::triangular(a, n, b, columns, upper, unit);
    }
    Ok(vec![result(cx, &facts[0], &right.elements)?])
}

/// The triangles, and for each the order of the first minor that isn't positive, or zero.
fn triangles(cx: &mut Context, x: &Tensor, upper: bool) -> Result<(Vec<f64>, Vec<i32>), OpError> {
    let batch = Batch::of(cx, x)?;
    let n = batch.rows;
    let (mut out, mut info) = (vec![], vec![]);
    for a in batch.matrices() {
        let own = if upper { matrix::transposed(a, n, n) } else { a.to_vec() };
        match matrix::cholesky(&own, n) {
            Ok(l) => {
                out.extend(if upper { matrix::transposed(&l, n, n) } else { l });
                info.push(0);
            }
            Err(order) => {
                out.extend(vec![f64::NAN; n * n]);
                info.push(order as i32);
            }
        }
    }
    Ok((out, info))
}

fn cholesky(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let (elements, info) = triangles(cx, x, args::flag(a, 1))?;
    if let Some(k) = info.iter().position(|i| *i != 0) {
        return Err(OpError::runtime(format!(
            "linalg.cholesky: {}The factorization could not be completed because the input is not positive-definite (the leading minor of order {} is not positive-definite).",
            which(x, k),
            info[k]
        )));
    }
    Ok(vec![result(cx, &facts[0], &elements)?])
}

fn cholesky_ex(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    if args::flag(a, 2) {
        cholesky(cx, a, facts)?;
    }
    let (elements, info) = triangles(cx, args::tensor(a, 0)?, args::flag(a, 1))?;
    let sizes = super::reduce::sizes_of(&facts[1])?;
    Ok(vec![result(cx, &facts[0], &elements)?, Tensor::from_slice(&info, &sizes)?])
}

fn qr_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let x = *args::tensor(a, 0)?;
    check_matrix(x, "linalg.qr")?;
    let mode = args::text(a, 1);
    if !matches!(mode, "reduced" | "complete" | "r") {
        return Err(OpError::runtime(format!(
            "qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'"
        )));
    }
    let (m, n) = (x.dims[x.rank() - 2], x.dims[x.rank() - 1]);
    let k = if mode == "complete" { m } else { cx.dims.calc(DimOp::Min, m, n) };
    let with = |p: Dim, q: Dim| -> Shape { batch_of(x).iter().copied().chain([p, q]).collect() };
    let mut out = FactsList::new();
    if mode == "r" {
        out.extend(rules::fresh(cx, x, x.dtype, smallvec![Dim::Is(0)])?);
    } else {
        out.push(column_major(cx, x, x.dtype, with(m, k))?);
    }
    out.push(column_major(cx, x, x.dtype, with(k, n))?);
    Ok(out)
}

fn qr(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let batch = Batch::of(cx, args::tensor(a, 0)?)?;
    let (m, n) = (batch.rows, batch.columns);
    let k = if args::text(a, 1) == "complete" { m } else { m.min(n) };
    let (mut qs, mut rs) = (vec![], vec![]);
    for a in batch.matrices() {
        let (q, r) = matrix::qr(a, m, n, k);
        qs.extend(q);
        rs.extend(r);
    }
    if args::text(a, 1) == "r" {
        qs.clear();
    }
    Ok(vec![result(cx, &facts[0], &qs)?, result(cx, &facts[1], &rs)?])
}

/// Eigenvalues and eigenvectors of the symmetric matrices of which one triangle is read.
fn symmetric(cx: &mut Context, a: &[Arg<Tensor>]) -> Result<(Vec<f64>, Vec<f64>), OpError> {
    let batch = Batch::of(cx, args::tensor(a, 0)?)?;
    let n = batch.rows;
    let upper = match args::text(a, 1) {
        "L" | "l" => false,
        "U" | "u" => true,
        other => return Err(OpError::runtime(format!("Expected UPLO argument to be 'L' or 'U', but got {other}"))),
    };
    let (mut values, mut vectors) = (vec![], vec![]);
    for a in batch.matrices() {
        let at = |r: usize, c: usize| if (c > r) == upper || r == c { a[r * n + c] } else { a[c * n + r] };
        let whole: Vec<f64> = (0..n * n).map(|i| at(i / n, i % n)).collect();
        let (l, v) = matrix::eigh(&whole, n);
        values.extend(l);
        vectors.extend(v);
    }
    Ok((values, vectors))
}

fn eigh(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let (values, vectors) = symmetric(cx, a)?;
    Ok(vec![result(cx, &facts[0], &values)?, result(cx, &facts[1], &vectors)?])
}

fn eigvalsh(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let (values, _) = symmetric(cx, a)?;
    Ok(vec![result(cx, &facts[0], &values)?])
}

fn svd_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>], full: bool) -> Result<FactsList, OpError> {
    let x = *args::tensor(a, 0)?;
    check_matrix(x, "linalg.svd")?;
    let (m, n) = (x.dims[x.rank() - 2], x.dims[x.rank() - 1]);
    let k = cx.dims.calc(DimOp::Min, m, n);
    let with = |sizes: &[Dim]| -> Shape { batch_of(x).iter().chain(sizes).copied().collect() };
    let mut out = FactsList::new();
    out.push(column_major(cx, x, x.dtype, with(&[m, if full { m } else { k }]))?);
    out.extend(rules::fresh(cx, x, x.dtype, with(&[k]))?);
    out.push(column_major(cx, x, x.dtype, with(&[if full { n } else { k }, n]))?);
    Ok(out)
}

fn svd(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let batch = Batch::of(cx, args::tensor(a, 0)?)?;
    let (m, n) = (batch.rows, batch.columns);
    let k = m.min(n);
    let full = args::flag(a, 1);
    let (mut us, mut ss, mut vs) = (vec![], vec![], vec![]);
    for a in batch.matrices() {
        let (u, s, vt) = matrix::svd(a, m, n);
        ss.extend(s);
        us.extend(if full { widened(&u, m, k, m) } else { u });
        // More rows of Vᵀ are more columns of V.
        vs.extend(if full { matrix::transposed(&widened(&matrix::transposed(&vt, k, n), n, k, n), n, n) } else { vt });
    }
    Ok(vec![result(cx, &facts[0], &us)?, result(cx, &facts[1], &ss)?, result(cx, &facts[2], &vs)?])
}

/// A matrix of `m` rows and `k` orthonormal columns with more such columns, `columns` in all.
fn widened(u: &[f64], m: usize, k: usize, columns: usize) -> Vec<f64> {
    let mut wide = vec![0.0; m * columns];
    (0..m).for_each(|r| wide[r * columns..r * columns + k].copy_from_slice(&u[r * k..(r + 1) * k]));
    let missing: Vec<usize> = (k..columns).collect();
    matrix::complete(&mut wide, m, columns, &missing);
    wide
}

fn svdvals(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let batch = Batch::of(cx, args::tensor(a, 0)?)?;
    let values: Vec<f64> = batch.matrices().flat_map(|a| matrix::svd(a, batch.rows, batch.columns).1).collect();
    Ok(vec![result(cx, &facts[0], &values)?])
}

fn matrix_exp(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let batch = Batch::of(cx, args::tensor(a, 0)?)?;
    let elements: Vec<f64> = batch.matrices().flat_map(|a| matrix::exponential(a, batch.rows)).collect();
    Ok(vec![result(cx, &facts[0], &elements)?])
}
