//! Reductions.

use super::{
    args,
    call::{call, cast, f, n, one, t, widened},
    complex::{mean as complex_mean, sum as complex_sum},
    define::{close, complex, composite, constant, gradient, kernel, no_complex, refusing, samples},
    gradient::{
        reduce::*,
        scan::{of_prod, of_prod_along},
    },
    refusal::dtypes,
    rules::{self, reduced_dims, reduced_shape},
};
use crate::{
    Context, KernelFn, Tensor,
    context::Workers,
    element::{Additive, Arithmetic},
    layout::Sizes,
    reduce::{Arranged, arrange, reduce},
    with_comparable, with_plain, write,
};
use smallvec::smallvec;
use taipan_ir::{
    Arg, DType, Dim, Dims, Emitter, Facts, Op, OpError, Rel, Val,
    dtype::Category,
    op::{FactsList, Family, Forms, Kernel, RuleContext, Vals},
    promote::compute_type,
};

const BOTH: Forms = Forms::BOTH;

const fn reduction(schema: &'static str, facts: taipan_ir::op::FactsRule, run: Kernel) -> Op {
    close(kernel(schema, BOTH, Family::Reduce, facts, run))
}

const DIMS: &[&str] = &[
    "f32[2,3,4], [1]",
    "f32[2,3,4], [0,2], True",
    "f32[2,3,4], None",
    "f16[3,4], [1]",
    "f64[3,4], [-1]",
    "c64[2,3,4], [0,2], True",
    "c128[3,4].t, None",
];
const INDEXED: &[&str] = &["f32[2,3]", "f32[2,3], 1", "f32[2,3], 0, True", "i64[4]"];
const CORRECTED: &[&str] = &["f32[2,5]", "f32[2,5], [1]", "f32[2,5], [0], correction=0", "f64[3,4], [1], keepdim=True"];

/// The op tables of this file.
pub static OPS: &[Op] = &[
    complex(
        samples(
            gradient(
                reduction(
                    "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
                    |cx, a| summed(cx, a, 1, 2, 3),
                    Kernel(&(sum as KernelFn)),
                ),
                "",
                of_sum,
            ),
            DIMS,
        ),
        Kernel(&(complex_sum as KernelFn)),
    ),
    samples(
        composite("sum(Tensor self, *, ScalarType? dtype=None) -> Tensor", BOTH, |e, a| {
            call(e, "sum.dim_IntList", &[a[0].clone(), Arg::Absent, Arg::Bool(false), a[1].clone()])
        }),
        &["f32[2,3]", "i32[4]", "bool[4]", "f32[4], dtype=f64"],
    ),
    no_complex(
        samples(
            composite("nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor", BOTH, |e, a| {
                let nan = one(e, "isnan", &a[..1])?;
                let clean = one(e, "masked_fill.Scalar", &[a[0].clone(), t(nan), n(0)])?;
                call(e, "sum.dim_IntList", &[t(clean), a[1].clone(), a[2].clone(), a[3].clone()])
            }),
            &["f32[2,3]"],
        ),
        "nansum on CPU does not support complex inputs",
    ),
    complex(
        samples(
            gradient(
                reduction(
                    "mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
                    mean_rule,
                    Kernel(&(mean as KernelFn)),
                ),
                "",
                of_mean,
            ),
            DIMS,
        ),
        Kernel(&(complex_mean as KernelFn)),
    ),
    samples(
        composite("mean(Tensor self, *, ScalarType? dtype=None) -> Tensor", BOTH, |e, a| {
            call(e, "mean.dim", &[a[0].clone(), Arg::Absent, Arg::Bool(false), a[1].clone()])
        }),
        &["f32[2,3]", "f64[4]", "f16[5]"],
    ),
    samples(
        gradient(
            reduction(
                "prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
                |cx, a| summed(cx, a, 1, 2, 3),
                Kernel(&(prod as KernelFn)),
            ),
            "self",
            of_prod_along,
        ),
        &["f32[2,3], 1", "i64[2,3], 0"],
    ),
    samples(
        gradient(
            reduction(
                "prod(Tensor self, *, ScalarType? dtype=None) -> Tensor",
                |cx, a| summed(cx, a, usize::MAX, usize::MAX, 1),
                Kernel(&(prod_all as KernelFn)),
            ),
            "self",
            of_prod,
        ),
        &["f32[4]", "i64[4]"],
    ),
    samples(
        gradient(
            reduction(
                "amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
                |cx, a| extremum_rule(cx, a, "amax"),
                Kernel(&(amax as KernelFn)),
            ),
            "self, result",
            of_extreme,
        ),
        &["f32[2,3], [1]", "i64[4]", "f32[2,3,4], [0,2], True"],
    ),
    samples(
        gradient(
            reduction(
                "amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor",
                |cx, a| extremum_rule(cx, a, "amin"),
                Kernel(&(amin as KernelFn)),
            ),
            "self, result",
            of_extreme,
        ),
        &["f32[2,3], [1]", "i64[4]"],
    ),
    samples(composite("max(Tensor self) -> Tensor", BOTH, |e, a| whole(e, a, "max", "amax")), &["f32[2,3]", "i64[4]", "bool[3]"]),
    samples(composite("min(Tensor self) -> Tensor", BOTH, |e, a| whole(e, a, "min", "amin")), &["f32[2,3]", "i64[4]"]),
    composite("max.other(Tensor self, Tensor other) -> Tensor", BOTH, |e, a| call(e, "maximum", a)),
    composite("min.other(Tensor self, Tensor other) -> Tensor", BOTH, |e, a| call(e, "minimum", a)),
    samples(
        gradient(
            reduction(
                "max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
                |cx, a| with_index_rule(cx, a, "max"),
                Kernel(&(max_dim as KernelFn)),
            ),
            "indices",
            |b| of_chosen(b, 1, Some(2)),
        ),
        &["f32[2,3], 1", "i64[2,3], 0, True"],
    ),
    samples(
        gradient(
            reduction(
                "min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
                |cx, a| with_index_rule(cx, a, "min"),
                Kernel(&(min_dim as KernelFn)),
            ),
            "indices",
            |b| of_chosen(b, 1, Some(2)),
        ),
        &["f32[2,3], 1"],
    ),
    samples(
        constant(refusing(
            reduction(
                "argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
                |cx, a| arg_rule(cx, a, "argmax"),
                Kernel(&(argmax as KernelFn)),
            ),
            |_, a| dtypes::no_bools(a, || OpError::not_implemented("argmax(): does not support bool input")),
        )),
        INDEXED,
    ),
    samples(
        constant(refusing(
            reduction(
                "argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
                |cx, a| arg_rule(cx, a, "argmin"),
                Kernel(&(argmin as KernelFn)),
            ),
            |_, a| dtypes::no_bools(a, || OpError::not_implemented("argmin(): does not support bool input")),
        )),
        INDEXED,
    ),
    samples(
        refusing(
            composite("aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)", BOTH, |e, a| {
                let dim = match a[1] {
                    Arg::Int(d) => Arg::Ints(smallvec![d]),
                    _ => Arg::Ints(smallvec![]),
                };
                let low = one(e, "amin", &[a[0].clone(), dim.clone(), a[2].clone()])?;
                Ok(smallvec![low, one(e, "amax", &[a[0].clone(), dim, a[2].clone()])?])
            }),
            |cx, a| {
                let x = *args::tensor(a, 0)?;
                if let Some(d) = args::optional_int(a, 1)? {
                    let over = rules::wrap_dim(d, x.rank())?;
                    return check_not_empty(cx, x, &(0..x.rank()).map(|k| k == over).collect::<Vec<bool>>(), "aminmax");
                }
                let numel = x.numel(cx.dims);
                match cx.dims.decide(Rel::Eq, numel, Dim::Is(0))? {
                    true => {
                        Err(OpError::runtime("aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."))
                    }
                    false => Ok(()),
                }
            },
        ),
        &["f32[2,3]", "f32[2,3], dim=1"],
    ),
    samples(
        gradient(
            reduction(
                "var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor",
                var_rule,
                Kernel(&(var as KernelFn)),
            ),
            "self",
            of_var,
        ),
        CORRECTED,
    ),
    composite("var(Tensor self, bool unbiased=True) -> Tensor", BOTH, |e, a| {
        call(e, "var.correction", &[a[0].clone(), Arg::Absent, n(i64::from(args::flag(a, 1)))])
    }),
    composite("var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor", BOTH, |e, a| {
        call(e, "var.correction", &[a[0].clone(), a[1].clone(), n(i64::from(args::flag(a, 2))), a[3].clone()])
    }),
    samples(
        gradient(
            composite("std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor", BOTH, std),
            "self, result",
            of_std,
        ),
        CORRECTED,
    ),
    composite("std(Tensor self, bool unbiased=True) -> Tensor", BOTH, |e, a| {
        call(e, "std.correction", &[a[0].clone(), Arg::Absent, n(i64::from(args::flag(a, 1)))])
    }),
    composite("std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor", BOTH, |e, a| {
        call(e, "std.correction", &[a[0].clone(), a[1].clone(), n(i64::from(args::flag(a, 2))), a[3].clone()])
    }),
    samples(
        composite(
            "var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)",
            Forms::FUNCTION,
            |e, a| {
                let var = one(e, "var.correction", a)?;
                Ok(smallvec![var, one(e, "mean.dim", &[a[0].clone(), a[1].clone(), a[3].clone()])?])
            },
        ),
        &["f32[2,5], [1]"],
    ),
    samples(
        composite(
            "std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)",
            Forms::FUNCTION,
            |e, a| {
                let std = one(e, "std.correction", a)?;
                Ok(smallvec![std, one(e, "mean.dim", &[a[0].clone(), a[1].clone(), a[3].clone()])?])
            },
        ),
        &["f32[2,5], [1]"],
    ),
    samples(
        constant(reduction("any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", truth_rule, Kernel(&(any as KernelFn)))),
        &["bool[2,3], [1]", "f32[2,3]"],
    ),
    composite("any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", BOTH, |e, a| {
        call(e, "any.dims", &[a[0].clone(), super::call::dims([args::dim(a, 1)?]), a[2].clone()])
    }),
    composite("any(Tensor self) -> Tensor", BOTH, |e, a| call(e, "any.dims", &a[..1])),
    samples(
        constant(reduction("all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", truth_rule, Kernel(&(all as KernelFn)))),
        &["bool[2,3], [1]", "f32[2,3]"],
    ),
    composite("all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", BOTH, |e, a| {
        call(e, "all.dims", &[a[0].clone(), super::call::dims([args::dim(a, 1)?]), a[2].clone()])
    }),
    composite("all(Tensor self) -> Tensor", BOTH, |e, a| call(e, "all.dims", &a[..1])),
    samples(
        composite("count_nonzero.dim_IntList(Tensor self, int[]? dim=None) -> Tensor", BOTH, |e, a| {
            let truth = one(e, "ne.Tensor", &[a[0].clone(), n(0)])?;
            call(e, "sum.dim_IntList", &[t(truth), a[1].clone()])
        }),
        &["f32[2,3]", "i64[2,3], [1]"],
    ),
    composite("count_nonzero(Tensor self, int? dim=None) -> Tensor", BOTH, |e, a| {
        let dim = match a[1] {
            Arg::Int(d) => Arg::Ints(smallvec![d]),
            _ => Arg::Absent,
        };
        call(e, "count_nonzero.dim_IntList", &[a[0].clone(), dim])
    }),
    samples(
        gradient(
            composite("logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", BOTH, logsumexp),
            "self, result",
            of_logsumexp,
        ),
        &["f32[2,3], [1]", "f32[2,3], [0,1], True"],
    ),
    samples(
        gradient(
            composite(
                "linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
                Forms::LINALG,
                vector_norm,
            ),
            "self, result",
            of_vector_norm,
        ),
        &["f32[2,3]", "f32[2,3], 1, [1]", "f32[2,3], inf, [0], True", "f32[4], 3"],
    ),
    samples(
        composite(
            "norm.dim(Tensor self, Scalar? p=2, int[1]? dim=None, bool keepdim=False, ScalarType? dtype=None) -> Tensor",
            BOTH,
            |e, a| {
                let p = if a[1].is_absent() { n(2) } else { a[1].clone() };
                call(e, "linalg_vector_norm", &[a[0].clone(), p, a[2].clone(), a[3].clone(), a[4].clone()])
            },
        ),
        &["f32[2,3]", "f32[2,3], 2, [1]", "f32[2,3], 1, [1], True"],
    ),
    composite("norm.named(Tensor self, str p, int[1]? dim=None, bool keepdim=False, ScalarType? dtype=None) -> Tensor", BOTH, |e, a| {
        if args::text(a, 1) != "fro" {
            return Err(OpError::not_implemented(format!("norm with p='{}'", args::text(a, 1))));
        }
        call(e, "linalg_vector_norm", &[a[0].clone(), n(2), a[2].clone(), a[3].clone(), a[4].clone()])
    }),
    samples(
        composite("trace(Tensor self) -> Tensor", BOTH, |e, a| {
            let rank = e.facts(*args::tensor(a, 0)?).rank();
            if rank != 2 {
                return Err(OpError::runtime(format!("trace: expected a matrix, but got tensor with dim {rank}")));
            }
            let diagonal = one(e, "diagonal", &a[..1])?;
            call(e, "sum", &[t(diagonal)])
        }),
        &["f32[3,3]"],
    ),
];

/// The type sums of `dtype` have.
fn sum_type(dtype: DType) -> DType {
    if dtype.category() >= Category::Float { dtype } else { DType::I64 }
}

fn summed(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>], dim: usize, keep: usize, dtype: usize) -> Result<FactsList, OpError> {
    let x = *args::tensor(a, 0)?;
    let reduced = reduced_dims(a, dim, x.rank())?;
    let dtype = args::dtype(a, dtype).unwrap_or_else(|| sum_type(x.dtype));
    rules::fresh(cx, x, dtype, reduced_shape(&x.dims, &reduced, args::flag(a, keep)))
}

fn mean_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let x = *args::tensor(a, 0)?;
    let dtype = args::dtype(a, 3).unwrap_or(x.dtype);
    if !dtype.has_gradients() {
        let which = if args::dtype(a, 3).is_some() {
            "could not infer output dtype. Optional dtype"
        } else {
            "could not infer output dtype. Input dtype"
        };
        return Err(OpError::not_implemented(format!(
            "mean(): {which} must be either a floating point or complex dtype. Got: {}",
            dtype.scalar_name()
        )));
    }
    let reduced = reduced_dims(a, 1, x.rank())?;
    rules::fresh(cx, x, dtype, reduced_shape(&x.dims, &reduced, args::flag(a, 2)))
}

fn extremum_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>], name: &str) -> Result<FactsList, OpError> {
    let x = *args::tensor(a, 0)?;
    let reduced = reduced_dims(a, 1, x.rank())?;
    if matches!(&a[1], Arg::Ints(over) if !over.is_empty()) {
        check_not_empty(cx, x, &reduced, &format!("{name}()"))?;
    } else {
        let numel = x.numel(cx.dims);
        check_not_all_empty(cx.dims, numel, name)?;
    }
    rules::fresh(cx, x, x.dtype, reduced_shape(&x.dims, &reduced, args::flag(a, 2)))
}

fn with_index_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>], name: &str) -> Result<FactsList, OpError> {
    let x = *args::tensor(a, 0)?;
    let reduced = reduced_dims(a, 1, x.rank())?;
    check_not_empty(cx, x, &reduced, &format!("{name}()"))?;
    let shape = reduced_shape(&x.dims, &reduced, args::flag(a, 2));
    let mut out = rules::fresh(cx, x, x.dtype, shape.clone())?;
    out.extend(rules::fresh(cx, x, DType::I64, shape)?);
    Ok(out)
}

/// Fails where there is nothing along a reduced dim.
fn check_not_empty(cx: &mut RuleContext<'_>, x: &Facts, reduced: &[bool], name: &str) -> Result<(), OpError> {
    for (i, (d, _)) in x.dims.iter().zip(reduced).enumerate().filter(|(_, (_, r))| **r) {
        if cx.dims.decide(Rel::Eq, *d, Dim::Is(0))? {
            return Err(OpError::index(format!("{name}: Expected reduction dim {i} to have non-zero size.")));
        }
    }
    Ok(())
}

/// Fails where there is nothing at all to reduce over all dims.
fn check_not_all_empty(dims: &mut dyn Dims, numel: Dim, name: &str) -> Result<(), OpError> {
    match dims.decide(Rel::Eq, numel, Dim::Is(0))? {
        true => Err(OpError::runtime(format!(
            "{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument."
        ))),
        false => Ok(()),
    }
}

fn arg_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>], name: &str) -> Result<FactsList, OpError> {
    let x = *args::tensor(a, 0)?;
    let reduced = reduced_dims(a, 1, x.rank())?;
    if a[1].is_absent() {
        let n = x.numel(cx.dims);
        if cx.dims.decide(Rel::Eq, n, Dim::Is(0))? {
            return Err(OpError::index(format!("{name}(): Expected reduction dim to be specified for input.numel() == 0.")));
        }
    }
    check_not_empty(cx, x, &reduced, &format!("{name}()"))?;
    rules::fresh(cx, x, DType::I64, reduced_shape(&x.dims, &reduced, args::flag(a, 2)))
}

fn var_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let x = *args::tensor(a, 0)?;
    if !x.dtype.is_float() {
        return Err(OpError::runtime("std and var only support floating point and complex dtypes"));
    }
    let reduced = reduced_dims(a, 1, x.rank())?;
    rules::fresh(cx, x, x.dtype, reduced_shape(&x.dims, &reduced, args::flag(a, 3)))
}

fn truth_rule(cx: &mut RuleContext<'_>, a: &[Arg<&Facts>]) -> Result<FactsList, OpError> {
    let x = *args::tensor(a, 0)?;
    let reduced = reduced_dims(a, 1, x.rank())?;
    let dtype = if x.dtype == DType::U8 { DType::U8 } else { DType::Bool };
    rules::fresh(cx, x, dtype, reduced_shape(&x.dims, &reduced, args::flag(a, 2)))
}

/// The sizes of facts that are numbers.
pub fn sizes_of(facts: &Facts) -> Result<Sizes, OpError> {
    facts.dims.iter().map(|d| d.known().ok_or(OpError::DataDependent)).collect()
}

/// A tensor of these values, rounded to `dtype`.
pub fn from_values<A: Arithmetic>(dtype: DType, sizes: &[i64], values: &[A]) -> Tensor {
    if dtype == A::DTYPE {
        return Tensor::build(dtype, sizes, |out: &mut [A]| out.copy_from_slice(values));
    }
    with_plain!(dtype, T => Tensor::build(dtype, sizes, |out: &mut [T]| {
        out.iter_mut().zip(values).for_each(|(o, v)| *o = <T as Additive>::from_f64(v.as_f64()));
    }))
}

fn sum_in<A: Arithmetic>(workers: &Workers, x: &Arranged) -> Result<Vec<A>, OpError> {
    let shape = (x.outer, x.n, x.inner);
    Ok(reduce(workers, &x.data.elements::<A>()?, shape, A::zero(), |v, _| v, |a, b| a.plus(b)))
}

/// The argument converted to the type sums of `dtype` are accumulated in.
fn widen(cx: &mut Context, x: &Tensor, dtype: DType) -> Result<Tensor, OpError> {
    write::cast(cx, x, if dtype.is_float() { compute_type(dtype) } else { DType::I64 })
}

fn sum(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let reduced = reduced_dims(a, 1, x.rank())?;
    let wide = widen(cx, x, facts[0].dtype)?;
    let arranged = arrange(&wide, &reduced)?;
    let (workers, sizes) = (cx.workers(), sizes_of(&facts[0])?);
    Ok(vec![match wide.dtype() {
        DType::F64 => from_values(facts[0].dtype, &sizes, &sum_in::<f64>(&workers, &arranged)?),
        DType::F32 => from_values(facts[0].dtype, &sizes, &sum_in::<f32>(&workers, &arranged)?),
        _ => {
            let total = from_values(DType::I64, &sizes, &sum_in::<i64>(&workers, &arranged)?);
            write::cast(cx, &total, facts[0].dtype)?
        }
    }])
}

fn mean(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let reduced = reduced_dims(a, 1, x.rank())?;
    let wide = widen(cx, x, facts[0].dtype)?;
    let arranged = arrange(&wide, &reduced)?;
    let (workers, sizes) = (cx.workers(), sizes_of(&facts[0])?);
    Ok(vec![if wide.dtype() == DType::F64 {
        let means: Vec<f64> = sum_in::<f64>(&workers, &arranged)?.iter().map(|s| s / arranged.n as f64).collect();
        from_values(facts[0].dtype, &sizes, &means)
    } else {
        let means: Vec<f32> = sum_in::<f32>(&workers, &arranged)?.iter().map(|s| s / arranged.n as f32).collect();
        from_values(facts[0].dtype, &sizes, &means)
    }])
}

fn product(cx: &mut Context, x: &Tensor, reduced: &[bool], facts: &Facts) -> Result<Vec<Tensor>, OpError> {
    let wide = widen(cx, x, facts.dtype)?;
    let arranged = arrange(&wide, reduced)?;
    let (workers, sizes) = (cx.workers(), sizes_of(facts)?);
    fn run<A: Arithmetic>(workers: &Workers, x: &Arranged) -> Result<Vec<A>, OpError> {
        Ok(reduce(workers, &x.data.elements::<A>()?, (x.outer, x.n, x.inner), A::one(), |v, _| v, |a, b| a.times(b)))
    }
    Ok(vec![match wide.dtype() {
        DType::F64 => from_values(facts.dtype, &sizes, &run::<f64>(&workers, &arranged)?),
        DType::F32 => from_values(facts.dtype, &sizes, &run::<f32>(&workers, &arranged)?),
        _ => {
            let total = from_values(DType::I64, &sizes, &run::<i64>(&workers, &arranged)?);
            write::cast(cx, &total, facts.dtype)?
        }
    }])
}

fn prod(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    product(cx, x, &reduced_dims(a, 1, x.rank())?, &facts[0])
}

fn prod_all(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    product(cx, x, &vec![true; x.rank()], &facts[0])
}

fn extremum(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts], greatest: bool) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let wide = write::comparable(cx, x)?;
    let arranged = arrange(&wide, &reduced_dims(a, 1, x.rank())?)?;
    let (workers, sizes) = (cx.workers(), sizes_of(&facts[0])?);
    let out = with_comparable!(wide.dtype(), T => {
        let init = if greatest { <T as Arithmetic>::least() } else { <T as Arithmetic>::greatest() };
        let pick = move |a: T, b: T| {
            let first = if greatest { a > b } else { a < b };
            if first || Arithmetic::is_nan(a) { a } else { b }
        };
        let values = reduce(&workers, &arranged.data.elements::<T>()?, (arranged.outer, arranged.n, arranged.inner), init, |v, _| v, pick);
        from_values(wide.dtype(), &sizes, &values)
    });
    Ok(vec![write::cast(cx, &out, x.dtype())?])
}

fn amax(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    extremum(cx, a, facts, true)
}

fn amin(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    extremum(cx, a, facts, false)
}

fn whole(e: &mut dyn Emitter, a: &[Arg<Val>], name: &str, reduction: &str) -> Result<Vals, OpError> {
    let facts = e.facts(*args::tensor(a, 0)?).clone();
    let numel = facts.numel(e.dims());
    check_not_all_empty(e.dims(), numel, name)?;
    call(e, reduction, &a[..1])
}

/// Where the extremum of each row stands; NaN counts as beyond all, and of equals the first wins.
fn positions(cx: &mut Context, x: &Tensor, reduced: &[bool], greatest: bool) -> Result<Vec<i64>, OpError> {
    let x = write::comparable(cx, x)?;
    let arranged = arrange(&x, reduced)?;
    let (outer, n, inner) = (arranged.outer, arranged.n, arranged.inner);
    with_comparable!(x.dtype(), T => {
        let data = arranged.data.elements::<T>()?;
        let mut out = vec![0i64; outer * inner];
        for o in 0..outer {
            for i in 0..inner {
                let at = |k: usize| data[(o * n + k) * inner + i];
                let mut best = 0;
                for k in 1..n {
                    let (new, old) = (at(k), at(best));
                    let better = if greatest { new > old } else { new < old };
                    if !Arithmetic::is_nan(old) && (better || Arithmetic::is_nan(new)) {
                        best = k;
                    }
                }
                out[o * inner + i] = best as i64;
            }
        }
        Ok(out)
    })
}

fn with_index(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts], greatest: bool) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let reduced = reduced_dims(a, 1, x.rank())?;
    let found = positions(cx, x, &reduced, greatest)?;
    let arranged = arrange(x, &reduced)?;
    let sizes = sizes_of(&facts[0])?;
    let values = crate::with_bits!(x.dtype(), T => {
        let data = arranged.data.elements::<T>()?;
        Tensor::build(x.dtype(), &sizes, |out: &mut [T]| {
            for (r, o) in out.iter_mut().enumerate() {
                let (outer, i) = (r / arranged.inner.max(1), r % arranged.inner.max(1));
                *o = data[(outer * arranged.n + found[r] as usize) * arranged.inner + i];
            }
        })
    });
    Ok(vec![values, Tensor::build(DType::I64, &sizes, |out: &mut [i64]| out.copy_from_slice(&found))])
}

fn max_dim(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    with_index(cx, a, facts, true)
}

fn min_dim(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    with_index(cx, a, facts, false)
}

fn arg_extremum(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts], greatest: bool) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let found = positions(cx, x, &reduced_dims(a, 1, x.rank())?, greatest)?;
    Ok(vec![Tensor::build(DType::I64, &sizes_of(&facts[0])?, |out: &mut [i64]| out.copy_from_slice(&found))])
}

fn argmax(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    arg_extremum(cx, a, facts, true)
}

fn argmin(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    arg_extremum(cx, a, facts, false)
}

/// The variance in two passes: the mean first, then the squares of the distances from it.
fn var(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    let x = args::tensor(a, 0)?;
    let wide = widen(cx, x, x.dtype())?;
    let arranged = arrange(&wide, &reduced_dims(a, 1, x.rank())?)?;
    let correction = args::float(a, 2, 1.0);
    let (workers, sizes, shape) = (cx.workers(), sizes_of(&facts[0])?, (arranged.outer, arranged.n, arranged.inner));
    let divisor = (arranged.n as f64 - correction).max(0.0);
    Ok(vec![if wide.dtype() == DType::F64 {
        let data = arranged.data.elements::<f64>()?;
        let sums = reduce(&workers, &data, shape, 0.0f64, |v, _| v, |a, b| a + b);
        let means: Vec<f64> = sums.iter().map(|s| s / arranged.n as f64).collect();
        let squares = reduce(&workers, &data, shape, 0.0f64, |v, r| (v - means[r]) * (v - means[r]), |a, b| a + b);
        let values: Vec<f64> = squares.iter().map(|s| s / divisor).collect();
        from_values(facts[0].dtype, &sizes, &values)
    } else {
        let data = arranged.data.elements::<f32>()?;
        let sums = reduce(&workers, &data, shape, 0.0f32, |v, _| v, |a, b| a + b);
        let means: Vec<f32> = sums.iter().map(|s| s / arranged.n as f32).collect();
        let squares = reduce(&workers, &data, shape, 0.0f32, |v, r| (v - means[r]) * (v - means[r]), |a, b| a + b);
        let values: Vec<f32> = squares.iter().map(|s| s / divisor as f32).collect();
        from_values(facts[0].dtype, &sizes, &values)
    }])
}

fn std(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let (wide, dtype) = widened(e, *args::tensor(a, 0)?)?;
    let mut rest = a.to_vec();
    rest[0] = t(wide);
    let var = one(e, "var.correction", &rest)?;
    let root = one(e, "sqrt", &[t(var)])?;
    Ok(smallvec![cast(e, root, dtype)?])
}

fn truths(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts], all: bool) -> Result<Vec<Tensor>, OpError> {
    let x = write::cast(cx, args::tensor(a, 0)?, DType::Bool)?;
    let arranged = arrange(&x, &reduced_dims(a, 1, x.rank())?)?;
    let step = move |p: u8, q: u8| if all { p & q } else { p | q };
    let shape = (arranged.outer, arranged.n, arranged.inner);
    let values = reduce(&cx.workers(), &arranged.data.elements::<u8>()?, shape, u8::from(all), |v, _| v, step);
    Ok(vec![Tensor::build(facts[0].dtype, &sizes_of(&facts[0])?, |out: &mut [u8]| out.copy_from_slice(&values))])
}

fn any(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    truths(cx, a, facts, false)
}

fn all(cx: &mut Context, a: &[Arg<Tensor>], facts: &[Facts]) -> Result<Vec<Tensor>, OpError> {
    truths(cx, a, facts, true)
}

fn logsumexp(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let own = *args::tensor(a, 0)?;
    let default = e.default_float();
    let float = if e.facts(own).dtype.is_float() { own } else { cast(e, own, default)? };
    let (x, dtype) = widened(e, float)?;
    let facts = e.facts(x).clone();
    let count = facts.numel(e.dims());
    if e.dims().decide(Rel::Eq, count, Dim::Is(0))? {
        // There is no greatest element then.
        let exp = one(e, "exp", &[t(x)])?;
        let sum = one(e, "sum.dim_IntList", &[t(exp), a[1].clone(), a[2].clone()])?;
        let log = one(e, "log", &[t(sum)])?;
        return Ok(smallvec![cast(e, log, dtype)?]);
    }
    let high = one(e, "amax", &[t(x), a[1].clone(), Arg::Bool(true)])?;
    // Infinite maxima would make the differences NaN.
    let size = one(e, "abs", &[t(high)])?;
    let infinite = one(e, "eq.Tensor", &[t(size), f(f64::INFINITY)])?;
    let high = one(e, "masked_fill.Scalar", &[t(high), t(infinite), n(0)])?;
    let shifted = one(e, "sub.Tensor", &[t(x), t(high)])?;
    let exp = one(e, "exp", &[t(shifted)])?;
    let sum = one(e, "sum.dim_IntList", &[t(exp), a[1].clone(), Arg::Bool(true)])?;
    let log = one(e, "log", &[t(sum)])?;
    let mut out = one(e, "add.Tensor", &[t(log), t(high)])?;
    if !args::flag(a, 2) {
        out = one(e, "squeeze.dims", &[t(out), a[1].clone()])?;
    }
    Ok(smallvec![cast(e, out, dtype)?])
}

fn vector_norm(e: &mut dyn Emitter, a: &[Arg<Val>]) -> Result<Vals, OpError> {
    let x = *args::tensor(a, 0)?;
    let own = e.facts(x).dtype;
    if !own.has_gradients() {
        return Err(OpError::not_implemented(format!(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got {}",
            own.scalar_name()
        )));
    }
    // Of complex numbers only the sizes matter.
    let x = if own.is_complex() { one(e, "abs", &[t(x)])? } else { x };
    let dtype = args::dtype(a, 4).unwrap_or(own).real();
    let x = cast(e, x, compute_type(dtype))?;
    let p = args::float(a, 1, 2.0);
    let (dim, keep) = (a[2].clone(), a[3].clone());
    let size = one(e, "abs", &[t(x)])?;
    let out = if p.is_infinite() {
        let dim = if dim.is_absent() { Arg::Ints(smallvec![]) } else { dim };
        one(e, if p > 0.0 { "amax" } else { "amin" }, &[t(size), dim, keep])?
    } else if p == 0.0 {
        let nonzero = one(e, "ne.Tensor", &[t(x), n(0)])?;
        let count = one(e, "sum.dim_IntList", &[t(nonzero), dim, keep])?;
        cast(e, count, compute_type(dtype))?
    } else if p == 1.0 {
        one(e, "sum.dim_IntList", &[t(size), dim, keep])?
    } else if p == 2.0 {
        let square = one(e, "mul.Tensor", &[t(x), t(x)])?;
        let sum = one(e, "sum.dim_IntList", &[t(square), dim, keep])?;
        one(e, "sqrt", &[t(sum)])?
    } else {
        let power = one(e, "pow.Tensor_Tensor", &[t(size), f(p)])?;
        let sum = one(e, "sum.dim_IntList", &[t(power), dim, keep])?;
        one(e, "pow.Tensor_Tensor", &[t(sum), f(1.0 / p)])?
    };
    Ok(smallvec![cast(e, out, dtype)?])
}
