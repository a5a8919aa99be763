//! Matrix products.

use super::{
    args,
    call::{call, cast, i, ints, one, t},
    define::{composite, gradient, kernel, moves, refusing, samples, ulps},
    gradient::matmul::{of_linear, of_matmul, of_product},
    refusal::{dtypes, shapes},
    rules::{self, broadcast_pair},
};
use crate::{
    Context, KernelFn, Tensor,
    context::Workers,
    element::Additive,
    layout::{Sizes, numel},
    write,
};
use smallvec::smallvec;
use taipan_ir::{
    Arg, DType, Dim, Emitter, Facts, Number, Op, OpError, Rel, Shape, Val,
    op::{FactsList, Family, Forms, Kernel, RuleContext, Vals},
    promote::compute_type,
};

const BOTH: Forms = Forms::BOTH;
const WITHIN: &[(DType, u32)] =
    &[(DType::F32, 16), (DType::F64, 16), (DType::F16, 2), (DType::BF16, 2), (DType::C64, 16), (DType::C128, 16)];

const fn product(schema: &'static str, forms: Forms, facts: taipan_ir::op::FactsRule, run: Kernel) -> Op {
    ulps(kernel(schema, forms, Family::MatMul, facts, run), WITHIN)
}

/// The op tables of this file.
pub static OPS: &[Op] = &[
    moves(samples(
        gradient(
            refusing(product("mm(Tensor self, Tensor mat2) -> Tensor", BOTH, mm_rule, Kernel(&(matmul_kernel as KernelFn))), |_, a| {
                dtypes::matrices(a, "addmm_impl_cpu_")
            }),
            "self: mat2; mat2: self",
            of_product,
        ),
        &[
            "f32[2,3], f32[3,4]",
            "f64[2,3], f64[3,2]",
            "i64[2,3], i64[3,2]",
            "f16[2,3], f16[3,2]",
            "f32[3,2].t, f32[3,4]",
            "c64[2,3], c64[3,4]",
            "c128[3,2].t, c128[3,4]",
        ],
    )),
    moves(samples(
        gradient(
            refusing(product("bmm(Tensor self, Tensor mat2) -> Tensor", BOTH, bmm_rule, Kernel(&(matmul_kernel as KernelFn))), |_, a| {
                dtypes::matrices(a, "bmm")
            }),
            "self: mat2; mat2: self",
            of_product,
        ),
        &["f32[2,3,4], f32[2,4,5]", "c64[2,3,4], c64[2,4,5]"],
    )),
    moves(samples(
        gradient(
            refusing(
                product("matmul(Tensor self, Tensor other) -> Tensor", BOTH, matmul_rule, Kernel(&(matmul_kernel as KernelFn))),
                dtypes::matmul,
            ),
            "self: other; other: self",
            of_matmul,
        ),
        &[
            "f32[2,3], f32[3,4]",
            "f32[3], f32[3]",
            "f32[2,3], f32[3]",
            "f32[3], f32[3,2]",
            "f32[2,1,3,4], f32[5,4,2]",
            "bf16[2,3,4], bf16[4,2]",
            "c64[2,3], c64[3]",
            "c128[2,3,4], c128[4,2]",
        ],
    )),
    samples(
        refusing(
            composite("mv(Tensor self, Tensor vec) -> Tensor", BOTH, |e, a| {
                let (m, v) = (e.facts(*args::tensor(a, 0)?).clone(), e.facts(*args::tensor(a, 1)?).clone());
                if m.rank() != 2 || v.rank() != 1 {
                    return Err(OpError::runtime(format!("vector + matrix @ vector expected, got {}, {}, {}", 1, m.rank(), v.rank())));
                }
                call(e, "matmul", a)
            }),
            |_, a| dtypes::matrices(a, "addmv_impl_cpu"),
        ),
        &["f32[2,3], f32[3]"],
    ),
    samples(
        composite("dot(Tensor self, Tensor tensor) -> Tensor", BOTH, |e, a| {
            let (x, y) = (e.facts(*args::tensor(a, 0)?).clone(), e.facts(*args::tensor(a, 1)?).clone());
            if x.rank() != 1 || y.rank() != 1 {
                return Err(OpError::runtime(format!("1D tensors expected, but got {}D and {}D tensors", x.rank(), y.rank())));
            }
            if x.dims != y.dims && !e.dims().decide(Rel::Eq, x.dims[0], y.dims[0])? {
                return Err(OpError::runtime(format!(
                    "inconsistent tensor size, expected tensor {} and src {} to have the same number of elements, but got {} and {} elements respectively",
                    rules::shown(&x.dims),
                    rules::shown(&y.dims),
                    x.dims[0],
                    y.dims[0]
                )));
            }
            call(e, "matmul", a)
        }),
        &["f32[3], f32[3]"],
    ),
    samples(
        composite("inner(Tensor self, Tensor other) -> Tensor", BOTH, inner),
        &["f32[3], f32[3]", "f32[2,3], f32[4,3]", "f32[2,2,3], f32[4,2,3]", "f32[], f32[2]"],
    ),
    samples(
        refusing(
            composite("outer(Tensor self, Tensor vec2) -> Tensor", BOTH, |e, a| {
                let column = one(e, "unsqueeze", &[a[0].clone(), i(1)])?;
                call(e, "mul.Tensor", &[t(column), a[1].clone()])
            }),
            shapes::outer,
        ),
        &["f32[2], f32[3]"],
    ),
    samples(
        refusing(
            composite(
                "addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
                BOTH.or(Forms::INPLACE),
                |e, a| scaled(e, a, "mm"),
            ),
            dtypes::added_product,
        ),
        &["f32[2,4], f32[2,3], f32[3,4]", "f32[2,4], f32[2,3], f32[3,4], beta=0.5, alpha=2"],
    ),
    samples(
        composite(
            "addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
            BOTH.or(Forms::INPLACE),
            |e, a| scaled(e, a, "outer"),
        ),
        &["f32[2,3], f32[2], f32[3]", "f32[2,3], f32[2], f32[3], beta=0.5, alpha=2"],
    ),
    samples(
        refusing(
            composite(
                "addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
                BOTH.or(Forms::INPLACE),
                |e, a| scaled(e, a, "_bmm_summed"),
            ),
            dtypes::added_product,
        ),
        &["f32[2,4], f32[3,2,3], f32[3,3,4]"],
    ),
    composite("_bmm_summed(Tensor self, Tensor mat2) -> Tensor", Forms::INTERNAL, |e, a| {
        let product = one(e, "bmm", a)?;
        call(e, "sum.dim_IntList", &[t(product), super::call::ints([0])])
    }),
    samples(
        refusing(
            composite(
                "baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
                BOTH.or(Forms::INPLACE),
                |e, a| scaled(e, a, "bmm"),
            ),
            dtypes::added_product,
        ),
        &["f32[2,2,4], f32[2,2,3], f32[2,3,4]"],
    ),
    refusing(
        composite(
            "addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
            BOTH.or(Forms::INPLACE),
            |e, a| scaled(e, a, "mv"),
        ),
        dtypes::added_vector,
    ),
    moves(samples(
        gradient(
            refusing(
                product(
                    "linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
                    Forms::NN,
                    linear_rule,
                    Kernel(&(linear as KernelFn)),
                ),
                dtypes::linear,
            ),
            "input: weight; weight: input",
            of_linear,
        ),
        &["f32[2,3], f32[4,3], f32[4]", "f32[2,5,3], f32[4,3]", "f64[3], f64[4,3], f64[4]", "f16[2,3], f16[4,3], f16[4]"],
    )),
    samples(
        composite("bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor", Forms::NN, |e, a| {
            // out[.., k] = Σij x1[.., i] W[k, i, j] x2[.., j]
            let left = one(e, "unsqueeze", &[a[0].clone(), i(-2)])?;
            let left = one(e, "unsqueeze", &[t(left), i(-2)])?;
            let product = one(e, "matmul", &[t(left), a[2].clone()])?;
            let right = one(e, "unsqueeze", &[a[1].clone(), i(-1)])?;
            let right = one(e, "unsqueeze", &[t(right), i(-3)])?;
            let product = one(e, "matmul", &[t(product), t(right)])?;
            let out = one(e, "squeeze.dims", &[t(product), super::call::ints([-1, -2])])?;
            match a[3] {
                Arg::Tensor(bias) => call(e, "add.Tensor", &[t(out), t(bias)]),
                _ => Ok(smallvec![out]),
            }
        }),
        &["f32[2,3], f32[2,4], f32[5,3,4], f32[5]"],
    ),
];

/// The products of all vectors along the last dims of two tensors.
fn inner(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let (x, y) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
    let (left, right) = (e.facts(x).dims.clone(), e.facts(y).dims.clone());
    let (Some(m), Some(n)) = (left.last(), right.last()) else { return call(e, "mul.Tensor", a) };
    if !e.dims().decide(Rel::Eq, *m, *n)? {
        return Err(OpError::runtime(format!(
            "inner() the last dimension must match on both input tensors but got shapes {} and {}",
            rules::shown(&left),
            rules::shown(&right)
        )));
    }
    call(e, "tensordot", &[t(x), t(y), ints([-1]), ints([-1])])
}

fn same_dtype(a: &Facts, b: &Facts) -> Result<(), OpError> {
    if a.dtype != b.dtype {
        let name = |d: DType| match d {
            DType::F32 => "float".to_owned(),
            DType::F64 => "double".to_owned(),
            DType::F16 => "c10::Half".to_owned(),
            DType::BF16 => "c10::BFloat16".to_owned(),
            DType::I64 => "long".to_owned(),
            DType::I32 => "int".to_owned(),
            other => other.scalar_name().to_lowercase(),
        };
        return Err(OpError::runtime(format!(
            "expected m1 and m2 to have the same dtype, but got: {} != {}",
            name(a.dtype),
            name(b.dtype)
        )));
    }
    Ok(())
}

fn shapes_error(a: (Dim, Dim), b: (Dim, Dim)) -> OpError {
    OpError::runtime(format!("mm: mat1 and mat2 shapes cannot be multiplied ({}x{} and {}x{})", a.0, a.1, b.0, b.1))
}

fn mm_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let (x, y) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
    if x.rank() != 2 {
        return Err(OpError::runtime(format!("mm: self must be a matrix, got {}-D tensor", x.rank())));
    }
    if y.rank() != 2 {
        return Err(OpError::runtime(format!("mm: mat2 must be a matrix, got {}-D tensor", y.rank())));
    }
    if x.dims[1] != y.dims[0] && !cx.dims.decide(Rel::Eq, x.dims[1], y.dims[0])? {
        return Err(shapes_error((x.dims[0], x.dims[1]), (y.dims[0], y.dims[1])));
    }
    same_dtype(x, y)?;
    rules::fresh(cx, x, x.dtype, smallvec![x.dims[0], y.dims[1]])
}

fn bmm_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let (x, y) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
    if x.rank() != 3 {
        return Err(OpError::runtime("batch1 must be a 3D tensor"));
    }
    if y.rank() != 3 {
        return Err(OpError::runtime("batch2 must be a 3D tensor"));
    }
    let fits = cx.dims.decide(Rel::Eq, x.dims[0], y.dims[0])? && cx.dims.decide(Rel::Eq, x.dims[2], y.dims[1])?;
    if !fits {
        return Err(OpError::runtime(format!(
            "Expected size for first two dimensions of batch2 tensor to be: [{}, {}] but got: [{}, {}].",
            x.dims[0], x.dims[2], y.dims[0], y.dims[1]
        )));
    }
    same_dtype(x, y)?;
    rules::fresh(cx, x, x.dtype, smallvec![x.dims[0], x.dims[1], y.dims[2]])
}

fn matmul_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let (x, y) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
    if x.rank() == 0 || y.rank() == 0 {
        return Err(OpError::runtime(format!(
            "both arguments to matmul need to be at least 1D, but they are {}D and {}D",
            x.rank(),
            y.rank()
        )));
    }
    let (k, inner) = (x.dims[x.rank() - 1], y.dims[y.rank().saturating_sub(2)]);
    if k != inner && !cx.dims.decide(Rel::Eq, k, inner)? {
        return Err(match (x.rank(), y.rank()) {
            (1, 1) => OpError::runtime(format!(
                "inconsistent tensor size, expected tensor {} and src {} to have the same number of elements, but got {k} and {inner} elements respectively",
                rules::shown(&x.dims),
                rules::shown(&y.dims)
            )),
            (2, 1) => OpError::runtime(format!(
                "size mismatch, got input ({}), mat ({}x{}), vec ({})",
                x.dims[0], x.dims[0], x.dims[1], y.dims[0]
            )),
            (_, 1 | 2) => {
                let rows = x.dims[..x.rank() - 1].iter().fold(Dim::Is(1), |n, d| cx.dims.calc(taipan_ir::DimOp::Mul, n, *d));
                shapes_error((rows, k), (y.dims[0], *y.dims.get(1).unwrap_or(&Dim::Is(1))))
            }
            _ => OpError::runtime(format!(
                "Expected size for first two dimensions of batch2 tensor to be: [{}, {k}] but got: [{}, {inner}].",
                y.dims[0], y.dims[0]
            )),
        });
    }
    same_dtype(x, y)?;
    let (rows, columns) = (x.rank() > 1, y.rank() > 1);
    let mut dims: Shape = broadcast_pair(cx.dims, &x.dims[..x.rank().saturating_sub(2)], &y.dims[..y.rank().saturating_sub(2)])?;
    if rows {
        dims.push(x.dims[x.rank() - 2]);
    }
    if columns {
        dims.push(y.dims[y.rank() - 1]);
    }
    rules::fresh(cx, x, x.dtype, dims)
}

fn linear_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let (x, w) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
    if x.rank() == 0 || w.rank() == 0 || w.rank() > 2 {
        return Err(OpError::runtime(format!(
            "both arguments to linear need to be at least 1D, but they are {}D and {}D",
            x.rank(),
            w.rank()
        )));
    }
    let (k, inner) = (x.dims[x.rank() - 1], w.dims[w.rank() - 1]);
    if k != inner && !cx.dims.decide(Rel::Eq, k, inner)? {
        let rows = x.dims[..x.rank() - 1].iter().fold(Dim::Is(1), |n, d| cx.dims.calc(taipan_ir::DimOp::Mul, n, *d));
        return Err(shapes_error((rows, k), (inner, w.dims[0])));
    }
    same_dtype(x, w)?;
    let mut dims: Shape = x.dims[..x.rank() - 1].into();
    if w.rank() == 2 {
        dims.push(w.dims[0]);
    }
    if let Some(bias) = args::optional_tensor(a, 2) {
        let widest = broadcast_pair(cx.dims, &dims, &bias.dims)?;
        if widest.len() != dims.len() {
            return Err(OpError::runtime("the bias of a linear map may not have more dims than its result"));
        }
    }
    rules::fresh(cx, x, x.dtype, dims)
}

/// One matrix among elements: where it starts, its size, and its strides.
#[derive(Clone, Copy)]
pub struct Matrix<'a, T> {
    /// The memory.
    pub elements: &'a [T],
    /// Its first element.
    pub offset: i64,
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// Elements between neighbours of a column.
    pub row_stride: i64,
    /// Elements between neighbours of a row.
    pub column_stride: i64,
}

impl<T> Matrix<'_, T> {
    /// Whether every element lies within the slice.
    fn in_bounds(&self) -> bool {
        if self.rows == 0 || self.columns == 0 {
            return true;
        }
        let (low, high) = crate::layout::extent(&[self.rows as i64, self.columns as i64], &[self.row_stride, self.column_stride]);
        self.offset + low >= 0 && self.offset + high < self.elements.len() as i64
    }
}

/// `out = a b`, or `out += a b`, with `out` row-major.
pub fn multiply<T: Additive>(workers: &Workers, a: Matrix<'_, T>, b: Matrix<'_, T>, out: &mut [T], add: bool) -> Result<(), OpError> {
    let (m, n, k) = (a.rows, b.columns, a.columns);
    if k != b.rows || out.len() != m * n || !a.in_bounds() || !b.in_bounds() {
        return Err(OpError::runtime("a matrix lies outside its storage"));
    }
    if m == 0 || n == 0 {
        return Ok(());
    }
    if k == 0 {
        if !add {
            out.fill(T::zero());
        }
        return Ok(());
    }
    if !T::DTYPE.has_gradients() {
        for (r, row) in out.chunks_mut(n).enumerate() {
            for (c, o) in row.iter_mut().enumerate() {
                let mut sum = if add { *o } else { T::zero() };
                for p in 0..k as i64 {
                    let x = a.elements[(a.offset + r as i64 * a.row_stride + p * a.column_stride) as usize];
                    let y = b.elements[(b.offset + p * b.row_stride + c as i64 * b.column_stride) as usize];
                    sum = sum.plus(x.times(y));
                }
                *o = sum;
            }
        }
        return Ok(());
    }
    let large = m * n * k > 64 * 64 * 64;
    workers.install(large, move |parallel| {
        let parallelism = if parallel { gemm::Parallelism::Rayon(0) } else { gemm::Parallelism::None };
        // SAFETY: `in_bounds` has checked that every element of both factors lies within its slice, and `out` has `m * n` elements; the
        // factors are borrowed shared and `out` mutably, so they don't overlap.
        unsafe {
            gemm::gemm(
                m,
                n,
                k,
                out.as_mut_ptr(),
                1,
                n as isize,
                add,
                a.elements.as_ptr().offset(a.offset as isize),
                a.column_stride as isize,
                a.row_stride as isize,
                b.elements.as_ptr().offset(b.offset as isize),
                b.column_stride as isize,
                b.row_stride as isize,
                T::one(),
                T::one(),
                false,
                false,
                false,
                parallelism,
            );
        }
    });
    Ok(())
}

/// `a @ b` over batches: the last two dims are matrices and those before are alike.
fn batched<T: Additive>(workers: &Workers, a: &Tensor, b: &Tensor, out: &mut [T]) -> Result<(), OpError> {
    let rank = a.rank();
    let (m, k, n) = (a.sizes()[rank - 2] as usize, a.sizes()[rank - 1] as usize, b.sizes()[rank - 1] as usize);
    let (left, right) = (a.read::<T>()?, b.read::<T>()?);
    let batch = &a.sizes()[..rank - 2];
    let mut starts = vec![];
    crate::layout::for_each_row(
        batch,
        [&a.strides()[..rank - 2], &b.strides()[..rank - 2]],
        [a.offset(), b.offset()],
        |[p, q], [ps, qs], length| {
            starts.extend((0..length as i64).map(|i| (p + i * ps, q + i * qs)));
        },
    );
    let matrix = |i: usize| -> (Matrix<'_, T>, Matrix<'_, T>) {
        let (p, q) = starts[i];
        let left = Matrix {
            elements: &left,
            offset: p,
            rows: m,
            columns: k,
            row_stride: a.strides()[rank - 2],
            column_stride: a.strides()[rank - 1],
        };
        let right = Matrix {
            elements: &right,
            offset: q,
            rows: k,
            columns: n,
            row_stride: b.strides()[rank - 2],
            column_stride: b.strides()[rank - 1],
        };
        (left, right)
    };
    if starts.len() == 1 {
        let (left, right) = matrix(0);
        return multiply(workers, left, right, out, false);
    }
    let failed = std::sync::Mutex::new(None);
    let alone = Workers::alone();
    workers.rows(out, m * n, m * n * k, |first, out| {
        for (i, out) in out.chunks_mut((m * n).max(1)).enumerate() {
            let (left, right) = matrix(first + i);
            if let Err(e) = multiply(&alone, left, right, out, false) {
                *failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(e);
            }
        }
    });
    failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner).map_or(Ok(()), Err)
}

/// The product of two tensors as `torch.matmul` understands it.
pub fn matmul(cx: &mut Context, x: &Tensor, y: &Tensor) -> Result<Tensor, OpError> {
    let compute = compute_type(x.dtype());
    let (mut a, mut b) = (write::cast(cx, x, compute)?, write::cast(cx, y, compute)?);
    let (rows, columns) = (a.rank() > 1, b.rank() > 1);
    if !rows {
        a = a.with_layout(compute, &[1, a.sizes()[0]], &[0, a.strides()[0]], a.offset());
    }
    if !columns {
        b = b.with_layout(compute, &[b.sizes()[0], 1], &[b.strides()[0], 0], b.offset());
    }
    let (m, k, n) = (a.sizes()[a.rank() - 2], a.sizes()[a.rank() - 1], b.sizes()[b.rank() - 1]);
    // Many matrices times one: their rows are the rows of one tall matrix.
    if b.rank() == 2 && a.rank() > 2 && a.is_contiguous() {
        let tall = a.reshaped(&[numel(&a.sizes()[..a.rank() - 1]) as i64, k]);
        let product = matmul(cx, &tall, &b)?;
        let mut sizes: Sizes = a.sizes()[..a.rank() - 1].into();
        if columns {
            sizes.push(n);
        }
        return write::cast(cx, &product.reshaped(&sizes), x.dtype());
    }
    let (lead_a, lead_b) = (&a.sizes()[..a.rank() - 2], &b.sizes()[..b.rank() - 2]);
    let rank = lead_a.len().max(lead_b.len());
    let size = |lead: &[i64], i: usize| (i + lead.len()).checked_sub(rank).map_or(1, |k| lead[k]);
    let lead: Sizes = (0..rank).map(|i| if size(lead_a, i) == 1 { size(lead_b, i) } else { size(lead_a, i) }).collect();
    let full = |p: i64, q: i64| lead.iter().copied().chain([p, q]).collect::<Sizes>();
    let (a, b) = (a.broadcast_to(&full(m, k)), b.broadcast_to(&full(k, n)));
    let mut sizes = lead.clone();
    if rows {
        sizes.push(m);
    }
    if columns {
        sizes.push(n);
    }
    let workers = cx.workers();
    let product = match compute {
        DType::F32 => Tensor::try_build(compute, &sizes, |out: &mut [f32]| batched(&workers, &a, &b, out))?,
        DType::F64 => Tensor::try_build(compute, &sizes, |out: &mut [f64]| batched(&workers, &a, &b, out))?,
        _ => crate::with_plain!(compute, T => Tensor::try_build(compute, &sizes, |out: &mut [T]| batched(&workers, &a, &b, out))?),
    };
    write::cast(cx, &product, x.dtype())
}

fn matmul_kernel(cx: &mut Context, a: &[Arg<Tensor>], _: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    Ok(vec![matmul(cx, args::tensor(a, 0)?, args::tensor(a, 1)?)?])
}

fn linear(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let (x, w) = (args::tensor(a, 0)?, args::tensor(a, 1)?);
    let compute = compute_type(x.dtype());
    let sizes: Sizes = facts[0].dims.iter().map(|d| d.known().ok_or(OpError::DataDependent)).collect::<Result<_, _>>()?;
    let x32 = write::cast(cx, x, compute)?.contiguous()?;
    let w32 = write::cast(cx, w, compute)?;
    let bias = args::optional_tensor(a, 2).map(|b| write::cast(cx, b, compute)).transpose()?;
    let k = x.sizes()[x.rank() - 1];
    let rows = if k == 0 { numel(&x.sizes()[..x.rank() - 1]) } else { x.numel() / k as usize };
    let turned = if w32.rank() == 2 {
        w32.permuted(&[1, 0])
    } else {
        w32.with_layout(compute, &[w32.sizes()[0], 1], &[w32.strides()[0], 0], w32.offset())
    };
    fn run<T: Additive>(
        workers: &Workers,
        x: &Tensor,
        rows: usize,
        w: &Tensor,
        bias: Option<Tensor>,
        sizes: &[i64],
    ) -> Result<Tensor, OpError> {
        let (left, right) = (x.read::<T>()?, w.read::<T>()?);
        let (k, n) = (w.sizes()[0], w.sizes()[1]);
        let bias = bias.map(|b| b.broadcast_to(sizes).copied()).transpose()?;
        Tensor::try_build(T::DTYPE, sizes, |out: &mut [T]| {
            if let Some(bias) = &bias {
                out.copy_from_slice(&bias.elements::<T>()?);
            }
            let a = Matrix { elements: &left, offset: x.offset(), rows, columns: k as usize, row_stride: k, column_stride: 1 };
            let b = Matrix {
                elements: &right,
                offset: w.offset(),
                rows: k as usize,
                columns: n as usize,
                row_stride: w.strides()[0],
                column_stride: w.strides()[1],
            };
            multiply(workers, a, b, out, bias.is_some())
        })
    }
    let workers = cx.workers();
    let out = match compute {
        DType::F32 => run::<f32>(&workers, &x32, rows, &turned, bias, &sizes)?,
        DType::F64 => run::<f64>(&workers, &x32, rows, &turned, bias, &sizes)?,
        _ => crate::with_plain!(compute, T => run::<T>(&workers, &x32, rows, &turned, bias, &sizes)?),
    };
    Ok(vec![write::cast(cx, &out, x.dtype())?])
}

/// `beta * self + alpha * (a @ b)`.
fn scaled(e: &mut dyn Emitter, a: &[Arg<Val>], product: &str) -> Result<Vals, OpError> {
    let dtype = e.facts(*args::tensor(a, 1)?).dtype;
    let compute = compute_type(dtype);
    let [base, p, q] = [0, 1, 2].map(|k| args::tensor(a, k).copied());
    let (base, p, q) = (cast(e, base?, compute)?, cast(e, p?, compute)?, cast(e, q?, compute)?);
    let is_one = |arg: &Arg<Val>| matches!(arg, Arg::Number(n) if n.parts() == (1.0, 0.0));
    let mut out = one(e, product, &[t(p), t(q)])?;
    if !is_one(&a[4]) {
        out = one(e, "mul.Tensor", &[t(out), a[4].clone()])?;
    }
    if !matches!(a[3], Arg::Number(Number::Int(0))) {
        let base = if is_one(&a[3]) { base } else { one(e, "mul.Tensor", &[t(base), a[3].clone()])? };
        let shape = e.facts(out).dims.clone();
        let base = one(e, "expand", &[t(base), Arg::Ints(shape)])?;
        out = one(e, "add.Tensor", &[t(out), t(base)])?;
    }
    Ok(smallvec![cast(e, out, dtype)?])
}
