//! Gradients of what factorizations give.

use super::Maths;
use crate::ops::{
    args,
    call::{i, t},
};
use taipan_ir::{Arg, OpError, Val, gradient::Backward};

type Given = Result<(), OpError>;

fn turned(b: &mut Backward<'_>, x: Val) -> Result<Val, OpError> {
    b.op("transpose.int", &[t(x), i(-2), i(-1)])
}

fn product(b: &mut Backward<'_>, x: Val, y: Val) -> Result<Val, OpError> {
    b.op("matmul", &[t(x), t(y)])
}

/// One gradient per matrix as one that broadcasts over its elements.
fn per_matrix(b: &mut Backward<'_>, x: Val) -> Result<Val, OpError> {
    let column = b.op("unsqueeze", &[t(x), i(-1)])?;
    b.op("unsqueeze", &[t(column), i(-1)])
}

/// `-A⁻ᵀ G A⁻ᵀ`
///
/// # Errors
/// Those of the ops.
pub fn of_inv(b: &mut Backward<'_>) -> Given {
    let inverse = turned(b, b.result(0)?)?;
    let grad = b.grad()?;
    let left = product(b, inverse, grad)?;
    let both = product(b, left, inverse)?;
    let given = b.neg(both)?;
    b.give(0, given);
    Ok(())
}

/// `g det(A) A⁻ᵀ`; an error where the matrix is singular.
///
/// # Errors
/// Those of the ops.
pub fn of_det(b: &mut Backward<'_>) -> Given {
    let inverse = b.op("linalg_inv", &[t(b.tensor(0)?)])?;
    let inverse = turned(b, inverse)?;
    let grad = b.grad()?;
    let scaled = b.mul(grad, b.result(0)?)?;
    let scaled = per_matrix(b, scaled)?;
    let given = b.mul(inverse, scaled)?;
    b.give(0, given);
    Ok(())
}

/// `g A⁻ᵀ` for the logarithm; the sign doesn't change.
///
/// # Errors
/// Those of the ops.
pub fn of_slogdet(b: &mut Backward<'_>) -> Given {
    let inverse = b.op("linalg_inv", &[t(b.tensor(0)?)])?;
    let inverse = turned(b, inverse)?;
    let given = match b.grad_of(1) {
        Some(grad) => {
            let grad = per_matrix(b, grad)?;
            b.mul(inverse, grad)?
        }
        None => b.op("zeros_like", &[t(inverse)])?,
    };
    b.give(0, given);
    Ok(())
}

/// By B: the solution with the transpose. By A: minus that times the solution's transpose.
///
/// # Errors
/// Those of the ops.
pub fn of_solve(b: &mut Backward<'_>) -> Given {
    let matrix = turned(b, b.tensor(0)?)?;
    let grad = b.grad()?;
    let by_right = b.op("_linalg_solve", &[t(matrix), t(grad)])?;
    finish_solve(b, by_right, None)
}

/// As [`of_solve`], of which only the triangle read gets a gradient.
///
/// # Errors
/// Those of the ops.
pub fn of_solve_triangular(b: &mut Backward<'_>) -> Given {
    let (upper, unit) = (args::flag(b.args(), 2), args::flag(b.args(), 3));
    let matrix = turned(b, b.tensor(0)?)?;
    let grad = b.grad()?;
    let by_right = b.op("_solve_triangular", &[t(matrix), t(grad), Arg::Bool(!upper), Arg::Bool(unit)])?;
    finish_solve(b, by_right, Some((upper, unit)))
}

fn finish_solve(b: &mut Backward<'_>, by_right: Val, triangle: Option<(bool, bool)>) -> Given {
    if b.needs(0) {
        let solution = turned(b, b.result(0)?)?;
        let outer = product(b, by_right, solution)?;
        let mut given = b.neg(outer)?;
        if let Some((upper, unit)) = triangle {
            let edge = if unit { 1 } else { 0 };
            given = match upper {
                true => b.op("triu", &[t(given), i(edge)])?,
                false => b.op("tril", &[t(given), i(-edge)])?,
            };
        }
        b.give(0, given);
    }
    if b.needs(1) {
        b.give(1, by_right);
    }
    Ok(())
}

/// `L⁻ᵀ Φ(Lᵀ G) L⁻¹` made symmetric, Φ taking the lower triangle and half of the diagonal.
///
/// # Errors
/// Those of the ops.
pub fn of_cholesky(b: &mut Backward<'_>) -> Given {
    let upper = args::flag(b.args(), 1);
    let (mut lower, mut grad) = (b.result(0)?, b.grad()?);
    if upper {
        (lower, grad) = (turned(b, lower)?, turned(b, grad)?);
    }
    let other = turned(b, lower)?;
    let inner = product(b, other, grad)?;
    let inner = b.op("tril", &[t(inner)])?;
    let below = b.op("tril", &[t(inner), i(-1)])?;
    let sum = b.add(inner, below)?;
    let phi = b.mul(sum, 0.5)?;
    // Lᵀ X = Φ, then Y L = X, which is Lᵀ Yᵀ = Xᵀ.
    let solve = |b: &mut Backward<'_>, right: Val| b.op("_solve_triangular", &[t(other), t(right), Arg::Bool(true), Arg::Bool(false)]);
    let half = solve(b, phi)?;
    let half = turned(b, half)?;
    let whole = solve(b, half)?;
    let mirrored = turned(b, whole)?;
    let sum = b.add(whole, mirrored)?;
    let given = b.mul(sum, 0.5)?;
    b.give(0, given);
    Ok(())
}

/// Of `A = Q R` with no fewer rows than columns and no more columns of Q than A has.
///
/// # Errors
/// For other shapes, as in PyTorch.
pub fn of_qr(b: &mut Backward<'_>) -> Given {
    let (rows, columns) = {
        let facts = b.facts(0)?;
        (facts.dims[facts.rank() - 2], facts.dims[facts.rank() - 1])
    };
    let wide = b.emitter.dims().decide(taipan_ir::Rel::Lt, rows, columns)?;
    if wide || args::text(b.args(), 1) != "reduced" {
        return Err(OpError::not_implemented("the gradient of linalg_qr is there for mode 'reduced' and matrices that aren't wide"));
    }
    let (q, r) = (b.result(0)?, b.result(1)?);
    let mut inner = match b.grad_of(1) {
        Some(grad) => {
            let grad = turned(b, grad)?;
            Some(product(b, r, grad)?)
        }
        None => None,
    };
    if let Some(grad) = b.grad_of(0) {
        let grad = turned(b, grad)?;
        let part = product(b, grad, q)?;
        inner = Some(match inner {
            Some(inner) => b.sub(inner, part)?,
            None => b.neg(part)?,
        });
    }
    let Some(inner) = inner else { return Ok(()) };
    // The lower triangle, mirrored.
    let lower = b.op("tril", &[t(inner)])?;
    let below = b.op("tril", &[t(inner), i(-1)])?;
    let above = turned(b, below)?;
    let mirrored = b.add(lower, above)?;
    let mut sum = product(b, q, mirrored)?;
    if let Some(grad) = b.grad_of(0) {
        sum = b.add(sum, grad)?;
    }
    // X Rᵀ = S, which is R Xᵀ = Sᵀ.
    let sum = turned(b, sum)?;
    let given = b.op("_solve_triangular", &[t(r), t(sum), Arg::Bool(true), Arg::Bool(false)])?;
    let given = turned(b, given)?;
    b.give(0, given);
    Ok(())
}

/// `V (diag(g) + (Vᵀ G) ∘ F) Vᵀ` with `F` one over the differences of the eigenvalues.
///
/// # Errors
/// Those of the ops.
pub fn of_eigh(b: &mut Backward<'_>) -> Given {
    let (values, vectors) = (b.result(0)?, b.result(1)?);
    let other = turned(b, vectors)?;
    let mut inner = None;
    if let Some(grad) = b.grad_of(1) {
        let rotated = product(b, other, grad)?;
        let (row, column) = (b.op("unsqueeze", &[t(values), i(-2)])?, b.op("unsqueeze", &[t(values), i(-1)])?);
        let difference = b.sub(row, column)?;
        inner = Some(off_diagonal_ratio(b, rotated, difference)?);
    }
    if let Some(grad) = b.grad_of(0) {
        let diagonal = b.op("diag_embed", &[t(grad)])?;
        inner = Some(match inner {
            Some(inner) => b.add(inner, diagonal)?,
            None => diagonal,
        });
    }
    let Some(inner) = inner else { return Ok(()) };
    let left = product(b, vectors, inner)?;
    let given = product(b, left, other)?;
    b.give(0, given);
    Ok(())
}

/// The ratio off the diagonal, zeros on it.
fn off_diagonal_ratio(b: &mut Backward<'_>, above: Val, below: Val) -> Result<Val, OpError> {
    let ones = b.op("ones_like", &[t(below)])?;
    let diagonal = b.op("diagonal", &[t(ones), i(0), i(-2), i(-1)])?;
    let eye = b.op("diag_embed", &[t(diagonal)])?;
    let safe = b.add(below, eye)?;
    let ratio = b.div(above, safe)?;
    let off = b.compare("eq.Tensor", eye, 0i64)?;
    b.masked(ratio, off)
}

/// As [`of_eigh`] for the eigenvalues alone.
///
/// # Errors
/// Those of the ops.
pub fn of_eigvalsh(b: &mut Backward<'_>) -> Given {
    let (matrix, triangle) = (b.tensor(0)?, b.args()[1].clone());
    let vectors = crate::ops::call::call(b.emitter, "linalg_eigh", &[t(matrix), triangle])?[1];
    let other = turned(b, vectors)?;
    let row = b.op("unsqueeze", &[t(b.grad()?), i(-2)])?;
    let scaled = b.mul(vectors, row)?;
    let given = product(b, scaled, other)?;
    b.give(0, given);
    Ok(())
}

/// `U diag(g) Vᵀ`
///
/// # Errors
/// Those of the ops.
pub fn of_svdvals(b: &mut Backward<'_>) -> Given {
    let matrix = b.tensor(0)?;
    let parts = crate::ops::call::call(b.emitter, "linalg_svd", &[t(matrix), Arg::Bool(false)])?;
    let row = b.op("unsqueeze", &[t(b.grad()?), i(-2)])?;
    let scaled = b.mul(parts[0], row)?;
    let given = product(b, scaled, parts[2])?;
    b.give(0, given);
    Ok(())
}

/// Of the reduced form: `U ((W(Uᵀ Gᵤ) S + S W(Vᵀ Gᵥ)) + diag(gₛ)) Vᵀ`, W being the skew part over differences of squares, and what of the
/// gradients lies outside of the spaces of U and V.
///
/// # Errors
/// For the full form, as its other columns have no gradient.
pub fn of_svd(b: &mut Backward<'_>) -> Given {
    if args::flag(b.args(), 1) && (b.grad_of(0).is_some() || b.grad_of(2).is_some()) {
        return Err(OpError::runtime(
            "The singular vectors in the full_matrices=True case are not differentiable. Use full_matrices=False.",
        ));
    }
    let (mut u, s, mut vt) = (b.result(0)?, b.result(1)?, b.result(2)?);
    let count = b.emitter.facts(s).dims.last().copied().ok_or_else(|| OpError::runtime("no singular values"))?;
    u = b.op("narrow", &[t(u), i(-1), i(0), Arg::Int(count)])?;
    vt = b.op("narrow", &[t(vt), i(-2), i(0), Arg::Int(count)])?;
    let (ut, v) = (turned(b, u)?, turned(b, vt)?);
    let (row, column) = (b.op("unsqueeze", &[t(s), i(-2)])?, b.op("unsqueeze", &[t(s), i(-1)])?);
    let (row_square, column_square) = (b.mul(row, row)?, b.mul(column, column)?);
    let gap = b.sub(row_square, column_square)?;
    let skew = |b: &mut Backward<'_>, x: Val| {
        let other = turned(b, x)?;
        let difference = b.sub(x, other)?;
        off_diagonal_ratio(b, difference, gap)
    };
    let mut inner = match b.grad_of(1) {
        Some(grad) => Some(b.op("diag_embed", &[t(grad)])?),
        None => None,
    };
    let mut outside: Option<Val> = None;
    let add = |b: &mut Backward<'_>, total: Option<Val>, part: Val| match total {
        Some(total) => b.add(total, part).map(Some),
        None => Ok(Some(part)),
    };
    if let Some(grad) = b.grad_of(0) {
        let own = product(b, ut, grad)?;
        let part = skew(b, own)?;
        let part = b.mul(part, row)?;
        inner = add(b, inner, part)?;
        let within = product(b, u, own)?;
        let rest = b.sub(grad, within)?;
        let rest = b.div(rest, row)?;
        let rest = product(b, rest, vt)?;
        outside = add(b, outside, rest)?;
    }
    if let Some(grad) = b.grad_of(2) {
        let own = product(b, grad, v)?;
        let own = turned(b, own)?;
        let part = skew(b, own)?;
        let part = b.mul(part, column)?;
        inner = add(b, inner, part)?;
        let back = turned(b, own)?;
        let within = product(b, back, vt)?;
        let rest = b.sub(grad, within)?;
        let rest = b.div(rest, column)?;
        let rest = product(b, u, rest)?;
        outside = add(b, outside, rest)?;
    }
    let Some(inner) = inner else { return Ok(()) };
    let left = product(b, u, inner)?;
    let mut given = product(b, left, vt)?;
    if let Some(rest) = outside {
        given = b.add(given, rest)?;
    }
    b.give(0, given);
    Ok(())
}

/// The upper right of the exponential of `[[Aᵀ, G], [0, Aᵀ]]`.
///
/// # Errors
/// Those of the ops.
pub fn of_matrix_exp(b: &mut Backward<'_>) -> Given {
    let matrix = turned(b, b.tensor(0)?)?;
    let grad = b.grad()?;
    let size = b.emitter.facts(matrix).dims.last().copied().ok_or_else(|| OpError::runtime("no matrix"))?;
    let zeros = b.op("zeros_like", &[t(matrix)])?;
    let upper = b.op("cat", &[Arg::Tensors(vec![matrix, grad]), i(-1)])?;
    let lower = b.op("cat", &[Arg::Tensors(vec![zeros, matrix]), i(-1)])?;
    let whole = b.op("cat", &[Arg::Tensors(vec![upper, lower]), i(-2)])?;
    let exponential = b.op("linalg_matrix_exp", &[t(whole)])?;
    let rows = b.op("narrow", &[t(exponential), i(-2), i(0), Arg::Int(size)])?;
    let given = b.op("narrow", &[t(rows), i(-1), Arg::Int(size), Arg::Int(size)])?;
    b.give(0, given);
    Ok(())
}
