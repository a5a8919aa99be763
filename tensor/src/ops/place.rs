//! Values put at places that a pattern gives: diagonals, triangles, slices, quarter turns.

use super::{
    args,
    call::{self, call, cast, i, ints, n, one, t},
    define::{ALL, composite, constant, kernel, refusing, samples},
    refusal::{indexing, numbers, shapes},
    rules::{self, wrap_dim},
};
use crate::{Context, KernelFn, Tensor};
use smallvec::smallvec;
use taipan_ir::{
    Arg, DType, Dim, DimOp, Emitter, Facts, Op, OpError, Rel, Val,
    op::{FactsList, Family, Forms, Kernel, RuleContext, Vals},
};

const BOTH: Forms = Forms::BOTH;

/// The op tables of this file.
pub static OPS: &[Op] = &[
    samples(
        constant(refusing(
            kernel(
                "tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=i64, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
                Forms::FUNCTION,
                Family::Create,
                |cx, a| triangle_rule(cx, a, false),
                Kernel(&(lower_places as KernelFn)),
            ),
            |_, a| shapes::triangle_indices("tril_indices", a),
        )),
        &["3, 4", "3, 3, -1", "2, 3, 1, dtype=i32"],
    ),
    samples(
        constant(refusing(
            kernel(
                "triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=i64, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
                Forms::FUNCTION,
                Family::Create,
                |cx, a| triangle_rule(cx, a, true),
                Kernel(&(upper_places as KernelFn)),
            ),
            |_, a| shapes::triangle_indices("triu_indices", a),
        )),
        &["3, 4", "3, 3, 1", "4, 2, -1"],
    ),
    samples(
        composite("diagflat(Tensor self, int offset=0) -> Tensor", BOTH, |e, a| {
            let flat = one(e, "reshape", &[a[0].clone(), ints([-1])])?;
            call(e, "diag_embed", &[t(flat), a[1].clone()])
        }),
        &["f32[3]", "f32[2,2], 1"],
    ),
    samples(
        composite("diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor", BOTH, |e, a| {
            written(e, a, "diagonal", &a[2..])
        }),
        &["f32[3,3], f32[3]", "f32[3,4], f32[3], 1"],
    ),
    samples(
        composite("select_scatter(Tensor self, Tensor src, int dim, int index) -> Tensor", BOTH, |e, a| {
            written(e, a, "select.int", &a[2..])
        }),
        &["f32[3,4], f32[4], 0, 1", "f32[3,4], f32[3], -1, -2"],
    ),
    samples(
        composite(
            "slice_scatter(Tensor self, Tensor src, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor",
            BOTH,
            |e, a| written(e, a, "slice.Tensor", &a[2..]),
        ),
        &["f32[4,3], f32[2,3], 0, 1, 3", "f32[4,3], f32[2,3], 0, 0, 4, 2"],
    ),
    samples(
        composite(
            "as_strided_scatter(Tensor self, Tensor src, int[] size, int[] stride, int? storage_offset=None) -> Tensor",
            BOTH,
            |e, a| written(e, a, "as_strided", &a[2..]),
        ),
        &["f32[3,3], f32[2,2], [2,2], [1,2]"],
    ),
    samples(
        refusing(
            composite("fill_diagonal_(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!)", Forms::METHOD, fill_diagonal),
            numbers::element::<1>,
        ),
        &["f32[3,3], 5", "f32[5,2], 5, True", "f32[5,2], 5"],
    ),
    samples(
        composite("rot90(Tensor self, int k=1, int[] dims=[0,1]) -> Tensor", BOTH, rot90),
        &["f32[2,3]", "f32[2,3], 2", "f32[2,3,2], -1, [1,2]"],
    ),
    samples(
        composite("kron(Tensor self, Tensor other) -> Tensor", BOTH, kron),
        &["f32[2,3], f32[2,2]", "f32[2], f32[2,3]", "f32[2,1,2], f32[2,2]"],
    ),
    samples(
        refusing(
            composite("vander(Tensor x, int? N=None, bool increasing=False) -> Tensor", Forms::FUNCTION, |e, a| {
                let powers = powers_of(e, a, &a[1])?;
                Ok(smallvec![if args::flag(a, 2) { powers } else { one(e, "flip", &[t(powers), ints([-1])])? }])
            }),
            shapes::vander,
        ),
        &["f32[3]", "f32[3], 4", "f32[3], 4, True"],
    ),
    samples(
        composite("linalg_vander(Tensor x, *, int? N=None) -> Tensor", Forms::LINALG, |e, a| Ok(smallvec![powers_of(e, a, &a[1])?])),
        &["f32[3]", "f32[2,3], N=4"],
    ),
    samples(
        composite("combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor", Forms::FUNCTION, combinations),
        &["f32[4]", "f32[4], 3", "f32[3], 2, True", "i64[4], 1"],
    ),
    samples(
        refusing(
            composite("put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor", ALL, |e, a| {
                let x = *args::tensor(a, 0)?;
                let (shape, dtype) = (e.facts(x).dims.clone(), e.facts(x).dtype);
                let source = *args::tensor(a, 2)?;
                if e.facts(source).dtype != dtype {
                    return Err(OpError::runtime(format!(
                        "put_(): self and source expected to have the same dtype, but got self.dtype = {} and source.dtype = {}",
                        dtype.scalar_name(),
                        e.facts(source).dtype.scalar_name()
                    )));
                }
                let flat = one(e, "reshape", &[t(x), ints([-1])])?;
                let index = one(e, "reshape", &[a[1].clone(), ints([-1])])?;
                let source = one(e, "reshape", &[t(source), ints([-1])])?;
                let out = one(e, "index_put", &[t(flat), Arg::OptionalTensors(vec![Some(index)]), t(source), a[3].clone()])?;
                call(e, "view", &[t(out), Arg::Ints(shape)])
            }),
            indexing::put,
        ),
        &["f32[2,3], i64[2]%6, f32[2]", "f32[2,3], i64[4]%2, f32[4], True"],
    ),
    samples(
        composite("sum_to_size(Tensor self, int[] size) -> Tensor", Forms::METHOD, |e, a| {
            let x = *args::tensor(a, 0)?;
            let (own, wanted) = (e.facts(x).dims.clone(), args::dims(a, 1)?.to_vec());
            let refused =
                || OpError::runtime(format!("size {{{}}} is not expandable to size {{{}}}.", rules::shown(&wanted), rules::shown(&own)));
            let lead = own.len().checked_sub(wanted.len()).ok_or_else(refused)?;
            let mut summed: Vec<i64> = (0..lead as i64).collect();
            for (k, d) in wanted.iter().enumerate() {
                if *d == own[lead + k] || e.dims().decide(Rel::Eq, *d, own[lead + k])? {
                    continue;
                }
                if !e.dims().decide(Rel::Eq, *d, Dim::Is(1))? {
                    return Err(refused());
                }
                summed.push((lead + k) as i64);
            }
            if summed.is_empty() {
                return Ok(smallvec![x]);
            }
            let sum = one(e, "sum.dim_IntList", &[t(x), ints(summed), Arg::Bool(true)])?;
            call(e, "view", &[t(sum), call::dims(wanted)])
        }),
        &["f32[2,3], [1,3]", "f32[4,2,3], [2,1]"],
    ),
    samples(
        composite("narrow_copy(Tensor self, int dim, int start, int length) -> Tensor", BOTH, |e, a| {
            let part = one(e, "narrow", a)?;
            call(e, "clone", &[t(part), Arg::MemoryFormat(taipan_ir::MemoryFormat::Contiguous)])
        }),
        &["f32[5,3], 0, 1, 3"],
    ),
];

/// A copy of argument 0 with argument 1 written into a view of it.
fn written(e: &mut dyn Emitter, a: &[Arg<Val>], view: &str, rest: &[Arg<Val>]) -> Result<Vals, OpError> {
    let base = one(e, "clone", &a[..1])?;
    let all: Vec<Arg<Val>> = std::iter::once(t(base)).chain(rest.iter().cloned()).collect();
    let part = one(e, view, &all)?;
    let (wanted, given) = (e.facts(part).dims.clone(), e.facts(*args::tensor(a, 1)?).dims.clone());
    let mut same = wanted.len() == given.len();
    for (p, q) in wanted.iter().zip(&given) {
        same = same && (p == q || e.dims().decide(Rel::Eq, *p, *q)?);
    }
    if !same {
        return Err(OpError::runtime(format!(
            "expected src to have a size equal to the slice of self. src size = {}, slice size = {}",
            rules::shown(&given),
            rules::shown(&wanted)
        )));
    }
    call(e, "copy_", &[t(part), a[1].clone()])?;
    Ok(smallvec![base])
}

/// Whether each place of a matrix lies in the triangle.
fn in_triangle(row: i64, column: i64, offset: i64, upper: bool) -> bool {
    if upper { column - row >= offset } else { column - row <= offset }
}

fn triangle_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>], upper: bool) -> Result<FactsList, OpError> {
    let (rows, columns, offset) = (cx.dims.number(args::dim(a, 0)?)?, cx.dims.number(args::dim(a, 1)?)?, args::int(a, 2)?);
    for (size, name) in [(rows, "row"), (columns, "col")] {
        if size < 0 {
            return Err(OpError::runtime(format!("{name} must be non-negative, got{size}")));
        }
    }
    let count = (0..rows)
        .map(|row| if upper { columns - (row + offset).clamp(0, columns) } else { (row + offset + 1).clamp(0, columns) })
        .sum::<i64>();
    let dtype = args::dtype(a, 3).unwrap_or(DType::I64);
    Ok(smallvec![Facts::contiguous(cx.dims, dtype, args::device(a, 5), smallvec![Dim::Is(2), Dim::Is(count)])?])
}

fn triangle(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts], upper: bool) -> Result<Vec<Tensor>, OpError> {
    let (rows, columns, offset) = (args::int(a, 0)?, args::int(a, 1)?, args::int(a, 2)?);
    let places = || (0..rows).flat_map(|r| (0..columns).map(move |c| (r, c))).filter(|(r, c)| in_triangle(*r, *c, offset, upper));
    let all: Vec<i64> = places().map(|(r, _)| r).chain(places().map(|(_, c)| c)).collect();
    let table = Tensor::from_slice(&all, &[2, all.len() as i64 / 2])?;
    Ok(vec![crate::write::cast(cx, &table, facts[0].dtype)?])
}

fn lower_places(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    triangle(cx, a, facts, false)
}

fn upper_places(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    triangle(cx, a, facts, true)
}

fn fill_diagonal(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let x = *args::tensor(a, 0)?;
    let facts = e.facts(x).clone();
    let rank = facts.rank();
    if rank < 2 {
        return Err(OpError::runtime("dimensions must larger than 1"));
    }
    let sizes = facts.sizes(e.dims())?;
    if rank > 2 && sizes.iter().any(|s| *s != sizes[0]) {
        return Err(OpError::runtime("all dimensions of input must be of equal length"));
    }
    let step = facts.strides.iter().try_fold(0, |sum, s| s.known().map(|s| sum + s)).ok_or(OpError::DataDependent)?;
    let least = sizes.iter().copied().min().unwrap_or(0);
    let mut parts = vec![(least, facts.offset)];
    if args::flag(a, 2) && rank == 2 && sizes[0] > sizes[1] + 1 {
        // Behind the end of a diagonal one row stays free, then the next begins.
        let each = sizes[1] + 1;
        let stride = facts.strides[0].known().ok_or(OpError::DataDependent)?;
        parts = (0..sizes[0])
            .step_by(each as usize)
            .map(|start| {
                let offset = e.dims().calc(DimOp::Add, facts.offset, Dim::Is(start * stride));
                (least.min(sizes[0] - start), offset)
            })
            .collect();
    }
    for (count, offset) in parts {
        let view = one(e, "as_strided", &[t(x), ints([count]), ints([step]), Arg::Int(offset)])?;
        call(e, "fill_", &[t(view), a[1].clone()])?;
    }
    Ok(smallvec![x])
}

fn rot90(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let x = *args::tensor(a, 0)?;
    let rank = e.facts(x).rank();
    let dims = args::ints(a, 2)?;
    if dims.len() != 2 {
        return Err(OpError::runtime(format!("expected total rotation dims == 2, but got dims = {}", dims.len())));
    }
    if rank < 2 {
        return Err(OpError::runtime(format!("expected total dims >= 2, but got total dims = {rank}")));
    }
    let (p, q) = (wrap_dim(dims[0], rank)? as i64, wrap_dim(dims[1], rank)? as i64);
    if p == q {
        return Err(OpError::runtime(format!("expected rotation dims to be different, but got dim0 = {} and dim1 = {}", dims[0], dims[1])));
    }
    match args::int(a, 1)?.rem_euclid(4) {
        1 => {
            let flipped = one(e, "flip", &[t(x), ints([q])])?;
            let turned = one(e, "transpose.int", &[t(flipped), i(p), i(q)])?;
            Ok(smallvec![turned])
        }
        2 => call(e, "flip", &[t(x), ints([p, q])]),
        3 => {
            let flipped = one(e, "flip", &[t(x), ints([p])])?;
            call(e, "transpose.int", &[t(flipped), i(p), i(q)])
        }
        _ => call(e, "clone", &[t(x), Arg::MemoryFormat(taipan_ir::MemoryFormat::Contiguous)]),
    }
}

fn kron(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let (x, y) = (*args::tensor(a, 0)?, *args::tensor(a, 1)?);
    let (p, q) = (e.facts(x).dims.clone(), e.facts(y).dims.clone());
    let rank = p.len().max(q.len());
    let at = |sizes: &[Dim], k: usize| (k + sizes.len()).checked_sub(rank).map_or(Dim::Is(1), |j| sizes[j]);
    let left = (0..rank).flat_map(|k| [at(&p, k), Dim::Is(1)]);
    let right = (0..rank).flat_map(|k| [Dim::Is(1), at(&q, k)]);
    let left = one(e, "reshape", &[t(x), call::dims(left)])?;
    let right = one(e, "reshape", &[t(y), call::dims(right)])?;
    let product = call::mul(e, left, t(right))?;
    let sizes: Vec<Dim> = (0..rank).map(|k| e.dims().calc(DimOp::Mul, at(&p, k), at(&q, k))).collect();
    call(e, "reshape", &[t(product), call::dims(sizes)])
}

/// The powers 0, 1, … of each element, along a new last dim.
fn powers_of(e: &mut dyn Emitter, a: &[Arg<Val>], count: &Arg<Val>) -> Result<Val, OpError> {
    let mut x = *args::tensor(a, 0)?;
    let facts = e.facts(x).clone();
    if facts.dtype == DType::Bool {
        x = cast(e, x, DType::I64)?;
    }
    let own = facts.dims.last().copied().ok_or_else(|| OpError::runtime("x must be a one-dimensional tensor."))?;
    let count = match count {
        Arg::Int(d) => e.dims().number(*d)?,
        _ => e.dims().number(own)?,
    };
    let column = one(e, "unsqueeze", &[t(x), i(-1)])?;
    let exponents = one(e, "arange", &[n(count)])?;
    one(e, "pow.Tensor_Tensor", &[t(column), t(exponents)])
}

fn combinations(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let x = *args::tensor(a, 0)?;
    let facts = e.facts(x).clone();
    if facts.rank() != 1 {
        return Err(OpError::runtime("Expect a 1D vector, but got shape ".to_owned() + &rules::shown(&facts.dims)));
    }
    let r = args::int(a, 1)?;
    if r < 0 {
        return Err(OpError::runtime(format!("Expect a non-negative number, but got {r}")));
    }
    if r == 0 {
        return call(e, "new_empty", &[t(x), ints([0])]);
    }
    let count = e.dims().number(facts.dims[0])?;
    let indices = one(e, "arange", &[n(count)])?;
    let grids = |e: &mut dyn Emitter, v: Val| {
        let grids = call(e, "meshgrid.indexing", &[Arg::Tensors(vec![v; r as usize]), Arg::Str("ij".into())])?;
        grids.iter().map(|g| one(e, "reshape", &[t(*g), ints([-1])])).collect::<Result<Vec<Val>, OpError>>()
    };
    let places = grids(e, indices)?;
    let mut chosen: Option<Val> = None;
    for pair in places.windows(2) {
        let ordered = one(e, if args::flag(a, 2) { "le.Tensor" } else { "lt.Tensor" }, &[t(pair[0]), t(pair[1])])?;
        chosen = Some(match chosen {
            Some(other) => one(e, "logical_and", &[t(other), t(ordered)])?,
            None => ordered,
        });
    }
    let mut columns = vec![];
    for column in grids(e, x)? {
        columns.push(match chosen {
            Some(mask) => one(e, "masked_select", &[t(column), t(mask)])?,
            None => column,
        });
    }
    call(e, "stack", &[Arg::Tensors(columns), i(1)])
}
